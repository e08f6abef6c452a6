"""Containment in skewed crawls, by counts: the cost of a fetch does not grow with the crawl, with known exceptions."""

import json
import random

from growth import wrong_growth
from harness import check, check_equal, main

THRESHOLD = ["--set", "containment.threshold=0.8", "--set", "signature.max_shingles=65536"]
FEW = 300
NOTHING = 0.5  # for each fetch
OWN = 18  # own words beside 100 of a manual: enough that two such pages are not near duplicates
COUNTERS = {name: "contain_" + name for name in ("searches", "postings", "moved", "candidates", "changes")}


def words(seed, count):
    rng = random.Random(seed)
    return [f"w{rng.randrange(10 ** 6)}" for _ in range(count)]


def fetch(url, text, at, status=200):
    return {"url": url, "fetch_time_ms": 1700000000000 + 1000 * at, "http_status": status, "content": " ".join(text)}


def menu(pages):
    """One site whose pages share a menu of 100 words and have 30 to 130 of their own."""
    return [fetch(f"http://a.example/{n}", words(0, 100) + words(n + 1, 30 + n * 7919 % 100), n) for n in range(pages)]


def menu_dies(pages):
    """The same; then every other page dies, the oldest first."""
    half = pages * 2 // 3
    return menu(half) + [fetch(f"http://a.example/{2 * n}", [], half + n, 404) for n in range(pages - half)]


def menu_everywhere(pages):
    """The same text on many hosts, so that it is boilerplate of none, beside 60 own words."""
    return [fetch(f"http://h{n}.example/", words(0, 100) + words(n + 1, 60), n) for n in range(pages)]


def families(pages):
    """One larger page for each ten that are part of it, on hosts of their own."""
    for n in range(pages):
        whole = words(-1 - n // 10, 300)
        part = whole if n % 10 == 9 else whole[n % 10 * 25:][:60] + words(n, 2)
        yield fetch(f"http://h{n}.example/", part, n)


def parts_first(pages):
    """Parts of one manual of 2,000 words, and then the manual."""
    manual = words(0, 2000)
    for n in range(pages - 1):
        yield fetch(f"http://h{n}.example/", manual[n * 7919 % 1900:][:100] + words(n + 1, OWN), n)
    yield fetch("http://manual.example/", manual, pages)


def parts_later(pages):
    """The manual first, and parts of it."""
    *parts, manual = parts_first(pages)
    yield {**manual, "fetch_time_ms": 1600000000000}
    yield from parts


def whole_flaps(pages):
    """A page that contains a tenth of all pages is fetched again and again with another end."""
    parts = pages // 10
    manual = words(0, 2000)
    for n in range(parts):
        yield fetch(f"http://h{n}.example/", manual[n * 7919 % 1900:][:100] + words(n + 1, OWN), n)
    for n in range(parts, pages):
        yield fetch("http://manual.example/", manual + words(-n, 20), n)


# A crawl, and which of its counters grow today. Remove a name when its cost is mended: a counter that is named
# here but does not grow is an error as well.
GROWS = {
    menu: "",
    menu_dies: "",
    menu_everywhere: "",
    families: "",
    parts_first: "postings",  # until the whole comes, parts find one another as candidates that are not larger
    parts_later: "",
    whole_flaps: "searches postings moved candidates changes",  # a search for each page in it
}
SYNTH = {"same": "", "template": "", "near-words": "", "near-percent": "", "chainlike": "", "zipf": "",
         "recover": "", "die-random": "", "flap-winner": ""}


def counts_of(work, fetches):
    work.run("run", "-q", *THRESHOLD, "-o", "out", "--summary", "summary", "--set", "barrier.pages=20", "crawl")
    summary = work.json_lines("summary")[0]
    check_equal(summary["records"], fetches, "records")
    return {name: summary.get(field, 0) / fetches for name, field in COUNTERS.items()}


def containment_costs_a_fetch_the_same_in_a_crawl_four_times_as_long_or_is_known_not_to(work):
    wrong = []
    for make, grows in GROWS.items():
        counts = []
        for pages in FEW, 4 * FEW:
            work.write("crawl", "".join(json.dumps(line) + "\n" for line in make(pages)))
            counts.append(counts_of(work, pages))
        wrong += wrong_growth(make.__name__, FEW, *counts, grows.split(), NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def containment_costs_a_fetch_the_same_in_every_made_up_skew(work):
    wrong = []
    for kind, grows in SYNTH.items():
        counts = []
        for pages in FEW, 4 * FEW:
            work.run("synth", "--pages", str(pages), "--words", "100", "--skew", kind, "-o", "crawl")
            counts.append(counts_of(work, pages))
        wrong += wrong_growth(kind, FEW, *counts, grows.split(), NOTHING)
    check(not wrong, *(f"\n  {line}" for line in wrong))


def in_the_same_crawls_nothing_is_missed_and_nothing_invented(work):
    for make in GROWS:
        work.write("crawl", "".join(json.dumps(line) + "\n" for line in make(FEW)))
        work.run("run", "-q", "--verify", *THRESHOLD, "-o", "out", "crawl")
        contained = sum("contained_in" in event for event in work.json_lines("out"))
        check(contained > 0 or make in (menu, menu_dies, menu_everywhere), make.__name__, "has no contained page")


if __name__ == "__main__":
    main(__name__)
