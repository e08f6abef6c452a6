"""Accessibility of the pages of samepage serve and evaluate: axe-core on every view, in light and dark mode, on a wide
screen and on a phone; and operation by keyboard alone."""

import fcntl
import json
import os
import pathlib
import shutil
import subprocess

from browser import ENTER, SPACE, TAB, Browser
from harness import Failure, Skip, check, check_equal, check_in, main
from page import HOSTILE, crawled, page
from serve import serving

AXE = "axe-core@4.10.3"


def fetch_axe(home):
    if not shutil.which("npm"):
        raise Skip("there is no npm to fetch " + AXE)
    done = subprocess.run(["npm", "install", "--prefix", home, "--no-save", "--ignore-scripts",
                           "--no-audit", "--no-fund", AXE], cwd=home, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Skip(AXE + " cannot be had: " + done.stdout.decode("utf-8", "replace")[-500:])


def axe_source(program):
    """The script of axe-core, downloaded by npm once for each build."""
    home = os.path.join(os.path.dirname(program), "axe")
    script = os.path.join(home, "node_modules", "axe-core", "axe.min.js")
    os.makedirs(home, exist_ok=True)
    # Several tests begin at the same time, and two installations would disturb each other.
    with open(os.path.join(home, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(script):
            fetch_axe(home)
    with open(script, encoding="utf-8") as f:
        return f.read()


def violations(browser):
    """The violations of all axe-core rules on the page as displayed."""
    browser.value("window.checked = null; axe.run(document, {resultTypes: ['violations']})"
                  ".then(r => { window.checked = r.violations.map(v => [v.id, v.nodes.map(n => n.html)]); },"
                  " e => { window.checked = [['failed', String(e)]]; }); 0")
    browser.wait("window.checked !== null", "axe-core")
    return browser.value("window.checked")


def check_access(browser, what):
    # The phone first; the overview has time to resize.
    for width, height in (360, 740), (1200, 900):
        browser.size(width, height)
        for scheme in "light", "dark":
            browser.prefer(scheme)
            check_equal(violations(browser), [], f"{what}, {width} pixels, {scheme}")
            check(browser.value("document.documentElement.scrollWidth") <= width, what, "is wider than",
                  width)


def by(text, selector="button"):
    """Presses the button with this text."""
    return (f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".find(b => b.textContent === {json.dumps(text)}).click()")


def every_view_of_the_page_is_accessible(work):
    axe = axe_source(work.program)
    crawled(work)
    with serving(work, "state", "--pages", "pages.jsonl", "--statuses", "status.jsonl") as server, \
            Browser(work.path("profile")) as browser:
        origin = f"http://127.0.0.1:{server.port}/"
        browser.open(origin)
        browser.value(axe + "; 0")
        # First show that a violation is found.
        browser.value("document.body.insertAdjacentHTML('beforeend', '<input id=bad>')")
        check_in("label", [v[0] for v in violations(browser)], "an input without a label")
        browser.value("document.getElementById('bad').remove()")
        browser.wait("document.body.dataset.overview", "the overview")
        browser.wait("!document.getElementById('cells-card').hidden", "the load of cells")
        browser.value("document.getElementById('own').open = true")
        check_access(browser, "the overview")
        browser.value(f"location.hash = '#url=' + encodeURIComponent({json.dumps(HOSTILE)})")
        browser.wait("document.body.dataset.looked", "the group")
        browser.value("document.querySelectorAll('#members input')[0].click()")
        browser.value(by("Try it on this group"))
        browser.wait("document.body.dataset.tried", "the trial")
        browser.wait("!document.getElementById('history-part').hidden", "the history")
        browser.value("document.querySelectorAll('#found details').forEach(d => { d.open = true; })")
        check_access(browser, "a group")
        browser.value("document.querySelector('#facts button').click()")
        browser.wait("document.body.dataset.compared", "the difference")
        check_access(browser, "a difference")
        for view in "q=example", "host=b.example":
            browser.value(f"location.hash = '#{view}'")
            browser.wait(f"JSON.stringify(document.body.dataset.searched || '').includes({json.dumps(view.split('=')[0])})",
                         view)
            check_access(browser, view)
        browser.value("document.getElementById('unlock').hidden = false")
        browser.value("location.hash = '#url=nonsense'")
        browser.wait("document.body.dataset.looked === 'nonsense'", "a refusal")
        check_access(browser, "a refusal")


# Letters of a plot, drawn as shapes, that cross its border.
CUT = """[...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('use')].map((u) => u.getBoundingClientRect()).filter((r) => r.left < frame.left - 1 ||
    r.right > frame.right + 1 || r.top < frame.top - 1 || r.bottom > frame.bottom + 1).map(() => svg.parentElement.ariaLabel);
})"""


def the_report_of_evaluate_is_accessible(work):
    axe = axe_source(work.program)
    work.crawl(pages=800)
    work.run("evaluate", "-q", "--report", "report", "--only",
             "summary,traces,figure1,figure4,figure5,figure7,figure9,rho,daily", "crawl.jsonl")
    with Browser(work.path("profile")) as browser:
        browser.open(pathlib.Path(work.path("report/index.html")).as_uri())
        browser.value(axe + "; 0")
        browser.size(1200, 900)
        bottom = browser.value("document.querySelector('#s1 table').getBoundingClientRect().bottom")
        check_in("kept", browser.text("#s1 table"))
        check(0 < bottom <= 900, "what is kept and removed is below the first screen:", bottom)
        check_access(browser, "the report")
        check(browser.count("figure svg use") > 500, "letters in the plots")
        check_equal(browser.value(CUT), [], "plots with letters that are cut")


def tab_to(browser, condition, what, most=120):
    """Presses Tab until the condition is true of the focused element `e`."""
    for _ in range(most):
        if browser.value(f"(e => {condition})(document.activeElement)"):
            return
        browser.press(TAB)
    raise Failure(f"{what} is not reached; the focus is on " +
                         browser.value("document.activeElement.outerHTML"))


def the_page_is_used_without_a_pointer(work):
    crawled(work)
    with serving(work, "state", "--pages", "pages.jsonl") as server, \
            Browser(work.path("profile")) as browser:
        browser.open(f"http://127.0.0.1:{server.port}/")
        browser.wait("document.body.dataset.overview", "the overview")
        browser.press(TAB)
        check_equal(browser.value("document.activeElement.className"), "skip", "the first stop")
        shown = browser.value("document.activeElement.getBoundingClientRect().left >= 0")
        check(shown, "the link to the content is not seen")
        tab_to(browser, "e.id === 'url'", "the search")
        check(browser.value("getComputedStyle(document.activeElement).outlineStyle") != "none",
              "the focus is not seen")
        browser.press(*"a.example", ENTER)
        browser.wait("document.body.dataset.searched", "pages")
        tab_to(browser, "e.closest('#pages') && e.hash", "a page that was found")
        browser.press(ENTER)
        browser.wait("document.body.dataset.looked", "its group")
        for n in 1, 2:
            tab_to(browser, f"e.matches('#members tr:nth-child({n}) input')", f"member {n}")
            browser.press(SPACE)
        check_in("2 of 2", browser.text("#say"))
        browser.value("document.getElementById('found-title').focus()")
        tab_to(browser, "e.id === 'compare'", "the comparison")
        browser.press(ENTER)
        browser.wait("document.body.dataset.compared", "the comparison")
        tab_to(browser, "e.id === 'a-text'", "the first text")
        tab_to(browser, "e.matches('#largest a')", "the largest groups")
        tab_to(browser, "e.matches('#hosts a')", "the hosts")
        tab_to(browser, "e.tagName === 'SUMMARY'", "own texts")
        browser.press(ENTER)
        tab_to(browser, "e.id === 'own-a'", "an own text")
        browser.press(*"one two")
        tab_to(browser, "e.id === 'own-b'", "another")
        browser.press(*"one two")
        tab_to(browser, "e.matches('#texts button')", "its button")
        browser.press(ENTER)
        check_in("1 and 1 shingles, 1 shared", browser.text("#verdict"))


def press_on(browser, selector, what):
    """Presses the element that Tab reaches from the focusable element before it."""
    target = f"document.querySelector({json.dumps(selector)})"
    browser.value(f"(() => {{ const all = [...document.querySelectorAll('a, button, input, select, summary')]"
                  f".filter(e => e.checkVisibility() && !e.disabled); (all[all.indexOf({target}) - 1] || document.body).focus(); }})()")
    tab_to(browser, f"e === {target}", what, most=5)
    browser.press(ENTER)


def every_other_control_is_pressed_on_a_dark_phone(work):
    """The controls that page.py does not test, by keyboard alone: 360 pixels wide, dark, without violations by
    axe-core."""
    axe = axe_source(work.program)
    text = " ".join(f"word{i}" for i in range(100))
    lines = [page(f"http://a.example/{n}", text, 1700000000000 + n) for n in range(250)]
    for host in range(60):
        copies = " ".join(f"host{host}text{i}" for i in range(80))
        lines += [page(f"http://h{host}.example/{n}", copies, 1700000001000 + host) for n in range(2)]
    work.write("pages.jsonl", "".join(lines))
    work.write("token", "a-token-that-is-long-enough\n")
    run = "run", "-q", "--state", "state", "-o", "status.jsonl"
    work.run(*run, "pages.jsonl")
    with serving(work, "state", "--pages", "pages.jsonl", "--statuses", "status.jsonl", "--token-file", "token") as server, \
            Browser(work.path("profile")) as browser:
        browser.size(360, 740)
        browser.prefer("dark")

        def fits(what):
            check_equal(violations(browser), [], what)
            check(browser.value("document.documentElement.scrollWidth") <= 360, what, "is wider than a phone")

        browser.open(f"http://127.0.0.1:{server.port}/#url=http%3A%2F%2Fa.example%2F7")
        browser.value(axe + "; 0")
        # The token: requested, wrong, right.
        browser.wait("!document.getElementById('unlock').hidden", "the question for a token")
        check(browser.value("document.getElementById('found').hidden"), "a group without a token")
        fits("the question for a token")
        # Refusals of the group are late.
        browser.value("""{ const real = fetch; window.late = [];
            window.fetch = async (path, ...rest) => {
                const response = await real(path, ...rest);
                if (response.status === 401 && path.startsWith('/v1/group')) await new Promise((go) => late.push(go));
                return response;
            }; } 0""")
        for token in "a-token-that-is-wrong-enough", "a-token-that-is-long-enough":
            browser.value("document.getElementById('token').value = ''; document.body.dataset.looked = ''")
            tab_to(browser, "e.id === 'token'", "the token")
            browser.press(token, ENTER)
            if "wrong" in token:
                browser.wait("!document.getElementById('unlock').hidden && document.getElementById('say').textContent",
                             "the refusal of a wrong token")
        browser.wait("document.body.dataset.looked", "the group")
        browser.wait("late.length > 0", "the late refusal of the wrong token")
        browser.value("late.forEach((go) => go()); 0")
        # Members, and back.
        browser.wait("document.getElementById('range').textContent === '1 to 100 of 250'", "the first members")
        press_on(browser, "#later", "later members")
        browser.wait("document.getElementById('range').textContent === '101 to 200 of 250'", "the next members")
        press_on(browser, "#later", "later members")
        browser.wait("document.getElementById('range').textContent === '201 to 250 of 250'", "the last members")
        check(browser.value("document.getElementById('later').disabled"), "behind the last")
        check(browser.value("document.getElementById('unlock').hidden"), "the token is asked for again")
        fits("the last members")
        press_on(browser, "#earlier", "earlier members")
        browser.wait("document.getElementById('range').textContent === '101 to 200 of 250'", "back again")
        # A member in the picture links to its group, and an old status to its winner.
        press_on(browser, "#graph-part summary", "the picture")
        fits("the picture")
        press_on(browser, "#graph a:nth-of-type(5)", "a member in the picture")
        browser.wait("(document.body.dataset.looked || 'http://a.example/7') !== 'http://a.example/7'", "the group of the member")
        browser.wait("!document.getElementById('history-part').hidden", "the history")
        press_on(browser, "#history-part summary", "the history")
        browser.wait("document.querySelectorAll('#history tbody tr').length > 0", "statuses of the page")
        fits("the history")
        press_on(browser, "#history a", "a winner of old")
        browser.wait("document.getElementById('facts').textContent.includes('winner')", "the winner")
        # A loser beside its winner, from the table.
        press_on(browser, "#members button", "the difference to the winner")
        browser.wait("document.body.dataset.compared", "the difference")
        check_equal(browser.value("document.activeElement.id"), "compared-title", "focus")
        fits("the difference")
        # Hosts, page by page; the losers of one.
        browser.wait("document.body.dataset.overview", "the overview")
        browser.wait("document.querySelectorAll('#hosts tbody tr').length === 50", "hosts")
        press_on(browser, "#hosts-more", "more hosts")
        browser.wait("document.querySelectorAll('#hosts tbody tr').length === 61", "all hosts")
        check(browser.value("document.getElementById('hosts-more').hidden"), "more than all hosts")
        fits("all hosts")
        for table in "largest", "hosts":
            check(browser.value(f"document.getElementById('{table}').rows.length > 50 && document.getElementById('{table}')"
                                ".parentElement.getBoundingClientRect().height <= innerHeight"),
                  table, "is longer than the screen of a phone")
        press_on(browser, "#hosts a", "a host")
        browser.wait("document.body.dataset.searched", "its pages")
        browser.value("document.getElementById('pages-title').focus()")
        tab_to(browser, "e.id === 'only'", "the choice of a status", most=5)
        browser.press("l")  # typing a letter chooses the entry that begins with it
        browser.wait("location.hash.includes('status=loser')", "losers")
        browser.wait("document.querySelectorAll('#pages tbody tr').length === 100 &&"
                     " [...document.querySelectorAll('#pages td:nth-child(2)')].every(t => t.textContent === 'loser')",
                     "only losers")
        browser.wait("document.body.dataset.searched.includes('loser')", "the end of the search, which moves the focus")
        fits("losers of a host")
        # Live statuses: paused and resumed.
        browser.wait("document.body.dataset.live", "the stream")
        press_on(browser, "#pause", "the halt")
        before = browser.text("#numbers")
        work.write("more.jsonl", page("http://a.example/7", " ".join(f"new{i}" for i in range(90)), 1700000009000))
        work.run(*run, "pages.jsonl", "more.jsonl")
        browser.wait(f"document.getElementById('numbers').innerText !== {json.dumps(before)}", "the new numbers")
        check_equal(browser.count("#live tbody tr"), 0, "statuses shown while they are halted")
        press_on(browser, "#pause", "the halt")
        check_equal(browser.text("#pause"), "Pause", "the button")
        browser.wait("document.getElementById('live').textContent.includes('http://a.example/7')", "what came meanwhile")
        fits("statuses as they come")
        press_on(browser, "#live a", "a status")
        browser.wait("document.body.dataset.looked === 'http://a.example/7'", "its page")
        # Back, and to the content by the skip link, which is the first stop.
        press_on(browser, "#weakest a", "a weak group")
        browser.wait("(document.body.dataset.looked || 'http://a.example/7') !== 'http://a.example/7'", "the weak group")
        browser.value("history.back()")
        browser.wait("document.body.dataset.looked === 'http://a.example/7'", "the page before")
        browser.type("a.skip", ENTER)
        browser.wait("document.activeElement.id === 'main'", "the content")


if __name__ == "__main__":
    main(__name__)
