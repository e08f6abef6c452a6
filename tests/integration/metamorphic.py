"""Settings that must not change the result, and input that must."""

import collections
import itertools

from harness import check, check_equal, groups, latest, main, statuses

# Each list differs from the first only in settings that must not show.
VARIANTS = {
    "plain": [],
    "partitions": ["--set", "tier1.partitions=7"],
    "cells": ["--set", "partition.cells=7"],
    "both": ["--set", "tier1.partitions=7", "--set", "partition.cells=7"],
    "single_barriers": ["--set", "barrier.pages=1"],
    "barriers": ["--set", "barrier.pages=1000"],
    "one_thread": ["--set", "threads=1"],
    "threads": ["--set", "threads=4"],
    "small_caches": ["--set", "cache.bytes=1MiB", "--set", "barrier.pages=100"],
    "all": ["--set", "tier1.partitions=5", "--set", "partition.cells=3", "--set", "threads=3",
            "--set", "barrier.pages=11"],
}
# With these, ids, epochs and the order of events are equal as well.
SAME_BYTES = ["single_barriers", "barriers", "one_thread", "threads", "small_caches"]


def run_variant(work, name, tag, state, crawl):
    more = ["--state", f"{tag}.dir"] if state else []
    work.run("run", "-q", "-o", f"{tag}.out", "--groups", f"{tag}.groups", *more, *VARIANTS[name],
             crawl)


def check_variants(work, crawl):
    run_variant(work, "plain", "want", False, crawl)
    want_groups = groups(work.read("want.groups"))
    want_statuses = statuses(work.read("want.out"))
    check(sum(len(members) > 1 for members in want_groups) > 50, "hardly a group of two")
    for name, state in itertools.product(VARIANTS, [False, True]):
        tag = f"{name}-{'rocksdb' if state else 'memory'}"
        run_variant(work, name, tag, state, crawl)
        check_equal(want_groups, groups(work.read(f"{tag}.groups")), f"{tag}: groups")
        check_equal(want_statuses, statuses(work.read(f"{tag}.out")), f"{tag}: statuses")
        if name == "plain" or name in SAME_BYTES:
            check_equal(work.read("want.out"), work.read(f"{tag}.out"), f"{tag}: output")
            check_equal(work.read("want.groups"), work.read(f"{tag}.groups"), f"{tag}: ids")


def partitions_cells_barriers_threads_and_stores_do_not_change_the_result(work):
    check_variants(work, work.crawl(pages=1500))


def short_pages_of_many_versions_do_not_change_the_result_either(work):
    """A small edit of a short page is a large change, so groups split and merge more often."""
    check_variants(work, work.crawl(pages=1500, seed=5, words=40))


def the_listing_of_groups_agrees_with_the_last_status_events(work):
    work.crawl(pages=4000, seed=2)
    work.run("run", "-q", "-o", "out", "--groups", "groups", "crawl.jsonl")
    last = latest(work.read("out"))
    listed = 0
    for group in work.json_lines("groups"):
        winners = {m["url"] for m in group["members"] if m["status"] in ("winner", "unique")}
        for member in group["members"]:
            event = last.get(member["url"])
            check(event, "no event for", member)
            listed += 1
            for field in "status", "winner_url", "similarity":
                check(member[field] == event[field], field, member, event)
            named = last[member["winner_url"]] if member["status"] == "loser" else event
            if member["status"] != "gone":  # a page that is gone gets no event when its group changes
                check(named["group_id"] == group["group_id"], "group", member, event, named)
            if member["status"] == "loser":
                check(member["winner_url"] in winners, "its winner is none:", member)
                check(event["reason"] in ("content", "redirect", "exact"), event)
                # a redirect to a page without duplicates names that page with similarity 1
                check(event["reason"] == "redirect" or event["similarity"] >= 0.8, event)
            else:
                check(event["winner_url"] is None and event["similarity"] is None, event)
    check(listed == len(last), listed, "pages are listed,", len(last), "have a status")


def the_order_of_a_crawl_of_single_versions_does_not_change_the_groups(work):
    """Each page once: reading forwards and backwards gives the same groups, winners and losers."""
    seen = set()
    lines = []
    for event, line in zip(truth(work, 3000, 6), work.read("crawl.jsonl").splitlines(True)):
        if event["url"] not in seen:
            lines.append(line)
        seen.add(event["url"])
    work.write("forwards", b"".join(lines))
    work.write("backwards", b"".join(reversed(lines)))
    for name in "forwards", "backwards":
        work.run("run", "-q", "-o", f"{name}.out", "--groups", f"{name}.groups", name)
    check_equal(groups(work.read("forwards.groups")), groups(work.read("backwards.groups")),
                "groups")


def truth(work, pages, seed, **options):
    work.crawl(pages=pages, seed=seed, truth="truth.jsonl", **options)
    return work.json_lines("truth.jsonl")


def last_fetches(truth):
    """URL -> the page's state at the end; a later fetch wins."""
    return {t["url"]: t for t in truth}


def group_of_pages(listing):
    result = {}
    for group in listing:
        for member in group["members"]:
            check(member["url"] not in result, "listed in two groups:", member)
            result[member["url"]] = group["group_id"]
    return result


def check_truth(work, seed, *settings):
    last = last_fetches(truth(work, 5000, seed))
    work.run("run", "-q", "-o", "out", "--groups", "groups", *settings, "crawl.jsonl")
    group_of = group_of_pages(work.json_lines("groups"))
    check(set(group_of) == set(last), "other pages are listed than were crawled")
    contents = {url: t for url, t in last.items() if "document" in t}
    unedited = collections.defaultdict(set)
    documents = collections.defaultdict(set)
    for url, t in contents.items():
        documents[group_of[url]].add(t["document"])
        if t["edit_permille"] == 0:
            unedited[t["document"]].add(group_of[url])
    torn = {d: g for d, g in unedited.items() if len(g) > 1}
    mixed = {g: d for g, d in documents.items() if len(d) > 1}
    check(not torn, len(torn), "documents whose unedited pages are in several groups:",
          dict(list(torn.items())[:3]))
    check(not mixed, len(mixed), "groups with pages of several documents:",
          dict(list(mixed.items())[:3]))
    copies = collections.Counter(t["document"] for t in contents.values()
                                 if t["edit_permille"] == 0)
    check(sum(n > 1 for n in copies.values()) > 100, "hardly a document has two pages")
    events = latest(work.read("out"))
    for url, t in last.items():
        if t["kind"] == "gone":
            check(events[url]["status"] == "gone", url, "is gone, but", events[url])
        if t.get("target") in last:
            check(group_of[url] == group_of[t["target"]], url, "is not with", t["target"])
    pages_of = collections.Counter(group_of[u] for u in contents)
    return len(pages_of), sum(n > 1 for n in pages_of.values())


def pages_of_one_text_are_one_group_and_those_of_two_texts_never_are(work):
    for seed in 1, 2, 3:
        found, duplicates = check_truth(work, seed)
        check(duplicates > 100, found, "groups,", duplicates, "of two and more")


def the_truth_holds_with_labelled_shingles_and_several_cells(work):
    check_truth(work, 4, "--set", "signature.repeats=labelled", "--set", "partition.cells=5")


if __name__ == "__main__":
    main(__name__)
