#!/usr/bin/env python3
"""Contained pages beside datasketch's LSHEnsemble, in one run: speed, precision, recall.

    contained.py SAMEPAGE TEXTS.jsonl [--threshold 0.9] [--json FILE]        needs datasketch

TEXTS has {"url", "content"} lines of plain text, which is reduced to lower-case words, so that both see the same shingles.
samepage runs once without and once with containment.threshold, in one thread, without a cap on shingles; the pages that it
keeps are the collection. The truth is the exact share of each kept page's shingles in each larger page. LSHEnsemble gets the
whole collection at once, because its index cannot be changed, and is queried with each page; larger pages among the results
count.
"""

import argparse
import collections
import json
import os
import re
import resource
import subprocess
import tempfile
import time

LEAST = 16  # shingles: SP_CONTAIN_LEAST


def shingles(text):
    words = text.split()
    return {" ".join(words[i:i + 5]) for i in range(len(words) - 4)}


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def run_samepage(program, crawl, output, threshold):
    command = [program, "run", "-q", "-o", output, "--set", "threads=1", "--set", "signature.max_shingles=65536",
               "--set", f"containment.threshold={threshold}", "--set", "containment.boilerplate=1", crawl]
    seconds = timed(command)
    with open(output, encoding="utf-8") as file:
        return seconds, {event["url"]: event for event in map(json.loads, file)}


def truth_of(sets, threshold):
    """page -> {larger page: share}, for shares of at least the threshold."""
    holders = collections.defaultdict(list)
    for page, members in sets.items():
        for shingle in members:
            holders[shingle].append(page)
    truth = {}
    for page, members in sets.items():
        if len(members) < LEAST:
            continue
        hits = collections.Counter(other for shingle in members for other in holders[shingle])
        found = {other: n / len(members) for other, n in hits.items()
                 if len(sets[other]) > len(members) and n / len(members) + 1e-9 >= threshold}
        if found:
            truth[page] = found
    return truth


def ensemble(sets, threshold, permutations, weights):
    from datasketch import MinHash, MinHashLSHEnsemble

    start = time.process_time()
    index = MinHashLSHEnsemble(threshold=threshold, num_perm=permutations, num_part=16, weights=weights)
    hashes = {}
    for page, members in sets.items():
        hashes[page] = MinHash(num_perm=permutations)
        hashes[page].update_batch([shingle.encode() for shingle in members])
    index.index((page, hashes[page], len(members)) for page, members in sets.items())
    found = {page: {other for other in index.query(hashes[page], len(members)) if len(sets[other]) > len(members)}
             for page, members in sets.items() if len(members) >= LEAST}
    return time.process_time() - start, found


def report(truth, best, seconds, found, name):
    pairs = {(page, other) for page, others in truth.items() for other in others}
    returned = {(page, other) for page, others in found.items() for other in others}
    with_best = sum(any(truth[page].get(other) == best[page] for other in found[page]) for page in truth)
    said = {"seconds": round(seconds, 2), "precision": round(len(pairs & returned) / max(1, len(returned)), 4),
            "recall": round(len(pairs & returned) / max(1, len(pairs)), 4)}
    print(f"{name}: {said['seconds']:.2f} s; pairs: precision {said['precision']:.4f} recall {said['recall']:.4f}; "
          f"best container returned for {with_best / max(1, len(truth)):.4f} of the pages")
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("texts")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--json", help="what is printed, for programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        crawl = os.path.join(work, "crawl.jsonl")
        texts = {}
        with open(options.texts, encoding="utf-8") as file, open(crawl, "w", encoding="utf-8") as out:
            for line in map(json.loads, file):
                text = " ".join(re.findall("[a-z0-9]+", line["content"].lower()))
                texts[line["url"]] = text
                out.write(json.dumps({"url": line["url"], "content": text, "content_type": "text/plain"}) + "\n")
        off, _ = run_samepage(options.program, crawl, os.path.join(work, "off"), 0)
        on, statuses = run_samepage(options.program, crawl, os.path.join(work, "on"), options.threshold)
    kept = [url for url, event in statuses.items() if event["status"] in ("unique", "winner")]
    sets = {url: shingles(texts[url]) for url in kept}
    truth = truth_of(sets, options.threshold)
    named = {url: statuses[url]["contained_in"] for url in kept if "contained_in" in statuses[url]}
    best = {page: max(found.values()) for page, found in truth.items()}
    right = sum(truth.get(page, {}).get(other, 0) == best.get(page) for page, other in named.items())
    print(f"{len(texts)} texts, {len(kept)} kept, {len(truth)} of them in a larger one")
    print(f"samepage: {off:.2f} s without, {on:.2f} s with containment: {on - off:.2f} s; best containers: precision "
          f"{right / max(1, len(named)):.4f} recall {right / max(1, len(truth)):.4f}")
    said = {"texts": len(texts), "contained": len(truth), "samepage": {
        "seconds": round(on - off, 2), "precision": round(right / max(1, len(named)), 4),
        "recall": round(right / max(1, len(truth)), 4)}}
    for permutations, weights in ((128, (0.5, 0.5)), (256, (0.1, 0.9))):
        seconds, found = ensemble(sets, options.threshold, permutations, weights)
        said[f"LSHEnsemble_{permutations}"] = report(truth, best, seconds, found,
                                                     f"LSHEnsemble, num_perm={permutations}, weights={weights}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(said, file)


if __name__ == "__main__":
    main()
