"""The topic of rules: `rules.py WORK PROGRAM ADMIN`.

`rules --publish` updates it to the rules of a state: new rules are written, unchanged ones are not, old ones are deleted.
`rules --kafka` prints it. Rules about the stages' groups are learned from the copy of `serve --kafka --state`.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from statuses import Place, main  # knows where the other folders are
from harness import PATIENCE_SECONDS, check, check_equal, check_in, free_port, until


def words(number):
    return " ".join(f"w{number * 7919 % 1000003}x{k}" for k in range(80))


def crawl(place, name, hosts, pages=60, text=0):
    """Pages of each host under two sessions each; texts of other numbers are other texts."""
    with open(place.path(name), "w", encoding="utf-8") as file:
        for page in range(pages):
            for visit in range(2):
                for number, host in enumerate(hosts):
                    file.write(json.dumps({
                        "url": f"http://{host}.example/{page}?sid={page * 1000 + visit * 37 + 11}",
                        "fetch_time_ms": 1700000000000 + (page * 2 + visit) * 1000, "http_status": 200,
                        "content_type": "text/plain", "content": words(text + 1000 * number + page)}) + "\n")
    place.call("run", "-q", "--state", place.path(name + ".state"), "-o", place.path(name + ".out"), place.path(name))


def of_state(place, name):
    return sorted(place.call("rules", "--state", place.path(name + ".state")).splitlines())


def of_topic(place, *options):
    return place.call("rules", "--kafka", *options, *place.settings()).splitlines()


def publish(place, name):
    """Rules that are written, deleted and left unchanged."""
    done = subprocess.run([place.program, "rules", "--state", place.path(name + ".state"), "--publish",
                           *place.settings()], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check_equal(done.stdout, "", "standard output")
    (line,) = [line for line in done.stderr.splitlines() if "rules published" in line]
    return tuple(int(word) for word in line.replace(",", "").split() if word.isdigit())


def on(place, host):
    return [line for line in of_topic(place) if f'"{host}.example"' in line]


def predicted(port, url):
    """By `serve`; None: it has no rules yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/predict?explore=0&url={urllib.parse.quote(url, safe='')}",
                                    timeout=PATIENCE_SECONDS) as response:
            return json.load(response)["duplicate_of"]
    except (urllib.error.URLError, OSError):
        return None


def contradict(place, name, host, pages=60):
    """Each page under two more sessions, each with another text: of the rule about sessions nothing stays."""
    with open(place.path(name), "w", encoding="utf-8") as file:
        for page in range(pages):
            for visit in range(2):
                file.write(json.dumps({
                    "url": f"http://{host}.example/{page}?sid={page * 1000 + visit * 37 + 500}",
                    "fetch_time_ms": 1700001000000 + (page * 2 + visit) * 1000, "http_status": 200,
                    "content_type": "text/plain", "content": words(5000000 + 2 * page + visit)}) + "\n")


def publications(log):
    """Of a server: rules written, rules deleted and records read each time."""
    with open(log, encoding="utf-8") as file:
        return [tuple(int(number.replace(",", "")) for number in found)
                for found in re.findall(r"(?m)^samepage: ([\d,]+) rules published, ([\d,]+) deleted; ([\d,]+) records read$",
                                        file.read())]


def published_by_a_server(place, first, admin):
    """The stages group a crawl; a server with a copy of their state learns the rules and keeps the topic equal to them, also
    after a restart, and when rules expire. A server without a copy predicts from the statuses."""
    keeps = [place.program, "serve", "--kafka", "--state", place.path("copy"), "--publish-rules", "--listen",
             "127.0.0.1:0", *place.settings()]
    port = free_port()
    looks = [place.program, "serve", "--kafka", "--predict", "--listen", f"127.0.0.1:{port}", *place.settings()]
    url = "http://a.example/7?sid=999999"
    with place.stages(), place.processes.during("looks", looks, place.path("looks.log")):
        with place.started(*keeps):
            place.ingest(crawl="two")
            until(lambda: sorted(of_topic(place)) == first, lambda: f"the rules {first}, not {of_topic(place)}", pause=1)
            until(lambda: predicted(port, url) == "http://a.example/7?sid=7048", lambda: predicted(port, url), pause=1)
            crawl(place, "more", "d", text=100000)
            place.ingest(crawl="more")
            until(lambda: on(place, "d"), "a rule of d.example", pause=1)
        check_costs_of(publications(place.path(f"{place.prefix}serve.log")))
        before = of_topic(place)
        contradict(place, "third", "a")
        place.ingest(crawl="third")  # while nobody publishes
        check_equal(of_topic(place), before, "without a server")
        with place.started(*keeps):
            until(lambda: not on(place, "a"), lambda: f"no rule of a.example, not {on(place, 'a')}", pause=1)
            check(on(place, "b"), "the rules of b.example went too")
        published_after_kills(place, keeps, admin)


def check_costs_of(done):
    """The first publication reads what an earlier program left in the topic, a later one nothing: nobody else writes."""
    print("rules published, deleted, records read:", done)
    check(len(done) > 1, "publications:", done)
    check(done[0][2] > 0, "the topic was not empty:", done)
    check_equal([read for _, _, read in done[1:]], [0] * (len(done) - 1), "records read later")


def state_of(place, name, inputs):
    """The rules of a run over all these crawls."""
    place.call("run", "-q", "--state", place.path(f"{name}.state"), "-o", place.path(f"{name}.out"),
               *map(place.path, inputs))
    return of_state(place, name)


def published_after_kills(place, keeps, admin):
    """A server that is killed again and again while the crawl goes on leaves a topic that the next one completes. One
    whose topic is deleted and created again publishes all rules, not just the changed ones."""
    log, rng = place.path("killed.log"), random.Random(1)
    inputs = ["two", "more", "third"]
    for number, host in enumerate("efgh"):
        crawl(place, host, host, text=200000 + 10000 * number)
        inputs.append(host)
        server = place.processes.start("killed", keeps, log)
        place.ingest(crawl=host)
        try:
            server.wait(rng.uniform(0, 4))
        except subprocess.TimeoutExpired:
            pass
        check(server.poll() is None, "the server ended by itself; see", log)
        check_equal(place.processes.stop("killed", signal.SIGKILL), -signal.SIGKILL, f"kill {number}")
    want = state_of(place, "all", inputs)
    with place.started(*keeps):
        until(lambda: sorted(of_topic(place)) == want, lambda: f"the rules {want}, not {of_topic(place)}", pause=1)
        subprocess.run([admin, place.address, "delete", place.prefix + "rules"], check=True)
        until(lambda: is_empty_again(place), "a new topic", pause=1)
        crawl(place, "i", "i", text=300000)
        place.ingest(crawl="i")
        want = state_of(place, "last", [*inputs, "i"])
        until(lambda: sorted(of_topic(place)) == want, lambda: f"the rules {want}, not {of_topic(place)}", pause=1)


def is_empty_again(place):
    subprocess.run([place.program, "topics", "create", *place.settings()], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    done = subprocess.run([place.program, "rules", "--kafka", *place.settings()], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.returncode == 0 and done.stdout == ""


def rules(work, program, admin):
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
    published_by_a_server(place, first, admin)


if __name__ == "__main__":
    main(rules, *sys.argv[1:])
