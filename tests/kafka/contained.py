"""Containment on Kafka: `contained.py WORK PROGRAM INDEXER`.

Books that include their chapters, processed by the stages and a contain stage, which is killed with -9 during its work
(once together with the group stage, once with the loss of its state): the final statuses equal those of `run --verify`. Then
examples/indexer marks the results that are parts of others; containers are erased, and the statuses of their parts follow.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from statuses import Place, check_same, event_of, last, main, of_json  # knows where the other folders are
from harness import check, check_in, free_port, until, wait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from contained import page, words  # pylint: disable=wrong-import-position

SETTINGS = {"containment.threshold": "0.8", "containment.boilerplate": "1", "signature.max_shingles": "65536"}
BOOKS, CHAPTERS = 40, 12


def book(number, rng):
    """The book, its chapters, a second edition of some, a copy of one, a chapter that dies and one that leaves the book."""
    host = f"http://b{number}.example"
    texts = [words(100 * number + n, rng.randrange(60, 160)) for n in range(CHAPTERS)]
    lines = [page(f"{host}/{n}", text, words(9000 + 100 * number + n, 3)) for n, text in enumerate(texts)]
    lines.append(page(f"{host}/all", *texts, words(50000 + number, 20)))
    lines.append(page(f"{host}/part", *texts[:5], words(60000 + number, 40)))
    rng.shuffle(lines)
    later = [page(f"{host}/0", words(70000 + number, 90)), page(f"{host}/1", status=404),
             page(f"{host}/copy", texts[2], words(9000 + 100 * number + 2, 3)),
             page(f"{host}/all", *texts[:-1], words(50000 + number, 20))]
    if number % 3 == 0:
        later.append(page(f"{host}/part", status=404))
    return lines, later


def write(place, name, lines):
    with open(place.path(name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def crawl(place):
    rng = random.Random(7)
    books = [book(number, rng) for number in range(BOOKS)]
    first = [line for lines, _ in books for line in lines]
    rng.shuffle(first)
    write(place, "first", first)
    write(place, "rest", [line for _, lines in books for line in lines])


def contained(events):
    """Each page's container, and the share that it has of the page."""
    return {url: (*e[:6], e[11]) for url, e in last(events).items()}


def expected(place, *crawls):
    out = place.path("want.jsonl")
    if os.path.exists(out):
        os.remove(out)  # `run` appends to an existing output
    options = [word for item in SETTINGS.items() for word in ("--set", "=".join(item))]
    place.call("run", "-q", "--verify", "--set", "partition.cells=6", *options, "-o", out, *map(place.path, crawls))
    with open(out, encoding="utf-8") as lines:
        return [event_of(json.loads(line)) for line in lines]


def check_named(place, got, want):
    """Of containers with equal shares either may be named: the one found first."""
    texts = {}
    for name in ("first", "rest"):
        with open(place.path(name), encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                texts[line["url"]] = line["content"].split()

    def share(url, other):
        mine, others = ({tuple(text[n:n + 5]) for n in range(len(text) - 4)} for text in (texts[url], texts[other]))
        return len(mine & others) / len(mine)

    got, want = last(got), last(want)
    named = {url: e[10] for url, e in got.items() if e[10]}
    check({url for url, e in want.items() if e[10]} == set(named), "other pages are contained")
    for url, container in named.items():
        check(share(url, container) == share(url, want[url][10]), url, "is said to be in", container)
    print(f"{len(named)} pages are part of others")
    check(len(named) > BOOKS * 5, "few pages are contained")


class Stages:
    def __init__(self, place):
        self.place = place
        self.port = free_port()

    def start(self, *stages):
        for stage in stages:
            more = ["--set", f"http.listen=127.0.0.1:{self.port}"] if stage == "contain" else []
            self.place.processes.start(stage, [self.place.program, stage, *self.place.settings(stage), *more],
                                       self.place.path(stage + ".log"))

    def kill(self, *stages):
        for stage in stages:
            self.place.processes.stop(stage, signal.SIGKILL)


def settle(place, want):
    decided = contained(want)
    wait(lambda: contained(place.all()) == decided, pause=1)
    check_same(contained(place.all()), decided, "containment on Kafka and `run --verify`")
    check_named(place, place.all(), want)


def some_said(place):
    return any(e[10] for e in place.all())


def check_index(place, index_program, events):
    """The indexer's results for a word of a chapter."""
    index, n = place.path("index.sqlite"), 4
    word = words(n, 60).split()[7]
    events = last(events)

    def shown():
        """URL -> the page that it is part of, or None."""
        found, url = {}, None
        for line in subprocess.run([index_program, "query", "--index", index, "--most", "1000", word], check=False,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines():
            if line.startswith("    this page is part of "):
                found[url] = line.split()[-1]
            else:
                url = line
                found[url] = None
        return found

    def is_right():
        now = shown()
        return (now.get(f"http://b0.example/{n}") and None in now.values() and
                all(events[url][10] == container for url, container in now.items()))

    command = [index_program, "run", "--broker", place.address, "--prefix", place.prefix, "--index", index]
    with place.processes.during("indexer", command, place.path("indexer.log")) as indexer:
        until(lambda: indexer.poll() is not None or is_right(),
              lambda: f"parts and their containers in the index: {shown()}", pause=1)


def run(work, program, index_program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"contained-{os.getpid()}.")
    place.more = SETTINGS
    crawl(place)
    want = expected(place, "first", "rest")
    place.call("topics", "create", *place.settings())
    stages = Stages(place)
    try:
        stages.start("signature", "group", "compare", "contain")
        place.ingest(crawl="first", pieces=4)
        until(lambda: some_said(place), "a page in another")
        stages.kill("contain")
        stages.start("contain")
        place.ingest(crawl="rest", pieces=2)
        stages.kill("contain", "group")
        shutil.rmtree(place.path(place.prefix + "contain"))  # everything is in the changelog
        stages.start("group", "contain")
        settle(place, want)
        check_index(place, index_program, place.all())

        gone = [f"http://b{number}.example/all" for number in range(0, BOOKS, 2)]
        place.call("forget", *place.settings(), *gone)
        for name in ("first", "rest"):
            with open(place.path(name), encoding="utf-8") as lines:
                kept = [line.rstrip("\n") for line in lines if json.loads(line)["url"] not in gone]
            write(place, name, kept)
        want = expected(place, "first", "rest")
        decided = contained(want)
        wait(lambda: contained(place.all()) == decided, pause=1)
        check_same(contained(place.all()), decided, "after containers were forgotten")
        check(not any(e[10] in gone for e in place.all()), "a status names a page that was forgotten")

        for stage in ("signature", "group", "compare", "contain"):
            check(place.processes.stop(stage) == 0, stage, "did not end well")
        stages.start("contain")  # and nothing is published again
        before = len(place.all())
        time.sleep(5)
        check(len(place.all()) == before, "a start says things again")
        stages.kill("contain")
    finally:
        place.processes.kill()


if __name__ == "__main__":
    main(run, *sys.argv[1:])
