"""samepage serve: its responses agree with the output of the run, and no request does harm."""

import contextlib
import glob
import http.client
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import time
import urllib.parse

from harness import PATIENCE_SECONDS, check, check_equal, check_in, latest, main, until


class Server:
    """A server of the state `state`, and a client of it."""

    def __init__(self, work, process, port):
        self.work, self.process, self.port = work, process, port

    def ask(self, method, path, body=None, headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            given = {"Host": host} if host else {}
            connection.request(method, path, body, {**given, **(headers or {})})
            response = connection.getresponse()
            return response.status, response.read(), response
        finally:
            connection.close()

    def get(self, path, code=200, **arguments):
        query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
        status, body, _ = self.ask("GET", path + query)
        check(status == code, f"{path}{query}: {status}, not {code}:", body[:300])
        return json.loads(body)

    def status(self, path, **arguments):
        """The HTTP status of the response."""
        return self.ask("GET", path + "?" + urllib.parse.urlencode(arguments))[0]

    def filter(self, code=200, **body):
        status, response, _ = self.ask("POST", "/v1/filter", json.dumps(body))
        check(status == code, f"filter: {status}, not {code}:", response[:300])
        return json.loads(response)

    def check_unharmed(self):
        check_equal(self.ask("GET", "/livez")[:2], (200, b"alive\n"), "livez")
        check_equal(self.ask("GET", "/readyz")[:2], (200, b"ready\n"), "readyz")
        check(self.process.poll() is None, "the server has ended")


@contextlib.contextmanager
def serving(work, state="state", *options, listen="127.0.0.1:0"):
    log = work.path("serve.log")
    with open(log, "wb") as err:
        process = work.start("serve", "--state", state, "--listen", listen, *options, stderr=err)
    try:
        def port():
            said = work.read("serve.log").decode()
            check(process.poll() is None, "no server:", said)
            return re.search(r"listening on http://\S*:(\d+)\n", said)

        yield Server(work, process, int(until(port, "a server's address")[1]))
        process.send_signal(signal.SIGTERM)
        check_equal(process.wait(timeout=PATIENCE_SECONDS), 0, "exit code")
    finally:
        process.kill()
        process.wait()


def crawled(work, pages=3000, *settings):
    """The statuses and the groups of a made-up crawl whose state is in `state`."""
    work.crawl(pages=pages)
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "--groups", "groups.jsonl",
             *settings, "crawl.jsonl")
    return latest(work.read("status.jsonl").decode()), work.json_lines("groups.jsonl")


def a_damaged_state_is_in_the_log(work):
    """A block that cannot be read stays so, however often the state is opened."""
    crawl = work.crawl(pages=500)
    work.run("run", "-q", "--state", "state", "-o", "out", crawl)
    tables = glob.glob(work.path("state/rocksdb/*.sst"))
    for name in tables:
        with open(name, "r+b") as table:
            size = os.path.getsize(name)
            for at in range(0, size // 2, 1000):  # blocks of rows; what opening reads is at the end
                table.seek(at)
                byte = table.read(1)
                table.seek(at)
                table.write(bytes([byte[0] ^ 1]))
    with serving(work) as server:
        asked = [server.ask("GET", "/v1/status?" + urllib.parse.urlencode({"url": page["url"]}))
                 for page in work.json_lines(crawl)]
        failed = [body for status, body, _ in asked if status == 503]
        check(failed, "every page can be read")
        check_in("see the log of the service", failed[0].decode())
        check_equal(work.read("serve.log").decode().count("the state cannot be read: RocksDB: Corruption"), 1, "lines")


def the_language_of_a_page_is_kept_only_where_that_is_asked_for(work):
    text = "The quick brown fox jumps over the lazy dog, and nobody in the whole town knows why. " * 3
    work.write("crawl.jsonl", "".join(json.dumps({"url": f"https://a.example/{i}", "content": text})
                                      + "\n" for i in range(2)))
    for setting, language in ([], None), (["--set", "text.language=detect"], "en"):
        state = f"state-{language}"
        work.run("run", "-q", "--state", state, "-o", f"status-{language}", *setting, "crawl.jsonl")
        with serving(work, state) as server:
            response = server.get("/v1/compare", a="https://a.example/0", b="https://a.example/1")
            check_equal(response["a"]["language"], language, setting)
    check_equal(work.read("status-en"), work.read("status-None"), "statuses")


def served_statuses_and_groups_are_those_of_the_run(work):
    statuses, groups = crawled(work)
    with serving(work) as server:
        for url, event in list(statuses.items())[::7]:
            response = server.get("/v1/status", url=url)
            for key in "url", "status", "winner_url", "similarity", "reason", "version_ms", "group_id":
                check_equal(response[key], event[key], f"{url}: {key}")
        linked = 0
        for group in groups[::5]:
            members = {m["url"]: m for m in group["members"]}
            response = server.get("/v1/group", url=group["members"][-1]["url"])
            check_equal(response["group_id"], group["group_id"], "group id")
            check_equal(response["size"], len(members), "size")
            check_equal(sorted(m["url"] for m in response["members"]), sorted(members), "members")
            for m in response["members"]:
                check_equal({k: m[k] for k in ("status", "winner_url", "similarity")},
                            {k: members[m["url"]][k] for k in ("status", "winner_url", "similarity")},
                            m["url"])
                link = m["link"]
                if link and link["reason"] == "content":
                    linked += 1
                    check(0.8 <= link["similarity"] <= 1, "a weak link:", m)
                check(not link or link["since_ms"] >= m["since_ms"], "linked before it was there", m)
            roots = [m for m in response["members"] if not m["link"]]
            check_equal(len(roots), 1, "members that hang on no other")
        check(linked > 20, "few links were looked at:", linked)
        check_equal(server.get("/v1/status", 404, url="http://nowhere.example/")["error"][:7],
                    "nothing", "an unknown page")
        server.get("/v1/status", 400, url="nonsense")
        server.get("/v1/status", 400)
        server.get("/v1/group", 400, url="http://nowhere.example/", limit="x")


def every_member_of_a_large_group_is_listed_once_in_parts(work):
    pages, part = 41000, 20000
    text = "one page that a crawl has found again and again under very many names"
    urls = [f"https://a.example/{i:05}" for i in range(pages)]
    work.write("large.jsonl", "".join(json.dumps({"url": url, "content": text}) + "\n" for url in urls))
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "large.jsonl")
    statuses = latest(work.read("status.jsonl").decode())
    with serving(work) as server:
        found, winners, after, sizes = [], 0, {}, []
        while after is not None:
            for offset in range(0, part, 1000):
                response = server.get("/v1/group", url=urls[7], offset=offset, limit=1000, **after)
                check(len(response["members"]) <= 1000 and response["size_is_more"], "the size of a response")
                found += [m["url"] for m in response["members"]]
                for m in response["members"]:
                    check_equal(m["winner_url"], statuses[m["url"]]["winner_url"], m["url"])
                    check_equal(m["similarity"], 1 if m["status"] == "loser" else None, m["url"])
            sizes.append(response["size"])
            winners += response["winners"]
            after = {"after": response["next_after"]} if response["next_after"] else None
        check_equal(sizes, [part, part, pages - 2 * part], "members of each part")
        check_equal(sorted(found), urls, "members of all parts")
        check_equal(winners, 1, "winners")
        server.get("/v1/group", 400, url=urls[7], after="nonsense")


def filtered_lists_have_no_near_duplicates(work):
    statuses, groups = crawled(work)
    many = sorted((g for g in groups if len(g["members"]) > 2), key=lambda g: -len(g["members"]))
    urls = [m["url"] for g in many[:40] for m in g["members"][:4]]
    urls += [url for url, e in statuses.items() if e["status"] == "unique"][:50]
    with serving(work) as server:
        response = server.filter(urls=urls)
        kept, dropped = response["kept"], response["dropped"]
        check_equal(sorted(kept + [d["url"] for d in dropped]), sorted(urls), "kept and dropped")
        check_equal([u for u in urls if u in set(kept)], kept, "order of what is kept")
        place = {url: i for i, url in enumerate(urls)}
        group_of = {m["url"]: g["group_id"] for g in groups for m in g["members"]}
        for d in dropped:
            check(d["repeats"] in kept and place[d["repeats"]] < place[d["url"]], "repeats", d)
            check(d["similarity"] >= 0.8, "similarity", d)
            check_equal(group_of[d["url"]], group_of[d["repeats"]], "groups of a repeated pair")
        # A loser listed after its winner is dropped; unique pages are kept.
        for url, e in statuses.items():
            if e["status"] == "loser" and e["reason"] != "redirect" and url in place and \
                    place.get(e["winner_url"], len(urls)) < place[url]:
                check(url not in kept, "a loser behind its winner is kept:", url)
            if e["status"] == "unique" and url in place:
                check(url in kept, "a unique page is dropped:", url)
        check(len(dropped) > 40, "few were dropped:", len(dropped))
        check_equal(len(server.filter(urls=urls, threshold=1)["dropped"]) < len(dropped), True,
                    "another threshold")
        unknown = server.filter(urls=["http://nowhere.example/", "x y", urls[0], urls[0]])
        check_equal(unknown["unknown"], ["http://nowhere.example/", "x y"], "unknown")
        check_equal(len(unknown["dropped"]), 1, "the same page twice")


def what_the_description_does_not_name_is_refused(work):
    """Every argument and field in docs/openapi.json is taken, and no other one."""
    with open(os.path.join(work.source, "docs", "openapi.json"), encoding="utf-8") as f:
        description = json.load(f)
    crawled(work, 200)
    with serving(work) as server:
        for path, operations in description["paths"].items():
            for method, operation in operations.items():
                if not path.startswith("/v1/") or path == "/v1/events":
                    continue
                known = [p["name"] for p in operation.get("parameters", []) if p["in"] == "query"]
                for name in known:
                    check("unknown argument" not in str(server.ask(method.upper(), f"{path}?{name}=1", "{}")[1]), path, name)
                status, body, _ = server.ask(method.upper(), f"{path}?{'&'.join(k + '=1' for k in [*known, 'wrong'])}", "{}")
                check_equal(status, 400, path)
                check_in('unknown argument \\"wrong\\"', body.decode())
        # Without %26 a URL is cut at its first &, and another page would be looked up.
        status, body, _ = server.ask("GET", "/v1/status?url=http://a.example/?x=1&y=2")
        check_in('unknown argument \\"y\\"', body.decode())
        check_in("%26", body.decode())
        check_in('unknown field "treshold"', server.filter(400, urls=[], treshold=0.5)["error"])
        check_in('unknown field "txt"', server.filter(400, documents=[{"url": "http://a.example/", "txt": "x"}])["error"])


def lists_can_be_filtered_by_sentences(work):
    """Ten sentences of six words each; the second page shares seven with the first, the third five."""
    def page(url, shared):
        own = [n if n < shared else f"{url[7]}{n}" for n in range(10)]
        return {"url": url, "content": " ".join(f"Here stands one sentence called number{n}." for n in own)}

    urls = ["http://a.example/", "http://b.example/", "http://c.example/"]
    pages = [page(url, shared) for url, shared in zip(urls, (10, 7, 5))]
    work.write("crawl.jsonl", "".join(json.dumps(p) + "\n" for p in pages))
    for way, settings in (("keep", ["signature.sentences=keep"]), ("combined", ["similarity.method=combined"]),
                          ("crc32", ["signature.sentences=keep", "signature.sentence_hash=crc32"])):
        options = [word for setting in settings for word in ("--set", setting)]
        work.run("run", "-q", "--state", way, "-o", "out", *options, "crawl.jsonl")
        for by, dropped, threshold in (("shingles", [], 0.7 if way == "combined" else 0.8),
                                       ("sentences", [(urls[1], 0.538)], 0.5)):
            with serving(work, way, "--filter", by) as server:
                for body in {"urls": urls}, {"documents": [{"url": p["url"], "text": p["content"]} for p in pages]}:
                    response = server.filter(**body)
                    check_equal((response["compared"], response["threshold"]), (by, threshold), way)
                    check_equal([(d["url"], round(d["similarity"], 3)) for d in response["dropped"]], dropped, way)
    with serving(work, "keep", "--filter", "sentences", "--filter-threshold", "0.3") as server:
        check_equal([d["url"] for d in server.filter(urls=urls)["dropped"]], urls[1:], "at 0.3")
    work.run("run", "-q", "--state", "none", "-o", "out", "crawl.jsonl")
    process = work.run("serve", "--state", "none", "--listen", "127.0.0.1:0", "--filter", "sentences", code=1)
    check_in("signature.sentences=keep", process.err)
    work.run("serve", "--state", "none", "--filter", "words", code=2)
    work.run("serve", "--state", "none", "--filter-threshold", "1.5", code=2)


def news(rng, lists=12, results=50):
    """Result lists as of a search in news, made up: (url, text, reprint) each. A fifth to two fifths of a list are
    an agency's reports as other papers print them: with a headline and a first sentence of their own, cut at the end by
    up to three tenths, a word changed here and there. The others are reports of their own on the same matter: they
    share its words, and what people are quoted with."""
    for number in range(lists):
        matter = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{n}word" for n in range(300)]

        def sentence():
            words = [rng.choice(matter) for _ in range(rng.randrange(8, 20))]
            return " ".join(words).capitalize() + "."
        quotes = [sentence() for _ in range(3)]
        reports = [[sentence() for _ in range(rng.randrange(15, 30))] for _ in range(4)]
        share, articles = 0.2 + 0.2 * number / (lists - 1), []
        for n in range(results):
            reprint = 4 <= n < 4 + round(share * results)
            text = list(reports[n]) if n < 4 else [sentence() for _ in range(rng.randrange(12, 30))]
            if reprint:
                whole = rng.choice(reports)
                text = whole[:len(whole) - rng.randrange(0, 1 + 3 * len(whole) // 10)]
                changed = rng.randrange(len(text))
                text = [sentence(), sentence()] + [s if i != changed else s.replace(" ", " indeed ", 1)
                                                   for i, s in enumerate(text)]
            elif n >= 4:
                text[rng.randrange(len(text))] = rng.choice(quotes)
            articles.append((f"http://paper{n}.example/{number}", " ".join(text), reprint))
        yield articles[:4] + rng.sample(articles[4:], results - 4)


def copies_in_result_lists_of_news_are_left_out(work):
    lists = list(news(random.Random(11)))
    work.write("crawl.jsonl", "".join(json.dumps({"url": url, "content": text}) + "\n"
                                      for articles in lists for url, text, _ in articles))
    work.run("run", "-q", "--state", "state", "-o", "out", "--set", "signature.sentences=keep", "crawl.jsonl")
    planted = sum(reprint for articles in lists for _, _, reprint in articles)
    for by, least in (("sentences", 0.97), ("shingles", 0.3)):
        found = 0
        with serving(work, "state", "--filter", by) as server:
            for articles in lists:
                dropped = {d["url"] for d in server.filter(urls=[url for url, _, _ in articles])["dropped"]}
                check(dropped <= {url for url, _, reprint in articles if reprint}, "a report of its own was left out")
                found += len(dropped)
        print(f"{by}: {found} of {planted} reprints, {100 * found / sum(map(len, lists)):.1f} % of the results")
        check(found >= least * planted, by, "found", found, "of", planted)
        if by == "sentences":
            check(0.2 <= found / sum(map(len, lists)) <= 0.4, "the paper's share")


def texts_can_be_sent_along(work):
    crawled(work, 500)
    pages = {p["url"]: p for p in work.json_lines("crawl.jsonl")
             if p.get("http_status", 200) == 200 and len(p.get("content") or "") > 3000}
    url, page = sorted(pages.items())[0]
    page = max((p for p in work.json_lines("crawl.jsonl") if p["url"] == url),
               key=lambda p: p["fetch_time_ms"])
    with serving(work) as server:
        response = server.filter(documents=[
            {"url": url},
            {"url": "http://new.example/", "text": page["content"], "content_type": "text/html"},
            {"url": "http://other.example/", "text": "quite another text, of a few words " * 3},
        ])
        check_equal(response["kept"], [url, "http://other.example/"], "kept")
        check_equal(response["dropped"][0]["repeats"], url, "repeats")
        check_equal(response["dropped"][0]["similarity"], 1, "similarity")


def sentences_are_compared_where_the_state_has_them(work):
    statuses, _ = crawled(work, 1000, "--set", "similarity.method=sentences")
    losers = [(u, e["winner_url"]) for u, e in statuses.items() if e["reason"] == "exact"][:20]
    uniques = [u for u, e in statuses.items() if e["status"] == "unique"][:50]
    with serving(work) as server:
        response = server.filter(urls=[u for pair in losers for u in reversed(pair)] + uniques)
        check_equal(response["compared"], "sentences", "compared")
        gone = {d["url"] for d in response["dropped"]}
        check(losers and all(u in gone for u, w in losers if w not in gone), "exact repeats")
        check(len(set(uniques) & gone) <= 2, "unique pages dropped:", set(uniques) & gone)


def with_the_threshold_of_the_state_a_chain_of_redirects_keeps_its_winner(work):
    page = "http://x.example/en/page"
    fetches = [{"url": page, "content": " ".join(f"word{i}" for i in range(100))},
               {"url": "http://x.example/en/", "http_status": 301, "redirect_url": page},
               {"url": "http://x.example/", "http_status": 301, "redirect_url": "http://x.example/en/"}]
    work.write("crawl", "".join(json.dumps({**fetch, "fetch_time_ms": at}) + "\n"
                                for at, fetch in enumerate(fetches, 1)))
    work.run("run", "-q", "--state", "state", "-o", "out", "crawl")
    with serving(work) as server:
        groups = server.get("/v1/threshold", url=page, threshold=0.8)["groups"]
        check_equal(sorted((m["url"], m["winner_url"], m["changes"]) for m in groups[0]),
                    sorted((f["url"], None if f["url"] == page else page, False) for f in fetches), "members")


def the_filter_follows_redirects_to_their_end(work):
    """However many there are; a loop and a chain to nowhere have no content."""
    hops, words = 21000, [" ".join(f"{name}{i}" for i in range(100)) for name in "ab"]
    urls = [f"http://x.example/{i}" for i in range(hops)]
    fetches = [{"url": "http://x.example/page", "content": words[0]},
               {"url": "http://x.example/other", "content": words[1]},
               {"url": "http://x.example/gone", "http_status": 404}]
    for url, target in [*zip(urls, ["http://x.example/page", *urls]), ("http://x.example/to", "http://x.example/other"),
                        ("http://x.example/loop", "http://x.example/back"),
                        ("http://x.example/back", "http://x.example/loop"),
                        ("http://x.example/lost", "http://x.example/gone")]:
        fetches.append({"url": url, "http_status": 301, "redirect_url": target})
    work.write("crawl", "".join(json.dumps({**fetch, "fetch_time_ms": at}) + "\n"
                                for at, fetch in enumerate(fetches, 1)))
    work.run("run", "-q", "--state", "state", "-o", "out", "crawl")
    with serving(work) as server:
        for asked in ["page", "other", "7"], ["page", "other", "5000", "to", "4990", "5010"], ["20990", "page", "to"], \
                ["20999", "0", "other"]:
            asked = ["http://x.example/" + name for name in asked]
            response = server.filter(urls=asked)
            ends = ["other" if url.endswith(("other", "to")) else "page" for url in asked]
            check_equal(response["kept"], [asked[ends.index(end)] for end in dict.fromkeys(ends)], "kept")
            check_equal({d["similarity"] for d in response["dropped"]}, {1}, "similarities")
            check_equal(response["unknown"], [], "unknown")
        asked = ["http://x.example/" + name for name in ("loop", "back", "lost", "gone", "page")]
        check_equal(server.filter(urls=asked)["unknown"], asked[:4], "redirects without an end")


def a_group_can_be_tried_with_another_threshold(work):
    _, groups = crawled(work)
    tried = 0
    with serving(work) as server:
        for group in sorted(groups, key=lambda g: -len(g["members"]))[:15]:
            url = group["members"][0]["url"]
            same = server.get("/v1/threshold", url=url, threshold=0.8)
            members = [m for part in same["groups"] for m in part]
            check_equal(sorted(m["url"] for m in members),
                        sorted(m["url"] for m in group["members"]), "members")
            if any(m["status"] == "gone" for m in group["members"]):
                continue
            check_equal(len(same["groups"]), 1, "groups at the threshold of the state")
            was = {m["url"]: m["winner_url"] for m in group["members"]}
            for m in members:
                check_equal(m["winner_url"], was[m["url"]], "winner at the threshold of the state")
                check_equal(m["changes"], False, "changes where nothing does")
            high = server.get("/v1/threshold", url=url, threshold=0.97)["groups"]
            for m in (m for part in high for m in part):
                check(m["similarity"] is None or m["similarity"] >= 0.97, "a weak winner", m)
                check_equal(m["changes"], m["winner_url"] != was[m["url"]], m["url"])
            tried += len(high) > 1
        check(tried > 0, "no group fell apart")
        for bad in "0", "1.1", "x", "", "nan":
            server.get("/v1/threshold", 400, url=url, threshold=bad)


def two_pages_are_compared_and_their_texts_shown(work):
    statuses, _ = crawled(work, 1500)
    crawl = work.json_lines("crawl.jsonl")
    contents = {}
    for page in crawl:
        if page.get("http_status", 200) == 200 and page.get("content"):
            contents[page["url"]] = page
    with serving(work, "state", "--pages", "crawl.jsonl") as server:
        until(lambda: server.status("/v1/text", url="http://nowhere.example/") == 404, "an index of --pages")
        pairs = [(u, e) for u, e in statuses.items() if e["reason"] in ("content", "exact")]
        for url, event in pairs[::9]:
            response = server.get("/v1/compare", a=url, b=event["winner_url"])
            check_equal(response["similarity"], event["similarity"], url)
            check_equal(response["near_duplicates"], True, url)
            check_equal(response["equal_words"], event["reason"] == "exact", url)
            a, b, both = response["a"]["shingles"], response["b"]["shingles"], response["shared_kept"]
            if response["exact"]:
                check(abs(both / (a + b - both) - response["similarity"]) < 1e-6, "shared", response)
            shown = server.get("/v1/text", url=url)
            check_equal(shown["fetch_time_ms"], contents[url]["fetch_time_ms"], "fetch")
            check(len(shown["text"]) > 20 and "<" not in shown["text"], "text", shown["text"][:200])
        check(len(pairs) > 50, "few pairs")
        uniques = [u for u, e in statuses.items() if e["status"] == "unique"]
        check_equal(server.get("/v1/compare", a=uniques[0], b=uniques[1])["near_duplicates"], False,
                    "two unique pages")
        server.get("/v1/compare", 400, a=uniques[0])
        server.get("/v1/compare", 404, a=uniques[0], b="http://nowhere.example/")
        server.get("/v1/text", 404, url="http://nowhere.example/")
    work.write("empty", b"")
    check_in("--pages", work.run("serve", "--state", "state", "--pages", "empty", code=1).err)
    check_in("--pages", work.run("serve", "--state", "state", "--pages", "missing", code=1).err)


def pages_are_compared_by_the_method_of_the_state(work):
    """By lcs, the order of sentences counts: these pages have the same ones, so the Jaccard similarity of any two is
    1."""
    sentences = [f"Here stands one sentence called number{n}." for n in range(40)]
    backward = sentences[::-1]
    near = sentences[32:] + sentences[:32]
    urls = ["http://a.example/", "http://b.example/", "http://c.example/"]
    work.write("crawl.jsonl", "".join(json.dumps({"url": url, "content": " ".join(content), "popularity": popularity}) + "\n"
                                      for url, content, popularity in zip(urls, (sentences, near, backward), (3, 2, 1))))
    work.run("run", "-q", "--state", "state", "-o", "out", "--set", "similarity.method=lcs", "crawl.jsonl")
    events = {event["url"]: event for event in work.json_lines("out")}
    check_equal([events[url]["status"] for url in urls], ["winner", "loser", "unique"], "statuses")
    with serving(work) as server:
        response = server.get("/v1/compare", a=urls[0], b=urls[1])
        check_equal(response["similarity"], events[urls[1]]["similarity"], "similarity of near duplicates")
        check_equal(response["near_duplicates"], True, "near duplicates")
        response = server.get("/v1/compare", a=urls[0], b=urls[2])
        check_equal(response["near_duplicates"], False, "the reverse order")
        check(response["similarity"] < 0.5, "similarity", response["similarity"])
        links = [m["link"] for m in server.get("/v1/group", url=urls[0])["members"] if m["link"]]
        check_equal([link["similarity"] for link in links], [events[urls[1]]["similarity"]], "link")
        same = server.get("/v1/threshold", url=urls[0], threshold=0.5)
        check_equal([[m["similarity"] for m in group] for group in same["groups"]],
                    [[None, events[urls[1]]["similarity"]]], "the threshold of the state")


def warc(pages):
    """Records of type response."""
    records = b""
    for page in pages:
        kind = page.get("content_type") or "text/html"
        http = (f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() +
                page["content"].encode())
        date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(page["fetch_time_ms"] / 1000))
        records += (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {page['url']}\r\n"
                    f"WARC-Date: {date}\r\nContent-Type: application/http; msgtype=response\r\n"
                    f"Content-Length: {len(http)}\r\n\r\n").encode() + http + b"\r\n\r\n"
    return records


def texts_are_shown_from_compressed_files_and_warc(work):
    work.crawl(pages=600)
    pages = [p for p in work.json_lines("crawl.jsonl")
             if p.get("http_status", 200) == 200 and p.get("content")]
    work.write("crawl.warc", warc(pages))
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "crawl.jsonl")
    last = {p["url"]: p for p in sorted(pages, key=lambda p: p["fetch_time_ms"])}
    shown = {}
    files = {"jsonl": "crawl.jsonl", "gzip": work.gzip("crawl.jsonl"), "warc": "crawl.warc",
             "warc.gz": work.gzip("crawl.warc")}
    for kind, name in files.items():
        with serving(work, "state", "--pages", name) as server:
            until(lambda: server.status("/v1/text", url="http://nowhere.example/") == 404,
                  "the texts of " + name)
            shown[kind] = {url: server.get("/v1/text", url=url) for url in list(last)[::5]}
    check(len(shown["jsonl"]) > 50, "few texts")
    for kind, texts in shown.items():
        for url, text in texts.items():
            check_equal(text["text"], shown["jsonl"][url]["text"], f"{kind}: {url}")
            check_equal(text["url"], url, kind)
            check_equal(text["fetch_time_ms"] // 1000, last[url]["fetch_time_ms"] // 1000, kind)


def the_history_of_a_page_is_what_the_run_wrote(work):
    work.run("synth", "--pages", "600", "--versions", "4", "-o", "crawl.jsonl")
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "crawl.jsonl")
    said = {}
    for event in work.json_lines("status.jsonl"):
        said.setdefault(event["url"], []).insert(0, event)
    with serving(work, "state", "--statuses", "status.jsonl") as server:
        until(lambda: server.status("/v1/history", url="http://nowhere.example/") == 404, "the log")
        for url in sorted(said, key=lambda u: -len(said[u]))[::11]:
            response = server.get("/v1/history", url=url)
            check_equal(response, {"events": said[url], "more": False}, url)
            check_equal(server.get("/v1/history", url=url, limit=1),
                        {"events": said[url][:1], "more": len(said[url]) > 1}, url)
        check(max(map(len, said.values())) > 3, "short histories")
        server.get("/v1/history", 400, url=url, limit=0)
        # Lines that are no events, and one that is incomplete.
        with open(work.path("status.jsonl"), "ab") as f:
            f.write(b"nonsense\n\n" + b"x" * 600000 + b'\n{"url":"http://new.example/",')
            f.flush()
            time.sleep(0.5)
            check_equal(server.status("/v1/history", url="http://new.example/"), 404, "half a line")
            f.write(b'"version_ms":1}\n')
        until(lambda: server.status("/v1/history", url="http://new.example/") == 200, "the whole line")
        # The line was replaced by another one.
        with open(work.path("status.jsonl"), "r+b") as f:
            f.write(b"#" * 1000)
        first = work.read("crawl.jsonl").splitlines()[0]
        changed = [u for u in said if server.status("/v1/history", url=u, limit=1000) == 500]
        check(changed and len(changed) < 10, "changed histories:", changed, first[:100])
    with serving(work) as server:
        server.get("/v1/history", 404, url=url)
        check_equal(server.ask("GET", "/v1/events")[0], 404, "events without a source")
    check_in("--statuses", work.run("serve", "--state", "state", "--statuses", "missing", code=1).err)


class Stream:
    """A reader of /v1/events."""

    def __init__(self, server, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        self.connection.request("GET", "/v1/events", headers=headers or {})
        self.response = self.connection.getresponse()
        self.comments = 0

    def line(self):
        line = self.response.readline().decode()
        check(line, "the stream has ended")
        self.comments += line == ":\n"
        return line.rstrip("\n")

    def events(self, count):
        """The next events, as (id, data); those of type `skipped` are included."""
        events, event = [], {}
        while len(events) < count:
            line = self.line()
            if line.startswith(":") or line.startswith("retry"):
                continue
            if line:
                key, _, value = line.partition(": ")
                event[key] = value
            elif event:
                events.append((event.get("event"), event.get("id"), json.loads(event["data"])))
                event = {}
        return events

    def close(self):
        self.connection.close()


def statuses_are_told_as_they_come(work):
    crawled(work, 200)
    lines = work.read("status.jsonl").splitlines(keepends=True)
    work.write("log.jsonl", lines[0])

    def say(some):
        with open(work.path("log.jsonl"), "ab") as f:
            f.write(b"".join(some))

    with serving(work, "state", "--statuses", "log.jsonl") as server:
        until(lambda: server.status("/v1/history", url="http://nowhere.example/") == 404, "the log")
        streams = [Stream(server) for _ in range(16)]
        check_equal([s.response.status for s in streams], [200] * 16, "readers")
        check_equal(streams[0].response.getheader("Content-Type"), "text/event-stream", "type")
        check_equal(server.ask("GET", "/v1/events")[0], 503, "one reader too many")
        server.check_unharmed()
        say(lines[1:41])
        wanted = [json.loads(line) for line in lines[1:41]]
        for stream in streams:
            events = stream.events(40)
            check_equal([data for _, _, data in events], wanted, "events")
            check_equal({kind for kind, _, _ in events}, {"status"}, "kinds")
        ids = [int(number) for _, number, _ in events]
        check_equal(ids, list(range(ids[0], ids[0] + 40)), "ids")
        # A client that reconnects continues where it was; an unknown id starts with the next event.
        for stream in streams[1:]:
            stream.close()
        until(lambda: server.ask("HEAD", "/v1/events")[0] == 200, "a place")
        again = Stream(server, {"Last-Event-ID": str(ids[29])})
        check_equal([int(number) for _, number, _ in again.events(10)], ids[30:], "what was missed")
        ahead = Stream(server, {"Last-Event-ID": "999999999"})
        # More events than are kept: a client that was away is told how many it missed.
        many = [json.dumps({"url": f"http://a.example/{i}", "n": i}).encode() + b"\n" for i in range(6000)]
        say(many)
        check_equal(len(ahead.events(1)), 1, "an event")
        until(lambda: server.status("/v1/history", url="http://a.example/5999") == 200, "the last")
        late = Stream(server, {"Last-Event-ID": str(ids[0])})
        kind, _, data = late.events(1)[0]
        check_equal((kind, data), ("skipped", {"skipped": 40 - 1 + 6000 - 4096}), "what was passed over")
        check_equal(late.events(4096)[-1][2]["n"], 5999, "the last event")
        # Idle for longer than an idle connection lives: a comment each second keeps it open.
        while late.comments < 12:
            late.line()
        say([b'{"url":"http://b.example/"}\n'])
        check_equal(late.events(1)[0][2], {"url": "http://b.example/"}, "an event after the silence")
        server.check_unharmed()
        # The server ends although streams are open, which is checked at its end.


def the_overview_adds_up(work):
    statuses, groups = crawled(work, 2000, "--set", "partition.cells=8")
    with serving(work) as server:
        until(lambda: server.status("/v1/overview") == 200, "the overview")
        response = server.get("/v1/overview")
        for status in "unique", "winner", "loser", "gone":
            count = sum(e["status"] == status for e in statuses.values())
            check_equal(response[status], count, status)
            check_equal(sum(b[status] for b in response["timeline"]), count, status + " over time")
        check_equal(response["pages"], len(statuses), "pages")
        check_equal(response["groups"], len(groups), "groups")
        sizes = [len(g["members"]) for g in groups]
        for s in response["sizes"]:
            check_equal(s["groups"], sum(s["from"] <= n <= s["to"] for n in sizes), s)
            check_equal(s["pages"], sum(n for n in sizes if s["from"] <= n <= s["to"]), s)
        check_equal([g["size"] for g in response["largest"]], sorted(sizes, reverse=True)[:50], "largest")
        weakest = [g["weakest"] for g in response["weakest"]]
        check_equal(weakest, sorted(weakest), "order of the weakest")
        lowest = min(m["similarity"] for g in groups for m in g["members"]
                     if m["similarity"] is not None and m["status"] == "loser")
        check(weakest[0] >= lowest - 1e-6, "weaker than any")
        contents = sum(response["cells"])
        check(response["unique"] + response["winner"] <= contents <= response["pages"], "cells", contents)
        check_equal(response["inputs_ended"], True, "ended")


def host_of(url):
    return urllib.parse.urlsplit(url).netloc


def pages_are_found_by_a_part_of_their_url_and_by_host(work):
    statuses, _ = crawled(work, 2000)
    urls = sorted(statuses, key=lambda u: (u.split("://")[1], u))
    with serving(work) as server:
        until(lambda: server.status("/v1/hosts") == 200, "the hosts")

        def found(**query):
            """All pages, requested in parts."""
            pages, after = [], {}
            while True:
                response = server.get("/v1/search", **query, **after)
                check_equal(response["searched"], len(statuses), "searched")
                check_equal(response["cut"], False, "cut")
                pages += response["pages"]
                if not response["next"]:
                    return pages
                check_equal(response["pages"][-1]["url"], response["next"], "next")
                after = {"after": response["next"]}

        for part in urls[7][10:], urls[99].split("/")[2][:6].upper(), "/", "nowhere.example":
            pages = found(q=part, limit=300)
            check_equal([p["url"] for p in pages], [u for u in urls if part.lower() in u.lower()], part)
            for p in pages[::17]:
                for key in "status", "winner_url", "similarity", "version_ms":
                    check_equal(p[key], statuses[p["url"]][key], p["url"] + " " + key)
        hosts = server.get("/v1/hosts", limit=1000)
        names = {host_of(u) for u in urls}
        check_equal(hosts["count"], len(names), "hosts")
        check_equal([h["loser"] for h in hosts["hosts"]],
                    sorted((h["loser"] for h in hosts["hosts"]), reverse=True), "order of hosts")
        check_equal(server.get("/v1/hosts", limit=1, offset=1)["hosts"], hosts["hosts"][1:2], "offset")
        for h in hosts["hosts"][:5] + hosts["hosts"][-5:]:
            own = [u for u in urls if host_of(u) == h["host"]]
            check_equal([p["url"] for p in found(host=h["host"], limit=7)], own, h["host"])
            check_equal(h["pages"], len(own), "pages of " + h["host"])
            for status in "unique", "winner", "loser", "gone":
                of = [u for u in own if statuses[u]["status"] == status]
                check_equal(h[status], len(of), status)
                check_equal([p["url"] for p in found(host=h["host"], status=status)], of, status)
        part = hosts["hosts"][0]["host"][:5]
        check_equal({h["host"] for h in server.get("/v1/hosts", q=part.upper(), limit=1000)["hosts"]},
                    {n for n in names if part in n}, "hosts by a part")
        for bad in {}, {"q": ""}, {"q": "a", "status": "none"}, {"q": "a", "limit": 0}, {"q": "a", "limit": 1001}:
            server.get("/v1/search", 400, **bad)
        server.get("/v1/hosts", 400, limit=1001)


def the_cells_of_a_trained_map_are_counted(work):
    work.crawl(pages=500)
    work.run("train", "-q", "-o", "map", "--cells", "8", "crawl.jsonl")
    crawled(work, 500, "--set", "partition.map=map")
    with serving(work, "state", "--map", "map") as server:
        until(lambda: server.status("/v1/overview") == 200, "the overview")
        response = server.get("/v1/overview")
        check(2 <= len(response["cells"]) <= 8, "cells", response["cells"])
        contents = sum(response["cells"])
        check(response["unique"] + response["winner"] <= contents <= response["pages"], "cells", contents)
        check_equal(response["leaving"], 0, "pages that have not moved")
    work.run("run", "-q", "--state", "plain", "-o", "out", "crawl.jsonl")
    for name in "map", "missing":  # a map that is not used is no map of this state
        done = work.run("serve", "--state", "plain", "--map", name, "--listen", "127.0.0.1:0", code=1)
        check_in("made without a trained partition map: leave out --map", done.err)
    check_in("--map needs --state", work.run("serve", "--kafka", "--map", "map", code=2).err)


def what_is_described_is_what_is_answered(work):
    crawled(work, 200)
    with open(os.path.join(work.source, "docs", "openapi.json"), encoding="utf-8") as f:
        described = json.load(f)
    with open(os.path.join(work.source, "processors", "programs", "serve", "routes.c"), encoding="utf-8") as f:
        routes = dict(re.findall(r'\{"(/[^"]*)", MHD_HTTP_METHOD_(\w+),', f.read()))
    check_equal({path: next(iter(how)).upper() for path, how in described["paths"].items()}, routes,
                "paths described and answered")
    with serving(work, "state", "--statuses", "status.jsonl") as server:
        check_equal(server.get("/openapi.json"), described, "the description as served")
        refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
        check_equal(refs, set(described["components"]["schemas"]), "schemas named and described")
        url = urllib.parse.quote(next(iter(latest(work.read("status.jsonl").decode()))), "")
        until(lambda: server.status("/v1/overview") == 200, "the overview")
        for path, name in (("/v1/status?url=", "Status"), ("/v1/group?url=", "Group"),
                           ("/v1/overview", "Overview"), ("/v1/search?q=a", "Found"),
                           ("/v1/hosts", "Hosts"), ("/v1/history?url=", "History"),
                           ("/v1/threshold?threshold=0.9&url=", "Trial")):
            response = json.loads(server.ask("GET", path + url if path.endswith("url=") else path)[1])
            # Only with containment, and with a watched sample.
            optional = {"Status": {"contained_in", "containment"}, "Overview": {"audit"}}.get(name, set())
            check_equal(set(response) | optional, set(described["components"]["schemas"][name]["properties"]), name)
        for path, name in ("/v1/search", "q"), ("/v1/search", "host"), ("/v1/hosts", "q"):
            server.get(path, **{name: "a" * 8192})
            check_in("at most 8192 bytes", server.get(path, 400, **{name: "a" * 8193})["error"])
        response = server.filter(urls=["http://a.example/"])
        check_equal(set(response), set(described["components"]["schemas"]["Filtered"]["properties"]),
                    "Filtered")
        status, body, response = server.ask("GET", "/")
        policy = response.getheader("Content-Security-Policy")
        check_equal(status, 200, "the page")
        nonces = set(re.findall(rb'nonce="([0-9a-f]{32})"', body))
        check_equal(len(nonces), 1, "nonces")
        check_in(f"script-src 'nonce-{nonces.pop().decode()}'", policy)
        check(b"@" not in re.sub(rb"@media|@NONE", b"", body), "something was not filled in")
        check(b"http://" not in body.replace(b"http://www.w3.org/2000/svg", b"") and
              b"https://" not in body, "another host in the page")


def what_schemathesis_makes_of_the_description_is_answered(work):
    """Requests that docs/openapi.json allows and forbids, generated by schemathesis."""
    program = os.path.join(os.path.dirname(work.with_packages("schemathesis", "4.32.5")), "schemathesis")
    crawled(work, 300)
    here = os.path.dirname(os.path.abspath(__file__))
    with serving(work, "state", "--statuses", "status.jsonl") as server:
        until(lambda: server.status("/v1/overview") == 200, "the overview")
        done = subprocess.run(
            [program, "--config-file", os.path.join(here, "schemathesis.toml"), "run",
             os.path.join(work.source, "docs", "openapi.json"), "--url", f"http://127.0.0.1:{server.port}",
             "--exclude-path", "/v1/events",  # would not end
             "--max-examples", "10", "--seed", "1", "--no-color", "--phases", "examples,coverage,fuzzing"],
            cwd=work.path("."), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        check(done.returncode == 0, "schemathesis:", done.stdout[-4000:])
        check(re.search(r"Tested: 1\d", done.stdout), "no operations:", done.stdout)
        server.check_unharmed()


def bodies_that_make_no_sense_are_refused(work):
    crawled(work, 200)
    deep = "[" * 500000
    bad = ["", "x", "[]", "{}", "{", '{"urls":1}', '{"urls":[1]}', '{"urls":[["a"]]}',
           '{"urls":[],"documents":[]}', '{"documents":[{}]}', '{"documents":[{"url":1}]}',
           '{"documents":["a"]}', '{"urls":["a"],"threshold":0}', '{"urls":["a"],"threshold":"x"}',
           '{"urls":["a"],"threshold":1.1}', '{"urls":["a"]} {}', '{"urls":["a"]', '{"urls":["a",]}',
           '{"urls":["\\ud800"]}', b'{"urls":["\xff"]}', deep, '{"urls":' + deep, '{"x":' + deep,
           '{"x":' + '{"a":' * 300000]
    with serving(work) as server:
        for body in bad:
            status, response, _ = server.ask("POST", "/v1/filter", body)
            check_equal(status, 400, f"status of {body[:60]!r}")
            check(json.loads(response)["error"], "no reason")
        server.filter(413, urls=["http://a.example/"] * 1001)
        check_equal(len(server.filter(urls=["http://a.example/%d" % i for i in range(1000)])["kept"]),
                    1000, "a full list")
        server.filter(413, documents=[{"url": "u", "text": "a " * (1 << 19) + "b"}])
        server.get("/v1/status", 400, url="http://a.example/" + "a" * 8200)
        check_equal(server.ask("GET", "/v1/filter")[0], 405, "GET")
        check_equal(server.ask("POST", "/v1/status?url=x", "{}")[0], 405, "POST")
        check_equal(server.ask("GET", "/v1/nothing")[0], 404, "no path")
        check_equal(server.ask("GET", "/v1/status?url=http://a.example/", host="evil.example")[0],
                    421, "another host's name")
        server.check_unharmed()


def a_body_that_is_too_large_is_refused_with_a_reason(work):
    crawled(work, 200)
    body = b'{"urls":["' + b"x" * 20000000 + b'"]}'
    with serving(work) as server:
        chunks = (body[i:i + 65536] for i in range(0, len(body), 65536))
        for sent in body, chunks:
            status, response, _ = server.ask("POST", "/v1/filter", sent)
            check_equal((status, "larger than 8388608 bytes" in str(response)), (413, True), str(response))
        connection = dial(server)
        connection.sendall(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                           b"Content-Length: 20000000\r\n\r\n")
        check_in(b" 413 ", hear(connection)[:20])
        server.check_unharmed()


def pages_of_other_sites_may_not_ask(work):
    crawled(work, 200)
    with serving(work) as server:
        own = {"Host": f"localhost:{server.port}"}
        for headers, code in (({}, 200), ({"Sec-Fetch-Site": "same-origin"}, 200),
                              ({"Sec-Fetch-Site": "none"}, 200),
                              ({"Sec-Fetch-Site": "cross-site"}, 403),
                              ({"Sec-Fetch-Site": "same-site"}, 403),
                              ({**own, "Origin": f"http://localhost:{server.port}"}, 200),
                              ({**own, "Origin": "http://localhost:1"}, 403),
                              ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403)):
            for method, path, body in (("GET", "/metrics", None),
                                       ("POST", "/v1/filter", '{"urls":["http://a.example/"]}')):
                status = server.ask(method, path, body, headers)[0]
                check_equal(status, code, f"{method} {path} with {headers}")
        check_equal(server.ask("GET", "/", None, {"Sec-Fetch-Site": "cross-site"})[0], 200,
                    "a link to the page")
        for path, how in server.get("/openapi.json")["paths"].items():
            for method, described in how.items():
                status = server.ask(method.upper(), path, None, {"Sec-Fetch-Site": "cross-site"})[0]
                check_equal("403" in described["responses"], status == 403, f"{method} {path} may be refused")


def health_is_answered_while_filters_are_at_work(work):
    crawled(work, 200)
    text = " ".join(f"word{i}" for i in range(90000))  # nearly a megabyte
    body = json.dumps({"documents": [{"url": f"http://a.example/{i}", "text": f"{i} {text}"}
                                     for i in range(7)]}).encode()
    with serving(work, "state", "--threads", "1") as server:
        busy = [dial(server) for _ in range(12)]
        for connection in busy:
            connection.sendall(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(body) + body[:-1])
        until(lambda: int(re.search(rb"serve_connections (\d+)", server.ask("GET", "/metrics")[1])[1])
              > 12, "all connections")
        for connection in busy:
            connection.sendall(body[-1:])
        server.check_unharmed()
        answered = len(select.select(busy, [], [], 0)[0])
        check(answered < 6, "health waited for", answered, "of 12 filter requests")
        for connection in busy:
            check_in(b"200 OK", hear(connection)[:20])


def requests_that_can_be_read_in_two_ways_are_refused(work):
    crawled(work, 200)
    body = b'{"urls":["http://a.example/"]}'
    with serving(work) as server:
        def post(*headers):
            connection = dial(server)
            connection.sendall(b"POST /v1/filter HTTP/1.1\r\nConnection: close\r\n" +
                               b"".join(h + b"\r\n" for h in headers) + b"\r\n" + body)
            return int(hear(connection)[9:12] or 0)

        host, length = b"Host: localhost", b"Content-Length: %d" % len(body)
        chunked = b"Transfer-Encoding: chunked"
        check_equal(post(host, length), 200, "a plain request")
        check_equal(post(host, length, length), 400, "two lengths")
        check_equal(post(host, length, b"Content-Length: 3"), 400, "two unequal lengths")
        check_equal(post(host, length, chunked), 400, "a length and an encoding")
        check_equal(post(host, host, length), 400, "two hosts")
        check_equal(post(host, b"Host: evil.example", length), 400, "two unequal hosts")
        check_equal(post(host, b"Content-Length: 1, 2"), 400, "a list of lengths")
        check_equal(post(host, b"Content-Length: -1"), 400, "a negative length")
        check_equal(post(host, b"Content-Length: 99999999999999999999999"), 413, "a huge length")
        check_equal(post(host, b"Content-Length : %d" % len(body)), 400, "a space before the colon")
        check_equal(post(host, b"Transfer-Encoding\t: chunked"), 400, "a tab before the colon")
        check_equal(post(length), 421, "no host")
        for argument in "url=http://a.example/%00x", "url%00=x", "url=%00":
            status, body_of, _ = server.ask("GET", f"/v1/status?{argument}")
            check_equal((status, "byte 0" in str(body_of)), (400, True), f"{argument}: {body_of}")
        for method, path, allowed in (("POST", "/v1/status?url=x", "GET, HEAD"),
                                      ("GET", "/v1/filter", "POST"), ("PUT", "/", "GET, HEAD")):
            status, _, response = server.ask(method, path, "{}" if method != "GET" else None)
            check_equal((status, response.getheader("Allow")), (405, allowed), f"{method} {path}")
        check_equal(server.ask("GET", "/v1/status?url=" + "a" * 200000)[0], 414, "a long URL")
        server.check_unharmed()


def dial(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS)


def hear(connection):
    """Everything until the server closes."""
    response = b""
    with contextlib.suppress(OSError):
        while part := connection.recv(65536):
            response += part
    connection.close()
    return response


def raw_bytes_do_no_harm(work):
    crawled(work, 200)
    with serving(work) as server:
        big = b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
        for request, codes in ((big, (413,)),
                               (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 2000000, (0, 413, 431)),
                               (b"GET /" + b"y" * 2000000, (0, 413, 414, 431)),
                               (os.urandom(4096) + b"\r\n\r\n", (0, 400)),
                               (b"\0" * 10000, (0, 400)),
                               (b"GET /v1/status?url=%00%ff%zz HTTP/1.1\r\nHost: localhost\r\n"
                                b"Connection: close\r\n\r\n", (400,)),
                               (b"GET /v1/status" + b"?url=a" * 1000 + b" HTTP/1.1\r\n"
                                b"Host: localhost\r\nConnection: close\r\n\r\n", (400,))):
            connection = dial(server)
            with contextlib.suppress(OSError):
                connection.sendall(request)
                if not request.startswith(b"POST"):
                    connection.shutdown(socket.SHUT_WR)
            response = hear(connection)
            code = int(response[9:12]) if response.startswith(b"HTTP/1.") else 0
            check(code in codes, f"{request[:60]!r}: {code}, not {codes}")
            server.check_unharmed()
        # An endless body, in pieces.
        connection = dial(server)
        connection.sendall(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\n"
                           b"Transfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(1200):
                connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
            check(False, "79 MB were taken")
        connection.close()
        server.check_unharmed()


def crowds_of_idle_connections_keep_nobody_out(work):
    crawled(work, 200)
    with serving(work) as server:
        idle = []
        for i in range(700):
            connection = dial(server)
            connection.sendall(b"POST /v1/filter HTTP/1.1\r\nHost: localhost\r\n"
                               b"Content-Length: 100\r\n\r\n{"[:i % 90])
            idle.append(connection)
        server.check_unharmed()

        def counter(name):
            return int(re.search(name + rb" (\d+)", server.ask("GET", "/metrics")[1])[1])

        # Those that the server has not accepted yet are in neither count.
        until(lambda: counter(b"serve_connections_closed_total") >= 700 - 576, "connections that had to make room")
        until(lambda: counter(b"serve_connections") <= 576, "their end")
        for connection in idle:
            connection.close()
        server.check_unharmed()


def a_request_that_trickles_in_is_cut_off(work):
    crawled(work, 200)
    with serving(work) as server:
        connection = dial(server)
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ")

        def cut_off():
            try:
                connection.sendall(b"a")
            except OSError:
                return True

        until(cut_off, "the end of a connection that finishes nothing", seconds=30, pause=1)
        server.check_unharmed()


def addresses_of_others_need_a_token(work):
    crawled(work, 200)
    check_in("--token-file", work.run("serve", "--state", "state", "--listen", "0.0.0.0:0",
                                      code=1).err)
    work.write("short", "secret\n")
    work.write("token", "a-token-that-is-long-enough\n")
    check_in("not a token", work.run("serve", "--state", "state", "--token-file", "short", code=1).err)
    with serving(work, "state", "--token-file", "token", listen="0.0.0.0:0") as server:
        path = "/v1/status?url=http://nowhere.example/"
        check_equal(server.ask("GET", path)[0], 401, "without a token")
        for given in "Bearer a-token-that-is-long-enougH", "Bearer ", "Bearer a", "x" * 300:
            check_equal(server.ask("GET", path, headers={"Authorization": given})[0], 401, given)
        good = {"Authorization": "Bearer a-token-that-is-long-enough"}
        check_equal(server.ask("GET", path, headers=good)[0], 404, "with the token")
        check_equal(server.ask("GET", path, headers=good, host="a.example")[0], 404, "any host")
        check_equal(server.ask("GET", "/metrics")[0], 401, "metrics")
        server.check_unharmed()


def a_state_that_is_none_is_refused(work):
    os.mkdir(work.path("empty"))
    for state in "missing", "empty":
        check_in("state", work.run("serve", "--state", state, code=1).err)
    work.run("serve", code=2)
    work.run("serve", "--state", "x", "--threads", "0", code=2)
    check_equal(os.listdir(work.path("empty")), [], "files in a directory that is no state")


def a_run_that_is_writing_is_read_along(work):
    work.crawl(pages=4000)
    lines = work.read("crawl.jsonl").splitlines(keepends=True)
    work.write("part.jsonl", b"".join(lines[:500]))
    settings = ["--set", "store.write_ahead_log=on", "--set", "barrier.pages=50"]
    work.run("run", "-q", "--state", "state", "-o", "s1", *settings, "part.jsonl")
    first, last = json.loads(lines[0])["url"], json.loads(lines[-1])["url"]
    with serving(work) as server:
        server.get("/v1/status", url=first)
        server.get("/v1/status", 404, url=last)
        before = server.filter(urls=[first, last])
        check_equal(before["unknown"], [last], "unknown before")
        feed = work.start("run", "-q", "--state", "state", "-o", "s2", *settings, "part.jsonl", "-",
                          stdin=subprocess.PIPE)
        feed.stdin.write(b"".join(lines[500:]))
        feed.stdin.flush()  # not closed, so the run continues; the pages of the last barrier are served
        middle = json.loads(lines[-200])["url"]
        until(lambda: server.status("/v1/status", url=middle) == 200, "a page of the run that goes on")
        check(feed.poll() is None, "the run is still there")
        feed.stdin.close()
        check_equal(feed.wait(timeout=PATIENCE_SECONDS), 0, "exit code of the run")
        until(lambda: not server.filter(urls=[first, last])["unknown"], "the last page of the run")
        after = latest(work.read("s1").decode() + work.read("s2").decode())
        for url, event in list(after.items())[::29]:
            response = server.get("/v1/status", url=url)
            check_equal(response["status"], event["status"], url)
            check_equal(response["winner_url"], event["winner_url"], url)


if __name__ == "__main__":
    main(__name__)
