"""`samepage evaluate`: the report of a small crawl."""

import csv

import pathlib

from browser import Browser
from harness import check, check_equal, check_in, main


def report_of(work, *arguments, trace="crawl.jsonl", pages=600):
    if not work.exists(trace):
        work.crawl(trace, pages=pages)
    work.run("evaluate", "-q", "--report", "report", *arguments, trace)
    return work.read("report/index.html").decode()


def rows(work, name):
    with open(work.path(f"report/{name}.csv"), newline="") as f:
        return list(csv.DictReader(f))


def the_report_says_what_was_read_and_how_to_repeat_it(work):
    page = report_of(work, "--only", "traces", "--set", "similarity.threshold=0.85")
    check_in("samepage evaluate -q --report report --only traces --set similarity.threshold=0.85 "
             "crawl.jsonl", page)
    check_in("similarity.threshold=0.85\n", page)
    (row,) = rows(work, "traces")
    check_equal(row["trace"], "crawl.jsonl", "name")
    lines = work.json_lines("crawl.jsonl")
    check_equal(int(row["fetches"]), len(lines), "fetches")
    redirects = sum(300 <= line.get("http_status", 200) < 400 for line in lines)
    check_equal(int(row["redirects"]), redirects, "redirects")
    check(redirects > 0 and int(row["unchanged"]) > 0, "the crawl is too simple")
    last = {line["url"]: line.get("http_status", 200) for line in lines}
    check_equal(int(row["alive at the end"]), sum(s == 200 for s in last.values()), "alive")


def figure_7_grows_with_the_collection(work):
    page = report_of(work, "--figures", "7")
    check_in('<figure role="img" aria-label="Time per page as the collection grows">', page)
    check("The traces" not in page, "an experiment that was not asked for")
    sizes = [int(row["pages alive"]) for row in rows(work, "figure-7-times")]
    check(len(sizes) >= 2 and sizes == sorted(sizes), "sizes:", sizes)
    # The groups from scratch are those of the main job.
    work.run("run", "-q", "-o", "out", "--groups", "groups", "crawl.jsonl")
    alive = [sum(m["status"] in ("unique", "winner", "loser") for m in g["members"])
             for g in work.json_lines("groups")]
    check(sum(n > 0 for n in alive) <= int(rows(work, "figure-7-times")[-1]["groups"]), "groups")
    for name in "figure-7.svg", "figure-7.png", "figure-7-gain.csv":
        check(len(work.read(f"report/{name}")) > 100, name)


def the_report_opens_in_a_browser_and_asks_nobody(work):
    hostile = "<img src=x onerror=hacked=1>.jsonl"
    report_of(work, "--only", "traces,figure7", trace=hostile)
    browser = Browser(work.path("profile"))
    try:
        page = pathlib.Path(work.path("report/index.html")).as_uri()
        browser.open(page)
        check_equal(browser.requests(), [page], "requests")
        check_equal(browser.complaints(), [], "complaints")
        check_equal(browser.value("typeof hacked"), "undefined", "the name of a trace was run")
        check_in(hostile, browser.value("document.body.innerText"))
        check_equal(browser.value("document.querySelectorAll('figure svg').length"), 2, "plots")
        check_equal(browser.value("document.documentElement.scrollWidth <= innerWidth"), True,
                    "no scrolling to the side")
        colours = [browser.colours(scheme) for scheme in ("light", "dark")]
        check(colours[0] != colours[1], "light and dark look alike:", colours[0])
    finally:
        browser.close()


def wrong_use_of_evaluate_is_explained(work):
    work.crawl(pages=20)
    check_in("--report", work.run("evaluate", "crawl.jsonl", code=2).err)
    check_in("no trace", work.run("evaluate", "--report", "r", code=2).err)
    check_in('no experiment "figure99"',
             work.run("evaluate", "--report", "r", "--figures", "99", "crawl.jsonl", code=2).err)
    check_in("none.jsonl", work.run("evaluate", "--report", "r", "none.jsonl", code=1).err)
    check_in("not a directory",
             work.run("evaluate", "--report", "crawl.jsonl", "crawl.jsonl", code=1).err)
    check_in("traces", work.run("evaluate", "--list").out)


if __name__ == "__main__":
    main(__name__)
