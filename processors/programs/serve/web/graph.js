// A group as a picture: its members, what links them, and what beat them. Kept ones are in the inner
// ring, the others in the outer one near what beat them; so the same group is the same picture.
const NODES_MAX = 60;
const SIDE = 400, INNER = 70, OUTER = 170;

function ring(members, radius) {
  const one = members.length === 1 && radius === INNER;
  return members.map((member, i) => {
    const angle = 2 * Math.PI * i / members.length - Math.PI / 2;
    const far = one ? 0 : radius;
    return {member, x: SIDE / 2 + far * Math.cos(angle), y: SIDE / 2 + far * Math.sin(angle)};
  });
}

function places(members) {
  const kept = members.filter((m) => !m.winner_url), beatenOnes = members.filter((m) => m.winner_url);
  const place = new Map(kept.map((m, i) => [m.url, i]));
  beatenOnes.sort((a, b) => (place.get(a.winner_url) ?? kept.length) - (place.get(b.winner_url) ?? kept.length));
  return [...ring(kept, INNER), ...ring(beatenOnes, kept.length ? OUTER : INNER)];
}

function edge(svg, from, to, className, title) {
  const drawn = draw('line', {x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: className});
  drawn.appendChild(draw('title', {}, title));
  svg.appendChild(drawn);
}

// The number of links that lead to members who are not in the picture.
function edges(svg, nodes) {
  const at = new Map(nodes.map((n) => [n.member.url, n]));
  let outsideOfIt = 0;
  for (const node of nodes) {
    const m = node.member, linked = m.link && at.get(m.link.url), winner = m.winner_url && at.get(m.winner_url);
    if (m.link && !linked) outsideOfIt++;
    if (linked) edge(svg, node, linked, 'edge ' + m.link.reason, m.url + ' and ' + m.link.url + ': ' + (m.link.reason === 'redirect' ? 'redirect' : share(m.link.similarity)));
    if (winner) edge(svg, node, winner, 'edge beat', m.winner_url + ' beat ' + m.url);
  }
  return outsideOfIt;
}

function dot(node) {
  const m = node.member, a = draw('a', {href: '#url=' + encodeURIComponent(m.url), 'aria-label': m.url + ', ' + (m.status || m.kind)});
  const circle = draw('circle', {cx: node.x, cy: node.y, r: m.url === looked ? 9 : 6, class: (m.status || 'unique') + (m.url === looked ? ' here' : '')});
  circle.appendChild(draw('title', {}, m.url + ', ' + (m.status || m.kind)));
  a.appendChild(circle);
  return a;
}

function showGraph() {
  const members = group.members.slice(0, NODES_MAX);
  $('graph-part').hidden = group.size < 2;
  const svg = draw('svg', {viewBox: '0 0 ' + SIDE + ' ' + SIDE, role: 'group', 'aria-label': 'graph of ' + members.length + ' members', class: 'graph'});
  const nodes = places(members), cutLinks = edges(svg, nodes);
  svg.append(...nodes.map(dot));
  $('graph').replaceChildren(svg);
  $('graph-said').textContent = number(members.length) + ' of ' + number(group.size) + ' members, the kept ones inside' +
    (cutLinks ? '; ' + number(cutLinks) + ' are linked to members that are not shown' : '') + '.';
}
