// Statuses as they come: server-sent events, read by fetch, which can send the token.
const LIVE_SHOWN = 20, AGAIN_MS = 5000;
const latestStatuses = []; // the newest first
let following = false, paused = false, lastEvent = '', passedOver = 0;

function showLive() {
  if (paused) return;
  const table = $('live');
  refill(table.tBodies[0], latestStatuses, () => latestStatuses.map((event) => row(table, [link(event.url), event.status,
    event.winner_url ? link(event.winner_url) : '', share(event.similarity), day(event.version_ms)])));
  $('live-said').textContent = latestStatuses.length === 0 ? 'Nothing new since this page was opened.' :
    'The latest ' + number(latestStatuses.length) + (passedOver ? '; ' + number(passedOver) + ' more came too fast to be shown.' : '.');
}

function take(block) {
  const field = (name) => block.split('\n').filter((l) => l.startsWith(name + ': ')).map((l) => l.slice(name.length + 2)).join('\n');
  if (field('id')) lastEvent = field('id');
  if (field('event') === 'skipped') passedOver += JSON.parse(field('data')).skipped;
  if (field('event') !== 'status') return;
  latestStatuses.unshift(JSON.parse(field('data')));
  latestStatuses.length = Math.min(latestStatuses.length, LIVE_SHOWN);
}

async function readLive() {
  const response = await fetch('/v1/events', {headers: lastEvent ? {...headers(), 'Last-Event-ID': lastEvent} : headers()});
  if (!response.ok) throw new Error((await response.json()).error);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  document.body.dataset.live = 'open';
  for (let text = '';;) {
    const {value, done} = await reader.read();
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop();
    blocks.forEach(take);
    showLive();
  }
}

// Once, when the server has them; again where the connection ends.
async function followLive() {
  $('live-part').hidden = !offers.live;
  if (!offers.live || following) return;
  following = true;
  showLive();
  try {
    await readLive();
  } catch (error) {
    $('live-said').textContent = error.message;
  }
  following = false;
  setTimeout(followLive, AGAIN_MS);
}

function pause() {
  paused = !paused;
  $('pause').textContent = paused ? 'Go on' : 'Pause';
  showLive();
}
