"""Golden files: exact numbers of deterministic runs, so that no change moves cost or quality unseen.

A number that moved on purpose is renewed, and the difference reviewed like code:

    SAMEPAGE_RENEW_GOLDEN=1 ctest --test-dir build/release -R golden_file
    git diff tests/integration/golden
"""

import csv
import json
import os
import random

from harness import Failure, Skip, main
from skew import KINDS

RENEW = "SAMEPAGE_RENEW_GOLDEN"


def hold_against(work, name, header, rows):
    """Compares a table with the golden file of that name, or writes the file on request."""
    table = [header, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
    path = os.path.join(work.source, "tests", "integration", "golden", name)
    if os.environ.get(RENEW):
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        return
    kept = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            kept = f.read().splitlines()
    if kept != lines:
        moved = [f"  - {line}" for line in kept if line not in lines]
        moved += [f"  + {line}" for line in lines if line not in kept]
        raise Failure("\n".join([
            f"tests/integration/golden/{name} has other numbers (- there, + now):", "    " + lines[0], *moved,
            f"If they moved on purpose: {RENEW}=1 ctest -R golden_file, and review the difference."]))


# ---- what a crawl costs

COUNTS = """records messages events candidates compared matches edges_sent members_sent merges splits relinks
    repairs rows_put rows_deleted groups""".split()


def counts_are_those_of_the_golden_file(work):
    """Every kind of skewed crawl: 400 fetches, a barrier every twenty."""
    rows = []
    for kind in [*KINDS, "mix"]:
        work.run("synth", "--pages", "400", "--skew", kind, "--words", "100", "-o", "crawl")
        work.run("run", "-q", "--state", f"state-{kind}", "-o", "out", "--summary", "summary", "--set", "barrier.pages=20",
                 "crawl")
        summary = work.json_lines("summary")[0]
        rows.append([kind, *(summary[count] for count in COUNTS)])
    hold_against(work, "counts.txt", ["kind", *COUNTS], rows)


# ---- what the methods find

SCORES = ["method", "text", "tau", "wrong", "precision", "recall", "ARI"]


def scores(work, where):
    work.run("evaluate", "-q", "--report", "report", "--labelled", where)
    with open(work.path("report/methods-1.csv"), encoding="utf-8") as f:
        return [[row["method"], row["text"], row["tau"], row["wrong"],
                 *(f"{float(row[score]):.4f}" for score in ("precision", "recall", "ARI"))]
                for row in csv.DictReader(f)]


def words(rng, count):
    return [f"w{rng.randrange(3000)}" for _ in range(count)]


def edited_articles():
    """Forty articles of 600 words: unchanged, with a few words replaced, with a passage rewritten, and another article
    that quotes most of the first; all with the same frame of links."""
    rng = random.Random(19)
    links = "".join(f"<a href='/{i}'>{' '.join(words(rng, 4))}</a> " for i in range(30))
    frame = f"<html><body><nav>{links}</nav><article>%s</article><footer>All rights reserved</footer></body></html>"
    for article in range(40):
        text = words(rng, 600)
        variants = {"same": text}
        for few in (3, 8, 14, 22):
            variants[f"words-{few}"] = list(text)
            for at in rng.sample(range(600), few):
                variants[f"words-{few}"][at] = words(rng, 1)[0]
        for passage in (20, 45, 80):
            variants[f"passage-{passage}"] = text[:200] + words(rng, passage) + text[200 + passage:]
        for quoted in (480, 550):
            variants[f"quotes-{quoted}"] = text[:quoted] + words(rng, 600 - quoted)
        for name, variant in variants.items():
            sentences = [" ".join(variant[at:at + 12]) + ". " for at in range(0, 600, 12)]
            yield {"id": f"{article}-{name}", "content_type": "text/html",
                   "cluster": f"{article}-{name}" if name.startswith("quotes") else str(article),
                   "content": frame % "".join(f"<p>{s}</p>" for s in sentences)}


def quality_is_that_of_the_golden_file(work):
    work.write("articles.jsonl", "".join(json.dumps(page) + "\n" for page in edited_articles()))
    hold_against(work, "quality.txt", SCORES, scores(work, "articles.jsonl"))


def quality_on_web_pages_is_that_of_the_golden_file(work):
    """104 web articles in seven variants each, from the folder beside the checkout."""
    pages = os.path.join(work.source, "..", "shared", "data", "labelled-web-variants")
    if not os.path.isdir(pages):
        raise Skip("the labelled web pages are not beside the checkout")
    hold_against(work, "quality-web.txt", SCORES, scores(work, pages))


if __name__ == "__main__":
    main(__name__)
