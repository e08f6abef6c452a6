"""samepage pairs: the sets that pairs connect, and those of Huang, Wang and Li (lcs.sets)."""

import json
import random

from harness import check, check_equal, check_in, main

LCS = ["--set", "similarity.method=lcs"]
PAPER = [*LCS, "--set", "lcs.sets=paper"]


def sentences(first, count):
    return " ".join(f"Traveller number{i} carried basket{i} towards village{i}." for i in range(first, first + count))


def write(work, pages):
    work.write("pages.jsonl", "".join(json.dumps({"url": url, "content": text}) + "\n" for url, text in pages.items()))


def sets_of(work, *options):
    """Printed pairs, and the sets by the page that represents each."""
    lines = work.run("pairs", "-q", *options, "--sets", "sets", "pages.jsonl").out.splitlines()
    sets = {}
    for line in work.json_lines("sets"):
        sets.setdefault(line["set"][7], []).append(line["url"][7])
    pairs = [json.loads(line) for line in lines]
    return sorted((p["a"][7], p["b"][7], round(p["similarity"], 3)) for p in pairs), {k: sorted(v) for k, v in sets.items()}


def a_page_is_compared_with_later_pages_without_a_set(work):
    """c resembles a and b, which are unlike: pairs connect the three, the paper assigns c to a alone. e is longer than
    d, so d comes first although it is read later."""
    write(work, {"http://a": sentences(0, 40), "http://c": sentences(13, 41), "http://b": sentences(27, 40),
                 "http://e": sentences(100, 40), "http://d": sentences(100, 39), "http://f": sentences(200, 40)})
    pairs, sets = sets_of(work, *LCS)
    check_equal(pairs, [("a", "c", 0.5), ("c", "b", 0.5), ("e", "d", 0.975)], "pairs")
    check_equal(sets, {"a": ["a", "b", "c"], "e": ["d", "e"]}, "components")
    check_equal(work.run("pairs", "-q", *LCS, "--set", "lcs.sets=components", "pages.jsonl").out,
                work.run("pairs", "-q", *LCS, "pages.jsonl").out, "the default")
    pairs, sets = sets_of(work, *PAPER)
    check_equal(pairs, [("a", "c", 0.5), ("d", "e", 0.975)], "pairs of the paper")
    check_equal(sets, {"a": ["a", "c"], "d": ["d", "e"]}, "sets of the paper")
    check_in("6 pages, 2 pairs, 2 sets", work.run("pairs", *PAPER, "--sets", "sets", "pages.jsonl").err)


def the_threshold_is_that_of_the_method(work):
    write(work, {"http://a": sentences(0, 40), "http://b": sentences(4, 40)})
    for threshold, found in ("0.8", 1), ("0.9", 0):
        check_equal(len(sets_of(work, *PAPER, "--threshold", threshold)[0]), found, threshold)


def another_method_has_no_such_sets(work):
    write(work, {"http://a": sentences(0, 40)})
    for command in "pairs", "run":
        process = work.run(command, "--set", "lcs.sets=paper", "pages.jsonl", code=None)
        check(process.code != 0, "shingles are taken")
        check_in("set similarity.method to lcs", process.err)
    process = work.run("pairs", "-q", "--sets", "missing/sets", "pages.jsonl", code=None)
    check(process.code != 0, "the sets were written")
    check_in("missing/sets: cannot be written", process.err)


def pairs_connect_sets(work):
    """With any method, on chains of edited pages, compared with an independent search in Python."""
    rng = random.Random(7)
    texts = []
    for i in range(120):
        words = [f"w{rng.randint(0, 10**6)}" for _ in range(60)]
        if texts and rng.random() < 0.6:
            words = rng.choice(texts[-15:]).split()
            words[rng.randrange(len(words))] = f"edit{i}"
        texts.append(" ".join(words))
    write(work, {f"http://p{i}": text for i, text in enumerate(texts)})
    beside = {}
    lines = work.run("pairs", "-q", "--sets", "sets", "pages.jsonl").out
    check_equal(work.run("pairs", "-q", "pages.jsonl").out, lines, "sets change no pair")
    for pair in map(json.loads, lines.splitlines()):
        beside.setdefault(pair["a"], set()).add(pair["b"])
        beside.setdefault(pair["b"], set()).add(pair["a"])
    expected = {}
    for url in sorted(beside, key=lambda u: int(u.removeprefix("http://p").rstrip("/"))):
        stack = [] if url in expected else [url]
        while stack:
            page = stack.pop()
            expected[page] = url
            stack += [p for p in beside[page] if p not in expected]
    check(20 < len(expected) < 120 and len(set(expected.values())) > 3, "some sets", len(expected))
    check_equal({line["url"]: line["set"] for line in work.json_lines("sets")}, expected, "sets")
    alone = work.run("pairs", "--sets", "alone", "--no-pairs", "pages.jsonl")
    check_equal(alone.out, "", "no pairs")
    check_in(f"120 pages, {len(set(expected.values()))} sets", alone.err)
    check_equal(work.read("alone"), work.read("sets"), "the same sets")


def sets_of_skewed_crawls_need_no_pairs(work):
    """Without pairs they come from another index."""
    for kind in "two-parts", "growing", "changing", "chainlike", "near-percent", "template":
        work.run("synth", "--skew", kind, "--pages", "500", "--words", "100", "-o", "pages.jsonl")
        for threshold in "0.8", "0.6":
            work.run("pairs", "-q", "-t", threshold, "--sets", "sets", "pages.jsonl")
            work.run("pairs", "-q", "-t", threshold, "--sets", "alone", "--no-pairs", "pages.jsonl")
            check_equal(work.read("alone"), work.read("sets"), kind)


def sets_of_every_method_need_no_pairs(work):
    work.run("synth", "--pages", "400", "--near", "40", "-o", "pages.jsonl")
    for method in "shingles", "simhash", "cosine", "sentences", "lcs", "combined":
        options = "-q", "--set", f"similarity.method={method}", "pages.jsonl"
        check(work.run("pairs", "--sets", "sets", *options).out.count("\n") > 50, method)
        work.run("pairs", "--sets", "alone", "--no-pairs", *options)
        check_equal(work.read("alone"), work.read("sets"), method)
    work.run("pairs", "-q", *PAPER, "--sets", "sets", "pages.jsonl")
    check_equal(work.run("pairs", "-q", *PAPER, "--sets", "alone", "--no-pairs", "pages.jsonl").out, "", "the paper's")
    check_equal(work.read("alone"), work.read("sets"), "the paper's")
    check_in("--sets", work.run("pairs", "--no-pairs", "pages.jsonl", code=2).err)


if __name__ == "__main__":
    main(__name__)
