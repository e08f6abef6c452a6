"""Shared by the integration tests.

A test is a function with the one parameter `work`, an object with a temporary directory and the
program. CMake registers each as a CTest of its own:

    python3 crash.py PROGRAM SOURCE_DIR NAME

runs one of them; without a name, all.
"""

import collections
import gzip
import inspect
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SKIPPED = 77
# Waits are far longer than needed on the busiest machine, so that a test fails because of what
# happens, not because of when.
PATIENCE_SECONDS = 180
# Set under sanitizers, which are after code: fewer moments, sizes of disks and seeds, where more reach no more of it.
FEW = "SAMEPAGE_TEST_FEW" in os.environ


class Skip(Exception):
    """The test cannot run here; the argument is the reason."""


def with_packages(folder, *requirements):
    """Returns the Python of a virtual environment with packages of PyPI, which is made where it is not yet."""
    python = os.path.join(folder, "bin", "python")
    done = os.path.join(folder, "complete")
    if not os.path.exists(done):
        shutil.rmtree(folder, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", folder],
                        [python, "-m", "pip", "install", "-q", "--no-compile", "--only-binary", ":all:", *requirements]):
            made = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if made.returncode:
                raise Skip(f"{requirements[0]} cannot be had from PyPI: {made.stdout[-500:]}")
        with open(done, "w", encoding="utf-8") as f:
            f.write("\n".join(requirements))
    return python


class Failure(Exception):
    """A check that did not hold."""


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


def check_equal(a, b, what):
    if a == b:
        return
    if isinstance(a, (bytes, str)) and isinstance(b, type(a)):
        check_equal_lines(a.splitlines(), b.splitlines(), what)
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b), key=str):
            if a.get(key) != b.get(key):
                raise Failure(f"{what}: {key}: {a.get(key)!r} and {b.get(key)!r}")
    raise Failure(f"{what}: {str(a)[:500]} and {str(b)[:500]}")


def check_equal_lines(a, b, what):
    for number, (x, y) in enumerate(zip(a, b)):
        if x != y:
            raise Failure(f"{what}: line {number + 1} of {len(a)} and {len(b)}:\n  {x!r}\n  {y!r}")
    if len(a) != len(b):
        raise Failure(f"{what}: {len(a)} and {len(b)} lines, the shorter a prefix of the longer")


def check_in(part, text, what="message"):
    check(part in text, f"{what}: {part!r} is missing in:\n{text}")


def wait(condition, seconds=PATIENCE_SECONDS, pause=0.05):
    """Waits until condition() is true; returns its last value, also after a time-out."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(pause)
    return value


def until(condition, what, **how):
    """Waits until condition() is true and returns its value. `what`, a text or a function, describes what is missing.
    """
    value = wait(condition, **how)
    if not value:
        raise Failure(f"waited in vain for {what() if callable(what) else what}")
    return value


def free_port(count=1):
    """The first of `count` consecutive free ports, below those that the system assigns to connections."""
    while True:
        port = random.randrange(10000, 20000)
        try:
            for each in range(port, port + count):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", each))
            return port
        except OSError:
            pass


class Work:
    """A test's temporary directory, and the program that runs in it."""

    def __init__(self, program, source, directory):
        self.program = program
        self.source = source
        self.directory = directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return name

    def exists(self, name):
        return os.path.exists(self.path(name))

    def json_lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def start(self, *arguments, **options):
        """Starts the program; its output is discarded by default. With program=... starts another one, whose name is
        the first of the arguments."""
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.DEVNULL)
        options.setdefault("stdin", subprocess.DEVNULL)
        program = options.pop("program", None)
        argv = list(arguments) if program else [self.program, *arguments]
        return subprocess.Popen(argv, cwd=self.directory, **options)

    def with_packages(self, name, version):
        """The same for one package; all builds of a checkout share it."""
        builds = os.path.dirname(os.path.dirname(self.program))
        return with_packages(os.path.join(builds, "from-pypi", name), f"{name}=={version}")

    def run(self, *arguments, code=0, stdin=b""):
        """Runs the program to its end; returns its standard error and output as texts."""
        done = subprocess.run([self.program, *arguments], cwd=self.directory, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        out = done.stdout.decode("utf-8", "replace")
        err = done.stderr.decode("utf-8", "replace")
        if code is not None:
            check(done.returncode == code,
                  f"samepage {' '.join(arguments)}: exit code {done.returncode}, not {code}\n{err}")
        return collections.namedtuple("Done", "code out err")(done.returncode, out, err)

    def crawl(self, name="crawl.jsonl", pages=6000, seed=1, truth=None, words=None):
        options = ["--truth", truth] if truth else []
        options += ["--words", str(words)] if words else []
        self.run("synth", "--pages", str(pages), "--seed", str(seed), "-o", name, *options)
        return name

    def gzip(self, name):
        with gzip.open(self.path(name + ".gz"), "wb", 1) as f:
            f.write(self.read(name))
        return name + ".gz"

    def zstd(self, name):
        if not shutil.which("zstd"):
            raise Skip("there is no zstd program")
        subprocess.run(["zstd", "-q", "-1", self.path(name)], check=True)
        return name + ".zst"


def latest(lines):
    """URL -> its last event."""
    return {event["url"]: event for event in map(json.loads, lines.splitlines())}


def statuses(lines):
    """URL -> the part of its last event about the page itself: no group ids, no epochs."""
    return {url: (e["version_ms"], e["status"], e["winner_url"], e["similarity"], e["reason"])
            for url, e in latest(lines).items()}


def groups(lines):
    """The listing of --groups without ids: the URLs of the members -> the rest of the line. The order of the groups
    does not depend on ids either."""
    result = {}
    for line in lines.splitlines():
        members = json.loads(line)["members"]
        key = tuple(m["url"] for m in members)
        check(key not in result, "a group is listed twice:", key)
        result[key] = tuple((m["status"], m["winner_url"], m["similarity"]) for m in members)
    return result


def run_one(function, program, source):
    directory = tempfile.mkdtemp(prefix="samepage-")
    try:
        function(Work(program, source, directory))
        print(f"{function.__name__}: passed")
        return 0
    except Skip as reason:
        print(f"{function.__name__}: SKIPPED: {reason}")
        return SKIPPED
    except Failure as failure:
        where = traceback.extract_tb(failure.__traceback__)
        at = [f for f in where if not f.filename.endswith("harness.py") or f.name == "run"][-1]
        print(f"{function.__name__}: FAILED at {os.path.basename(at.filename)}:{at.lineno}: {failure}")
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main(module):
    """Runs the test named by the arguments, or all tests of the module."""
    program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    tests = {name: f for name, f in vars(sys.modules[module]).items()
             if inspect.isfunction(f) and f.__module__ == module
             and list(inspect.signature(f).parameters) == ["work"]}
    wanted = sys.argv[3:] or sorted(tests)
    codes = [run_one(tests[name], program, source) for name in wanted]
    bad = [c for c in codes if c != 0]
    sys.exit(bad[0] if bad else 0)
