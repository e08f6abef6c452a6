"""Equal pages on Kafka, and a page that connects two groups: `skew.py WORK PROGRAM`.

A page that was there before all others gets their content and joins them. What a page costs must not depend on how
many they are: messages, and transactions. Groups that began apart, because messages about equal pages were on their way
at the same time, are handed over in messages of a bounded size. Large groups that only one page connects part when it
leaves for good.
"""

import json
import os
import re
import shutil
import sys

import cluster
from statuses import Place, ask, check_same, decided, main  # knows where harness.py is
from harness import check, free_port, until

WORDS = 400
FEW = 500
LARGEST = 1 << 20  # bytes; groups hand members over in parts of 900 KiB (docs/PROTOCOL.md)
TO_CELLS = ["put", "remove", "probe", "again"]  # kinds
ALLOWED = 1.5  # of the cost a page, where there are four times as many: members move O(log n) times


def text(first):
    return " ".join(f"word{i}" for i in range(first, first + WORDS))


def write_crawl(path, pages):
    """The first page, the others, and the first one again, now equal to the others."""
    def fetch(url, time_ms, content):
        return json.dumps({"url": url, "fetch_time_ms": time_ms, "content": content}) + "\n"
    old, shared = "https://old.example/page", text(0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(fetch(old, 1, text(5000)))
        file.writelines(fetch(f"https://young.example/page-{i}", 2 + i, shared) for i in range(pages - 1))
        file.write(fetch(old, pages + 2, shared))


def write_bridge(path, pages, flaps):
    """Two groups of equal pages, and a page that resembles both with every other fetch, but not with the last."""
    texts = {"left": text(0), "right": text(60), "both": text(30), "neither": text(5000)}
    names = ["left", "right"] * pages + ["both", "neither"] * flaps
    with open(path, "w", encoding="utf-8") as file:
        for at, name in enumerate(names):
            url = f"https://{name}.example/page-{at}" if at < 2 * pages else "https://bridge.example/"
            file.write(json.dumps({"url": url, "fetch_time_ms": at + 1, "content": texts[name]}) + "\n")


def metrics(port):
    try:
        return ask(f"http://127.0.0.1:{port}", "/metrics")
    except OSError:
        return ""  # it does not listen yet


def sent(text, stage):
    """The number of messages of each kind that the stage has sent."""
    found = re.findall(rf'^samepage_messages_total{{stage="{stage}",kind="(\w+)"}} (\d+)$', text, re.MULTILINE)
    return {kind: int(count) for kind, count in found}


def counts(text, stage):
    def value(name):
        found = re.search(rf'^samepage_{name}{{stage="{stage}"}} (\d+)$', text, re.MULTILINE)
        check(found, name, "of", stage, "is missing")
        return int(found[1])
    found = {name: value(name) for name in ("emitted_total", "commits_total", "largest_message_bytes", "direct_total")}
    to_itself = (count for kind, count in sent(text, stage).items() if kind not in TO_CELLS)
    found["to_itself"] = sum(to_itself) if stage == "group" else 0
    return found


def through_the_stages(place, apart):
    """With `apart`, tier 2 starts when tier 1 has read everything. So no page is in a group with another one yet, which
    costs the most messages, whatever the speed of the stages."""
    ports = {stage: free_port() for stage in cluster.STAGES}

    def start(stage):
        listen = cluster.arguments({"http.listen": f"127.0.0.1:{ports[stage]}"})
        place.processes.start(stage, [place.program, stage, *place.settings(stage), *listen],
                              place.path(stage + ".log"))

    want = place.expected()
    for stage in cluster.STAGES[:2] if apart else cluster.STAGES:
        start(stage)
    fetches = place.ingest()
    if apart:
        until(lambda: sent(metrics(ports["group"]), "group").get("put", 0) >= fetches, "tier 1 to read all pages")
        start("compare")
    place.settle(want)
    check_same(decided(place.all()), want, "the stages and `samepage run`")
    found = {}
    for stage, port in ports.items():
        found[stage] = counts(metrics(port), stage)
        check(place.processes.stop(stage) == 0, stage, "did not end well")
    within, of = found["group"]["direct_total"], found["group"]["to_itself"]
    check(of > 0 and within > of / 2, "of", of, "messages of the only group instance to itself", within,
          "did not pass the topic")
    return found


def through_kafka(work, program, name, write, apart=False):
    place = Place(os.path.join(work, name), program, f"skew-{os.getpid()}-{name}.")
    os.makedirs(place.work)
    write(place.path("crawl.jsonl"))
    place.call("topics", "create", *place.settings())
    try:
        return through_the_stages(place, apart)
    finally:
        place.processes.kill()


def cost(work, program, pages):
    found = through_kafka(work, program, str(pages), lambda path: write_crawl(path, pages), apart=True)
    for stage, values in found.items():
        print(f"{pages} pages, {stage}: {values['emitted_total'] / pages:.1f} messages a page, "
              f"{values['commits_total'] / pages:.3f} transactions a page, "
              f"largest message {values['largest_message_bytes']} bytes")
    return found


def skew(work, program):
    shutil.rmtree(work, ignore_errors=True)
    few, many = (cost(work, program, pages) for pages in (FEW, 4 * FEW))
    for stage in cluster.STAGES:
        for name in "emitted_total", "commits_total":
            check(many[stage][name] <= 4 * ALLOWED * few[stage][name] + 4, stage, name, few[stage][name], "at", FEW,
                  "pages,", many[stage][name], "at", 4 * FEW)
        check(many[stage]["largest_message_bytes"] <= LARGEST, stage, "has a message of",
              many[stage]["largest_message_bytes"], "bytes")
    through_kafka(work, program, "bridge", lambda path: write_bridge(path, FEW, 20))


if __name__ == "__main__":
    main(skew, *sys.argv[1:])
