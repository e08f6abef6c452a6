// Another threshold, tried on a group.
function trialTable(trial) {
  const table = make('table'), head = make('tr'), body = make('tbody'), thead = make('thead');
  head.append(make('th', 'Group', 'n'), make('th', 'URL', 'url'), make('th', 'Repeats now', 'url'), make('th', 'Would repeat', 'url'),
    make('th', 'Similarity', 'n'));
  thead.appendChild(head);
  table.append(thead, body);
  nameRoles(table);
  trial.groups.forEach((members, i) => body.append(...members.map((m) =>
    row(table, [String(i + 1), link(m.url), m.was_winner_url || 'kept', m.winner_url || 'kept', share(m.similarity)], m.changes ? 'changed' : ''))));
  return table;
}

async function tryThreshold() {
  const into = $('tried');
  try {
    const trial = await ask('/v1/threshold', {url: looked, threshold: $('threshold').value});
    const all = trial.groups.flat();
    const changes = all.filter((m) => m.changes).length;
    const scroll = make('div', undefined, 'scroll');
    scroll.appendChild(trialTable(trial));
    into.replaceChildren(line('At ' + trial.threshold + ' instead of ' + trial.was + ': ' + number(trial.groups.length) +
      (trial.groups.length === 1 ? ' group, ' : ' groups, ') + number(changes) + ' of ' + number(all.length) + ' members would change.' +
      (trial.threshold < trial.was ? ' Pages of other groups might join, but are not compared here.' : '')), scroll);
    document.body.dataset.tried = String(changes);
  } catch (error) {
    into.replaceChildren(line(error.message));
  }
  into.hidden = false;
}
