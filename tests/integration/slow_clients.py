"""Ten thousand connections of a client that is not ours, slowhttptest, keep no health check of an HTTP surface from
its response: requests whose headers or bodies come drop by drop, and responses that are read drop by drop."""

import csv
import http.client
import resource
import shutil
import signal
import time

from harness import PATIENCE_SECONDS, Skip, check, check_equal, free_port, main, until

CONNECTIONS = 10000
# What the client needs at least to be an attack: more connections than either server keeps.
CROWD = 1000
ATTACKS = {
    "headers": ["-H", "-i", "2"],
    "bodies": ["-B", "-i", "2", "-s", "100000"],
    "responses": ["-X", "-k", "5", "-n", "1", "-w", "10", "-y", "20", "-z", "5"],
}


def is_alive(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def attack(work, port, kind, path):
    """Returns how many health checks were made meanwhile; each of them succeeds."""
    command = ["slowhttptest", "-c", str(CONNECTIONS), "-r", "4000", "-l", "10", "-p", str(PATIENCE_SECONDS),
               "-u", f"http://127.0.0.1:{port}{path}", "-g", "-o", kind, *ATTACKS[kind]]
    client = work.start(*command, program=True)
    checks = 0
    try:
        while client.poll() is None:
            checks += 1
            check(is_alive(port), f"slow {kind}: health check {checks} failed")
            time.sleep(0.02)
    finally:
        client.kill()
        client.wait()
    seconds = list(csv.DictReader(work.read(kind + ".csv").decode().splitlines()))
    check(all(int(s["Service Available"]) for s in seconds), f"slow {kind}: the client found no service")
    last = seconds[-1]
    crowd = int(last["Closed"]) + int(last["Pending"]) + int(last["Connected"])
    check(crowd >= CROWD, f"slow {kind}: no more than {crowd} connections")
    print(f"slow {kind}: {crowd} connections, {checks} health checks")


def withstand(work, process, port, paths):
    if not shutil.which("slowhttptest"):
        raise Skip("there is no program slowhttptest")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if files < CONNECTIONS + 100:
        raise Skip(f"a process may have no more than {files} open files")
    until(lambda: is_alive(port), "the server")
    for kind, path in paths.items():
        attack(work, port, kind, path)
    process.send_signal(signal.SIGTERM)
    check_equal(process.wait(timeout=PATIENCE_SECONDS), 0, "exit code after SIGTERM")


def slow_clients_keep_no_health_check_of_serve_waiting(work):
    work.crawl(pages=300)
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "crawl.jsonl")
    port = free_port()
    process = work.start("serve", "--state", "state", "--listen", f"127.0.0.1:{port}")
    try:
        withstand(work, process, port, {"headers": "/", "bodies": "/v1/filter", "responses": "/"})
    finally:
        process.kill()
        process.wait()


def slow_clients_keep_no_health_check_of_a_stage_waiting(work):
    port = free_port()
    process = work.start("group", "--set", f"http.listen=127.0.0.1:{port}",
                         "--set", "kafka.bootstrap.servers=127.0.0.1:1",
                         "--set", "state.directory=" + work.path("state"))
    try:
        withstand(work, process, port, {"headers": "/livez", "bodies": "/livez", "responses": "/metrics"})
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(__name__)
