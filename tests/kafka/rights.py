"""Rights (ACLs) on a broker that checks them: with the rights of k8s/overlays/secure/user.yaml all stages and
commands work; where one is missing, a stage ends and says which, and so does what reads a topic.

    rights.py WORK PROGRAM
"""

import os
import re
import shutil
import subprocess

import cluster
import secure
import statuses
from harness import PATIENCE_SECONDS, Failure, Skip, check, check_in, free_port, until

USER = os.path.join(cluster.ROOT, "k8s", "overlays", "secure", "user.yaml")
OPTIONS = {"topic": "--topic", "group": "--group", "transactionalId": "--transactional-id"}
# stage, resource, its name, the right that is taken away
MISSING = (
    ("signature", "topic", "pages", "Describe"),
    ("signature", "topic", "pages", "Read"),
    ("signature", "group", "signature", "Read"),
    ("signature", "transactionalId", "signature-1", "Write"),
    ("signature", "topic", "tier1", "Write"),
    ("group", "topic", "tier1-changelog", "Read"),
    ("group", "topic", "tier1-changelog", "Write"),
    ("group", "group", "group", "Read"),
    ("compare", "topic", "tier2", "Read"),
    ("compare", "group", "group", "Describe"),
    ("signature", "group", "compare", "Describe"),  # it reads pages before it knows
)


# Commands that read one topic.
READERS = ((("status", "--all"), "status"), (("rules", "--kafka"), "rules"))


def rights():
    """Of the file: resource -> rights."""
    with open(USER, encoding="utf-8") as file:
        found = re.findall(r"type: (topic|group|transactionalId)\n.*?operations: \[(.*?)\]", file.read(), re.S)
    check(len(found) == len(OPTIONS), "rights in", USER, found)
    return {kind: words.split(", ") for kind, words in found}


class Rights:
    def __init__(self, broker, user, prefix):
        self.broker, self.user, self.prefix = broker, user, prefix

    def change(self, action, effect, kind, name, operations, pattern):
        words = [x for o in operations for x in ("--operation", o)]
        done = self.broker.tool("acls", action, f"--{effect}-principal", f"User:{self.user}", OPTIONS[kind],
                                self.prefix + name, "--resource-pattern-type", pattern, *words)
        check(done.returncode == 0, "kafka-acls:", done.stdout, done.stderr)

    def grant(self):
        for kind, operations in rights().items():
            self.change("--add", "allow", kind, "", operations, "prefixed")

    def deny(self, kind, name, operation):
        self.change("--add", "deny", kind, name, [operation], "literal")

    def undo(self, kind, name, operation):
        self.change("--remove", "deny", kind, name, [operation], "literal")


def refused(place, stage, *options):
    """The last line of a stage that ends by itself."""
    try:
        done = subprocess.run([place.program, stage, *options, *place.settings(stage)], text=True, timeout=PATIENCE_SECONDS,
                              stderr=subprocess.PIPE, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{stage} goes on; it said: {error.stderr[-3000:]}") from error
    check(done.returncode == 1, stage, "ended with", done.returncode, done.stderr)
    return done.stderr.splitlines()[-1]


def pass_on(place, count):
    """The signature stage reads what was ingested."""
    port = free_port()

    def has_read_all():
        try:
            return (f'samepage_received_total{{stage="signature"}} {count}\n'
                    in statuses.ask(f"http://127.0.0.1:{port}", "/metrics"))
        except OSError:
            return False

    with place.started(place.program, "signature", *place.settings("signature"),
                       *cluster.arguments({"http.listen": f"127.0.0.1:{port}"})):
        until(has_read_all, "the pages")


def check_rights(broker, place, granted):
    secured = secure.Secured(broker)
    plain = statuses.Place(place.work, place.program, place.prefix, {"kafka.bootstrap.servers": broker.address})
    place.call("synth", "--pages", "200", "--seed", "7", "--words", "60", "-o", place.path("crawl.jsonl"))
    plain.call("topics", "create", *plain.settings())
    granted.grant()
    want = place.expected()
    with place.stages():
        place.ingest()
        place.settle(want)
    statuses.check_same(statuses.decided(place.all()), want, "with the rights of " + secured.word("user"))
    count = plain.ingest()  # so that there is something to do
    for stage, kind, name, operation in MISSING:
        if stage == "group" and count:
            pass_on(place, count)
            count = 0
        granted.deny(kind, name, operation)
        said = refused(place, stage)
        granted.undo(kind, name, operation)
        print(f"{stage} without {operation} on {kind} {name}: {said}")
        check_in("the broker's ACLs refuse this to our user", said)
    for command, topic in READERS:
        granted.deny("topic", topic, "Read")
        said = refused(place, *command)
        granted.undo("topic", topic, "Read")
        print(f"{command[0]} without Read on topic {topic}: {said}")
        check_in(f"{topic}: ", said)
        check_in("the broker's ACLs refuse this to our user", said)


def main(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    broker = cluster.Broker(os.path.join(work, "kafka"))
    place = None
    try:
        broker.up("--secure")
        secured = secure.Secured(broker)
        os.environ[secure.PASSWORD] = secured.word("password")
        prefix = f"rights-{os.getpid()}."
        place = statuses.Place(work, program, prefix, secure.of_librdkafka(secured.with_user()))
        check_rights(broker, place, Rights(broker, secured.word("user"), prefix))
    except cluster.NoBroker as why:
        raise Skip(str(why)) from None
    finally:
        if place:
            place.processes.kill()
        broker.down()


if __name__ == "__main__":
    import sys
    statuses.main(main, *sys.argv[1:])
