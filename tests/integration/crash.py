"""After kill -9 at any moment, running again gives the result of an undisturbed run."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from harness import FEW, Skip, check, check_equal, check_in, groups, latest, main, statuses, until

# Under a sanitizer, which is after code and not after moments, FEW: two runs that are killed, one by each way of
# waiting, and fewer kills of each.
MOST_KILLS = 8 if FEW else 25
PAGES = 3000  # of a crawl that is killed: its output has many blocks, and its run 30 barriers or more


def with_broken_lines(work, name):
    """After every 97th line of the crawl inserts one that cannot be read."""
    lines = []
    for number, line in enumerate(work.read(name).splitlines(keepends=True)):
        lines.append(line)
        if number % 97 == 0:
            lines.append(b'{"url":"https://broken-%d.example/", \n' % number)
    return work.write("broken-" + name, b"".join(lines))


def arguments(tag, barrier, *more):
    return ["run", "-q", "--state", f"{tag}.state", "-o", f"{tag}.out", "--dead-letter",
            f"{tag}.dead", "--groups", f"{tag}.groups", "--set", f"barrier.pages={barrier}", *more]


def size(work, name):
    return os.path.getsize(work.path(name)) if work.exists(name) else 0


def kill(process):
    """Sends SIGKILL; returns True unless the process had already ended by itself."""
    process.send_signal(signal.SIGKILL)
    code = process.wait()
    check(code in (0, -signal.SIGKILL), "exit code", code)
    return code != 0


def after_a_while(work, rng, process, seconds):
    del work
    try:
        process.wait(rng.uniform(0, seconds))
    except subprocess.TimeoutExpired:
        pass


def after_some_output(work, rng, process, tag, total):
    """Waits until the output has grown by up to a sixth of its final size."""
    wanted = size(work, f"{tag}.out") + rng.randrange(1 + total // 6)
    until(lambda: process.poll() is not None or size(work, f"{tag}.out") >= wanted,
          "more output", pause=0.0002)


def run_with_kills(work, rng, tag, args, wait):
    """Starts and kills until a run ends normally; returns the number of kills."""
    kills = 0
    while kills < MOST_KILLS:
        process = work.start(*args)
        wait(process)
        if not kill(process):
            print(f"{kills} kills")
            return kills
        kills += 1
        if work.exists(f"{tag}.groups"):  # killed while it was ending
            check_equal(work.read(f"{tag}.groups"), work.read("calm.groups"), "incomplete groups")
    work.run(*args)
    return kills


def check_same(work, a, b, what):
    check_equal(work.read(f"{a}.groups"), work.read(f"{b}.groups"), f"{what}: groups")
    one, other = work.read(f"{a}.out"), work.read(f"{b}.out")
    if one != other:  # a wrong status says more than the first line that differs
        check_equal(latest(one), latest(other), f"{what}: latest statuses")
        check_equal(one, other, f"{what}: output")
    check_equal(work.read(f"{a}.dead"), work.read(f"{b}.dead"), f"{what}: dead letters")


def undisturbed(work, barrier, *inputs, tag="calm"):
    start = time.monotonic()
    work.run(*arguments(tag, barrier, *inputs))
    seconds = time.monotonic() - start
    check(size(work, f"{tag}.out") > 100_000, "the crawl says too little to test anything")
    return seconds


def few_of(seeds):
    return seeds[:2] if FEW else seeds


def kill_often(work, barrier, inputs, seeds):
    seeds = few_of(seeds)
    seconds = undisturbed(work, barrier, *inputs)
    total = size(work, "calm.out")
    kills = 0
    for seed in seeds:
        tag = f"killed-{seed}"
        rng = random.Random(seed)
        if seed % 2:
            def wait(process):
                after_a_while(work, rng, process, seconds)
        else:
            def wait(process):
                after_some_output(work, rng, process, tag, total)
        kills += run_with_kills(work, rng, tag, arguments(tag, barrier, *inputs), wait)
        check_same(work, "calm", tag, f"seed {seed}, {kills} kills")
        # A run without new input changes nothing.
        work.run(*arguments(tag, barrier, *inputs))
        check_same(work, "calm", tag, f"seed {seed}, run once more")
    print(f"{kills} kills")
    check(kills >= len(seeds), "only", kills, "kills: the test tests little")


def a_killed_run_ends_as_an_undisturbed_one(work):
    crawl = with_broken_lines(work, work.crawl(pages=PAGES))
    kill_often(work, PAGES // 30, [crawl], range(6))
    # The number of barriers does not change the results.
    work.run("run", "-q", "-o", "memory.out", "--dead-letter", "memory.dead", "--groups",
             "memory.groups", crawl)
    check_same(work, "calm", "memory", "state in memory")


def a_run_killed_between_odd_barriers_ends_as_an_undisturbed_one(work):
    kill_often(work, 19, [with_broken_lines(work, work.crawl(pages=PAGES, seed=2))], range(10, 14))


def a_run_killed_at_barriers_of_single_pages_ends_as_an_undisturbed_one(work):
    kill_often(work, 1, [with_broken_lines(work, work.crawl(pages=1500, seed=3))], range(20, 24))


def a_run_killed_before_its_first_barrier_leaves_nothing_behind(work):
    """The output exceeds its buffer, and no barrier comes before the end."""
    crawl = with_broken_lines(work, work.crawl(seed=4))
    kill_often(work, 1_000_000, [crawl], range(30, 33))


def killed_runs_over_several_compressed_inputs_end_as_undisturbed_ones(work):
    lines = work.read(work.crawl(pages=PAGES, seed=5)).splitlines(keepends=True)
    third = len(lines) // 3
    work.write("a.jsonl", b"".join(lines[:third]))
    work.write("b.jsonl", b"".join(lines[third:2 * third]))
    work.write("c.jsonl", b"".join(lines[2 * third:]))
    inputs = [work.gzip(with_broken_lines(work, "a.jsonl")),
              work.zstd(with_broken_lines(work, "b.jsonl")), "c.jsonl"]
    kill_often(work, PAGES // 30, inputs, range(40, 44))
    work.run(*arguments("plain", PAGES // 30, "broken-a.jsonl", "broken-b.jsonl", "c.jsonl"))
    for name in "groups", "out":
        check_equal(work.read(f"calm.{name}"), work.read(f"plain.{name}"), f"compressed: {name}")


def kill_skewed(work, kind, seeds, pages=2000, family=600):
    """Rounds that publish the statuses of a large group continue where they were."""
    work.run("synth", "--pages", str(pages), "--skew", kind, "--words", "100", "--family", str(family), "-o", "skewed")
    kill_often(work, 41, ["skewed"], seeds)
    work.run("run", "-q", "-o", "memory.out", "--dead-letter", "memory.dead", "--groups",
             "memory.groups", "skewed")
    check_same(work, "calm", "memory", "state in memory")


def a_killed_run_ends_as_an_undisturbed_one_where_a_winner_flaps(work):
    kill_skewed(work, "flap-winner", range(50, 52))


def a_killed_run_ends_as_an_undisturbed_one_where_each_page_outranks_the_last(work):
    kill_skewed(work, "same=1,outrank=9", range(52, 54))


# Which contents are decided is lost with the process; the published statuses must not depend on it.
def a_killed_run_ends_as_an_undisturbed_one_where_there_are_many_winners(work):
    kill_skewed(work, "near-percent", range(54, 56))


def a_killed_run_ends_as_an_undisturbed_one_where_near_copies_outrank_each_other(work):
    kill_skewed(work, "outrank-near", range(56, 58))


# The index of a group's contents is lost with the process as well. It is made in parts if these are more than 1,024, and
# until then nobody knows whether the group is still connected.
def a_killed_run_ends_as_an_undisturbed_one_where_large_groups_split(work):
    kill_skewed(work, "changing", range(60, 61), pages=4800, family=1200)


def a_killed_run_ends_as_an_undisturbed_one_in_a_mixed_crawl(work):
    kill_skewed(work, "chainlike=40,recover=20,flap=20,near-percent=20", range(58, 60))


def feed(process, data):
    try:
        process.stdin.write(data)
        process.stdin.flush()
    except BrokenPipeError:
        pass


def a_killed_run_over_standard_input_goes_on_when_the_stream_is_piped_again(work):
    data = work.read(with_broken_lines(work, work.crawl(seed=6)))
    with open(work.path("broken-crawl.jsonl"), "rb") as stream:
        work.start(*arguments("calm", 200, "-"), stdin=stream).wait()
    kills = 0
    for seed in range(50, 53):
        rng = random.Random(seed)
        tag = f"killed-{seed}"
        given = 0
        while given < len(data):
            # The stream stops here, and then the process is killed.
            given = min(len(data), given + rng.randrange(len(data) // 5))
            process = work.start(*arguments(tag, 200, "-"), stdin=subprocess.PIPE)
            feed(process, data[:given])
            after_a_while(work, rng, process, 0.1)
            kills += kill(process)
            process.stdin.close()
        work.run(*arguments(tag, 200, "-"), stdin=data)
        check_same(work, "calm", tag, f"seed {seed}")
    check(kills >= 10, "only", kills, "kills")
    # Piped again after its end, it counts as a new stream of known fetches.
    work.run(*arguments("killed-50", 200, "-"), stdin=data)
    check_equal(work.read("calm.groups"), work.read("killed-50.groups"), "the same stream again")
    check_equal(statuses(work.read("calm.out")), statuses(work.read("killed-50.out")),
                "the same stream again: statuses")


def halves(work, seed):
    lines = work.read(work.crawl(seed=seed)).splitlines(keepends=True)
    middle = len(lines) // 2
    first, second = b"".join(lines[:middle]), b"".join(lines[middle:])
    work.write("first.jsonl", first)
    work.write("second.jsonl", second)
    return first, second


def a_second_run_continues_where_the_first_ended(work):
    halves(work, 7)
    undisturbed(work, 200, "crawl.jsonl")
    # Everything in one run, from two files.
    work.run(*arguments("both", 200, "first.jsonl", "second.jsonl"))
    check_same(work, "calm", "both", "two files")
    # One file after the other, and the second call names both; the barriers may differ between runs.
    for tag, again in ("next", []), ("again", ["first.jsonl"]):
        work.run(*arguments(tag, 200, "first.jsonl"))
        check(groups(work.read(f"{tag}.groups")) != groups(work.read("calm.groups")),
              "half of the crawl has the groups of the whole: this tests nothing")
        work.run(*arguments(tag, 37, *again, "second.jsonl"))
        check_same(work, "calm", tag, tag)


def a_file_that_grew_is_continued(work):
    first, second = halves(work, 8)
    undisturbed(work, 200, "crawl.jsonl")
    for pieces in 2, 5:
        tag = f"grown-{pieces}"
        data = first + second
        work.write(f"{tag}.jsonl", b"")
        work.run(*arguments(tag, 200, f"{tag}.jsonl"))
        ends = [data.find(b"\n", len(data) * k // pieces - 2) + 1 for k in range(1, pieces + 1)]
        for end in ends:
            work.write(f"{tag}.jsonl", data[:end])
            work.run(*arguments(tag, 200, f"{tag}.jsonl", "--summary", "summary"))
        check_same(work, "calm", tag, tag)
        check(work.json_lines("summary")[0]["skipped"] > 0, "nothing was skipped")


def a_line_that_was_half_written_is_read_once_it_is_whole(work):
    first, second = halves(work, 8)
    undisturbed(work, 200, "crawl.jsonl")
    args = arguments("half", 200, "half.jsonl", "--dead-letter", "half.dead")
    data = first + second
    for end in len(first) + 100, len(first) + len(second) // 2, len(data) - 1, len(data):
        work.write("half.jsonl", data[:end])
        work.run(*args)
    check_equal(work.read("calm.groups"), work.read("half.groups"), "groups")
    check_equal(work.read("calm.out"), work.read("half.out"), "output")
    check_equal(len(work.json_lines("half.dead")), 2, "dead letters, one for each half line")


def an_allocation_that_fails_ends_the_run_and_loses_nothing(work):
    crawl = work.crawl(pages=1500, seed=4)
    undisturbed(work, 50, crawl)
    rng = random.Random(4)
    failures = 0
    for round in range(10):
        tag = f"short-{round}"
        args = arguments(tag, 50, crawl, "--set", "threads=1")
        # From the first allocations of the run to the last ones.
        for calls in [round, *(int(10 ** rng.uniform(1, 6)) for _ in range(3))]:
            done = work.start(*args, stderr=subprocess.PIPE,
                              env=dict(os.environ, SAMEPAGE_TEST_FAIL_ALLOCATION=str(calls)))
            message = done.communicate()[1]
            if done.returncode == 0:
                continue
            failures += 1
            check_equal(done.returncode, 1, f"failing after {calls} allocations")
            check_in("out of memory", message.decode())
        work.run(*args)
        check_same(work, "calm", tag, f"round {round}")
    check(failures > 20, "only", failures, "failures")


def a_file_that_grew_is_continued_also_after_kills(work):
    first, second = halves(work, 9)
    seconds = undisturbed(work, 200, "crawl.jsonl")
    rng = random.Random(9)
    args = arguments("grown", 200, "grown.jsonl")
    for data in first, first + second:
        work.write("grown.jsonl", data)
        for _ in range(3):
            process = work.start(*args)
            after_a_while(work, rng, process, seconds / 2)
            kill(process)
    work.run(*args)
    check_same(work, "calm", "grown", "grown")


def many_inputs_cost_no_more_each_than_few(work):
    """Each commit writes the position in every input, so not every input can have a commit."""
    def bytes_written(count):
        for n in range(count):
            work.write(f"{n:05}.jsonl", json.dumps({"url": f"http://h{n}.example/", "content": f"words of page {n}"}) + "\n")
        names = [f"{n:05}.jsonl" for n in range(count)]
        work.run("run", "-q", "--state", f"state{count}", "-o", f"out{count}", "--summary", "summary", *names)
        check_equal(len(work.json_lines(f"out{count}")), count, "pages")
        again = work.run("run", "-q", "--state", f"state{count}", "-o", f"out{count}", "--summary", "again", *names)
        check_equal(work.json_lines("again")[0]["skipped"], count, "inputs that are known")
        return work.json_lines("summary")[0]["bytes_written"] / count

    few, many = bytes_written(300), bytes_written(1200)
    check(many < 1.7 * few, f"{few:.0f} bytes an input for 300 of them, {many:.0f} for 1,200")


def a_file_that_was_replaced_is_read_from_its_start(work):
    first, second = halves(work, 10)
    undisturbed(work, 200, "crawl.jsonl")
    for data in first, second:
        work.write("replaced.jsonl", data)
        work.run(*arguments("replaced", 200, "replaced.jsonl"))
    check_same(work, "calm", "replaced", "replaced")


def an_output_that_was_there_before_is_appended_to(work):
    crawl = work.crawl(seed=11)
    seconds = undisturbed(work, 200, crawl)
    before = b'{"url":"https://before.example/"}\n' * 5000
    rng = random.Random(11)
    for barrier in 200, 1_000_000:
        tag = f"old-{barrier}"
        work.write(f"{tag}.out", before)
        run_with_kills(work, rng, tag, arguments(tag, barrier, crawl),
                       lambda process: after_a_while(work, rng, process, seconds * 1.5))
        check_equal(work.read(f"{tag}.out"), before + work.read("calm.out"), "output")


def an_output_of_another_name_starts_where_the_state_is(work):
    """The output is changed between two runs, one of them killed: the new file has no event twice."""
    halves(work, 12)
    seconds = undisturbed(work, 200, "crawl.jsonl")
    args = arguments("other", 1_000_000)
    work.run(*args, "first.jsonl")
    early = work.read("other.out")
    rng = random.Random(12)
    args[args.index("other.out")] = "late.out"
    for _ in range(6):
        process = work.start(*args, "first.jsonl", "second.jsonl")
        after_a_while(work, rng, process, seconds)
        kill(process)
    work.run(*args, "first.jsonl", "second.jsonl")
    check_equal(early, work.read("other.out"), "the first file")
    check_equal(work.read("calm.out"), early + work.read("late.out"), "both files")



def lose_power(work, log, *files):
    """Cuts each file to its synced part. Writes that were not synced may reach the disk in any order; RocksDB's newest
    write-ahead log is left whole."""
    synced = dict(map(int, line.split()) for line in work.read(log).split(b"\n") if line)
    logs = sorted(n for _, _, names in os.walk(work.path(files[0])) for n in names
                  if n.endswith(".log"))
    for name in files:
        inside = [os.path.join(f, n) for f, _, names in os.walk(work.path(name)) for n in names]
        for path in inside or [work.path(name)]:
            st = os.stat(path)
            if path.endswith(("LOCK", "LOG")) or os.path.basename(path) in logs[-1:]:
                continue
            if synced.get(st.st_ino, 0) < st.st_size:
                os.truncate(path, synced.get(st.st_ino, 0))


def a_run_whose_machine_lost_power_goes_on(work):
    library = os.path.join(os.path.dirname(work.program), "tests", "integration", "synced.so")
    crawl = with_broken_lines(work, work.crawl(pages=8000))
    common = ["--set", "store.memtable_bytes=1MiB", crawl]
    undisturbed(work, 200, *common)
    total = size(work, "calm.out")
    log = ["--set", "store.write_ahead_log=on"]
    for number, more in enumerate(([], ["--set", "threads=1"], log, [*log, "--set", "threads=1"])):
        tag = f"power{number}"
        rng = random.Random(number)
        args = arguments(tag, 200, *more, *common)
        env = {**os.environ, "LD_PRELOAD": library, "SYNCED_LOG": work.path(f"{tag}.log"),
               "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        losses = 0
        for _ in range(2 if FEW else 6):
            process = work.start(*args, env=env)
            after_some_output(work, rng, process, tag, total)
            if not kill(process):
                break
            losses += 1
            if work.exists(f"{tag}.log"):
                lose_power(work, f"{tag}.log", f"{tag}.state", f"{tag}.out", f"{tag}.dead")
        check(losses > 0, "the run ended before power was lost")
        work.run(*args)
        check_same(work, tag, "calm", f"after {losses} losses of power")


def on_a_small_disk(work, name, megabytes):
    """Mounts a file system of that size; skips the test if mounting is not allowed."""
    where = work.path(name)
    os.makedirs(where)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "none", where],
                          check=False, capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"a small file system cannot be mounted: {done.stderr.strip()}")
    return where


def a_full_disk_ends_a_run_and_the_next_one_goes_on(work):
    """Debian's RocksDB may abort when it cannot write, above all with a write-ahead log. With each size the disk is
    full at another moment."""
    crawl = with_broken_lines(work, work.crawl(pages=8000))
    common = ["--set", "store.memtable_bytes=1MiB", crawl]
    undisturbed(work, 200, *common)
    log = ["--set", "store.write_ahead_log=on"]
    sizes = [(n, log) for n in (4, 5, 6, 8, 11)] + [(n, []) for n in (4, 7, 10)]
    for megabytes, more in sizes[::4] + sizes[-1:] if FEW else sizes:
        tag = f"full{megabytes}{len(more)}"
        where = on_a_small_disk(work, f"{tag}.state", megabytes)
        try:
            args = arguments(tag, 200, *more, *common)
            for _ in range(2):  # the second run finds it full
                done = work.run(*args, code=1)
                check_in("No space left on device", done.err)
                check_in("free some space and run again", done.err)
            subprocess.run(["mount", "-o", "remount,size=500m", where], check=True)
            work.run(*args)
            check_same(work, tag, "calm", f"disk of {megabytes} MB {more}")
        finally:
            subprocess.run(["umount", where], check=True)


def newest(where, ending):
    names = sorted(n for n in os.listdir(where) if n.startswith(ending) or n.endswith(ending))
    check(names, f"there is no {ending} in {where}")
    return os.path.join(where, names[-1])


def cut(path, share):
    os.truncate(path, int(os.path.getsize(path) * share))


def a_state_that_was_put_back_or_damaged_is_refused_and_nothing_is_written(work):
    halves(work, 13)
    args = arguments("old", 200)
    work.run(*args, "first.jsonl")
    shutil.copytree(work.path("old.state"), work.path("early"))
    work.run(*args, "first.jsonl", "second.jsonl")
    whole = work.read("old.out")
    page = json.loads(work.read("first.jsonl").splitlines()[0])["url"]
    work.run("forget", "-q", "--state", "old.state", "-o", "old.out", page)  # merges files: then there are blob files
    shutil.copytree(work.path("old.state"), work.path("late"))
    output = work.read("old.out")
    database = os.path.join(work.path("old.state"), "rocksdb")

    def replace_database():
        shutil.rmtree(database)
        shutil.copytree(os.path.join(work.path("early"), "rocksdb"), database)

    cases = [
        ("an older database", replace_database, "is older than it was"),
        ("no database", lambda: shutil.rmtree(database), "is older than it was"),
        ("no CURRENT", lambda: os.unlink(os.path.join(database, "CURRENT")), "rocksdb/CURRENT is missing"),
        ("an empty CURRENT", lambda: cut(os.path.join(database, "CURRENT"), 0), "RocksDB: Corruption"),
        ("half a MANIFEST", lambda: cut(newest(database, "MANIFEST"), 0.5), None),
        ("an empty MANIFEST", lambda: cut(newest(database, "MANIFEST"), 0), None),
        ("a table that was cut", lambda: cut(newest(database, ".sst"), 0.5), "RocksDB: Corruption"),
        ("no table", lambda: os.unlink(newest(database, ".sst")), "RocksDB: "),
        ("a blob file that was cut", lambda: cut(newest(database, ".blob"), 0.2), "RocksDB: Corruption"),
        ("an empty BARRIER", lambda: cut(work.path("old.state/BARRIER"), 0), "BARRIER cannot be read"),
    ]
    for what, damage, wanted in cases:
        damage()
        done = work.run(*args, "first.jsonl", "second.jsonl", "crawl.jsonl", code=1)
        check(wanted is None or wanted in done.err, f"{what}: {done.err}")
        check("estore" in done.err and "copy" in done.err, f"{what}: {done.err}")
        check_equal(work.read("old.out"), output, f"{what}: output")
        check(what != "no CURRENT" or not os.path.exists(os.path.join(database, "CURRENT")), "an empty database was begun")
        shutil.rmtree(work.path("old.state"))  # the whole directory, from one copy
        shutil.copytree(work.path("late"), work.path("old.state"))
    work.run(*args, "first.jsonl", "second.jsonl")
    check_equal(work.read("old.out"), output, "nothing new")
    # What the message offers: continue from the older state.
    replace_database()
    os.unlink(work.path("old.state/BARRIER"))
    work.run(*args, "first.jsonl", "second.jsonl")
    check_equal(work.read("old.out"), whole, "on from the older state")


if __name__ == "__main__":
    main(__name__)
