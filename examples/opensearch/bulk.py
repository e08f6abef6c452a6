#!/usr/bin/env python3
"""Pages and statuses as requests to OpenSearch's (or Elasticsearch's) _bulk.

    bulk.py --pages crawl.jsonl --statuses statuses.jsonl -o requests.ndjson
    curl -H 'Content-Type: application/x-ndjson' --data-binary @requests.ndjson http://HOST:9200/_bulk

    bulk.py --broker 127.0.0.1:9092 --prefix samepage. -o requests.ndjson

Reads files of `samepage run`, or with --broker the status topic, until nothing new comes for --idle
seconds. A document's id is a hash of the page's canonical URL, so that pages and statuses may come in any
order and more than once: each is an update that makes the document where it is not there. --broker needs
the package samepage. Files can be read without it if each page has one spelling of its URL, the canonical
one: each other spelling then becomes a document of its own.

A search leaves losers out with {"bool": {"must_not": {"terms": {"samepage.status": ["loser", "gone"]}}}}.
A page that `samepage forget` erases is deleted; deleting one that is not there does no harm (404). A
result whose samepage.contained_in is set is part of that page (`samepage run` with containment.threshold).
"""

import argparse
import gzip
import hashlib
import json
import sys
import time

try:
    from samepage import canonical_url as canonical  # tools/python builds it
except (ImportError, OSError):  # the package, or the library in it, is not there
    def canonical(url):
        return url

LONGEST_REQUEST = 10_000_000  # bytes; OpenSearch takes 100 MB by default


def document_id(url):
    """An id has at most 512 bytes, a URL may have more."""
    return hashlib.sha256(url.encode()).hexdigest()


def update(index, page, url, fields):
    head = {"update": {"_index": index, "_id": document_id(page)}}
    return f"{json.dumps(head)}\n{json.dumps({'doc': {'url': url, **fields}, 'doc_as_upsert': True}, ensure_ascii=False)}\n"


def delete(index, page):
    return json.dumps({"delete": {"_index": index, "_id": document_id(page)}}) + "\n"


def of_status(index, page, status):
    if status["status"] == "forgotten":
        return delete(index, page)
    return update(index, page, status["url"], status_fields(status))


def whole(text):
    """Half of a surrogate pair, which JSON may have but UTF-8 cannot, becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def page_fields(page):
    return {"content": whole(page.get("content") or ""), "content_type": page.get("content_type") or "text/html"}


def status_fields(status):
    return {"samepage": {name: status.get(name) for name in ("status", "winner_url", "similarity", "group_id",
                                                              "version_ms", "epoch", "contained_in",
                                                              "containment")}}


def opened(path):
    if path == "-":
        return sys.stdin
    kind = gzip.open if path.endswith(".gz") else open
    return kind(path, "rt", encoding="utf-8-sig", errors="replace")


# What the fields may be if they are there; null is as if one were not.
TYPES = {"url": str, "content": str, "content_type": str, "redirect_url": str, "http_status": (int, float), "status": str}


def checked(row, needed):
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    for name, kind in TYPES.items():
        value = row.get(name)
        if value is None and name in needed:
            raise ValueError(f"it has no {name}")
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ValueError(f"its {name} is of another type")
    row["url"].encode()  # UnicodeEncodeError, a ValueError: not a URL
    if canonical(row["url"]) is None:
        raise ValueError("its url has no scheme or no host, or another fault")
    return row


def lines(path, *needed):
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield checked(json.loads(line), needed)
            except (ValueError, RecursionError) as error:
                print(f"bulk.py: {path}:{number}: passed over: {error}", file=sys.stderr)


def events(options):
    """From the topic, committed once they are written (main), each with the page's canonical URL. An erased page looks as
    in a file."""
    import samepage

    with samepage.StatusConsumer(options.broker, options.prefix + "status", group=options.group) as consumer:
        remade, last = 0, time.monotonic()
        while time.monotonic() - last < options.idle:
            status = consumer.poll(1.0)
            if consumer.remade > remade:
                remade = consumer.remade
                print("bulk.py: the topic was deleted and recreated: the index may have pages that it no longer has; "
                      "fill a new index with another --group", file=sys.stderr)
                continue
            if status is None and consumer.erased is None:
                consumer.commit()
                continue
            last = time.monotonic()
            # Other writers may leave out the key.
            page = consumer.key or canonical(status.url)
            if page is not None:
                yield page, vars(status) if status else {"url": consumer.erased, "status": "forgotten"}


def requests(options):
    if options.pages:
        for page in lines(options.pages, "url"):
            status = page.get("http_status")
            status = 200 if status is None else status
            if 200 <= status < 300 and status != 206 and not page.get("redirect_url"):
                yield update(options.index, canonical(page["url"]), page["url"], page_fields(page))
    for status in lines(options.statuses, "url", "status") if options.statuses else ():
        yield of_status(options.index, canonical(status["url"]), status)
    for page, status in events(options) if options.broker else ():
        yield of_status(options.index, page, status)


class Parts:
    """The output; with --split in files that one request may carry."""

    def __init__(self, path, split):
        self.path, self.split, self.file, self.bytes, self.count = path, split, None, 0, 0

    def write(self, text):
        size = len(text.encode())
        if self.file is None or (self.split and self.bytes + size > LONGEST_REQUEST):
            self.close()
            name = f"{self.path}.{self.count:04d}" if self.split else self.path
            self.file = sys.stdout if name == "-" else open(name, "w", encoding="utf-8")
            self.count += 1
            self.bytes = 0
        self.file.write(text)
        self.file.flush()
        self.bytes += size

    def close(self):
        if self.file not in (None, sys.stdout):
            self.file.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", metavar="FILE", help="JSONL, plain or .gz; - for standard input")
    parser.add_argument("--statuses", metavar="FILE", help="JSONL, as samepage run writes it")
    parser.add_argument("--broker", metavar="ADDRESS")
    parser.add_argument("--prefix", default="samepage.")
    parser.add_argument("--group", default="opensearch")
    parser.add_argument("--idle", type=int, default=30, metavar="SECONDS")
    parser.add_argument("--index", default="pages")
    parser.add_argument("--split", action="store_true", help="files FILE.0000, ... of at most 10 MB")
    parser.add_argument("-o", "--output", default="-", metavar="FILE")
    options = parser.parse_args()
    if not (options.pages or options.statuses or options.broker):
        parser.error("no input: --pages, --statuses or --broker")
    out = Parts(options.output, options.split)
    for request in requests(options):
        out.write(request)
    out.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
