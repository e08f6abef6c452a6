"""Runs the stages on Kafka from Python: for tools/chaos, tools/bench and the tests here."""

import contextlib
import os
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))  # harness.py
STAGES = ["signature", "group", "compare"]
# Several cells and partitions, and small caches.
SMALL = {
    "kafka.session.timeout.ms": "6000",
    "partition.cells": 6,
    "tier1.partitions": 3,
    "tier2.partitions": 3,
    "topics.pages_partitions": 3,
    "cache.bytes": "32MiB",
    "store.memtable_bytes": "8MiB",
    "store.block_cache_bytes": "16MiB",
}


class NoBroker(Exception):
    """No broker can be started here; the argument is the reason."""


class Failed(Exception):
    """A program failed; the argument has its last lines of output."""


def arguments(settings):
    return [x for key, value in settings.items() for x in ("--set", f"{key}={value}")]


class Broker:
    """A broker of its own, started by tools/kafka, with all its data in `folder`; stops at the end of the
    with-statement."""

    def __init__(self, folder):
        self.folder = folder
        self.address = None

    def tool(self, *args):
        environment = dict(os.environ, SAMEPAGE_KAFKA_DIR=self.folder)
        return subprocess.run([os.path.join(ROOT, "tools", "kafka"), *args], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              check=False)

    def up(self, *options):
        done = self.tool("up", "--port", "0", *options)
        if done.returncode == 77:
            raise NoBroker(done.stderr.strip().splitlines()[-1])
        if done.returncode != 0:
            raise Failed(done.stderr)
        self.address = done.stdout.split()[-1]
        return self.address

    def restart(self, *options, node=1):
        done = self.tool("restart", str(node), *options)
        if done.returncode != 0:
            raise Failed("the broker did not come back: " + done.stderr)

    def down(self):
        self.tool("down", "--wipe")

    def pid(self, node=1):
        with open(os.path.join(self.folder, f"node-{node}", "pid"), encoding="utf-8") as f:
            return int(f.read())

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.down()


class Processes:
    """Running programs, each under a key; their output is appended to a log file."""

    def __init__(self):
        self.running = {}

    def start(self, key, argv, log, **options):
        with open(log, "a", encoding="utf-8") as out:
            options.setdefault("stdout", out)
            self.running[key] = subprocess.Popen(argv, stderr=out, **options)
        return self.running[key]

    def stop(self, key, number=signal.SIGTERM, seconds=180):
        """Returns the exit code."""
        process = self.running.pop(key)
        process.send_signal(number)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failed(f"{key} did not leave within {seconds} seconds") from None

    def kill(self):
        for key in list(self.running):
            self.stop(key, signal.SIGKILL)

    @contextlib.contextmanager
    def during(self, key, argv, log, **options):
        """A program that runs during the block; SIGTERM must end it without an error."""
        process = self.start(key, argv, log, **options)
        try:
            yield process
            if process.poll() is not None:
                raise Failed(f"{key} ended by itself with {process.returncode}")
            code = self.stop(key)
            if code != 0:
                raise Failed(f"{key} ended with {code}")
        finally:
            if key in self.running:
                self.stop(key, signal.SIGKILL)
