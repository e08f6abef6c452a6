"""The winner of a group: popularity classes, and the rules of markets."""

import json
import random

from harness import check, check_equal, latest, main

TEXT = " ".join(f"word{n}" for n in range(80))
UK = 'b.host ends_with ".uk" or !(a.host ends_with ".uk")'
EACH = ('a.host ends_with ".uk" and b.host ends_with ".uk" or a.host ends_with ".de" and b.host ends_with ".de" '
        'or !(a.host ends_with ".uk" or a.host ends_with ".de" or b.host ends_with ".uk" or b.host ends_with ".de")')


def kept(work, pages, *settings):
    """The winner among these near duplicates, each (url, popularity)."""
    lines = [json.dumps({"url": url, "popularity": popularity, "fetch_time_ms": 1700000000000 + n,
                         "content": f"{TEXT} {url}"}) for n, (url, popularity) in enumerate(pages)]
    results = []
    for order in lines, lines[::-1]:
        work.write("crawl.jsonl", "\n".join(order) + "\n")
        options = [word for setting in settings for word in ("--set", setting)]
        out = work.run("run", "-q", "--verify", *options, "crawl.jsonl").out
        results.append({url: event["winner_url"] or url for url, event in latest(out).items()})
    check_equal(*results, "read forwards and backwards")
    return results[0]


def popularity_about_the_same_does_not_decide(work):
    short, dynamic, long = "http://a.example/", "http://a.example/?q=1", "http://a.example/a/longer/path"
    pages = [(short, 5.0), (dynamic, 5.02), (long, 5.0000001)]
    check_equal(set(kept(work, pages).values()), {dynamic}, "to the last digit")
    about = "winner.popularity_tolerance=0.01"
    check_equal(set(kept(work, pages, about).values()), {short}, "about the same")
    check_equal(set(kept(work, [(short, 5.0), (long, 5.2)], about).values()), {long}, "four per cent more")
    check_equal(set(kept(work, [(long, 0), (short, -1e-300)], about).values()), {long}, "nothing is not about zero")


def rules(work, pages, *settings):
    kept(work, pages, *settings)
    options = [word for setting in settings for word in ("--set", setting)]
    events = latest(work.run("run", "-q", "--groups", "groups", *options, "crawl.jsonl").out)
    listed = {m["url"]: m["rule"] for g in work.json_lines("groups") for m in g["members"]}
    check_equal({url: event["rule"] for url, event in events.items()}, listed, "in the events")
    return listed


def the_rule_that_decided_is_named(work):
    a = "http://a.example/"
    for setting, pages, rule in (
            ("similarity.threshold=0", [(a, 2), ("http://b.example/", 1)], "popularity"),
            ("similarity.threshold=0", [(a, 1), ("http://b.example/?", 1)], "static"),
            ("similarity.threshold=0", [(a, 1), ("http://b.example/b", 1)], "short"),
            ("winner.popularity_tolerance=0.1", [(a, 1), ("http://b.example/b", 1.01)], "short"),
            ("winner.relation=" + UK, [(a, 1), ("http://b.example/", 2), ("http://b.uk/", 0)], "override")):
        got = rules(work, pages, setting)
        winner = "http://b.uk/" if rule == "override" else a
        check_equal(got, {url: None if url == winner else rule for url, _ in pages}, setting)
    tie = rules(work, [(a, 1), ("http://b.example/", 1)])
    check_equal(sorted(tie.values(), key=str), [None, "id"], "nothing but the page's id")


def a_rule_alone_is_no_event(work):
    a, b, redirect = "http://a.example/", "http://b.example/b", "http://c.example/"

    def line(url, second, popularity, **more):
        return json.dumps({"url": url, "popularity": popularity, "fetch_time_ms": 1700000000000 + 1000 * second,
                           "content": TEXT, **more})
    crawl = [line(a, 0, 1), line(b, 1, 1), line(redirect, 2, 0, http_status=301, redirect_url=b, content="")]
    work.write("crawl.jsonl", "\n".join(crawl) + "\n")
    work.run("run", "-q", "--state", "state", "-o", "out", "crawl.jsonl")
    first = latest(work.read("out"))
    check_equal({url: e["rule"] for url, e in first.items()}, {a: None, b: "short", redirect: None}, "at first")
    work.write("more.jsonl", line(a, 3, 5) + "\n")
    work.run("run", "-q", "--state", "state", "-o", "more", "--groups", "groups", "more.jsonl")
    check_equal(set(latest(work.read("more"))), {a}, "only the page that was fetched has an event")
    check_equal({m["rule"] for g in work.json_lines("groups") for m in g["members"]}, {None, "popularity"}, "at the end")
    work.write("last.jsonl", line(b, 4, 1) + "\n")
    work.run("run", "-q", "--state", "state", "-o", "last", "last.jsonl")
    check_equal(latest(work.read("last"))[b]["rule"], "short", "as its group last told it")


def canonical(url):
    return url and url.lower().split("#")[0].replace(":80/", "/")


def last_events(work, *fetches):
    """The last event of each page, by canonical URL."""
    lines = [json.dumps({"fetch_time_ms": 1700000000000 + 1000 * n, **fetch}) for n, fetch in enumerate(fetches)]
    work.write("crawl.jsonl", "\n".join(lines) + "\n")
    out = work.run("run", "-q", "--verify", "--groups", "groups", "crawl.jsonl").out
    return {canonical(event["url"]): event for event in map(json.loads, out.splitlines())}


def a_304_keeps_the_popularity_that_it_does_not_give(work):
    a, b = "http://a.example/", "http://b.example/"
    pages = [{"url": a, "popularity": 5, "content": TEXT}, {"url": b, "popularity": 2, "content": TEXT}]
    for given, winner in ({}, a), ({"popularity": 0}, a), ({"popularity": None}, a), ({"popularity": 1}, b):
        last = last_events(work, *pages, {"url": a, "http_status": 304, **given})
        check_equal(last[winner]["status"], "winner", given)
        check_equal(last[a]["version_ms"], 1700000002000, "the time")


def another_spelling_of_a_winner_changes_nothing(work):
    """An unchanged fetch under another spelling: the page ranks as before, and a loser's event names it as it was."""
    a, b, c = "http://a.example/a", "http://b.example/b", "http://c.example/c"
    pages = [{"url": a, "content": TEXT, "popularity": 1}, {"url": b, "content": TEXT},
             {"url": c, "content": TEXT + " more"}]
    for spelling in a + "#part", a + "#/?q=1", "HTTP://A.example:80/a":
        for more in [], pages[1:], [{"url": c, "content": TEXT + " another"}]:
            last = last_events(work, *pages, {"url": spelling, "content": TEXT, "popularity": 1}, *more)
            check_equal({e["status"] for u, e in last.items() if u != a}, {"loser"}, spelling)
            check_equal((last[a]["url"], last[a]["status"]), (spelling, "winner"), spelling)
            listed = {m["url"]: m["rule"] for g in work.json_lines("groups") for m in g["members"]}
            check_equal(set(listed.values()), {None, "popularity"}, f"the rules in {listed}")
            check_equal([url for url, rule in listed.items() if rule is None], [spelling], "the winner")
            if more and more[0]["content"].endswith("another"):
                check_equal(last[c]["winner_url"], spelling, "in a later event")
            check_equal(last[b]["winner_url"], a, "in an earlier event")


def fetches_of(seed, pages, fetches):
    """Pages that resemble one another, redirect, die, and are fetched again, mostly with the content they had."""
    rng = random.Random(seed)
    texts = {}
    for _ in range(fetches):
        page = rng.randrange(pages)
        fetch = {"url": f"http://h{page % 2}.example/{page}", "popularity": rng.randrange(4)}
        kind = rng.random()
        if kind < 0.05:
            fetch["http_status"] = 404
        elif kind < 0.15:
            fetch.update(http_status=301, content="", redirect_url=f"http://h0.example/{rng.randrange(pages)}")
        else:
            if page not in texts or kind < 0.3:
                begin = 2 * rng.randrange(8)
                words = [f"w{at}" for at in range(begin, begin + 40)]
                texts[page] = " ".join([*words, f"x{rng.choice((0, page))}"])
            fetch["content"] = texts[page]
        yield fetch


def the_events_of_a_crawl_are_the_same_however_it_spells_urls(work):
    """In small groups, and in large ones, which tell pages their status in rounds."""
    def events(crawl, *settings):
        work.write("crawl.jsonl", "".join(json.dumps({**fetch, "fetch_time_ms": 1000 * n}) + "\n"
                                          for n, fetch in enumerate(crawl, 1)))
        options = [word for setting in settings for word in ("--set", setting)]
        out = work.run("run", "-q", *options, "crawl.jsonl").out
        return [{**event, "url": canonical(event["url"]), "winner_url": canonical(event["winner_url"])}
                for event in map(json.loads, out.splitlines())]

    for settings in ([], ["mode=fast"], ["winner.margin=1"], ["winner.relation=a.host = b.host"],
                     ["winner.margin=1", "winner.relation=a.popularity <= b.popularity"]):
        for pages in 20, 100:
            crawl = list(fetches_of(pages, pages, 5 * pages))
            respelled = [{**fetch, "url": f"HTTP{fetch['url'][4:]}#{n % 3}" if n % 3 else fetch["url"]}
                         for n, fetch in enumerate(crawl)]
            one, other = events(crawl, *settings), events(respelled, *settings)
            check(max(event["group_size"] for event in one) > pages * 2 / 3, pages, "pages: no large group")
            check_equal(other, one, (settings, pages))


def a_merge_gives_a_loser_no_event_because_its_winner_is_spelled_differently(work):
    def line(url, begin, popularity=0):
        return {"url": url, "popularity": popularity, "content": " ".join(f"w{at}" for at in range(begin, begin + 40))}
    winner, loser, between = "http://a.example/", "http://b.example/", "http://c.example/"
    higher = [line(f"http://d.example/{page}", 6) for page in range(4)]
    fetches = [line(winner, 0, 1), line(loser, 0), *higher, line(winner + "#part", 0, 1), line(between, 3)]
    last = last_events(work, *fetches)
    events = [event["url"] for event in map(json.loads, work.run("run", "-q", "crawl.jsonl").out.splitlines())]
    check_equal([len(group["members"]) for group in work.json_lines("groups")], [7], "members after the merge")
    check_equal(events.count(loser), 1, "events of the loser")
    check_equal(last[loser]["winner_url"], winner, "as it was spelled then")


def a_fragment_does_not_rank_a_page(work):
    a, b = "http://a.example/#/?q=1", "http://b.example/b"
    check_equal(rules(work, [(a, 1), (b, 1)]), {a: None, b: "short"}, "its URL is http://a.example/")


def a_market_prefers_its_hosts(work):
    com, uk, de = "http://a.com/", "http://www.a.uk/longer", "http://www.a.de/longer"
    pages = [(com, 9), (uk, 1), (de, 2)]
    check_equal(set(kept(work, pages).values()), {com}, "without a market")
    check_equal(set(kept(work, pages, "winner.relation=" + UK).values()), {uk}, "in the United Kingdom")
    check_equal(set(kept(work, [(com, 9), (de, 2)], "winner.relation=" + UK).values()), {com}, "without a host there")


def each_market_has_its_winner(work):
    com, org, uk, uk2, de = "http://a.com/", "http://a.org/", "http://a.uk/", "http://a.co.uk/", "http://a.de/x"
    pages = [(com, 9), (org, 8), (uk, 1), (uk2, 2), (de, 3)]
    check_equal(kept(work, pages, "winner.relation=" + EACH),
                {com: com, org: com, uk: uk2, uk2: uk2, de: de}, "a winner for each")


if __name__ == "__main__":
    main(__name__)
