"""WARC revisits: a fetch that found a known content again changes only the page's time; one of an unknown content is
counted, not lost."""

import base64
import hashlib
import json

from harness import check, check_equal, check_in, main

TEXT = " ".join(f"word{n}" for n in range(60))
OTHER = " ".join(f"another{n}" for n in range(60))


def record(kind, url, date, block, *fields):
    block = block.replace("\n", "\r\n").encode()
    head = ["WARC/1.1", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", f"WARC-Date: {date}", *fields,
            "Content-Type: application/http; msgtype=response", f"Content-Length: {len(block)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def digest_of(text):
    return "WARC-Payload-Digest: sha1:" + base64.b32encode(hashlib.sha1(text.encode()).digest()).decode()


def response(url, date, text, status="200 OK", digest=False):
    return record("response", url, date, f"HTTP/1.1 {status}\nContent-Type: text/plain\n\n{text}",
                  *([digest_of(text)] if digest else []))


def revisit(url, date, as_of=None, of=None, block="", profile="identical-payload-digest", text=None):
    fields = [f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}"]
    if text is not None:
        fields.append(digest_of(text))
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
                  response(a, day(3), "", "304 Not Modified"),
                  response(a, day(3), "", "304 Not Modified\nLocation: http://c.example/"),
                  revisit(a, day(3), day(1), a, "HTTP/1.1 200 OK\nLocation: http://c.example/\n\n")):
        events, summary = events_of(work, response(a, day(1), TEXT), response(b, day(2), TEXT), again)
        check_equal(versions(events, a)[-1], ms(3), "the page's time")
        check_equal(summary["unchanged"], 1, "unchanged")
        check_equal(summary["again_unknown"], 0, "of unknown content")
        check_equal((summary["records"], summary["ignored"], summary["dead_letters"]), (3, 0, 0), "records")
        check_equal({e["url"]: e["status"] for e in events}, {a: "winner", b: "loser"}, "statuses")


def a_part_of_a_page_is_not_the_page(work):
    """Neither a 206 nor the first segment of a page in several records replaces the page or is a page."""
    a, b = "http://a.example/", "http://b.example/"
    part = TEXT[:100]
    known = response(a, day(1), TEXT)
    segment = record("response", a, day(2), f"HTTP/1.1 200 OK\nContent-Type: text/plain\n\n{part}",
                     "WARC-Segment-Number: 1")
    rest = record("continuation", a, day(2), TEXT[100:], "WARC-Segment-Number: 2")
    partial = response(a, day(2), part, f"206 Partial Content\nContent-Range: bytes 0-99/{len(TEXT)}")
    for records in [segment, rest], [partial], [segment.replace(a.encode(), b.encode()), rest], [
            partial.replace(a.encode(), b.encode())]:
        events, summary = events_of(work, known, *records)
        check_equal([(e["url"], e["version_ms"], e["status"]) for e in events], [(a, ms(1), "unique")], "events")
        check_equal((summary["records"], summary["ignored"], summary["dead_letters"]), (2, 1, 0), "records")
    whole = response(b, day(2), TEXT, f"206 Partial Content\nContent-Range: bytes 0-{len(TEXT) - 1}/{len(TEXT)}")
    events, summary = events_of(work, known, whole)
    check_equal(summary["ignored"], 0, "ignored")
    check_equal(sorted({e["url"]: e["status"] for e in events}.values()), ["loser", "winner"], "statuses")
    work.write("lines.jsonl", "".join(json.dumps({"url": f"{a}{i}", "content": TEXT, "http_status": status}) + "\n"
                                      for i, status in enumerate((200, 206))))
    check_equal(work.run("pairs", "-q", "lines.jsonl").out, "", "pairs")
    work.write("none", "")
    audit = json.loads(work.run("audit", "-q", "--removed", "none", "--json", "-", "lines.jsonl").out)
    check_equal(audit["documents"], 1, "documents")
    # A collection without its near duplicates still has the part, as it has other fetches that are no pages.
    work.run("dedup", "-q", "lines.jsonl", "--kept", "kept.jsonl", "--removed", "removed")
    check_equal(len(work.read("kept.jsonl").splitlines()), 2, "kept records")


def a_revisit_of_what_is_not_known_is_counted(work):
    a, b = "http://a.example/", "http://b.example/"
    known = response(a, day(2), TEXT), response(a, day(4), OTHER)
    for again in (revisit(b, day(5), day(2), b), revisit(b, day(5)),  # a page that was never fetched
                  revisit(a, day(5), day(2), a),  # a content that no page has any more
                  revisit(a, day(6), day(5), a),  # a fetch that is not in the crawl
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


def a_revisit_of_a_known_payload_is_a_fetch_of_it(work):
    a, b = "http://a.example/", "http://b.example/longer"
    first = response(a, day(1), TEXT, digest=True)
    # Another page's content; new on this page.
    events, summary = events_of(work, first, revisit(b, day(2), day(1), a, text=TEXT))
    check_equal({e["url"]: (e["status"], e["reason"], e["version_ms"]) for e in events},
                {a: ("winner", None, ms(1)), b: ("loser", "exact", ms(2))}, "of another page")
    check_equal(summary["again_unknown"], 0, "of unknown content")
    # A content that the page had earlier; another page still has it.
    back = first, response(b, day(1), TEXT, digest=True), response(a, day(2), OTHER, digest=True)
    events, summary = events_of(work, *back, revisit(a, day(3), day(1), a, text=TEXT))
    check_equal([e["status"] for e in events if e["url"] == a][-2:], ["unique", "winner"], "back again")
    # A content that no page has any more; a content without words gets no message.
    for records in ((first, response(a, day(2), OTHER), revisit(b, day(3), day(1), a, text=TEXT)),
                    (response(a, day(1), "", digest=True), revisit(b, day(3), text="")),
                    (first, revisit(b, day(2), text=TEXT, profile="server-not-modified"))):
        events, summary = events_of(work, *records)
        check_equal((summary["again_unknown"], versions(events, b)), (1, []), "what nobody has")


def digests_outlive_a_run(work):
    a, b = "http://a.example/", "http://b.example/longer"
    work.write("1.warc", response(a, day(1), TEXT, digest=True))
    work.write("2.warc", revisit(b, day(2), day(1), a, text=TEXT))
    apart = [work.run("run", "-q", "--state", "state", name).out for name in ("1.warc", "2.warc")]
    together = work.run("run", "-q", "--set", "barrier.pages=1", "1.warc", "2.warc").out
    last = [{e["url"]: e["status"] for e in map(json.loads, out.splitlines())} for out in ("".join(apart), together)]
    check_equal(last[0], {a: "winner", b: "loser"}, "statuses")
    check_equal(last[1], last[0], "with a barrier after each record")


if __name__ == "__main__":
    main(__name__)
