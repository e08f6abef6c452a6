// What the reader does, and the start.
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
$('earlier').addEventListener('click', () => turn(-MEMBERS_SHOWN));
$('later').addEventListener('click', () => turn(MEMBERS_SHOWN));
$('csv').addEventListener('click', () => saveGroup(true));
$('json').addEventListener('click', () => saveGroup(false));
on('texts', () => {
  $('sides').hidden = false;
  $('a-url').textContent = 'First text';
  $('b-url').textContent = 'Second text';
  const n = sideBySide($('own-a').value, $('own-b').value);
  show([number(n.a) + ' and ' + number(n.b) + ' shingles, ' + number(n.both) + ' shared: ' +
    share(n.a + n.b ? n.both / (n.a + n.b - n.both) : 0) + '. Marked: what the other text does not have.']);
});
document.querySelectorAll('table').forEach(nameRoles);
addEventListener('hashchange', follow);
follow();
overview();
