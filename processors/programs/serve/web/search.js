// Pages by a part of their URL, and by host.
const FOUND_SHOWN = 100, HOSTS_SHOWN = 50, SAVED_MOST = 100000, ASKED_MOST = 1000, TRIES = 3;
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
  const response = await ask('/v1/hosts', {limit: hostsShown});
  hostRows($('hosts'), response.hosts);
  $('hosts-more').hidden = response.hosts.length >= response.count || hostsShown >= 1000;
  $('hosts-said').textContent = number(response.count) + (response.count === 1 ? ' host' : ' hosts') + (response.cut ? ' of the ' + number(response.searched) + ' pages that fit into memory' : '') + ', those with the most losers first.';
}

// All hosts, or the first SAVED_MOST. While the crawl goes on they may be counted again between two
// requests and change places: then some are missing, and all are read again.
async function allHosts() {
  const found = new Map();
  let whole = false, cut = false;
  for (let tried = 0; tried < TRIES && !whole; tried++) {
    let wanted = 1;
    found.clear();
    for (let offset = 0; offset < wanted; offset += ASKED_MOST) {
      const response = await ask('/v1/hosts', {offset, limit: ASKED_MOST});
      response.hosts.forEach((h) => found.set(h.host, h));
      wanted = Math.min(response.count, SAVED_MOST);
      cut = response.cut;
      say(number(found.size) + ' hosts read');
    }
    whole = found.size >= wanted;
  }
  return {whole, cut, hosts: [...found.values()].slice(0, SAVED_MOST)};
}

async function saveHosts(asCsv) {
  try {
    const all = await allHosts(), columns = ['host', 'pages', ...STATUSES];
    if (asCsv) save('hosts.csv', 'text/csv', csv(columns, all.hosts.map((h) => columns.map((c) => h[c]))));
    else save('hosts.json', 'application/json', JSON.stringify(all, null, 1) + '\n');
    say(number(all.hosts.length) + (all.hosts.length === 1 ? ' host saved' : ' hosts saved') +
      (all.hosts.length === SAVED_MOST ? ', the most that one file holds' : '') +
      (all.whole ? '' : '; some are missing, because the counts changed meanwhile') +
      (all.cut ? '; only pages that fit into memory are counted' : ''));
  } catch (error) {
    say(error.message);
  }
}

function foundRow(page) {
  return row($('pages'), [[link(page.url), ' ', outside(page.url)], page.status || '', page.winner_url ? link(page.winner_url) : '',
    share(page.similarity), day(page.version_ms)]);
}

async function more(after) {
  const mine = search;
  const parameters = {...search, limit: FOUND_SHOWN};
  if (after) parameters.after = after;
  const response = await ask('/v1/search', parameters);
  if (mine !== search) return null;
  const body = $('pages').tBodies[0], rows = response.pages.map(foundRow);
  if (after) body.append(...rows); else body.replaceChildren(...rows);
  if (after && rows.length) rows[0].querySelector('a').focus();
  const shown = number(body.rows.length);
  $('pages-said').textContent = body.rows.length === 0 ? 'No page was found.' : shown + (response.next ? ' pages, and there are more.' : body.rows.length === 1 ? ' page.' : ' pages, all there are.');
  if (response.cut) $('pages-said').textContent += ' Only the ' + number(response.searched) + ' pages that fit into memory were searched.';
  $('pages-more').hidden = !response.next;
  $('pages-more').onclick = () => more(response.next).catch((error) => say(error.message));
  return response;
}

// All pages that fit the search as a file, but no more than SAVED_MOST.
async function savePages(asCsv) {
  const mine = search, pages = [];
  try {
    for (let after = ''; after !== null && pages.length < SAVED_MOST && mine === search;) {
      const response = await ask('/v1/search', {...mine, limit: ASKED_MOST, ...(after ? {after} : {})});
      pages.push(...response.pages);
      after = response.next;
      say(number(pages.length) + ' pages read');
    }
    if (mine !== search) return;
    const columns = ['url', 'status', 'winner_url', 'similarity', 'version_ms'], all = pages.slice(0, SAVED_MOST);
    if (asCsv) save('pages.csv', 'text/csv', csv(columns, all.map((p) => columns.map((c) => p[c]))));
    else save('pages.json', 'application/json', JSON.stringify({...mine, pages: all}, null, 1) + '\n');
    say(number(all.length) + ' pages saved' + (pages.length >= SAVED_MOST ? ', the most that one file holds' : ''));
  } catch (error) {
    say(error.message);
  }
}

// What the host's pages are, or which hosts have that text in their name.
async function besides() {
  const response = await ask('/v1/hosts', {q: search.host || search.q, limit: search.host ? 1000 : 20});
  const rows = search.host ? response.hosts.filter((h) => h.host === search.host) : response.hosts;
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
    const [response] = await Promise.all([more(null), besides()]);
    if (!response) return;
    arrive('searched', 'pages-title');
    say('found');
  } catch (error) {
    $('searched').hidden = true;
    say(error.message);
  }
  document.body.dataset.searched = wanted;
}
