"""Kept pages that are part of larger ones (containment.threshold): all are found, their statuses stay right, and
nothing else is reported."""

import json
import random

from crash import kill_often
from harness import check, check_equal, check_in, latest, main

ON = ["--set", "containment.threshold=0.8"]


def words(seed, count):
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(20000)}" for _ in range(count))


def page(url, *parts, status=200, at=[1700000000000]):
    at[0] += 1000
    return json.dumps({"url": url, "fetch_time_ms": at[0], "http_status": status, "content": " ".join(parts)})


def run(work, lines, *more):
    work.write("crawl.jsonl", "\n".join(lines) + "\n")
    return latest(work.run("run", "-q", "--verify", *ON, *more, "crawl.jsonl").out)


def containers(statuses):
    return {url: event["contained_in"] for url, event in statuses.items() if "contained_in" in event}


def documents_with_includes(rng, chapters=24):
    """A book that includes its chapters, a reader that includes some of them, and pages that only quote a little.
    Returns the lines, and the containers of each page."""
    texts = [words(1000 + n, rng.randrange(60, 200)) for n in range(chapters)]
    lines, truth = [], {}
    chosen = sorted(rng.sample(range(chapters), 8))
    for n, text in enumerate(texts):
        url = f"http://book.example/chapter/{n}"
        lines.append(page(url, text, words(2000 + n, 3)))
        truth[url] = {"http://book.example/all"} | ({"http://reader.example/"} if n in chosen else set())
    lines.append(page("http://book.example/all", *texts, words(1, 30)))
    lines.append(page("http://reader.example/", *(texts[n] for n in chosen), words(2, 60)))
    truth["http://reader.example/"] = {"http://book.example/all"}
    for n in range(10):
        lines.append(page(f"http://review.example/{n}", " ".join(texts[n].split()[:40]), words(3000 + n, 90)))
    rng.shuffle(lines)
    return lines, truth


def what_is_included_is_found_and_what_is_cited_is_not(work):
    for seed in range(5):
        lines, truth = documents_with_includes(random.Random(seed))
        found = containers(run(work, lines, "--set", "signature.max_shingles=65536"))
        check_equal(set(found), set(truth), f"seed {seed}")
        for url, container in found.items():
            check_in(container, truth[url], f"seed {seed}: {url}")


def a_status_follows_both_pages(work):
    text, rest = words(1, 120), words(2, 300)
    inner, outer, other = (f"http://a.example/{name}" for name in ("inner", "outer", "other"))
    steps = [([page(inner, text)], {}),
             ([page(outer, text, rest)], {inner: outer}),
             ([page(other, text, rest, words(3, 200))], {inner: outer, outer: None}),
             ([page(outer, status=404)], {inner: other}),
             ([page(inner, words(4, 100))], {}),
             ([page(inner, text, words(5, 10))], {inner: other}),
             ([page(other, rest)], {})]
    state = ["--state", "state"]
    statuses = {}
    for number, (lines, wanted) in enumerate(steps):
        name = f"step{number}.jsonl"
        work.write(name, "\n".join(lines) + "\n")
        statuses.update(latest(work.run("run", "-q", "--verify", *ON, *state, name).out))
        found = containers(statuses)
        for url, container in wanted.items():
            if container:
                check_equal(found.get(url), container, f"step {number}: {url}")
        check_equal(set(found) - set(wanted), set(), f"step {number}: others")
    for event in statuses.values():
        check("contained_in" not in event or event["status"] in ("unique", "winner"), event)


def another_spelling_of_a_container_is_no_difference(work):
    """An unchanged fetch of the container: its new spelling is told, and the check knows the page."""
    text, rest = words(1, 120), words(2, 300)
    inner, outer = "http://a.example/inner", "http://a.example/outer"
    for number, spelling in enumerate((outer + "#part", "HTTP://A.example:80/outer")):
        state = ["--state", f"state{number}"]
        found = containers(run(work, [page(inner, text), page(outer, text, rest)], *state))
        check_equal(found, {inner: outer}, "before")
        events = run(work, [page(spelling, text, rest)], *state)
        check_equal(set(events), {inner, spelling}, "events of the second fetch")
        check_equal(containers(events), {inner: spelling}, "after")


def mixed_crawl(work, name="mixed.jsonl", seed=1, fetches=2500):
    """Pages made of sections, which change, become duplicates of one another, die and come back."""
    rng = random.Random(seed)
    sections = [words(seed * 1000 + n, rng.randrange(30, 120)) for n in range(60)]
    menus = [words(seed * 2000 + n, 60) for n in range(3)]
    lines = []
    for _ in range(fetches):
        number = rng.randrange(300)
        host = number % 3
        url = f"http://h{host}.example/{number}"
        if rng.random() < 0.1:
            lines.append(page(url, status=404))
            continue
        first = rng.randrange(55)
        body = sections[first:first + rng.choice((1, 1, 2, 3, 5))]
        lines.append(page(url, menus[host], *body, words(rng.randrange(400), rng.randrange(12))))
    return work.write(name, ("\n".join(lines) + "\n").encode())


def without_containment(text):
    events = {}
    for url, event in latest(text).items():
        event.pop("contained_in", None)
        event.pop("containment", None)
        events[url] = event
    return events


def groups_and_winners_are_those_without_it(work):
    crawl = mixed_crawl(work)
    work.run("run", "-q", "-o", "off.out", "--groups", "off.groups", crawl)
    work.run("run", "-q", "--verify", "-o", "on.out", "--groups", "on.groups", *ON, crawl)
    check_equal(work.read("on.groups"), work.read("off.groups"), "groups")
    check_equal(without_containment(work.read("on.out")), without_containment(work.read("off.out")), "statuses")
    check(b"contain" not in work.read("off.out"), "off says nothing of it")
    found = containers(latest(work.read("on.out")))
    check(len(found) > 50, "only", len(found), "contained pages")
    at_most = work.read("off.out").count(b"\n") + 4 * 2500
    check(work.read("on.out").count(b"\n") < at_most, "too many events")


def threads_barriers_and_partitions_do_not_show(work):
    crawl = mixed_crawl(work, seed=2)
    outputs = []
    for settings in (["threads=1"], ["threads=4", "barrier.pages=1"], ["barrier.pages=17", "cache.bytes=1MiB"]):
        options = [word for setting in settings for word in ("--set", setting)]
        outputs.append(work.run("run", "-q", "--verify", *ON, *options, "--state", f"state{len(outputs)}", crawl).out)
    for output in outputs[1:]:
        check_equal(output, outputs[0], "output")
    parts = work.run("run", "-q", "--verify", *ON, "--set", "tier1.partitions=5", crawl).out
    check_equal(containers(latest(parts)), containers(latest(outputs[0])), "five partitions")


def a_killed_run_with_containment_ends_as_an_undisturbed_one(work):
    kill_often(work, 25, [*ON, mixed_crawl(work, seed=3, fetches=2000)], range(4))


def a_menu_makes_no_page_part_of_another(work):
    menu = words(1, 200)
    lines = [page(f"http://a.example/{n}", menu, words(100 + n, 40 + n % 2 * 130)) for n in range(80)]
    counted = containers(run(work, lines, "--set", "containment.boilerplate=1"))
    learned = containers(run(work, lines))
    check(len(counted) >= 40, "counted:", len(counted))
    check_equal(learned, {}, "learned")


def what_cannot_be_is_refused(work):
    crawl = work.write("one.jsonl", (page("http://a.example/", "text") + "\n").encode())
    for settings, says in ((["containment.threshold=0.3"], "from 0.5 to 1"),
                           (["containment.threshold=0.9", "similarity.method=simhash"], "similarity.method")):
        options = [word for setting in settings for word in ("--set", setting)]
        check_in(says, work.run("run", "-q", *options, crawl, code=1).err, settings)
    check_in("containment.threshold is 0", work.run("contain", "--set", "instance=one", code=1).err, "contain")
    work.run("run", "-q", "--state", "state", crawl)
    check_in("containment.threshold was (not set) and is now 0.8",
             work.run("run", "-q", "--state", "state", *ON, crawl, code=1).err, "on an old state")


if __name__ == "__main__":
    main(__name__)
