"""What operators, retention and disks do to topics and state: `hostile.py PART WORK PROGRAM ADMIN`.

    poison      a message of 25 MB that is no page, compressed; an event on `status` that is none
    partitions  more partitions of `pages`, and of `tier1`
    recreated   all topics, while the state of the stages is kept
    spellings   one page by several URLs; then its status is deleted; a document
    forgotten   pages that `samepage forget` erases; one that is fetched again
    interrupted the same, with the command and each stage killed during it
    cut         pages longer than text.max_bytes
    full        the disk of the group stage, for a while (a tmpfs: only where mounting is allowed)
    unreadable  input that `ingest` can publish in part, or not at all
    deleted     records of `tier1` that were not read yet; a changelog
    reset       the offsets of the stages' groups
    lost        records of `pages` that were not read yet
    policies    clean-up policies that lose messages or state
    settings    other fixed settings, of a stage without state and of one that has lost it
    standby     an instance of the group stage is lost while another one has copies of its states
    refilled    the group stage is killed repeatedly while it restores a lost state from its changelog
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error

import cluster
from statuses import Place, ask, check_same, decided, main, of_json  # knows where harness.py is
from harness import PATIENCE_SECONDS, Failure, Skip, check, check_in, free_port, until, wait

POISON_BYTES = 25_000_000  # above the topic's limit; far below it when compressed
PAGES = "300"


class Hostile(Place):
    def __init__(self, part, work, program, admin):
        work = f"{work}-{part}"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        super().__init__(work, program, f"{part}-{os.getpid()}.")
        self.admin_program = admin
        # So that new partitions are noticed soon.
        self.more = {"kafka.topic.metadata.refresh.interval.ms": "1000"}
        self.call("synth", "--pages", PAGES, "--seed", "3", "--words", "60", "-o",
                  self.path("crawl.jsonl"))
        self.halves()
        self.call("topics", "create", *self.settings())

    def admin(self, command, topic, *args):
        return subprocess.run([self.admin_program, self.address, command, self.prefix + topic,
                               *args], check=True, text=True, stdout=subprocess.PIPE).stdout

    def try_reset(self, topic, stage, offset):
        """False while the group has a member."""
        return subprocess.run([self.admin_program, self.address, "reset", self.prefix + topic, self.prefix + stage,
                               offset], stderr=subprocess.DEVNULL, check=False).returncode == 0

    def refused(self, stage):
        """The last lines of a stage that ends by itself."""
        try:
            done = subprocess.run([self.program, stage, *self.settings(stage)], text=True,
                                  timeout=PATIENCE_SECONDS, stderr=subprocess.PIPE, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{stage} goes on; it said: {error.stderr}") from error
        check(done.returncode == 1, stage, "ended with", done.returncode, done.stderr)
        return done.stderr.splitlines()[-1]

    def settled(self, want, what):
        self.settle(want)
        check_same(decided(self.all()), want, what)


    def log(self, stage):
        with open(self.path(f"{self.prefix}{stage}.log"), encoding="utf-8") as file:
            return file.read()

    def ends(self, topic):
        return [tuple(map(int, line.split())) for line in self.admin("ends", topic).splitlines()]

    def forget(self, stage):
        shutil.rmtree(self.path(self.prefix + stage))


def deleted(place):
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    before = place.ends("tier1")
    with place.started(place.program, "signature", *place.settings("signature")):
        place.ingest(crawl="rest")
        until(lambda: all(a[1] > b[1] for a, b in zip(place.ends("tier1"), before)), "signatures")
    place.admin("delete-before", "tier1", "-1")
    check_in("is to be read next, and the topic has", place.refused("group"))
    place.forget("group")
    check_in("is to be read next, and the topic has", place.refused("group"))
    place.forget("group")
    place.admin("delete", "tier1-changelog")
    until(lambda: "tier1-changelog created" in place.call("topics", "create", *place.settings()),
          "a new changelog")
    check_in("offsets are committed, and the changelog is empty", place.refused("group"))


def reset(place):
    """A stage with state ignores them, the signature stage reads its pages once more; both say so."""
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    with place.stages():
        until(lambda: all("partitions assigned" in place.log(stage) for stage in cluster.STAGES), "a restart")
    for stage in cluster.STAGES:
        check("was set to" not in place.log(stage), stage, "takes its own offsets for another's:", place.log(stage))
        check("has no offset" not in place.log(stage), stage, "misses its own offsets:", place.log(stage))
    moved = {"signature": ("pages", "0"), "group": ("tier1", "1"), "compare": ("tier2", "1000000")}
    for stage, (topic, offset) in moved.items():
        until(lambda: place.try_reset(topic, stage, offset), f"a group {stage} without members")
    with place.stages():
        place.ingest(crawl="rest")
        place.settled(place.expected(), "offsets that were reset and `samepage run`")
    check_in("[0]: the consumer group's offset was set to 0 by somebody else", place.log("signature"))
    for stage in ("group", "compare"):
        check_in("offset was set to " + moved[stage][1] + " by somebody else", place.log(stage))


def lost(place):
    """Pages can be published again, so the stage says what is missing and goes on."""
    port = free_port()
    place.more["http.listen"] = f"127.0.0.1:{port}"

    def signature():
        return place.started(place.program, "signature", *place.settings("signature"))

    def says(line):
        try:
            return line in ask(f"http://127.0.0.1:{port}", "/metrics")
        except OSError:
            return False

    with signature():
        count = place.ingest(crawl="first")
        until(lambda: says(f'samepage_received_total{{stage="signature"}} {count}\n'), "the first pages")
    count = place.ingest(crawl="rest")
    place.admin("delete-before", "pages", "-1")
    with signature():
        until(lambda: says(f'samepage_lost_total{{stage="signature"}} {count}\n'), "what is lost")
        place.ingest(crawl="rest")
        until(lambda: says(f'samepage_received_total{{stage="signature"}} {count}\n'), "the same pages")
    with open(place.path(place.prefix + "signature.log"), encoding="utf-8") as file:
        check_in("was deleted before it was read: publish those pages again", file.read())


def policies(place):
    wrong = (("tier1", "compact", "deletes messages before they are read", cluster.STAGES),
             ("tier2", "compact,delete", "deletes messages before they are read", cluster.STAGES),
             ("tier1-changelog", "delete", "deletes the state after a time", ["group"]),
             ("tier2-changelog", "compact,delete", "deletes the state after a time", ["compare"]))
    for topic, policy, words, stages in wrong:
        place.admin("set", topic, "cleanup.policy", policy)
        for stage in stages:
            message = place.refused(stage)
            check_in(f"{topic}: its cleanup.policy is {policy}", message)
            check_in(words, message)
        place.admin("set", topic, "cleanup.policy", "compact" if "changelog" in topic else "delete")
    place.admin("set", "status", "cleanup.policy", "compact,delete")
    place.admin("set", "tier2-changelog", "cleanup.policy", "compact", "delete.retention.ms", "60000")
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "policies as they should be")
        for stage, doubt in (("group", "status: its cleanup.policy is compact,delete"),
                             ("compare", "tier2-changelog: its delete.retention.ms is 60000")):
            until(lambda: doubt in place.log(stage), lambda: place.log(stage))


def settings(place):
    """Stages with the settings of before go on afterwards, with the same result."""
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    place.more["text.scope"] = "all"
    check_in("the stage that reads it has other fixed settings than these", place.refused("signature"))
    message = place.refused("group")
    check_in("was made with another configuration", message)
    kept = place.path(place.prefix + "group")
    os.rename(kept, kept + ".kept")
    check_in("tier1-changelog: was written with other fixed settings than these", place.refused("group"))
    os.rename(kept + ".kept", kept)
    place.forget("compare")
    del place.more["text.scope"]
    place.more["winner.margin"] = "0.5"  # no matter of signatures
    with place.started(place.program, "signature", *place.settings("signature")):
        until(lambda: "partitions assigned" in place.log("signature"), "signature")
    check_in("tier2-changelog: was written with other fixed settings than these", place.refused("compare"))
    del place.more["winner.margin"]
    with place.stages():
        place.ingest(crawl="rest")
        place.settled(place.expected(), "with the settings of before and `samepage run`")


def recreated(place):
    topics = ["pages", "tier1", "tier2", "status", "dead-letter", "tier1-changelog",
              "tier2-changelog"]
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    for topic in topics:
        place.admin("delete", topic)
    wait(lambda: place.call("topics", "create", *place.settings()).count(" created") == len(topics),
         pause=1)
    os.remove(place.path("want.jsonl"))  # `run` appends to an existing output
    with place.stages():
        place.ingest(crawl="rest")
        place.settled(place.expected("rest"), "recreated topics and `samepage run`")


def spellings(place):
    urls = ["HTTP://Example.com:80/a", "http://example.com/a#top", "http://EXAMPLE.com/a"]

    def publish(number):
        with open(place.path("one.jsonl"), "w", encoding="utf-8") as file:
            json.dump({"url": urls[number], "content": "one page by many names",
                       "fetch_time_ms": 1000 * (number + 1)}, file)
        place.ingest(crawl="one.jsonl")
        until(lambda: any(e[0] == urls[number] for e in place.all()), f"a status of {urls[number]}")

    with place.stages():
        for number in range(len(urls)):
            publish(number)
    check([e[0] for e in place.all()] == [urls[-1]], "statuses of one page:", place.all())
    for url in urls:
        check_in(urls[-1], place.call("status", *place.settings(), url))
    place.admin("tombstone", "status", "http://example.com/a")
    check(place.all() == [], "a deleted status:", place.all())
    done = subprocess.run([place.program, "status", *place.settings(), urls[0]], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 1 and "no status is known" in done.stderr, "a deleted status:", done)
    with place.stages():
        document(place)


def document(place):
    """`status` and `forget` know it by its id, which is no URL."""
    with open(place.path("one.jsonl"), "w", encoding="utf-8") as file:
        json.dump({"id": "a 1", "text": "a document without a URL"}, file)
    fields = cluster.arguments({"input.id_field": "id", "input.text_field": "text"})
    place.call("ingest", *place.settings(), *fields, place.path("one.jsonl"))
    until(lambda: [e[0] for e in place.all()] == ["doc:a%201"], "a status of the document")
    check(of_json(place.call("status", *place.settings(), "a 1")) == place.all(), "a document by its id")
    place.call("forget", *place.settings(), "a 1")
    until(lambda: place.all() == [], "its end")


def forgotten(place):
    def rows(topic):
        """Key -> its last value, None if it was deleted."""
        last = {}
        for line in place.admin("rows", topic).splitlines():
            key, value = line.split()
            last[key] = None if value == "-" else bytes.fromhex(value)
        return last

    def row_of(name):
        key = name.encode().hex()
        return place.seen.get(key, b"")

    def left_in(topic):
        """The forgotten pages of which compaction leaves something."""
        # The URL ends before a number, so no longer URL that begins with it matches.
        values = [v for v in rows(topic).values() if v]
        return [n for n in names if any(n.encode() in v for v in values)
                and not any(u != n and u.startswith(n) for u in last)]

    place.more["audit.share"] = 1
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        last = {e[0]: e for e in place.all()}
        names = [u for status in ("unique", "winner", "loser", "gone")
                 for u in sorted(u for u, e in last.items() if e[2] == status)[:6]]
        check(len(names) > 12, "pages to forget:", len(names))
        holders = sum(any(n.encode() in v for n in names)
                      for v in rows("tier1-changelog").values() if v)
        check(holders >= len(names), "rows that hold them:", holders)
        copied = left_in("audit")
        check(len(copied) > len(names) // 2, "their fetches that were copied:", copied)
        with open(place.path("names"), "w", encoding="utf-8") as file:
            file.write("\n".join(names[1:] + ["http://nobody.example/"]))
        place.call("forget", *place.settings(), names[0])
        place.call("forget", *place.settings(), "--forget", place.path("names"))
        with open(place.path("first"), encoding="utf-8") as file:
            kept = [line for line in file if json.loads(line)["url"] not in names]
        with open(place.path("kept"), "w", encoding="utf-8") as file:
            file.writelines(kept)
        os.remove(place.path("want.jsonl"))  # `run` appends to an existing output
        place.settled(place.expected("kept"), "a crawl without the pages and what was forgotten")
        place.seen = rows("status")
        for name in names + ["http://nobody.example/"]:
            check(row_of(name) is None, "what the topic of statuses says of", name, row_of(name))

        until(lambda: not left_in("tier1-changelog"), lambda: f"rows without {left_in('tier1-changelog')}")
        check(left_in("audit") == [], "copied fetches of forgotten pages:", left_in("audit"))
        place.ingest(crawl="first")  # erased pages are new; the others are known
        os.remove(place.path("want.jsonl"))
        place.settled(place.expected("first"), "pages that were fetched again")
    check(len(left_in("audit")) > len(names) // 2, "their new fetches that were copied")
    place.call("forget", *place.settings(), "--set", "audit.share=0", *names)
    check(left_in("audit") == [], "deleted by the command itself, without a stage:", left_in("audit"))


def interrupted(place):
    """After a kill the stage or the command is started again; nothing else is done."""
    victims = ["command", "signature", "group", "compare"]
    place.more["commit.messages"] = 5
    # One message after another, so that the command can be held in the middle.
    slow = {"kafka.queue.buffering.max.messages": 1, "kafka.linger.ms": 200}
    processes = place.processes

    def start(stage):
        processes.start(stage, [place.program, stage, *place.settings(stage)], place.path(stage + ".log"))

    def gone(names):
        deleted = {line.split()[0] for line in place.admin("rows", "status").splitlines()
                   if line.endswith(" -")}
        return sum(name.encode().hex() in deleted for name in names)

    def sent():
        return sum(high for _, high in place.ends("pages"))

    def forget_and_kill(victim, names):
        with open(place.path("names"), "w", encoding="utf-8") as file:
            file.write("\n".join(names))
        command = [place.program, "forget", *place.settings(), "--forget", place.path("names")]
        before = sent()
        process = processes.start("command", [*command, *cluster.arguments(slow)], place.path("command.log"))
        until(lambda: sent() >= before + 6, "the first messages of the command")
        process.send_signal(signal.SIGSTOP)
        check(process.poll() is None and sent() < before + len(names), "all was sent before", victim, "was killed")
        until(lambda: gone(names) >= 3, "the first pages of " + victim)
        processes.stop(victim, signal.SIGKILL)
        process.send_signal(signal.SIGCONT)
        if victim == "command":
            check(gone(names) < len(names), "all was forgotten before the kill")
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        else:
            start(victim)
            check(processes.running.pop("command").wait(PATIENCE_SECONDS) == 0, "the command failed")
        until(lambda: gone(names) == len(names), "the other pages of " + victim)

    try:
        for stage in cluster.STAGES:
            start(stage)
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        urls = sorted(e[0] for e in place.all())
        chosen = [urls[i::5] for i in range(len(victims))]
        for victim, names in zip(victims, chosen):
            forget_and_kill(victim, names)
        names = {name for part in chosen for name in part}
        with open(place.path("first"), encoding="utf-8") as file:
            kept = [line for line in file if json.loads(line)["url"] not in names]
        with open(place.path("kept"), "w", encoding="utf-8") as file:
            file.writelines(kept)
        os.remove(place.path("want.jsonl"))  # `run` appends to an existing output
        want = place.expected("kept")
        place.settled(want, "a crawl without the pages and what was forgotten")
        for stage in cluster.STAGES[1:]:  # the changelogs describe the same state
            check(processes.stop(stage) == 0, stage, "failed")
            place.forget(stage)
            start(stage)
        place.ingest(crawl="first")
        os.remove(place.path("want.jsonl"))
        place.settled(place.expected("first"), "pages that were fetched again")
    finally:
        processes.kill()


def cut(place):
    place.more["text.max_bytes"] = "1KiB"
    with open(place.path("long.jsonl"), "w", encoding="utf-8") as file:
        for i, words in enumerate((10, 2000, 20, 3000)):
            print(json.dumps({"url": f"http://a.example/{i}", "content": f"word{i} " * words}), file=file)
    port = free_port()
    listen = ["--set", f"http.listen=127.0.0.1:{port}"]

    def are_counted():
        try:
            return 'samepage_cut_total{stage="signature"} 2\n' in ask(f"http://127.0.0.1:{port}", "/metrics")
        except OSError:
            return False  # it does not listen yet

    with place.started(place.program, "signature", *place.settings("signature"), *listen):
        place.ingest(crawl="long.jsonl")
        until(are_counted, "the number of pages that were cut")


@contextlib.contextmanager
def small_disk(folder, size):
    os.makedirs(folder)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Skip("a tmpfs cannot be mounted here")
    try:
        yield
    finally:
        # A process that has ended may have its files open for a moment longer.
        until(lambda: subprocess.run(["umount", folder], stderr=subprocess.DEVNULL, check=False).returncode == 0,
              f"the end of those that use {folder}")


def full(place):
    state, port = place.path(place.prefix + "group"), free_port()
    ballast = os.path.join(state, "ballast")

    def says(path, text):
        try:
            return text in ask(f"http://127.0.0.1:{port}", path)
        except urllib.error.HTTPError as error:
            return text in error.read().decode()
        except OSError:
            return False

    with small_disk(state, "128m"), contextlib.ExitStack() as stack:
        for stage in ("signature", "compare", "group"):
            more = ["--set", f"http.listen=127.0.0.1:{port}"] if stage == "group" else []
            stack.enter_context(place.started(place.program, stage, *place.settings(stage), *more))
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        disk = os.statvfs(state)
        with open(ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - (16 << 20))
        until(lambda: says("/readyz", "no room on the disk"), "/readyz of a full disk")
        check(says("/metrics", 'samepage_disk_full{stage="group"} 1'), "/metrics of a full disk")
        place.ingest(crawl="rest")
        os.remove(ballast)
        place.settled(place.expected(), "a disk that was full and `samepage run`")
        until(lambda: says("/readyz", "ready\n"), "/readyz of a disk with room")


def poison(place):
    with place.stages():
        place.ingest(crawl="first")
        for partition in range(3):
            place.admin("poison", "pages", str(partition), str(POISON_BYTES))
        place.ingest(crawl="rest")
        place.settled(place.expected(), "poison in every partition and `samepage run`")
    ends = place.ends("dead-letter")
    check(sum(high - low for low, high in ends) >= 3, "dead letters:", ends)
    poison_status(place)


def poison_status(place):
    """What reads statuses passes over an event that it cannot read, keeps the page's status before, and says so."""
    want = place.all()
    url = "http://nobody.example/"
    with place.started(place.program, "serve", "--kafka", "--listen", "127.0.0.1:0", *place.settings()):
        place.admin("poison", "status", "0", "100", url)

        def said():
            with open(place.path(place.prefix + "serve.log"), encoding="utf-8") as file:
                return "partition 0, offset" in file.read()

        until(said, "a message of serve about the event")
    done = subprocess.run([place.program, "status", "--all", *place.settings()], check=True, text=True,
                          capture_output=True)
    check(of_json(done.stdout) == want, "statuses after the event")
    check(re.search(r"passed over: 1; the first: partition 0, offset \d+: ", done.stderr), "status said", done.stderr)


def partitions(place):
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        place.admin("partitions", "pages", "5")
        place.ingest(crawl="rest")
        place.settled(place.expected(), "more partitions of pages and `samepage run`")
    place.admin("partitions", "tier1", "4")
    for stage in ("signature", "group", "compare"):
        check_in("tier1: has 4 partitions, and tier1.partitions is 3", place.refused(stage))


def unreadable(place):
    good = json.dumps({"url": "http://a.example/", "content": "one two three"})
    bad = '{"text":"a page"}', '{"url":"http://b.example/","text":"a page"}', "nonsense"
    cases = (  # lines, input.max_unreadable, exit code, words of the message
        ([good] * 3 + [bad[0]], 0.3, 0, ["1 of 4 records could not be read", "1: the line has no \"url\""]),
        ([good] * 3 + [bad[0]], 0.2, 1, ["more than input.max_unreadable allows"]),
        ([good, *bad], 1, 0, ["3 of 4 records", '1: the page has no "content"; it has "text"']),
        (bad, 1, 1, ["3 of 3 records", "1: the line is not a JSON object", "no record of the input"]),
        ([], 1, 0, ["mixed.jsonl: it contains no record"]))
    before = 0
    for lines, limit, code, said in cases:
        with open(place.path("mixed.jsonl"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        done = subprocess.run(
            [place.program, "ingest", *place.settings(), "--set", f"input.max_unreadable={limit}",
             place.path("mixed.jsonl")], text=True, timeout=PATIENCE_SECONDS, stderr=subprocess.PIPE, check=False)
        check(done.returncode == code, "exit code", done.returncode, done.stderr)
        for text in said:
            check_in(text, done.stderr)
        after = sum(high for _, high in place.ends("pages"))
        check(after - before == lines.count(good), "published", after - before, done.stderr)
        before = after


def standby(place):
    """The other instance reads only what the copies lack, not the whole changelog."""
    place.more["standby.replicas"] = 1
    owned, copied = {"1": 2, "2": 1}, {"1": 1, "2": 2}  # of three partitions
    processes, ports = place.processes, {"1": free_port(), "2": free_port()}

    def start(name):
        more = {"instance": name, "state.directory": place.path("group-of-" + name),
                "http.listen": f"127.0.0.1:{ports[name]}"}
        processes.start(name, [place.program, "group", *place.settings(), *cluster.arguments(more)],
                        place.path(name + ".log"))

    def log(name):
        with open(place.path(name + ".log"), encoding="utf-8") as file:
            return file.read()

    def metric(name, metric):
        try:
            text = ask(f"http://127.0.0.1:{ports[name]}", "/metrics")
        except OSError:
            return None
        return int(re.search(rf'^samepage_{metric}{{stage="group"}} (\d+)', text, re.M)[1])

    def records(partitions):
        ends = place.ends("tier1-changelog")
        return sum(ends[p][1] - ends[p][0] for p in partitions)

    def divided():
        return all(metric(name, "tasks") == owned[name] and metric(name, "standby_copies") == copied[name]
                   and metric(name, "standby_wanted") == copied[name] and metric(name, "standby_remaining") == 0 for name in ports)

    def rounds():
        return {name: metric(name, "standby_rounds_total") or 0 for name in ports}

    with open(place.path("rest"), encoding="utf-8") as file:
        rest = file.readlines()
    for name, lines in (("second", rest[:len(rest) // 2]), ("third", rest[len(rest) // 2:])):
        with open(place.path(name), "w", encoding="utf-8") as file:
            file.writelines(lines)
    try:
        for name in ports:
            start(name)
        for stage in ("signature", "compare"):
            processes.start(stage, [place.program, stage, *place.settings(stage)], place.path(stage + ".log"))
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        until(divided, "copies of all states")
        before = rounds()
        until(lambda: all(after >= before[name] + 2 for name, after in rounds().items()),
              "a round of each that began after the latest changes")
        line = r" 3 partitions assigned; (\d+) changelog records read in ([\d.]+) s"
        alone = len(re.findall(line, log("2")))  # it may have been the first to start
        processes.stop("1", signal.SIGKILL)
        taken = until(lambda: re.findall(line, log("2"))[alone:], "the take-over")[0]
        check(int(taken[0]) < records([0, 1]) / 10, "a take-over read", taken[0], "of", records([0, 1]))
        print(f"a take-over read {taken[0]} of {records([0, 1])} records in {taken[1]} s")
        place.ingest(crawl="second")
        place.settled(place.expected("first", "second"), "after a take-over and `samepage run`")
        start("1")  # its states are older than the latest changes
        until(divided, "copies after it came back")
        check("wiping" not in log("1") + log("2"), "a state was wiped", log("1"), log("2"))
        place.ingest(crawl="third")
        place.settled(place.expected(), "after it came back and `samepage run`")
    finally:
        processes.kill()


FILLED_PAGES = 70000  # half of them are more than 50,000 rows, in more than one file of 24 MB


def refilled(place):
    """A fill that is killed at any time resumes or starts over; the groups afterwards are the same."""
    state = place.path("filled")
    processes, kills, inside = place.processes, 0, 0
    place.prefix += "one."
    place.more["tier1.partitions"] = 1
    place.call("topics", "create", *place.settings())
    place.call("synth", "--pages", str(FILLED_PAGES), "--seed", "5", "--words", "30", "-o", place.path("crawl.jsonl"))
    place.halves()
    settings = [*place.settings(), *cluster.arguments({"state.directory": state, "commit.interval_ms": 1000})]

    def start():
        open(place.path("group.log"), "w", encoding="utf-8").close()
        processes.start("group", [place.program, "group", *settings], place.path("group.log"))

    def log():
        with open(place.path("group.log"), encoding="utf-8") as file:
            return file.read()

    def filled():
        """The files that fills have added to the databases."""
        return {name for _, _, names in os.walk(state) for name in names if name.endswith(".sst")}

    def done():
        return "partitions assigned" in log()

    try:
        start()
        for stage in ("signature", "compare"):
            processes.start(stage, [place.program, stage, *place.settings(stage)], place.path(stage + ".log"))
        place.ingest(crawl="first")
        want = place.expected("first")
        until(lambda: decided(place.all()) == want, "the first half", seconds=240, pause=2)
        (low, high), = place.ends("tier1-changelog")
        check(high - low > 50000, "too few rows for a fill:", high - low)
        check(processes.stop("group") == 0, "the group stage failed")
        for attempt, delay in enumerate((0, 0, 0.05, 0.1, 0.2, 0.4) * 5):
            if attempt >= 6 and kills >= 3 and inside:
                break  # where this program gets the processor late, a fill may be over first
            if delay == 0 or done():
                shutil.rmtree(state)
            start()
            if delay == 0:
                wait(lambda: filled() or done(), pause=0.005)
            else:
                wait(lambda: os.path.isdir(state), pause=0.005)
                time.sleep(delay)
            kills += not done()
            inside += bool(filled()) and not done()
            processes.stop("group", signal.SIGKILL)
        check(kills >= 3 and inside, "the fill was over before it was killed:", kills, inside)
        print(f"killed {kills} times, {inside} times when a part was filled")
        start()
        until(done, "the restore after the kills")
        place.ingest(crawl="rest")
        os.remove(place.path("want.jsonl"))
        want = place.expected()
        until(lambda: decided(place.all()) == want, "the other half", seconds=240, pause=2)
    finally:
        processes.kill()


if __name__ == "__main__":
    part = sys.argv[1]
    test = {"lost": lost, "reset": reset, "policies": policies, "settings": settings, "poison": poison, "recreated": recreated, "partitions": partitions, "deleted": deleted,
            "spellings": spellings, "interrupted": interrupted, "cut": cut, "full": full, "forgotten": forgotten,
            "standby": standby, "refilled": refilled, "unreadable": unreadable}[part]
    main(lambda *args: test(Hostile(part, *args)), *sys.argv[2:])
