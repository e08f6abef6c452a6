// The page of `samepage serve`. Whatever comes from a crawl is shown with textContent, never as HTML.
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';
  const STATUSES = ['unique', 'winner', 'loser', 'gone'];
  const SHINGLE = 5;
  const chosen = new Set();
  let group = null;

  const say = (text) => { $('say').textContent = text; };
  const number = (n) => Number(n).toLocaleString('en');
  const share = (x) => x === null || x === undefined ? '' : Number(x).toFixed(4);
  const day = (ms) => ms > 0 ? new Date(ms).toISOString().slice(0, 16).replace('T', ' ') : '';

  function make(name, text, className) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  function draw(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function empty(element) {
    while (element.firstChild) element.removeChild(element.firstChild);
    return element;
  }

  async function ask(path, parameters) {
    const query = parameters ? '?' + new URLSearchParams(parameters) : '';
    const token = sessionStorage.getItem('token');
    const answer = await fetch(path + query, {headers: token ? {Authorization: 'Bearer ' + token} : {}});
    if (answer.status === 401) $('unlock').hidden = false;
    const body = await answer.json().catch(() => ({error: 'the answer cannot be read'}));
    if (!answer.ok) throw new Error(body.error || 'status ' + answer.status);
    return body;
  }

  // ---- charts

  function chart(into, label) {
    const svg = draw('svg', {viewBox: '0 0 400 180', role: 'img', 'aria-label': label});
    empty(into).appendChild(svg);
    return svg;
  }

  function bars(into, label, rows) {
    const svg = chart(into, label + ': ' + rows.map((r) => r.name + ' ' + number(r.value)).slice(0, 30).join(', '));
    const most = Math.max(1, ...rows.map((r) => r.value));
    const width = 390 / Math.max(1, rows.length);
    rows.forEach((row, i) => {
      const height = row.value ? Math.max(1, 130 * Math.log1p(row.value) / Math.log1p(most)) : 0;
      const bar = draw('rect', {x: 5 + i * width, y: 150 - height, width: Math.max(1, width - 2), height, class: 'bar'});
      bar.appendChild(draw('title', {}, row.name + ': ' + number(row.value)));
      svg.appendChild(bar);
      if (rows.length <= 14) {
        svg.appendChild(draw('text', {x: 5 + (i + .5) * width, y: 165, 'text-anchor': 'middle'}, row.name));
        svg.appendChild(draw('text', {x: 5 + (i + .5) * width, y: 146 - height, 'text-anchor': 'middle'}, number(row.value)));
      }
    });
    if (rows.length > 14)
      svg.appendChild(draw('text', {x: 5, y: 168}, rows.length + ', the fullest has ' + number(most)));
  }

  function timeline(buckets) {
    const svg = chart($('timeline'), 'share of statuses by the time of the last fetch');
    const width = 390 / Math.max(1, buckets.length);
    buckets.forEach((bucket, i) => {
      const all = STATUSES.reduce((sum, name) => sum + bucket[name], 0);
      let y = 150;
      for (const name of STATUSES) {
        const height = all ? 140 * bucket[name] / all : 0;
        y -= height;
        const part = draw('rect', {x: 5 + i * width, y, width: Math.max(1, width - 1), height, class: name});
        part.appendChild(draw('title', {}, day(bucket.from_ms) + ': ' + number(bucket[name]) + ' ' + name));
        svg.appendChild(part);
      }
    });
    if (buckets.length) {
      svg.appendChild(draw('text', {x: 5, y: 168}, day(buckets[0].from_ms)));
      svg.appendChild(draw('text', {x: 395, y: 168, 'text-anchor': 'end'}, day(buckets[buckets.length - 1].from_ms)));
    }
  }

  function throughput(overview) {
    const rows = [];
    const history = overview.history;
    for (let i = 1; i < history.length; i++) {
      const seconds = (history[i - 1].age_ms - history[i].age_ms) / 1000;
      rows.push({age: history[i].age_ms, rate: seconds > 0 ? (history[i].records - history[i - 1].records) / seconds : 0});
    }
    const most = Math.max(1, ...rows.map((r) => r.rate));
    const svg = chart($('throughput'), 'records a second: at most ' + number(Math.round(most)));
    const span = Math.max(1, ...rows.map((r) => r.age));
    const points = rows.map((r) => (395 - 390 * r.age / span) + ',' + (150 - 130 * r.rate / most)).join(' ');
    svg.appendChild(draw('polyline', {points, fill: 'none', stroke: 'currentColor', 'stroke-width': 2}));
    svg.appendChild(draw('text', {x: 5, y: 168}, rows.some((r) => r.rate > 0) ? Math.round(span / 1000) + ' s ago to now, at most ' + number(Math.round(most)) + ' records a second' : 'no record was handled in the last ' + Math.round(span / 1000) + ' s'));
  }

  function numbers(overview) {
    const lag = overview.inputs_ended ? 'inputs read to their end' : 'state moved on ' + number(Math.round(overview.unchanged_ms / 1000)) + ' s ago';
    const cards = [['pages', overview.pages], ['groups', overview.groups], ['groups of several', overview.duplicate_groups],
      ...STATUSES.map((name) => [name, overview[name]]), ['records; ' + lag, overview.records]];
    const into = empty($('numbers'));
    for (const [name, value] of cards) {
      const card = make('div', undefined, 'card');
      card.append(make('b', number(value)), make('span', name));
      into.appendChild(card);
    }
  }

  function link(url) {
    const a = make('a', url);
    a.href = '#url=' + encodeURIComponent(url);
    return a;
  }

  function groups(table, rows) {
    const body = empty($(table).tBodies[0]);
    for (const row of rows) {
      const tr = make('tr');
      const url = make('td', undefined, 'url');
      url.appendChild(link(row.url));
      tr.append(url, make('td', number(row.size), 'n'), make('td', number(row.winners), 'n'), make('td', share(row.weakest), 'n'));
      body.appendChild(tr);
    }
  }

  async function overview() {
    try {
      const all = await ask('/v1/overview');
      numbers(all);
      throughput(all);
      timeline(all.timeline);
      bars($('sizes'), 'groups by size', all.sizes.map((s) => ({name: s.from === s.to ? String(s.from) : s.from + '–' + s.to, value: s.groups})));
      bars($('cells'), 'pages in each cell', all.cells.map((n, i) => ({name: String(i), value: n})));
      groups('largest', all.largest);
      groups('weakest', all.weakest);
      document.body.dataset.overview = 'shown';
    } catch (error) {
      say(error.message);
    }
    setTimeout(overview, document.body.dataset.overview ? 5000 : 1000);
  }

  // ---- a group

  function why(member) {
    const cell = make('td', undefined, 'url');
    if (!member.link) {
      cell.textContent = 'the root of its group';
      return cell;
    }
    const text = member.link.reason === 'redirect' ? 'redirect with ' : share(member.link.similarity) + ' to ';
    cell.append(text, link(member.link.url));
    return cell;
  }

  function choose(url, box) {
    if (box.checked) chosen.add(url); else chosen.delete(url);
    $('compare').disabled = chosen.size !== 2;
    say(chosen.size + ' of 2 chosen');
  }

  function memberRow(member) {
    const tr = make('tr');
    const pick = make('td');
    if (member.kind === 'content') {
      const box = make('input');
      box.type = 'checkbox';
      box.setAttribute('aria-label', 'compare ' + member.url);
      box.addEventListener('change', () => choose(member.url, box));
      pick.appendChild(box);
    }
    const url = make('td', undefined, 'url');
    url.appendChild(link(member.url));
    tr.append(pick, url, make('td', member.status || ''), make('td', share(member.similarity), 'n'), why(member), make('td', day(member.since_ms)));
    return tr;
  }

  async function look(url) {
    $('url').value = url;
    say('looking up');
    chosen.clear();
    $('compare').disabled = true;
    $('compared').hidden = true;
    $('tried').hidden = true;
    try {
      const status = await ask('/v1/status', {url});
      group = await ask('/v1/group', {url, limit: 200});
      const facts = empty($('facts'));
      facts.append(make('p', status.url + ' is ' + status.status +
        (status.winner_url ? ' and repeats ' + status.winner_url + ' (' + share(status.similarity) + ')' : '') + '.'));
      facts.append(make('p', 'Group ' + group.group_id + ': ' + number(group.size) + (group.size_is_more ? ' or more' : '') + ' members, ' + number(group.winners) + ' kept' +
        (group.members.length < group.size ? '; the first ' + group.members.length + ' are shown' : '') + '.'));
      const body = empty($('members').tBodies[0]);
      for (const member of group.members) body.appendChild(memberRow(member));
      $('found').hidden = false;
      say('found');
    } catch (error) {
      $('found').hidden = true;
      say(error.message);
    }
    document.body.dataset.looked = url;
  }

  // ---- two texts

  // The words of a text with their places, and for each whether one of the 5-shingles it lies in is in
  // the other text as well.
  function words(text) {
    return [...text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)].map((m) => ({from: m.index, to: m.index + m[0].length, word: m[0].toLowerCase().normalize('NFKC')}));
  }

  function shingles(list) {
    const n = Math.min(SHINGLE, list.length);
    const all = [];
    for (let i = 0; n && i + n <= list.length; i++)
      all.push(list.slice(i, i + n).map((w) => w.word).join('\u0000'));
    return all;
  }

  function mark(into, text, list, own, other) {
    const known = new Set(other);
    const shared = new Array(list.length).fill(false);
    own.forEach((s, i) => { if (known.has(s)) for (let k = i; k < i + SHINGLE && k < list.length; k++) shared[k] = true; });
    const fragment = document.createDocumentFragment();
    let at = 0;
    for (let i = 0; i < list.length;) {
      let end = i;
      while (end < list.length && shared[end] === shared[i]) end++;
      fragment.append(text.slice(at, list[i].from));
      const part = text.slice(list[i].from, list[end - 1].to);
      fragment.append(shared[i] ? part : make('mark', part));
      at = list[end - 1].to;
      i = end;
    }
    fragment.append(text.slice(at));
    empty(into).appendChild(fragment);
  }

  function sideBySide(a, b) {
    const x = words(a), y = words(b), p = shingles(x), q = shingles(y);
    mark($('a-text'), a, x, p, q);
    mark($('b-text'), b, y, q, p);
    const s = new Set(p), t = new Set(q);
    let both = 0;
    s.forEach((shingle) => { both += t.has(shingle); });
    return {both, a: s.size, b: t.size};
  }

  function show(lines) {
    const verdict = empty($('verdict'));
    for (const line of lines) verdict.appendChild(make('p', line));
    $('compared').hidden = false;
    $('compared-title').focus();
  }

  async function compare(a, b) {
    $('a-url').textContent = a;
    $('b-url').textContent = b;
    empty($('a-text'));
    empty($('b-text'));
    try {
      const c = await ask('/v1/compare', {a, b});
      const lines = ['Similarity ' + share(c.similarity) + (c.exact ? ', exact' : ', estimated') + '; threshold ' + c.threshold + ': ' +
        (c.near_duplicates ? 'near duplicates' : 'not near duplicates') + (c.equal_words ? ', the words are the same.' : '.'),
      number(c.a.shingles) + ' and ' + number(c.b.shingles) + ' shingles, lengths (' + c.a.lengths.join(', ') + ') and (' + c.b.lengths.join(', ') +
        '), ' + number(c.shared_kept) + ' of the kept ones shared. No pages of these lengths are more similar than ' + share(c.length_bound) + '.'];
      try {
        const texts = await Promise.all([ask('/v1/text', {url: a}), ask('/v1/text', {url: b})]);
        sideBySide(texts[0].text, texts[1].text);
        lines.push('Marked: what the other text does not have.');
      } catch (error) {
        lines.push('Texts: ' + error.message);
      }
      show(lines);
      document.body.dataset.compared = 'shown';
    } catch (error) {
      say(error.message);
    }
  }

  // ---- another threshold

  async function tryThreshold() {
    const into = empty($('tried'));
    try {
      const trial = await ask('/v1/threshold', {url: group.members[0].url, threshold: $('threshold').value});
      const all = trial.groups.flat();
      const changes = all.filter((m) => m.changes).length;
      into.appendChild(make('p', 'At ' + trial.threshold + ' instead of ' + trial.was + ': ' + number(trial.groups.length) +
        (trial.groups.length === 1 ? ' group, ' : ' groups, ') + number(changes) + ' of ' + number(all.length) + ' members would change.' +
        (trial.threshold < trial.was ? ' Pages of other groups might join; they are not looked at here.' : '')));
      const scroll = make('div', undefined, 'scroll'), table = make('table'), body = make('tbody');
      const head = make('tr');
      head.append(make('th', 'Group'), make('th', 'URL'), make('th', 'Repeats now'), make('th', 'Would repeat'), make('th', 'Similarity', 'n'));
      const thead = make('thead');
      thead.appendChild(head);
      trial.groups.forEach((members, i) => members.forEach((m) => {
        const tr = make('tr', undefined, m.changes ? 'changed' : '');
        tr.append(make('td', String(i + 1)), make('td', m.url, 'url'), make('td', m.was_winner_url || 'kept', 'url'),
          make('td', m.winner_url || 'kept', 'url'), make('td', share(m.similarity), 'n'));
        body.appendChild(tr);
      }));
      table.append(thead, body);
      scroll.appendChild(table);
      into.appendChild(scroll);
      document.body.dataset.tried = String(changes);
    } catch (error) {
      into.appendChild(make('p', error.message));
    }
    into.hidden = false;
  }

  // ---- events

  function follow() {
    const url = new URLSearchParams(location.hash.slice(1)).get('url');
    if (url) look(url);
  }

  function on(form, what) {
    $(form).addEventListener('submit', (event) => {
      event.preventDefault();
      what();
    });
  }

  on('search', () => {
    const hash = '#url=' + encodeURIComponent($('url').value.trim());
    if (location.hash === hash) follow(); else location.hash = hash;
  });
  on('unlock', () => {
    sessionStorage.setItem('token', $('token').value);
    $('unlock').hidden = true;
    say('');
    follow();
  });
  on('pair', () => compare(...chosen));
  on('try', tryThreshold);
  on('texts', () => {
    $('a-url').textContent = 'First text';
    $('b-url').textContent = 'Second text';
    const n = sideBySide($('own-a').value, $('own-b').value);
    show([number(n.a) + ' and ' + number(n.b) + ' shingles, ' + number(n.both) + ' shared: ' +
      share(n.a + n.b ? n.both / (n.a + n.b - n.both) : 0) + '. Marked: what the other text does not have.']);
  });
  addEventListener('hashchange', follow);
  follow();
  overview();
})();
