"""What disks and operators do to brokers and topics while the stages work: `brokers.py PART WORK PROGRAM ADMIN INDEXER`.

    disk      the disk of the broker, which is full for a while (a tmpfs: only where mounting is allowed)
    sizes     max.message.bytes of each topic is less than what the stages send
    batches   max.message.bytes of the pages is less than the batches of `ingest`
    remade    all topics, while readers of the statuses go on
    replaced  the statuses, and then a changelog, while the stages run
    shrunk    tier2, recreated with fewer partitions while compare waits for its first message
    late      the broker, which comes up while `ingest` waits for it
    groups    the consumer groups, deleted while the stages stand still

Statuses are those of `samepage run` afterwards.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse

import cluster
from hostile import Hostile, small_disk
from statuses import ask, decided, main, of_json, verdicts_of, STATUSES
from harness import PATIENCE_SECONDS, Failure, check, check_equal, check_in, free_port, until

SOON = {"kafka.transaction.timeout.ms": "10000", "kafka.message.timeout.ms": "8000"}


def said(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def log(place, stage):
    return said(place.path(f"{place.prefix}{stage}.log"))


def alive(place):
    for (_, stage), process in place.processes.running.items():
        check(process.poll() is None, stage, "ended by itself:", log(place, stage))


def put(place, topic, key, value):
    compacted = topic == "status" or "changelog" in topic
    place.admin("set", topic, key, value, "cleanup.policy", "compact" if compacted else "delete")


def start(place, stage):
    """One that may end by itself; its log grows."""
    return place.processes.start((place.program, stage), [place.program, stage, *place.settings(stage)],
                                 place.path(f"{place.prefix}{stage}.log"))


def ends(place, stage, message):
    process = place.processes.running[place.program, stage]
    until(lambda: process.poll() is not None, lambda: f"the end of {stage}: " + log(place, stage))
    check_equal(process.returncode, 1, f"exit code of {stage}")
    check_in(message, log(place, stage).splitlines()[-1])


def sizes(place):
    """The stage ends, since a retry meets the same; nothing is lost or left out."""
    victims = [("group", "tier1-changelog"), ("group", "status"), ("compare", "tier2-changelog"), ("compare", "tier1"),
               ("signature", "tier1")]
    lines = open(place.path("crawl.jsonl"), encoding="utf-8").readlines()
    processes = place.processes

    def start_ended():
        for stage in cluster.STAGES:
            if processes.running[place.program, stage].poll() is not None:
                start(place, stage)

    def keep_up():
        """Two stages write to tier1: the other one may end after the limit is back."""
        while not settled.wait(0.5):
            start_ended()

    settled = threading.Event()
    keeper = threading.Thread(target=keep_up)
    try:
        for stage in cluster.STAGES:
            start(place, stage)
        for number, (stage, topic) in enumerate(victims):
            part = lines[len(lines) * number // len(victims):len(lines) * (number + 1) // len(victims)]
            with open(place.path("part"), "w", encoding="utf-8") as file:
                file.writelines(part)
            put(place, topic, "max.message.bytes", "200")
            place.ingest(crawl="part")
            process = processes.running[place.program, stage]
            until(lambda: process.poll() is not None, lambda: f"the end of {stage}: " + log(place, stage))
            check_equal(process.returncode, 1, f"exit code of {stage}")
            check_in(f"{topic}: a message of", log(place, stage).splitlines()[-1])
            put(place, topic, "max.message.bytes", "20000000")
            start_ended()
        keeper.start()
        place.settled(place.expected(), "the limits as they were")
        ends = place.ends("dead-letter")
        check_equal(sum(high - low for low, high in ends), 0, "dead letters")
    finally:
        settled.set()
        if keeper.ident:
            keeper.join()
        processes.kill()


def batches(place):
    """The broker refuses a batch for its size: its pages are small, so none of them is left out as too large."""
    pages = len(open(place.path("crawl.jsonl"), encoding="utf-8").readlines())

    def ingest(*settings):
        done = subprocess.run([place.program, "ingest", *place.settings(), *settings, place.path("crawl.jsonl")], text=True,
                              stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS, check=False)
        return done.returncode, done.stderr

    def published():
        return sum(high - low for low, high in place.ends("pages"))

    put(place, "pages", "max.message.bytes", "4000")
    code, errors = ingest()
    some = published()
    check(code == 1 and some < pages, "ended with", code, "after", some, "of", pages, "pages:", errors)
    check_in("a batch of pages was refused: the topic's max.message.bytes is less than", errors)
    check("left out" not in errors, errors)

    with open(place.path("crawl.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"url": "http://large.example/", "content": "<p>large " * 1000, "fetched": 1}) + "\n")
    code, errors = ingest("--set", "kafka.batch.size=3900")
    check_equal(published(), some + pages, errors)
    check_equal(code, 0, errors)
    check_in("left out, larger than kafka.message.max.bytes or the topic's max.message.bytes: ", errors)
    check_in(f"{pages:,} pages published, 0 records could not be read, 1 were too large", errors)


def remade(place):
    """Nothing of the former crawl is served or followed on, and no status of the new one is missed."""
    index, port = place.path("index"), free_port()
    topics = ["pages", "tier1", "tier2", "status", "dead-letter", "tier1-changelog", "tier2-changelog"]

    def served(url):
        try:
            return ask(f"http://127.0.0.1:{port}", "/v1/status?url=" + urllib.parse.quote(url, safe=""))
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def followed():
        return of_json(said(place.path("followed")).rpartition("\n")[0])

    def indexed(want):
        return verdicts_of(index) == {url: (STATUSES.index(event[2]), event[3]) for url, event in want.items()}

    with place.started(place.program, "serve", "--kafka", "--listen", f"127.0.0.1:{port}", *place.settings()), \
            place.started(place.program, "status", "--follow", *place.settings(), output=place.path("followed")), \
            place.started(place.indexer, "run", "--broker", place.address, "--prefix", place.prefix, "--index", index):
        with place.stages():
            place.ingest(crawl="first")
            want = place.expected("first")
            place.settled(want, "before")
            old = min(want)
            until(lambda: served(old) not in (None, 404), "the first crawl's status")
        until(lambda: decided(followed()) == want, "the first crawl's statuses")
        until(lambda: indexed(want), "an index of the first crawl")
        indexer = place.processes.running[place.indexer, "run"]
        indexer.send_signal(signal.SIGSTOP)  # when it goes on, the new topics are longer than what it has read
        for topic in topics:
            place.admin("delete", topic)
        until(lambda: place.call("topics", "create", *place.settings()).count(" created") == len(topics), "new topics")
        count = len(followed())
        place.call("synth", "--pages", "600", "--seed", "4", "--words", "60", "-o", place.path("crawl.jsonl"))
        os.remove(place.path("want.jsonl"))
        want = place.expected()
        gone = min(set(decided(followed())) - set(want))
        with place.stages():
            place.ingest()
            place.settled(want, "topics that were recreated")
            indexer.send_signal(signal.SIGCONT)
            until(lambda: served(gone) == 404 and served(min(want)) not in (None, 404),
                  lambda: f"the new statuses alone: {served(gone)}, {served(min(want))}")
            check_in("status was deleted and recreated: it is read from its beginning", log(place, "serve"))
            until(lambda: decided(followed()[count:]) == want, "the new statuses")
            until(lambda: indexed(want), lambda: "an index of the new statuses: " + log(place, "run"))
        for reader in ("status", "run"):
            check_in("was deleted and recreated", log(place, reader))


def recreate(place, topic, *settings):
    place.admin("delete", topic)
    until(lambda: f"{topic} created" in place.call("topics", "create", *place.settings(), *settings), f"a new {topic}")


def stands(place, topic):
    before = place.ends(topic)
    time.sleep(2)
    return place.ends(topic) == before


def replaced(place):
    """Nothing but the offsets of what a stage sends tells that a topic begins again."""
    place.more["kafka.topic.metadata.refresh.interval.ms"] = "300000"
    try:
        for stage in cluster.STAGES:
            start(place, stage)
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
        recreate(place, "status")
        place.ingest(crawl="rest")
        until(lambda: "status: was deleted and recreated while this stage ran" in log(place, "group"),
              lambda: "a word about the statuses: " + log(place, "group"))
        alive(place)
        until(lambda: stands(place, "tier1-changelog"), "the end of all work")
        recreate(place, "tier1-changelog")
        place.call("synth", "--pages", "50", "--seed", "4", "-o", place.path("more"))
        place.ingest(crawl="more")
        ends(place, "group", "offsets are committed, and the changelog is empty")
        check_in("tier1-changelog: was deleted and recreated while this stage ran", log(place, "group"))
        check_in("offsets are committed, and the changelog is empty. The local state is kept", place.refused("group"))
        check("wiping" not in log(place, "group"), "the state is wiped:", log(place, "group"))
    finally:
        place.processes.kill()


def shrunk(place):
    try:
        for stage in cluster.STAGES:
            start(place, stage)
        until(lambda: "partitions assigned" in log(place, "compare"), "the start of compare")
        recreate(place, "tier2", "--set", "tier2.partitions=2")
        ends(place, "compare", "tier2: has 2 partitions, and tier2.partitions is 3")
    finally:
        place.processes.kill()


def groups(place):
    """Stages with state go on where their state ends; the signature stage reads its pages once more."""
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    for stage in cluster.STAGES:
        until(lambda: subprocess.run([place.admin_program, place.address, "delete-group", place.prefix + stage],
                                     stderr=subprocess.DEVNULL, check=False).returncode == 0,
              f"a group {stage} without members")
    with place.stages():
        place.ingest(crawl="rest")
        place.settled(place.expected(), "groups that were deleted and `samepage run`")
        alive(place)
    for stage in ("group", "compare"):
        check_in("the consumer group has no offset, but the state has handled all before offset", log(place, stage))


def disk(place):
    """The broker ends when its disk is full. Nothing that it has acknowledged is lost."""
    folder = place.path("kafka")
    data = os.path.join(folder, "node-1", "data")
    ballast = os.path.join(data, "ballast")
    place.more.update({**SOON, "audit.share": 1})
    broker = cluster.Broker(folder)
    with small_disk(data, "400m"):
        try:
            place.address = broker.up()
            place.connection = {"kafka.bootstrap.servers": place.address}
            place.call("topics", "create", *place.settings())
            with place.stages(), place.started(place.program, "watch", *place.settings("watch")), \
                    place.started(place.program, "serve", "--kafka", "--listen", "127.0.0.1:0", *place.settings()):
                place.ingest(crawl="first")
                place.settled(place.expected("first"), "before")
                fill(data, ballast)
                pid = broker.pid()
                done = ingest_until(place, lambda: not os.path.exists(f"/proc/{pid}"))
                print("ingest:", done.returncode, done.stderr[-300:])
                time.sleep(3)
                alive(place)
                os.remove(ballast)
                broker.restart()
                place.ingest(crawl="rest")
                place.settled(place.expected(), "a broker whose disk was full and `samepage run`")
                alive(place)
        finally:
            place.processes.kill()
            broker.down()


def forward(listener, address):
    """Makes a broker of an address at which nothing listened. It names its own address to clients."""
    host, port = address.rsplit(":", 1)

    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)

    with contextlib.suppress(OSError):  # when the listener is closed
        while True:
            client = listener.accept()[0]
            broker = socket.create_connection((host, int(port)))
            for pair in (client, broker), (broker, client):
                threading.Thread(target=pump, args=pair, daemon=True).start()


def late(place):
    address = f"127.0.0.1:{free_port()}"
    errors = place.path("ingest.log")
    process = place.processes.start("ingest", [place.program, "ingest", "--wait", str(PATIENCE_SECONDS), *place.settings(),
                                               "--set", f"kafka.bootstrap.servers={address}", place.path("crawl.jsonl")],
                                    errors)
    until(lambda: "waits for a broker" in said(errors) or process.poll() is not None, lambda: "a wait: " + said(errors))
    with socket.create_server(("127.0.0.1", int(address.rsplit(":", 1)[1]))) as listener:
        threading.Thread(target=forward, args=(listener, place.address), daemon=True).start()
        until(lambda: process.poll() is not None, lambda: "the end of ingest: " + said(errors))
    check_equal(process.returncode, 0, "ingest: " + said(errors))
    lines = len(open(place.path("crawl.jsonl"), encoding="utf-8").readlines())
    check_equal(sum(high - low for low, high in place.ends("pages")), lines, "pages")


def fill(folder, ballast):
    room = os.statvfs(folder)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - (64 << 10))


def ingest_until(place, ended):
    """The last attempt, which says what is wrong."""
    for _ in range(20):
        done = subprocess.run([place.program, "ingest", *place.settings(), place.path("rest")], text=True,
                              stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS, check=False)
        if done.returncode:
            check(until(ended, "the end of a broker whose disk is full"), "")
            check(done.stderr.strip(), "ingest ended without a word")
            return done
    raise Failure("ingest never met the full disk")


if __name__ == "__main__":
    test = {"sizes": sizes, "batches": batches, "remade": remade, "replaced": replaced, "shrunk": shrunk, "groups": groups, "late": late, "disk": disk}[sys.argv[1]]

    def begin(*arguments):
        place = Hostile(sys.argv[1], *arguments[:-1])
        place.indexer = arguments[-1]
        test(place)

    main(begin, *sys.argv[2:])
