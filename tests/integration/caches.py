"""The memory of `cache.bytes`."""

import json

from harness import check, check_equal


def counts(work, name, cache_bytes):
    work.run("run", "-q", "--state", name, "-o", f"{name}.out", "--summary", f"{name}.json", "--set",
             f"cache.bytes={cache_bytes}", "crawl.jsonl")
    return json.loads(work.read(f"{name}.json"))


def what_one_cache_leaves_the_others_use(work):
    """Short pages need memory for pages and groups, long ones for signatures."""
    for words in 20, 300:
        work.crawl(pages=10000, words=words)
        roomy = counts(work, f"roomy{words}", 1 << 30)
        used = sum(roomy[f"{cache}_cache_bytes"] for cache in ("tier1", "tier2", "signature"))
        check_equal(0, roomy["rows_read"], "rows read with room for all")
        fitting = counts(work, f"fitting{words}", used + used // 50)
        check_equal(0, fitting["rows_read"], f"{words} words: rows read with room for what is used")
        tight = counts(work, f"tight{words}", used // 2)
        check(tight["rows_read"] > 100, "half of the memory is enough:", tight["rows_read"])
        for name in "fitting", "tight":
            check_equal(work.read(f"roomy{words}.out"), work.read(f"{name}{words}.out"), name)
