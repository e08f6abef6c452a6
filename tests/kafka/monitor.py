"""The monitor beside the stages: `monitor.py WORK PROGRAM`.

Two monitors audit the same stages. The one with the stages' settings must find nothing, although it
and a stage are killed during the crawl. The other one has a lower threshold, by which the stages miss
pairs, and must report them. At first the signature stage has no audit.share: both must say so.
"""

import os
import re
import shutil
import signal
import sys
import time

import cluster
from statuses import Place, ask, check_same, decided, main  # knows where harness.py is
from harness import check, free_port, until

PATIENCE = 20  # looks, at most one a second: more than the hops of messages until a fetch is settled
QUIET_SECONDS = 26  # more than the patience


def metric(port, name):
    """Returns None until there is a server."""
    try:
        text = ask(f"http://127.0.0.1:{port}", "/metrics")
    except OSError:
        return None
    found = re.search(rf'samepage_audit_{name}{{stage="watch"}} ([0-9.]+)', text)
    return float(found[1]) if found else None


class Monitor:
    def __init__(self, place, name, **settings):
        self.place, self.name, self.port = place, name, free_port()
        self.command = [place.program, "watch", *place.settings(),
                        *cluster.arguments({"audit.pages": 100000, "audit.patience": PATIENCE,
                                            "http.listen": f"127.0.0.1:{self.port}", **settings})]

    def start(self):
        self.place.processes.start(self.name, self.command, self.place.path(self.name + ".log"))
        until(lambda: "watches from now on" in self.log(), self.name)

    def log(self):
        with open(self.place.path(self.name + ".log"), encoding="utf-8") as file:
            return file.read()

    def clear(self):
        os.truncate(self.place.path(self.name + ".log"), 0)

    def counts(self):
        return [metric(self.port, name) for name in ("missing_total", "wrong_total", "judged_total", "pages")]

    def be_patient(self):
        """Waits until whatever is wrong now has been counted."""
        def looks():
            return metric(self.port, "looks_total") or 0

        last = until(looks, self.log) + PATIENCE + 1
        until(lambda: looks() >= last, lambda: f"{last} looks: {looks()}, {self.counts()}, {self.log()}")


def crawl_in_pieces(place, lines, pieces, between):
    for i in range(pieces):
        with open(place.path("some"), "w", encoding="utf-8") as file:
            file.writelines(lines[len(lines) * i // pieces:len(lines) * (i + 1) // pieces])
        place.ingest(crawl="some")
        between(i)


def watching(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"watching-{os.getpid()}.")
    place.more = {"audit.share": 1}  # the signature stage copies all fetches
    place.crawl()
    want = place.expected()
    with open(place.path("crawl.jsonl"), encoding="utf-8") as file:
        lines = file.readlines()
    place.call("topics", "create", *place.settings())
    right, strict = Monitor(place, "right"), Monitor(place, "strict", **{"similarity.threshold": "0.6"})

    def start(stage, *more):
        place.processes.start(stage, [program, stage, *place.settings(stage), *more], place.path(stage + ".log"))

    def break_something(piece):
        if piece == 0:  # nothing was copied so far
            for monitor in right, strict:
                until(lambda: "no copy arrived in topic" in monitor.log(), monitor.log)
                check("audit.share of the signature stage to 1," in monitor.log(), monitor.log())
            check(right.counts()[3] == 0, right.counts())
            check(place.processes.stop("signature") == 0, "signature")
            start("signature")
        if piece == 2:  # compare is stopped for longer than the patience
            place.processes.stop("compare", signal.SIGKILL)
            time.sleep(QUIET_SECONDS)
            start("compare")
        if piece == 4:
            check(right.counts()[:2] == [0, 0], right.counts(), right.log())
            place.processes.stop("right", signal.SIGKILL)
            right.clear()
            right.start()

    try:
        for stage in cluster.STAGES:
            start(stage, *cluster.arguments({"audit.share": 0} if stage == "signature" else {}))
        right.start()
        strict.start()
        crawl_in_pieces(place, lines, 8, break_something)
        place.settle(want)
        check_same(decided(place.all()), want, "the stages and `samepage run`")
        until(lambda: (metric(strict.port, "missing_total") or 0) > 0, lambda: f"an alarm: {strict.counts()}")
        right.be_patient()
        missing, wrong, judged, pages = right.counts()
        check((missing, wrong) == (0, 0), right.counts(), right.log())
        check(judged > 50 and pages > 200, right.counts())
        check("both are kept" in strict.log(), strict.log())
        check("no copy" not in right.log() and strict.log().count("no copy") == 1, "warnings:", strict.log())
        for name in ("right", "strict"):
            check(place.processes.stop(name) == 0, name)
        check(": 0 missing, 0 wrong" in right.log(), right.log())
        print(f"{judged:.0f} pairs judged, nothing found; strict: {strict.log().splitlines()[-1]}")
    finally:
        place.processes.kill()


if __name__ == "__main__":
    main(watching, *sys.argv[1:])
