"""examples/opensearch/bulk.py: its requests, applied as OpenSearch documents them, give each page with
its last status, in any order of files and as often as they are applied.

usage: opensearch.py SOURCE PROGRAM
"""

import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile


def fail(*words):
    raise SystemExit(" ".join(map(str, words)))


def merge(document, part):
    for key, value in part.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            merge(document[key], value)
        else:
            document[key] = value


def apply(requests, store):
    """Applies updates with doc_as_upsert, strictly: an action line, then a body line, each with a newline."""
    if not requests.endswith("\n"):
        fail("the last line of a bulk request must end")
    lines = iter(requests[:-1].split("\n") if requests else [])
    for head in lines:
        (action, target), = json.loads(head).items()
        if action == "delete":
            store.pop((target["_index"], target["_id"]), None)
            continue
        body = json.loads(next(lines, None) or fail("an action without a body"))
        if action != "update" or set(body) != {"doc", "doc_as_upsert"} or body["doc_as_upsert"] is not True:
            fail("no update that makes the document:", head)
        if len(target["_id"].encode()) > 512:
            fail("an id of more than 512 bytes:", target["_id"])
        merge(store.setdefault((target["_index"], target["_id"]), {}), body["doc"])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


CLIENT = """
def canonical_url(url):
    return url.partition("#")[0].lower() if "://" in url else None


class Status:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class StatusConsumer:
    events = [Status(url="http://a.example/", status="unique"), Status(url="http://B.example/", status="loser"),
              Status(url="http://b.example/#2", status="unique"),
              None, "http://a.example/", "http://nobody.example/"]  # None: a record that is no event

    def __init__(self, *_, group):
        self.erased, self.key, self.commits, self.remade = None, None, 0, 0

    def poll(self, _):
        event = self.events.pop(0) if self.events else None
        self.erased = event if isinstance(event, str) else None
        # One without a key, as other writers may send it.
        self.key = self.erased or (canonical_url(event.url) if event and "#" in event.url else None)
        return None if self.erased else event

    def commit(self):
        assert not any(isinstance(event, Status) for event in self.events), "committed before all was written"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
"""


def check_erased(call, bulk, path, program):
    """A page that was forgotten, in a file and in the topic, leaves no document."""
    with open(path("two.jsonl"), "w", encoding="utf-8") as file:
        for name in "ab":
            file.write(json.dumps({"url": f"http://{name}.example/", "content": f"only {name} says so"}) + "\n")
    call(program, "run", "-q", "--state", "state", "-o", "two.statuses", "two.jsonl")
    call(program, "forget", "-q", "--state", "state", "-o", "two.statuses", "http://a.example/")
    call(sys.executable, "-B", bulk, "--pages", "two.jsonl", "--statuses", "two.statuses", "-o", "two")
    os.mkdir(path("client"))
    with open(path("client/samepage.py"), "w", encoding="utf-8") as file:
        file.write(CLIENT)
    call("env", "PYTHONPATH=" + path("client"), sys.executable, "-B", bulk, "--pages", "two.jsonl", "--broker", "none",
         "--idle", "1", "-o", "topic")
    for name, url in ("two", "http://b.example/"), ("topic", "http://b.example/#2"):
        store = {}
        apply(read(path(name)), store)
        if [(document["url"], document["samepage"]["status"]) for document in store.values()] != [(url, "unique")]:
            fail(name, "has", store)


def check_spellings(call, bulk, path):
    """With the package, spellings of a URL that are one page are one document in files, too."""
    with open(path("spelled.jsonl"), "w", encoding="utf-8") as file:
        for url in "http://a.example/#1", "HTTP://A.example/", "none":
            file.write(json.dumps({"url": url, "content": "a page"}) + "\n")
    with open(path("spelled.statuses"), "w", encoding="utf-8") as file:
        file.write('{"url": "http://A.example/", "status": "unique"}\n')
    said = call("env", "PYTHONPATH=" + path("client"), sys.executable, "-B", bulk, "--pages", "spelled.jsonl", "--statuses",
                "spelled.statuses", "-o", "spelled").stderr
    store = {}
    apply(read(path("spelled")), store)
    if [document["samepage"]["status"] for document in store.values()] != ["unique"]:
        fail("two spellings of a page became", store)
    if said.count("passed over") != 1 or "spelled.jsonl:3: passed over: its url" not in said:
        fail("what is no URL is not named:", said)


def check_unusual(call, bulk, path, program):
    """What samepage reads, the example reads as well."""
    rows = [{"url": "http://u.example/1", "http_status": None, "redirect_url": None, "content": "null counts as 200"},
            {"url": "http://u.example/2", "content": "half \ud83d of a pair"}]
    with open(path("unusual.jsonl"), "w", encoding="utf-8-sig") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.write(json.dumps({"url": "http://u.example/\ud83d", "content": "no URL"}) + "\n")
    known = {json.loads(line)["url"] for line in call(program, "run", "-q", "unusual.jsonl").stdout.splitlines()}
    said = call(sys.executable, "-B", bulk, "--pages", "unusual.jsonl", "-o", "unusual").stderr
    store = {}
    apply(read(path("unusual")), store)
    found = {document["url"]: document["content"] for document in store.values()}
    if found != {rows[0]["url"]: rows[0]["content"], rows[1]["url"]: "half \ufffd of a pair"} or known != set(found):
        fail("unusual pages became", found)
    if said.count("passed over") != 1 or "unusual.jsonl:3" not in said:
        fail("what is no URL is not named:", said)


def check_damaged(call, bulk, path, program):
    """A record that samepage refuses is passed over, and those after it are read. The file is compressed."""
    bad = {"http_status": "200"}, {"http_status": True}, {"content": 5}, {"content_type": ["a"]}, {"redirect_url": {}}
    rows = [{"url": f"http://bad.example/{n}", "content": "x", **fields} for n, fields in enumerate(bad)]
    rows.append({"url": "http://good.example/", "content": "good", "http_status": 200.0})
    with gzip.open(path("damaged.jsonl.gz"), "wb") as file:
        file.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows) + b"\xff\xfe\n")
    known = [json.loads(line)["url"] for line in call(program, "run", "-q", "damaged.jsonl.gz").stdout.splitlines()]
    said = call(sys.executable, "-B", bulk, "--pages", "damaged.jsonl.gz", "-o", "damaged").stderr
    store = {}
    apply(read(path("damaged")), store)
    if known != [document["url"] for document in store.values()] or said.count("passed over") != len(bad) + 1:
        fail("of damaged pages came", store, "and", said, "and samepage knows", known)
    with open(path("damaged.statuses"), "w", encoding="utf-8") as file:
        file.write('{"url": "http://a.example/"}\n{"url": "http://b.example/", "status": "unique"}\n')
    said = call(sys.executable, "-B", bulk, "--statuses", "damaged.statuses", "-o", "damaged").stderr
    if read(path("damaged")).count("\n") != 2 or "damaged.statuses:1: passed over: it has no status" not in said:
        fail("of damaged statuses came", read(path("damaged")), "and", said)


def main(source, program):
    bulk = os.path.join(source, "examples/opensearch/bulk.py")
    with tempfile.TemporaryDirectory() as work:
        def path(name):
            return os.path.join(work, name)

        def call(*command, code=0):
            done = subprocess.run(command, text=True, capture_output=True, cwd=work, check=False)
            if done.returncode != code:
                fail(*command, "ended with", done.returncode, done.stderr)
            return done

        call(program, "synth", "--pages", "600", "-o", "crawl.jsonl")
        parts = [" ".join(f"{part}-{n}" for n in range(100)) for part in "abc"]
        with open(path("crawl.jsonl"), "a", encoding="utf-8") as file:
            for name, text in [*zip("abc", parts), ("all", " ".join(parts))]:
                file.write(json.dumps({"url": f"http://part.example/{name}", "content": text}) + "\n")
        call(program, "run", "-q", "--set", "containment.threshold=0.9", "-o", "statuses.jsonl", "crawl.jsonl")
        with open(path("crawl.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({"url": "http://long.example/" + "x" * 2000, "content": "a\u2028b \U0001f600"}) + "\n")
            file.write("no json\n\n[1]\n")
        call(sys.executable, "-B", bulk, "--pages", "crawl.jsonl", "--statuses", "statuses.jsonl", "-o", "all")
        said = call(sys.executable, "-B", bulk, "--pages", "crawl.jsonl", "-o", "pages").stderr
        if said.count("passed over") != 2 or "crawl.jsonl:" not in said:
            fail("bad lines are not named:", said)
        call(sys.executable, "-B", bulk, "--statuses", "statuses.jsonl", "-o", "statuses")
        call(sys.executable, "-B", bulk, "--pages", "crawl.jsonl", "--split", "-o", "split")
        call(sys.executable, "-B", bulk, code=2)

        stores = []
        for order in (("all",), ("statuses", "pages"), ("pages", "statuses", "all"),
                      ("statuses", *sorted(glob.glob(path("split.*"))))):
            store = {}
            for name in order:
                apply(read(path(name)), store)
            stores.append(store)
        if any(store != stores[0] for store in stores):
            fail("the order of the files decides")

        latest = {event["url"]: event for event in map(json.loads, read(path("statuses.jsonl")).splitlines())}
        found = {document["url"]: document for document in stores[0].values()}
        if len(found) != len(stores[0]):
            fail("two documents have one url")
        for url, event in latest.items():
            got = found[url]["samepage"]
            if (got["status"], got["winner_url"]) != (event["status"], event["winner_url"]):
                fail(url, "has", got, "not", event)
            if (got["contained_in"], got["containment"]) != (event.get("contained_in"), event.get("containment")):
                fail(url, "has", got, "not", event)
        if found["http://part.example/b"]["samepage"]["contained_in"] != "http://part.example/all":
            fail("a part is not known as one")
        check_erased(call, bulk, path, program)
        check_spellings(call, bulk, path)
        check_unusual(call, bulk, path, program)
        check_damaged(call, bulk, path, program)
        losers = sum(event["status"] == "loser" for event in latest.values())
        if not losers or len(found) < len(latest):
            fail("this was no test")
        if max(os.path.getsize(part) for part in glob.glob(path("split.*"))) > 10_000_000:
            fail("a part is larger than a request may be")
        print(f"{len(found)} documents, {losers} of them losers")


main(*sys.argv[1:])
