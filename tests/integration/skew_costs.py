"""Skewed crawls: the cost of a fetch does not grow with the crawl, its groups and its chains."""

import collections
import json
import random
import shutil

from growth import wrong_growth
from harness import check, check_equal, main
from skew import KINDS, make

FEW, SEEDS = 200, ("1", "2", "3")  # the means of three crawls grow or do not
NOTHING = 0.1  # a fetch
COUNTERS = {
    "messages": ["messages"],
    "events": ["events"],
    "comparisons": ["candidates", "compared"],
    "rows": ["rows_put", "rows_deleted"],
    "edges": ["edges_sent"],
    "members": ["members_sent"],
    "winners": ["held_against"],
    "searches": ["searched"],
}
# A kind, and which of its counters grow today. Remove a name when its cost is mended: a counter that is named here
# but does not grow is an error as well. Chains of redirects have the short default length here;
# a single long chain has a test of its own, and so have groups of many winners and pages that resemble a part of many.
GROWS = {
    "unlike": "",
    "same": "",
    "near-words": "",
    "near-url": "",
    "near-percent": "",
    "chainlike": "winners",
    "template": "",
    "zipf": "edges",
    "redirects-after": "",
    "redirects-before": "",
    "redirects-random": "",
    "redirects-loop": "",
    "die-newest": "",
    "die-oldest": "",
    "die-random": "",
    "recover": "",
    "flap-loser": "",
    "flap-winner": "",
    "flap-unchanged": "",
    "outrank-same": "",
    "outrank-near": "",
    "future": "",
    "two-parts": "comparisons edges winners",
    "growing": "comparisons winners",
    "changing": "comparisons winners searches",
}


def counts(work, kind, pages, *options, seeds=SEEDS, settings=(), counters=COUNTERS):
    """The cost of a fetch: means over several crawls with a barrier every twenty fetches."""
    set_options = [word for setting in ("barrier.pages=20", *settings) for word in ("--set", setting)]
    sums = collections.Counter()
    for seed in seeds:
        make(work, kind, pages, "--words", "100", "--seed", seed, *options)
        shutil.rmtree(work.path("state"), ignore_errors=True)
        work.run("run", "-q", "--state", "state", "-o", "out", "--summary", "summary", *set_options, "crawl")
        summary = work.json_lines("summary")[0]
        check_equal(summary["records"], pages, "records")
        for counter, fields in counters.items():
            sums[counter] += sum(summary[field] for field in fields)
    return {counter: sums[counter] / pages / len(seeds) for counter in counters}


def check_growth(work, kinds):
    wrong = []
    for kind in kinds:
        few, many = counts(work, kind, FEW), counts(work, kind, 4 * FEW)
        wrong += wrong_growth(kind, FEW, few, many, GROWS[kind].split(), NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_fetch_costs_the_same_in_a_crawl_four_times_as_long_or_is_known_not_to(work):
    check_equal(sorted(GROWS), sorted(KINDS), "kinds in GROWS")
    check_growth(work, GROWS)


def check_setting(work, setting, kinds):
    wrong = []
    for kind, grows in kinds.items():
        few, many = (counts(work, kind, pages, seeds="1", settings=[setting], counters={
            name: COUNTERS[name] for name in ("comparisons", "events")}) for pages in (FEW, 4 * FEW))
        wrong += wrong_growth(kind, FEW, few, many, [name for name in grows.split() if name in few], NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def with_a_margin_a_fetch_costs_the_same_in_a_crawl_four_times_as_long_or_is_known_not_to(work):
    """The first pages of some kinds do not outrank a winner by the margin."""
    late = "zipf", "outrank-same", "outrank-near"
    check_setting(work, "winner.margin=2", {kind: grows for kind, grows in GROWS.items() if kind not in late})
    for kind in late:
        cost = counts(work, kind, 16 * FEW, seeds="1", settings=["winner.margin=2"])
        check(cost["events"] <= 4 and cost["comparisons"] <= 5, kind, cost)


def with_a_symmetric_relation_a_fetch_costs_the_same_in_a_crawl_four_times_as_long(work):
    """Not where pages leave large groups, where many win, or where each outranks the winner."""
    check_setting(work, "winner.relation=jaccard(a, b) > 0.81", dict.fromkeys(
        ("same", "near-words", "near-url", "die-oldest", "die-random", "template"), ""))


def with_lcs_a_page_is_compared_with_few_of_the_pages_that_share_its_template(work):
    """Each page of the template shares keys with each other one, and in a chain of pages every other one wins."""
    for kind in "template", "chainlike":
        few, many = (counts(work, kind, pages, seeds="1", settings=["similarity.method=lcs"],
                            counters={"comparisons": COUNTERS["comparisons"]})["comparisons"] for pages in (500, 2000))
        check(0 < few <= 30 and 0 < many <= 30, kind, few, "comparisons a fetch, then", many)


def with_simhash_near_copies_cost_the_same_in_a_crawl_four_times_as_long(work):
    """Most have the bits of an earlier copy."""
    wrong = []
    for kind in "near-words", "near-url":
        few, many = (counts(work, kind, pages, seeds="1", settings=["similarity.method=simhash"], counters={
            name: COUNTERS[name] for name in ("comparisons", "edges")}) for pages in (FEW, 4 * FEW))
        wrong += wrong_growth(kind, FEW, few, many, [], NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def with_cosine_a_page_is_compared_with_few_of_the_pages_that_share_its_template(work):
    """A share of all pages of the template have a key in common with each page."""
    few, many = (counts(work, "template", pages, seeds="1", settings=["similarity.method=cosine"],
                        counters={"comparisons": COUNTERS["comparisons"]})["comparisons"] for pages in (500, 2000))
    check(0 < few <= 10 and 0 < many <= 10, few, "comparisons a fetch, then", many)


def with_combined_a_page_is_compared_with_few_of_those_with_similar_shingles_and_other_sentences(work):
    few, many = (counts(work, "near-percent", pages, seeds="1", settings=["similarity.method=combined"],
                        counters={"comparisons": COUNTERS["comparisons"]})["comparisons"] for pages in (500, 2000))
    check(0 < few <= 15 and 0 < many <= 15, few, "comparisons a fetch, then", many)


def a_hop_costs_the_same_in_a_chain_of_ten_thousand(work):
    """All redirects of the crawl form one chain, or one loop."""
    hops, wrong = 2500, []
    for kind in (kind for kind in KINDS if kind.startswith("redirects-")):
        few, many = (counts(work, kind, pages, "--family", str(pages), seeds="1") for pages in (hops, 4 * hops))
        check(many["events"] <= 4, kind, many["events"], "events a hop")
        wrong += wrong_growth(kind, hops, few, many, [], NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_hop_costs_the_same_in_a_chain_of_four_thousand_with_a_margin_or_a_relation(work):
    hops, wrong = 1000, []
    for settings in ["winner.margin=2"], ["winner.relation=a.host = b.host"], ["winner.margin=2", "mode=fast"]:
        for kind in (kind for kind in KINDS if kind.startswith("redirects-")):
            few, many = (counts(work, kind, pages, "--family", str(pages), seeds="1", settings=settings, counters={
                "events": COUNTERS["events"], "hops": ["hops"]}) for pages in (hops, 4 * hops))
            wrong += wrong_growth(kind, hops, few, many, [], NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_new_text_of_a_page_costs_the_same_with_four_times_as_many_redirects_to_it(work):
    def hops(redirects, mode):
        lines = [{"url": f"http://h.example/{at}", "fetch_time_ms": at + 1, "http_status": 301, "content": "",
                  "redirect_url": "http://h.example/target"} for at in range(redirects)]
        lines += [{"url": "http://h.example/target", "fetch_time_ms": redirects + at + 1,
                   "content": " ".join(f"word{at * 20 + word}" for word in range(20))} for at in range(100)]
        work.write("crawl", "".join(json.dumps(line) + "\n" for line in lines))
        work.run("run", "-q", "-o", "out", "--summary", "summary", "--set", f"mode={mode}", "crawl")
        return work.json_lines("summary")[0]["hops"]

    for mode in "exact", "fast":
        for redirects in 500, 2000:
            check(hops(redirects, mode) < redirects + 100, mode, redirects, "each redirect is followed once")


def a_new_text_of_a_page_follows_the_chain_to_it_twice_at_most_with_a_margin_or_a_relation(work):
    texts = 20

    def hops(redirects, *settings):
        lines = [{"url": f"http://h.example/{at}", "fetch_time_ms": at + 1, "http_status": 301, "content": "",
                  "redirect_url": f"http://h.example/{at + 1}"} for at in range(redirects)]
        lines += [{"url": f"http://h.example/{redirects}", "fetch_time_ms": redirects + at + 1,
                   "content": " ".join(f"word{at * 20 + word}" for word in range(20))} for at in range(texts)]
        work.write("crawl", "".join(json.dumps(line) + "\n" for line in lines))
        work.run("run", "-q", "-o", "out", "--summary", "summary", "--set", "mode=fast", *settings, "crawl")
        return work.json_lines("summary")[0]["hops"]

    for setting in "winner.margin=1", "winner.relation=a.host = b.host":
        few, many = (hops(redirects, "--set", setting) for redirects in (250, 1000))
        check(0 < few <= 2 * texts * 250, setting, few, "hops")
        check(many <= 2 * texts * 1000, setting, few, many, "hops")


def redirects_do_not_follow_each_move_of_their_target(work):
    """Its text alternates between those of two groups; or the middle of a chain is gone in every other fetch."""
    def fetch(page, at, content=None, target=None):
        return {"url": f"http://h.example/{page}", "fetch_time_ms": 1000 * at,
                **({"content": content} if content else {"http_status": 301 if target else 404}),
                **({"redirect_url": f"http://h.example/{target}"} if target else {})}

    def flipping(count):
        texts = text(("a", 0, 100)), text(("b", 0, 100))
        members = [(f"{name}{i}", texts[name], None) for i in range(count) for name in (0, 1)]
        redirects = [(f"r{i}", None, "target") for i in range(count)]
        flips = [("target", f"{texts[i % 2]} {i}", None) for i in range(count)]
        return members + redirects + flips

    def cut(count):
        middle = count // 2
        chain = [("0", text(("a", 0, 100)), None)] + [(str(i), None, str(i - 1)) for i in range(1, count)]
        return chain + [(str(middle), None, str(middle - 1) if i % 2 else None) for i in range(count)]

    def costs(pages, mode):
        work.write("crawl", "".join(json.dumps(fetch(page, at, content, target)) + "\n"
                                    for at, (page, content, target) in enumerate(pages, 1)))
        work.run("run", "-q", "-o", "out", "--summary", "summary", "--set", f"mode={mode}", "crawl")
        summary = work.json_lines("summary")[0]
        return {field: summary[field] / len(pages) for field in ("messages", "members_sent", "hops", "events")}

    wrong = []
    for crawl in flipping, cut:
        for mode in "exact", "fast":
            few, many = (costs(crawl(count), mode) for count in (100, 400))
            wrong += wrong_growth(f"{crawl.__name__}, {mode}", 100, few, many, [], NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_group_of_many_winners_is_right_and_costs_a_fetch_the_same_in_a_crawl_four_times_as_long(work):
    """Pages that resemble one page and hardly each other: every tenth wins, and an index leaves a few of these. A chain
    of pages: every other one wins, and from 1,024 winners on another index leaves a few."""
    for kind, fetches, least, most in ("near-percent", 3000, 300, 20), ("chainlike", 3000, 4000, 300):
        few, many = (counts(work, kind, pages, "--family", str(pages), seeds="1") for pages in (fetches, 4 * fetches))
        check(0 < many["winners"] <= most, kind, many["winners"], "winners held against a fetch")
        wrong = list(wrong_growth(kind, fetches, few, many, [], NOTHING))
        check(not wrong, *(f"\n  {line}" for line in wrong))
        winners = work.json_lines("summary")[0]["winners"]
        check(winners > least, winners, "winners")
        work.run("run", "-q", "--verify", "-o", "out", "crawl")


def large_pages_of_a_chain_are_held_against_no_more_winners_in_a_crawl_four_times_as_long(work):
    """Bit patterns of 2,000 shingles rule out few winners, so that the index of a chain is worth more postings."""
    few, many = (counts(work, "growing", pages, seeds="1", settings=["barrier.pages=1000"],
                        counters={"winners": COUNTERS["winners"]}) for pages in (8000, 32000))
    wrong = list(wrong_growth("growing", 8000, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def pages_that_resemble_a_part_of_many_cost_the_same_in_a_crawl_four_times_as_long(work):
    """Smaller crawls, as those above, have a part of the stars that a page touches."""
    counters = {"comparisons": COUNTERS["comparisons"], "searches": COUNTERS["searches"], "probes": ["probes"]}
    for kind, fetches, comparisons, probes in (("two-parts", 3000, 60, 1.1), ("growing", 2000, 60, 1.1),
                                               ("changing", 3000, 110, 3.4)):
        few, many = (counts(work, kind, pages, seeds="1", settings=["barrier.pages=1000"], counters=counters)
                     for pages in (fetches, 4 * fetches))
        check(many["comparisons"] <= comparisons, kind, many["comparisons"], "comparisons a fetch")
        check(many.pop("probes") <= probes, kind, "more probes than", probes, "a fetch")
        few.pop("probes")
        wrong = list(wrong_growth(kind, fetches, few, many, [], NOTHING))
        check(not wrong, *(f"\n  {line}" for line in wrong))


def a_probe_reads_as_few_postings_in_a_crawl_four_times_as_long(work):
    fetches, wrong = 5000, []
    for kind in "near-words", "near-percent", "chainlike", "zipf":  # "template": tests/unit/stars/test_growth.c
        few, many = (counts(work, kind, pages, seeds="1", settings=["barrier.pages=1000"],
                            counters={"postings": ["postings"]}) for pages in (fetches, 4 * fetches))
        wrong += wrong_growth(kind, fetches, few, many, [], 1)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def pages_that_leave_oldest_first_cost_as_many_comparisons_in_a_crawl_four_times_as_long(work):
    """More than a third have the content that all others resemble, and so each leaver may be the page that stands for
    that content."""
    def comparisons(pages):
        make(work, "near-percent", pages, "--words", "100")
        crawl = work.json_lines("crawl")
        after = crawl[-1]["fetch_time_ms"] + 1
        gone = ({"url": page["url"], "http_status": 404, "fetch_time_ms": after + i} for i, page in enumerate(crawl))
        work.write("crawl", "".join(json.dumps(line) + "\n" for line in [*crawl, *gone][:pages * 7 // 4]))
        work.run("run", "-q", "-o", "out", "--summary", "summary", "crawl")
        summary = work.json_lines("summary")[0]
        return {"comparisons": sum(summary[field] for field in COUNTERS["comparisons"]) / pages}
    few, many = comparisons(5000), comparisons(20_000)
    check(many["comparisons"] <= 200, many["comparisons"], "comparisons a page")
    wrong = list(wrong_growth("near-percent", 5000, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def text(*runs):
    """The words of each run: a name, the first number, the number of words."""
    return " ".join(f"{name}{at}" for name, first, words in runs for at in range(first, first + words))


def written(work, texts, popularity=lambda page: 0, settings=()):
    """The summary of a crawl of one fetch a second: of each, the number of the page and its text, or nothing for a page
    that is gone."""
    work.write("crawl", "".join(
        json.dumps({"url": f"http://h.example/{page}", "fetch_time_ms": 1000 * at, "popularity": popularity(page),
                    **({"content": content} if content else {"http_status": 404})}) + "\n"
        for at, (page, content) in enumerate(texts, 1)))
    set_options = [word for setting in settings for word in ("--set", setting)]
    work.run("run", "-q", "-o", "out", "--summary", "summary", *set_options, "crawl")
    return work.json_lines("summary")[0]


def a_page_that_resembles_all_and_comes_late_costs_a_fetch_the_same_with_four_times_as_many_pages(work):
    """All pages are one text with two words replaced, and hardly resemble one another. Then comes that text, and then a
    part of the pages gets other words, in the order in which they came. So pages leave that the text resembles."""
    def costs(pages):
        rng, fresh = random.Random(pages), iter(range(10**6))

        def edited():
            words = [f"w{at}" for at in range(100)]
            for _ in range(2):
                words[rng.randrange(100)] = f"new{next(fresh)}"
            return " ".join(words)

        first = [(page, edited()) for page in range(pages)]
        again = [(page, edited()) for page in range(pages) if rng.random() < 0.5]
        summary = written(work, [*first, (pages, text(("w", 0, 100))), *again],
                          popularity=lambda page: page * 7919 % 100_003)
        check_equal(summary["groups"], 1, "groups")
        return {name: summary[name] / pages for name in ("edges_sent", "candidates", "matches")}
    for pages in 1500, 6000:
        found = costs(pages)
        check(max(found.values()) <= 60, "with", pages, "pages:", found)


def a_page_that_leaves_a_long_chain_is_looked_around_only_where_it_was(work):
    """Each page resembles the two before it. Half of them leave, from the first quarter on."""
    def searched(pages):
        chain = [(page, text(("w", 5 * page, 100))) for page in range(pages)]
        left = [(page, "") for page in range(pages // 4, 3 * pages // 4)]
        return {"rows": written(work, chain + left)["searched"] / pages}
    few, many = searched(2000), searched(8000)
    check(0 < many["rows"] < 50, many["rows"], "rows searched a page")
    wrong = list(wrong_growth("a long chain", 2000, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def half_of_a_long_chain_moves_at_few_comparisons_a_page(work):
    """Each page resembles the next one. At last, the page in the middle leaves."""
    pages = 32000
    chain = [(page, text(("w", 10 * page, 100))) for page in range(pages)]
    before, after = (written(work, crawl)["compared"] for crawl in (chain, [*chain, (pages // 2, "")]))
    check(0 < after - before < 1.5 * pages, (after - before) / pages, "comparisons a page")


def near_copies_fetched_again_newest_first_cost_as_many_probes_in_a_crawl_four_times_as_long(work):
    """All are equally near to the page that all others are kids of, which leaves late."""
    def probes(pages):
        first, again = ([(page, text(("w", 0, 99), (name, page, 1))) for page in range(pages)] for name in "xy")
        summary = written(work, first + again[::-1])
        return {"probes": summary["probes"] / 2 / pages, "edges": summary["edges_sent"] / 2 / pages}
    few, many = probes(1000), probes(4000)
    check(many["probes"] <= 3, many["probes"], "probes a fetch")
    wrong = list(wrong_growth("newest first", 1000, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_winner_whose_url_is_spelled_differently_with_each_fetch_is_compared_with_no_page(work):
    """The cost of these fetches, beyond that of the first fetch of each page."""
    def near_copies(pages, again, settings):
        crawl = [(str(page), text(("w", 0, 99), ("x", page, 1))) for page in range(pages)]
        crawl += [(f"0#{at}", crawl[0][1]) for at in range(again)]
        return written(work, crawl, popularity=lambda page: int(page.split("#")[0] == "0"), settings=settings)

    for settings in ([], ["mode=fast"], ["winner.margin=1"], ["winner.relation=a.host = b.host"],
                     ["winner.relation=a.timestamp <= b.timestamp"]):
        for pages in 100, 400:
            more, first = (near_copies(pages, again, settings) for again in (pages, 0))
            cost = {counter: sum(more[field] - first[field] for field in fields) / pages
                    for counter, fields in COUNTERS.items()}
            check(cost["comparisons"] == 0 and cost["winners"] == 0, settings, pages, "pages:", cost)
            check(cost["messages"] <= 2 and cost["events"] <= 1, settings, pages, "pages:", cost)


def with_a_margin_a_winner_that_changes_costs_few_comparisons_however_many_pages_won_before(work):
    """The pages resemble the winner and hardly one another. Those that came first were told that they win."""
    def edited(page, words):
        rng, found = random.Random(page), [f"word{i}" for i in range(200)]
        for word in range(words):
            found[rng.randrange(200)] = f"new{page}x{word}"
        return " ".join(found)

    pages = 2000
    crawl = [(page, edited(page, 3)) for page in range(pages)] + [(pages, edited(pages + at, 1)) for at in range(pages)]
    summary = written(work, crawl, popularity=lambda page: 9 if page == pages else 1, settings=["winner.margin=2"])
    check(0 < summary["compared"] <= 40 * pages, summary["compared"] / 2 / pages, "comparisons a fetch")


def in_mode_fast_a_winner_that_leaves_costs_as_few_comparisons_in_a_group_four_times_as_large(work):
    """The winner of all others leaves, then the next one, until nobody is left."""
    def comparisons(pages):
        best_first = [(page, text(("w", 0, 99), ("x", page, 1))) for page in range(pages)]
        summary = written(work, best_first + [(page, "") for page in range(pages)], popularity=lambda page: pages - page,
                          settings=["mode=fast"])
        return {"comparisons": sum(summary[field] for field in COUNTERS["comparisons"]) / pages}
    few, many = comparisons(500), comparisons(2000)
    check(many["comparisons"] <= 20, many["comparisons"], "comparisons a page")
    wrong = list(wrong_growth("winners leave", 500, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_fetch_of_a_large_group_reads_few_rows_however_small_the_cache(work):
    """One group, larger than the cache: only the rows that the fetch needs are read."""
    fetches, wrong = 3000, []
    for kind in "same", "near-words", "flap-loser", "outrank-same":
        few, many = (counts(work, kind, pages, seeds="1", settings=["cache.bytes=1MiB"],
                            counters={"rows read": ["rows_read"]}) for pages in (fetches, 4 * fetches))
        check(many["rows read"] <= 4, kind, many["rows read"], "rows read a fetch")
        wrong += wrong_growth(kind, fetches, few, many, [], 1)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_page_that_alone_connects_two_large_groups_costs_as_little_in_groups_of_four_times_as_many_pages(work):
    """Each time that it leaves, the pieces could part, and each time that it returns, join."""
    words = [f"word{i}" for i in range(400)]
    texts = {"left": words[:200], "right": words[30:230], "both": words[15:215], "neither": words[200:]}

    def crawl(pages, flaps, last, mode="exact"):
        names = ["left", "right"] * pages + ["both", "neither"] * (flaps // 2) + [last]
        work.write("crawl", "".join(json.dumps({
            "url": f"http://{name}.example/{at}" if at < 2 * pages else "http://bridge.example/",
            "content": " ".join([*texts[name], f"page{min(at, 2 * pages)}"]), "fetch_time_ms": at + 1}) + "\n"
            for at, name in enumerate(names)))
        shutil.rmtree(work.path("state"), ignore_errors=True)
        work.run("run", "-q", "--verify", "--state", "state", "-o", "out", "--summary", "summary", "--set",
                 "barrier.pages=20", "--set", f"mode={mode}", "crawl")
        return work.json_lines("summary")[0]

    def cost(pages, mode):
        flaps = pages // 2  # a search of the pieces costs as much as the smaller one has, once for as many fetches
        with_flaps, without = crawl(pages, flaps, "both", mode), crawl(pages, 0, "both", mode)
        check_equal(with_flaps["duplicate_groups"], 1, "groups")
        return {counter: sum(with_flaps[field] - without[field] for field in fields) / flaps
                for counter, fields in {**COUNTERS, "hubs searched": ["searched"]}.items()}

    for mode in "exact", "fast":
        wrong = list(wrong_growth(f"bridge, {mode}", 200, cost(200, mode), cost(800, mode), [], NOTHING))
        check(not wrong, *(f"\n  {line}" for line in wrong))
    check_equal(crawl(200, 100, "neither")["duplicate_groups"], 2, "groups when it has left")


def the_centre_of_a_group_costs_as_little_in_a_group_of_four_times_as_many_pages(work):
    """Its other pages resemble the centre and hardly one another. Each time that the centre leaves, all could part."""
    words = [f"word{i}" for i in range(400)]

    def leaf(page):
        """A tenth of the words are the page's own, in four runs."""
        found, random_number = list(words), random.Random(page)
        for run in range(4):
            at = random_number.randrange(393)
            found[at:at + 6] = [f"own{page}x{run}x{i}" for i in range(6)]
        return " ".join(found)

    def cost(leaves):
        centre, nothing = " ".join([*words, "centre"]), text(("nothing", 0, 50))
        leaf_texts = [(page, leaf(page)) for page in range(leaves)]
        another_winner = [(leaves, " ".join([*leaf(0).split()[38:], "z1", "z2", "z3", "z4"]))]
        flaps = [(leaves + 1, nothing if at % 2 else centre) for at in range(leaves)]
        crawls = ([*leaf_texts, *another_winner, (leaves + 1, centre), *more] for more in (flaps, []))
        with_flaps, without = (written(work, crawl) for crawl in crawls)
        return {name: (with_flaps[field] - without[field]) / len(flaps)
                for name, field in (("probes", "hub_probes"), ("visited", "searched"))}
    few, many = cost(200), cost(800)
    check(0 < few["probes"] and 0 < few["visited"], few)
    wrong = list(wrong_growth("a centre", 200, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_page_that_changes_while_its_group_is_apart_visits_as_few_others_in_one_of_four_times_as_many(work):
    """Only the bridge resembles both halves of a group. When it has left, as many pages pay until one half leaves."""
    def visited(half):
        texts = [text(("word", first, 200)) for first in (0, 36, 18)]
        pages = [(page, f"{texts[page % 2]} page{page}") for page in range(2 * half)]
        bridge, gone = (2 * half, f"{texts[2]} bridge"), (2 * half, "")
        changes = [(page, f"{texts[0]} changed{page}") for page in range(0, half // 2, 2)]
        crawls = ([*pages, bridge, gone, *more] for more in (changes, []))
        with_changes, without = (written(work, crawl)["searched"] for crawl in crawls)
        return {"visited": (with_changes - without) / len(changes)}

    few, many = visited(100), visited(400)
    check(0 < few["visited"] and 0 < many["visited"], few, many)
    wrong = list(wrong_growth("apart", 100, few, many, [], NOTHING))
    check(not wrong, *(f"\n  {line}" for line in wrong))


def a_group_that_becomes_large_costs_as_few_comparisons_as_a_small_one(work):
    """A group of more than 64 members has an index of its own, whose first star chooses its pivot again."""
    for kind in "near-words", "near-url":
        for family in "60", "100", "200":
            found = counts(work, kind, 3000, "--family", family, seeds="1")["comparisons"]
            check(found <= 8, kind, "in groups of", family, "takes", found, "comparisons a fetch")


def the_largest_commit_holds_as_few_rows_in_a_crawl_four_times_as_long(work):
    """At the end, all members of a group may still have to be told who outranked their winner."""
    def largest_commit(kind, pages):
        make(work, kind, pages, "--words", "100")
        shutil.rmtree(work.path("state"), ignore_errors=True)
        work.run("run", "-q", "--state", "state", "-o", "out", "--summary", "summary", "--set", "barrier.pages=100",
                 "crawl")
        return work.json_lines("summary")[0]["largest_commit"]

    for kind in "outrank-same", "outrank-near", "same":
        few, many = (largest_commit(kind, pages) for pages in (1000, 4000))
        check(0 < many <= 1.2 * few, kind, few, "rows in the largest commit, then", many)


def in_memory_rows_are_written_only_where_that_frees_memory(work):
    """Pages for a report at the end; all rows once more records were read than there are pages, so that what fetches
    leave behind does not add up."""
    make(work, "unlike", 500, "--words", "100")
    work.run("run", "-q", "-o", "out", "--summary", "summary", "--groups", "groups", "--set", "barrier.pages=20", "crawl")
    check_equal(work.json_lines("summary")[0]["rows_put"], 0, "rows written before the reports")
    check_equal(work.json_lines("summary")[0]["unique"], 500, "unique pages")
    check_equal(len(work.json_lines("groups")), 500, "groups")
    work.run("run", "-q", "-o", "out", "--summary", "summary", "--set", "barrier.pages=20",
             "--set", "containment.threshold=0.9", "crawl")
    check_equal(work.json_lines("summary")[0]["rows_put"], 0, "rows written with containment")
    lines = ({"url": f"http://h.example/{at % 40}", "content": f"version {at} of the same few words",
              "fetch_time_ms": at + 1} for at in range(70_000))
    work.write("crawl", "".join(json.dumps(line) + "\n" for line in lines))
    work.run("run", "-q", "-o", "out", "--summary", "summary", "--verify", "crawl")
    summary = work.json_lines("summary")[0]
    check(0 < summary["rows_put"] < 1000, summary["rows_put"], "rows written, once for all")


if __name__ == "__main__":
    main(__name__)
