"""Language as the first partition: pages of different detected languages never meet."""

import json

from harness import check, check_equal, check_in, latest, main

NUMBERS = " ".join(str(n * 7919) for n in range(500))  # of no detected language
ENGLISH = "The quick brown fox jumps over the lazy dog, and nobody in the whole town knows the reason why. "
FRENCH = "Le renard brun saute par-dessus le chien paresseux, et personne dans toute la ville ne sait pourquoi. "
PAGES = {"http://a.example/en": ENGLISH + NUMBERS, "http://b.example/en": ENGLISH + NUMBERS + " the end",
         "http://c.example/fr": FRENCH + NUMBERS, "http://d.example/fr": FRENCH + NUMBERS + " la fin",
         "http://e.example/": NUMBERS, "http://f.example/": NUMBERS + " 1"}


def write(work):
    work.write("crawl.jsonl", "".join(json.dumps({"url": url, "content": text}) + "\n"
                                      for url, text in PAGES.items()))


def groups_of(work, *settings):
    write(work)
    options = [word for setting in settings for word in ("--set", setting)]
    work.run("run", "-q", "--verify", "-o", "out", "--groups", "groups", *options, "crawl.jsonl")
    return sorted(sorted(m["url"][7] for m in g["members"]) for g in work.json_lines("groups"))


def languages_that_are_kept_apart_never_meet(work):
    check_equal(groups_of(work), [list("abcdef")], "together")
    for method in "shingles", "combined":
        check_equal(groups_of(work, "similarity.languages=apart", "similarity.method=" + method, "partition.cells=16"),
                    [["a", "b"], ["c", "d"], ["e", "f"]], "apart")
    process = work.run("run", "--set", "similarity.languages=apart", "--set", "similarity.method=lcs", "crawl.jsonl",
                       code=None)
    check(process.code != 0, "a method without shingles is taken")
    check_in("set similarity.method to shingles or combined", process.err)
    check_equal(work.run("similar", "--set", "similarity.languages=apart", "crawl.jsonl", "crawl.jsonl").code, 0, "equal")


def refused(work, *settings):
    options = [word for setting in settings for word in ("--set", setting)]
    process = work.run("run", "-q", *options, "crawl.jsonl", code=None)
    check(process.code != 0, "taken:", settings)
    return process.err


def languages_have_cells_of_their_own(work):
    write(work)
    for languages in "", "en", "en,fr":
        work.run("run", "-q", "--verify", "-o", "out", "--groups", "groups",
                 "--set", "similarity.languages=apart", "--set", "partition.cells=4",
                 "--set", "partition.languages=" + languages, "crawl.jsonl")
        check_equal(sorted(sorted(m["url"][7] for m in g["members"]) for g in work.json_lines("groups")),
                    [["a", "b"], ["c", "d"], ["e", "f"]], languages)
    apart = "similarity.languages=apart"
    check_in("needs similarity.languages=apart", refused(work, "partition.languages=en"))
    check_in("no list of codes of two letters", refused(work, apart, "partition.languages=english"))
    check_in("at most 4096 are allowed", refused(work, apart, "partition.languages=en", "partition.cells=2049"))
    work.run("run", "-q", "--state", "state", "-o", "o", "--set", apart, "--set", "partition.languages=en", "crawl.jsonl")
    process = work.run("run", "-q", "--state", "state", "-o", "o", "--set", apart, "crawl.jsonl", code=None)
    check(process.code != 0, "a state is continued without its languages")


def what_languages_would_save_and_lose_is_measured(work):
    write(work)
    work.run("evaluate", "--only", "language", "--report", "report", "crawl.jsonl")

    def rows(name):
        head, *lines = work.read(f"report/language-{name}.csv").decode().splitlines()
        return [dict(zip(head.split(","), line.split(","))) for line in lines]

    lost = work.read("report/language-lost.csv").decode().splitlines()[1].split(",")
    check_equal((lost[0], lost[1], lost[3]), ("15", "4", "8"), "pairs: all, of two languages, one not detected")
    for row in rows("met"):
        check_equal((float(row["contents met"]), float(row["of its language"])), (6, 2), row)


if __name__ == "__main__":
    main(__name__)
