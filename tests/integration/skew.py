"""Skewed crawls: groups equal the truth."""

import collections
import os

from harness import check, check_equal, main

KINDS = """unlike same near-words near-url near-percent chainlike template zipf redirects-after redirects-before
    redirects-random redirects-loop die-newest die-oldest die-random recover flap-loser flap-winner flap-unchanged
    outrank-same outrank-near future two-parts growing changing""".split()


def make(work, kind, pages, *options):
    work.run("synth", "--pages", str(pages), "--skew", kind, "-o", "crawl", "--truth", "truth", *options)


def true_groups(truth):
    """The final groups: the newest version of each page counts."""
    last = {}
    for fetch in truth:
        if fetch["url"] not in last or last[fetch["url"]]["version_ms"] < fetch["version_ms"]:
            last[fetch["url"]] = fetch
    groups = collections.defaultdict(set)
    for url, fetch in last.items():
        groups[fetch["group"]].add(url)
    return last, set(map(frozenset, groups.values()))


def check_documents(last, group_of):
    """Checks what the truth says without skew as well: unedited pages of a document are together, pages of two
    documents never are, and a redirect is with its target."""
    together = collections.defaultdict(set)
    documents = collections.defaultdict(set)
    for url, fetch in last.items():
        if "document" in fetch:
            documents[group_of[url]].add(fetch["document"])
            if fetch["edit_permille"] == 0:
                together[fetch["document"]].add(group_of[url])
        if fetch.get("target") in group_of:
            check_equal(group_of[url], group_of[fetch["target"]], f"{url} and its target")
    check(all(len(found) == 1 for found in [*together.values(), *documents.values()]),
          "a document in two groups, or a group of two documents")


def check_truth(work, kind, pages, *options):
    make(work, kind, pages, *options)
    work.run("run", "-q", "--verify", "-o", "out", "--groups", "groups", "crawl")
    last, want = true_groups(work.json_lines("truth"))
    group_of = {member["url"]: group["group_id"] for group in work.json_lines("groups")
                for member in group["members"]}
    found = collections.defaultdict(set)
    for url, group in group_of.items():
        found[group].add(url)
    found = set(map(frozenset, found.values()))
    for name, odd in ("of the truth but not found", want - found), ("found but not of the truth", found - want):
        check(not odd, kind, options, len(odd), "groups are", name, "as", sorted(min(odd, key=len, default=()))[:3])
    check_documents(last, group_of)
    return want


def groups_are_those_of_the_truth_in_every_kind_of_skew(work):
    """One family, and several; 300 words, and the fewest."""
    for kind in KINDS:
        one = check_truth(work, kind, 240, "--words", "100")
        some = check_truth(work, kind, 360, "--family", "55", "--seed", "2")
        if kind not in ("unlike", "future", "recover"):
            check(max(map(len, some)) > 1 and max(map(len, one)) > 1, kind, "is nothing but unlike pages")


def groups_are_those_of_the_truth_in_the_mix(work):
    for seed in "1", "2":
        groups = check_truth(work, "mix", 4000, "--words", "100", "--seed", seed)
        check(max(map(len, groups)) >= 380, "the largest group has", max(map(len, groups)))


def every_kind_is_in_the_help_and_in_the_message_about_kinds(work):
    text = work.run("synth", "--help").out
    message = work.run("synth", "--skew", "nonsense", code=2).err
    check_equal(message.split("there are ")[1].split("\n")[0].split(", "), KINDS, "kinds")
    named = text.split("\nSKEW\n")[1].split("\n\n")[0].split(":\n")[1].split()
    check_equal(named, KINDS, "kinds in the help")
    with open(os.path.join(work.source, "docs", "OPERATIONS.md"), encoding="utf-8") as document:
        rows = [line.split(" | ")[0] for line in document if line.startswith("| `")]
    for kind in KINDS:
        check(any(f"`{kind}`" in row for row in rows), kind, "is not described in OPERATIONS.md")


def options_that_do_not_go_together_are_refused(work):
    for arguments, words in ([["--skew", "same", "--near", "3"], "--near"], [["--family", "3"], "needs --skew"],
                             [["--zipf-largest", "3"], "needs --skew"], [["--skew", "--words", "99"], "at least 100"],
                             [["--skew", "same", "other"], "other"], [["--skew=same=101"], "same=101"],
                             [["--skew", "--from", "3"], "--from"]):
        check(words in work.run("synth", *arguments, code=2).err, arguments)
    for arguments in [], ["mix"], ["--seed", "1"]:
        check_equal(work.run("synth", "--pages", "50", "--skew", *arguments).out,
                    work.run("synth", "--pages", "50", "--skew=mix").out, arguments)


if __name__ == "__main__":
    main(__name__)
