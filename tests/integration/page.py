"""The page of samepage serve in headless Chromium: it loads, searches, compares; nothing is asked of
any other host; what a crawl holds is shown, never run. By the WebDriver protocol, without a library."""

import contextlib
import http.client
import json
import os
import shutil
import time

from harness import Skip, check, check_equal, check_in, main
from serve import serving

HOSTILE = "http://evil.example/'\"><img/src=x/onerror=document.body.dataset.hacked=1>"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """A session of chromedriver."""

    def __init__(self, port, size="1200,900"):
        self.port = port
        self.session = ""
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--disable-background-networking", "--disable-component-update",
                            f"--window-size={size}"],
                   "perfLoggingPrefs": {"enableNetwork": True}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, self.session + path,
                               json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        check(not (isinstance(value, dict) and "error" in value), method, path, value)
        return value

    def go(self, url):
        self.call("POST", "/url", {"url": url})

    def do(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what):
        for _ in range(300):
            found = self.do("return " + script)
            if found:
                return found
            time.sleep(0.1)
        check(False, "never:", what, self.do("return document.body.innerText")[:1000])

    def type(self, selector, keys):
        """As a person would: at the keyboard."""
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{element[ELEMENT]}/value", {"text": keys})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def check_clean(self, port):
        """No errors, and every request went to the server."""
        bad = [e for e in self.log("browser") if e["level"] in ("SEVERE", "WARNING")]
        check_equal(bad, [], "console")
        asked = [m["params"]["request"]["url"] for m in
                 (json.loads(e["message"])["message"] for e in self.log("performance"))
                 if m["method"] == "Network.requestWillBeSent"]
        check(any("/v1/overview" in url for url in asked), "requests:", asked)
        for url in asked:
            check(url.startswith((f"http://127.0.0.1:{port}/", "data:")), "another host:", url)


@contextlib.contextmanager
def browsing(work, size="1200,900"):
    driver = shutil.which("chromedriver")
    if not driver or not (shutil.which("chromium") or shutil.which("google-chrome")):
        raise Skip("there is no Chromium with its driver (tools/setup tests)")
    port = 20000 + os.getpid() % 20000
    process = work.start(driver, f"--port={port}", program=driver)
    browser = None
    try:
        for _ in range(100):
            with contextlib.suppress(OSError):
                browser = Browser(port, size)
                break
            time.sleep(0.1)
        check(browser, "chromedriver does not answer")
        yield browser
    finally:
        if browser:
            with contextlib.suppress(Exception):
                browser.call("DELETE", "")
        process.terminate()
        process.wait()


def page(url, text, time_ms):
    return json.dumps({"url": url, "fetch_time_ms": time_ms, "content_type": "text/html",
                       "content": f"<html><body><main><p>{text}</p></main></body></html>"}) + "\n"


def crawled(work):
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
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "--set", "partition.cells=4",
             "pages.jsonl")


def look_up(browser, url):
    browser.do("document.getElementById('url').value = ''")
    browser.type("#url", url + "\ue007")  # Enter
    browser.wait(f"document.body.dataset.looked === {json.dumps(url)}", "the group")


def the_page_searches_and_compares_in_a_browser(work):
    crawled(work)
    with serving(work, "state", "--pages", "pages.jsonl") as server, browsing(work) as browser:
        browser.go(f"http://127.0.0.1:{server.port}/")
        browser.wait("document.body.dataset.overview", "the overview")
        numbers = browser.do("return document.getElementById('numbers').innerText")
        check_in("33", numbers, "numbers")
        for chart in "throughput", "timeline", "sizes", "cells":
            check(browser.do(f"return document.querySelectorAll('#{chart} svg *').length") > 0, chart)
        weakest = browser.do("return document.querySelectorAll('#weakest tbody tr').length")
        check_equal(weakest, 1, "groups in the list of the weakest")
        look_up(browser, HOSTILE)
        members = browser.do("return document.getElementById('members').innerText")
        for url in "http://a.example/one", "http://a.example/copy-of-one", HOSTILE:
            check_in(url, members, "members")
        check_equal(browser.do("return document.querySelectorAll('main img').length"), 0, "images")
        # Two members, chosen with the keyboard.
        browser.do("document.querySelectorAll('#members input')[0].focus()")
        browser.type("#members tbody tr:nth-child(1) input", " ")
        browser.type("#members tbody tr:nth-child(3) input", " ")
        browser.type("#compare", "\ue007")
        browser.wait("document.body.dataset.compared", "the comparison")
        check_in("Similarity", browser.do("return document.getElementById('verdict').innerText"))
        marked = browser.do("return [...document.querySelectorAll('.text mark')].map(m => m.textContent)")
        texts = browser.do("return [...document.querySelectorAll('.text')].map(t => t.textContent)")
        check(len(texts) == 2 and all("word199" in t for t in texts), "texts", texts)
        check(any("entirely different" in m for m in marked), "marked", marked)
        check(not any("word10 " in m for m in marked), "shared words are marked", marked)
        check(any("<script>" in t for t in texts), "the hostile text is not shown as it is", texts)
        # A threshold that lets the copy stay and the edited page go.
        browser.do("document.getElementById('threshold').value = '0.99'")
        browser.do("document.querySelector('#try button').click()")
        check_equal(browser.wait("document.body.dataset.tried", "the trial"), "1", "changes")
        look_up(browser, "http://b.example/7")
        check_in("unique", browser.do("return document.getElementById('facts').innerText"))
        check_equal(browser.do("return document.body.dataset.hacked || ''"), "", "hostile script")
        browser.check_clean(server.port)


def the_page_fits_a_phone_and_the_dark(work):
    crawled(work)
    with serving(work) as server, browsing(work, "500,800") as browser:
        media = {"cmd": "Emulation.setDeviceMetricsOverride",
                 "params": {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}}
        browser.call("POST", "/goog/cdp/execute", media)
        browser.go(f"http://127.0.0.1:{server.port}/#url=http%3A%2F%2Fa.example%2Fone")
        browser.wait("document.body.dataset.looked", "the group from the address")
        browser.wait("document.body.dataset.overview", "the overview")
        check_equal(browser.do("return innerWidth"), 360, "width")
        check(browser.do("return document.documentElement.scrollWidth") <= 360, "wider than a phone")
        grounds = []
        for scheme in "light", "dark":
            browser.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]}})
            grounds.append(browser.do("return getComputedStyle(document.body).backgroundColor"))
        check(grounds[0] != grounds[1], "light and dark are alike:", grounds)
        # Without --pages there are no texts, and the page says so.
        browser.do("[...document.querySelectorAll('#members input')].slice(0, 2).forEach(b => b.click())")
        browser.do("document.getElementById('compare').click()")
        browser.wait("document.body.dataset.compared", "the comparison")
        check_in("--pages", browser.do("return document.getElementById('verdict').innerText"))


if __name__ == "__main__":
    main(__name__)
