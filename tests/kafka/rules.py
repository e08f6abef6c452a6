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


def predict(port, url, **arguments):
    """The response of `serve`; None: it has no rules yet, or does not run."""
    query = urllib.parse.urlencode({"explore": 0, "url": url, **arguments})
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/predict?{query}", timeout=PATIENCE_SECONDS) as response:
            return json.load(response)
    except (urllib.error.URLError, OSError):
        return None


def predicted(port, url):
    return (predict(port, url) or {"duplicate_of": None})["duplicate_of"]


class Follower:
    """A server without a state that predicts by the rules in the topic."""

    def __init__(self, place):
        self.place, self.port = place, free_port()
        self.command = [place.program, "serve", "--kafka", "--follow-rules", "--listen", f"127.0.0.1:{self.port}",
                        *place.settings()]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if "follows" in self.place.processes.running:
            self.kill()

    def start(self):
        self.place.processes.start("follows", self.command, self.place.path("follows.log"))

    def kill(self):
        check_equal(self.place.processes.stop("follows", signal.SIGKILL), -signal.SIGKILL, "the follower")

    def metric(self, name):
        """None: it does not reply yet."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE_SECONDS) as response:
                text = response.read().decode()
        except (urllib.error.URLError, OSError):
            return None
        return float(re.search(rf"(?m)^samepage_serve_{name} (\S+)$", text).group(1))

    def has(self, lines):
        until(lambda: self.metric("rules") == len(lines), lambda: f"{len(lines)} rules, not {self.metric('rules')}", pause=1)

    def predicts_as(self, port):
        """The server at the other port learned the rules."""
        urls = [f"http://{host}.example/{page}?{query}" for host in "abcd" for page in (7, 8, 99)
                for query in ("sid=999999", "sid=1&x=2", "y=1")]

        def said(at):
            responses = [predict(at, url, confidence=0) for url in urls]
            return [r and (r["duplicate_of"], round(r["confidence"], 4), r["rule"] and r["rule"]["kind"]) for r in responses]

        until(lambda: said(self.port) == said(port), lambda: f"{said(port)}, not {said(self.port)}", pause=1)


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
    after a restart, and when rules expire. A server without a copy predicts from the statuses, and another one by the
    rules in the topic; it is killed in between."""
    port, own = free_port(), free_port()
    keeps = [place.program, "serve", "--kafka", "--state", place.path("copy"), "--publish-rules", "--listen",
             f"127.0.0.1:{own}", *place.settings()]
    follower = Follower(place)
    looks = [place.program, "serve", "--kafka", "--predict", "--listen", f"127.0.0.1:{port}", *place.settings()]
    url = "http://a.example/7?sid=999999"
    with place.stages(), place.processes.during("looks", looks, place.path("looks.log")), follower:
        with place.started(*keeps):
            place.ingest(crawl="two")
            until(lambda: sorted(of_topic(place)) == first, lambda: f"the rules {first}, not {of_topic(place)}", pause=1)
            until(lambda: predicted(port, url) == "http://a.example/7?sid=7048", lambda: predicted(port, url), pause=1)
            follower.has(first)
            follower.predicts_as(own)
            follower.kill()
            crawl(place, "more", "d", text=100000)
            place.ingest(crawl="more")
            until(lambda: on(place, "d"), "a rule of d.example", pause=1)
            follower.start()
            follower.has(of_topic(place))
            follower.predicts_as(own)
            check(predicted(follower.port, "http://d.example/7?sid=999999"), "no prediction on d.example")
        check_costs_of(publications(place.path(f"{place.prefix}serve.log")))
        before = of_topic(place)
        contradict(place, "third", "a")
        place.ingest(crawl="third")  # while nobody publishes
        check_equal(of_topic(place), before, "without a server")
        with place.started(*keeps):
            until(lambda: not on(place, "a"), lambda: f"no rule of a.example, not {on(place, 'a')}", pause=1)
            check(on(place, "b"), "the rules of b.example went too")
            follower.has(of_topic(place))
            follower.predicts_as(own)
            check_equal(predicted(follower.port, url), None, "by a rule that has expired")
        published_after_kills(place, keeps, admin, follower)


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


def published_after_kills(place, keeps, admin, follower):
    """A server that is killed again and again while the crawl goes on leaves a topic that the next one completes. One
    whose topic is deleted and recreated publishes all rules, not just the changed ones. A follower keeps its rules until
    there is a topic again."""
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
        until(lambda: follower.metric("rules_failures_total"), "a failure to read", pause=1)
        check(follower.metric("rules") > 0, "the follower has lost its rules")
        until(lambda: is_empty_again(place), "a new topic", pause=1)
        crawl(place, "i", "i", text=300000)
        place.ingest(crawl="i")
        want = state_of(place, "last", [*inputs, "i"])
        until(lambda: sorted(of_topic(place)) == want, lambda: f"the rules {want}, not {of_topic(place)}", pause=1)
        follower.has(want)
        check(follower.metric("rules_age_seconds") < PATIENCE_SECONDS, "the rules are old:", follower.metric("rules_age_seconds"))
        check_equal(follower.metric("rules_unreadable"), 0, "unreadable rules")
    published_from_statuses(place, [*inputs, "i"], want)


def published_from_statuses(place, inputs, before):
    """A server without a state learns from the status topic alone what a state of these pages says, also if it is killed
    again and again. It publishes nothing before it has read all statuses. Pages that are erased are no evidence."""
    port, log = free_port(), place.path("statuses.log")
    server = [place.program, "serve", "--kafka", "--publish-rules", "--listen", f"127.0.0.1:{port}", *place.settings()]
    crawl(place, "j", "j", text=400000)
    place.ingest(crawl="j")
    want = state_of(place, "j-last", [*inputs, "j"])
    for seconds in 0.3, 1, 3:
        process = place.processes.start("statuses", server, log)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        check_equal(place.processes.stop("statuses", signal.SIGKILL), -signal.SIGKILL, "killed")
    with place.processes.during("statuses", server, log):
        until(lambda: sorted(of_topic(place)) == want, lambda: f"the rules {want}, not {of_topic(place)}", pause=1)
        gone = keys_of(before) - keys_of(want)
        check_equal(sum(deleted for _, deleted, _ in publications(log)), len(gone), "deleted rules")
        with open(place.path("j"), encoding="utf-8") as file:
            urls = {json.loads(line)["url"] for line in file}
        with open(place.path("erased"), "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(urls)))
        place.call("forget", *place.settings(), "--forget", place.path("erased"))
        until(lambda: sorted(of_topic(place)) == before, lambda: f"the rules {before}, not {of_topic(place)}", pause=1)
        check_equal(predicted(port, "http://j.example/7?sid=999999"), None, "by an erased page")


def keys_of(lines):
    return {json.dumps([rule[name] for name in ("host", "kind", "name", "from", "to")]) for rule in map(json.loads, lines)}


def check_record_that_is_no_rule(place, admin, want):
    """Another program has written it. It is passed over, and told."""
    def told():
        done = subprocess.run([place.program, "rules", "--kafka", "--confidence", "0", *place.settings()], check=True,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check_equal(sorted(done.stdout.splitlines()), want, "the rules")
        return done.stderr

    check_equal(told(), "", "said of rules only")
    subprocess.run([admin, place.address, "poison", place.prefix + "rules", "0", "100", "not-a-rule"], check=True)
    check_in("records that are no rules, and were passed over: 1; the first has the key not-a-rule", told())
    with Follower(place) as follower:
        follower.has(want)
        check_equal(follower.metric("rules_unreadable"), 1, "unreadable rules")
    with open(place.path("follows.log"), encoding="utf-8") as file:
        check_in("were passed over: 1; the first has the key not-a-rule", file.read())


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

    keys = [keys_of(first), keys_of(second)]
    written, deleted, left = publish(place, "other")
    check_equal(deleted, len(keys[0] - keys[1]), "deleted")
    check_equal((written + left, left), (len(second), len(set(first) & set(second))), "written, and left")
    check(deleted > 0 and written > 0, "nothing was deleted, or written")
    check_equal(sorted(of_topic(place)), second, "the topic and the other state")
    sure = [line for line in second if json.loads(line)["confidence"] >= 0.97]
    check(len(sure) < len(second), "all are sure")
    check_equal(sorted(of_topic(place, "--confidence", "0.97")), sure, "--confidence")
    check_record_that_is_no_rule(place, admin, second)
    published_by_a_server(place, first, admin)


if __name__ == "__main__":
    main(rules, *sys.argv[1:])
