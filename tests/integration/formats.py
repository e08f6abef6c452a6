"""Input formats: the same documents in each format that samepage reads give the same result."""

import csv
import gzip
import io
import json
import os
import subprocess
from xml.sax.saxutils import escape

from harness import PATIENCE_SECONDS, check, check_equal, check_in, latest, main

WORDS = "the quick brown fox jumps over a lazy dog and runs on through fields of barley until night".split()


def documents(count=60):
    """Texts with everything that is difficult in a format; every fifth is a copy of the one before it."""
    result = []
    for n in range(count):
        words = [WORDS[(n * 7 + i * i + i * n) % len(WORDS)] + str((n * i) % 11) for i in range(40)]
        words[3] = ['"quoted"', "comma,here", "semi;colon", "new\nline", "tab\there", "ümlaut", "]}{[", "\\n"][n % 8]
        text = result[-1]["text"] + " tail" if n % 5 == 4 else " ".join(words)
        result.append({"id": f"item {n}" if n % 2 else str(n), "text": text,
                       "when": f"2023-01-{1 + n % 28:02}T00:00:{n % 60:02}Z", "lang": "en", "empty": ""})
    return result


FIELDS = ("--id-field", "id", "--text-field", "text", "--time-field", "when")


def json_lines(items):
    return "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in items)


def table(items, **how):
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(items[0]), **how)
    writer.writeheader()
    writer.writerows(items)
    return out.getvalue()


def in_every_format(items):
    return {"a.jsonl": json_lines(items), "a.array.json": json.dumps(items, indent=3),
            "b.array.json": "\ufeff [" + ",".join(json.dumps(d) for d in items) + "]",
            "a.csv": table(items), "b.csv": "\ufeff" + table(items, delimiter=";", quoting=csv.QUOTE_ALL),
            "a.tsv": table(items, delimiter="\t", lineterminator="\n")}


def without_order(lines):
    return sorted(tuple(sorted(json.loads(line).items())) for line in lines.splitlines())


def one_collection_in_every_format(work):
    items = documents()
    results = {}
    for name, content in in_every_format(items).items():
        work.write(name, content)
        results[name] = work.run("run", "-q", *FIELDS, name).out
        pairs = work.run("pairs", "-q", *FIELDS, name).out
        check(pairs.count("\n") >= 12, "few pairs:", pairs)
        results[name + " pairs"] = pairs
    for name, out in results.items():
        check_equal(out, results["a.jsonl pairs" if name.endswith(" pairs") else "a.jsonl"], name)
    urls = {json.loads(line)["url"] for line in results["a.jsonl"].splitlines()}
    check_equal(urls, {"doc:" + d["id"].replace(" ", "%20") for d in items}, "ids")
    for name in work.gzip("a.csv"), work.zstd("a.array.json"):
        check_equal(work.run("run", "-q", *FIELDS, name).out, results["a.jsonl"], name)


def pieces_of_any_size_are_the_same(work):
    """A pipe that delivers a few bytes at a time."""
    items = documents(25)
    for name, content in in_every_format(items).items():
        work.write(name, content)
        whole = work.run("run", "-q", *FIELDS, name).out
        process = work.start("run", "-q", *FIELDS, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        data = content.encode()
        for at in range(0, len(data), 97):
            process.stdin.write(data[at:at + 97])
            process.stdin.flush()
        out, _ = process.communicate()
        check_equal(out.decode(), whole, name)


def times_are_ms_seconds_or_dates(work):
    lines = [{"id": "ms", "text": "a b c d e f", "t": 1700000000000}, {"id": "s", "text": "g h i j k", "t": 1700000000},
             {"id": "fraction", "text": "l m n o p", "t": 1700000000.25},
             {"id": "zone", "text": "q r s t u", "t": "2023-11-14T23:13:20.5+01:00"},
             {"id": "date", "text": "v w x y z", "t": "2023-11-14"},
             {"id": "first", "text": "1 2 3 4 5", "t": "1970-01-01"}, {"id": "before", "text": "6 7 8 9", "t": "1965-03-01"},
             {"id": "bad", "text": "no", "t": "yesterday"}]
    work.write("a", "".join(json.dumps(d) + "\n" for d in lines))
    done = work.run("run", "-q", "--dead-letter", "dead", "--id-field", "id", "--text-field", "text",
                    "--time-field", "t", "a")
    times = {e["url"]: e["version_ms"] for e in map(json.loads, done.out.splitlines())}
    check_equal(times, {"doc:ms": 1700000000000, "doc:s": 1700000000000, "doc:fraction": 1700000000250,
                        "doc:zone": 1700000000500, "doc:date": 1699920000000,
                        "doc:first": 1, "doc:before": 1}, "times; those up to 1970 are none")
    check_equal([d["detail"] for d in work.json_lines("dead")],
                ["the time is not a number or a date of ISO 8601"], "the bad one")


def a_folder_of_texts_is_a_collection(work):
    os.makedirs(work.path("corpus/deep/er"))
    text = " ".join(WORDS * 3)
    work.write("corpus/a.txt", text)
    work.write("corpus/deep/page one.html", f"<html><body><p>{text}</p></body></html>")
    work.write("corpus/deep/er/latin.htm", "<meta charset=iso-8859-1><p>Über ".encode("latin-1") + text.encode())
    work.write("corpus/other.md", "# A title\n\nof words that are only here, and nowhere else in it\n")
    work.write("corpus/empty.txt", "")
    work.write("corpus/picture.png", b"\x89PNG")
    work.write("corpus/.hidden.txt", text)
    pairs = [json.loads(line) for line in work.run("pairs", "-q", "corpus/").out.splitlines()]
    check_equal({tuple(sorted((p["a"], p["b"]))) for p in pairs},
                {("doc:corpus/a.txt", "doc:corpus/deep/page%20one.html"),
                 ("doc:corpus/a.txt", "doc:corpus/deep/er/latin.htm"),
                 ("doc:corpus/deep/er/latin.htm", "doc:corpus/deep/page%20one.html")}, "pairs")
    # Files of records in a folder are read as records.
    work.write("corpus/deep/more.jsonl", json.dumps({"url": "http://a.example/", "content": text}) + "\n")
    urls = {json.loads(line)["url"] for line in work.run("run", "-q", "corpus").out.splitlines()}
    check({"http://a.example/", "doc:corpus/a.txt", "doc:corpus/other.md"} <= urls, urls)
    check(not any("picture" in u or "hidden" in u for u in urls), urls)
    os.makedirs(work.path("nothing"))
    check_in("holds nothing that can be read", work.run("run", "-q", "nothing", code=1).err)


def packed_files_of_a_folder_that_are_not_read_are_said(work):
    os.mkdir(work.path("corpus"))
    work.write("corpus/a.txt", "some words of a text")
    for name in "z.png", "z.png.gz", "z.tar.gz":
        work.write("corpus/" + name, b"\0")
    check_equal(work.run("pairs", "-q", "corpus").err, "", "files that nobody takes for documents")
    for name in "b.jsonl.xz", "c.csv.zip", "d.html.gz", "e.parquet":
        work.write("corpus/" + name, b"\0")
    check_in("corpus: 4 of its files are packed in a way that is not read, the first is corpus/b.jsonl.xz; unpack them",
             work.run("pairs", "-q", "corpus").err)
    # A site has sitemaps and feeds.
    os.mkdir(work.path("site"))
    work.write("site/page.html", "<p>some words of a text")
    work.write("site/sitemap.xml", '<?xml version="1.0"?>\n<urlset></urlset>\n')
    work.write("site/dump.xml", "<mediawiki><page><title>A</title><revision><text>other</text></revision></page></mediawiki>")
    done = work.run("dedup", "-q", "--removed", "-", "site")
    check_in("site: 1 of its files are XML that is not read (only dumps of a MediaWiki are), the first is site/sitemap.xml",
             done.err)
    work.write("page.html.gz", gzip.compress(b"<p>some words"))
    check_in("page.html.gz is a packed text or page; unpack it", work.run("pairs", "-q", "page.html.gz", code=1).err)
    os.mkdir(work.path("warcs"))
    work.write("warcs/a.warc.bz2", b"BZh")
    check_in("warcs: 1 of its files", work.run("archive", "-q", "-o", "archive", "warcs", code=1).err)


def a_link_to_a_folder_is_a_folder(work):
    for folder, name, content in (("records", "a.jsonl", '{"url":"http://a.example/","content":"some text"}\n'),
                                  ("texts", "a.txt", "some text\n")):
        os.makedirs(work.path(folder))
        work.write(f"{folder}/{name}", content)
        os.symlink(folder, work.path(f"link-{folder}"))
        os.symlink("..", work.path(f"{folder}/link"))  # links inside are not followed, so there is no loop
        check_equal(work.run("run", "-q", f"link-{folder}").out.count("\n"), 1, folder)


def a_file_of_text_is_a_document(work):
    """`samepage pairs *.txt`: each file is read as if it were in a folder, whatever its first byte is."""
    texts = {"a.txt": "one two three four five six seven", "b.html": "<p>one two three four five six seven</p>",
             "c.md": "[one](http://x.example/) two three four five six seven", "d.txt": "1, 2, 3\n{4}\n"}
    os.makedirs(work.path("texts"))
    for name, text in texts.items():
        work.write("texts/" + name, text)
    files = ["texts/" + name for name in texts]
    check_equal(work.run("pairs", "-q", *files).out, work.run("pairs", "-q", "texts").out, "pairs")
    check_equal({line["url"] for line in map(json.loads, work.run("run", "-q", *files).out.splitlines())},
                {"doc:" + name for name in files}, "documents")
    page = '{"url":"http://a.example/","content":"one two"}\n'
    table = "url,content\nhttp://a.example/,one two\n"
    for name, text, dead in (("lines.txt", page, 0), ("marked.txt", "\ufeff" + page, 0), ("broken.txt", "{\n" + page, 1),
                             ("later.txt", "nonsense\n" + page, 1), ("table.txt", table, 0),
                             ("array.txt", "[" + page + "]", 0)):  # a file of a known format keeps that format
        work.write(name, text)
        done = work.run("run", "-q", "--dead-letter", name + ".dead", name)
        check_equal([json.loads(line)["url"] for line in done.out.splitlines()], ["http://a.example/"], name)
        check_equal(len(work.json_lines(name + ".dead")), dead, f"dead letters of {name}")


def a_dump_of_mediawiki(work):
    text = " ".join(WORDS) + " <ref>\"R&D\"</ref> {{Infobox}} ü"

    def page(title, *revisions, redirect=""):
        return f"<page><title>{escape(title)}</title><ns>0</ns><id>1</id>{redirect}" + "".join(
            f"<revision><id>9</id><timestamp>{t}</timestamp><contributor><username>U</username></contributor>"
            f'<text bytes="1" xml:space="preserve">{escape(x)}</text></revision>' for t, x in revisions) + "</page>\n"

    dump = ('<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
            "<siteinfo><base>https://en.wiki.example/wiki/Main_Page</base></siteinfo>\n" +
            page("Ünder score?", ("2023-01-01T00:00:00Z", text), ("2023-02-01T00:00:00Z", text + " more")) +
            page("Copy", ("2023-01-01T00:00:00Z", text + " more words")) +
            page("Alias", ("2023-01-01T00:00:00Z", "#REDIRECT [[Copy]]"), redirect='<redirect title="Copy" />') +
            "</mediawiki>\n")
    work.write("dump.xml", dump)
    work.run("run", "-q", "dump.xml", "-o", "out")
    last = {e["url"]: e for e in work.json_lines("out")}
    base = "https://en.wiki.example/wiki/"
    check_equal(set(last), {base + "%C3%9Cnder_score%3F", base + "Copy", base + "Alias"}, "pages")
    check_equal(last[base + "%C3%9Cnder_score%3F"]["version_ms"], 1675209600000, "the newest revision")
    check_equal(last[base + "Alias"]["reason"], "redirect", "the alias")
    winners = {e["winner_url"] for e in last.values() if e["status"] == "loser"}
    check_equal((len(winners), winners <= set(last)), (1, True), "one group of three")
    # Truncated: what was read is kept, and the dead letter has the position.
    work.write("cut.xml", dump[:dump.index("<title>Alias")])
    work.run("run", "-q", "cut.xml", "-o", "out2", "--dead-letter", "dead")
    check_equal(len({e["url"] for e in work.json_lines("out2")}), 2, "pages before the damage")
    check_in("the XML of the dump is damaged in line", work.json_lines("dead")[0]["raw"])


def a_text_that_a_dump_does_not_have_is_not_empty(work):
    """An administrator may hide a revision, and stub dumps have no texts at all."""
    def page(title, *revisions):
        return f"<page><title>{title}</title><ns>0</ns><id>1</id>" + "".join(
            f"<revision><id>9</id><timestamp>2023-01-0{n}T00:00:00Z</timestamp>{text}</revision>"
            for n, text in enumerate(revisions, 1)) + "</page>\n"

    text = '<text bytes="90" xml:space="preserve">' + " ".join(WORDS) + "</text>"
    stub = '<text bytes="90" location="tt:9" id="9" />'
    start = "<mediawiki><siteinfo><base>https://en.wiki.example/wiki/Main_Page</base></siteinfo>\n"
    empty = page("Empty", '<text bytes="0" xml:space="preserve" />') + page("Old", '<text xml:space="preserve" />')
    work.write("hidden.xml", start + page("A", text, '<text bytes="90" deleted="deleted" />') + page("B", text) + empty +
               page("Stub", stub) + "</mediawiki>\n")
    done = work.run("run", "-q", "hidden.xml", "-o", "out")
    check_in("1: the revision has no text, although its length is above 0: stub dumps leave", done.err)
    statuses = {url.rsplit("/", 1)[1]: event["status"] for url, event in latest(work.read("out")).items()}
    check_equal(statuses, {"A": "loser", "B": "winner", "Empty": "unique", "Old": "unique"}, "statuses")
    work.write("stub.xml", start + page("A", stub) + page("B", '<text id="7" />') + "</mediawiki>\n")
    check_in("such as pages-articles", work.run("run", "-q", "stub.xml", code=1).err)


def what_a_redirect_was_before_is_text(work):
    def revision(day, text):
        return f"<revision><id>9</id><timestamp>2023-01-0{day}T00:00:00Z</timestamp><text bytes=\"9\">{text}</text></revision>"

    words = " ".join(WORDS)
    upload = "<upload><timestamp>2020-01-01T00:00:00Z</timestamp><filename>A.jpg</filename></upload>"
    start = "<mediawiki><siteinfo><base>https://en.wiki.example/wiki/Main_Page</base></siteinfo>\n"
    merged = ('<page><title>Merged</title><redirect title="Other" />' + revision(1, "its own words " + words) +
              revision(2, "Its own words: " + words) + revision(3, "#REDIRECT [[Other]]") + upload + "</page>\n")
    other = "<page><title>Other</title>" + revision(1, "entirely different") + upload + "</page>\n"
    work.write("dump.xml", start + merged + other + "</mediawiki>\n")
    work.write("cut.xml", start + merged[:merged.index("<upload>")])
    for name, behind in ("dump.xml", [("/Other", "2023-01-01", 200)]), ("cut.xml", []):
        lines = map(json.loads, work.run("dedup", "-q", name, "--kept", "-").out.splitlines())
        check_equal([(d["url"][-6:], d["fetch_time_ms"][:10], d.get("http_status", 200)) for d in lines],
                    [("Merged", "2023-01-01", 200), ("Merged", "2023-01-03", 301), *behind], name)
    last = latest(work.run("run", "-q", "dump.xml").out)
    check_equal({url[-6:]: event["winner_url"] for url, event in last.items()},
                {"Merged": "https://en.wiki.example/wiki/Other", "/Other": None}, "statuses")


def the_text_of_a_revision_is_that_of_its_main_slot(work):
    """Dumps of the schema 0.11 have other contents behind it, as the description of a file in JSON."""
    def page(title, text, name):
        return (f"<page><title>{title}</title><ns>6</ns><id>1</id><revision><id>9</id><origin>9</origin>"
                f'<model>wikitext</model><text bytes="90">{text}</text><content><role>mediainfo</role><origin>9</origin>'
                f'<model>wikibase-mediainfo</model><text bytes="9">{{"labels":"{name}"}}</text></content>'
                "<sha1>x</sha1></revision></page>\n")

    words = " ".join(WORDS)
    work.write("dump.xml", "<mediawiki><siteinfo><base>https://en.wiki.example/wiki/Main_Page</base></siteinfo>\n" +
               page("A", words, "one") + page("B", words, "two") + page("C", "other words of a page", "one") +
               "</mediawiki>\n")
    lines = map(json.loads, work.run("dedup", "-q", "dump.xml", "--kept", "-").out.splitlines())
    check_equal([line["content"] for line in lines], [words, "other words of a page"], "texts")


def a_dump_of_mediawiki_with_a_damaged_part_makes_no_page_of_two_halves(work):
    """Reading goes on with the next member of the gzip file, in the text of another page."""
    def page(title, text):
        return f"<page><title>{title}</title><revision><text>{text}</text></revision></page>"

    words = " ".join(f"word{i * i}" for i in range(200))
    base = "https://en.wiki.example/wiki/"
    dump = (f"<mediawiki><siteinfo><base>{base}Main_Page</base></siteinfo>" +
            page("Whole", "a " + words) + page("First", "b CUT " + words) + page("Second", words + " CUT c") +
            page("Last", "d " + words) + "</mediawiki>")
    members = [bytearray(gzip.compress(part.encode())) for part in dump.split("CUT")]
    members[1][40:80] = b"\xff" * 40
    work.write("dump.xml.gz", b"".join(members))
    work.run("run", "-q", "-o", "out", "--dead-letter", "dead", "dump.xml.gz", code=None)
    check_equal({event["url"] for event in work.json_lines("out")}, {base + "Whole", base + "Last"}, "pages")
    check(work.json_lines("dead"), "nothing says what was lost")


def damage_is_a_dead_letter(work):
    items = documents(20)
    broken = table(items).replace('"', "", 1).rsplit('"', 1)[0]
    work.write("open.csv", broken.rsplit("\n", 3)[0] + '\nx,"no end ' + "y" * 5000)
    done = work.run("run", "-q", *FIELDS, "--set", "input.max_record_bytes=1KiB", "--dead-letter", "dead", "open.csv")
    check(len(done.out.splitlines()) > 5, done.out)
    check_in("quotation marks: one may be missing; input.quotes=off", work.json_lines("dead")[-1]["detail"])
    work.write("unquoted.tsv", 'id\ttext\nx\t"no end of this\ny\t"this" ends\nz\tplain words\n')
    done = work.run("run", "-q", *FIELDS, "--set", "input.quotes=off", "unquoted.tsv")
    check_equal([json.loads(line)["url"] for line in done.out.splitlines()], ["doc:x", "doc:y", "doc:z"], "its rows")
    work.write("mixed.json", '[{"id":1,"text":"a b c d e f g"}, 7, {"id":2,"text":"h i j k l m n"}, {"id": 3, "te')
    done = work.run("run", "-q", *FIELDS, "--dead-letter", "dead2", "mixed.json")
    check_equal({json.loads(line)["url"] for line in done.out.splitlines()}, {"doc:1", "doc:2"}, "the sound ones")
    check_equal([d["reason"] for d in work.json_lines("dead2")], ["malformed", "truncated"], "dead letters")
    work.write("latin.csv", "id,text\n1,ein Café\n2,ein Cafè\n3,a b c\n".encode("latin-1"))
    done = work.run("run", "-q", *FIELDS, "--dead-letter", "dead3", "latin.csv")
    check_equal([json.loads(line)["url"] for line in done.out.splitlines()], ["doc:3"], "the row in UTF-8")
    check_equal(["iconv -f WINDOWS-1252 -t UTF-8" in d["detail"] for d in work.json_lines("dead3")], [True] * 2, "rows")
    work.write("wide.csv", "id,text\n1,Hello, world\n2,Hello there,,\n")
    done = work.run("dedup", "-q", "--kept", "-", "--dead-letter", "dead4", "wide.csv")
    check_equal(done.out, '{"id":"2","text":"Hello there"}\n', "the row without a cell beyond the header")
    check_in("more cells than the table has columns", work.json_lines("dead4")[0]["detail"])


def a_compressed_file_whose_first_bytes_are_damaged_is_refused(work):
    """Not read as lines, of which none is JSON."""
    lines = json_lines([{"url": f"http://a.example/{n}", "content": f"{WORDS} {n}"} for n in range(50)]).encode()
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nsome words"
    warc = (b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: 2023-01-01T00:00:00Z\r\n"
            b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (len(body), body))
    for name, content in ("a.warc.gz", gzip.compress(warc) * 3), ("a.jsonl.gz", gzip.compress(lines)):
        for bad in ([bytes(n) + content[n:] for n in range(1, 5)] + [content[n:] for n in range(1, 5)] +
                    [content[:n] for n in (1, 2)]):
            work.write(name, bad)
            done = work.run("run", "-q", "--dead-letter", "dead", name, code=1)
            check_equal(done.err, f"samepage: {name} is not a gzip file, or its first bytes are damaged; fetch it again, "
                        "or rename it if it is of another format\n", "message")
    work.write("b.warc", b"X" + warc[1:])
    check_in("b.warc is not a WARC file, or its first bytes are", work.run("run", "-q", "b.warc", code=1).err)
    work.write("b.jsonl.gz", gzip.compress(gzip.compress(lines)))
    check_in("compressed twice", work.run("run", "-q", "b.jsonl.gz", code=1).err)
    # What a download has decompressed under its old name is read, and so is what follows a damaged member.
    for name, content, pages in (("c.warc.gz", warc, 1), ("c.jsonl.gz", lines, 50),
                                 ("d.warc.gz", b"\x1f\x8b\x08\xff" + gzip.compress(warc)[4:] + gzip.compress(warc), 1),
                                 # Zeros, where a machine crashed, before the file was compressed; a byte order mark.
                                 ("e.jsonl.gz", gzip.compress(bytes(100) + b"\n" + lines), 50),
                                 ("e.wat", b"\xef\xbb\xbf" + lines, 50), ("f.wet.gz", b"\n" + lines, 50)):
        work.write(name, content)
        urls = {json.loads(line)["url"] for line in work.run("run", "-q", name).out.splitlines()}
        check_equal(len(urls), pages, name)


def an_array_that_is_not_read_to_its_end_is_an_error(work):
    """Behind the broken element, an object within an element could be taken for one."""
    def element(n, **more):
        return json.dumps({"url": f"http://a.example/{n}", "content": f"some words {n}", **more})

    items = [element(n, links=[{"url": "x"}]) for n in range(9)]
    work.write("a.json", f"[{','.join(items[:5])},{items[5].replace('some', 's' + chr(34))},{','.join(items[6:])}]")
    done = work.run("run", "-q", "-o", "out", "--dead-letter", "dead", "a.json", code=1)
    check_in("a.json is read up to its record 6 (from 0) only: an element of the JSON array is broken", done.err)
    check_equal({line["url"] for line in work.json_lines("out")}, {f"http://a.example/{n}" for n in range(5)}, "pages")
    check_in(f"it is number 6 of the elements, from 1, and begins at byte {len(','.join(items[:5])) + 2} of the file",
             work.json_lines("dead")[-1]["raw"])
    # Without such objects the next element is found.
    items = [element(n) for n in range(9)]
    work.write("b.json", f"[{','.join(items[:5])},{items[5].replace('some', 's' + chr(34))},{','.join(items[6:])}]")
    done = work.run("run", "-q", "-o", "out2", "b.json")
    check_equal(len({line["url"] for line in work.json_lines("out2")}), 8, "pages")


def a_charset_without_a_mark_and_lines_that_end_in_cr_are_named(work):
    lines = json_lines([{"url": f"http://a.example/{n}", "content": "some words"} for n in range(3)])
    table = "url,content\nhttp://a.example/,some words\n"
    for charset in "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE":
        for name, text in ("a.jsonl", lines), ("a.csv", table):
            work.write(name, text.encode(charset))
            check_in(f"{name} is {charset}; convert it: iconv -f {charset} -t UTF-8 FILE",
                     work.run("run", "-q", name, code=1).err)
    work.write("cr.jsonl", lines.replace("\n", "\r"))
    check_in("lines end in CR alone; convert it: tr '\\r' '\\n' < FILE", work.run("run", "-q", "cr.jsonl", code=1).err)
    work.write("mixed.jsonl", lines.replace("\n", "\r\n"))
    urls = {json.loads(line)["url"] for line in work.run("run", "-q", "mixed.jsonl").out.splitlines()}
    check_equal(len(urls), 3, "lines that end in CR and LF")
    work.write("empty.zip", b"PK\x05\x06" + bytes(18))
    check_in("an empty ZIP archive", work.run("run", "-q", "empty.zip", code=1).err)


def pipes_are_read_once(work):
    """A pipe as input is not opened to look at it first: what is read of it then would be lost."""
    crawl = work.crawl(pages=300)
    content = work.read(crawl)
    expected = {"run": work.run("run", "-q", crawl).out, "pairs": work.run("pairs", "-q", crawl).out,
                "dedup": work.run("dedup", "-q", crawl, "--kept", "-").out,
                "cover": work.run("cover", "-q", "--relation", "containment(a, b) >= 0.9", crawl).out}
    for name, out in expected.items():
        more = {"dedup": ["--kept", "-"], "cover": ["--relation", "containment(a, b) >= 0.9"]}.get(name, [])
        check_equal(work.run(name, "-q", *more, "/dev/stdin", stdin=content).out, out, f"{name} of a pipe")
    os.mkfifo(work.path("fifo"))

    def feed(*arguments):
        process = work.start(*arguments)
        with open(work.path("fifo"), "wb") as fifo:
            fifo.write(content)
        check_equal(process.wait(PATIENCE_SECONDS), 0, f"exit code of {arguments}")

    # Behind another input, and with a state, which knows files by their first bytes.
    feed("run", "-q", "-o", "two", crawl, "fifo")
    check_equal(work.read("two").decode(), work.run("run", "-q", crawl, "-", stdin=content).out, "a pipe behind a file")
    relation = ("--relation", "containment(a, b) >= 0.9")  # cover and ingest open all inputs at once
    feed("cover", "-q", *relation, "-o", "cover", crawl, "fifo")
    check_equal(work.read("cover").decode(), work.run("cover", "-q", *relation, crawl, "-", stdin=content).out,
                "a pipe behind a file, of cover")
    feed("run", "-q", "--state", "state", "-o", "out", "fifo")
    check_equal(work.read("out").decode(), expected["run"], "with a state")
    # The examples of an audit's page are read again from files only.
    work.run("dedup", "-q", crawl, "--removed", "removed")
    feed("audit", "-q", "--removed", "removed", "--report", "report", "fifo")
    check(work.exists("report/index.html"), "no report")


def parquet_names_the_python_package(work):
    work.write("a.parquet", b"PAR1" + bytes(100))
    check_in("python -m samepage", work.run("run", "-q", "a.parquet", code=1).err)


def an_id_named_url_need_not_be_one(work):
    """The option that names the id field means that ids are used as they are, also for the default name. Without it,
    the reason names the option."""
    lines = [{"url": u, "content": "one two three four five six"} for u in ("17", "https://a.example/")]
    work.write("a.jsonl", json_lines(lines))
    for given in ("--id-field", "url"), ("--set", "input.id_field=url"):
        out = work.run("run", "-q", *given, "a.jsonl").out
        check_equal({json.loads(line)["url"] for line in out.splitlines()}, {"doc:17", "https://a.example/"}, given)
    work.write("b.jsonl", json_lines(lines[:1]))
    check_in("no spaces or control characters, and at most 8192 bytes; if it is an id, name its field: --id-field NAME",
             work.run("run", "-q", "b.jsonl", code=1).err)


def a_dataset_needs_no_options(work):
    """dedup reads what datasets have: id and text, or text alone."""
    items = [{"text": "one two three four five six seven eight"}, {"id": 7, "text": "nine ten eleven twelve"},
             {"id": "b", "text": "one two three four five six seven eight"}]
    work.write("a.jsonl", json_lines(items))
    work.run("dedup", "-q", "a.jsonl", "--kept", "kept", "--removed", "removed")
    check_equal(work.read("kept").decode(), json_lines(items[:2]), "kept")
    check_equal(work.json_lines("removed"), [{"id": "b", "kept": "0", "similarity": 1, "reason": "exact"}], "removed")
    work.write("alone.csv", "text\r\n" + "".join(f'"{d["text"]}"\r\n' for d in items))
    work.run("dedup", "-q", "alone.csv", "--kept", "kept2", "--removed", "removed2")
    check_equal(work.json_lines("kept2"), [{"text": d["text"]} for d in items[:2]], "of a table of texts alone")
    check_equal([d["id"] for d in work.json_lines("removed2")], ["2"], "its copy")


def names_that_are_not_utf8_stay_different(work):
    """JSON cannot hold their bytes; the ids that are printed are those by which the documents are found again."""
    text = "one two three four five six seven eight nine ten"
    os.mkdir(work.path("texts"))
    for name in b"caf\xe8.txt", b"caf\xe9.txt", "café.txt".encode(), b"caf%E9.txt":
        with open(os.path.join(work.path("texts").encode(), name), "w", encoding="utf-8") as f:
            f.write(text)
    names = ["doc:texts/" + n for n in ("caf%25E9.txt", "café.txt", "caf%E8.txt", "caf%E9.txt")]
    work.run("run", "-q", "--state", "state", "-o", "out", "texts")
    check_equal(sorted(latest(work.read("out"))), sorted(names), "names of files")
    check_in("2 pages forgotten, 0 were not known",
             work.run("forget", "--state", "state", "-o", "out", names[2], names[3]).err)

    def record(url, more, body):
        body = b"HTTP/1.1 " + more + b"\r\n\r\n" + body
        return (b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %b\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
                b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
                % (url, len(body), body))

    html = b"200 OK\r\nContent-Type: text/html"
    work.write("raw.warc", record(b"http://a.example/caf\xe8", html, text.encode())
               + record(b"http://a.example/caf\xe9", html, b"other words of another page")
               + record(b"http://a.example/old", b"301 Moved\r\nLocation: /caf\xe9", b""))
    work.run("run", "-q", "-o", "raw.out", "raw.warc")
    last = latest(work.read("raw.out"))
    check_equal({url: e["winner_url"] for url, e in last.items()},
                {"http://a.example/caf%E8": None, "http://a.example/caf%E9": None,
                 "http://a.example/old": "http://a.example/caf%E9"}, "URLs of a WARC")


if __name__ == "__main__":
    main(__name__)
