"""samepage dedup: the output is the corpus without its near duplicates, byte for byte, compared with an independent
greedy cover in Python."""

import gzip
import json
import os
import random
import signal
import subprocess
import time

from harness import PATIENCE_SECONDS, Skip, check, check_equal, check_in, main

TAU = 0.8


def make_documents(seed, count):
    """Texts of which many are edited copies of earlier ones, so that there are chains."""
    rng = random.Random(seed)
    documents = []
    for number in range(count):
        words = ["%s%d" % (rng.choice("abcdefgh"), rng.randint(0, 400)) for _ in range(rng.randint(40, 120))]
        if documents and rng.random() < 0.7:
            words = rng.choice(documents[-40:])["text"].split()
            for _ in range(rng.choice([0, 1, 1, 2, 3])):
                words[rng.randrange(len(words))] = "edit%d" % rng.randint(0, 10**6)
        documents.append({"id": "http://corpus.example/%d" % number, "text": " ".join(words)})
    return documents


def shingles(text):
    words = text.split()
    return {tuple(words[i:i + 5]) for i in range(max(1, len(words) - 4))}


def jaccard(a, b):
    both = len(a & b)
    return both / (len(a) + len(b) - both)


def expected(documents):
    """Greedy in reading order: which documents are kept, and the most similar kept one for each dropped one."""
    kept, removed = [], {}
    for d in documents:
        d["set"] = shingles(d["text"])
        best = max(((jaccard(d["set"], k["set"]), -i) for i, k in enumerate(kept)), default=(0, 0))
        if best[0] >= TAU:
            removed[d["id"]] = (kept[-best[1]]["id"], best[0])
        else:
            kept.append(d)
    return [d["id"] for d in kept], removed


def json_line(d):
    """A line as people write it: extra fields, white space, escapes."""
    line = json.dumps({"url": d["id"], "content_type": "text/plain", "content": d["text"], "lang": "é"})
    return line.replace('": ', '" :  ', 1)


def warc_record(kind, url, body, extra=""):
    head = ("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nX-Mine: a  b\r\n"
            "Content-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n") % (kind, url, extra, len(body))
    return head.encode() + body + b"\r\n\r\n"


def check_removed(lines, removed):
    check_equal(sorted(line["id"] for line in lines), sorted(removed), "removed")
    for line in lines:
        kept, similarity = removed[line["id"]]
        check_equal(line["kept"], kept, "the kept one of " + line["id"])
        check(abs(line["similarity"] - similarity) < 1e-9, line, similarity)
        check_equal(line["reason"], "exact" if similarity == 1 else "similar", line["id"])


def make_crowd(rng, count):
    """Pages of one template, which resemble one another but not enough, and some copies."""
    template = ["part%d" % i for i in range(60)]
    texts = []
    for number in range(count):
        own = ["own%d" % rng.randint(0, 10**9) for _ in range(rng.randint(30, 60))]
        copied = texts and rng.random() < 0.1
        words = rng.choice(texts).split() if copied else template[:rng.randint(40, 60)] + own
        if copied:
            words[rng.randrange(len(words))] = "edit%d" % number
        texts.append(" ".join(words))
    return [{"id": "http://crowd.example/%d" % i, "text": text} for i, text in enumerate(texts)]


def dedup_of_one_template_keeps_the_first_of_each(work):
    """Enough comparisons for the other index (dedup/crowd.h), also where a state is continued."""
    documents = make_crowd(random.Random(3), 700)
    kept, removed = expected(documents)
    check(len(removed) > 40 and len(kept) > 600, "a poor sample:", len(kept), len(removed))
    lines = {d["id"]: json_line(d) + "\n" for d in documents}
    work.write("corpus.jsonl", "".join(lines.values()))
    work.run("dedup", "-q", "corpus.jsonl", "--kept", "kept", "--removed", "removed")
    check_equal(work.read("kept").decode(), "".join(lines[i] for i in kept), "kept")
    check_removed(work.json_lines("removed"), removed)
    parts = documents[:500], documents[500:]
    for number, part in enumerate(parts):
        work.write("part%d.jsonl" % number, "".join(lines[d["id"]] for d in part))
        work.run("dedup", "-q", "--state", "state", "part%d.jsonl" % number, "--removed", "gone%d" % number,
                 "--set", "cache.bytes=8MiB")
    check_removed(work.json_lines("gone0") + work.json_lines("gone1"), removed)


def dedup_keeps_the_first_of_each(work):
    documents = make_documents(1, 700)
    kept, removed = expected(documents)
    check(len(removed) > 200 and len(kept) > 100, "a poor sample:", len(kept), len(removed))
    lines = {d["id"]: json_line(d) for d in documents}
    work.write("corpus.jsonl", "".join(line + "\n" for line in lines.values()))
    for threads in ("1", "3"):
        said = work.run("dedup", "corpus.jsonl", "--kept", "kept", "--removed", "removed",
                        "--clusters", "clusters", "--set", "threads=" + threads).err
        check_equal(work.read("kept").decode(), "".join(lines[i] + "\n" for i in kept), "kept")
        check_removed(work.json_lines("removed"), removed)
        check_in("%15s" % f"{len(removed):,}", said)
    clusters = {c["kept"]: {m["id"]: m["similarity"] for m in c["removed"]}
                for c in work.json_lines("clusters")}
    check_equal({i: (k, s) for k, members in clusters.items() for i, s in members.items()},
                {line["id"]: (line["kept"], line["similarity"])
                 for line in work.json_lines("removed")}, "clusters")
    check_equal([c["kept"] for c in work.json_lines("clusters")],
                [i for i in kept if i in clusters], "order of the clusters")
    # Another command agrees that the kept documents have no near duplicates.
    check_equal(work.run("pairs", "-q", "kept").out, "", "pairs among the kept")


def dedup_copies_warc_records_as_they_are(work):
    documents = make_documents(2, 200)
    kept, removed = expected(documents)
    records, others = {}, []
    for d in documents:
        page = d["text"].encode()
        records[d["id"]] = warc_record("response", d["id"], b"HTTP/1.1 200 OK\r\nContent-Type: text/plain"
                                       b"\r\nX-Odd:   1\r\n\r\n" + page)
    image = warc_record("response", "http://corpus.example/i.png",
                        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\r\n\0WARC/1.0")
    others = [image, warc_record("resource", "http://corpus.example/i.png",
                                 b"\x00\x01binary", "").replace(b"text/plain", b"image/gif")]
    work.write("crawl.warc", warc_record("warcinfo", "", b"software: a test\r\n") +
               b"".join(records.values()) + b"".join(others))
    work.run("dedup", "-q", "crawl.warc", "--kept", "kept.warc", "--removed", "removed")
    check_equal(work.read("kept.warc"), b"".join(records[i] for i in kept) + b"".join(others), "kept")
    check_removed(work.json_lines("removed"), removed)
    # Each record is a member of its own, as readers with random access expect.
    work.run("dedup", "-q", work.gzip("crawl.warc"), "--kept", "kept.warc.gz")
    packed = work.read("kept.warc.gz")
    check_equal(gzip.decompress(packed), work.read("kept.warc"), "kept.warc.gz")
    check(packed.count(b"\x1f\x8b\x08") >= len(kept) + 2, "members")


def dedup_compresses_by_the_name(work):
    work.crawl(pages=3000)
    work.run("dedup", "-q", "crawl.jsonl", "--kept", "kept")
    work.run("dedup", "-q", "crawl.jsonl", "--kept", "kept.gz")
    check_equal(gzip.decompress(work.read("kept.gz")), work.read("kept"), "gzip")
    work.run("dedup", "-q", work.zstd("crawl.jsonl"), "--kept", "kept.zst")
    plain = subprocess.run(["zstd", "-dc", work.path("kept.zst")], stdout=subprocess.PIPE, check=True)
    check_equal(plain.stdout, work.read("kept"), "Zstandard")


def dedup_holds_the_next_snapshot_against_all_before(work):
    documents = make_documents(3, 600)
    kept, removed = expected(documents)
    lines = {d["id"]: json_line(d) + "\n" for d in documents}
    parts = [documents[:250], documents[250:400], documents[400:]]
    for i, part in enumerate(parts):
        work.write(f"part{i}", "".join(lines[d["id"]] for d in part))
        work.run("dedup", "-q", "--state", "state", f"part{i}", "--kept", f"kept{i}", "--removed",
                 "removed", "--clusters", f"clusters{i}")
    check_equal("".join(work.read(f"kept{i}").decode() for i in range(3)),
                "".join(lines[i] for i in kept), "kept")
    check_removed(work.json_lines("removed"), removed)
    members = {m["id"] for c in work.json_lines("clusters2") for m in c["removed"]}
    check_equal(members, set(removed), "the clusters of all calls")
    # A second call changes nothing.
    before = work.read("kept1")
    said = work.run("dedup", "--state", "state", "part1", "--kept", "kept1", "--removed", "removed").err
    check_in("handled before", said)
    check_equal(work.read("kept1"), before, "kept1")
    check_removed(work.json_lines("removed"), removed)


def dedup_killed_and_repeated(work):
    work.crawl(pages=12000)
    work.run("dedup", "-q", "crawl.jsonl", "--kept", "kept", "--removed", "removed", "--clusters", "clusters")
    arguments = ("dedup", "-q", "--state", "state", "--set", "barrier.pages=500", "crawl.jsonl", "--kept",
                 "kept2", "--removed", "removed2", "--clusters", "clusters2")
    kills, rng, end = 0, random.Random(5), time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        process = work.start(*arguments)
        try:
            if process.wait(timeout=rng.uniform(0.02, 0.3)) == 0:
                break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            if kills > 30:
                break
    work.run(*arguments)
    if kills == 0:
        raise Skip("it was never killed: the machine is too fast")
    for name in ("kept", "removed", "clusters"):
        check_equal(work.read(name + "2"), work.read(name), f"{name} after {kills} kills")


def dedup_makes_lines_of_tables_and_arrays(work):
    """Output of a format that cannot be kept becomes JSON lines, never an invalid table."""
    lines = [{"id": str(n), "text": text, "note": "as it was"} for n, text in
             enumerate(("one two three four five six", "something else is said here", "one two three four five six"))]
    work.write("a.csv", "id,text,note\n" + "".join(",".join(d.values()) + "\n" for d in lines))
    work.write("a.tsv", "id\ttext\tnote\n" + "".join("\t".join(d.values()) + "\n" for d in lines))
    work.write("a.json", json.dumps(lines))
    for name in "a.csv", "a.tsv", "a.json":
        work.run("dedup", "-q", name, "--kept", name + ".jsonl")
        check_equal(work.json_lines(name + ".jsonl"), lines[:2], name)
    for name in "kept.csv", "kept.TSV", "kept.csv.gz":
        said = work.run("dedup", "-q", "a.csv", "--kept", name, code=2).err
        check_in("the documents of one become JSON lines", said)
        check(not work.exists(name), "a file was made:", name)


def dedup_writes_no_format_that_the_name_of_its_output_denies(work):
    """A folder of texts becomes WARC: not in a file that is called .jsonl."""
    os.mkdir(work.path("texts"))
    for n, text in enumerate(("one two three four five six", "something else is said here")):
        work.write(f"texts/{n}.txt", text)
    for name in "kept.jsonl", "kept.json.gz", "kept.NDJSON", "kept.jsonl.zst":
        check_in(f"not as the name {name} says; give a name that ends with .warc",
                 work.run("dedup", "-q", "texts", "--kept", name, code=1).err)
        check(not work.exists(name), "a file was made:", name)
    for name in "kept.warc", "kept", "kept.jsonl.old":
        work.run("dedup", "-q", "texts", "--kept", name)
        check_equal(work.read(name).count(b"WARC/1.0"), 2, name)
    work.write("in.jsonl", json_line({"id": "1", "text": "some text"}) + "\n")
    for name in "kept2.warc", "kept2.warc.gz":
        check_in("is written as JSON lines", work.run("dedup", "-q", "in.jsonl", "--kept", name, code=1).err)
    check_in("is written as JSON lines",
             work.run("dedup", "-q", "-", "--kept", "kept2.warc", code=1, stdin=work.read("in.jsonl")).err)
    work.run("dedup", "-q", "in.jsonl", "--kept", "kept2.jsonl")
    check_equal(work.read("kept2.jsonl"), work.read("in.jsonl"), "lines")


def dedup_names_documents_whose_ids_hold_a_nul(work):
    text = " ".join(f"word{n}" for n in range(50))
    ids = ["a\0b", "a\0c", "a", "x"]
    work.write("in.jsonl", "".join(json_line({"id": i, "text": text}) + "\n" for i in ids))
    for state in [], ["--state", "state"]:
        work.run("dedup", "-q", *state, "in.jsonl", "--removed", "removed", "--clusters", "clusters")
        check_equal([(r["id"], r["kept"]) for r in work.json_lines("removed")], [(i, ids[0]) for i in ids[1:]], state)
        check_equal([c["kept"] for c in work.json_lines("clusters")], ids[:1], state)
        os.remove(work.path("removed"))
    work.write("more.jsonl", json_line({"id": "y", "text": text}) + "\n")
    work.run("dedup", "-q", "--state", "state", "more.jsonl", "--removed", "removed2", "--clusters", "clusters")
    check_equal(work.json_lines("removed2")[0]["kept"], ids[0], "an id of the state")


def dedup_refuses_what_would_lose_data(work):
    line = json_line({"id": "http://a.example/", "text": "some text of a page that is kept"}) + "\n"
    work.write("in.jsonl", line)
    said = work.run("dedup", "in.jsonl", "--kept", "in.jsonl", code=1).err
    check_in("is an input and an output", said)
    check_equal(work.read("in.jsonl").decode(), line, "the input")
    check_in("named for two outputs",
             work.run("dedup", "in.jsonl", "--kept", "x", "--removed", "x", code=2).err)
    check_in("--kept", work.run("dedup", "in.jsonl", code=2).err)
    work.write("mine", "precious\n")
    check_in("was not written with this state",
             work.run("dedup", "in.jsonl", "--kept", "mine", "--state", "state", code=1).err)
    check_equal(work.read("mine"), b"precious\n", "a file of somebody else's")
    work.write("w.warc", warc_record("resource", "http://a.example/b", b"some other text of a page"))
    check_in("another format", work.run("dedup", "in.jsonl", "w.warc", "--kept", "x", code=1).err)
    check_in("command was dedup",
             work.run("run", "--state", "state", "-o", "y", "in.jsonl", code=1).err)
    for other in ["rules"], ["serve", "--listen", "127.0.0.1:0"], ["forget", "http://a.example/"]:
        check_in("is a state of `samepage dedup`", work.run(*other, "--state", "state", code=1).err)
    work.write("bad.jsonl", "no JSON\n[1]\n")
    said = work.run("dedup", "bad.jsonl", "--kept", "x", "--dead-letter", "dead", code=1).err
    check_in("no record of the input could be read", said)
    check_equal([d["raw"] for d in work.json_lines("dead")], ["no JSON", "[1]"], "dead letters")


def other_fields_called_id_or_text_lose_no_document(work):
    """Where a document has a url and a content, its other fields may hold anything, in any order."""
    odd = [{"id": {"$oid": "5f"}, "url": "http://odd.example/1", "content": "one two three four five six"},
           {"url": "http://odd.example/2", "id": True, "content": "seven eight nine ten eleven twelve"},
           {"text": ["a", {"b": 1}], "url": "http://odd.example/3", "content": "red green blue black white grey"},
           {"url": "http://odd.example/4", "content": "oak ash elm birch beech lime", "text": 5},
           {"text": "north south east west up down", "url": "http://odd.example/5", "content": ""},
           {"id": "six", "url": "", "text": "iron lead gold silver tin zinc"}]
    copies = [{"url": "http://copies.example/%d" % n, "content": text} for n, text in enumerate((
        odd[0]["content"], odd[1]["content"], odd[2]["content"], odd[3]["content"], odd[4]["text"], odd[5]["text"]))]
    work.write("odd.jsonl", "".join(json.dumps(d) + "\n" for d in odd + copies))
    work.run("dedup", "-q", "odd.jsonl", "--removed", "removed")
    check_equal([(r["id"], r["kept"]) for r in work.json_lines("removed")],
                [(c["url"], o["url"] or o["id"]) for c, o in zip(copies, odd)], "each document has been read")
    for line, why in (('{"id":[1],"text":"a b"}', "the id is not a string or a whole number"),
                      ('{"id":1,"text":["a b"]}', "text is not a string")):
        work.write("bad.jsonl", line + "\n")
        check_in(why, work.run("dedup", "-q", "bad.jsonl", "--removed", "none", code=1).err)


def documents_that_were_compared_in_part_are_reported(work):
    """Two documents that differ only behind text.max_bytes count as equal: every command must say so."""
    head = "word " * 400
    work.write("long.jsonl", "".join(json.dumps({"id": tail, "text": head + tail * 99}) + "\n" for tail in (" a", " b")))
    work.write("a.txt", head + " a" * 99)
    named = "--id-field", "id", "--text-field", "text"
    cut = "--set", "text.max_bytes=1KiB"
    kept = "dedup", "-q", "--kept", "kept", "--removed", "removed"
    for command in (kept, ("audit", "-q", "--removed", "removed", "--json", "report"),
                    ("pairs", "-q", *named), ("train", "-q", "-o", "map", *named),
                    ("cover", "-q", "-o", "cover", "--relation", "jaccard(a, b) > 0.9", *named),
                    ("evaluate", "-q", "--only", "summary", "--report", "page", *named)):
        said = work.run(*command, *cut, "long.jsonl").err
        check_in("records longer than text.max_bytes, compared by their beginning only: 2", said)
        check("text.max_bytes" not in work.run(*command, "long.jsonl").err, command)
    check_in("cut at text.max_bytes", work.run("similar", *cut, "a.txt", "a.txt").out)
    check("cut" not in work.run("similar", "a.txt", "a.txt").out, "a whole text")


if __name__ == "__main__":
    main(__name__)
