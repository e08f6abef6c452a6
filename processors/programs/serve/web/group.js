// A group: its members, and why they are in it.
const MEMBERS_SHOWN = 100, MEMBERS_ASKED = 1000, PART = 20000;
const chosen = new Set(); // URLs to compare
let group = null; // as the server tells, with the members that are shown
let looked = ''; // the URL whose group it is
let parts = ['']; // of a large group: after which member each part begins, up to the one that is shown

function why(member) {
  if (!member.link) return 'first of the group: the others are linked to it';
  return [member.link.reason === 'redirect' ? 'redirect to or from ' : share(member.link.similarity) + ' similar to ', link(member.link.url)];
}

function diff(loser, winner) {
  return button('Diff', 'show the difference between ' + loser + ' and ' + winner, () => compare(loser, winner));
}

function beaten(member) {
  if (!member.winner_url) return '';
  return [link(member.winner_url), ' ', member.kind === 'content' ? diff(member.url, member.winner_url) : ''];
}

function choose(url, box) {
  if (box.checked) chosen.add(url); else chosen.delete(url);
  $('compare').disabled = chosen.size !== 2;
  say(chosen.size + ' of 2 chosen');
}

function picker(member) {
  if (member.kind !== 'content') return '';
  const box = make('input');
  box.type = 'checkbox';
  box.checked = chosen.has(member.url);
  box.setAttribute('aria-label', 'compare ' + member.url);
  box.addEventListener('change', () => choose(member.url, box));
  return box;
}

function memberRow(member) {
  return row($('members'), [picker(member), [link(member.url), ' ', outside(member.url)], member.status || '', beaten(member),
    share(member.similarity), why(member), day(member.since_ms)], member.url === looked ? 'looked' : '');
}

function showMembers() {
  const first = group.offset, last = first + group.members.length;
  const part = group.size_is_more ? 'part ' + number(parts.length) + ' of a large group: ' : '';
  $('members').tBodies[0].replaceChildren(...group.members.map(memberRow));
  $('range').textContent = part + number(Math.min(first + 1, last)) + ' to ' + number(last) + ' of ' + number(group.size) +
    (group.next_after ? ', more follow' : '');
  $('earlier').disabled = first === 0 && parts.length === 1;
  $('later').disabled = last >= group.size && !group.next_after;
  showGraph();
}

// Where a step leads: within the part that is shown, or to the one before or after it.
function step(by) {
  const offset = group.offset + by;
  if (offset >= group.size && group.next_after) return {offset: 0, parts: [...parts, group.next_after]};
  if (offset < 0 && parts.length > 1)
    return {offset: Math.floor((PART - 1) / MEMBERS_SHOWN) * MEMBERS_SHOWN, parts: parts.slice(0, -1)};
  return {offset: Math.max(0, offset), parts};
}

function membersOf(url, after, offset, limit) {
  return ask('/v1/group', {url, offset, limit, ...(after ? {after} : {})});
}

async function turn(by) {
  const url = looked, to = step(by);
  try {
    const next = await membersOf(url, to.parts.at(-1), to.offset, MEMBERS_SHOWN);
    if (url !== looked) return;
    [group, parts] = [next, to.parts];
    showMembers();
    $('members').focus({preventScroll: true});
    $('members').scrollIntoView({block: 'start'});
    say('members ' + $('range').textContent);
  } catch (error) {
    say(error.message);
  }
}

// What put the winner first, when the page was last told its status.
const RULES = {popularity: 'is more popular', static: 'has a URL without a query', short: 'has the shorter URL',
  market: 'is in the preferred market', id: 'has the same rank and the lower id', override: 'has a lower rank, but winner.relation or winner.margin decided'};

function facts(status) {
  const said = [line(status.url, ' is ', make('strong', status.status), '. ', outside(status.url))];
  if (status.winner_url)
    said.push(line('It repeats ', link(status.winner_url),
      status.reason === 'redirect' ? ', to which it redirects. ' : ' (similarity ' + share(status.similarity) + '). ',
      status.reason === 'redirect' ? '' : diff(status.url, status.winner_url)));
  if (RULES[status.rule]) said.push(line('That page ' + RULES[status.rule] + '.'));
  said.push(line('Group ' + group.group_id + ': ' + number(group.size) + (group.size_is_more ? ' or more' : '') +
    (group.size === 1 ? ' member, ' : ' members, ') + number(group.winners) + ' kept.'));
  return said;
}

// Into view, for eyes and for who hears the page.
function arrive(section, title) {
  $(section).hidden = false;
  $(title).focus({preventScroll: true});
  $(section).scrollIntoView({block: 'start'});
}

async function look(url) {
  looked = url;
  $('url').value = url;
  say('looking up');
  chosen.clear();
  $('compare').disabled = true;
  for (const id of ['searched', 'compared', 'tried']) $(id).hidden = true;
  try {
    const [status, members] = await Promise.all([ask('/v1/status', {url}), ask('/v1/group', {url, limit: MEMBERS_SHOWN})]);
    if (looked !== url) return;
    [group, parts] = [members, ['']];
    $('facts').replaceChildren(...facts(status));
    showMembers();
    showHistory();
    arrive('found', 'found-title');
    say('found');
  } catch (error) {
    if (looked !== url) return;
    $('found').hidden = true;
    say(error.message);
    if (error.status === 404) find({q: url});
  }
  document.body.dataset.looked = url;
}

// ---- the group as a file

async function allMembers() {
  const all = [];
  for (let after = '', offset = 0; after !== null;) {
    const part = await membersOf(looked, after, offset, MEMBERS_ASKED);
    all.push(...part.members);
    offset += part.members.length;
    if (offset >= part.size || part.members.length === 0) [after, offset] = [part.next_after, 0];
  }
  return all;
}

async function saveGroup(asCsv) {
  try {
    const members = await allMembers(), name = 'group-' + group.group_id.replace(/[^\w-]/g, '-');
    if (asCsv) {
      const columns = ['url', 'status', 'winner_url', 'similarity', 'reason', 'kind', 'popularity', 'version_ms', 'since_ms'];
      save(name + '.csv', 'text/csv', csv([...columns, 'link_url', 'link_similarity'],
        members.map((m) => [...columns.map((c) => m[c]), m.link?.url, m.link?.similarity])));
    } else {
      save(name + '.json', 'application/json', JSON.stringify({...group, offset: 0, members}, null, 1) + '\n');
    }
    say(number(members.length) + ' members saved');
  } catch (error) {
    say(error.message);
  }
}
