// The status events of a page, as the run wrote them.
const HISTORY_SHOWN = 100;
let offers = {}; // what the server has: known with the overview

function historyRow(event) {
  return row($('history'), [day(event.version_ms), event.status, event.winner_url ? link(event.winner_url) : '', share(event.similarity),
    event.reason || '', event.rule || '', event.group_id, number(event.group_size)]);
}

async function showHistory() {
  const url = looked;
  $('history-part').hidden = true;
  $('no-history').hidden = offers.histories !== false;
  if (!offers.histories || !url) return;
  try {
    const response = await ask('/v1/history', {url, limit: HISTORY_SHOWN});
    if (url !== looked) return;
    const versions = new Set(response.events.map((e) => e.version_ms)).size;
    $('history-said').textContent = number(response.events.length) + (response.events.length === 1 ? ' status of ' : ' statuses of ') +
      number(versions) + (versions === 1 ? ' version' : ' versions') + ', the latest first' + (response.more ? '; there were earlier ones.' : '.');
    $('history').tBodies[0].replaceChildren(...response.events.map(historyRow));
    $('history-part').hidden = false;
  } catch (error) {
    if (error.status !== 404) say(error.message);
  }
}
