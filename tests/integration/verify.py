"""run --verify: what it reports for correct runs, for continued ones, and for those that it cannot verify."""

import json
import random
import re
from urllib.parse import urlsplit

from harness import check, check_equal, check_in, main

CELLS = ["--set", "partition.cells=5"]


def exact_runs_have_no_difference_from_scratch(work):
    for seed, more in [(1, []), (2, CELLS), (3, CELLS + ["--set", "tier1.partitions=3"]),
                       (4, CELLS + ["--words", "30"]), (5, ["--words", "8"])]:
        words = more[more.index("--words") + 1] if "--words" in more else None
        settings = [m for m in more if m not in ("--words", words)]
        work.crawl(pages=2500, seed=seed, words=words)
        done = work.run("run", "-q", "-o", f"{seed}.out", "--verify", "--summary", "summary",
                        *settings, "crawl.jsonl")
        check_in("verify: no difference", done.err)
        check(work.json_lines("summary")[0]["differences"] == 0, "the summary says otherwise")


def the_whole_text_in_cells_has_no_difference_either(work):
    work.crawl(pages=2000, seed=6, words=30)
    work.run("run", "-q", "-o", "out", "--verify", "--set", "text.scope=all", "--set",
             "similarity.threshold=0.6", *CELLS, "crawl.jsonl")


def every_method_has_no_difference_from_scratch(work):
    settings = {"simhash": [], "cosine": ["--set", "similarity.threshold=0.9"],
                "sentences": CELLS, "lcs": [], "combined": CELLS}
    for seed, (method, more) in enumerate(settings.items()):
        lines = work.read(work.crawl(pages=1200, seed=seed, words=60)).splitlines(keepends=True)
        work.write("half.jsonl", b"".join(lines[:len(lines) // 2]))
        method = ["--set", f"similarity.method={method}", *more]
        for pages in ("half.jsonl", "crawl.jsonl"):  # the second run loads the state of the first
            done = work.run("run", "-q", "--state", f"state{seed}", "-o", "out", "--verify",
                            "--summary", "summary", *method, pages)
            check_in("verify: no difference", done.err)
            check(work.json_lines("summary")[0]["losers"] > 50, "few duplicates by", method)


def a_state_is_verified_after_each_of_several_runs(work):
    lines = work.read(work.crawl(pages=3000, seed=7)).splitlines(keepends=True)
    for end in range(0, len(lines) + 1, len(lines) // 5):
        work.write("growing.jsonl", b"".join(lines[:end]))
        done = work.run("run", "-q", "--state", "state", "-o", "out", "--verify", *CELLS, "--set",
                        "barrier.pages=100", "growing.jsonl")
        check_in("verify: no difference", done.err)


def fast_mode_in_one_cell_is_exact_unless_groups_are_never_rechecked(work):
    """With one cell in tier 2 a settled page misses nothing, so that only the recheck share matters. In this crawl
    groups that are never re-checked end wrong."""
    work.crawl(pages=6000, seed=3, words=60)
    for settings, exact in [([], True), (["fast.recheck_share=1"], False)]:
        options = [o for s in ["mode=fast", *settings] for o in ("--set", s)]
        done = work.run("run", "-q", "-o", "out", "--verify", *options, "crawl.jsonl", code=None)
        check((done.code == 0) == exact, settings, done.err[-300:])


def winners_under_a_relation_are_those_from_scratch(work):
    """The newest page represents all, or the best of each host; never a page that the relation forbids."""
    work.crawl(pages=3000, seed=12, words=80)
    fetched = {}
    for page in work.json_lines("crawl.jsonl"):
        fetched.setdefault(page["url"], []).append(page["fetch_time_ms"])
    losers = {}
    for relation in ("", "a.timestamp <= b.timestamp", "a.host = b.host",
                     "containment(a, b) >= 0.95 && a.url != b.url"):
        work.run("run", "-q", "-o", "out", "--verify", "--set", "winner.relation=" + relation,
                 "crawl.jsonl")
        last = {event["url"]: event for event in work.json_lines("out")}
        lost = [event for event in last.values() if event["reason"] == "content"]
        losers[relation] = len(lost)
        check(lost, "nobody lost with", relation)
        for event in lost:
            if relation == "a.host = b.host":
                check(urlsplit(event["url"]).netloc == urlsplit(event["winner_url"]).netloc, event)
            if relation == "a.timestamp <= b.timestamp":
                check(min(fetched[event["url"]]) <= max(fetched[event["winner_url"]]), event)
    check(losers["a.host = b.host"] < losers[""], losers)
    refused = work.run("run", "-q", "-o", "out", "--set", "winner.relation=a.title = b.title",
                       "crawl.jsonl", code=1)
    check_in("title", refused.err)


def runs_that_approximate_say_what_differs(work):
    """Fast mode and bounded routing may differ; the exit code and the list then say so."""
    differing = 0
    for seed, pages, settings in [(3, 6000, ["mode=fast", "fast.recheck_share=1"]),
                                  (9, 3000, ["mode=fast", "partition.cells=7"]),
                                  (10, 3000, ["partition.routing=bounded", "partition.cells=50"]),
                                  (11, 3000, ["winner.margin=1000000"])]:
        work.crawl(pages=pages, seed=seed, words=60)
        options = [o for s in settings for o in ("--set", s)]
        done = work.run("run", "-q", "-o", "out", "--verify", "--summary", "summary", *options,
                        "crawl.jsonl", code=None)
        count = work.json_lines("summary")[0]["differences"]
        check(done.code == (1 if count else 0), "exit code", done.code, "with", count,
              "differences")
        listed = [line for line in done.err.splitlines() if line.startswith("verify: http")]
        check(len(listed) == min(count, 100), len(listed), "of", count, "are listed")
        if count:
            said = re.search(r"verify: ([0-9,]+) differences from the groups", done.err)
            check(said and int(said[1].replace(",", "")) == count, done.err[-300:])
        else:
            check_in("verify: no difference", done.err)
        differing += count > 0
    check(differing > 0, "nothing differed: what a difference looks like was not tested")


def a_large_group_holds_together_when_most_of_a_star_moves_to_another_page(work):
    """Until the last pages come, the star of p43 in the index of the group has nearly all of them. Then c152 takes all
    but p43 and two others. Afterwards the pages go that resemble both. Hashes decide that it is these two pages."""
    near_c = {6 + 12 * spot: f"c{spot}" for spot in range(5)}
    kinds = {"p": {}, "y": {6 + 12 * spot: f"y{spot}" for spot in range(20, 29)}, "c": near_c,
             "z": {**near_c, **{6 + 12 * spot: f"z{spot}" for spot in range(5, 14)}}}
    lines, gone = [], []
    for kind, count in ("p", 60), ("y", 2), ("c", 10), ("z", 45), ("c", 80):
        for _ in range(count):
            name, words = f"{kind}{len(lines)}", {**kinds[kind], 474: f"own{len(lines)}"}
            url = f"http://h.example/{name}"
            lines.append({"url": url, "content": " ".join(words.get(at, f"word{at}") for at in range(504))})
            if kind in "pc" and name not in ("p43", "c152"):
                gone.append({"url": url, "http_status": 404})
    work.write("crawl", "".join(json.dumps({**line, "fetch_time_ms": at}) + "\n"
                                for at, line in enumerate(lines + gone, 1)))
    work.run("run", "-q", "-o", "out", "--verify", "--groups", "groups", "crawl")
    largest = max(work.json_lines("groups"), key=lambda group: len(group["members"]))
    check_equal(len(largest["members"]), 2 + 2 + 45, "members: p43, c152, and those that resemble one of them")


def pages_that_leave_a_large_group_at_the_end_of_a_run_are_told_who_wins_among_them(work):
    """Only z resembles both texts. When it changes, the copies of the second text leave in several messages. This seed
    puts the one that wins into a later message, so most of them are told by a round that begins after the last fetch.
    """
    chance, words = random.Random(8), [f"word{i}" for i in range(122)]
    texts = {"a": words[:104], "b": words[18:], "z": words[9:113]}
    pages = [(f"{kind}.example/{i}", texts[kind], chance.randint(0, 1000))
             for kind, count in (("a", 20000), ("b", 18000)) for i in range(count)]
    pages += [("z.example/z", texts["z"], 5), ("z.example/z", [f"other{i}" for i in range(104)], 5)]
    work.write("crawl", "".join(json.dumps({"url": f"http://{name}", "content": " ".join(text), "popularity": popularity,
                                            "fetch_time_ms": at}) + "\n"
                                for at, (name, text, popularity) in enumerate(pages, 1)))
    for at, settings in enumerate(([], ["--state", "state"], ["--set", "tier1.partitions=3"])):
        done = work.run("run", "-q", "-o", f"out{at}", "--verify", *settings, "crawl")
        check_in("verify: no difference", done.err)


def the_summary_counts_its_speed_in_records(work):
    """Pages are fewer than records if URLs are fetched again. Pages a second would be another number."""
    fetch = {"url": "https://a.example/", "content": "one two three four five six"}
    work.write("again", (json.dumps(fetch) + "\n") * 1000)
    rows = dict(re.findall(r"^ +(.+?)  +([\d,.]+)$", work.run("run", "-o", "out", "again").err, re.M))
    check_equal([rows["records read"], rows["pages"]], ["1,000", "1"], rows)
    check("records/s" in rows and "pages/s" not in rows, rows)


if __name__ == "__main__":
    main(__name__)
