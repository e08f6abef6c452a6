"""Pages and statuses in the framing of a schema registry.

usage: registry.py PART WORK PROGRAM READER
       registry.py write|read REGISTRY BROKER TOPIC [CRAWL]    (in a Python with confluent-kafka)

    real    Apicurio (from Maven Central), asked by the stages; confluent-kafka's AvroSerializer writes
            the pages, its AvroDeserializer reads the statuses
    fixed   the same with fixed ids and a stand-in that follows the interface of Confluent's registry
            (the parts that are used: subjects, versions, ids)
    asked   the stages use that stand-in while it is down, refuses access, or lacks the schema
"""

import base64
import contextlib
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

import cluster
import statuses
from harness import PATIENCE_SECONDS, Skip, check, check_in, free_port, until, with_packages

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_ID = 100_001


class Registry(http.server.BaseHTTPRequestHandler):
    """Each schema has one id, whatever its subjects; a subject has versions."""

    ids = {}  # canonical text of the schema -> id
    subjects = {}  # name -> ids in order
    user_info = None  # the accepted credentials
    refuses = None  # status of all responses
    compatible = True
    asked = []  # requested paths

    def respond(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def lets_in(self):
        self.asked.append(self.path)
        sent = self.headers.get("Authorization", "")
        want = "Basic " + base64.b64encode((self.user_info or "").encode()).decode()
        if self.user_info and sent != want:
            self.respond(401, {"error_code": 401, "message": "Unauthorized"})
        elif self.refuses:
            self.respond(self.refuses, {"error_code": 50001, "message": "Error in the backend data store"})
        else:
            return True
        return False

    def text_of(self, number):
        return next((text for text, i in self.ids.items() if i == number), None)

    def do_GET(self):
        if not self.lets_in():
            return
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        if path[:2] == ["schemas", "ids"] and len(path) == 3 and self.text_of(int(path[2])):
            self.respond(200, {"schema": self.text_of(int(path[2]))})
        elif path[0] == "subjects" and len(path) == 4 and path[1] in self.subjects:
            ids = self.subjects[path[1]]
            version = len(ids) if path[3] == "latest" else int(path[3])
            self.respond(200, {"subject": path[1], "id": ids[version - 1], "version": version,
                              "schema": self.text_of(ids[version - 1])})
        elif path[0] == "subjects" and len(path) == 1:
            self.respond(200, list(self.subjects))
        elif path == ["schemas", "types"]:
            self.respond(200, ["AVRO"])
        else:
            self.respond(404, {"error_code": 40401, "message": f"{self.path} not found."})

    def do_POST(self):
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        if not self.lets_in():
            return None
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            text = json.dumps(json.loads(body["schema"]))
        except (KeyError, ValueError):
            return self.respond(422, {"error_code": 42201, "message": "Invalid schema"})
        if path[0] != "subjects" or len(path) not in (2, 3):
            return self.respond(404, {"error_code": 404, "message": "HTTP 404 Not Found"})
        known = self.subjects.setdefault(path[1], []) if len(path) == 3 else self.subjects.get(path[1], [])
        number = self.ids.get(text)
        if len(path) == 2 and number not in known:
            return self.respond(404, {"error_code": 40403, "message": "Schema not found"})
        if len(path) == 3 and not self.compatible:
            return self.respond(409, {"error_code": 409, "message":
                                     "Schema being registered is incompatible with an earlier schema"})
        if len(path) == 3:
            number = self.ids.setdefault(text, FIRST_ID + len(self.ids))
            if number not in known:
                known.append(number)
        return self.respond(200, {"subject": path[1], "id": number, "version": known.index(number) + 1,
                                 "schema": text})

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def registry(port=0, certificate=None):
    """The stand-in; its schemas survive a restart."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Registry)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def schema(name):
    with open(os.path.join(cluster.ROOT, "schemas", name), encoding="utf-8") as file:
        return file.read()


def register(address, subject, name):
    """Registers a schema with curl, as OPERATIONS.md describes."""
    body = json.dumps({"schema": schema(name)}).encode()
    request = urllib.request.Request(f"{address}/subjects/{subject}/versions", body,
                                     {"Content-Type": "application/vnd.schemaregistry.v1+json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["id"]


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

APICURIO = "2.6.13.Final"


@contextlib.contextmanager
def apicurio(folder):
    """Apicurio Registry, in memory; returns its address for Confluent's clients."""
    name = f"apicurio-registry-app-{APICURIO}"
    if shutil.which("mvn") is None or shutil.which("java") is None:
        raise Skip("no Maven or no Java here (tools/setup kafka installs them)")
    if not os.path.exists(f"{folder}/complete"):
        os.makedirs(folder, exist_ok=True)
        got = subprocess.run(
            ["mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
             f"-Dartifact=io.apicurio:apicurio-registry-app:{APICURIO}:tar.gz:all",
             f"-DoutputDirectory={folder}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=folder, check=False)
        if got.returncode:
            raise Skip("Apicurio cannot be had from Maven Central: " + got.stdout[-300:])
        subprocess.run(["tar", "-xzf", f"{name}-all.tar.gz"], cwd=folder, check=True)
        with open(f"{folder}/complete", "w", encoding="utf-8"):
            pass
    port = free_port()
    with open(f"{folder}/log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["java", "-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
             "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}", "-cp", f"{name}-runner.jar:lib/*",
             "io.quarkus.runner.GeneratedMain"], cwd=folder, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}/apis/ccompat/v6"

        def responds():
            check(process.poll() is None, f"Apicurio has ended, see {folder}/log")
            try:
                return statuses.ask(address, "/subjects")
            except (OSError, urllib.error.URLError):
                return None
        until(responds, "a response of Apicurio")
        yield address
    finally:
        process.terminate()
        process.wait()


def new_place(work, program, name):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = statuses.Place(work, program, f"registry-{name}-{os.getpid()}.")
    place.crawl()
    return place


def real(work, program, reader):
    python = with_packages(work + "-python", "confluent-kafka[avro,schemaregistry]")
    place = new_place(work, program, "real")
    with apicurio(work + "-apicurio") as address:
        place.more = {"schema.registry.url": address + "/"}
        both_ways(place, reader, python, address)


def fixed(work, program, reader):
    python = with_packages(work + "-python", "confluent-kafka[avro,schemaregistry]")
    place = new_place(work, program, "fixed")
    with registry() as address:
        pages, topic = place.prefix + "pages", place.prefix + "status"
        place.more = {"topics.pages_schema_id": str(register(address, pages + "-value", "page.avsc")),
                      "topics.status_schema_id": str(register(address, topic + "-value", "status.avsc"))}
        foreign = both_ways(place, reader, python, address)
        refuses_others(place, foreign, address)


def both_ways(place, reader, python, address):
    pages, topic = place.prefix + "pages", place.prefix + "status"
    want = place.expected()
    place.call("topics", "create", *place.settings())

    def foreign(*arguments):
        return subprocess.run([python, "-B", os.path.join(HERE, "registry.py"), *arguments], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    with place.stages():
        foreign("write", address, place.address, pages, place.path("crawl.jsonl"))
        place.settle(want)
        place.ingest()  # the same pages, by `samepage ingest` in the same framing
        place.settle(want)
    statuses.check_same(statuses.decided(place.all()), want, "status --all and `samepage run`")
    got = statuses.of_json(foreign("read", address, place.address, topic))
    statuses.check_same(statuses.decided(got), want, "AvroDeserializer and `samepage run`")
    ours = statuses.of_tabs(subprocess.run([reader, place.address, topic, "-", "0", statuses.READ_SECONDS, "leave"],
                                           check=True, text=True, stdout=subprocess.PIPE).stdout)
    statuses.check_same(statuses.histories(got), statuses.histories(ours), "AvroDeserializer and the client")
    return foreign


def refuses_others(place, foreign, address):
    """A stage without an id, or with another one, reports each page."""
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
    """The headers of the dead letters, which have the reason; the value is the record as received."""
    done = subprocess.run(["kcat", "-b", place.address, "-t", place.prefix + "dead-letter", "-C", "-e", "-q",
                           "-f", "%h\n"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


# ---- a registry that is asked ----

def number(n):
    """Encodes Avro's int and long."""
    n, out = (n << 1) ^ (n >> 63), b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def text(value):
    return number(len(value)) + value.encode()


def publish(place, name, value):
    """Sends a message with exactly these bytes."""
    with open(place.path(name), "wb") as file:
        file.write(value)
    subprocess.run(["kcat", "-b", place.address, "-t", place.prefix + "pages", "-p", "0", "-P", "-k", name,
                    place.path(name)], check=True)


def add_schema(record):
    """Registers a schema with the stand-in, as another writer would; returns its id in bytes, after the magic byte."""
    identity = Registry.ids.setdefault(json.dumps(record), FIRST_ID + len(Registry.ids))
    return b"\0" + identity.to_bytes(4, "big")


def record_of(**fields):
    return {"type": "record", "name": "Fetch", "fields": [{"name": k, "type": v} for k, v in fields.items()]}


def readiness(port):
    try:
        return statuses.ask(f"http://127.0.0.1:{port}", "/readyz")
    except urllib.error.HTTPError as error:
        return error.read().decode()
    except OSError:
        return ""


def asked(work, program, _reader):
    place = new_place(work, program, "asked")
    want = place.expected()
    port, ready = free_port(), {"signature": free_port(), "group": free_port()}
    Registry.user_info = "samepage:a secret"
    place.more = {"schema.registry.url": f"http://127.0.0.1:{free_port()},http://127.0.0.1:{port}",
                  "schema.registry.basic.auth.user.info": Registry.user_info}
    place.call("topics", "create", *place.settings())
    check_in("does not respond", refused(place, "ingest", place.path("crawl.jsonl")))
    with contextlib.ExitStack() as stages:
        for stage in cluster.STAGES:
            more = ["--set", f"http.listen=127.0.0.1:{ready[stage]}"] if stage in ready else []
            stages.enter_context(place.started(program, stage, *place.settings(stage), *more))
        for at in ready.values():
            until(lambda: "registry does not respond" in readiness(at), "a word about the registry")
        with registry(port):
            for at in ready.values():
                until(lambda: readiness(at) == "ready\n", "readiness")
            place.ingest()
            place.settle(want)
            by_others(place, program)
        known = number_of_lookups()
        outlives(place, ready["signature"], port)
    check(known == 5, "each id is asked for once by the one process that reads pages:", Registry.asked)
    who_must_act(place, port)
    over_tls(place)


def number_of_lookups():
    return sum(path.startswith("/schemas/ids/") for path in Registry.asked)


def by_others(place, program):
    """Pages in another writer's schema, and in none."""
    publish(place, "layout", add_schema(record_of(
        content="string", extra=["null", "int"], url="string")) + text("one two three four five six") +
            number(1) + number(7) + text("http://other.example/"))
    publish(place, "unknown", b"\0" + (999).to_bytes(4, "big") + b"x")
    publish(place, "foreign", add_schema(record_of(name="string")) + text("x"))
    publish(place, "cut", add_schema(record_of(url="string", content="string")) + text("http://cut.example/"))
    publish(place, "short", b"\0\0")
    until(lambda: dead_letters(place).count("\n") >= 4, "dead letters")
    letters = dead_letters(place)
    for said in ("knows no schema with the id 999", "is not one of pages: the schema is not a record with a field `url`",
                 "do not match the schema", "ends within the framing of a schema registry"):
        check_in(said, letters)
    until(lambda: "http://other.example/" in place.call("status", "--all", *place.settings()),
          "the page in another layout")


def outlives(place, ready, port):
    """Without the registry, pages with known ids are handled; one with an unknown id waits until it is back."""
    frame = add_schema(record_of(url="string", content="string"))  # known
    publish(place, "known", frame + text("http://known.example/") + text("six seven eight nine ten eleven"))
    until(lambda: "http://known.example/" in place.call("status", "--all", *place.settings()),
          "a page whose schema is known, without a registry")
    late = add_schema(record_of(url="string", content="string", late="int"))
    publish(place, "late", late + text("http://late.example/") + text("a b c d e f g") + number(0))
    until(lambda: "registry does not respond" in readiness(ready), "readiness without a registry")
    check_in('registry_down{stage="signature"} 1', statuses.ask(f"http://127.0.0.1:{ready}", "/metrics"))
    Registry.refuses = 503
    with registry(port):
        until(lambda: any("/schemas/types" in path for path in Registry.asked[-3:]), "a question")
        check_in("registry does not respond", readiness(ready))
        Registry.refuses = None
        until(lambda: "http://late.example/" in place.call("status", "--all", *place.settings()),
              "the page that waited")
        until(lambda: readiness(ready) == "ready\n", "readiness")


def refused(place, command, *arguments):
    """The last lines of a command that ends by itself with exit code 1."""
    done = subprocess.run([place.program, command, *place.settings(command), *arguments], text=True,
                          timeout=PATIENCE_SECONDS, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 1, command, "ended with", done.returncode, done.stderr)
    check("a secret" not in done.stderr, "a password is told:", done.stderr)
    return done.stderr.splitlines()[-1]


def who_must_act(place, port):
    """If waiting would not help, a stage ends and says what to do."""
    before = dict(place.more)
    place.prefix = place.prefix[:-1] + "-new."
    place.call("topics", "create", *place.settings())
    with registry(port):
        place.more["schema.registry.basic.auth.user.info"] = "samepage:another"
        check_in("refuses access (401)", refused(place, "group"))
        check_in("refuses access (401)", refused(place, "signature"))
        place.more = {**before, "schema.registry.auto.register.schemas": "false"}
        message = refused(place, "group")
        check_in("cannot be found", message)
        check_in("register schemas/status.avsc", message)
        place.more = before
        Registry.compatible = False
        check_in("is incompatible with an earlier schema", refused(place, "group"))
        check_in("is incompatible with an earlier schema", refused(place, "ingest", place.path("crawl.jsonl")))
        Registry.compatible = True
        place.more = {**before, "topics.pages_schema_id": "7"}
        check_in("leave them out, or schema.registry.url", refused(place, "signature"))
    place.more = before


def over_tls(place):
    files = place.path("registry.pem"), place.path("registry.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout",
                    files[1]], check=True, stderr=subprocess.DEVNULL)
    with registry(certificate=files) as address:
        place.more["schema.registry.url"] = address
        check_in("certificate", refused(place, "ingest", place.path("crawl.jsonl")))
        place.more["schema.registry.ssl.ca.location"] = files[0]
        place.ingest()
        with registry() as plain:
            place.more["schema.registry.url"] = plain.replace("//", "//samepage:a%20secret@")
            del place.more["schema.registry.basic.auth.user.info"]
            place.ingest()
    place.more["schema.registry.url"] = "ftp://samepage:a secret@127.0.0.1/"
    check_in("begins with http:// or https://", refused(place, "ingest", place.path("crawl.jsonl")))


if __name__ == "__main__":
    if sys.argv[1] in ("write", "read"):
        {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
    else:
        statuses.main({"real": real, "fixed": fixed, "asked": asked}[sys.argv[1]], *sys.argv[2:])
