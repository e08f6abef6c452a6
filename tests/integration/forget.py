"""Erasure on request: what `samepage forget` removes from the state and from the groups."""

import json
import os
import shutil
import signal
import subprocess
import time

from harness import FEW, check, check_equal, check_in, groups, latest, main

KILLS = 3 if FEW else 5


def crawl(work):
    """URL -> the lines of its records, in order; and all lines of the crawl."""
    work.crawl(pages=2500)
    lines = work.read("crawl.jsonl").splitlines(keepends=True)
    by_url = {}
    for line in lines:
        by_url.setdefault(json.loads(line)["url"], []).append(line)
    return by_url, lines


def run(work, tag, *more, name="crawl.jsonl"):
    work.run("run", "-q", "--state", f"{tag}.state", "-o", f"{tag}.out", "--groups", f"{tag}.groups",
             "--verify", *more, name)


def chosen(work, tag):
    """Some pages of each status, including targets of redirects; and winners with all their losers."""
    last = latest(work.read(f"{tag}.out"))
    targets = {json.loads(line).get("redirect_url") for line in work.read("crawl.jsonl").splitlines()}
    names = set()
    for status in ("unique", "winner", "loser", "gone"):
        names |= set(sorted(u for u, e in last.items() if e["status"] == status)[::9])
    names |= set(sorted(targets & set(last))[::5])
    winner = sorted(u for u, e in last.items() if e["status"] == "winner")[1]
    names |= {winner} | {u for u, e in last.items() if e["winner_url"] == winner}
    check(len(names) > 150, "pages to forget:", len(names))
    return sorted(names)


def files_of(work, directory):
    content = {}
    for folder, _, names in os.walk(work.path(directory)):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content[name] = file.read()
    return content


def found(work, directory, needles):
    """The byte strings that occur in a file of the directory."""
    files = files_of(work, directory).values()
    return {needle for needle in needles if any(needle in content for content in files)}


def lonely_signature(work, lines):
    """A part of the page's stored signature, found by storing the page in a state of its own. Another page is
    forgotten there, because that moves the signature into a blob file."""
    other = json.loads(lines[-1]) | {"url": "https://other.example/", "content": "<p>other words</p>"}
    work.write("lonely.jsonl", lines[-1] + json.dumps(other).encode() + b"\n")
    work.run("run", "-q", "--state", "lonely.state", "-o", "lonely.out", "lonely.jsonl")
    work.run("forget", "-q", "--state", "lonely.state", "-o", "lonely.out", other["url"])
    blobs = [c for name, c in files_of(work, "lonely.state").items() if name.endswith(".blob")]
    check(len(blobs) == 1 and len(blobs[0]) > 700, "the blob file of one page")
    return blobs[0][300:364]


def expected(work, names, lines, tag, *more):
    """The groups of a crawl that never had these pages."""
    kept = [line for line in lines if json.loads(line)["url"] not in names]
    work.write(f"{tag}.jsonl", b"".join(kept))
    run(work, tag, *more, name=f"{tag}.jsonl")
    return groups(work.read(f"{tag}.groups"))


def groups_now(work, tag, *more):
    work.write("nothing.jsonl", "")
    run(work, tag, *more, name="nothing.jsonl")
    return groups(work.read(f"{tag}.groups"))


def is_forgotten(work, tag, names, signature, want, *more):
    unwanted = {name.encode() for name in names}
    # A longer URL contains a shorter one, so only whole URLs count.
    others = {u.encode() for u in latest(work.read(f"{tag}.out")) if u not in names}
    whole = {n for n in unwanted if not any(o.startswith(n) for o in others)}
    check(len(whole) > 100, "names that can be looked for:", len(whole))
    check_equal(found(work, f"{tag}.state", whole), set(), "URLs in the state")
    check(not found(work, f"{tag}.state", [signature]), "a signature in the state")
    last = latest(work.read(f"{tag}.out"))
    check_equal({u for u, e in last.items() if e["status"] == "forgotten"}, set(names),
                "pages said to be forgotten")
    check(not [u for u, e in last.items() if e["winner_url"] in names and u not in names],
          "a page that was forgotten wins")
    check_equal(groups_now(work, tag, *more), want, "groups, and those without the pages")


def forgets(work, *more):
    by_url, lines = crawl(work)
    run(work, "a", *more)
    names = chosen(work, "a")
    content = next(by_url[n] for n in names if len(by_url[n]) == 1 and
                   len(json.loads(by_url[n][0]).get("content", "")) > 2000)
    names = sorted(set(names) | same_content(by_url, content[0]))
    signature = lonely_signature(work, content)
    check_equal(len(found(work, "a.state", [n.encode() for n in names])), len(names), "before")
    check(found(work, "a.state", [signature]), "the signature before")
    work.write("list", "\n".join(names + ["http://nobody.example/", "an id", ""]))
    said = work.run("forget", "--state", "a.state", "-o", "a.out", "--verify", "--forget", "list",
                    *more)
    check_in(f"{len(names)} pages forgotten, 2 were not known", said.err)
    want = expected(work, names, lines, "b", *more)
    is_forgotten(work, "a", names, signature, want, *more)
    said = work.run("forget", "--state", "a.state", "-o", "a.out", "--forget", "list", *more)
    check_in(f"0 pages forgotten, {len(names) + 2} were not known", said.err)
    return names, signature, want


def same_content(by_url, line):
    """All pages that ever had the content of this record."""
    content = json.loads(line)["content"]
    return {url for url, lines in by_url.items()
            if any(json.loads(x).get("content") == content for x in lines)}


def no_byte_of_a_forgotten_page_is_left(work):
    forgets(work)


def no_byte_is_left_in_a_write_ahead_log(work):
    forgets(work, "--set", "store.write_ahead_log=on", "--set", "tier1.partitions=3",
            "--set", "store.memtable_bytes=4MiB")


def a_forgotten_page_that_is_fetched_again_is_a_new_page(work):
    by_url, lines = crawl(work)
    run(work, "a")
    names = chosen(work, "a")
    before = groups(work.read("a.groups"))
    work.run("forget", "-q", "--state", "a.state", "-o", "a.out", *names)
    again = [line for line in lines if json.loads(line)["url"] in names]
    work.write("again.jsonl", b"".join(again))
    run(work, "a", name="again.jsonl")
    check_equal(groups(work.read("a.groups")), before, "groups, and those before")
    first = json.loads(by_url[names[0]][-1])
    check_equal(latest(work.read("a.out"))[names[0]]["version_ms"], first["fetch_time_ms"],
                "the version of a page that was fetched again")


def killed_in_between_it_is_run_again(work):
    _, lines = crawl(work)
    run(work, "a")
    names = chosen(work, "a")
    work.write("list", "\n".join(names))
    content = [line for line in lines if json.loads(line)["url"] == names[0]]
    signature = lonely_signature(work, content) if b'"content"' in content[-1] else b"\0" * 4096
    want = expected(work, names, lines, "b")
    shutil.copytree(work.path("a.state"), work.path("timed.state"))
    shutil.copy(work.path("a.out"), work.path("timed.out"))
    start = time.monotonic()
    work.run(*arguments("timed"))
    seconds = time.monotonic() - start
    killed = 0
    for number in range(KILLS):
        tag = f"k{number}"
        shutil.copytree(work.path("a.state"), work.path(f"{tag}.state"))
        shutil.copy(work.path("a.out"), work.path(f"{tag}.out"))
        process = work.start(*arguments(tag), stderr=subprocess.PIPE)
        try:
            process.communicate(timeout=seconds * (number + 0.5) / KILLS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
        work.run(*arguments(tag))
        is_forgotten(work, tag, names, signature, want)
        lines_said = [e for e in work.json_lines(f"{tag}.out") if e["status"] == "forgotten"]
        check_equal(len(lines_said), len(names), "lines of forgotten pages")
        shutil.rmtree(work.path(f"{tag}.state"))
    check(killed > 1, "kills:", killed)


def arguments(tag):
    return ["forget", "-q", "--state", f"{tag}.state", "-o", f"{tag}.out", "--forget", "list"]


def digests_of_forgotten_contents_go(work):
    """A revisit of a payload that only an erased page had finds no content."""
    def record(kind, url, date, body, more):
        head = (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
                f"WARC-Payload-Digest: sha1:AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH\r\n{more}"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}"
                "\r\n\r\n")
        return head.encode() + body + b"\r\n\r\n"

    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"some words of a page " * 20
    again = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
    work.write("first.warc", record("response", "http://a.example/", "2026-01-01T00:00:00Z", page, ""))
    work.write("second.warc",
               record("revisit", "http://b.example/", "2026-01-02T00:00:00Z", again, profile))
    for tag, forget in (("kept", False), ("forgotten", True)):
        out = ["--state", f"{tag}.state", "-o", f"{tag}.out"]
        work.run("run", "-q", *out, "first.warc")
        if forget:
            work.run("forget", "-q", *out, "http://A.example:80/#x")
        work.run("run", "-q", *out, "second.warc")
        check(("http://b.example/" in latest(work.read(f"{tag}.out"))) != forget,
              tag, "what a revisit found:", work.read(f"{tag}.out"))


def what_cannot_be_forgotten_is_said(work):
    work.crawl(pages=50)
    check_in("no page", work.run("forget", "--state", "no.state", code=2).err)
    work.run("forget", "--state", "no.state", "http://a.example/", code=1)
    check(not work.exists("no.state"), "a state was made")
    check_in("give --state", work.run("forget", "-o", "x", "http://a.example/", code=2).err)
    work.run("run", "-q", "--state", "a.state", "-o", "a.out", "crawl.jsonl")
    check_in("no.list", work.run("forget", "--state", "a.state", "--forget", "no.list", code=1).err)
    before = work.read("a.out")
    said = work.run("forget", "--state", "a.state", "-o", "a.out", "http://nobody.example/", "x" * 9000)
    check_in("0 pages forgotten, 1 were not known; no URL: 1", said.err)
    check_equal(work.read("a.out"), before, "the output")


def a_list_of_pages_may_come_from_an_editor(work):
    """A byte order mark, lines that end in CR LF, and blanks are no part of a URL."""
    work.crawl(pages=50)
    work.run("run", "-q", "--state", "a.state", "-o", "a.out", "crawl.jsonl")
    urls = sorted(latest(work.read("a.out")))[:4]
    work.write("list", "\ufeff" + "\r\n".join((urls[0], "  " + urls[1], "", "\t" + urls[2] + "  ", urls[3])))
    said = work.run("forget", "--state", "a.state", "-o", "a.out", "--forget", "list").err
    check_in("4 pages forgotten, 0 were not known", said)
    last = latest(work.read("a.out"))
    check_equal([last[u]["status"] for u in urls], ["forgotten"] * 4, "statuses")


if __name__ == "__main__":
    main(__name__)
