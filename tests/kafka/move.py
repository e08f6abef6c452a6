"""A new partition map during a running crawl: `move.py WORK PROGRAM`.

Half of a crawl with one map; then the stages are restarted one after the other with the next map,
while the rest of the crawl arrives; then the old map is dropped. The statuses must be those of
`samepage run`, and no row may remain in the cells of the old map.
"""

import os
import re
import shutil
import sys
import time

from statuses import Place, ask, check_same, decided, main  # knows where harness.py is
from harness import PATIENCE_SECONDS, check, free_port, until


def rows_to_move(port):
    """Returns None until the stage reports the metric."""
    try:
        text = ask(f"http://127.0.0.1:{port}", "/metrics")
    except OSError:
        return None
    found = re.search(r'samepage_rows_to_move\{stage="compare"\} (\d+)', text)
    return int(found[1]) if found else None


def wait_until_moved(port):
    """Waits until no row has been left for three seconds (the metric is updated once a second)."""
    end, quiet = time.monotonic() + PATIENCE_SECONDS, 0
    while quiet < 3:
        check(time.monotonic() < end, "rows are left in cells of the map before")
        time.sleep(1)
        quiet = quiet + 1 if rows_to_move(port) == 0 else 0


def move(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"move-{os.getpid()}.")
    place.crawl()
    place.halves()
    early, want = place.expected("first"), place.expected()
    old, new = place.path("old"), place.path("new")
    place.call("train", "-q", "--cells", "7", "-o", old, place.path("first"))
    place.call("train", "-q", "--cells", "11", "--after", old, "-o", new, place.path("rest"))
    place.more = {"partition.map": old}
    place.call("topics", "create", *place.settings())
    with place.stages():
        place.ingest(crawl="first")
        place.settle(early)
    port = free_port()
    old_settings = place.settings("group")
    place.more = {"partition.map": new, "partition.previous_map": old}
    # The group stage with the old map puts pages into old cells while these are being emptied.
    with place.started(program, "signature", *place.settings("signature")), \
         place.started(program, "compare", *place.settings("compare"), "--set", f"http.listen=127.0.0.1:{port}"):
        with place.started(program, "group", *old_settings):
            place.ingest(crawl="rest")
            until(lambda: (rows_to_move(port) or 0) > 100,
                  lambda: f"rows that are left to move: {rows_to_move(port)}")
        with place.started(program, "group", *place.settings("group")):
            wait_until_moved(port)
            place.settle(want)
    check_same(decided(place.all()), want, "a new map on the way and `samepage run`")
    place.more = {"partition.map": new}
    with place.stages():
        place.ingest(crawl="rest")  # late, so nothing changes
        time.sleep(5)
    check_same(decided(place.all()), want, "without the map before")


if __name__ == "__main__":
    main(move, *sys.argv[1:])
