"""The page of samepage serve in headless Chromium: it loads, searches, compares; nothing is asked of
any other host; what a crawl holds is shown, never run."""

import json

from browser import ENTER, SPACE, Browser
from harness import check, check_equal, check_in, main
from serve import serving

HOSTILE = "http://evil.example/'\"><img/src=x/onerror=document.body.dataset.hacked=1>"


def page(url, text, time_ms):
    return json.dumps({"url": url, "fetch_time_ms": time_ms, "content_type": "text/html",
                       "content": f"<html><body><main><p>{text}</p></main></body></html>"}) + "\n"


def crawled(work, state="state"):
    """Two near duplicates, one of them hostile, an exact copy, and pages that resemble nothing."""
    words = [f"word{i}" for i in range(200)]
    changed = words[:120] + ["entirely", "different", "&lt;script&gt;document.body.dataset.hacked=2",
                             "&lt;/script&gt;"] + words[124:]
    lines = [page("http://a.example/one", " ".join(words), 1700000000000),
             page(HOSTILE, " ".join(changed), 1700000001000),
             page("http://a.example/copy-of-one", " ".join(words), 1700000002000)]
    for n in range(30):
        lines.append(page(f"http://b.example/{n}",
                          " ".join(f"page{n}text{i}" for i in range(80)), 1700000003000 + n))
    work.write("pages.jsonl", "".join(lines))
    work.run("run", "-q", "--state", state, "-o", "status.jsonl", "--set", "partition.cells=4",
             "pages.jsonl")


def look_up(browser, url):
    browser.value("document.getElementById('url').value = ''")
    browser.type("#url", url, ENTER)
    browser.wait(f"document.body.dataset.looked === {json.dumps(url)}", "the group")


def the_page_searches_and_compares_in_a_browser(work):
    crawled(work)
    with serving(work, "state", "--pages", "pages.jsonl") as server, \
            Browser(work.path("profile")) as browser:
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin)
        browser.wait("document.body.dataset.overview", "the overview")
        check_in("33", browser.text("#numbers"), "numbers")
        for chart in "throughput", "timeline", "sizes", "cells":
            check(browser.count(f"#{chart} svg *") > 0, chart)
        check_equal(browser.count("#weakest tbody tr"), 1, "groups in the list of the weakest")
        look_up(browser, HOSTILE)
        members = browser.text("#members")
        for url in "http://a.example/one", "http://a.example/copy-of-one", HOSTILE:
            check_in(url, members, "members")
        check_equal(browser.count("main img"), 0, "images")
        # Two members, chosen with the keyboard.
        browser.type("#members tbody tr:nth-child(1) input", SPACE)
        browser.type("#members tbody tr:nth-child(3) input", SPACE)
        browser.type("#compare", ENTER)
        browser.wait("document.body.dataset.compared", "the comparison")
        check_in("Similarity", browser.text("#verdict"))
        marked = browser.value("[...document.querySelectorAll('.text mark')].map(m => m.textContent)")
        texts = browser.value("[...document.querySelectorAll('.text')].map(t => t.textContent)")
        check(len(texts) == 2 and all("word199" in t for t in texts), "texts", texts)
        check(any("entirely different" in m for m in marked), "marked", marked)
        check(not any("word10 " in m for m in marked), "shared words are marked", marked)
        check(any("<script>" in t for t in texts), "the hostile text is not shown as it is", texts)
        # A threshold that lets the copy stay and the edited page go.
        browser.value("document.getElementById('threshold').value = '0.99'")
        browser.value("document.querySelector('#try button').click()")
        check_equal(browser.wait("document.body.dataset.tried", "the trial"), "1", "changes")
        look_up(browser, "http://b.example/7")
        check_in("unique", browser.text("#facts"))
        check_equal(browser.value("document.body.dataset.hacked || ''"), "", "hostile script")
        check(any("/v1/overview" in url for url in browser.requests()), "requests:", browser.requests())
        browser.check_clean(origin)


def the_page_fits_a_phone_and_the_dark(work):
    crawled(work)
    with serving(work) as server, Browser(work.path("profile"), "500,800") as browser:
        browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2,
                     mobile=True)
        browser.open(f"http://127.0.0.1:{server.port}/#url=http%3A%2F%2Fa.example%2Fone")
        browser.wait("document.body.dataset.looked", "the group from the address")
        browser.wait("document.body.dataset.overview", "the overview")
        check_equal(browser.value("innerWidth"), 360, "width")
        check(browser.value("document.documentElement.scrollWidth") <= 360, "wider than a phone")
        grounds = []
        for scheme in "light", "dark":
            browser.prefer(scheme)
            grounds.append(browser.value("getComputedStyle(document.body).backgroundColor"))
        check(grounds[0] != grounds[1], "light and dark are alike:", grounds)
        # Without --pages there are no texts, and the page says so.
        browser.value("[...document.querySelectorAll('#members input')].slice(0, 2).forEach(b => b.click())")
        browser.value("document.getElementById('compare').click()")
        browser.wait("document.body.dataset.compared", "the comparison")
        check_in("--pages", browser.text("#verdict"))


if __name__ == "__main__":
    main(__name__)
