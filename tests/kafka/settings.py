"""Stages whose fixed settings differ: `settings.py PART WORK PROGRAM ADMIN`.

    tiers       a compare stage that begins with another threshold than the group stage
    unlimited   a signature stage with another text.scope, and flow.max_lag = 0
"""

import contextlib
import sys

from hostile import Hostile
from statuses import main  # knows where harness.py is
from harness import check, check_in


def tiers(place):
    """It says so before it reports an edge, and starts with the right settings."""
    want = place.expected("crawl.jsonl")
    with contextlib.ExitStack() as stack:
        for stage in ("signature", "group"):
            stack.enter_context(place.started(place.program, stage, *place.settings(stage)))
        place.more["similarity.threshold"] = "0.9"
        place.ingest()
        check_in("the group stage has other fixed settings than these", place.refused("compare"))
        del place.more["similarity.threshold"]
        check(not any(e[2] == "loser" and e[5] == "near" for e in place.all()), "edges of another threshold")
        with place.started(place.program, "compare", *place.settings("compare")):
            place.settled(want, "with the settings of the group stage and `samepage run`")


def unlimited(place):
    with place.stages():
        place.ingest(crawl="first")
        place.settled(place.expected("first"), "before")
    place.more.update({"text.scope": "all", "flow.max_lag": "0"})
    check_in("the stage that reads it has other fixed settings than these", place.refused("signature"))


if __name__ == "__main__":
    main(lambda: {"tiers": tiers, "unlimited": unlimited}[sys.argv[1]](Hostile(*sys.argv[1:])))
