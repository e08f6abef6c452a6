// The crawl at a glance, asked for again and again.
const REFRESH_MS = 5000, FIRST_MS = 1000;

function cards(all) {
  const since = all.inputs_ended ? 'all input is read' : 'state changed ' + number(Math.round(all.unchanged_ms / 1000)) + ' s ago';
  const rows = [['pages', all.pages], ['groups', all.groups], ['groups of several', all.duplicate_groups],
    ...STATUSES.map((name) => [name, all[name]]), ['records; ' + since, all.records]];
  return rows.map(([name, value]) => {
    const card = make('div', undefined, 'card');
    card.append(make('b', number(value)), make('span', name));
    return card;
  });
}

function groupRows(table, rows) {
  refill(table.tBodies[0], rows, () => rows.map((r) =>
    row(table, [link(r.url), number(r.size), number(r.winners), share(r.weakest)])));
}

// What the run found in the pages that it watches.
function showAudit(audit) {
  $('audit').hidden = !audit;
  if (!audit) return;
  $('audit-said').textContent = number(audit.pages) + ' pages are watched, ' + number(audit.judged) +
    ' checks of similar pairs were made: ' + number(audit.missing) + ' missing, ' + number(audit.wrong) +
    ' wrong. Statuses were at most ' + number(Math.round(audit.late_seconds)) + ' s of crawl time late.';
  $('audit-found').hidden = audit.examples.length === 0;
  refill($('alarms').tBodies[0], audit.examples, () => audit.examples.map((e) =>
    row($('alarms'), [e.kind + ': ' + e.what, link(e.url), e.other_url ? link(e.other_url) : '', share(e.similarity)])));
}

function showOverview(all) {
  refill($('numbers'), cards(all).map((c) => c.textContent), () => cards(all));
  refill($('throughput'), all.history, () => [rates(all.history)]);
  refill($('timeline'), all.timeline, () => [stacked(all.timeline)]);
  const sizes = all.sizes.map((s) => ({name: s.from === s.to ? String(s.from) : s.from + '–' + s.to, value: s.groups}));
  refill($('sizes'), sizes, () => [bars('groups by size', sizes)]);
  const cells = all.cells.map((n, i) => ({name: String(i), value: n}));
  $('cells-card').hidden = cells.length < 2;
  refill($('cells'), cells, () => [bars('pages in each cell', cells)]);
  groupRows($('largest'), all.largest);
  groupRows($('weakest'), all.weakest);
  showAudit(all.audit);
}

async function overview() {
  try {
    const all = await ask('/v1/overview');
    showOverview(all);
    const first = !document.body.dataset.overview;
    offers = {histories: all.histories, live: all.live};
    if (first) showHistory();
    followLive();
    await hosts();
    document.body.dataset.overview = Number(document.body.dataset.overview || 0) + 1;
  } catch (error) {
    if (!document.body.dataset.overview) say(error.message);
  }
  setTimeout(overview, document.body.dataset.overview ? REFRESH_MS : FIRST_MS);
}
