"""Pages and statuses in the framing of a schema registry: confluent-kafka's AvroSerializer writes the
pages, its AvroDeserializer reads the statuses, and both ask a registry that follows the interface of
Confluent's (the parts that they use: subjects, versions, ids).

usage: registry.py WORK PROGRAM READER
       registry.py write|read REGISTRY BROKER TOPIC [CRAWL]    (in a Python with confluent-kafka)
"""

import contextlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

import cluster
import statuses
from harness import Skip, check, until

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_ID = 100_001


class Registry(http.server.BaseHTTPRequestHandler):
    """One schema has one id, in whatever subjects it is; a subject has versions."""

    ids = {}  # canonical text of the schema -> id
    subjects = {}  # name -> ids in order

    def answer(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def text_of(self, number):
        return next((text for text, i in self.ids.items() if i == number), None)

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        if path[:2] == ["schemas", "ids"] and len(path) == 3 and self.text_of(int(path[2])):
            self.answer(200, {"schema": self.text_of(int(path[2]))})
        elif path[0] == "subjects" and len(path) == 4 and path[1] in self.subjects:
            ids = self.subjects[path[1]]
            version = len(ids) if path[3] == "latest" else int(path[3])
            self.answer(200, {"subject": path[1], "id": ids[version - 1], "version": version,
                              "schema": self.text_of(ids[version - 1])})
        elif path[0] == "subjects" and len(path) == 1:
            self.answer(200, list(self.subjects))
        else:
            self.answer(404, {"error_code": 40401, "message": f"{self.path} not found."})

    def do_POST(self):
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            text = json.dumps(json.loads(body["schema"]))
        except (KeyError, ValueError):
            return self.answer(422, {"error_code": 42201, "message": "Invalid schema"})
        if path[0] != "subjects" or len(path) not in (2, 3):
            return self.answer(404, {"error_code": 404, "message": "HTTP 404 Not Found"})
        known = self.subjects.setdefault(path[1], []) if len(path) == 3 else self.subjects.get(path[1], [])
        number = self.ids.get(text)
        if len(path) == 2 and number not in known:
            return self.answer(404, {"error_code": 40403, "message": "Schema not found"})
        if len(path) == 3:
            number = self.ids.setdefault(text, FIRST_ID + len(self.ids))
            if number not in known:
                known.append(number)
        return self.answer(200, {"subject": path[1], "id": number, "version": known.index(number) + 1,
                                 "schema": text})

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def registry():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def schema(name):
    with open(os.path.join(cluster.ROOT, "schemas", name), encoding="utf-8") as file:
        return file.read()


def register(address, subject, name):
    """As OPERATIONS.md says it, with curl."""
    body = json.dumps({"schema": schema(name)}).encode()
    request = urllib.request.Request(f"{address}/subjects/{subject}/versions", body,
                                     {"Content-Type": "application/vnd.schemaregistry.v1+json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["id"]


# ---- in a Python with confluent-kafka ----

def write(address, broker, topic, crawl):
    import confluent_kafka
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext
    serialize = AvroSerializer(SchemaRegistryClient({"url": address}), schema("page.avsc"))
    context = SerializationContext(topic, MessageField.VALUE)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker})
    names = [field["name"] for field in json.loads(schema("page.avsc"))["fields"]]
    with open(crawl, encoding="utf-8") as file:
        for line in file:
            page = json.loads(line)
            page = {"http_status": 200, **{name: page.get(name) for name in names if name in page}}
            for name in names:
                page.setdefault(name, None)
            if page["content"] is None:
                page["content"] = ""
            # All fetches of a page in order: one partition.
            producer.produce(topic, serialize(page, context), key=page["url"], partition=0)
            producer.poll(0)
    check(producer.flush(60) == 0, "not all pages were delivered")


def read(address, broker, topic):
    import confluent_kafka
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext
    deserialize = AvroDeserializer(SchemaRegistryClient({"url": address}))
    context = SerializationContext(topic, MessageField.VALUE)
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": broker, "group.id": "samepage-registry", "enable.auto.commit": False,
        "isolation.level": "read_committed", "enable.partition.eof": True})
    partitions = consumer.list_topics(topic, 10).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, p, confluent_kafka.OFFSET_BEGINNING)
                     for p in partitions])
    left = len(partitions)
    while left:
        message = consumer.poll(30)
        check(message is not None, "the topic has no end")
        if message.error():
            check(message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error())
            left -= 1
            continue
        event = deserialize(message.value(), context)
        event["version_ms"] = int(event["version_ms"].timestamp() * 1000)
        print(json.dumps(event))
    consumer.close()


# ---- the test ----

def python_with_serializers(folder):
    python = os.path.join(folder, "bin", "python")
    wanted = "import confluent_kafka.schema_registry.avro"
    if not os.path.exists(python) or subprocess.run([python, "-c", wanted], check=False,
                                                    stderr=subprocess.DEVNULL).returncode:
        for command in ([sys.executable, "-m", "venv", folder],
                        [python, "-m", "pip", "install", "-q", "--only-binary", ":all:",
                         "confluent-kafka[avro,schemaregistry]"]):
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False)
            if done.returncode:
                raise Skip("confluent-kafka cannot be had: " + done.stdout[-500:])
    return python


def stages_with_a_registry(work, program, reader):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    python = python_with_serializers(work + "-python")
    place = statuses.Place(work, program, f"registry-{os.getpid()}.")
    place.crawl()
    want = place.expected()
    with registry() as address:
        pages, topic = place.prefix + "pages", place.prefix + "status"
        place.more = {"topics.pages_schema_id": str(register(address, pages + "-value", "page.avsc")),
                      "topics.status_schema_id": str(register(address, topic + "-value", "status.avsc"))}
        place.call("topics", "create", *place.settings())

        def foreign(*arguments):
            return subprocess.run([python, "-B", os.path.join(HERE, "registry.py"), *arguments], check=True,
                                  text=True, stdout=subprocess.PIPE).stdout

        with place.stages():
            foreign("write", address, place.address, pages, place.path("crawl.jsonl"))
            place.settle(want)
            place.ingest()  # the same again, by `samepage ingest` in the same framing
            place.settle(want)
        statuses.check_same(statuses.decided(place.all()), want, "status --all and `samepage run`")
        got = statuses.of_json(foreign("read", address, place.address, topic))
        statuses.check_same(statuses.decided(got), want, "AvroDeserializer and `samepage run`")
        ours = statuses.of_tabs(subprocess.run([reader, place.address, topic, "-", "0", "10", "leave"],
                                               check=True, text=True, stdout=subprocess.PIPE).stdout)
        statuses.check_same(statuses.histories(got), statuses.histories(ours), "AvroDeserializer and the client")
        refuses_others(place, foreign, address)


def refuses_others(place, foreign, address):
    """A stage that was told of no id, or of another one, says so of each page."""
    place.more = {"topics.pages_schema_id": "7"}
    place.prefix = place.prefix[:-1] + "-other."
    place.call("topics", "create", *place.settings())
    other = place.prefix + "pages"
    with open(place.path("one.jsonl"), "w", encoding="utf-8") as file:
        file.write(json.dumps({"url": "http://one.example/", "content": "one two three"}) + "\n")
    with place.started(place.program, "signature", *place.settings("signature")):
        foreign("write", address, place.address, other, place.path("one.jsonl"))
        until(lambda: dead_letters(place), "a dead letter")
    letters = dead_letters(place)
    check("unknown_schema" in letters and "topics.pages_schema_id" in letters, "it says", letters)
    print("a page of another schema is a dead letter that says why")


def dead_letters(place):
    """Their headers, which say why; the value is the record as it came."""
    done = subprocess.run(["kcat", "-b", place.address, "-t", place.prefix + "dead-letter", "-C", "-e", "-q",
                           "-f", "%h\n"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    if sys.argv[1] in ("write", "read"):
        {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
    else:
        statuses.main(stages_with_a_registry, *sys.argv[1:])
