// Two texts side by side.
const SHINGLE = 5;
let comparing = 0; // the latest comparison: an earlier one that ends after it is not shown

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
  into.replaceChildren(fragment);
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
  $('verdict').replaceChildren(...lines.map((text) => line(text)));
  arrive('compared', 'compared-title');
}

function verdict(c) {
  return ['Similarity ' + share(c.similarity) + (c.exact ? ', exact' : ', estimated') + '; threshold ' + c.threshold + ': ' +
    (c.near_duplicates ? 'near duplicates' : 'not near duplicates') + (c.equal_words ? ', the words are the same.' : '.'),
  number(c.a.shingles) + ' and ' + number(c.b.shingles) + ' shingles, lengths (' + c.a.lengths.join(', ') + ') and (' + c.b.lengths.join(', ') +
    '), ' + number(c.shared_kept) + ' of the kept shingles are shared. Pages of these lengths are at most this similar: ' + share(c.length_bound) + '.'];
}

async function compare(a, b) {
  const mine = ++comparing;
  delete document.body.dataset.compared;
  try {
    const lines = verdict(await ask('/v1/compare', {a, b}));
    let texts = null;
    try {
      texts = await Promise.all([ask('/v1/text', {url: a}), ask('/v1/text', {url: b})]);
      lines.push('Marked words are missing from the other text.');
    } catch (error) {
      lines.push('Texts: ' + error.message);
    }
    if (mine !== comparing) return;
    $('a-url').replaceChildren(link(a));
    $('b-url').replaceChildren(link(b));
    $('sides').hidden = !texts;
    if (texts) sideBySide(texts[0].text, texts[1].text);
    show(lines);
    document.body.dataset.compared = 'shown';
  } catch (error) {
    say(error.message);
  }
}
