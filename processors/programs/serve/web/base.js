// What all parts of the page share. Whatever comes from a crawl is shown with textContent, never as HTML.
const $ = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
const STATUSES = ['unique', 'winner', 'loser', 'gone'];

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

// A paragraph of texts and elements.
function line(...parts) {
  const p = make('p');
  p.append(...parts);
  return p;
}

function button(text, label, what) {
  const b = make('button', text);
  b.type = 'button';
  b.setAttribute('aria-label', label);
  b.addEventListener('click', what);
  return b;
}

// To the group of a page, within this page.
function link(url) {
  const a = make('a', url);
  a.href = '#url=' + encodeURIComponent(url);
  return a;
}

// To the page itself, in the world; '' where its address is none that a browser should follow.
function outside(url) {
  let scheme = '';
  try { scheme = new URL(url).protocol; } catch { /* an id that is no URL */ }
  if (scheme !== 'http:' && scheme !== 'https:') return '';
  const a = make('a', 'open', 'outside');
  a.href = url;
  a.target = '_blank';
  a.rel = 'noreferrer noopener';
  a.setAttribute('aria-label', 'open ' + url);
  return a;
}

// ---- what is drawn again while somebody reads it

const shownBy = new WeakMap();

// Replaces what is in an element by what `build` returns, where `data` differs from what is shown.
// Who had the keyboard's focus in it keeps it: on what was there before, or else on what is there now.
function refill(element, data, build) {
  const text = JSON.stringify(data);
  if (shownBy.get(element) === text) return;
  const reachable = () => [...element.querySelectorAll('a, button, input')];
  const name = (e) => e.getAttribute('aria-label') || e.getAttribute('href') || e.textContent;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const place = focused ? reachable().indexOf(focused) : -1;
  element.replaceChildren(...build());
  shownBy.set(element, text);
  if (place < 0) return;
  const now = reachable();
  const again = now.find((e) => name(e) === name(focused)) || now[Math.min(place, now.length - 1)];
  if (again) again.focus({preventScroll: true});
}

// ---- tables

// A row for a table with a head. Each cell knows its column's name, which is shown beside it where
// there is no room for columns.
function row(table, contents, className) {
  const heads = table.tHead.rows[0].cells;
  const tr = make('tr', undefined, className);
  tr.setAttribute('role', 'row');
  contents.forEach((content, i) => {
    const td = make('td', undefined, heads[i].className);
    td.setAttribute('role', 'cell');
    td.dataset.label = heads[i].textContent;
    td.append(...[content].flat());
    tr.append(td);
  });
  return tr;
}

// A table stays one to who hears it, however it is laid out.
function nameRoles(table) {
  table.setAttribute('role', 'table');
  for (const part of [table.tHead, ...table.tBodies]) part.setAttribute('role', 'rowgroup');
  for (const tr of table.tHead.rows) tr.setAttribute('role', 'row');
  for (const th of table.tHead.rows[0].cells) {
    th.scope = 'col';
    th.setAttribute('role', 'columnheader');
  }
}

// ---- files for the reader

function save(name, type, text) {
  const a = make('a');
  a.href = URL.createObjectURL(new Blob([text], {type}));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}

// RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe before it.
function csv(columns, rows) {
  const field = (x) => {
    const text = x === null || x === undefined ? '' : String(x);
    const plain = typeof x === 'string' && /^[=+\-\x40\t\r]/.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
  };
  return [columns, ...rows].map((r) => r.map(field).join(',') + '\r\n').join('');
}

// ---- the server

const headers = () => {
  const token = sessionStorage.getItem('token');
  return token ? {Authorization: 'Bearer ' + token} : {};
};

async function ask(path, parameters) {
  const query = parameters ? '?' + new URLSearchParams(parameters) : '';
  const mine = headers();
  const response = await fetch(path + query, {headers: mine});
  if (response.status === 401) {
    if (mine.Authorization !== headers().Authorization) return ask(path, parameters); // the user has entered another
    $('unlock').hidden = false;
  }
  const body = await response.json().catch(() => ({error: 'the response cannot be read'}));
  if (!response.ok) {
    const error = new Error(body.error || 'status ' + response.status);
    error.status = response.status;
    throw error;
  }
  return body;
}
