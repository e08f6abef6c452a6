"""A new partition map while the stream goes on: `move.py WORK PROGRAM`.

Half of a crawl with one map; then the stages are restarted one after the other with its successor,
while the rest of the crawl comes in; then the map before is given up. The statuses must be those
of `samepage run`, and no row may be left in the cells of the map before.
"""

import os
import re
import shutil
import socket
import sys
import time
import urllib.request

from statuses import Place, check, check_same, decided

SECONDS = 180


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def rows_to_move(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    return int(re.search(r'samepage_rows_to_move\{stage="compare"\} (\d+)', text)[1])


def wait_until_moved(port):
    """None for three seconds (the metric is read off once a second)."""
    end, quiet = time.monotonic() + SECONDS, 0
    while quiet < 3:
        check(time.monotonic() < end, "rows are left in cells of the map before")
        time.sleep(1)
        quiet = quiet + 1 if rows_to_move(port) == 0 else 0


def main(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"move-{os.getpid()}.")
    place.crawl()
    want = place.expected()
    with open(place.path("crawl.jsonl"), encoding="utf-8") as file:
        lines = file.readlines()
    for name, part in (("first", lines[:len(lines) // 2]), ("rest", lines[len(lines) // 2:])):
        with open(place.path(name), "w", encoding="utf-8") as file:
            file.writelines(part)
    old, new = place.path("old"), place.path("new")
    place.call("train", "-q", "--cells", "7", "-o", old, place.path("first"))
    place.call("train", "-q", "--cells", "11", "--after", old, "-o", new, place.path("rest"))
    place.more = {"partition.map": old}
    place.call("topics", "create", *place.settings())
    with place.stages():
        place.ingest(crawl="first")
        time.sleep(15)
    port = free_port()
    old_settings = place.settings("group")
    place.more = {"partition.map": new, "partition.previous_map": old}
    # The group stage of the old map puts pages into old cells while these are being left.
    with place.started(program, "signature", *place.settings("signature")), \
         place.started(program, "compare", *place.settings("compare"), "--set", f"http.listen=127.0.0.1:{port}"):
        with place.started(program, "group", *old_settings):
            place.ingest(crawl="rest")
            time.sleep(5)
            left = rows_to_move(port)
        with place.started(program, "group", *place.settings("group")):
            wait_until_moved(port)
            place.settle(want)
    check(left > 100, left, "rows were left to move when the group stage of the new map came")
    check_same(decided(place.all()), want, "a new map on the way and `samepage run`")
    place.more = {"partition.map": new}
    with place.stages():
        place.ingest(crawl="rest")  # late: nothing changes
        time.sleep(5)
    check_same(decided(place.all()), want, "without the map before")


if __name__ == "__main__":
    main(*sys.argv[1:])
