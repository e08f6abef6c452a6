"""The page of samepage serve in headless Chromium: it loads, searches and compares, sends no request to other hosts,
and shows the content of a crawl without running it."""

import csv
import json
import os
from fnmatch import fnmatch

from browser import ENTER, SPACE, Browser
from harness import check, check_equal, check_in, main, until
from serve import serving

HOSTILE = "http://evil.example/'\"><img/src=x/onerror=document.body.dataset.hacked=1>"


def page(url, text, time_ms):
    return json.dumps({"url": url, "fetch_time_ms": time_ms, "content_type": "text/html",
                       "content": f"<html><body><main><p>{text}</p></main></body></html>"}) + "\n"


def crawled(work, state="state"):
    """Two near duplicates, one of them hostile, an exact copy, and unrelated pages."""
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


def saved_file(work, pattern):
    """The file of this name in the folder `saved`, once it is complete. The browser makes it empty and writes to
    another one before."""
    def complete():
        files = [work.path("saved/" + f) for f in os.listdir(work.path("saved"))]
        found = [f for f in files if fnmatch(os.path.basename(f), pattern) and os.path.getsize(f)]
        return found and not any(f.endswith(".crdownload") for f in files) and found[0]
    return open(until(complete, "the file, " + pattern), encoding="utf-8", newline="")


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
        # Two members, chosen by keyboard.
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
        # With this threshold the exact copy stays in the group and the edited page leaves.
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
        browser.size(360, 740)
        browser.open(f"http://127.0.0.1:{server.port}/#url=http%3A%2F%2Fa.example%2Fone")
        browser.wait("document.body.dataset.looked", "the group from the address")
        browser.wait("document.body.dataset.overview", "the overview")
        check_equal(browser.value("innerWidth"), 360, "width")
        check(browser.value("document.documentElement.scrollWidth") <= 360, "wider than a phone")
        browser.value("document.querySelector('#try button').click()")
        browser.wait("document.body.dataset.tried", "the trial")
        check_equal(browser.count("table"), 10, "tables")
        clipped = browser.value("[...document.querySelectorAll('.scroll')]"
                                ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)")
        check_equal(clipped, [], "tables that are clipped")
        # Members are cards: a frame around each, its cells below each other and within it.
        cards = browser.value("""[...document.querySelectorAll('#members tbody tr')].map((tr) => {
          const frame = tr.getBoundingClientRect(), cells = [...tr.cells].map((c) => c.getBoundingClientRect()).filter((c) => c.height);
          return getComputedStyle(tr).borderLeftStyle === 'solid' && cells.length >= 4 && frame.right <= 360 &&
            cells.every((c, i) => c.right <= frame.right && c.left === cells[0].left && (i === 0 || c.top >= cells[i - 1].bottom - 1));
        })""")
        check_equal(cards, [True] * 3, "members that are cards")
        grounds = []
        for scheme in "light", "dark":
            browser.prefer(scheme)
            grounds.append(browser.value("getComputedStyle(document.body).backgroundColor"))
        check(grounds[0] != grounds[1], "light and dark are alike:", grounds)
        # Without --pages there are no texts, without --statuses no history; the page must say so.
        check_in("--statuses", browser.text("#no-history"))
        check(browser.value("document.getElementById('history-part').hidden"), "a history of nothing")
        browser.value("[...document.querySelectorAll('#members input')].slice(0, 2).forEach(b => b.click())")
        browser.value("document.getElementById('compare').click()")
        browser.wait("document.body.dataset.compared", "the comparison")
        check_in("--pages", browser.text("#verdict"))


def numbered(host, n, words=80):
    """A page that is similar to no other."""
    return page(f"http://{host}/{n}", " ".join(f"{host}{n}text{i}" for i in range(words)),
                1700000003000 + n)


def a_clicked_group_comes_into_view_and_a_refresh_keeps_the_place(work):
    lines = []
    for n in range(60):
        text = " ".join(f"group{n}word{i}" for i in range(100))
        lines += [page(f"http://a.example/{n}/{copy}", text, 1700000000000 + n) for copy in "xy"]
    work.write("pages.jsonl", "".join(lines))
    run = "run", "-q", "--state", "state", "-o", "status.jsonl"
    work.run(*run, "pages.jsonl")
    with serving(work) as server, Browser(work.path("profile")) as browser:
        browser.open(f"http://127.0.0.1:{server.port}/")
        browser.wait("document.body.dataset.overview", "the overview")
        check_equal(browser.count("#largest tbody tr"), 50, "groups")
        browser.type("#largest tbody tr:nth-child(40) a", ENTER)
        browser.wait("document.body.dataset.looked", "the group")
        top = browser.value("document.getElementById('found').getBoundingClientRect().top")
        check(-1 <= top < 400, "the group is not in view:", top)
        check_equal(browser.value("document.activeElement.id"), "found-title", "focus")
        # The state changes while a link in the list has the focus.
        browser.value("document.querySelector('#largest tbody tr:nth-child(30) a').focus()")
        place = "[document.activeElement.textContent, scrollX, scrollY]"
        before = browser.value(place)
        check(before[0].startswith("http://a.example/") and before[2] > 0, "no place:", before)
        work.write("more.jsonl", "".join(page(f"http://a.example/0/z{n}", text, 1700000001000 + n)
                                         for n in range(5) for text in
                                         [" ".join(f"group0word{i}" for i in range(100))]))
        work.run(*run, "pages.jsonl", "more.jsonl")
        # The number of pages comes with the groups; that of records is ahead of both.
        browser.wait("document.querySelector('#numbers .card b').innerText === '125'", "the new pages")
        check_equal(browser.text("#largest tbody tr:first-child td:nth-child(2)"), "7", "the largest")
        check_equal(browser.value(place), before, "the place after a refresh")
        browser.check_clean(f"http://127.0.0.1:{server.port}/")


def what_beat_a_page_is_shown_and_linked(work):
    crawled(work)
    work.write("more.jsonl", json.dumps({"url": "doc:7", "content": "Some words of no web page."}) + "\n")
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "--set", "partition.cells=4",
             "pages.jsonl", "more.jsonl")
    with serving(work, "state", "--pages", "pages.jsonl") as server, \
            Browser(work.path("profile")) as browser:
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin)
        loser = server.get("/v1/status", url=HOSTILE)
        check_equal(loser["status"], "loser", "the edited page")
        look_up(browser, HOSTILE)
        check_equal(browser.text("#facts a[href^='#url=']"), loser["winner_url"], "what beat it")
        real = "#facts a.outside"
        check_equal(browser.value(f"document.querySelector('{real}').rel"), "noreferrer noopener", "rel")
        check_equal(browser.value(f"document.querySelector('{real}').href"),
                    browser.value(f"new URL({json.dumps(loser['url'])}).href"), "the real page")
        check(browser.count("#members td:nth-child(4) a") == 2, "winners in the table")
        # The picture of the group: three members, two links of its tree, two losers.
        group = server.get("/v1/group", url=HOSTILE)["members"]
        browser.type("#graph-part summary", ENTER)
        check_equal(sorted(browser.value("[...document.querySelectorAll('#graph a')]"
                                         ".map(a => a.getAttribute('aria-label'))")),
                    sorted(f"{m['url']}, {m['status']}" for m in group), "members in the picture")
        titles = browser.value("[...document.querySelectorAll('#graph line title')].map(t => t.textContent)")
        wanted = [f"{m['url']} and {m['link']['url']}: {m['link']['similarity']:.4f}" for m in group if m["link"]]
        wanted += [f"{m['winner_url']} beat {m['url']}" for m in group if m["winner_url"]]
        check_equal(sorted(titles), sorted(wanted), "lines in the picture")
        check(len(wanted) == 4, "lines", wanted)
        check(browser.value("document.querySelector('#graph svg').getBoundingClientRect().height > 100"),
              "the picture is not seen")
        browser.type("#facts button", ENTER)
        browser.wait("document.body.dataset.compared", "the difference")
        check_in("entirely different", browser.text("#sides"))
        check_equal(browser.value("document.activeElement.id"), "compared-title", "focus")
        browser.type("#facts a[href^='#url=']", ENTER)
        browser.wait(f"document.body.dataset.looked === {json.dumps(loser['winner_url'])}", "the winner")
        check_in("winner", browser.text("#facts"))
        look_up(browser, "doc:7")
        check_in("doc:7 is unique", browser.text("#facts"))
        check_equal(browser.count(real), 0, "links to what a browser cannot open")
        check_equal(browser.value("document.body.dataset.hacked || ''"), "", "hostile script")
        browser.check_clean(origin)


def a_part_of_a_url_and_a_host_are_found(work):
    crawled(work)
    work.write("more.jsonl", "".join(numbered("many.example", n) for n in range(130)))
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "--set", "partition.cells=4",
             "pages.jsonl", "more.jsonl")
    os.mkdir(work.path("saved"))
    with serving(work) as server, Browser(work.path("profile")) as browser:
        browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=work.path("saved"))
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin)
        browser.wait("document.body.dataset.overview", "the overview")
        check_equal(browser.text("#hosts tbody tr:first-child td:first-child"), "a.example", "losers")
        browser.value("document.getElementById('url').value = ''")
        browser.type("#url", "EXAMPLE/2", ENTER)
        browser.wait("document.body.dataset.searched", "pages by a part of their URL")
        wanted = sorted([f"http://b.example/{n}" for n in [2, *range(20, 30)]] +
                        [f"http://many.example/{n}" for n in [2, *range(20, 30)]])
        pages = "[...document.querySelectorAll('#pages td:first-child a:first-child')].map(a => a.textContent)"
        check_equal(browser.value(pages), wanted, "pages")
        check_equal(browser.value("document.activeElement.id"), "pages-title", "focus")
        # A host, page by page.
        browser.value("document.getElementById('url').value = ''")
        browser.type("#url", "many", ENTER)
        browser.wait("document.body.dataset.searched.includes('many')", "the host")
        check_equal(browser.value(pages + ".length"), 100, "pages of the first part")
        browser.type("#found-hosts a", ENTER)
        browser.wait("document.body.dataset.searched.includes('host')", "the view of the host")
        check_equal(browser.text("#pages-title"), "Host many.example", "title")
        browser.type("#pages-more", ENTER)
        browser.wait(pages + ".length === 130", "the rest")
        check_equal(len(set(browser.value(pages))), 130, "different pages")
        check(browser.value("document.getElementById('pages-more').hidden"), "more than all")
        browser.value("document.getElementById('only').value = 'loser'")
        browser.value("document.getElementById('only').dispatchEvent(new Event('change'))")
        browser.wait("document.body.dataset.searched.includes('loser')", "losers of the host")
        check_in("No page", browser.text("#pages-said"))
        # All pages of the host as a file, not only those displayed.
        browser.value("location.hash = '#host=many.example'")
        browser.wait("""document.body.dataset.searched === '{"host":"many.example"}'""", "the host again, and the focus at rest")
        check_equal(browser.value(pages + ".length"), 100, "pages of the host")
        for name in "csv", "json":
            browser.type("#pages-" + name, ENTER)
            saved_file(work, "pages." + name).close()
        with saved_file(work, "pages.csv") as f:
            rows = list(csv.DictReader(f))
        check_equal(sorted(r["url"] for r in rows), sorted(f"http://many.example/{n}" for n in range(130)), "saved pages")
        check_equal({r["status"] for r in rows}, {"unique"}, "statuses in CSV")
        with saved_file(work, "pages.json") as f:
            saved = json.load(f)
        check_equal([p["url"] for p in saved["pages"]], [r["url"] for r in rows], "pages in JSON")
        check_equal(saved["host"], "many.example", "what was searched")
        # A text that is no page's URL is searched for as a part of one; selecting a result looks it up.
        look_up(browser, "http://b.example/1")
        check_in("unique", browser.text("#facts"))
        look_up(browser, "http://b.example")
        browser.wait("document.body.dataset.searched.includes('b.example')", "pages of that host")
        check_equal(browser.value(pages + ".length"), 30, "pages")
        browser.type("#pages tbody a", ENTER)
        browser.wait("document.body.dataset.looked === 'http://b.example/0'", "a page that was found")
        check_in("unique", browser.text("#facts"))
        browser.value("document.body.dataset.looked = ''; document.querySelector('#hosts a').focus()")
        browser.type("#hosts a", ENTER)
        browser.wait("document.getElementById('pages-title').textContent === 'Host a.example'", "a host")
        check_equal(browser.value("document.body.dataset.hacked || ''"), "", "hostile script")
        # An unknown URL is not found, after one request.
        check(all("404" in json.dumps(c) for c in browser.complaints()), browser.complaints())


def all_hosts_are_saved_though_they_change_places_meanwhile(work):
    work.write("pages.jsonl", "".join(numbered(f"h{n}.example", 0, 20) for n in range(1203)) +
               "".join(numbered("=1+1.example", n, 20) for n in range(2)))
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "pages.jsonl")
    os.mkdir(work.path("saved"))
    with serving(work) as server, Browser(work.path("profile")) as browser:
        browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=work.path("saved"))
        browser.open(f"http://127.0.0.1:{server.port}/")
        browser.wait("document.body.dataset.overview", "the overview")

        def saved(name):
            browser.type("#hosts-" + name, ENTER)
            return saved_file(work, "hosts." + name)

        wanted = sorted(["=1+1.example", *(f"h{n}.example" for n in range(1203))])
        with saved("json") as f:
            hosts = json.load(f)
        check_equal(sorted(h["host"] for h in hosts["hosts"]), wanted, "hosts in JSON")
        check_equal((hosts["whole"], hosts["cut"]), (True, False), "of all pages")
        check_equal({h["host"]: (h["pages"], h["unique"]) for h in hosts["hosts"]}["=1+1.example"], (2, 2), "counts")
        check_equal(browser.text("#say"), "1,204 hosts saved", "what is said")
        # Once, the second part has hosts of the first one.
        browser.value("window.real = fetch; window.turned = 0; window.fetch = (url, options) => real(url.includes('offset=1000')"
                      " && turned++ === 0 ? url.replace('offset=1000', 'offset=0') : url, options); 0")
        with saved("csv") as f:
            rows = list(csv.DictReader(f))
        check_equal(browser.value("turned"), 2, "readings")
        check_equal([r["host"] for r in rows], ["'" * h["host"].startswith("=") + h["host"] for h in hosts["hosts"]],
                    "hosts in CSV")
        check_equal(list(rows[0]), ["host", "pages", "unique", "winner", "loser", "gone"], "columns")
        check_equal(sum(int(r["pages"]) for r in rows), 1205, "pages")
        # Where they never stand still, it is said.
        os.remove(work.path("saved/hosts.csv"))
        browser.value("window.fetch = (url, options) => real(url.replace('offset=1000', 'offset=0'), options); 0")
        with saved("csv") as f:
            check_equal(len(list(csv.DictReader(f))), 1000, "hosts")
        check_in("some are missing", browser.text("#say"))


def the_history_of_a_page_and_new_statuses_are_shown(work):
    crawled(work)
    with serving(work, "state", "--statuses", "status.jsonl") as server, \
            Browser(work.path("profile")) as browser:
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin)
        browser.wait("document.body.dataset.live", "the stream")
        check_in("Nothing new", browser.text("#live-said"))
        look_up(browser, HOSTILE)
        browser.wait("!document.getElementById('history-part').hidden", "the history")
        check(browser.value("document.getElementById('no-history').hidden"), "a hint beside the history")
        browser.type("#history-part summary", ENTER)
        said = server.get("/v1/history", url=HOSTILE)["events"]
        check_equal(browser.count("#history tbody tr"), len(said), "statuses of the page")
        check_in("loser", browser.text("#history tbody tr:first-child"))
        # The next version is similar to nothing: the run publishes it, and an open page shows it.
        work.write("more.jsonl", page(HOSTILE, " ".join(f"new{i}" for i in range(90)), 1700000009000))
        work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "--set", "partition.cells=4",
                 "pages.jsonl", "more.jsonl")
        browser.wait("document.getElementById('live').textContent.includes('evil')", "the new status")
        check_in("unique", browser.text("#live"))
        browser.type("#pause", ENTER)
        check_equal(browser.text("#pause"), "Go on", "the button")
        look_up(browser, HOSTILE)
        browser.wait("document.getElementById('history-said').textContent.includes('2 versions')",
                     "two versions")
        check_equal(browser.value("document.body.dataset.hacked || ''"), "", "hostile script")
        browser.check_clean(origin)


def a_large_group_is_turned_by_the_page_and_saved(work):
    text = " ".join(f"word{i}" for i in range(100))
    work.write("pages.jsonl", "".join(page(f'http://a.example/{n}?a=",=1', text, 1700000000000 + n)
                                      for n in range(1250)) + numbered("b.example", 1))
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "pages.jsonl")
    os.mkdir(work.path("saved"))
    with serving(work) as server, Browser(work.path("profile")) as browser:
        browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=work.path("saved"))
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin + "#url=" + "http%3A%2F%2Fa.example%2F3%3Fa%3D%22%2C%3D1")
        browser.wait("document.body.dataset.looked", "the group")
        check_equal(browser.text("#range"), "1 to 100 of 1,250", "range")
        check(browser.value("document.getElementById('earlier').disabled"), "before the first")
        urls = "[...document.querySelectorAll('#members td:nth-child(2) a:first-child')].map(a => a.textContent)"
        first = browser.value(urls)
        # The picture has a limited number of members.
        check_equal(browser.count("#graph circle"), 60, "members in the picture")
        check_in("60 of 1,250 members", browser.value("document.getElementById('graph-said').textContent"))
        browser.type("#later", ENTER)
        browser.wait("document.getElementById('range').textContent.startsWith('101 to 200')", "the next")
        second = browser.value(urls)
        check(len(second) == 100 and not set(first) & set(second), "members on two pages")
        for name, button in (("csv", "#csv"), ("json", "#json")):
            browser.type(button, ENTER)
            saved_file(work, "*." + name).close()
        with saved_file(work, "*.json") as f:
            saved = json.load(f)
        with saved_file(work, "*.csv") as f:
            rows = list(csv.DictReader(f))
        check_equal(len(saved["members"]), 1250, "members in JSON")
        check_equal([r["url"] for r in rows], [m["url"] for m in saved["members"]], "members in CSV")
        check_equal(len(set(r["url"] for r in rows)), 1250, "different members")
        check_equal({r["status"] for r in rows}, {"winner", "loser"}, "statuses in CSV")
        # This state has one cell, so there is no load to compare.
        browser.wait("document.body.dataset.overview", "the overview")
        check(browser.value("document.getElementById('cells-card').hidden"), "load of one cell")
        check_in("logarithmic scale", browser.text("#sizes"))
        browser.check_clean(origin, "blob:")


if __name__ == "__main__":
    main(__name__)
