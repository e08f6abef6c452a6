"""State directories that two processes use, or another kind of process than the one that made them:
`directories.py PART WORK PROGRAM ADMIN`.

    taken    two instances of a stage with one directory; one that was killed or stopped holds it
    foreign  a run, a reader and a copy on the database of a stage; a stage and a copy on the state of a run
"""

import datetime
import os
import re
import signal
import subprocess
import sys

import cluster
from hostile import Hostile
from statuses import main
from harness import PATIENCE_SECONDS, check, check_equal, check_in, until


def said(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def most_within(seconds, text):
    """The largest number of lines of a log whose times are so close to each other."""
    times = [datetime.datetime.strptime(t, "%Y-%m-%dT%H:%M:%S.%f").timestamp()
             for t in re.findall(r"^(\d{4}-\d\d-\d\dT[\d:.]+)Z ", text, re.M)]
    return max(sum(t <= other < t + seconds for other in times) for t in times)


def taken(place):
    """The second instance says who has the directory and waits for it; nothing is lost or done twice."""
    processes, folder = place.processes, place.path("shared")
    place.more["tier1.partitions"] = 1
    place.prefix += "one."
    place.call("topics", "create", *place.settings())

    def start(name, **more):
        more = {"instance": name, "state.directory": folder, **more}
        return processes.start(name, [place.program, "group", *place.settings(), *cluster.arguments(more)],
                               place.path(name + ".log"))

    def log(name):
        return said(place.path(name + ".log"))

    try:
        for stage in ("signature", "compare"):
            processes.start(stage, [place.program, stage, *place.settings(stage)], place.path(stage + ".log"))
        first = start("first")
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "one instance")
        # It keeps its lock while it is stopped; the second one gets its partition.
        first.send_signal(signal.SIGSTOP)
        start("second")
        until(lambda: f"group-0 is in use by another samepage process (process id {first.pid})" in log("second"),
              lambda: "a message that names the holder: " + log("second"))
        check_in("state.directory", log("second"))
        place.ingest(crawl="rest")
        tries = log("second").count("is in use by")
        until(lambda: log("second").count("is in use by") >= tries + 2 or processes.running["second"].poll() is not None,
              lambda: "more tries: " + log("second"))
        check(processes.running["second"].poll() is None, "the second instance ended:", log("second"))
        lines = most_within(10, log("second"))
        check(lines < 60, lines, "lines within ten seconds:", log("second"))
        # Killed, it leaves nothing behind that would keep the second one out.
        processes.stop("first", signal.SIGKILL)
        place.settled(place.expected(), "the second instance after the first one was killed")
        check_equal(processes.stop("second"), 0, "exit code")
    finally:
        processes.kill()


def foreign(place):
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    group = place.path(place.prefix + "group")
    databases = sorted(os.path.join(group, name) for name in os.listdir(group) if name.startswith("group-"))
    check_equal(len(databases), 3, "databases")
    own = place.path("run-state")
    settings = place.settings()
    place.call("run", "-q", *settings, "--state", own, "-o", place.path("own.jsonl"), place.path("first"))

    def refuse(what, *command):
        try:
            done = subprocess.run([place.program, *command], text=True, stdout=subprocess.PIPE, check=False,
                                  stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{what} goes on: {error.stderr}") from error
        check_equal(done.returncode, 1, f"exit code of {what}: {done.stderr}")
        last = done.stderr.splitlines()[-1]
        check_in("use another directory", last, what)
        return last

    for database in databases:
        for what, command in (
                ("run", ["run", "-q", *settings, "--state", database, "-o", place.path("x.jsonl"), place.path("rest")]),
                ("forget", ["forget", *settings, "--state", database, "-o", place.path("x.jsonl"), "http://a.example/"]),
                ("rules", ["rules", "--state", database]),
                ("serve", ["serve", "--state", database, "--listen", "127.0.0.1:0"])):
            check_in("a part of the state of a stage", refuse(what, *command), what)
    wrong = place.path("wrong")
    os.makedirs(wrong)
    os.symlink(own, os.path.join(wrong, "group-0"))
    check_in("the state of a `samepage run`",
             refuse("group", "group", *settings, "--set", f"state.directory={wrong}", "--set", "instance=1"))
    check_in("the state of a `samepage run`",
             refuse("a copy", "serve", "--kafka", *settings, "--state", own, "--listen", "127.0.0.1:0"))
    # Nothing was changed: both go on.
    with place.stages():
        place.ingest(crawl="rest")
        place.settled(place.expected(), "after all this")
    check("wiping" not in said(place.path(place.prefix + "group.log")), "a state was wiped")
    place.call("run", "-q", *settings, "--state", own, "-o", place.path("own.jsonl"), place.path("rest"))
    place.call("run", "-q", *settings, "-o", place.path("one-run.jsonl"), place.path("first"), place.path("rest"))
    check_equal(said(place.path("own.jsonl")), said(place.path("one-run.jsonl")), "statuses of the run")


if __name__ == "__main__":
    test = {"taken": taken, "foreign": foreign}[sys.argv[1]]
    main(lambda *args: test(Hostile(sys.argv[1], *args)), *sys.argv[2:])
