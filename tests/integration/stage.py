"""A stage on Kafka without a broker: its HTTP responses, and its log."""

import json
import os
import re
import select
import signal
import subprocess
import urllib.error
import urllib.request

from harness import PATIENCE_SECONDS, check, check_equal, check_in, free_port, main, until

SECRET = "a-secret-of-this-test"


def status_of(port, path):
    """The HTTP status and the body; waits for the server to start."""
    def ask():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_SECONDS) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as response:
            return response.code, response.read().decode()
        except OSError:
            return None

    return until(ask, f"a response to {path}")


def log_of_stage(work, format_, at_work=None):
    """The log lines of a stage that finds no broker and is ended by SIGTERM."""
    port = free_port()
    process = work.start("group", "--set", f"http.listen=127.0.0.1:{port}",
                         "--set", f"log.format={format_}", "--set", f"kafka.sasl.password={SECRET}",
                         "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--set", "kafka.debug=all",
                         "--set", "state.directory=" + work.path("state"),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if at_work:
        at_work(port)
    status_of(port, "/livez")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    check_equal(process.returncode, 0, "exit code after SIGTERM")
    check_equal(out, b"", "standard output")
    check(SECRET.encode() not in err, "the password is in the log")
    lines = err.decode().splitlines()
    check(len(lines) > 3, "a short log:", err)
    return lines


def a_stage_without_a_broker_is_alive_and_not_ready(work):
    def ask(port):
        check_equal(status_of(port, "/livez")[0], 200, "/livez")
        check_equal(status_of(port, "/readyz")[0], 503, "/readyz")
        check_equal(status_of(port, "/else")[0], 404, "/else")
        status, text = status_of(port, "/metrics")
        check_equal(status, 200, "/metrics")
        check_in('samepage_ready{stage="group"} 0', text)
    for line in log_of_stage(work, "plain", ask):
        check(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) \S", line),
              "not a log line:", line)


def json_logs_are_one_object_a_line(work):
    for line in log_of_stage(work, "json"):
        entry = json.loads(line)
        check_equal(sorted(entry), ["level", "stage", "text", "time"], "members")
        check_equal(entry["stage"], "group", "stage")


def an_address_that_is_none_ends_a_stage_in_the_logs_format(work):
    done = work.run("group", "--set", "http.listen=nowhere", code=1)
    check_in('http.listen: "nowhere"', done.err)
    done = work.run("group", "--set", "http.listen=nowhere", "--set", "log.format=json", code=1)
    check_in('http.listen: "nowhere"', json.loads(done.err)["text"])


def a_page_that_is_too_large_for_the_topic_is_named_and_left_out(work):
    pages = [{"url": f"http://a.example/{i}", "content": "word " * words}
             for i, words in enumerate([10, 50000, 20])]
    with open(work.path("crawl.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(page) + "\n" for page in pages)
    # librdkafka's mock broker, in the process itself.
    done = work.run("ingest", "--set", "kafka.test.mock.num.brokers=1",
                    "--set", "kafka.message.max.bytes=100000", work.path("crawl.jsonl"))
    check_in("http://a.example/1", done.err)
    check_in("2 pages published, 0 records could not be read, 1 were too large", done.err)


def ingest_reads_no_further_than_the_broker_follows(work):
    """Until the first reply of a slow broker, it takes a batch for each partition and one more."""
    page = json.dumps({"url": "http://a.example/", "content": "word " * 20000}).encode() + b"\n"
    most, taken = 40 << 20, 0
    process = work.start("ingest", "--set", "kafka.test.mock.num.brokers=1", "--set",
                         "kafka.test.mock.broker.rtt=450", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pipe = process.stdin.fileno()
        os.set_blocking(pipe, False)
        while taken < most:
            patience = 0.3 if taken > 1 << 20 else PATIENCE_SECONDS
            if not select.select([], [pipe], [], patience)[1]:
                break
            taken += os.write(pipe, page[taken % len(page):])
    finally:
        process.kill()
        process.communicate()
    check(5 << 20 <= taken < 8 << 20, "bytes that ingest has read:", taken)


if __name__ == "__main__":
    main(__name__)
