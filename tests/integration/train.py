"""samepage train: maps from data, and their use by the other commands."""

import re

from harness import check, check_equal, check_in, groups, main, statuses

FEW = ["--set", "barrier.pages=500"]


def train(work, *options, crawl="crawl.jsonl", name="map"):
    return work.run("train", "-o", name, *options, crawl)


def imbalance(text):
    found = re.findall(r"^imbalance \(max/mean\): ([0-9.]+)$", text, re.M)
    check(len(found) == 1, "no line of the imbalance in", text)
    return float(found[0])


def a_trained_map_is_shown_with_its_loads(work):
    work.crawl(pages=3000, seed=1, words=60)
    said = train(work, "--cells", "12")
    shown = work.run("train", "--show", "map")
    check(abs(imbalance(said.err) - imbalance(shown.out)) < 1e-9, "two imbalances")
    check(1 <= imbalance(shown.out) < 1.2, "cells of unequal load")
    bars = re.findall(r"^cell +(\d+) +(\d+) +[0-9.]+ (#+)$", shown.out, re.M)
    check_equal([int(b[0]) for b in bars], list(range(12)), "cells")
    contents = sum(int(b[1]) for b in bars)
    check_in(f"{contents:,} distinct pages", shown.out)
    again = work.run("train", "--show", "map", "crawl.jsonl")
    check_equal(imbalance(again.out), imbalance(shown.out), "measured against its own sample")
    work.crawl("other.jsonl", pages=3000, seed=2, words=60)
    other = work.run("train", "--show", "map", "other.jsonl")
    check(imbalance(other.out) >= 1, "another crawl")
    check_in("share of transfers saved", other.out)


def train_says_whether_it_used_a_sample(work):
    work.crawl(pages=1000, seed=1, words=60)
    pages = int(re.search(r"([0-9,]+) pages", train(work, "--cells", "4").err)[1].replace(",", ""))
    for most, sampled in ((pages - 100, True), (2 * pages, False)):
        said = train(work, "--cells", "4", "--sample", str(most)).err
        check_equal("these pages are a sample of all; --sample N" in said, sampled, said)


def rho_is_estimated_from_the_sample(work):
    work.crawl(pages=1500, seed=3, words=60)
    said = train(work, "--cells", "8").err
    lines = re.findall(r"^ +(50|90|99) % +([0-9.]+|inf) +([0-9.]+|inf)$", said, re.M)
    check_equal([line[0] for line in lines], ["50", "90", "99"], said)
    for _, delta, rho in lines:
        delta = float(delta)
        expected = (1 + delta) / (1 - delta) if delta < 1 else float("inf")
        # Printed with three decimals.
        check(expected == float(rho) or abs(expected / float(rho) - 1) < 0.02, delta, rho)
    check(float(lines[0][1]) < float(lines[1][1]) <= float(lines[2][1]), lines)
    check("partition.rho" not in train(work, "--cells", "8", "--dims", "1").err, "one dimension")


def the_same_pages_in_any_order_make_the_same_map(work):
    work.crawl(pages=1500, seed=3, words=40)
    lines = work.read("crawl.jsonl").splitlines(keepends=True)
    seen, last = set(), []
    for line in reversed(lines):  # the last fetch of each page, in another order
        url = re.search(rb'"url":"([^"]*)"', line)[1]
        if url not in seen:
            seen.add(url)
            last.append(line)
    work.write("other.jsonl", b"".join(last))
    train(work, "--cells", "9")
    train(work, "--cells", "9", crawl="other.jsonl", name="again")
    check_equal(work.read("map"), work.read("again"), "the maps")


def a_map_that_replaces_one_has_the_next_version(work):
    work.crawl(pages=500, seed=4, words=40)
    for version in (1, 2, 3):
        train(work, "--cells", str(version))
        check_in(f"\nversion = {version}\n", work.read("map").decode())


def statuses_and_groups_do_not_depend_on_the_map(work):
    work.crawl(pages=3000, seed=5, words=40)
    work.run("run", "-q", "-o", "plain", "--groups", "plain.groups", "crawl.jsonl")
    for number, options in enumerate([["--cells", "20"], ["--cells", "30", "--machines", "4"],
                                      ["--cells", "27", "--slicing", "grid"],
                                      ["--cells", "8", "--dims", "1", "--dictionary", "hash"],
                                      ["--cells", "16", "--dims", "2", "--packing", "balanced",
                                       "--machines", "3", "--dictionary", "balanced"]]):
        train(work, "-q", "--words", "500", *options, name=f"map{number}")
        done = work.run("run", "-q", "-o", f"out{number}", "--groups", f"groups{number}", "--verify",
                        "--set", f"partition.map=map{number}", "crawl.jsonl")
        check_in("verify: no difference", done.err)
        check_equal(statuses(work.read(f"out{number}")), statuses(work.read("plain")), "statuses")
        check_equal(groups(work.read(f"groups{number}")), groups(work.read("plain.groups")),
                    "groups")


def pages_move_to_a_new_map_while_the_crawl_goes_on(work):
    work.crawl(pages=3000, seed=7, words=40)
    lines = work.read("crawl.jsonl").splitlines(keepends=True)
    work.write("first.jsonl", b"".join(lines[:1500]))
    work.write("rest.jsonl", b"".join(lines[1500:]))
    work.run("run", "-q", "-o", "plain", "crawl.jsonl")
    new = ["--set", "partition.map=new"]
    moving = [*new, "--set", "partition.previous_map=old"]
    train(work, "-q", "--cells", "9", crawl="first.jsonl", name="old")
    train(work, "-q", "--cells", "16", "--after", "old", crawl="rest.jsonl", name="new")
    work.run("run", "-q", "-o", "out", "--state", "state", "--set", "partition.map=old", *FEW, "first.jsonl")
    said = work.run("run", "-o", "out", "--state", "state", *new, "rest.jsonl", code=1)
    check_in("partition.previous_map", said.err)
    said = work.run("run", "-o", "out", "--state", "state", *moving, *FEW, "--verify", "rest.jsonl")
    check_in("verify: no difference", said.err)
    check_in("does not need partition.previous_map any more", said.err)
    check_equal(work.read("out"), work.read("plain"), "events")
    work.run("run", "-q", "-o", "out", "--state", "state", *new, "rest.jsonl")
    said = work.run("run", "-q", "-o", "out", "--state", "state", "--set", "partition.map=old", "rest.jsonl",
                    code=1)
    check_in("another partition map", said.err)


def an_untrained_map_can_be_left(work):
    work.crawl(pages=800, seed=8, words=40)
    lines = work.read("crawl.jsonl").splitlines(keepends=True)
    work.write("first.jsonl", b"".join(lines[:500]))
    work.write("rest.jsonl", b"".join(lines[500:]))
    cells = ["--set", "partition.cells=5"]
    work.run("run", "-q", "-o", "plain", "crawl.jsonl")
    train(work, "-q", "--cells", "7", "--after", "untrained")
    work.run("run", "-q", "-o", "out", "--state", "state", *cells, "first.jsonl")
    work.run("run", "-q", "-o", "out", "--state", "state", *cells, "--set", "partition.map=map",
             "--set", "partition.previous_map=untrained", "rest.jsonl")
    check_equal(work.read("out"), work.read("plain"), "events")


def maps_that_do_not_follow_one_another_are_refused(work):
    work.crawl(pages=300, seed=9, words=40)
    train(work, "-q", "--cells", "4", name="a")
    train(work, "-q", "--cells", "4", "--dictionary", "hash", name="b")
    train(work, "-q", "--cells", "5", "--after", "a", name="c")
    train(work, "-q", "--cells", "6", "--after", "c", name="d")
    for old, new, why in (("a", "b", "different dictionaries"), ("a", "d", "does not follow"),
                          ("a", "a", "does not follow"), ("missing", "a", "missing")):
        said = work.run("run", "-o", "out", "--set", f"partition.map={new}", "--set",
                        f"partition.previous_map={old}", "crawl.jsonl", code=1)
        check_in(why, said.err)


def what_is_wrong_with_a_map_is_said(work):
    work.crawl(pages=300, seed=6, words=40)
    train(work, "--cells", "4")
    for command in (["run", "-o", "out"], ["pairs"]):
        done = work.run(*command, "--set", "partition.map=nowhere", "crawl.jsonl", code=1)
        check_in("nowhere: the partition map cannot be read: No such file", done.err)
    text = work.read("map").decode()
    work.write("broken", text.replace("\ncell 2:", "\ncell 3:"))
    done = work.run("run", "-o", "out", "--set", "partition.map=broken", "crawl.jsonl", code=1)
    line = text[:text.index("\ncell 2:")].count("\n") + 2
    check_in(f"broken:{line}: expected \"cell 2: L1", done.err)
    done = work.run("train", "--show", "broken", code=1)
    check_in(f"broken:{line}:", done.err)
    done = work.run("train", "--show", "crawl.jsonl", code=1)
    check_in("crawl.jsonl: is no partition map; `samepage train -o MAP INPUT...` makes one", done.err)
    done = work.run("train", "-o", "nowhere/map", "crawl.jsonl", code=1)
    check_in("nowhere/map: the partition map cannot be written", done.err)
    work.write("empty.jsonl", "")
    done = work.run("train", "-o", "map2", "empty.jsonl", code=1)
    check_in("is a page with content", done.err)
    check(not work.exists("map2"), "a map of nothing")


def wrong_usage_of_train_is_explained(work):
    for options in ([], ["-o", "map"], ["--show", "map", "-o", "map"], ["-o", "m", "--dims", "4", "x"],
                    ["-o", "m", "--cells", "0", "x"], ["-o", "m", "--cells", "2", "--machines", "3", "x"],
                    ["-o", "m", "--slicing", "diagonal", "x"], ["-o", "m", "--threshold", "0", "x"],
                    ["-o", "m", "--dictionary", "none", "x"], ["-o", "m", "--packing", "no", "x"]):
        done = work.run("train", *options, code=2)
        check_in("samepage train --help", done.err)


def a_wrong_value_of_train_names_the_option_and_its_values(work):
    for option, value, values in (("--dims", "4", "a number from 1 to 3"), ("--cells", "0", "a number from 1 to 4096"),
                                  ("--machines", "x", "a number from 1 to 4096"), ("--slicing", "x", "kd or grid"),
                                  ("--threshold", "2", "a number above 0 and at most 1"),
                                  ("--packing", "x", "neighbours or balanced"),
                                  ("--dictionary", "x", "spread, balanced or hash"),
                                  ("--words", "-1", "a number from 0 to 262144"),
                                  ("--sample", "0", "a number of pages, 1 or more")):
        check_in(f'{option} "{value}": give {values}\n', work.run("train", option, value, "-o", "map", "x", code=2).err)


if __name__ == "__main__":
    main(__name__)
