"""TLS and SASL with a broker that requires them: the stages, `topics`, `ingest`, `status` and the C client
over SASL and TLS, client certificates, and wrong passwords.

    secure.py WORK PROGRAM READER
"""

import os
import shutil
import subprocess
import sys
import time

import cluster
import statuses
from harness import PATIENCE_SECONDS, Skip, check, free_port, until

PAGES = 200
WRONG = "wrong-password-of-this-test"
PASSWORD = "SAMEPAGE_SET_KAFKA_SASL_PASSWORD"


class Secured:
    """The settings and addresses for one way to reach the broker."""

    def __init__(self, broker):
        lines = broker.tool("status").stdout.splitlines()
        found = dict(line.split(": ", 1) for line in lines[1:])
        self.folder = os.path.join(broker.folder, "secure")
        self.tls = found["TLS"]
        self.sasl = found["SASL over TLS"]

    def file(self, name):
        return os.path.join(self.folder, name)

    def word(self, name):
        with open(self.file(name), encoding="utf-8") as f:
            return f.read().strip()

    def with_user(self, mechanism="SCRAM-SHA-512"):
        """Without the password, which is in the environment."""
        return {"bootstrap.servers": self.sasl, "security.protocol": "SASL_SSL",
                "ssl.ca.location": self.file("ca.pem"), "sasl.mechanism": mechanism,
                "sasl.username": self.word("user")}

    def with_certificate(self):
        return {"bootstrap.servers": self.tls, "security.protocol": "SSL",
                "ssl.ca.location": self.file("ca.pem"),
                "ssl.certificate.location": self.file("client.pem"),
                "ssl.key.location": self.file("client.key")}


def of_librdkafka(properties):
    return {"kafka." + key: value for key, value in properties.items()}


def place_of(work, program, properties):
    return statuses.Place(work, program, f"secure-{os.getpid()}.", of_librdkafka(properties))


def stages_through(place, want):
    """The three stages with the most verbose log; returns their metrics."""
    ports = {stage: str(free_port()) for stage in cluster.STAGES}
    metrics = ""
    for stage in cluster.STAGES:
        place.processes.start(
            stage, [place.program, stage, *place.settings(stage),
                    *cluster.arguments({"http.listen": "127.0.0.1:" + ports[stage],
                                        "kafka.debug": "security,broker,protocol,conf"})],
            place.path(stage + ".log"))
    place.ingest()
    place.settle(want)
    for stage in cluster.STAGES:
        metrics += metrics_of(stage, "http://127.0.0.1:" + ports[stage])
        check(place.processes.stop(stage) == 0, stage, "did not end well")
    return metrics


def metrics_of(stage, address):
    """A stage counts its rows once a second: waits until it has counted those of most pages, and their bytes."""
    def metrics():
        return statuses.ask(address, "/metrics")
    if stage != "signature":
        until(lambda: count(metrics(), "rows_written_total", stage) > PAGES / 2
              and count(metrics(), "bytes_written_total", stage) > 20 * PAGES,
              lambda: "rows of most pages; the stage has " + metrics())
    return metrics()


def count(metrics, name, stage, label=""):
    start = f'samepage_{name}{{stage="{stage}"{label}}} '
    found = [line for line in metrics.splitlines() if line.startswith(start)]
    check(len(found) == 1, start, "is there", len(found), "times")
    return int(found[0].rpartition(" ")[2])


def check_counts(place, metrics):
    """The result of the whole crawl, by the stages' own counts."""
    def value(name, stage, label=""):
        return count(metrics, name, stage, label)
    pages = read(place.path("crawl.jsonl")).count("\n")
    check(value("messages_total", "signature", ',kind="crawled"') == pages, "not a message a page")
    check(value("emitted_total", "signature") == pages, "more is emitted than messages")
    for stage, kind in ("group", "put"), ("group", "union"), ("compare", "match"):
        check(value("messages_total", stage, f',kind="{kind}"') > 0, "no message", kind)
    for stage in "group", "compare":
        largest = value("largest_message_bytes", stage)
        check(0 < largest < value("emitted_bytes_total", stage), stage, "emits", largest, "bytes at most")


def client_command(reader, place, properties):
    others = {key: value for key, value in properties.items() if key != "bootstrap.servers"}
    return [reader, properties["bootstrap.servers"], place.prefix + "status", "-", "0", statuses.READ_SECONDS, "leave",
            *(x for pair in others.items() for x in pair)]


def check_refused(place, commands):
    """All at once: each ends soon, with a reason."""
    began = time.monotonic()
    running = {what: subprocess.Popen(argv, text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) for what, argv in commands.items()}
    a_stage_goes_on_asking(place)
    for what, process in running.items():
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        check(process.returncode == 1, what, "ended with", process.returncode, err)
        said = [line for line in err.splitlines() if line.startswith(("samepage:", "read_"))]
        check(said and "Authentication failed" in said[-1], what, "says", err)
        check(WRONG not in out + err, what, "tells the password")
        print(f"{what}: {said[-1]}")
    print(f"all of them refused after {time.monotonic() - began:.0f} s")


def a_stage_goes_on_asking(place):
    """With the right password it would succeed later; SIGTERM ends it while it is refused."""
    log = place.path("refused.log")
    place.processes.start("refused", [place.program, "group", *place.settings("refused"),
                                      *cluster.arguments({"kafka.debug": "security,broker"})], log)
    until(lambda: "refused: " in read(log).partition("starting again")[2],
          lambda: "another refusal; the stage says " + read(log)[-1000:])
    check(place.processes.stop("refused") == 0, "the stage did not end well")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check_secret(place, metrics, password):
    """The password must not be in anything that users see."""
    texts = {name: read(place.path(name)) for name in os.listdir(place.work)
             if name.endswith(".log")}
    texts["/metrics"] = metrics
    texts["samepage config"] = place.call("config")
    check(len(texts["group.log"]) > 10000, "with kafka.debug the log is long")
    for name, text in texts.items():
        check(password not in text and WRONG not in text, "a password is in", name)


def secure(work, program, reader):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    broker = cluster.Broker(os.path.join(work, "kafka"))
    place = None
    try:
        broker.up("--secure")
        secured = Secured(broker)
        password = os.environ[PASSWORD] = secured.word("password")
        place = place_of(work, program, secured.with_user())
        place.call("synth", "--pages", str(PAGES), "--seed", "7", "--words", "60", "-o",
                   place.path("crawl.jsonl"))
        want = place.expected()
        place.call("topics", "create", *place.settings())
        place.call("topics", "check", *place.settings())
        metrics = stages_through(place, want)
        check_counts(place, metrics)
        statuses.check_same(statuses.decided(place.all()), want, "SASL over TLS, SCRAM")
        url = sorted(want)[0]
        check(url in place.call("status", *place.settings(), url), "status does not know", url)
        plain = {**secured.with_user("PLAIN"), "sasl.password": password}
        for what, properties in (("PLAIN", plain), ("certificate", secured.with_certificate())):
            events = place_of(work, program, properties).all()
            statuses.check_same(statuses.decided(events), want, what)
            out = subprocess.run(client_command(reader, place, properties), check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
            statuses.check_same(statuses.decided(statuses.of_tabs(out)), want, what + ", client")
        os.environ[PASSWORD] = WRONG
        commands = {" ".join(words): [program, *words, *place.settings()] for words in (
            ["topics", "check"], ["status", "--all"], ["ingest", place.path("crawl.jsonl")])}
        commands["client"] = client_command(reader, place, {**plain, "sasl.password": WRONG})
        check_refused(place, commands)
        check_secret(place, metrics, password)
    except cluster.NoBroker as why:
        raise Skip(str(why)) from None
    finally:
        if place:
            place.processes.kill()
        broker.down()


if __name__ == "__main__":
    statuses.main(secure, *sys.argv[1:])
