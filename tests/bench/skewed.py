"""The figures skew_* of tools/bench: skewed crawls beside crawls of unlike pages, and templated texts.

A crawl of each kind of `samepage synth --skew` is run right after one of as many unlike pages of as many words, so that
both see the same load. A run that exceeds the limit is stopped; the newest version among the last statuses shows how far it
came. Larger crawls of that kind are then skipped.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(ROOT, "..", "shared", "peers")
FIRST_FETCH_MS, STEP_MS = 1700000000000, 1000  # options of synth
TARGET = 0.5  # relative to the speed with unlike pages
CANDIDATES = 20  # in a probe of templated texts
TEXT_ROWS = [5000, 10000, 20000, 40000]

# Figure: kind, whether all its fetches are one family, and a description.
KINDS = {
    "same": ("same", False, "one text at any number of URLs"),
    "near_words": ("near-words", False, "near copies with 3 of 300 words replaced"),
    "near_url": ("near-url", False, "near copies with their URL or number in the text"),
    "near_percent": ("near-percent", False, "near copies with each word replaced by a chance of 1 %"),
    "chainlike": ("chainlike", False, "each page similar to the one before"),
    "template": ("template", False, "pages with similarities of 0.30 to 0.79"),
    "zipf": ("zipf", False, "groups of Zipf's sizes"),
    "reverse": ("outrank-same", False, "equal pages, each ranked before all that came before"),
    "reverse_near": ("outrank-near", False, "near pages, each ranked before all that came before"),
    "die_newest": ("die-newest", False, "pages become one error page, newest first"),
    "die_oldest": ("die-oldest", False, "pages become one error page, oldest first"),
    "random": ("die-random", False, "pages become one error page, in random order"),
    "recover": ("recover", False, "pages of an error group get texts of their own"),
    "flap_loser": ("flap-loser", False, "the last of a group leaves and comes back"),
    "flap_winner": ("flap-winner", False, "the winner of a group leaves and comes back"),
    "flap_unchanged": ("flap-unchanged", False, "the winner of a group is fetched again and again"),
    "redirects": ("redirects", False, "chains of 2 to 90 redirects in all orders"),
    "redirects_after": ("redirects-after", True, "one chain, each crawled after its target"),
    "redirects_before": ("redirects-before", True, "one chain, each crawled before its target"),
    "redirects_random": ("redirects-random", True, "one chain, in random order"),
    "loops": ("redirects-loop", True, "one loop, in random order"),
    "future": ("future", False, "a fetch of the far future, then one of the present"),
    "two_parts": ("two-parts", False, "pages edited in one of two places"),
    "growing": ("growing", False, "snapshots of a text that grows, up to 2,000 words"),
    "changing": ("changing", False, "pages that all change in each crawl and resemble a part of the others"),
    "mix": ("mix", False, "the default mix of all kinds"),
}


class Options:
    """The command-line options of tools/bench."""

    pages = [20000]
    limit = 120
    peer = None


options = Options()


def add_arguments(parser):
    parser.add_argument("--skew-pages", metavar="N,N", default="20000",
                        help="fetches of the crawls of skew_*, ascending: 20000 by default")
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=Options.limit,
                        help="of each run of skew_*, after which it is stopped: 120 by default")
    parser.add_argument("--peer", metavar="COMMAND",
                        help="of skew_texts: called with a file of texts and one for the pairs it finds")


def take_arguments(parser, args):
    try:
        options.pages = sorted(int(n) for n in args.skew_pages.split(","))
    except ValueError:
        parser.error("--skew-pages takes numbers with commas between them")
    if not options.pages or options.pages[0] < 100:
        parser.error("--skew-pages: at least 100 each")
    options.limit, options.peer = args.limit, args.peer


# ---- one run ----


def run_limited(argv, log):
    """Runs argv until it ends or reaches the limit. Returns whether it ended by itself, its exit code, seconds and
    resources."""
    start = time.monotonic()
    with open(log, "wb") as err:
        process = subprocess.Popen(argv, stdout=err, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT)
    ended = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            ended = True
            break
        if time.monotonic() - start > options.limit:
            process.kill()
            _, status, usage = os.wait4(process.pid, 0)
            break
        time.sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(status)
    return ended, process.returncode, time.monotonic() - start, usage


def newest_version(statuses):
    """The newest version among the last events written: about the number of fetches handled."""
    with open(statuses, "rb") as f:
        f.seek(max(0, os.path.getsize(statuses) - (64 << 20)))
        versions = re.findall(rb'"version_ms":(\d+)', f.read())
    newest = max(map(int, versions), default=FIRST_FETCH_MS - STEP_MS)
    return (newest - FIRST_FETCH_MS) // STEP_MS + 1


def run(bench, work, crawl, *more):
    """`samepage run` with a state on disk, within the limit."""
    state, statuses, summary = (os.path.join(work, name) for name in ("state", "status", "summary"))
    shutil.rmtree(state, ignore_errors=True)
    for name in (statuses, summary):
        if os.path.exists(name):
            os.remove(name)
    argv = [bench.SAMEPAGE, "run", "--quiet", "--state", state, "--output", statuses, "--summary",
            summary, *more, crawl]
    log = os.path.join(work, "log")
    ended, code, seconds, usage = run_limited(argv, log)
    if ended and code != 0:
        with open(log, encoding="utf-8", errors="replace") as f:
            raise bench.Failed(f"{shlex.join(argv)}: exit code {code}\n{f.read()[-2000:]}")
    result = {"finished": ended, "seconds": seconds, "peak_memory_bytes": usage.ru_maxrss * 1024,
              "cpu_seconds": usage.ru_utime + usage.ru_stime}
    if ended:
        with open(summary, encoding="utf-8") as f:
            result.update(json.load(f))
    else:
        result["records"] = newest_version(statuses)
    shutil.rmtree(state, ignore_errors=True)
    os.remove(statuses)
    return result


# ---- crawls ----


def make(bench, work, kind, pages, family):
    crawl = os.path.join(work, "crawl.jsonl")
    more = ["--family", str(pages)] if family else []
    bench.command([bench.SAMEPAGE, "synth", "--pages", str(pages), "--skew", kind, *more, "--output", crawl])
    return crawl


def counters(result):
    """Counters divided by the fetches, and those that are not sums."""
    n = max(1, result["records"])
    sums = {
        "messages": result["messages"],
        "events": result["events"],
        "comparisons": result["candidates"] + result["compared"],
        "candidates": result["candidates"],
        "matches": result["matches"],
        "edges_sent": result["edges_sent"],
        "members_sent": result["members_sent"],
        "rows_written": result["rows_put"] + result["rows_deleted"],
        "bytes_written": result["bytes_written"],
    }
    kinds = {kind: round(count / n, 2) for kind, count in result["messages_by_kind"].items() if count}
    return {"a_fetch": {name: round(count / n, 2) for name, count in sums.items()},
            "messages_a_fetch_by_kind": kinds, "largest_message": result["largest_message"],
            "groups": result["groups"], "losers": result["losers"]}


def speed(result, seconds="seconds"):
    return result["records"] / max(result[seconds], 1e-9)


def row(bench, name, pages, skewed, unlike):
    """A row of the report, with the speed relative to unlike pages."""
    ratio = speed(skewed) / speed(unlike)
    details = {
        "pages_per_s": round(speed(skewed)),
        "pages_per_s_of_unlike": round(speed(unlike)),
        "ratio_by_cpu": round(speed(skewed, "cpu_seconds") / speed(unlike, "cpu_seconds"), 4),
        "seconds": round(skewed["seconds"], 1),
        "peak_memory_bytes": skewed["peak_memory_bytes"],
        "peak_memory_bytes_of_unlike": unlike["peak_memory_bytes"],
    }
    if skewed["finished"]:
        details.update(counters(skewed))
    found = bench.at_least(f"{name}.{pages}", ratio, TARGET, "of unlike pages' speed", details, 3)
    if not skewed["finished"]:
        found["ok"] = False
        found["measured"] = (f"not finished: {skewed['records']:,} of {pages:,} in {skewed['seconds']:.0f} s")
    return found


def skewed_figure(bench, figure):
    kind, family, what = KINDS[figure]

    def measure(name, work):
        for pages in options.pages:
            unlike = run(bench, work, make(bench, work, "unlike", pages, False))
            if not unlike["finished"]:
                raise bench.Skipped(f"{pages:,} unlike pages take longer than --limit {options.limit:g}")
            skewed = run(bench, work, make(bench, work, kind, pages, family))
            yield row(bench, name, pages, skewed, unlike)
            if not skewed["finished"]:
                return

    measure.__doc__ = f"run on a skewed crawl beside unlike pages: {what}"
    return measure


# ---- templated texts ----


def texts_of(bench, source, rows):
    """The last version of each page of a trace, as plain text."""
    maker = os.path.join(PEERS, "make_texts.py")
    trace = os.path.join(bench.DATA, f"trace-{source}", f"trace-{source}.jsonl.zst")
    for needed in maker, trace:
        if not os.path.exists(needed):
            raise bench.Skipped(f"no {os.path.relpath(needed, ROOT)}")
    made = os.path.join(bench.CACHE, f"texts-{source}-{rows}.jsonl")
    if not os.path.exists(made):
        os.makedirs(bench.CACHE, exist_ok=True)
        bench.command([sys.executable, maker, trace, str(rows), made + ".part"])
        os.replace(made + ".part", made)
    return made


def head(path, rows, to):
    count = 0
    with open(path, "rb") as lines, open(to, "wb") as out:
        for count, line in enumerate(lines, 1):
            out.write(line)
            if count == rows:
                break
    return count


def timed(bench, argv, work):
    """Texts a second of a command, or None if it did not finish."""
    ended, code, seconds, _ = run_limited(argv, os.path.join(work, "log"))
    if ended and code != 0:
        with open(os.path.join(work, "log"), encoding="utf-8", errors="replace") as f:
            raise bench.Failed(f"{shlex.join(argv)}: exit code {code}\n{f.read()[-2000:]}")
    return seconds if ended else None


def texts_figure(bench, source):
    def measure(name, work):
        texts, pairs = (os.path.join(work, file) for file in ("texts.jsonl", "pairs.jsonl"))
        whole = texts_of(bench, source, TEXT_ROWS[-1])
        before = 0
        for wanted in TEXT_ROWS:
            rows = head(whole, wanted, texts)
            if rows == before:
                return
            before = rows
            result = run(bench, work, texts, "--set", "text.scope=all")
            if not result["finished"]:
                yield {**bench.below(f"{name}.{rows}", 0, CANDIDATES, "candidates a probe", {}), "ok": False,
                       "measured": f"not finished in {result['seconds']:.0f} s"}
                return
            probes = max(1, result["probes"])
            commands = {"pairs": [bench.SAMEPAGE, "pairs", "-q", "--set", "text.scope=all", "-o", pairs, texts]}
            if options.peer:
                commands["peer"] = [*shlex.split(options.peer), texts, pairs]
            details = {"matches_a_probe": round(result["matches"] / probes, 2),
                       "run_texts_per_s": round(speed(result)), **counters(result)}
            for what, argv in commands.items():
                seconds = timed(bench, argv, work)
                details[f"{what}_texts_per_s"] = round(rows / seconds) if seconds else "not finished"
            yield bench.below(f"{name}.{rows}", result["candidates"] / probes, CANDIDATES, "candidates a probe",
                              details, 1)

    measure.__doc__ = f"run and pairs on 5 to 40 thousand texts of the {source} trace: candidates a probe"
    return measure


def figures(bench):
    """All figures by name; `bench` is the module of tools/bench."""
    found = {f"skew_{figure}": skewed_figure(bench, figure) for figure in KINDS}
    for source in "kafka-site", "httpd":
        found["skew_texts_" + source.replace("-", "_")] = texts_figure(bench, source)
    return found
