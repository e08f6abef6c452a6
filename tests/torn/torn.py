"""Records every file operation of runs and Kafka tasks, then restarts them from every moment.

For each moment of a run the files are restored to what would be found then: after a kill (all that was
written), with the last write torn, and after a power failure in four ways (replay.py). The same command
must continue from there and end with the outputs of the undisturbed run, byte for byte.
"""

import collections
import concurrent.futures
import hashlib
import os
import random
import shutil
import subprocess
import tempfile

import replay

TIMEOUT_SECONDS = 120


class Wrong(Exception):
    """A moment after which the run did not continue correctly."""


class RunPlan:
    """A run, determined by its seed."""

    outputs = ["disk/out", "disk/dead", "disk/groups"]

    def __init__(self, seed, small, build):
        self.program = os.path.join(build, "samepage")
        rng = self.rng = random.Random(seed)
        self.large = not small and seed % 16 == 15  # so that write buffers fill
        self.pages = 250 if self.large else rng.randrange(6, 12 if small else 40)
        self.words = 1500 if self.large else rng.randrange(30, 100)
        self.barrier = 40 if self.large else rng.randrange(1, 9)
        self.log = seed % 2 == 1 and not self.large
        self.threads = rng.choice([1, 2])
        self.mode = rng.choice(["exact", "exact", "fast"])
        self.lives = rng.choice([1, 1, 2])  # a second run reads more
        self.interrupted = rng.random() < 0.3  # recording begins in the middle of another run
        self.state = rng.choice(["state", "deep/er/state"])
        self.old_output = rng.random() < 0.3
        self.seed = seed

    def __str__(self):
        return (f"seed {self.seed}: {self.pages} pages of {self.words} words, barrier.pages={self.barrier}, "
                f"store.write_ahead_log={'on' if self.log else 'off'}, threads={self.threads}, mode={self.mode}, "
                f"lives={self.lives}{', interrupted' if self.interrupted else ''}")

    def command(self, life, again):
        del again
        return [self.program, "run", "-q", "--state", f"disk/{self.state}", "-o", "disk/out",
                "--dead-letter", "disk/dead", "--groups", "disk/groups",
                "--set", f"barrier.pages={self.barrier}", "--set", "store.memtable_bytes=1MiB",
                "--set", f"mode={self.mode}", "--set", f"threads={self.threads}",
                "--set", f"store.write_ahead_log={'on' if self.log else 'off'}",
                *["first.jsonl", "second.jsonl"][:1 if life < self.lives - 1 else 2]]

    def inputs(self):
        crawl = subprocess.run([self.program, "synth", "--pages", str(self.pages), "--words", str(self.words),
                                "--seed", str(self.seed + 1)], check=True, capture_output=True).stdout
        lines = crawl.splitlines(keepends=True)
        lines[len(lines) // 3] = lines[len(lines) // 3][:-40] + b"\n"  # a line that cannot be read
        half = len(lines) // 2
        return {"first.jsonl": b"".join(lines[:half]), "second.jsonl": b"".join(lines[half:])}

    def start(self):
        """The disk before the first run."""
        return {"out": b'{"url":"https://before.example/"}\n' * 3} if self.old_output else {}


class TaskPlan:
    """The database of a Kafka task (task.c), determined by its seed."""

    outputs = ["dump"]

    def __init__(self, seed, small, build):
        self.program = os.path.join(build, "tests", "torn", "torn_task")
        rng = self.rng = random.Random(seed)
        most = 6 if small else 30
        self.large = not small and seed % 16 == 14  # so that write buffers fill
        self.restored = [rng.randrange(most) for _ in range(3)]
        self.stepped = [400 if self.large else 1 + rng.randrange(most) for _ in range(3)]
        self.log = seed % 4 == 3  # each transaction is written at once
        self.fills = rng.random() < 0.4
        self.wipes = rng.random() < 0.4  # the last life finds its database damaged, or made from another changelog
        self.lives = 1 + rng.randrange(3) if not self.wipes else 2
        self.interrupted = not self.wipes and rng.random() < 0.3
        self.seed = seed

    def __str__(self):
        return (f"seed {self.seed}: task, transactions {self.restored[:self.lives]} + {self.stepped[:self.lives]}"
                f"{', log' * self.log}{', filled' * self.fills}{', wiped' * self.wipes}"
                f"{', interrupted' * self.interrupted}")

    def command(self, life, again):
        """The command of a life; what earlier lives have done is in the changelog."""
        before = sum(self.restored[:life]) + sum(self.stepped[:life])
        wipes = self.wipes and life == self.lives - 1 and not again
        return [self.program, "disk/state", "dump", str(self.seed), str(before + self.restored[life]),
                str(self.stepped[life]), *["log"][:self.log], *["fill"][:self.fills], *["wipe"][:wipes]]

    def inputs(self):
        return {}

    def start(self):
        return {}


PLANS = {"run": RunPlan, "task": TaskPlan}


class Run:
    """One plan, in a folder of its own."""

    def __init__(self, recorder, plan, where, canary=None):
        self.recorder, self.plan, self.where = recorder, plan, where
        self.canary = canary  # what is not synced although the program asks for it
        self.counts = collections.Counter()
        self.seen = set()
        self.number = 0
        self.inputs = plan.inputs()
        self.wanted = []  # the outputs at the end of each life

    def case(self, left):
        """Creates a folder with the inputs and the given disk."""
        self.number += 1
        where = os.path.join(self.where, str(self.number))
        replay.write_to(os.path.join(where, "disk"), left)
        for name, data in self.inputs.items():
            with open(os.path.join(where, name), "wb") as f:
                f.write(data)
        return where

    def execute(self, where, life, again, **environment):
        return subprocess.run(self.plan.command(life, again), cwd=where, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                              env={**os.environ, **environment})

    def record(self, left, life):
        """Runs one life on the given disk and returns its operations."""
        where = self.case(left)
        done = self.execute(where, life, False, LD_PRELOAD=self.recorder, TORN_ROOT=os.path.join(where, "disk"),
                            TORN_LOG=os.path.join(where, "log"))
        if done.returncode:
            raise Wrong(f"the recorded run ended with {done.returncode}: {done.stderr}")
        operations = replay.without_syncs(replay.read_log(os.path.join(where, "log")), self.canary)
        replay.write_to(os.path.join(where, "before"), left)
        disk = replay.Disk.load(os.path.join(where, "before"))
        for op in operations:
            disk.apply(op)
        missed = replay.differences(os.path.join(where, "disk"), disk.after(replay.Killed))
        if missed:
            raise Wrong(f"not all operations were recorded: {missed}")
        before = replay.Disk.load(os.path.join(where, "before"))
        outputs = self.outputs(where)
        shutil.rmtree(where)
        return before, operations, outputs

    def outputs(self, where):
        found = {}
        for name in self.plan.outputs:
            path = os.path.join(where, name)
            found[name] = open(path, "rb").read() if os.path.exists(path) else None
        return found

    def reopen(self, left, life, what):
        """Runs the same command on what survived."""
        where = self.case(left)
        try:
            done = self.execute(where, life, True)
            if done.returncode:
                raise Wrong(f"{what}: refused with {done.returncode}: {done.stderr.strip()}")
            found = self.outputs(where)
            for name in self.plan.outputs:
                if found[name] != self.wanted[life][name]:
                    raise Wrong(f"{what}: {name} is not that of the undisturbed run "
                                f"({len(found[name] or b'')} and {len(self.wanted[life][name])} bytes)")
        finally:
            shutil.rmtree(where)

    def moments(self, disk, operations):
        """(description, what survived) at every moment of the operations, without repeated contents."""
        rng = self.plan.rng
        fates = {"killed": replay.Killed, "power": replay.Strict, "power, names are kept": replay.OnlyNames,
                 "power, bytes are kept": replay.OnlyBytes}
        for number, op in enumerate(operations):
            if op.kind == replay.WRITE and len(op.data) > 1 and op.file in disk.open:
                yield from self.torn(disk, op, number, rng)
            disk.apply(op)
            if op.kind == replay.CLOSE:
                continue
            for name, fate in {**fates, "power, drawn": replay.Drawn(rng)}.items():
                yield f"after operation {number} ({replay.NAMES[op.kind]}): {name}", disk.after(fate)

    @staticmethod
    def torn(disk, op, number, rng):
        node = disk.open[op.file]
        before = bytes(node.data), list(node.pending)
        node.change(op.offset, op.data[:rng.randrange(1, len(op.data))])
        yield f"in operation {number} (write): killed", disk.after(replay.Killed)
        node.data, node.pending = bytearray(before[0]), before[1]

    def new(self, left, life):
        digest = hashlib.blake2b(repr(life).encode())
        for path, data in left.items():
            if not path.endswith("LOCK"):
                name = getattr(data, "to", None)
                digest.update(repr((path, None if data is None else len(data), name)).encode())
                digest.update(data or b"")
        self.counts["moments"] += 1
        if digest.digest() in self.seen:
            return False
        self.seen.add(digest.digest())
        return True

    def undisturbed(self):
        """The outputs after each life, and the disk before the last."""
        left = self.plan.start()
        for life in range(self.plan.lives):
            disk, operations, outputs = self.record(left, life)
            self.wanted.append(outputs)
            for op in operations:
                disk.apply(op)
            left = disk.after(replay.Killed)

    def open_life(self, pool, most, left, life):
        """Every moment of one life, or at most `most`; returns the faults, and the disk that it leaves."""
        disk, operations = self.record(left, life)[:2]
        if self.plan.interrupted and life == self.plan.lives - 1:
            left = self.plan.rng.choice([l for _, l in self.moments(disk, operations)])
            disk, operations = self.record(left, life)[:2]
        cases = [(what, l) for what, l in self.moments(disk, operations) if self.new(l, life)]
        if 0 < most < len(cases):
            cases = [cases[i] for i in sorted(self.plan.rng.sample(range(len(cases)), most))]
        self.counts["opened"] += len(cases)
        faults = []
        for each in [pool.submit(self.reopen, l, life, f"life {life}, {what}") for what, l in cases]:
            try:
                each.result()
            except Wrong as wrong:
                faults.append(str(wrong))
        return faults, disk.after(replay.Killed)

    def open_all(self, pool, most):
        self.undisturbed()
        left, faults = self.plan.start(), []
        for life in range(self.plan.lives):
            found, left = self.open_life(pool, most, left, life)
            faults += found
        return faults


def open_runs(build, kind, seeds, say, most=0, jobs=2, small=False, canary=None):
    """Returns the faults, and counts of runs, moments and restarts. `most`: for each life."""
    recorder = os.path.join(build, "tests", "torn", "torn_record.so")
    total, faults = collections.Counter(), []
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    where = tempfile.mkdtemp(prefix="samepage-torn-", dir=shm)
    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for seed in seeds:
                plan = PLANS[kind](seed, small, build)
                run = Run(recorder, plan, where, canary)
                try:
                    found = run.open_all(pool, most)
                except Wrong as wrong:
                    found = [str(wrong)]
                total += run.counts + collections.Counter(runs=1, wrong=len(found))
                faults += [f"{plan}: {f}" for f in found]
                say(f"{plan}: {run.counts['moments']} moments, {run.counts['opened']} opened, {len(found)} wrong")
    finally:
        shutil.rmtree(where, ignore_errors=True)
    return faults, total
