"""samepage audit against verdicts computed in Python over all pairs, for the lists that deduplicators write."""

import json
import os
import random

from dedup import TAU, jaccard, json_line, make_documents, shingles
from harness import check, check_equal, check_in, main


def similarities(documents):
    """Of each document, to each other one: position -> similarity."""
    sets = [shingles(d["text"]) for d in documents]
    found = [{} for _ in documents]
    for i, a in enumerate(sets):
        for k in range(i):
            found[i][k] = found[k][i] = jaccard(a, sets[k])
    return found


def verdicts(documents, removed, similar=None):
    """The expected verdicts, from all pairs."""
    n = len(documents)
    near = [[k for k, j in of_one.items() if j >= TAU] for of_one in similar or similarities(documents)]
    gone = [d["id"] in removed for d in documents]
    right = sum(gone[i] and any(not gone[k] for k in near[i]) for i in range(n))
    chain = sum(gone[i] and bool(near[i]) and all(gone[k] for k in near[i]) for i in range(n))
    wrong = sum(gone[i] and not near[i] for i in range(n))
    pairs = sum(not gone[i] and not gone[k] and k > i for i in range(n) for k in near[i])
    missed = sum(not gone[i] and any(k < i and not gone[k] for k in near[i]) for i in range(n))
    return {"documents": n, "removed": sum(gone), "removed_rightly": right, "removed_in_chains": chain,
            "removed_wrongly": wrong, "missed_pairs": pairs, "missed_documents": missed}


def write_corpus(work, documents):
    work.write("corpus.jsonl", "".join(json_line(d) + "\n" for d in documents))


def audit(work, *arguments):
    work.run("audit", "-q", "corpus.jsonl", "--json", "figures", *arguments)
    return json.loads(work.read("figures"))


def check_figures(figures, expected, what):
    check_equal({key: figures[key] for key in expected}, expected, what)


def audit_finds_what_a_bad_deduplication_did(work):
    documents = make_documents(4, 300)
    write_corpus(work, documents)
    rng = random.Random(9)
    removed = {d["id"] for d in documents if rng.random() < 0.6}
    expected = verdicts(documents, removed)
    check(all(expected.values()), "a poor sample:", expected)
    kept = {d["id"] for d in documents} - removed
    lists = {"plain": "\n".join(sorted(removed)),
             "json": "".join(json.dumps({"id": i, "lang": "x"}) + "\n" for i in sorted(removed)),
             "exclusions": "".join(json.dumps({"text": "x", "id": i, "metadata": {"minhash_cluster_id": 3}})
                                   + "\n" for i in sorted(removed))}
    for name, text in lists.items():
        work.write(name, text)
        check_figures(audit(work, "--removed", name), expected, name)
    check_figures(audit(work, "--removed", work.gzip("plain")), expected, "compressed")
    work.write("kept", "".join(json.dumps({"url": i, "content": "as it was"}) + "\n" for i in sorted(kept)))
    check_figures(audit(work, "--kept", "kept"), expected, "a list of the kept")


def audit_finds_nothing_wrong_with_dedup(work):
    work.crawl("crawl.jsonl", pages=3000)
    first = {}  # URLs are unique: a list of ids cannot distinguish two documents of one id
    for line in work.read("crawl.jsonl").splitlines():
        first.setdefault(json.loads(line)["url"], line)
    work.write("corpus.jsonl", b"\n".join(first.values()) + b"\n")
    work.run("dedup", "-q", "corpus.jsonl", "--removed", "removed", "--clusters", "clusters")
    count = len(work.json_lines("removed"))
    check(count > 300, "few removed:", count)
    figures = audit(work, "--removed", "removed", "--clusters", "clusters", "--report", "page")
    check_figures(figures, {"removed": count, "removed_rightly": count, "removed_in_chains": 0,
                            "removed_wrongly": 0, "missed_documents": 0, "survivors_unlike": 0,
                            "survivors_removed": 0, "unknown_ids": 0, "clusters_lost": 0,
                            "clusters": len(work.json_lines("clusters"))}, "its own work")
    sources = {s["source"]: s for s in figures["sources"]}
    check_equal(sum(s["removed"] for s in sources.values()), count, "removed by source")
    check("site-0.example" in sources, list(sources)[:5])
    check_equal(sum(b["documents"] for b in figures["removed_by_similarity"]), count, "by similarity")
    page = work.read("page/index.html").decode()
    for part in "Result", "What chains did", "By source", "removed rightly":
        check_in(part, page)


def audit_shows_what_a_chain_lost(work):
    """A slides into Z word by word; a tool that follows chains keeps only A."""
    words = ["word%d" % i for i in range(60)]
    documents = []
    for step in range(40):
        for k in range(2):
            words[(step * 2 + k) % 60] = "new%d" % (step * 2 + k)
        documents.append({"id": "http://chain.example/%d" % step, "text": " ".join(words)})
    write_corpus(work, documents)
    removed = {d["id"] for d in documents[1:]}
    work.write("clusters", json.dumps([d["id"] for d in documents]) + "\n")
    work.write("removed", "\n".join(removed))
    figures = audit(work, "--removed", "removed", "--clusters", "clusters", "--report", "page")
    expected = verdicts(documents, removed)
    check(expected["removed_in_chains"] > 30, expected)
    check_figures(figures, {**expected, "clusters": 1, "largest_cluster": 40, "survivors_named": 39}, "chain")
    check(figures["survivors_unlike"] >= expected["removed_in_chains"], figures["survivors_unlike"])
    page = work.read("page/index.html").decode()
    check_in("Removed together with every similar document", page)
    check_in("new7", page)  # the texts are read again
    # All of it removed: no document of the cluster is left.
    work.write("removed", "\n".join(d["id"] for d in documents))
    check_equal(audit(work, "--removed", "removed", "--clusters", "clusters")["clusters_lost"], 1, "lost clusters")


def make_family(rng, count, words, changes):
    """Copies of one text, with a few words replaced in each."""
    text = ["word%d" % rng.randint(0, 10**6) for _ in range(words)]
    for number in range(count):
        copy = text[:]
        for _ in range(rng.choice(changes)):
            copy[rng.randrange(words)] = "new%d" % rng.randint(0, 10**6)
        yield " ".join(copy)


def bins(documents, removed, similar):
    """The removed documents by their similarity to the nearest kept one."""
    kept = {k for k, d in enumerate(documents) if d["id"] not in removed}
    count = [0] * 21
    for d, of_one in zip(documents, similar):
        if d["id"] in removed:
            best = max((of_one[k] for k in kept), default=0)
            count[int(best * 20) if best >= TAU else 0] += 1
    return count


def audit_of_large_families_is_exact_whatever_was_removed(work):
    rng = random.Random(11)
    texts = [text for words, changes in ((60, [0, 1, 2]), (150, [1, 2, 3, 4]), (400, [2, 9, 12]))
             for text in make_family(rng, 70, words, changes)]
    rng.shuffle(texts)
    documents = [{"id": "http://family.example/%d" % i, "text": text} for i, text in enumerate(texts)]
    write_corpus(work, documents)
    ids = [d["id"] for d in documents]
    similar = similarities(documents)
    for removed in set(ids), set(), set(ids[:190]), set(ids[1::2]), set(rng.sample(ids, 200)):
        work.write("removed", "".join(i + "\n" for i in sorted(removed)))
        figures = audit(work, "--removed", "removed", "--report", "page")
        expected = verdicts(documents, removed, similar)
        check_figures(figures, expected, f"{len(removed)} removed")
        check("missed_pairs_at_least" not in figures, figures)
        check_equal([b["documents"] for b in figures["removed_by_similarity"]], bins(documents, removed, similar), "bins")
    work.write("removed", "")
    figures = audit(work, "--removed", "removed", "--most-pairs", "1000")
    expected = verdicts(documents, set(), similar)
    check(figures["missed_pairs_at_least"] and 0 < figures["missed_pairs"] < expected["missed_pairs"], figures)
    check_equal(figures["missed_documents"], expected["missed_documents"], "missed documents do not need all pairs")
    said = work.run("audit", "corpus.jsonl", "--removed", "removed", "--most-pairs", "1000").err
    check_in("at least", said)
    check_in("--most-pairs 0", said)
    check("at least" not in work.run("audit", "corpus.jsonl", "--removed", "removed", "--most-pairs", "0").err)
    check_in("--most-pairs", work.run("audit", "corpus.jsonl", "--removed", "removed", "--most-pairs", "x", code=2).err)


def audit_of_equal_ids_and_unknown_ones(work):
    lines = [{"url": "http://a.example/", "content": "one two three four five six"},
             {"url": "http://a.example/", "content": "one two three four five six"},
             {"url": "http://b.example/", "content": "other words of another document"}]
    work.write("corpus.jsonl", "".join(json.dumps(d) + "\n" for d in lines))
    work.write("removed", "http://a.example/\nhttp://nobody.example/\n")
    check_figures(audit(work, "--removed", "removed"), {"removed": 1, "removed_rightly": 1, "unknown_ids": 1}, "ids")
    message = work.run("audit", "-q", "corpus.jsonl", "--removed", "removed").err
    check_in('removed: 1 of its ids match no document of the input, the first is "http://nobody.example/"', message)
    work.write("removed", "http://nobody.example/\nhttp://nowhere.example/\n")
    for which in "--removed", "--kept":  # a list of kept documents that matches nothing would remove everything
        message = work.run("audit", "-q", "corpus.jsonl", which, "removed", "--report", "page", code=1).err
        check_in("--id-field", message)
        check_in('the first is "http://nobody.example/"', message)
        check_in('that of the first document is "http://a.example/"', message)
        check(not os.path.exists(work.path("page")), "the comparison was made all the same")
    work.write("right", "http://a.example/\n")
    message = work.run("audit", "-q", "corpus.jsonl", "--removed", "right", "--clusters", "removed").err
    check_in("removed: no id in it matches", message)
    check_in("give one list: --removed or --kept", work.run("audit", "corpus.jsonl", code=2).err)


def audit_says_which_survivors_are_not_in_the_input(work):
    """As in the lists of `dedup --state`, which name documents of earlier snapshots."""
    text = "some words of a document that is here a second time"
    work.write("old.jsonl", json.dumps({"id": "old", "text": text}) + "\n")
    work.write("corpus.jsonl", "".join(json.dumps({"id": i, "text": text}) + "\n" for i in ("a", "b", "c")))
    for snapshot in "old", "corpus":
        work.run("dedup", "-q", "--state", "state", snapshot + ".jsonl", "--removed", "removed", "--clusters", "clusters")
    work.write("removed", work.read("removed").decode().replace('"kept":"old"', '"kept":"a"', 2))
    figures = audit(work, "--removed", "removed", "--report", "page")
    check_figures(figures, {"removed": 3, "survivors_named": 2, "survivors_unknown": 1, "unknown_ids": 0}, "removed")
    check_in("1 documents were removed for one that is not in the input", work.read("page/index.html").decode())
    done = work.run("audit", "corpus.jsonl", "--removed", "removed")
    check_in('removed: 1 of its documents were removed for one that is not in the input, the first for "old"', done.err)
    check_in("for one not in the input", done.err)
    done = work.run("audit", "-q", "corpus.jsonl", "--removed", "removed", "--clusters", "clusters")
    check_in('clusters: 3 of its documents were removed for one that is not in the input, the first for "old"', done.err)
    whole = work.run("audit", "old.jsonl", "corpus.jsonl", "--removed", "removed", "--clusters", "clusters")
    check("not in the input" not in whole.err, whole.err)


def a_list_without_ids_or_with_a_byte_order_mark_is_no_shorter_list(work):
    text = "some words of a document that is here a second time"
    work.write("corpus.jsonl", "".join(json.dumps({"id": n, "text": text}) + "\n" for n in range(4)))
    for mark in "", "\ufeff":
        for lines in "1\n2\n3\n", '{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n':
            work.write("list", mark + lines)
            check_figures(audit(work, "--removed", "list"), {"removed": 3, "removed_rightly": 3, "unknown_ids": 0}, repr(mark + lines))
    work.write("list", '{"doc":"1"}\n{"doc":"2"}\n')
    check_in('list: 2 of its lines name no document, the first is "{"doc":"1"}"; name by --id-field',
             work.run("audit", "corpus.jsonl", "--removed", "list", code=1).err)
    work.write("list", '{"id":"1"}\n{"id":null}\n{"id":["2"]}\n[]\n')
    check_figures(audit(work, "--removed", "list"), {"removed": 1}, "a list with lines that name no document")
    check_in('2 of its lines name no document, the first is "{"id":null}"',
             work.run("audit", "-q", "corpus.jsonl", "--removed", "list").err)


def write_fetches(work, fetches):
    """Of each fetch: the URL's last part, and words."""
    work.write("crawl.jsonl", "".join(
        json.dumps({"url": f"http://a.example/{name}", "fetch_time_ms": 1000000000000 + i, "content": text}) + "\n"
        for i, (name, text) in enumerate(fetches)))


def audit_of(work, *arguments):
    work.run("audit", "-q", "crawl.jsonl", "--json", "figures", *arguments)
    return json.loads(work.read("figures"))


OLD = "the first text of a page that is copied word by word by another page of the same site"
NEW = "something else that nobody but this page has ever published or will publish after it"
OTHER = "a third document of other words which is there only once in all of this small crawl"
GOOD = {"removed_wrongly": 0, "removed_in_chains": 0, "survivors_unlike": 0, "survivors_removed": 0, "ambiguous_ids": 0}


def audit_judges_the_fetch_that_was_removed(work):
    """A URL was fetched twice, with unlike texts, and the first fetch was removed."""
    write_fetches(work, [("copied", OLD), ("page", OLD), ("page", NEW), ("page", NEW + " again"),
                         ("other", OTHER), ("copied", OTHER + " now")])
    work.run("dedup", "-q", "crawl.jsonl", "--kept", "kept.jsonl", "--removed", "removed", "--clusters", "clusters")
    check_equal(len(work.json_lines("removed")), 3, "removed")
    expected = {**GOOD, "removed": 3, "removed_rightly": 3, "missed_documents": 0}
    for lists in (["--removed", "removed"], ["--kept", "kept.jsonl"], ["--removed", "removed", "--clusters", "clusters"],
                  ["--kept", "kept.jsonl", "--clusters", "clusters"]):
        check_figures(audit_of(work, *lists), expected, lists)
    # Only the ids: of equal texts the later ones are removed; of unlike ones nobody knows.
    work.write("ids", "http://a.example/page\n")
    write_fetches(work, [("page", OLD), ("page", OLD), ("page", NEW)])
    check_figures(audit_of(work, "--removed", "ids"), {**GOOD, "removed": 1, "removed_rightly": 1}, "equal texts")
    write_fetches(work, [("copied", OLD), ("page", OLD), ("page", NEW)])
    check_equal(audit_of(work, "--removed", "ids")["ambiguous_ids"], 1, "ambiguous")
    check_equal(audit_of(work, "--kept", "ids")["ambiguous_ids"], 1, "ambiguous")
    said = work.run("audit", "crawl.jsonl", "--removed", "ids").err
    check_in("ids of unlike documents", said)


def audit_of_statuses_is_about_pages(work):
    """Of each page the last status counts, and is about its latest fetch."""
    write_fetches(work, [("page", OLD), ("copied", OLD), ("page", NEW), ("other", NEW), ("other", OTHER)])
    work.run("run", "-q", "crawl.jsonl", "-o", "status")
    last = {line["url"]: line["status"] for line in work.json_lines("status")}
    check(len(work.json_lines("status")) > len(last) == 3, "each page has one status", work.json_lines("status"))
    check_equal(set(last.values()), {"unique"}, "in the end nothing resembles anything")
    expected = {**GOOD, "removed": 0, "missed_documents": 0, "missed_pairs": 0, "superseded": 2}
    check_figures(audit_of(work, "--removed", "status"), expected, "a list of statuses")
    check_figures(audit_of(work, "--kept", "status"), expected, "a list of statuses")
    write_fetches(work, [("page", NEW), ("copied", OLD), ("page", OLD)])
    work.run("run", "-q", "crawl.jsonl", "-o", "status")
    expected = {**GOOD, "removed": 1, "removed_rightly": 1, "survivors_named": 1, "missed_documents": 0, "superseded": 1}
    check_figures(audit_of(work, "--removed", "status"), expected, "removed later")
    check_figures(audit_of(work, "--kept", "status"), expected, "removed later")


def statuses_of_pages_without_content_match_no_document(work):
    """And need none: such a page was only ever a redirect, or dead. Another unknown page is reported."""
    crawl = [{"url": "http://a.example/a", "content": "one two three four five six"},
             {"url": "http://a.example/moved", "http_status": 301, "redirect_url": "http://a.example/a"},
             {"url": "http://a.example/lost", "http_status": 301, "redirect_url": "http://a.example/none"},
             {"url": "http://a.example/dead", "http_status": 404}]
    work.write("crawl.jsonl", "".join(json.dumps(fetch) + "\n" for fetch in crawl))
    work.run("run", "-q", "crawl.jsonl", "-o", "status")
    for listed in "--removed", "--kept":
        done = work.run("audit", "crawl.jsonl", listed, "status", "--json", "report")
        check_equal(json.loads(work.read("report"))["unknown_ids"], 0, listed)
        check("match no document" not in done.err, done.err)
    work.write("status", work.read("status").decode().replace("example/a", "example/b"))
    said = work.run("audit", "crawl.jsonl", "--removed", "status", code=1).err
    check_in('no id in it matches a document of the input: the first is "http://a.example/b"', said)


def audit_of_one_id_for_all_documents(work):
    """A list then names the id again and again. An audit that looked at all documents for each line would not end."""
    line = json.dumps({"url": "http://a.example/", "content": "one two three four five six"}) + "\n"
    work.write("corpus.jsonl", line * 100000)
    entry = json.dumps({"id": "http://a.example/", "kept": "http://a.example/", "cluster": "c"}) + "\n"
    work.write("removed", entry * 99990)
    check_figures(audit(work, "--removed", "removed"),
                  {"removed": 99990, "removed_rightly": 99990, "missed_documents": 9, "clusters": 1}, "removed")
    work.write("kept", "http://a.example/\n" * 10)
    check_figures(audit(work, "--kept", "kept"), {"removed": 99990, "removed_rightly": 99990, "missed_documents": 9}, "kept")


if __name__ == "__main__":
    main(__name__)
