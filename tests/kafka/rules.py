"""The topic of rules: `rules.py WORK PROGRAM`.

`rules --publish` makes it what a state says: what is new is written, what is as before is not, what is no rule any more is
deleted. `rules --kafka` prints it. What the stages have grouped is learned from the copy of `serve --kafka --state`.
"""

import json
import os
import shutil
import subprocess
import sys

from statuses import Place, main  # knows where the other folders are
from harness import check, check_equal, check_in, until


def words(number):
    return " ".join(f"w{number * 7919 % 1000003}x{k}" for k in range(80))


def crawl(place, name, hosts, pages=60):
    """Of each host pages under two sessions each."""
    with open(place.path(name), "w", encoding="utf-8") as file:
        for page in range(pages):
            for visit in range(2):
                for number, host in enumerate(hosts):
                    file.write(json.dumps({
                        "url": f"http://{host}.example/{page}?sid={page * 1000 + visit * 37 + 11}",
                        "fetch_time_ms": 1700000000000 + (page * 2 + visit) * 1000, "http_status": 200,
                        "content_type": "text/plain", "content": words(1000 * number + page)}) + "\n")
    place.call("run", "-q", "--state", place.path(name + ".state"), "-o", place.path(name + ".out"), place.path(name))


def of_state(place, name):
    return sorted(place.call("rules", "--state", place.path(name + ".state")).splitlines())


def of_topic(place, *options):
    return place.call("rules", "--kafka", *options, *place.settings()).splitlines()


def publish(place, name):
    """Rules written, deleted and left."""
    done = subprocess.run([place.program, "rules", "--state", place.path(name + ".state"), "--publish",
                           *place.settings()], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check_equal(done.stdout, "", "standard output")
    (line,) = [line for line in done.stderr.splitlines() if "rules published" in line]
    return tuple(int(word) for word in line.replace(",", "").split() if word.isdigit())


def of_copy(place):
    """The rules of the stages' groups; the copy is there after a while, and whole a while later."""
    done = subprocess.run([place.program, "rules", "--state", place.path("copy")], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return sorted(done.stdout.splitlines())


def rules(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"rules-{os.getpid()}.")
    crawl(place, "two", "ab")
    crawl(place, "other", "bc")
    done = subprocess.run([program, "rules", "--kafka", *place.settings()], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check_equal(done.returncode, 1, "without a topic")
    check_in("samepage topics create", done.stderr)
    place.call("topics", "create", *place.settings())
    check_equal(of_topic(place), [], "an empty topic")

    first, second = of_state(place, "two"), of_state(place, "other")
    check(any('"a.example"' in line for line in first), "no rule of a.example:", first)
    check_equal(publish(place, "two"), (len(first), 0, 0), "all are new")
    check_equal(sorted(of_topic(place)), first, "the topic and the state")
    shares = [json.loads(line)["confidence"] for line in of_topic(place)]
    check_equal(shares, sorted(shares, reverse=True), "the surest first")
    check_equal(publish(place, "two"), (0, 0, len(first)), "nothing has changed")

    keys = [{json.dumps([r[name] for name in ("host", "kind", "name", "from", "to")]) for r in map(json.loads, lines)}
            for lines in (first, second)]
    written, deleted, left = publish(place, "other")
    check_equal(deleted, len(keys[0] - keys[1]), "deleted")
    check_equal((written + left, left), (len(second), len(set(first) & set(second))), "written, and left")
    check(deleted > 0 and written > 0, "nothing was deleted, or written")
    check_equal(sorted(of_topic(place)), second, "the topic and the other state")
    sure = [line for line in second if json.loads(line)["confidence"] >= 0.97]
    check(len(sure) < len(second), "all are sure")
    check_equal(sorted(of_topic(place, "--confidence", "0.97")), sure, "--confidence")
    with place.stages(), place.started(program, "serve", "--kafka", "--state", place.path("copy"), "--listen",
                                       "127.0.0.1:0", *place.settings()):
        place.ingest(crawl="two")
        until(lambda: of_copy(place) == first, lambda: f"the rules {first}, not {of_copy(place)}", pause=1)


if __name__ == "__main__":
    main(rules, *sys.argv[1:])
