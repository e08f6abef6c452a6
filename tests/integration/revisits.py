"""WARC revisits: a fetch that found a content again moves the page's time and nothing else, and one
whose content is not known here is counted, not lost."""

import json

from harness import check, check_equal, check_in, main

TEXT = " ".join(f"word{n}" for n in range(60))
OTHER = " ".join(f"another{n}" for n in range(60))


def record(kind, url, date, block, *fields):
    block = block.replace("\n", "\r\n").encode()
    head = ["WARC/1.1", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", f"WARC-Date: {date}", *fields,
            "Content-Type: application/http; msgtype=response", f"Content-Length: {len(block)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(url, date, text, status="200 OK", more=""):
    return record("response", url, date, f"HTTP/1.1 {status}\nContent-Type: text/plain\n{more}\n{text}")


def revisit(url, date, as_of=None, of=None, block="", profile="identical-payload-digest"):
    fields = [f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}"]
    if of:
        fields.append(f"WARC-Refers-To-Target-URI: {of}")
    if as_of:
        fields.append(f"WARC-Refers-To-Date: {as_of}")
    return record("revisit", url, date, block, *fields)


def day(n):
    return f"2023-11-{n:02}T00:00:00Z"


def ms(n):
    return 1698796800000 + (n - 1) * 86400000


def events_of(work, *records):
    work.write("in.warc", b"".join(records))
    out = work.run("run", "-q", "--summary", "summary.json", "in.warc").out
    summary = json.loads(work.read("summary.json"))
    return [json.loads(line) for line in out.splitlines()], summary


def versions(events, url):
    return [e["version_ms"] for e in events if e["url"] == url]


def a_revisit_is_a_fetch_with_unchanged_content(work):
    a, b = "http://a.example/", "http://b.example/longer"
    header = "HTTP/1.1 200 OK\nContent-Type: text/html\n\n"
    for again in (revisit(a, day(3), day(1), a, header), revisit(a, day(3), day(1)), revisit(a, day(3)),
                  revisit(a, day(3), profile="server-not-modified", block="HTTP/1.1 304 Not Modified\n\n"),
                  response(a, day(3), "", "304 Not Modified")):
        events, summary = events_of(work, response(a, day(1), TEXT), response(b, day(2), TEXT), again)
        check_equal(versions(events, a)[-1], ms(3), "the page's time")
        check_equal(summary["unchanged"], 1, "unchanged")
        check_equal(summary["again_unknown"], 0, "of unknown content")
        check_equal((summary["records"], summary["ignored"], summary["dead_letters"]), (3, 0, 0), "records")
        check_equal({e["url"]: e["status"] for e in events}, {a: "winner", b: "loser"}, "statuses")


def a_revisit_of_what_is_not_known_is_counted(work):
    a, b = "http://a.example/", "http://b.example/"
    known = response(a, day(2), TEXT), response(a, day(4), OTHER)
    for again in (revisit(b, day(5), day(2), b), revisit(b, day(5)),  # a page that was never here
                  revisit(a, day(5), day(2), a),  # a content that is no more
                  revisit(a, day(6), day(5), a),  # a fetch that is not here
                  revisit(a, day(5), day(4), b)):  # a content of another page
        events, summary = events_of(work, *known, again)
        check_equal(summary["again_unknown"], 1, "of unknown content")
        check_equal(summary["dead_letters"], 0, "dead letters")
        check_equal(versions(events, a), [ms(2), ms(4)], "the page's times")
        check(not versions(events, b), "a page was invented")
    process = work.run("run", "in.warc")
    check_in("again, of unknown", process.err, "what is said")


def a_revisit_of_a_redirect_is_that_redirect(work):
    a, b = "http://a.example/", "http://b.example/"
    moved = "HTTP/1.1 301 Moved\nLocation: http://b.example/\n\n"
    events, summary = events_of(work, response(b, day(1), TEXT), response(a, day(1), OTHER),
                                revisit(a, day(2), day(1), a, moved))
    last = {e["url"]: e for e in events}
    check_equal((last[a]["status"], last[a]["winner_url"], last[a]["reason"]), ("loser", b, "redirect"), "redirect")
    events, summary = events_of(work, response(a, day(1), TEXT),
                                revisit(a, day(2), day(1), a, "HTTP/1.1 404 Not Found\n\n"))
    check_equal(events[-1]["status"], "gone", "a missing page")


def an_older_revisit_is_late(work):
    a = "http://a.example/"
    events, summary = events_of(work, response(a, day(3), TEXT), revisit(a, day(2)))
    check_equal(versions(events, a), [ms(3)], "the page's times")
    check_equal(summary["late"], 1, "late")


if __name__ == "__main__":
    main(__name__)
