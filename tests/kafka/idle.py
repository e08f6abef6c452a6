"""What the stages report when nothing is left to do: `idle.py WORK PROGRAM`.

`samepage_lag` is 0 for every instance, whatever the producers of a topic have left at its end, and also after a
restart, when no message has come yet. The alert SamepageStuck relies on this.
"""

import contextlib
import os
import re
import shutil
import sys
import time

import cluster
from statuses import Place, ask, main  # knows where harness.py is
from harness import check, free_port, until

INSTANCES = ("1", "2")
MEASURES_SECONDS = 3  # a lag is measured once a second, and 0 before


class Idle(Place):
    def __init__(self, work, program):
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        super().__init__(work, program, f"idle-{os.getpid()}.")
        self.ports = {}

    @contextlib.contextmanager
    def instances(self):
        """Two of each stage, so that several producers end their transactions in each topic."""
        with contextlib.ExitStack() as stack:
            for stage in cluster.STAGES:
                for name in INSTANCES:
                    port = self.ports[stage, name] = free_port()
                    more = cluster.arguments({"instance": name, "http.listen": f"127.0.0.1:{port}"})
                    stack.enter_context(self.processes.during(
                        (stage, name), [self.program, stage, *self.settings(stage + name), *more],
                        self.path(f"{stage}-{name}.log")))
            yield

    def metric(self, key, name):
        """Returns None until there is a server."""
        try:
            text = ask(f"http://127.0.0.1:{self.ports[key]}", "/metrics")
        except OSError:
            return None
        return int(re.search(rf'^samepage_{name}{{stage="\w+"}} (\d+)', text, re.M)[1])

    def each(self, name):
        return {key: self.metric(key, name) for key in self.ports}

    def wait_until_idle(self, when):
        until(lambda: all(self.each("ready").values()), lambda: f"{when}: {self.each('ready')}")
        # Both instances of a stage have their share, and have measured it.
        until(lambda: all(self.each("tasks").values()), lambda: f"{when}: {self.each('tasks')}")
        until(lambda: set(self.each("lag").values()) == {0}, lambda: f"{when}: {self.each('lag')}", pause=1)


def idle(work, program):
    place = Idle(work, program)
    place.crawl()
    want = place.expected()
    place.call("topics", "create", *place.settings())
    with place.instances():
        place.ingest()
        place.settle(want)
        place.wait_until_idle("after the crawl")
    with place.instances():
        place.wait_until_idle("after a restart")
        time.sleep(MEASURES_SECONDS)
        place.wait_until_idle("after a restart and some measures")
        received = place.each("received_total")
        check(not any(received.values()), "messages were read again:", received)


if __name__ == "__main__":
    main(idle, *sys.argv[1:])
