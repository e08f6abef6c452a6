"""samepage cover against an independent checker: sets of word tuples, the relation as a Python function, a comparison
of all pairs, and the smallest cover by exhaustive search."""

import collections
import itertools
import json
import operator
import random

from harness import check, check_equal, check_in, main

DAY = 86400000
START = 1700000000000

# The relation as the program reads it, and as a Python function.
RELATIONS = [
    ("containment(a, b) >= 0.7 && a.timestamp <= b.timestamp && a.host == b.host",
     lambda a, b, m: m["containment"] >= 0.7 and a["t"] <= b["t"] and a["host"] == b["host"]),
    ("containment(a, b) >= 0.5", lambda a, b, m: m["containment"] >= 0.5),
    ("containment(b, a) > 0.6 && a.length <= b.length * 2",
     lambda a, b, m: m["containment_of_by"] > 0.6 and a["words"] <= b["words"] * 2),
    ("jaccard(a, b) >= 0.4 and a.url != b.url",
     lambda a, b, m: m["jaccard"] >= 0.4 and a["url"] != b["url"]),
    ("dice(a, b) > 0.8 && abs(a.timestamp - b.timestamp) <= 3d",
     lambda a, b, m: m["dice"] > 0.8 and abs(a["t"] - b["t"]) <= 3 * DAY),
    ("jaccard(a, b) >= 0.3 && (a.host = b.host || a.popularity < b.popularity)",
     lambda a, b, m: m["jaccard"] >= 0.3 and (a["host"] == b["host"] or a["pop"] < b["pop"])),
    ("!(a.host != b.host || containment(a, b) < 0.4) && b.timestamp - a.timestamp >= 12h",
     lambda a, b, m: a["host"] == b["host"] and m["containment"] >= 0.4
     and b["t"] - a["t"] >= DAY / 2),
    ("a.host = b.host && a.mime = b.mime && a.popularity <= b.popularity",
     lambda a, b, m: a["host"] == b["host"] and a["pop"] <= b["pop"]),
    ("containment(a, b) >= 0.8 || jaccard(a, b) > 0.2 && a.host = \"h1.example\" && "
     "b.timestamp > 2023-11-20",
     lambda a, b, m: m["containment"] >= 0.8 or m["jaccard"] > 0.2
     and a["host"] == "h1.example" and b["t"] > 1700438400000),
    ("containment(a, b) >= 0.2 && containment(a, b) < 0.9",
     lambda a, b, m: 0.2 <= m["containment"] < 0.9),
    ("containment(a, b) >= 0.4 && a.host != b.host && a.timestamp <= b.timestamp",
     lambda a, b, m: m["containment"] >= 0.4 and a["host"] != b["host"] and a["t"] <= b["t"]),
    ("jaccard(a, b) >= 0.3 && a.url != b.url && !(a.host = b.host) || a.length != b.length && "
     "a.popularity = b.popularity",
     lambda a, b, m: m["jaccard"] >= 0.3 and a["url"] != b["url"] and a["host"] != b["host"]
     or a["words"] != b["words"] and a["pop"] == b["pop"]),
    ("containment(a, b) >= 0.4 && a.popularity > b.popularity",
     lambda a, b, m: m["containment"] >= 0.4 and a["pop"] > b["pop"]),
    ("containment(a, b) >= 0.3 && b.timestamp - a.timestamp > 12h && a.timestamp - b.timestamp > -3d",
     lambda a, b, m: m["containment"] >= 0.3 and DAY / 2 < b["t"] - a["t"] < 3 * DAY),
    ("containment(a, b) >= 0.3 && a.host != b.host && a.popularity != b.popularity",
     lambda a, b, m: m["containment"] >= 0.3 and a["host"] != b["host"] and a["pop"] != b["pop"]),
]


def make_documents(seed, count, unique):
    """Texts that copy parts of earlier ones, with times and hosts to tell them apart."""
    rng = random.Random(seed)
    documents = []
    for number in range(count):
        size = rng.choice([0, 1, 3, 5, 6]) if rng.random() < 0.04 else rng.randint(8, 90)
        words = [rng.choice("abcdefgh") + rng.choice("xyz") * rng.randint(1, 9)
                 for _ in range(size)]
        if documents and rng.random() < 0.75:
            source = rng.choice(documents)["text"].split()
            at = rng.randint(0, len(source) // 2)
            words = source[at:] if rng.random() < 0.5 else source[:]
            for _ in range(rng.choice([0, 0, 1, 2, 4])):
                words.insert(rng.randint(0, len(words)), "w%d" % rng.randint(0, 999))
        if unique:
            words.append("only%dhere" % number)
        host = "h%d.example" % rng.randint(0, 2)
        documents.append({"number": number, "host": host, "text": " ".join(words),
                          "url": "http://%s/%d" % (host, rng.randint(0, 8)),
                          "t": START + rng.randint(0, 20) * DAY // 2,
                          "pop": rng.randint(0, 3), "words": len(words),
                          "set": {tuple(words[i:i + 5]) for i in range(max(1, len(words) - 4))}
                          if words else set()})
    return documents


def write_crawl(work, name, documents):
    lines = [json.dumps({"url": d["url"], "fetch_time_ms": d["t"], "http_status": 200,
                         "content_type": "text/plain", "popularity": d["pop"],
                         "content": d["text"]}) for d in documents]
    work.write(name, "\n".join(lines) + "\n")


def measures(a, b):
    shared, x, y = len(a["set"] & b["set"]), len(a["set"]), len(b["set"])
    return {"containment": shared / x if x else 0, "containment_of_by": shared / y if y else 0,
            "jaccard": shared / (x + y - shared) if shared else 0,
            "dice": 2 * shared / (x + y) if shared else 0}


def related(documents, holds):
    """For each document those that cover it, including itself."""
    return [{b["number"] for b in documents if b is a or holds(a, b, measures(a, b))}
            for a in documents]


def components(coverers):
    parent = list(range(len(coverers)))

    def root(x):
        while parent[x] != x:
            x = parent[x]
        return x

    for a, others in enumerate(coverers):
        for b in others:
            parent[root(a)] = root(b)
    parts = {}
    for x in range(len(coverers)):
        parts.setdefault(root(x), []).append(x)
    return parts.values()


def smallest(part, coverers):
    for size in range(1, len(part) + 1):
        for kept in itertools.combinations(part, size):
            if all(coverers[x].intersection(kept) for x in part):
                return size
    return 0


def check_output(lines, documents, holds, coverers):
    """Every dropped document is covered by a kept one, which the output names with the right measures."""
    check_equal([line["record"] for line in lines], list(range(len(documents))), "records")
    kept = {line["record"] for line in lines if line["status"] == "kept"}
    for line, d in zip(lines, documents):
        check_equal((line["url"], line["fetch_time_ms"]), (d["url"], d["t"]), "document")
        if line["status"] == "kept":
            covers = sum(other.get("by_record") == line["record"] for other in lines)
            check_equal(line["covers"], covers, "number of covered documents")
            continue
        by = documents[line["by_record"]]
        check_equal((line["by_url"], line["by_fetch_time_ms"]), (by["url"], by["t"]), "by")
        said = measures(d, by)
        check(by["number"] in kept, "covered by one that was dropped")
        check(holds(d, by, said), "the relation does not hold for", line)
        for name in said.keys() & line.keys():
            check(abs(said[name] - line[name]) < 1e-12, name, said[name], "and", line)
    for x, others in enumerate(coverers):
        check(others & kept, x, "is not covered at all")
    return len(kept)


def run_and_check(work, documents, relation, holds, coverers, *options):
    write_crawl(work, "crawl.jsonl", documents)
    work.run("cover", "-q", "-o", "out", "--summary", "summary", "--relation", relation, *options,
             "crawl.jsonl")
    count = check_output(work.json_lines("out"), documents, holds, coverers)
    return count, work.json_lines("summary")[0]


def covers_are_what_an_independent_checker_finds(work):
    for number, (relation, holds) in enumerate(RELATIONS):
        documents = make_documents(number, 90, unique=True)
        coverers = related(documents, holds)
        kept, summary = run_and_check(work, documents, relation, holds, coverers)
        arcs = sum(len(c) - 1 for c in coverers)
        check(arcs > 20, "too little is related to say anything:", relation)
        # No document covers another here, so every related pair must have been found.
        check_equal(summary["pairs"], arcs, "pairs related by " + relation)
        check_equal(summary["kept"], kept, "kept")


def random_atom(rng):
    """A comparison: as text, and as a function of a, b, the measures and a pair's numbers."""
    kind = rng.randint(0, 5)
    if kind <= 2:
        name = rng.choice(["containment(a, b)", "containment(b, a)", "jaccard(a, b)", "dice(b, a)"])
        key = {"containment(a, b)": "containment", "containment(b, a)": "containment_of_by",
               "jaccard(a, b)": "jaccard", "dice(b, a)": "dice"}[name]
        left, bound = (name, lambda a, b, m: m[key]), rng.choice([0.15, 0.3, 0.5, 0.75])
        right = (str(bound), lambda a, b, m: bound)
    elif kind == 3:
        field, key = rng.choice([("host", "host"), ("url", "url"), ("timestamp", "t")])
        left = ("a." + field, lambda a, b, m: a[key])
        right = ("b." + field, lambda a, b, m: b[key])
    elif kind == 4:
        n = rng.randint(0, 3)
        left, right = ("b.popularity * 2", lambda a, b, m: b["pop"] * 2), (
            "a.popularity + %d" % n, lambda a, b, m: a["pop"] + n)
    else:
        days = rng.randint(0, 6)
        left = ("b.timestamp - a.timestamp", lambda a, b, m: b["t"] - a["t"])
        right = ("%dd" % days, lambda a, b, m: days * DAY)
        if rng.random() < 0.4:
            left = ("abs(a.timestamp - b.timestamp)", lambda a, b, m: abs(a["t"] - b["t"]))
        elif rng.random() < 0.5:
            left = ("a.timestamp - b.timestamp", lambda a, b, m: a["t"] - b["t"])
            right = ("-%dd" % days, lambda a, b, m: -days * DAY)
    if rng.random() < 0.5:
        left, right = right, left
    op = rng.choice([">=", "<=", ">", "<", "=", "!="] if kind > 2 else [">=", "<=", ">", "<"])
    compare = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
               "=": operator.eq, "!=": operator.ne}[op]
    return (f"{left[0]} {op} {right[0]}",
            lambda a, b, m: compare(left[1](a, b, m), right[1](a, b, m)))


def random_relation(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return random_atom(rng)
    left, right = random_relation(rng, depth - 1), random_relation(rng, depth - 1)
    kind = rng.random()
    if kind < 0.2:
        return f"!({left[0]})", lambda a, b, m: not left[1](a, b, m)
    if kind < 0.6:
        return (f"({left[0]}) && ({right[0]})",
                lambda a, b, m: left[1](a, b, m) and right[1](a, b, m))
    return f"({left[0]}) || ({right[0]})", lambda a, b, m: left[1](a, b, m) or right[1](a, b, m)


def relations_made_up_find_every_pair(work):
    """Using conditions for look-ups loses nothing: the pairs equal those of evaluating the relation on all pairs."""
    rng = random.Random(5)
    documents = make_documents(50, 40, unique=True)
    repeated = make_documents(51, 40, unique=False)
    some = 0
    for _ in range(70):
        relation, holds = random_relation(rng, 3)
        coverers = related(documents, holds)
        arcs = sum(len(c) - 1 for c in coverers)
        _, summary = run_and_check(work, documents, relation, holds, coverers)
        check_equal(summary["pairs"], arcs, "pairs related by " + relation)
        run_and_check(work, repeated, relation, holds, related(repeated, holds))
        some += 0 < arcs < 40 * 39
    check(some > 30, "too few relations say anything:", some)


def covers_of_small_components_are_the_smallest(work):
    tried = 0
    for seed in range(24):
        relation, holds = RELATIONS[seed % len(RELATIONS)]
        documents = make_documents(100 + seed, 14, unique=False)
        coverers = related(documents, holds)
        kept, _ = run_and_check(work, documents, relation, holds, coverers)
        expected = sum(smallest(part, coverers) for part in components(coverers))
        check_equal(kept, expected, "size of the cover by " + relation)
        tried += expected < len(documents)
    check(tried > 12, "too few covers leave anything out")


def threads_and_memory_and_exactness_leave_a_cover(work):
    relation, holds = RELATIONS[0]
    documents = make_documents(7, 150, unique=False)
    coverers = related(documents, holds)
    kept, _ = run_and_check(work, documents, relation, holds, coverers)
    exact = work.read("out")
    for options in (["threads=1"], ["threads=5"], ["cover.memory_bytes=1MiB"]):
        run_and_check(work, documents, relation, holds, coverers, "--set", *options)
        check_equal(work.read("out"), exact, "output with " + options[0])
    greedy, _ = run_and_check(work, documents, relation, holds, coverers, "--set",
                              "cover.exact_documents=0")
    check(greedy >= kept, "greedy is better than exact:", greedy, kept)


def large_groups_are_covered_by_some_of_their_documents(work):
    """A document that enough others cover is not asked to cover others: a cover, though of fewer choices. What it costs
    grows with the number of documents, not with its square. Smaller groups are not affected."""
    rng = random.Random(17)
    text = ["word%d" % i for i in range(40)]
    documents = []
    for number in range(160):
        words = text[:]
        words[rng.randrange(40)] = "new%d" % number
        host = "h%d.example" % rng.randint(0, 1)
        documents.append({"number": number, "host": host, "text": " ".join(words), "url": "http://%s/%d" % (host, number),
                          "t": START + rng.randint(0, 20) * DAY // 2, "pop": rng.randint(0, 3), "words": 40,
                          "set": {tuple(words[i:i + 5]) for i in range(36)}})
    for relation, holds in RELATIONS[:6] + RELATIONS[7:8]:
        coverers = related(documents, holds)
        most = max(len(c) - 1 for c in coverers)
        kept, summary = run_and_check(work, documents, relation, holds, coverers, "--set", "cover.coverers=5")
        check(summary["not_asked"] > 0, relation, summary)
        check(summary["pairs"] < sum(len(c) - 1 for c in coverers), relation, summary)
        whole, before = run_and_check(work, documents, relation, holds, coverers, "--set", f"cover.coverers={most + 1}")
        check_equal(before["not_asked"], 0, "not asked")
        check_equal(before["pairs"], sum(len(c) - 1 for c in coverers), "pairs")
        check(whole <= kept <= 2 * whole + 2, relation, "needs", whole, "and got", kept)
        work.run("cover", "-q", "-o", "whole", "-r", relation, "--set", "cover.coverers=0", "crawl.jsonl")
        check_equal(work.read("out"), work.read("whole"), relation)
    done = work.run("cover", "-o", "out", "-r", relation, "--set", "cover.coverers=5", "crawl.jsonl")
    check_in("cover.coverers", done.err)


def a_document_of_a_large_group_costs_the_same_in_a_crawl_four_times_as_long(work):
    pairs = {}
    for kind in "near-words", "same", "outrank-near", "zipf", "chainlike", "near-url":
        for relation in "jaccard(a, b) >= 0.8", "containment(a, b) >= 0.7 && a.timestamp <= b.timestamp":
            for pages in 500, 2000:
                work.run("synth", "--pages", str(pages), "--skew", kind, "--words", "100", "-o", "crawl.jsonl")
                work.run("cover", "-q", "-o", "out", "--summary", "summary", "-r", relation, "--set", "cover.coverers=50",
                         "crawl.jsonl")
                summary = work.json_lines("summary")[0]
                for counter in "pairs", "candidates":
                    pairs[counter, pages] = summary[counter] / summary["documents"]
            for counter in "pairs", "candidates":
                check(pairs[counter, 2000] <= 1.5 * pairs[counter, 500] + 20, kind, relation, counter, pairs)


def a_crawl_made_up_is_covered_and_filtered(work):
    work.crawl(pages=1500, seed=5)
    work.run("cover", "-q", "-o", "all", "--summary", "s1", "-r", RELATIONS[0][0], "crawl.jsonl")
    work.run("cover", "-q", "-o", "some", "--summary", "s2", "-r", RELATIONS[0][0], "--where",
             "mime = \"text/html\" && timestamp < 2023-11-14T22:40:00Z", work.gzip("crawl.jsonl"))
    fetches = work.json_lines("crawl.jsonl")
    everything, some = work.json_lines("all"), work.json_lines("some")
    check_equal([line["record"] for line in everything],
                [n for n, f in enumerate(fetches) if f["http_status"] == 200], "documents")
    check_equal([line["record"] for line in some],
                [n for n, f in enumerate(fetches) if f["http_status"] == 200
                 and f["content_type"].startswith("text/html")
                 and f["fetch_time_ms"] < 1700001600000], "filtered documents")
    check(work.json_lines("s1")[0]["kept"] < len(everything) * 0.95, "nothing was redundant")
    check_equal(work.json_lines("s2")[0]["filtered"], len(everything) - len(some), "filtered")


def titles_and_languages_can_be_compared(work):
    page = "<html><head><title> %s </title></head><body><p>%s</p></body></html>"
    texts = ["The quick brown fox jumps over the lazy dog and runs away from all of them again.",
             "Der schnelle braune Fuchs springt über den faulen Hund und läuft vor allen davon."]
    lines = [json.dumps({"url": "http://x.example/%d" % i, "content_type": "text/html",
                         "content": page % (title, texts[i % 2])})
             for i, title in enumerate(["One &amp; all", "Two", "One & all", "One & all", "Two"])]
    work.write("crawl.jsonl", "\n".join(lines))
    work.run("cover", "-q", "-o", "out", "-r", "a.title = b.title && a.title != \"\"",
             "crawl.jsonl")
    check_equal([line["status"] for line in work.json_lines("out")],
                ["kept", "kept", "dropped", "dropped", "dropped"], "by title")
    work.run("cover", "-q", "-o", "out", "-r", "a.language = b.language && a.language = \"de\"",
             "crawl.jsonl")
    check_equal([line["status"] for line in work.json_lines("out")],
                ["kept", "kept", "kept", "dropped", "kept"], "by language")


def versions_and_words_choose_documents(work):
    """Versions are counted among the documents that pass the rest of the filter, at any place in it."""
    rng = random.Random(8)
    documents = []
    for number in range(400):
        host = rng.choice(["www.parliament.uk", "news.example", "parliament.uk.example"])
        words = [rng.choice(["Expense", "expenses", "budget", "House"]) for _ in range(3)]
        documents.append({"url": f"http://{host}/{rng.randint(0, 30)}", "host": host,
                          "t": START + number * DAY // 4, "words": words, "number": number})
    work.write("crawl.jsonl", "\n".join(json.dumps(
        {"url": d["url"], "fetch_time_ms": d["t"], "content_type": "text/plain",
         "content": " ".join(d["words"]) + f", item {d['number']}."}) for d in documents))

    def chosen(where):
        work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", "1 = 0", "--where", where,
                 "crawl.jsonl")
        records = [line["record"] for line in work.json_lines("out")]
        check_equal(work.json_lines("sum")[0]["filtered"], len(documents) - len(records), where)
        return records

    def expected(least, holds):
        some = [d for d in documents if holds(d)]
        count = collections.Counter(d["url"] for d in some)
        return [d["number"] for d in some if count[d["url"]] >= least]

    late = START + 50 * DAY
    cases = [
        ("versions >= 2", 2, lambda d: True),
        ("contains(text, 'expense')", 0, lambda d: "Expense" in d["words"]),
        ("versions >= 4 && timestamp >= 2024-01-03T22:13:20Z", 4, lambda d: d["t"] >= late),
        ("contains(text, 'expense budget') && (versions > 1 && host ends_with '.uk')", 2,
         lambda d: "Expense budget" in " ".join(d["words"]) and d["host"].endswith(".uk")),
        ("host in ('news.example', 'x') && versions >= 3", 3, lambda d: d["host"] == "news.example"),
        ("url matches '*/?' && versions >= 3", 3, lambda d: len(d["url"].split("/")[-1]) == 1),
    ]
    for where, least, holds in cases:
        wanted = expected(least, holds)
        check(0 < len(wanted) < len(documents), "the test says nothing:", where)
        check_equal(chosen(where), wanted, where)
    # The same relation in two forms: look-ups give the same result as comparing all pairs.
    relation = "contains(a.text, 'expense') && b.host ends_with '.uk' && a.versions < b.versions"
    work.run("cover", "-q", "-o", "out", "-r", relation, "crawl.jsonl")
    count = collections.Counter(d["url"] for d in documents)
    most = max(n for url, n in count.items() if url.startswith("http://www.parliament.uk"))
    for line, d in zip(work.json_lines("out"), documents):
        covered = "Expense" in d["words"] and count[d["url"]] < most
        check_equal(line["status"], "dropped" if covered else "kept", f"{d} by {relation}")
    done = work.run("cover", "--explain", "-r", relation)
    check_in("only b with b.host ends_with", done.out, "explanation")


def check_left_out(lines, coverers):
    """What is left out is neither kept nor covered by a document that is kept. Returns how many are."""
    kept = {line["record"] for line in lines if line["status"] == "kept"}
    for line in lines:
        if line["status"] == "dropped":
            check(line["by_record"] in kept, "covered by what is not kept", line)
        if line["status"] == "left_out":
            check(not kept.intersection(coverers[line["record"]]), "left out although it is covered", line)
    return sum(line["status"] == "left_out" for line in lines)


def hosts_have_quotas(work):
    documents = make_documents(21, 300, unique=True)
    write_crawl(work, "crawl.jsonl", documents)
    relation, holds = RELATIONS[1]

    def cover(*options):
        work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", relation, *options,
                 "crawl.jsonl")
        lines = work.json_lines("out")
        kept = collections.Counter(documents[line["record"]]["host"] for line in lines
                                   if line["status"] == "kept")
        return lines, kept, work.json_lines("sum")[0]

    lines, kept, summary = cover()
    every = collections.Counter(d["host"] for d in documents)
    few, many = min(kept.values()), max(kept.values())
    check(few < many, "hosts are all alike", kept)
    least = many + 1
    more, kept_more, added = cover("--host-least", str(least))
    for host, count in every.items():
        check_equal(kept_more[host], max(kept[host], min(least, count)), host)
    check_equal(added["added"], sum(kept_more.values()) - sum(kept.values()), "added")
    for line, before in zip(more, lines):
        check(line["status"] == "kept" or line["status"] == before["status"] == "dropped", line)
    most = few - 1
    less, kept_less, left = cover("--host-most", str(most))
    check_equal(dict(kept_less), {host: most for host in every}, "kept")
    out = {line["record"] for line in less if line["status"] == "left_out"}
    check_equal(left["left_out"], len(out), "left out")
    check_equal(len(out), len(documents) - left["kept"]
                - sum(line["status"] == "dropped" for line in less), "all have a status")
    coverers = related(documents, holds)
    check_left_out(less, coverers)
    again = documents + [{**d, "host": "again.example", "url": f"http://again.example/{d['number']}",
                          "number": len(documents) + i} for i, d in enumerate(documents[::2])]
    write_crawl(work, "again.jsonl", again)
    work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", relation, "--host-least", "3",
             "--host-most", "7", "again.jsonl")
    check(check_left_out(work.json_lines("out"), related(again, holds))
          == work.json_lines("sum")[0]["left_out"] > 0, "left out with both quotas")
    # Of each host the documents that cover most are kept.
    covers = {line["record"]: line["covers"] for line in lines if line["status"] == "kept"}
    stay = {line["record"] for line in less if line["status"] == "kept"}
    for host in every:
        here = [r for r in covers if documents[r]["host"] == host]
        check(min(covers[r] for r in here if r in stay) >=
              max(covers[r] for r in here if r not in stay), host)
    message = work.run("cover", "-r", relation, "--host-least", "3", "--host-most", "2",
                       "crawl.jsonl", code=2).err
    check_in("more than --host-most", message)
    work.run("cover", "-r", relation, "--host-least", "0", "crawl.jsonl", code=2)


def what_a_quota_leaves_out_may_be_covered_by_others(work):
    """P and Q are of one host; R covers Q, and the page that only Q was said to cover."""
    words = [f"w{i}" for i in range(200)]
    texts = {"http://a/P": words[:100], "http://a/Q": words[75:], "http://b/R": words[75:170] + [f"r{i}" for i in range(60)],
             "http://c/x": words[77:107], "http://c/y": words[:30], "http://c/y2": words[30:60], "http://c/z": words[170:]}
    work.write("few.jsonl", "".join(json.dumps({"url": url, "content": " ".join(text)}) + "\n" for url, text in texts.items()))
    for options, left, expected in ([], 0, [None, None, None, "Q", "P", "P", "Q"]), \
            (["--host-most", "1"], 1, [None, "R", None, "R", "P", "P", "left_out"]):
        work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", "containment(a, b) >= 0.7", *options, "few.jsonl")
        found = [{"kept": None, "left_out": "left_out"}.get(line["status"], line.get("by_url", "")[-1:])
                 for line in work.json_lines("out")]
        check_equal(found, expected, options)
        summary = work.json_lines("sum")[0]
        check_equal((summary["left_out"], summary["kept"], summary["documents"]), (left, found.count(None), 7), options)


def the_lightest_cover_is_chosen(work):
    """Of three equal texts of different weights the lightest is kept; weight 1 changes nothing."""
    documents = make_documents(23, 60, unique=True)
    write_crawl(work, "crawl.jsonl", documents)
    relation, holds = RELATIONS[1]
    coverers = related(documents, holds)
    kept = {}
    for weight in "1", "bytes", "1 / (1 + popularity)":
        work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", relation, "--weight",
                 weight, "crawl.jsonl")
        kept[weight] = check_output(work.json_lines("out"), documents, holds, coverers)
        kept[weight] = (work.json_lines("sum")[0]["weight"],
                        [line["record"] for line in work.json_lines("out")
                         if line["status"] == "kept"])
    work.run("cover", "-q", "-o", "out", "--summary", "sum", "-r", relation, "crawl.jsonl")
    fewest = [line["record"] for line in work.json_lines("out") if line["status"] == "kept"]
    check_equal(kept["1"][0], len(kept["1"][1]), "the weight of a count")
    check(len(kept["1"][1]) >= len(fewest), "fewer than the fewest")
    size = [len(d["text"].encode()) for d in documents]
    check_equal(kept["bytes"][0], sum(size[r] for r in kept["bytes"][1]), "bytes kept")
    check(kept["bytes"][0] < sum(size[r] for r in fewest), "the weight says nothing")
    for weight, said in (("host", "a number is needed"), ("bytes - bytes", "not above 0"),
                         ("versions", "only when all"), ("a.bytes", "no such field")):
        done = work.run("cover", "-r", relation, "--weight", weight, "crawl.jsonl", code=2)
        check_in("--weight", done.err)
        check_in(said, done.err)


def versions_of_made_up_pages_are_as_many_as_asked_for(work):
    for versions in 1, 2.24, 4.5:
        work.run("synth", "--pages", "2000", "--versions", str(versions), "-o", "crawl.jsonl")
        fetches = work.json_lines("crawl.jsonl")
        mean = len(fetches) / len({f["url"] for f in fetches})
        check(abs(mean - versions) < 0.05 * versions, mean, "versions, not", versions)
    work.run("synth", "--versions", "0.5", code=2)


def copies_of_made_up_pages_are_as_many_as_asked_for(work):
    for near, exact in (0, 0), (40, 0), (5, 62.5):
        work.run("synth", "--pages", "4000", "--versions", "1", "--near", str(near), "--exact", str(exact),
                 "--words", "10", "-o", "crawl.jsonl", "--truth", "truth.jsonl")
        kinds = [fetch["kind"] for fetch in work.json_lines("truth.jsonl")]
        for kind, percent in (("near", near), ("exact", exact)):
            share = 100 * kinds.count(kind) / len(kinds)
            check(abs(share - percent) < 0.1 * percent + 0.01, share, "percent of", kind, "copies, not", percent)
    work.run("synth", "--near", "60", "--exact", "38", code=2)
    work.run("synth", "--near", "-1", code=2)
    work.run("synth", "--pages", "10", "--from", "11", code=2)


def mistakes_are_explained(work):
    work.crawl(pages=30)
    done = work.run("cover", "-r", "containment(a, b) >= 0.7 && a.hots = b.host", "crawl.jsonl",
                    code=2)
    check_in("--relation: column 31", done.err)
    check_in("^~~~", done.err)
    done = work.run("cover", "-r", "1 = 1", "--where", "host = 3", "crawl.jsonl", code=2)
    check_in("--where: column 1", done.err)
    check_in("--relation", work.run("cover", "crawl.jsonl", code=2).err)
    check_in("no input", work.run("cover", "-r", "1 = 1", code=2).err)
    done = work.run("cover", "-r", "1 = 1", "--temp", "nowhere", "crawl.jsonl", code=1)
    check_in("--temp", done.err)
    done = work.run("cover", "-r", "1 = 1", "-o", "no/where", "crawl.jsonl", code=1)
    check_in("no/where", done.err)
    done = work.run("cover", "--explain", "-r", "jaccard(a, b) > 0.9 && a.host = b.host")
    check_in("at least 0.9 of b's shingles", done.out, "explanation")
    check_in("same block", done.out, "explanation")
    done = work.run("cover", "--explain", "-r", "jaccard(a, b) > 0.9 && a.host != b.host")
    check_in("apart       a.host != b.host", done.out, "explanation")


if __name__ == "__main__":
    main(__name__)
