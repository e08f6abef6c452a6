"""WARC files made from traces, and the sizes of other ways to store them. Used by tools/bench.

Each line of a trace becomes a `response` record, as a crawler writes it: a header with a record id, a date and
digests, an HTTP header with a date of its own, and the content."""

import base64
import datetime
import gzip
import hashlib
import json
import os
import subprocess
import uuid
import zlib

REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 404: "Not Found"}


def digest(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def response(fetch, number):
    """Header and block of one fetch."""
    body = (fetch.get("content") or "").encode("utf-8", "surrogatepass")
    status = fetch.get("http_status") or 200
    when = datetime.datetime.fromtimestamp(fetch["fetch_time_ms"] / 1000, datetime.timezone.utc)
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", "Server: example",
             when.strftime("Date: %a, %d %b %Y %H:%M:%S GMT"),
             f"Content-Type: {fetch.get('content_type') or 'text/html'}", f"Content-Length: {len(body)}"]
    if fetch.get("redirect_url"):
        lines.append("Location: " + fetch["redirect_url"])
    block = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    name = uuid.UUID(bytes=hashlib.md5(b"%d" % number + fetch["url"].encode()).digest(), version=4)
    header = "\r\n".join([
        "WARC/1.1", "WARC-Type: response", "WARC-Target-URI: " + fetch["url"],
        when.strftime("WARC-Date: %Y-%m-%dT%H:%M:%SZ"), f"WARC-Record-ID: <urn:uuid:{name}>",
        "WARC-Payload-Digest: " + digest(body), "WARC-Block-Digest: " + digest(block),
        "Content-Type: application/http; msgtype=response", f"Content-Length: {len(block)}"])
    return header.encode() + b"\r\n\r\n", block


def fetches(trace, most=None):
    with open(trace, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if most is not None and number >= most:
                return
            yield number, json.loads(line)


def write(trace, path, most=None):
    """Writes the trace as a plain WARC file; returns the number of records."""
    count = 0
    with open(path, "wb") as out:
        for number, fetch in fetches(trace, most):
            out.write(b"".join([*response(fetch, number), b"\r\n\r\n"]))
            count += 1
    return count


def records(path):
    """(header, block) of each record of a plain WARC file."""
    with open(path, "rb") as f:
        while f.peek(1):
            header = []
            while (line := f.readline()) not in (b"\r\n", b""):
                header.append(line)
            length = next(int(h.split(b":")[1]) for h in header if h.lower().startswith(b"content-length"))
            block = f.read(length)
            f.read(4)
            yield b"".join(header) + b"\r\n", block


def gzip_bytes(path, level=6):
    """One gzip member for each record, as crawlers write."""
    return sum(len(gzip.compress(header + block + b"\r\n\r\n", level, mtime=0))
               for header, block in records(path))


def revisit_bytes(path, level=6):
    """The same with exact copies as revisit records: the header of the response plus the fields of a revisit."""
    seen, total = {}, 0
    for header, block in records(path):
        end = block.index(b"\r\n\r\n") + 4
        fields = dict(line.split(b": ", 1) for line in header.split(b"\r\n")[1:] if b": " in line)
        key = fields[b"WARC-Payload-Digest"]
        if len(block) - end > 0 and key in seen:
            uri, date, name = seen[key]
            header = header.replace(b"WARC-Type: response", b"WARC-Type: revisit")
            header = header[:-2] + (b"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                                    b"identical-payload-digest\r\nWARC-Refers-To: " + name +
                                    b"\r\nWARC-Refers-To-Target-URI: " + uri +
                                    b"\r\nWARC-Refers-To-Date: " + date + b"\r\n\r\n")
            block = block[:end]
        else:
            seen.setdefault(key, (fields[b"WARC-Target-URI"], fields[b"WARC-Date"], fields[b"WARC-Record-ID"]))
        total += len(gzip.compress(header + block + b"\r\n\r\n", level, mtime=0))
    return total


def dictionary_bytes(path, level=9):
    """Zstandard, one frame for each record, with a dictionary of 110 KiB trained on every nth record."""
    import zstandard  # PyPI
    everything = [header + block + b"\r\n\r\n" for header, block in records(path)]
    size = sum(map(len, everything))
    step = max(1, size // 100_000_000)
    trained = zstandard.train_dictionary(112640, everything[::step], level=level)
    trained.precompute_compress(level=level)
    packer = zstandard.ZstdCompressor(level=level, dict_data=trained)
    return sum(len(packer.compress(record)) for record in everything) + len(trained.as_bytes())


def git_bytes(path, work):
    """The size of git's pack with one commit a fetch. Each record is a blob named after its URL, so that deltas find
    earlier versions. Repacked with a window of 50 (git's default is 10) and a delta depth of 50."""
    folder = os.path.join(work, "git")
    git = ["git", "-C", folder, "-c", "gc.auto=0"]
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    feed = subprocess.Popen([*git, "fast-import", "--quiet"], stdin=subprocess.PIPE)
    for number, (header, block) in enumerate(records(path)):
        url = next(line[17:] for line in header.split(b"\r\n") if line.startswith(b"WARC-Target-URI: "))
        record = header + block
        feed.stdin.write(b"commit refs/heads/all\ncommitter a <a@example.org> %d +0000\ndata 0\n"
                         b"M 100644 inline %s/%s\ndata %d\n%s\n" %
                         (number + 1, hashlib.sha1(url).hexdigest()[:2].encode(),
                          hashlib.sha1(url).hexdigest().encode(), len(record), record))
    feed.stdin.close()
    if feed.wait() != 0:
        raise RuntimeError("git fast-import failed")
    subprocess.run([*git, "repack", "-a", "-d", "-f", "-q", "--depth=50", "--window=50", "--threads=1"], check=True)
    pack = os.path.join(folder, "objects", "pack")
    return sum(os.path.getsize(os.path.join(pack, name)) for name in os.listdir(pack) if name.endswith(".pack"))
