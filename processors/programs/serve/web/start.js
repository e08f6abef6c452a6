// What the reader does, and the start.
// The address says what is looked at, so that it can be kept and sent on.
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (wanted.get('url')) look(wanted.get('url'));
  else if (wanted.get('q') || wanted.get('host')) find(Object.fromEntries(wanted));
}

function go(what) {
  const hash = '#' + new URLSearchParams(what);
  if (location.hash === hash) follow(); else location.hash = hash;
}

// What is whole is a page's URL; all else is a part of one.
const isWhole = (text) => /^([a-z][a-z0-9+.-]*:\/\/|doc:)/i.test(text);

function on(form, what) {
  $(form).addEventListener('submit', (event) => {
    event.preventDefault();
    what();
  });
}

on('search', () => {
  const text = $('url').value.trim();
  go(isWhole(text) ? {url: text} : {q: text});
});
$('only').addEventListener('change', () => {
  const {status, ...rest} = search;
  go($('only').value ? {...rest, status: $('only').value} : rest);
});
$('hosts-more').addEventListener('click', () => {
  hostsShown += HOSTS_SHOWN;
  hosts().catch((error) => say(error.message));
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
$('pause').addEventListener('click', pause);
$('csv').addEventListener('click', () => saveGroup(true));
$('json').addEventListener('click', () => saveGroup(false));
$('pages-csv').addEventListener('click', () => savePages(true));
$('pages-json').addEventListener('click', () => savePages(false));
$('hosts-csv').addEventListener('click', () => saveHosts(true));
$('hosts-json').addEventListener('click', () => saveHosts(false));
on('texts', () => {
  $('sides').hidden = false;
  $('a-url').textContent = 'First text';
  $('b-url').textContent = 'Second text';
  const n = sideBySide($('own-a').value, $('own-b').value);
  show([number(n.a) + ' and ' + number(n.b) + ' shingles, ' + number(n.both) + ' shared: ' +
    share(n.a + n.b ? n.both / (n.a + n.b - n.both) : 0) + '. Marked words are missing from the other text.']);
});
document.querySelectorAll('table').forEach(nameRoles);
addEventListener('hashchange', follow);
follow();
overview();
