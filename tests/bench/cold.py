"""Lists filtered by `samepage serve` with cold caches: each page is requested once after a start.

The client is Python's http.client. Where the system allows it, client and server run at real-time
priority, so that the clock does not measure how long they wait for other programs.
"""

import http.client
import json
import os
import random
import socket
import time


class RealTime:
    """The priority of this process and of those that it starts; .allowed: whether it was given."""

    def __enter__(self):
        self.allowed = True
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(20))
        except PermissionError:
            self.allowed = False
        return self

    def __exit__(self, *_):
        if self.allowed:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def busy_ms(pid):
    """Processor time of each thread so far."""
    busy = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
                busy[thread] = int(f.read().split()[0]) / 1e6
        except FileNotFoundError:
            pass  # it has ended
    return busy


def filter_lists(port, pid, urls, length):
    """Yields, for each list, milliseconds by the clock and of the busiest thread, and of all."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(0, len(urls) - length + 1, length):
        body = json.dumps({"urls": urls[i : i + length]})
        before = busy_ms(pid)
        start = time.perf_counter()
        connection.request("POST", "/v1/filter", body)
        response = connection.getresponse()
        text = response.read()
        clock = 1000 * (time.perf_counter() - start)
        if response.status != 200:
            raise OSError(f"the filter answered {response.status}: {text[:200]}")
        busy = [ms - before.get(thread, 0) for thread, ms in busy_ms(pid).items()]
        yield clock, max(busy), sum(busy)
    connection.close()


def measure(start, urls, starts=9, length=100):
    """start() is a context: (port, pid) of a new server. Returns the distribution over all lists."""
    chance = random.Random(5)
    measured = []
    with RealTime() as priority:
        for _ in range(starts):
            chance.shuffle(urls)
            with start() as (port, pid):
                measured += filter_lists(port, pid, urls, length)
    result = {"lists": len(measured), "real_time": priority.allowed}
    for i, name in enumerate(("clock", "thread", "server")):
        ms = sorted(row[i] for row in measured)
        for percent in 50, 90, 99:
            result[f"{name}_p{percent}_ms"] = round(ms[len(ms) * percent // 100], 2)
        result[f"{name}_max_ms"] = round(ms[-1], 2)
    return result
