"""samepage archive: every record is restored byte for byte, also after kills, and other tools read the standard parts.
"""

import glob
import gzip
import hashlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib

from harness import check, check_equal, check_in, main

NEWLINES = b"\r\n\r\n"


def record(kind, url, block, number, *fields, version="1.1"):
    lines = ["WARC/" + version, "WARC-Type: " + kind]
    if url:
        lines.append("WARC-Target-URI: " + url)
    lines += ["WARC-Date: 2024-01-%02dT%02d:%02d:00Z" % (number // 1440 % 28 + 1, number // 60 % 24, number % 60),
              "WARC-Record-ID: <urn:uuid:00000000-0000-4000-a000-%012d>" % number, *fields,
              "Content-Length: %d" % len(block)]
    return "\r\n".join(lines).encode() + NEWLINES + block


def response(url, body, number, *fields, mime="text/html"):
    http = "HTTP/1.1 200 OK\r\nX-Number: %d\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (
        number, mime, len(body))
    return record("response", url, http.encode() + body, number, "Content-Type: application/http; msgtype=response",
                  *fields)


def text(rng, words):
    return "<html><body><p>%s</p></body></html>" % " ".join(
        "".join(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(2, 9))) for _ in range(words))


def changed(rng, page, times):
    words = page.split(" ")
    for _ in range(times):
        words[rng.randrange(len(words))] = "w%d" % rng.randrange(10**6)
    return " ".join(words)


def crawl(seed, pages=40, versions=6):
    """Records of all kinds: versions of pages, copies under other URLs, copies of copies, other types."""
    rng = random.Random(seed)
    texts = [text(rng, rng.randint(50, 600)) for _ in range(pages)]
    records = [record("warcinfo", None, b"software: test\r\n", 0)]
    for version in range(versions):
        for page in range(pages):
            number = len(records)
            url = "http://h%d.example/%d" % (page % 3, page)
            if version and rng.random() < 0.8:
                texts[page] = changed(rng, texts[page], rng.choice([0, 1, 3, 30]))
            if rng.random() < 0.1:
                texts[page] = texts[rng.randrange(pages)]
            body = texts[page].encode()
            records.append(response(url, body, number))
            if rng.random() < 0.2:
                records.append(record("request", url, b"GET / HTTP/1.1\r\n\r\n", number + 5000))
            if rng.random() < 0.1:
                records.append(response(url + "?copy", body, number + 7000, "WARC-Payload-Digest: sha1:" + "A" * 32))
    records.append(record("resource", "http://h.example/r", texts[0].encode(), 9001, "Content-Type: text/html"))
    records.append(record("conversion", "http://h.example/c", texts[0].encode(), 9002, version="1.0"))
    records.append(record("metadata", "http://h.example/r", b"x: y", 9003))
    records.append(response("http://h.example/empty", b"", 9004))
    records.append(response("http://h.example/noise", rng.randbytes(3000), 9005, mime="image/png"))
    records.append(response("http://h.example/noise", rng.randbytes(3000), 9006, mime="image/png"))
    records.append(record("revisit", "http://h.example/old", b"HTTP/1.1 200 OK\r\n\r\n", 9007,
                          "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"))
    records.append(b"WARC/1.0\nWARC-Type: response\nWARC-Target-URI: http://h.example/lf\nContent-Length: 500\n\n" +
                   texts[1].encode()[:300].ljust(500))
    records.append(b"WARC/1.0\nWARC-Type: response\nWARC-Target-URI: http://h.example/lf2\nContent-Length: 500\n\n" +
                   texts[1].encode()[:300].ljust(500))
    return records


def write(work, name, records):
    work.write(name, b"".join(r + NEWLINES for r in records))
    return name


def url_of(one):
    head = one[:one.index(b"\r\n\r\n") if b"\r\n\r\n" in one else len(one)]
    for line in head.split(b"\n"):
        if line.startswith(b"WARC-Target-URI: "):
            return line[17:].strip().decode()
    return None


def kind_of(one):
    return one.split(b"WARC-Type: ")[1].split(b"\n")[0].strip().decode()


def files(work, folder):
    """Names and contents of the archive's files that must not depend on kills. The state counts commits; inputs are
    listed by name, and names are equal too."""
    return {name: work.read(os.path.join(folder, name)) for name in sorted(os.listdir(work.path(folder)))}


def restored(work, folder, what="ALL", code=0):
    work.run("archive", "--restore", what, "-o", "back.warc", folder, code=code)
    return work.read("back.warc")


def check_urls(work, folder, records):
    by_url = {}
    for one in records:
        if url_of(one) and kind_of(one) in ("response", "resource", "conversion", "revisit"):
            by_url.setdefault(url_of(one), []).append(one)
    for url in sorted(by_url)[::7] + ["http://h.example/old", "http://h.example/noise"]:
        if url in by_url:
            check_equal(restored(work, folder, url), b"".join(r + NEWLINES for r in by_url[url]), url)


def every_record_comes_back(work):
    for seed, options in (1, []), (2, ["--depth", "1"]), (3, ["--depth", "0"]), (4, ["--depth", "3", "--segment", "30K"]):
        records = crawl(seed)
        whole = write(work, "crawl.warc", records) and work.read("crawl.warc")
        work.run("archive", "-q", "-o", f"a{seed}", "--summary", "summary", *options, "crawl.warc")
        check_equal(restored(work, f"a{seed}"), whole, "all records")
        check_urls(work, f"a{seed}", records)
        said = work.json_lines("summary")[0]
        check_equal(said["records"], len(records), "records")
        check_equal(said["whole"] + said["revisits"] + said["patches"], len(records), "ways of storing")
        check(said["revisits"] > 20, "few revisits:", said)
        check((said["patches"] > 100) == ("0" not in options), "patches:", said)
        check(said["deepest"] <= (int(options[1]) if options else 8), "too deep:", said)
        stored = sum(len(work.read(os.path.join(f"a{seed}", name))) for name in os.listdir(work.path(f"a{seed}"))
                     if name.endswith(".warc.gz"))
        check_equal(said["stored_bytes"], stored, "stored bytes")


def an_archive_grows_and_knows_what_it_has(work):
    records = crawl(5)
    halves = records[:len(records) // 2], records[len(records) // 2:]
    write(work, "first.warc", halves[0])
    write(work, "second.warc", halves[1])
    work.run("archive", "-q", "-o", "once", "first.warc", "second.warc")
    work.run("archive", "-q", "-o", "grown", "first.warc")
    work.gzip("second.warc")
    os.rename(work.path("second.warc"), work.path("plain"))
    os.rename(work.path("second.warc.gz"), work.path("second.warc"))
    work.run("archive", "-q", "-o", "grown", "--summary", "s", "second.warc", "first.warc")
    check_equal(work.json_lines("s")[0]["passed"], len(halves[0]), "records of an input that was read")
    once, grown = files(work, "once"), files(work, "grown")
    for name in once:
        check_equal(grown[name], once[name], name)
    # The input has grown.
    write(work, "first.warc", halves[0] + crawl(6, pages=3))
    work.run("archive", "-q", "-o", "grown", "--summary", "s", "first.warc")
    check_equal(work.json_lines("s")[0]["records"], len(crawl(6, pages=3)), "records that are new")
    check_equal(restored(work, "grown"), b"".join(r + NEWLINES for r in records + crawl(6, pages=3)), "all")


def kills_at_any_moment_change_nothing(work):
    """After kills at any moment the archive's files are those of an undisturbed call, and between two kills every
    committed record can be restored."""
    records = crawl(7, pages=120, versions=8)
    write(work, "crawl.warc", records)
    whole = work.read("crawl.warc")
    call = ["archive", "-q", "--commit", "40K", "--segment", "60K"]
    start = time.monotonic()
    work.run(*call, "-o", "calm", "crawl.warc")
    seconds = time.monotonic() - start
    calm = files(work, "calm")
    check(len([name for name in calm if name.endswith(".warc.gz")]) > 3, "too few segments")
    rng = random.Random(7)
    kills = seen = 0
    for _ in range(60):
        process = work.start(*call, "-o", "killed", "crawl.warc")
        try:
            process.wait(rng.uniform(0, 0.3 * seconds))
        except subprocess.TimeoutExpired:
            pass
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
        if not work.exists("killed/state"):
            continue
        back = restored(work, "killed")
        check(whole.startswith(back), "what is restored after a kill is no beginning of what came")
        check(len(back) >= seen, "less than after the kill before")
        seen = len(back)
        some = records[1]
        if seen:
            check(restored(work, "killed", url_of(some)).startswith(some), "a URL after a kill")
    work.run(*call, "-o", "killed", "crawl.warc")
    killed = files(work, "killed")
    for name in calm:
        check_equal(killed[name], calm[name], name)
    check_equal(restored(work, "killed"), whole, "all records")
    check(kills >= 2, "too few kills:", kills)


def warcio_reads_what_is_standard(work):
    python = work.with_packages("warcio", "1.8.1")
    sys.path += glob.glob(os.path.join(os.path.dirname(python), "..", "lib", "python*", "site-packages"))
    from warcio.archiveiterator import ArchiveIterator
    from warcio.checker import Checker
    records = crawl(8)
    # Correct digests, so that warcio checks them; another test uses invented ones.
    records = [r for r in records if b"sha1:" + b"A" * 32 not in r and b"\r\n" in r[:12]]
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "a", "--segment", "50K", "crawl.warc")
    kinds, names = {}, []
    bodies = {one.split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0].decode(): one.split(NEWLINES, 2)[-1]
              for one in records if kind_of(one) == "response"}
    for name in sorted(os.listdir(work.path("a"))):
        if not name.endswith(".warc.gz"):
            continue
        check(Checker(type("Options", (), {"inputs": [work.path(f"a/{name}")], "verbose": False})).process_all() == 0,
              "warcio check finds fault with", name)
        with open(work.path(f"a/{name}"), "rb") as f:
            for one in ArchiveIterator(f):
                kinds[one.rec_type] = kinds.get(one.rec_type, 0) + 1
                names.append(one.rec_headers.get_header("WARC-Record-ID"))
                if one.rec_type == "response":
                    check_equal(one.content_stream().read(), bodies[names[-1]], names[-1])
                if one.rec_type == "revisit" and one.rec_headers.get_header("WARC-Refers-To"):
                    check(one.rec_headers.get_header("WARC-Refers-To") in names, "a revisit of nothing")
                    check_in("identical-payload-digest", one.rec_headers.get_header("WARC-Profile"))
                    check_equal(one.http_headers.get_statuscode() if one.http_headers else "200", "200", "status")
    check(kinds["patch"] > 50 and kinds["revisit"] > 20 and kinds["response"] > 20, kinds)
    check_equal(sum(kinds.values()), len(records) + len([n for n in os.listdir(work.path("a")) if "warc" in n]),
                "records, and one for each file")


def the_index_leads_to_the_records(work):
    """Each line's offset and length denote a gzip member with a record of the line's URL; lines are sorted."""
    records = crawl(9)
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    lines = work.read("a/index.cdxj").splitlines(keepends=True)
    check_equal(lines, sorted(lines), "order")
    check_equal(len(lines), len([r for r in records if kind_of(r) in (
        "response", "resource", "conversion", "revisit")]), "lines")
    for line in lines:
        about = json.loads(line.split(b" ", 2)[2])
        stored = work.read("a/" + about["filename"])
        member = stored[int(about["offset"]):int(about["offset"]) + int(about["length"])]
        one = gzip.decompress(member)
        check_equal(url_of(one), about["url"], "url")
        mime = {"revisit": "warc/revisit", "patch": "warc/patch"}.get(kind_of(one))
        check(mime in (None, about.get("mime")), about)


def an_archive_of_an_archive_comes_back(work):
    write(work, "crawl.warc", crawl(10, pages=10))
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    work.run("archive", "-q", "-o", "b", "a/samepage-00000.warc.gz")
    work.run("archive", "--restore", "ALL", "-o", "inner.warc", "b")
    check_equal(work.read("inner.warc"), gzip.decompress(work.read("a/samepage-00000.warc.gz")), "the inner archive")


def a_damaged_input_loses_what_is_damaged(work):
    records = crawl(11, pages=10)
    members = [gzip.compress(r + NEWLINES) for r in records]
    damaged = bytearray(b"".join(members[:20]) + members[20][:40] + b"\0" * 40 + members[20][80:] +
                        b"".join(members[21:]))
    work.write("crawl.warc.gz", bytes(damaged))
    done = work.run("archive", "-o", "a", "--summary", "s", "crawl.warc.gz")
    check_in("damaged", done.err)
    back = restored(work, "a")
    kept = [r for r in records if r + NEWLINES in back]
    check_equal(b"".join(r + NEWLINES for r in kept), back, "what comes back")
    check(len(kept) >= len(records) - 2, len(kept), "of", len(records))
    check(work.json_lines("s")[0]["bad"] >= 1, "nothing was bad")


def a_file_that_cannot_be_decompressed_says_how_it_can(work):
    """Frames whose window is 256 MiB, and whose dictionary has the number 7; each has a block of 5 bytes."""
    for name, frame, how in (("window", b"\x28\xb5\x2f\xfd\x00\x90\x29\0\0hello", "zstd -dc --long=31 FILE"),
                             ("foreign", b"\x28\xb5\x2f\xfd\x01\x00\x07\x29\0\0hello", "zstd -dc -D DICTIONARY FILE")):
        write(work, f"{name}.warc", crawl(13, pages=2))
        packed = work.zstd(f"{name}.warc")
        work.write(packed, work.read(packed) + frame)
        for command in "archive", "run":
            done = work.run(command, "-o", f"{command}-{name}", packed)
            check_in(how, done.err)


def a_damaged_archive_says_so(work):
    write(work, "crawl.warc", crawl(12))
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    stored = bytearray(work.read("a/samepage-00000.warc.gz"))
    stored[len(stored) // 2] ^= 0x40
    work.write("a/samepage-00000.warc.gz", bytes(stored))
    done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", code=1)
    check_in("samepage-00000.warc.gz@", done.err)
    work.write("a/samepage-00000.warc.gz", bytes(stored[:1000]))
    check_in("part of it is lost", work.run("archive", "-q", "-o", "a", "crawl.warc", code=1).err)
    work.write("a/state", b"something else\n")
    check_in("is not the state", work.run("archive", "-q", "-o", "a", "crawl.warc", code=1).err)


def members(stored):
    """Offset and length of each gzip member."""
    at, found = 0, []
    while at < len(stored):
        one = zlib.decompressobj(31)
        one.decompress(stored[at:])
        found.append((at, len(stored) - at - len(one.unused_data)))
        at += found[-1][1]
    return found


def noise(seed, count):
    """Records that are stored whole: of pages, which the index has, and of other types."""
    rng = random.Random(seed)
    return [response("http://n.example/%d" % n, rng.randbytes(1000), n, mime="image/png") if n % 3 else
            record("metadata", None, rng.randbytes(1000), n) for n in range(count)]


def joined(records):
    return b"".join(one + NEWLINES for one in records)


def a_file_of_an_archive_that_was_cut_is_noticed(work):
    """Also if it was cut between two records, so that what is left can be read."""
    records = noise(17, 40)
    write(work, "crawl.warc", records)
    for old in False, True:
        work.run("archive", "-q", "-o", f"a{old}", "--segment", "10K", "crawl.warc")
        if old:  # of a version whose state did not say where earlier files end
            work.write("aTrue/state", b"".join(line for line in work.read("aTrue/state").splitlines(keepends=True)
                                               if not line.startswith(b"ended ")))
        names = sorted(name for name in os.listdir(work.path(f"a{old}")) if name.endswith(".warc.gz"))
        check(len(names) > 3, names)
        first = 0
        for name in names:
            stored = work.read(f"a{old}/{name}")
            places = members(stored)
            for left in 0, 1, len(places) - 2:
                os.truncate(work.path(f"a{old}/{name}"), places[left][0])
                done = work.run("archive", "--restore", "ALL", "-o", "back.warc", f"a{old}", code=1)
                check_in(f"a{old}/{name}: has {places[left][0]} bytes instead of", done.err)
                end = first + len(places) - 1
                check_equal(work.read("back.warc"), joined(records[:first + max(left - 1, 0)] + records[end:]),
                            "the other records")
                work.write(f"a{old}/{name}", stored)
            os.rename(work.path(f"a{old}/{name}"), work.path("elsewhere"))
            check_in(f"a{old}/{name}: this WARC file of the archive is missing",
                     work.run("archive", "--restore", "ALL", "-o", "back.warc", f"a{old}", code=1).err)
            os.rename(work.path("elsewhere"), work.path(f"a{old}/{name}"))
            first += len(places) - 1
        check_equal(restored(work, f"a{old}"), joined(records), "all records")


def behind_a_damaged_record_restoring_goes_on(work):
    inner = b"".join(gzip.compress(one + NEWLINES, mtime=0) for one in noise(18, 5))
    records = noise(19, 20) + [response("http://n.example/inner", inner, 99, mime="application/gzip")] + noise(20, 4)
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    name = "samepage-00000.warc.gz"
    whole = work.read(f"a/{name}")
    places = members(whole)
    check_equal(len(places), len(records) + 1, "members")
    for number in 2, 3, 4, 21, 25:  # metadata and pages; the archive within the archive; the last record
        at, length = places[number]
        for offset in 0, 5, length // 2 if number != 21 else 60, length - 5:
            work.write(f"a/{name}", whole[:at + offset] + bytes([whole[at + offset] ^ 0x55]) + whole[at + offset + 1:])
            done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", code=1 if offset != 5 else None)
            if offset == 5:  # the time stamp of the member: nothing is lost
                check_equal(work.read("back.warc"), joined(records), "all records")
                continue
            check_in(f"a/{name}: bytes {at} to {at + length} are lost: {name}@{at}", done.err)
            check_in("1 parts of it could not be restored; the other 24 records were written", done.err)
            check_equal(work.read("back.warc"), joined(records[:number - 1] + records[number:]), "the other records")
    # Without the index the next record is searched; two neighbours are lost at once.
    os.remove(work.path("a/lines.log"))
    os.remove(work.path("a/index.cdxj"))
    at, end = places[5][0], sum(places[6])
    work.write(f"a/{name}", whole[:at] + bytes(end - at) + whole[end:])
    done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", code=1)
    check_in(f"a/{name}: bytes {at} to {end} are lost", done.err)
    check_equal(work.read("back.warc"), joined(records[:4] + records[6:]), "the other records")


def a_record_that_is_larger_than_the_setting_is_not_damage(work):
    """It was written with a larger setting. Large ones are stored whole, as a patch, and as a copy."""
    page = text(random.Random(23), 40000)
    large = [response("http://l.example/", page.encode(), 0), response("http://l.example/", page.encode() + b" end", 1),
             response("http://copy.example/", page.encode(), 2)]
    records = [*noise(24, 3), *large, *noise(25, 2), response("http://l.example/", b"a short text at last", 3)]
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    smaller = ["--set", "input.max_record_bytes=64KiB"]
    for files in [], ["lines.log", "index.cdxj"]:  # without the index, too
        for name in files:
            os.remove(work.path(f"a/{name}"))
        done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", *smaller, code=1)
        check("damaged" not in done.err and "copy" not in done.err, done.err)
        check_equal(done.err.count("more than input.max_record_bytes: raise it"), 3, done.err)
        check_in("3 records are larger than input.max_record_bytes and were not restored: raise it", done.err)
        check_in("the other 6 records were written", done.err)
        check_equal(work.read("back.warc"), joined(records[:3] + records[6:]), "the other records")
    check_equal(restored(work, "a"), joined(records), "all records")
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "b", "crawl.warc")
    done = work.run("archive", "--restore", "http://l.example/", "-o", "back.warc", "b", *smaller, code=1)
    check_in("a record of this URL is not restored", done.err)
    check_in("2 records are larger than input.max_record_bytes", done.err)
    check_equal(work.read("back.warc"), joined(records[-1:]), "the short one")


def what_is_based_on_a_damaged_record_is_named(work):
    rng = random.Random(21)
    page = text(rng, 300)
    versions = [response("http://v.example/", changed(rng, page, 2).encode(), n) for n in range(3)]
    records = versions + noise(22, 3)
    write(work, "crawl.warc", records)
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    name = "samepage-00000.warc.gz"
    whole = work.read(f"a/{name}")
    places = members(whole)
    at = places[1][0] + 100
    work.write(f"a/{name}", whole[:at] + b"\0\0\0\0" + whole[at + 4:])
    done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", code=1)
    for offset, length in places[1:4]:
        check_in(f"a/{name}: bytes {offset} to {offset + length} are lost: {name}@{places[1][0]}", done.err)
    check_equal(work.read("back.warc"), joined(records[3:]), "the other records")
    work.write(f"a/{name}", whole[:places[3][0]] + b"\0" + whole[places[3][0] + 1:])
    done = work.run("archive", "--restore", "http://v.example/", "-o", "back.warc", "a", code=1)
    check_in(f"a record of this URL is lost: {name}@{places[3][0]}", done.err)
    check_equal(work.read("back.warc"), joined(versions[:2]), "the other records of the URL")


def a_directory_without_its_state_is_refused(work):
    """Files of an archive whose state is lost, and files of others with such names, are not overwritten."""
    write(work, "crawl.warc", crawl(15, pages=20))
    write(work, "other.warc", crawl(16, pages=2))
    work.run("archive", "-q", "-o", "a", "--segment", "20K", "crawl.warc")
    state = work.read("a/state")
    os.remove(work.path("a/state"))
    before = files(work, "a")
    check(len([name for name in before if name.endswith(".warc.gz")]) > 2, "too few segments")
    said = work.run("archive", "-q", "-o", "a", "other.warc", code=1).err
    check_in("no file `state`", said)
    check_in("restore `state` from a copy, or name another directory", said)
    check_equal(files(work, "a"), before, "files after the call")
    work.write("a/state", state)
    work.run("archive", "-q", "-o", "a", "other.warc")
    check_equal(restored(work, "a"), work.read("crawl.warc") + work.read("other.warc"), "all records")
    for name in "index.cdxj", "lines.log", "known.log", "inputs.log", "samepage-00000.warc.gz", "samepage-00007.warc.gz":
        os.mkdir(work.path("own-" + name))
        work.write(f"own-{name}/{name}", b"mine")
        work.write(f"own-{name}/notes.txt", b"mine too")
        check_in(name, work.run("archive", "-q", "-o", "own-" + name, "other.warc", code=1).err)
        check_equal(files(work, "own-" + name), {name: b"mine", "notes.txt": b"mine too"}, "files after the call")
    # What a kill right after the first state leaves is continued.
    os.mkdir(work.path("new"))
    work.write("new/state", b"samepage archive 1\nsegment 0\nsegment_bytes 0\nknown_bytes 0\nline_bytes 0\n"
               b"indexed_bytes 0\nend\n")
    check_equal(restored(work, "new"), b"", "records of an archive that has just begun")
    work.write("new/samepage-00000.warc.gz", b"not committed")
    work.run("archive", "-q", "-o", "new", "other.warc")
    check_equal(restored(work, "new"), work.read("other.warc"), "all records")
    # A file that the state knows is not created again.
    for name in "known.log", "inputs.log":
        content = work.read(f"a/{name}")
        os.remove(work.path(f"a/{name}"))
        check_in(f"{name}: cannot be opened", work.run("archive", "-q", "-o", "a", "other.warc", code=1).err)
        check(not work.exists(f"a/{name}"), name, "was created")
        work.write(f"a/{name}", content[:-1])
        check_in(f"{name}: is shorter", work.run("archive", "-q", "-o", "a", "other.warc", code=1).err)
        work.write(f"a/{name}", content[:-1] + b"x")
        if name == "inputs.log":
            check_in(f"{name}: is damaged", work.run("archive", "-q", "-o", "a", "other.warc", code=1).err)
        work.write(f"a/{name}", content)
    check_equal(restored(work, "a"), work.read("crawl.warc") + work.read("other.warc"), "all records, still")


def a_commit_writes_no_more_with_four_times_as_many_inputs(work):
    """The file that each commit replaces is as large, and the one that it appends to has a line for each input."""
    sizes = []
    for count in 50, 200:
        names = [f"{number:03}.warc" for number in range(count)]
        for number, name in enumerate(names):
            write(work, name, [response(f"http://h.example/{number}", b"text %d" % number, number)])
        work.run("archive", "-q", "-o", f"a{count}", "--commit", "1", *names)
        state, log = work.read(f"a{count}/state"), work.read(f"a{count}/inputs.log")
        check_equal(log.count(b"\n"), count, "lines about inputs")
        check(b"input " not in state, state)
        sizes.append(len(state))
        work.run("archive", "-q", "-o", f"a{count}", "--summary", "s", *names)
        check_equal(work.json_lines("s")[0]["passed"], count, "records that were read before")
        check_equal(work.read(f"a{count}/inputs.log"), log, "the lines after a call that adds nothing")
    check(sizes[1] <= sizes[0] + 8, sizes)  # a few more digits


def an_archive_of_version_1_is_continued(work):
    """Its state has the lines of all inputs."""
    records = crawl(18, pages=40)
    thirds = [records[at::3] for at in range(3)]
    for number, third in enumerate(thirds):
        write(work, f"{number}.warc", third)
    names = [f"{number}.warc" for number in range(3)]
    work.run("archive", "-q", "-o", "new", *names)
    work.run("archive", "-q", "-o", "old", *names[:2])
    lines = work.read("old/state").splitlines(keepends=True)
    lines = [b"samepage archive 1\n", *(line for line in lines[1:-1] if not line.startswith(b"input_bytes ")),
             work.read("old/inputs.log"), lines[-1]]
    work.write("old/state", b"".join(lines))
    os.remove(work.path("old/inputs.log"))
    check_equal(restored(work, "old"), joined(thirds[0] + thirds[1]), "what it has")
    work.run("archive", "-q", "-o", "old", "--summary", "s", *names)
    check_equal(work.json_lines("s")[0]["passed"], len(thirds[0] + thirds[1]), "records that were read before")
    check_equal(files(work, "old"), files(work, "new"), "files")


def spellings(work, folder, name):
    """Other names of a file in a folder that may not exist."""
    for link in "to-folder", "to-file", "to-link", "hard":
        if os.path.lexists(work.path(link)):
            os.remove(work.path(link))
    os.symlink(folder, work.path("to-folder"))
    os.symlink(f"{folder}/{name}", work.path("to-file"))
    os.symlink(work.path("to-file"), work.path("to-link"))
    names = [f"{folder}/{name}", f"./{folder}//{name}", f"{folder}/../{os.path.basename(folder)}/{name}",
             work.path(f"{folder}/{name}"), f"to-folder/{name}", "to-file", "to-link"]
    if work.exists(f"{folder}/{name}"):
        os.link(work.path(f"{folder}/{name}"), work.path("hard"))
        names.append("hard")
    return names


def an_output_in_the_archive_is_refused(work):
    write(work, "crawl.warc", crawl(23, pages=3))
    os.mkdir(work.path("x"))
    work.run("archive", "-q", "-o", "x/a", "crawl.warc")
    os.mkdir(work.path("x/a/sub"))
    before = {name: work.read(f"x/a/{name}") for name in os.listdir(work.path("x/a")) if name != "sub"}
    for name in "samepage-00000.warc.gz", "state", "index.cdxj", "new.warc", "sub/new.warc":
        for spelling in spellings(work, "x/a", name):
            for options in ("-o", spelling), ("-o", "back.warc", "--summary", spelling):
                done = work.run("archive", "--restore", "ALL", *options, "x/a", code=1)
                check_in(f"{spelling}: is inside the archive x/a", done.err)
            done = work.run("archive", "-q", "-o", "x/a", "--summary", spelling, "crawl.warc", code=1)
            check_in(f"{spelling}: is inside the archive x/a", done.err)
    with open(work.path("x/a/samepage-00000.warc.gz"), "ab") as out:
        check_equal(work.start("archive", "--restore", "ALL", "x/a", stdout=out).wait(), 1, "exit code")
    check_equal({name: work.read(f"x/a/{name}") for name in os.listdir(work.path("x/a")) if name != "sub"}, before,
                "files of the archive")
    for spelling in spellings(work, "none", "s"):
        check_in("is inside the archive none",
                 work.run("archive", "-q", "-o", "none", "--summary", spelling, "crawl.warc", code=1).err)
    check(not work.exists("none"), "an archive was begun")
    work.run("archive", "-q", "-o", "none", "--summary", "none/../beside", "crawl.warc")
    check_equal(work.json_lines("beside")[0]["bad"], 0, "bad records")
    shutil.rmtree(work.path("none"))
    check_in("two outputs", work.run("archive", "--restore", "ALL", "-o", "b", "--summary", "b", "x/a", code=2).err)
    check_in("crawl.warc: is an input and an output",
             work.run("archive", "-o", "none", "--summary", "crawl.warc", "crawl.warc", code=1).err)
    os.mkdir(work.path("x/ab"))  # a name that begins with that of the archive
    work.run("archive", "--restore", "ALL", "-o", "x/ab/back.warc", "--summary", "x/summary", "x/a")
    check_equal(work.read("x/ab/back.warc"), work.read("crawl.warc"), "all records")


def an_input_in_the_archive_is_refused(work):
    """It would grow while it is read, until the disk is full."""
    write(work, "crawl.warc", crawl(24, pages=3))
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    before = files(work, "a")
    for spelling in [*spellings(work, "a", "samepage-00000.warc.gz"), "a"]:
        done = work.run("archive", "-q", "-o", "a", "crawl.warc", spelling, code=1)
        check_in("is inside the archive a, which would read what it writes", done.err)
    with open(work.path("a/samepage-00000.warc.gz"), "rb") as f:
        check_equal(work.start("archive", "-q", "-o", "a", "-", stdin=f).wait(), 1, "exit code")
    check_equal(files(work, "a"), before, "files of the archive")


def a_folder_is_read_file_by_file(work):
    os.makedirs(work.path("crawls/day/sub"))
    os.mkdir(work.path("texts"))
    records = noise(25, 30)
    work.write("crawls/1.warc", joined(records[:10]))
    work.write("crawls/day/2.warc.gz", gzip.compress(joined(records[10:20])))
    work.write("crawls/day/sub/3.warc", joined(records[20:]))
    work.zstd("crawls/day/sub/3.warc")
    os.remove(work.path("crawls/day/sub/3.warc"))
    for name in "crawls/notes.txt", "crawls/pages.jsonl", "texts/notes.txt":
        work.write(name, b"notes")
    work.run("archive", "-q", "-o", "a", "crawls/")
    check_equal(restored(work, "a"), joined(records), "all records")
    check_in("texts: no name in this folder ends in .warc or .wet",
             work.run("archive", "-q", "-o", "b", "crawls", "texts", code=1).err)
    check(not work.exists("b"), "an archive was begun")


def a_call_that_fails_leaves_nothing(work):
    write(work, "crawl.warc", crawl(26, pages=20))
    work.write("lines.jsonl", b'{"url":"http://a.example/","content":"x"}\n')
    work.write("parquet", b"PAR1" + bytes(100) + b"PAR1")
    os.mkdir(work.path("mine"))
    work.write("mine/notes.txt", b"notes")
    for names in ["missing.warc"], ["lines.jsonl"], ["crawl.warc", "missing.warc"], ["crawl.warc", "parquet"]:
        for folder in "new", "mine":
            work.run("archive", "-q", "-o", folder, "--segment", "10K", *names, code=1)
            check(not work.exists("new"), names, "leaves an archive")
            check_equal(os.listdir(work.path("mine")), ["notes.txt"], "files")
    done = work.run("archive", "-q", "-o", "new", "-", stdin=b"no WARC\n", code=1)
    check_in("only WARC files can be archived", done.err)
    check(not work.exists("new"), "standard input leaves an archive")
    work.run("archive", "-q", "-o", "mine", "crawl.warc")
    check_equal(restored(work, "mine"), work.read("crawl.warc"), "all records")
    before = files(work, "mine")
    work.run("archive", "-q", "-o", "mine", "missing.warc", code=1)
    check_equal(files(work, "mine"), before, "files after a call that failed")


def a_wrong_length_hides_no_other_record(work):
    """If each record begins a gzip member or Zstandard frame: whatever the length says, the next one begins there."""
    records = noise(27, 12)
    for number, length in itertools.product((0, 4, 5, 11), (5000, 10**6, 10**15)):
        head, block = records[number].split(NEWLINES, 1)
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        wrong = b"\r\n".join([*lines, b"Content-Length: %d" % length]) + NEWLINES + block
        given = records[:number] + [wrong] + records[number + 1:]
        work.write("crawl.warc.gz", b"".join(gzip.compress(one + NEWLINES) for one in given))
        shutil.rmtree(work.path("a"), ignore_errors=True)
        done = work.run("archive", "-o", "a", "--summary", "s", "--set", "input.max_unreadable=0.5", "crawl.warc.gz")
        check_equal(restored(work, "a"), joined(records[:number] + records[number + 1:]), (number, length, done.err))
        said = 1 + (number == 11 and length == 10**15)  # it is too large, and the file ends within it
        check_equal(work.json_lines("s")[0]["bad"], said, f"bad records {number} {length} {done.err}")
    # Without members nothing says where the next record begins.
    work.write("plain.warc", joined(given[:4] + [wrong] + records[4:]))
    done = work.run("archive", "-o", "b", "--set", "input.max_unreadable=0.5", "plain.warc")
    check_in("if its Content-Length is wrong, the records behind it are lost", done.err)
    check_equal(restored(work, "b"), joined(records[:4]), "the records before it")


def a_record_based_on_itself_is_damage(work):
    """Restoring ends, whatever the files of the archive contain."""
    os.mkdir(work.path("a"))
    for base in "samepage-00000.warc.gz@0", "samepage-00000.warc.gz@7", "samepage-00009.warc.gz@0", "../state@0":
        for kind in "patch", "revisit":
            one = (b"WARC/1.1\r\nWARC-Type: %s\r\nContent-Length: 3\r\nSamepage-Version: 1\r\n"
                   b"Samepage-Was: 1=WARC-Type: response\r\nSamepage-Base: %s\r\n\r\nabc\r\n\r\n" %
                   (kind.encode(), base.encode()))
            stored = gzip.compress(one)
            work.write("a/samepage-00000.warc.gz", stored)
            work.write("a/lines.log", b"")
            work.write("a/state", "samepage archive 1\nsegment 0\nsegment_bytes %d\nend\n" % len(stored))
            done = work.run("archive", "--restore", "ALL", "-o", "back.warc", "a", code=1)
            check_in("cannot be restored", done.err)


def near_copies_without_end_cost_no_more_each(work):
    """Thousands of near copies of one page: each costs a patch of the same size within the depth limit, so that an
    archive of four times as many is about four times as large."""
    rng = random.Random(13)
    page = text(rng, 400)
    sizes = []
    for count in 500, 2000:
        write(work, "crawl.warc", [response("http://x.example/%d" % n, changed(rng, page, 3).encode(), n)
                                   for n in range(count)])
        work.run("archive", "-q", "-o", f"n{count}", "--summary", "s", "crawl.warc")
        said = work.json_lines("s")[0]
        check_equal(said["whole"], 1, "records stored whole")
        check_equal(said["patches"], count - 1, "patches")
        check(said["deepest"] <= 8, said)
        # Similarity search returns only pages that are not exact copies.
        log = len(work.read(f"n{count}/known.log"))
        check(log < 1000 + 60 * count, "sketches are kept of near copies:", log)
        sizes.append(said["stored_bytes"])
        check_equal(hashlib.sha1(restored(work, f"n{count}")).hexdigest(),
                    hashlib.sha1(work.read("crawl.warc")).hexdigest(), "all records")
    check(sizes[1] < 4.4 * sizes[0], sizes)


def mistakes_about_archives_are_explained(work):
    write(work, "crawl.warc", crawl(14, pages=2))
    check_in("--output", work.run("archive", "crawl.warc", code=2).err)
    check_in("no input", work.run("archive", "-o", "a", code=2).err)
    check_in("--depth", work.run("archive", "-o", "a", "--depth", "65", "crawl.warc", code=2).err)
    check_in("--similarity", work.run("archive", "-o", "a", "--similarity", "0", "crawl.warc", code=2).err)
    check_in("missing.warc", work.run("archive", "-o", "a", "missing.warc", code=1).err)
    check_in("no/where", work.run("archive", "-o", "no/where", "crawl.warc", code=1).err)
    check_in("is not an archive", work.run("archive", "--restore", "ALL", ".", code=1).err)
    work.run("archive", "-q", "-o", "a", "crawl.warc")
    check_in("has no record", work.run("archive", "--restore", "http://none.example/", "a", code=1).err)
    work.write("mine.warc", b"mine")
    work.run("archive", "--restore", "http://none.example/", "-o", "mine.warc", "a", code=1)
    check_equal(work.read("mine.warc"), b"mine", "an output for which there is no record")
    check_in("no/where: cannot be written", work.run("archive", "--restore", "ALL", "-o", "no/where", "a", code=1).err)
    work.write("lines.jsonl", b'{"url":"http://a.example/","content":"x"}\n')
    check_in("only WARC files can be archived", work.run("archive", "-o", "j", "lines.jsonl", code=1).err)


if __name__ == "__main__":
    main(__name__)
