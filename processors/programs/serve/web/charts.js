// Charts, drawn as SVG.
const WIDTH = 400, LEFT = 5, RIGHT = 395, GROUND = 150;

function chart(label) {
  return draw('svg', {viewBox: '0 0 ' + WIDTH + ' 180', role: 'img', 'aria-label': label});
}

const note = (svg, attributes, text) => svg.appendChild(draw('text', {y: 168, ...attributes}, text));

// Counts that differ by orders of magnitude: the scale is logarithmic, and the chart says so.
function bars(label, rows) {
  const svg = chart(label + ', logarithmic scale: ' + rows.map((r) => r.name + ' ' + number(r.value)).slice(0, 30).join(', '));
  const most = Math.max(1, ...rows.map((r) => r.value));
  const width = (RIGHT - LEFT) / Math.max(1, rows.length);
  const named = rows.length <= 14;
  rows.forEach((r, i) => {
    const height = r.value ? Math.max(1, 120 * Math.log1p(r.value) / Math.log1p(most)) : 0;
    const bar = draw('rect', {x: LEFT + i * width, y: GROUND - height, width: Math.max(1, width - 2), height, class: 'bar'});
    bar.appendChild(draw('title', {}, r.name + ': ' + number(r.value)));
    svg.appendChild(bar);
    if (!named) return;
    const middle = {x: LEFT + (i + .5) * width, 'text-anchor': 'middle'};
    note(svg, {...middle, y: 165}, r.name);
    note(svg, {...middle, y: GROUND - 4 - height}, number(r.value));
  });
  note(svg, {x: LEFT, y: 178}, (named ? '' : rows.length + ', the fullest has ' + number(most) + '; ') + 'logarithmic scale');
  return svg;
}

function stacked(buckets) {
  const svg = chart('share of statuses by the time of the last fetch');
  const width = (RIGHT - LEFT) / Math.max(1, buckets.length);
  buckets.forEach((bucket, i) => {
    const all = STATUSES.reduce((sum, name) => sum + bucket[name], 0);
    let y = GROUND;
    for (const name of STATUSES) {
      const height = all ? 140 * bucket[name] / all : 0;
      y -= height;
      const part = draw('rect', {x: LEFT + i * width, y, width: Math.max(1, width - 1), height, class: name});
      part.appendChild(draw('title', {}, day(bucket.from_ms) + ': ' + number(bucket[name]) + ' ' + name));
      svg.appendChild(part);
    }
  });
  if (buckets.length) {
    note(svg, {x: LEFT}, day(buckets[0].from_ms));
    note(svg, {x: RIGHT, 'text-anchor': 'end'}, day(buckets[buckets.length - 1].from_ms));
  }
  return svg;
}

function rates(history) {
  const rows = [];
  for (let i = 1; i < history.length; i++) {
    const seconds = (history[i - 1].age_ms - history[i].age_ms) / 1000;
    rows.push({age: history[i].age_ms, rate: seconds > 0 ? (history[i].records - history[i - 1].records) / seconds : 0});
  }
  const most = Math.max(1, ...rows.map((r) => r.rate));
  const svg = chart('records a second: at most ' + number(Math.round(most)));
  const span = Math.max(1, ...rows.map((r) => r.age));
  const points = rows.map((r) => (RIGHT - (RIGHT - LEFT) * r.age / span) + ',' + (GROUND - 130 * r.rate / most)).join(' ');
  svg.appendChild(draw('polyline', {points, fill: 'none', stroke: 'currentColor', 'stroke-width': 2}));
  note(svg, {x: LEFT}, rows.some((r) => r.rate > 0)
    ? Math.round(span / 1000) + ' s ago to now, at most ' + number(Math.round(most)) + ' records a second'
    : 'no record was handled in the last ' + Math.round(span / 1000) + ' s');
  return svg;
}
