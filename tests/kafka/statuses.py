"""The status topic as its readers see it. Each part is a CTest:

    statuses.py stages  ...   the three stages over a made-up crawl, with `status --follow`
    statuses.py client  ...   the C client reads those statuses, commits, and resumes there
    statuses.py foreign ...   confluent-kafka and fastavro do the same
    statuses.py served  ...   `serve --kafka` returns those statuses
    statuses.py copied  ...   `serve --kafka --state`: a copy of the group stage's state, also after kills
    statuses.py indexer ...   examples/indexer, without samepage running and with it

    ... = WORK PROGRAM READER INDEXER

The parts share the folder WORK, which `stages` empties or creates.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import cluster
from harness import PATIENCE_SECONDS, SKIPPED, Failure, Skip, check, until, wait

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = 1000
PIECES = 40  # of the crawl by which the indexer is timed
READ_SECONDS = "30"  # without an event: the end of the topic, also where a reader's start takes long
FIELDS = ["url", "version_ms", "status", "winner_url", "similarity", "reason", "group_id",
          "group_size", "epoch", "rule", "contained_in", "containment"]
# The other fields depend on the order of events.
DECIDED = FIELDS[:6]
STATUSES = [None, "unique", "winner", "loser", "gone"]  # by number (samepage/status.h)


def main(test, *arguments):
    try:
        test(*arguments)
    except Skip as why:
        print("SKIPPED:", why)
        sys.exit(SKIPPED)
    except Failure as what:
        sys.exit(f"FAILED: {what}")


def broker():
    given = os.environ.get("SAMEPAGE_KAFKA")
    if given:
        return given
    done = subprocess.run([os.path.join(cluster.ROOT, "tools", "kafka"), "status"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode or not done.stdout:
        raise Skip("there is no broker")
    return done.stdout.splitlines()[0]


def float32(x):
    return None if x is None else struct.unpack("f", struct.pack("f", x))[0]


def event_of(values):
    """The event in one shape for all readers."""
    event = {"contained_in": None, "containment": None, **values}  # lines of `run` omit empty fields
    for share in ("similarity", "containment"):
        event[share] = float32(event[share])
    return tuple(event[f] for f in FIELDS)


def of_json(text):
    return [event_of(json.loads(line)) for line in text.splitlines()]


def of_tabs(text):
    events = []
    for line in text.splitlines():
        e = dict(zip(FIELDS, line.split("\t")))
        e["winner_url"] = e["winner_url"] or None
        e["similarity"] = float(e["similarity"]) if e["winner_url"] else None
        e["reason"] = e["reason"] or None
        e["rule"] = e["rule"] or None
        e["contained_in"] = e["contained_in"] or None
        e["containment"] = float(e["containment"]) if e["contained_in"] else None
        for number in ("version_ms", "group_size", "epoch"):
            e[number] = int(e[number])
        events.append(event_of(e))
    return events


def histories(events):
    """The events of each page in order, which does not depend on the order of partitions."""
    pages = {}
    for event in events:
        pages.setdefault(event[0], []).append(event)
    return pages


def last(events):
    return {event[0]: event for event in events}


def decided(events):
    return {url: event[:len(DECIDED)] for url, event in last(events).items()}


def check_same(got, want, what):
    wrong = sorted(u for u in set(got) | set(want) if got.get(u) != want.get(u))
    for url in wrong[:5]:
        print(f"  {url}\n    should be {want.get(url)}\n    is        {got.get(url)}")
    check(not wrong, f"{what}: {len(wrong)} of {len(want)} pages differ")
    print(f"{what}: {len(want)} pages, the same")


class Place:
    """A crawl, its topics and the stages over them."""

    def __init__(self, work, program, prefix, connection=None):
        self.work = work
        self.program = program
        self.prefix = prefix
        self.address = None if connection else broker()
        self.connection = connection or {"kafka.bootstrap.servers": self.address}
        self.processes = cluster.Processes()
        self.more = {}  # settings

    def path(self, name):
        return os.path.join(self.work, name)

    def settings(self, stage="none"):
        return cluster.arguments({
            **cluster.SMALL,
            **self.connection,
            **self.more,
            "topics.prefix": self.prefix,
            "state.directory": self.path(self.prefix + stage),
        })

    def call(self, *args):
        return subprocess.run([self.program, *args], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def all(self):
        return of_json(self.call("status", "--all", *self.settings()))

    def crawl(self):
        self.call("synth", "--pages", str(PAGES), "--seed", "7", "--words", "60", "-o",
                  self.path("crawl.jsonl"))

    def halves(self):
        """The crawl as two files, `first` and `rest`."""
        with open(self.path("crawl.jsonl"), encoding="utf-8") as file:
            lines = file.readlines()
        for name, part in (("first", lines[:len(lines) // 2]), ("rest", lines[len(lines) // 2:])):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.writelines(part)

    def expected(self, *crawls):
        self.call("run", "-q", "--set", "partition.cells=6", "-o", self.path("want.jsonl"),
                  *map(self.path, crawls or ["crawl.jsonl"]))
        with open(self.path("want.jsonl"), encoding="utf-8") as lines:
            return decided(of_json(lines.read()))

    def ingest(self, pieces=1, crawl="crawl.jsonl"):
        """Feeds a pipe piece by piece, so that the crawl has a rate: `ingest` reads a pipe in large chunks."""
        with open(self.path(crawl), encoding="utf-8") as lines:
            crawl = lines.readlines()
        for i in range(pieces):
            with open(self.path("piece.jsonl"), "w", encoding="utf-8") as file:
                file.writelines(crawl[len(crawl) * i // pieces:len(crawl) * (i + 1) // pieces])
            subprocess.run([self.program, "ingest", *self.settings(), self.path("piece.jsonl")],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return len(crawl)

    @contextlib.contextmanager
    def started(self, *command, output=None):
        """A process that runs during the block; SIGTERM must end it without an error."""
        log = self.path(f"{self.prefix}{os.path.basename(command[1])}.log")
        with open(output or log, "w", encoding="utf-8") as file:
            with self.processes.during(command[:2], command, log, stdout=file) as process:
                yield process

    @contextlib.contextmanager
    def stages(self):
        with contextlib.ExitStack() as stack:
            for stage in cluster.STAGES:
                stack.enter_context(self.started(self.program, stage, *self.settings(stage)))
            yield

    def settle(self, want):
        """Waits until the statuses are these; the caller reports differences."""
        wait(lambda: decided(self.all()) == want, pause=1)


def check_log(place, stage):
    """Every line names the stage. The log begins with the assigned partitions, not with librdkafka's warnings about
    its settings; a broker that is busy may cause warnings of its own."""
    with open(place.path(f"{place.prefix}{stage}.log"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    check(lines, stage, "logged nothing")
    for line in lines:
        check(re.match(rf"\d{{4}}-\d\d-\d\dT\S+Z (error|warning|info) {stage}: \S", line), "not a log line:", line)
        check("CONFWARN" not in line, "a warning about settings:", line)
    own = [line for line in lines if ": librdkafka: " not in line]
    check(own and re.search(rf" info {stage}: \d+ partitions assigned; \d+ changelog records read in \d+\.\d s$", own[0]),
          "the first line is", own[:1])


def stages(work, program, *_):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"statuses-{os.getpid()}.")
    place.crawl()
    place.halves()
    early, want = place.expected("first"), place.expected()
    place.call("topics", "create", *place.settings())
    followed = place.path("followed.jsonl")

    def heard():
        with open(followed, encoding="utf-8") as lines:
            return of_json(lines.read().rpartition("\n")[0])

    with place.stages():
        place.ingest(crawl="first")
        place.settle(early)
        with place.started(program, "status", "--all", "--follow", *place.settings(), output=followed):
            until(lambda: last(heard()) == last(place.all()), "the first half, before the next event")
            place.ingest(crawl="rest")
            place.settle(want)
            end = last(place.all())
            wait(lambda: last(heard()) == end)
    for stage in cluster.STAGES:
        check_log(place, stage)
    check_same(decided(place.all()), want, "the stages and `samepage run`")
    check_same(last(heard()), end, "status --all --follow and status --all")
    with open(place.path("prefix"), "w", encoding="utf-8") as file:
        file.write(place.prefix)


def left_behind(work, program):
    if not os.path.exists(os.path.join(work, "prefix")):
        raise Skip("kafka.stages was skipped: there are no statuses to read")
    with open(os.path.join(work, "prefix"), encoding="utf-8") as file:
        return Place(work, program, file.read())


def client(work, program, reader, *_):
    place = left_behind(work, program)

    def read(group, count, seconds, end):
        return of_tabs(subprocess.run(
            [reader, place.address, place.prefix + "status", group, str(count), str(seconds), end],
            check=True, text=True, stdout=subprocess.PIPE).stdout)

    everything = read("-", 0, READ_SECONDS, "commit")
    check_same(decided(everything), place.expected(), "the client and `samepage run`")
    check_same(last(everything), last(place.all()), "the client and `status --all`")
    name = f"{place.prefix}reader-{os.getpid()}"
    first = read(name, 300, PATIENCE_SECONDS, "commit")
    check(len(first) == 300, len(first), "events, not 300")
    second = read(name, len(everything) - 300, PATIENCE_SECONDS, "commit")
    check_same(histories(first + second), histories(everything), "300, commit, close and the rest")
    check(not read(name, 0, 8, "leave"), "events come again after a commit")
    name += "-leaves"
    check(len(read(name, 100, PATIENCE_SECONDS, "leave")) == 100, "not 100 events")
    again = read(name, len(everything), PATIENCE_SECONDS, "leave")
    check_same(histories(again), histories(everything), "nothing committed")


def python_with_packages(folder):
    """A Python with both packages, in the build folder; skips the test if they cannot be installed."""
    python = os.path.join(folder, "bin", "python")
    if subprocess.run([python, "-c", "import confluent_kafka, fastavro"], check=False,
                      stderr=subprocess.DEVNULL).returncode if os.path.exists(python) else True:
        for command in ([sys.executable, "-m", "venv", folder],
                        [python, "-m", "pip", "install", "-q", "--only-binary", ":all:",
                         "confluent-kafka", "fastavro"]):
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode:
                raise Skip("confluent-kafka and fastavro cannot be had: " + done.stdout[-500:])
    return python


def foreign(work, program, reader, *_):
    place = left_behind(work, program)
    topic = place.prefix + "status"
    python = python_with_packages(os.path.join(os.path.dirname(work), "python"))
    got = of_json(subprocess.run(
        [python, os.path.join(HERE, "foreign.py"), place.address, topic,
         os.path.join(cluster.ROOT, "schemas", "status.avsc")], check=True, text=True,
        stdout=subprocess.PIPE).stdout)
    ours = of_tabs(subprocess.run([reader, place.address, topic, "-", "0", READ_SECONDS, "leave"],
                                  check=True, text=True, stdout=subprocess.PIPE).stdout)
    check_same(histories(got), histories(ours), "confluent-kafka and the client")
    check_same(decided(got), place.expected(), "confluent-kafka and `samepage run`")


def measure(place, index_program, running, erased=()):
    """Times the indexer over one crawl, and erases these pages at its end; returns the index and the statuses."""
    index = place.path(place.prefix + "index.sqlite")
    place.call("topics", "create", *place.settings())
    report = place.path(place.prefix + "report")
    want = place.expected()
    with open(place.path("crawl.jsonl"), encoding="utf-8") as lines:
        count = len(lines.readlines())
    command = [index_program, "run", "--broker", place.address, "--prefix", place.prefix, "--index", index]
    if running:
        final = {url: (STATUSES.index(event[2]), event[3]) for url, event in want.items()}
        with place.started(*command, output=report), place.stages():
            time.sleep(8)  # every consumer has partitions
            place.ingest(PIECES)
            place.settle(want)
            until(lambda: verdicts_of(index) == final, "the last statuses in the index", pause=1)
            place.call("forget", *place.settings(), *erased)
            until(lambda: not set(urls_of(index)) & set(erased), "an index without what was erased", pause=1)
    else:
        with open(report, "w", encoding="utf-8") as out:
            process = place.processes.start("indexer", [*command, "--pages", str(count)],
                                            place.path("indexer.log"), stdout=out)
        time.sleep(8)
        place.ingest(PIECES)
        until(lambda: process.poll() is not None, "the end of the indexer after the last page")
        check(process.returncode == 0, "the indexer ended with", process.returncode)
    with open(report, encoding="utf-8") as file:
        text = file.read()
    print("with samepage:" if running else "without samepage:", text.replace("\n", "; "))
    check(text.startswith(f"{count} pages indexed, "), count, "pages were published")
    check(running == (", 0 statuses applied" not in text), "statuses are there, or are not")
    check("p50" in text and "p99" in text, "no latencies")
    return index, want


def verdicts_of(index):
    with contextlib.closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as file:
        return {url: (status, winner) for url, status, winner in file.execute(
            "SELECT url, status, winner_url FROM page WHERE status > 0")}


def urls_of(index):
    """All that the indexer knows of."""
    with contextlib.closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as file:
        return [url for table in ("page", "body") for url, in file.execute(f"SELECT url FROM {table}")]


def indexer(work, program, _, index_program):
    work = work + "-indexer"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"without-{os.getpid()}.")
    place.crawl()
    words = common_words(place.path("crawl.jsonl"))

    def results(index):
        found = set()
        for word in words:
            found.update(subprocess.run(
                [index_program, "query", "--index", index, "--most", "100000", word], check=True,
                text=True, stdout=subprocess.PIPE).stdout.splitlines())
        return found

    before, want = measure(place, index_program, False)
    hidden = {url for url, event in want.items() if event[2] in ("loser", "gone")}
    results_before = results(before)
    check(results_before & hidden, "no loser is among the results even without statuses")
    erased = sorted(url for url, event in want.items() if event[2] == "unique" and url in results_before)[:5]
    check(len(erased) == 5, erased, "are too few pages to erase")
    place.prefix = f"with-{os.getpid()}."
    after, want = measure(place, index_program, True, erased)
    check(not results(after) & hidden, "losers are among the results")
    check(not set(urls_of(after)) & set(erased), "erased pages are in the index")
    check(results(after) == results_before - hidden - set(erased), "other pages are missing, or too many")
    print(f"{len(results_before)} results without statuses, {len(results(after))} with")


def common_words(crawl):
    """A few words that occur in many pages."""
    counts = {}
    with open(crawl, encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line).get("content") or ""
            for word in {w for w in text.split() if w.isalpha() and len(w) > 3}:
                counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda w: (-counts[w], w))[:20]


def ask(address, path, body=None):
    request = urllib.request.Request(address + path, body)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        return response.read().decode()


def get(address, path, body=None):
    return json.loads(ask(address, path, body))


def of_server(address, url):
    try:
        return event_of(get(address, "/v1/status?" + urllib.parse.urlencode({"url": url})))
    except urllib.error.HTTPError as error:
        check(error.code == 404, url, error.code)
        return None


def told(address):
    """The latest event of each page among those that /v1/events has kept."""
    request = urllib.request.Request(address + "/v1/events", headers={"Last-Event-ID": "0"})
    events = {}
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        for line in response:
            if line == b":\n":  # nothing more for a second
                return events
            if line.startswith(b'data: {"url"'):
                event = json.loads(line[len(b"data: "):])
                events[event["url"]] = event_of(event)
    return events


def served(work, program, *_):
    place = left_behind(work, program)
    want = last(place.all())
    log = place.path(f"{place.prefix}serve.log")
    with place.started(program, "serve", "--kafka", "--listen", "127.0.0.1:0", *place.settings()):
        address = listening(log, 1)
        serves_as(address, want, "serve --kafka and --all")
        losers = [e for e in want.values() if e[2] == "loser"]
        uniques = [url for url, e in want.items() if e[2] == "unique"][:20]
        loser = losers[0]
        group = get(address, "/v1/group?" + urllib.parse.urlencode({"url": loser[0]}))
        check({m["url"] for m in group["members"] if m["status"] != "gone"} ==
              {u for u, e in want.items() if e[2] != "gone" and group_of(want, e) == group_of(want, loser)},
              "members of the group")
        body = json.dumps({"urls": [*uniques, loser[3], loser[0]]}).encode()
        response = get(address, "/v1/filter", body)
        check(response["kept"] == [*uniques, loser[3]], "kept:", response)
        check([(d["url"], d["repeats"], float32(d["similarity"])) for d in response["dropped"]] ==
              [(loser[0], loser[3], loser[4])], "dropped:", response)
        check(response["compared"] == "statuses", "compared:", response)
        events = told(address)
        check(len(events) > 50, "few events were told:", len(events))
        check_same(events, {url: want[url] for url in events}, "events as they come and --all")


def group_of(events, event):
    """A loser's group is the one in its winner's latest event."""
    winner = events[event[3]] if event[2] == "loser" else event
    return winner and winner[6]


def with_groups(events):
    """The events with the group of each loser replaced by its winner's. The size and epoch of a loser, and the group
    of a page that is gone, are those at the time of the event, so they are not compared. A page without an event
    has None."""
    written = {"loser": lambda e: (group_of(events, e), None, None), "gone": lambda e: (None, None, None)}
    return {url: e and (*e[:6], *written.get(e[2], lambda e: e[6:])(e)) for url, e in events.items()}


def serves_as(address, events, what):
    """Waits until the server returns the same for every page."""
    got, want = {}, with_groups(events)

    def same():
        got.update(with_groups({url: of_server(address, url) for url in want}))
        return got == want

    wait(same, pause=0.5)
    check_same(got, want, what)


def listening(log, times):
    """The address in the latest such line, once there are `times` of them."""
    def said():
        with open(log, encoding="utf-8") as lines:
            return lines.read()

    def found():
        all_of_them = re.findall(r"listening on (http://\S+)", said())
        return all_of_them if len(all_of_them) == times else None

    return until(found, lambda: "a server:\n" + said())[-1]


def similar_loser(events):
    return next(e for e in events.values() if e[2] == "loser" and e[5] == "content")


def check_pair(address, want, loser):
    """What statuses alone do not contain: two pages compared, and a list filtered by similarity."""
    query = urllib.parse.urlencode({"a": loser[0], "b": loser[3]})
    pair = get(address, "/v1/compare?" + query)
    check(float32(pair["similarity"]) == loser[4], "compared:", pair, loser)
    group = get(address, "/v1/group?" + urllib.parse.urlencode({"url": loser[0]}))
    check({m["url"] for m in group["members"]} ==
          {u for u, e in want.items() if group_of(want, e) == group_of(want, loser)},
          "members of the group of", loser)
    body = json.dumps({"urls": [loser[3], loser[0]]}).encode()
    response = get(address, "/v1/filter", body)
    check(response["kept"] == [loser[3]] and response["compared"] == "shingles", "filtered:", response)


def copied(work, program, *_):
    work += "-copied"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"copied-{os.getpid()}.")
    place.crawl()
    place.call("synth", "--pages", str(PAGES), "--seed", "8", "--words", "60", "-o",
               place.path("more.jsonl"))
    place.call("topics", "create", *place.settings())
    serve = [program, "serve", "--kafka", "--state", place.path("copy"), "--listen",
             "127.0.0.1:0", *place.settings()]
    log = place.path("serve.log")
    with place.stages():
        place.ingest()
        place.settle(place.expected())
        place.processes.start("serve", serve, log)
        want = last(place.all())
        address = listening(log, 1)
        serves_as(address, want, "the copy and `status --all`")
        check_pair(address, want, similar_loser(want))
        place.ingest(pieces=4, crawl="more.jsonl")
        place.processes.stop("serve", signal.SIGKILL)
        place.settle(place.expected("crawl.jsonl", "more.jsonl"))
    want = last(place.all())
    check(len(want) > PAGES, "the second crawl changed nothing")
    with place.processes.during("serve", serve, log):
        address = listening(log, 2)
        serves_as(address, want, "the copy after a kill and `status --all`")
        check_pair(address, want, similar_loser(want))
    refused = subprocess.run([*serve, "--set", "tier1.partitions=2"], text=True,
                             stderr=subprocess.PIPE, check=False)
    check(refused.returncode == 1 and "tier1.partitions" in refused.stderr, refused.stderr)
    print("a wrong number of partitions:", refused.stderr.strip())


if __name__ == "__main__":
    main({"stages": stages, "client": client, "foreign": foreign, "indexer": indexer,
          "served": served, "copied": copied}[sys.argv[1]], *sys.argv[2:])
