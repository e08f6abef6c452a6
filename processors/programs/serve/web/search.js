// Pages by a part of their URL, and by host.
const FOUND_SHOWN = 100, HOSTS_SHOWN = 50;
let search = {}; // what is asked for: q, host, status
let hostsShown = HOSTS_SHOWN;

const percent = (part, all) => all ? (100 * part / all).toFixed(1) + ' %' : '';

function hostLink(name) {
  const a = make('a', name);
  a.href = '#host=' + encodeURIComponent(name);
  return a;
}

function hostRows(table, hosts) {
  refill(table.tBodies[0], hosts, () => hosts.map((h) => row(table, [hostLink(h.host), number(h.pages), number(h.unique), number(h.winner),
    number(h.loser), number(h.gone), percent(h.loser, h.pages)])));
}

// The hosts with the most losers: they are counted with the overview.
async function hosts() {
  const answer = await ask('/v1/hosts', {limit: hostsShown});
  hostRows($('hosts'), answer.hosts);
  $('hosts-more').hidden = answer.hosts.length >= answer.count || hostsShown >= 1000;
  $('hosts-said').textContent = number(answer.count) + (answer.count === 1 ? ' host' : ' hosts') + (answer.cut ? ' of the ' + number(answer.searched) + ' pages that fit into memory' : '') + ', those with the most losers first.';
}

function foundRow(page) {
  return row($('pages'), [[link(page.url), ' ', outside(page.url)], page.status || '', page.winner_url ? link(page.winner_url) : '',
    share(page.similarity), day(page.version_ms)]);
}

async function more(after) {
  const mine = search;
  const parameters = {...search, limit: FOUND_SHOWN};
  if (after) parameters.after = after;
  const answer = await ask('/v1/search', parameters);
  if (mine !== search) return null;
  const body = $('pages').tBodies[0], rows = answer.pages.map(foundRow);
  if (after) body.append(...rows); else body.replaceChildren(...rows);
  if (after && rows.length) rows[0].querySelector('a').focus();
  const shown = number(body.rows.length);
  $('pages-said').textContent = body.rows.length === 0 ? 'No page was found.' : shown + (answer.next ? ' pages, and there are more.' : body.rows.length === 1 ? ' page.' : ' pages, all there are.');
  if (answer.cut) $('pages-said').textContent += ' Only ' + number(answer.searched) + ' pages fit into memory and were looked at.';
  $('pages-more').hidden = !answer.next;
  $('pages-more').onclick = () => more(answer.next).catch((error) => say(error.message));
  return answer;
}

// What the host's pages are, or which hosts have that text in their name.
async function besides() {
  const answer = await ask('/v1/hosts', {q: search.host || search.q, limit: search.host ? 1000 : 20});
  const rows = search.host ? answer.hosts.filter((h) => h.host === search.host) : answer.hosts;
  $('besides-hosts').hidden = rows.length === 0;
  hostRows($('found-hosts'), rows);
}

async function find(what) {
  search = what;
  looked = '';
  const wanted = JSON.stringify(what);
  say('searching');
  for (const id of ['found', 'compared']) $(id).hidden = true;
  $('pages-title').textContent = what.host ? 'Host ' + what.host : 'Pages with \u201c' + what.q + '\u201d in their URL';
  $('url').value = what.host || what.q;
  $('only').value = what.status || '';
  try {
    const [answer] = await Promise.all([more(null), besides()]);
    if (!answer) return;
    arrive('searched', 'pages-title');
    say('found');
  } catch (error) {
    $('searched').hidden = true;
    say(error.message);
  }
  document.body.dataset.searched = wanted;
}
