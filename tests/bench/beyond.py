"""Benchmarks beyond grouping, for tools/bench: containment, predictions, the audit.

`figures` gives the figures by name; `bench` is tools/bench as a module.
"""

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import visitors

CONTAIN = ["--set", "containment.threshold=0.9"]
TEMPLATE_PAGES = 20_000
MANUALS = 80
AUDIT_PAGES, WATCH_PAGES = 4_000, 40_000
PASSES = 3
PEERS = ["w3lib", "courlan"]  # of predictions


def user_seconds(bench, argv):
    """The least processor time of several runs, and the last summary."""
    summary = argv[argv.index("--summary") + 1]
    best = min(bench.command(argv)[2] for _ in range(PASSES))
    with open(summary, encoding="utf-8") as file:
        return best, json.load(file)


def containment_cost(bench, name, work, crawl):
    """Rows: the cost of containment relative to the rest of a run, and the differences from its definition."""
    argv = [bench.SAMEPAGE, "run", "-q", "--set", "threads=1", "-o", os.path.join(work, "out"), "--summary",
            os.path.join(work, "summary")]
    rest, _ = user_seconds(bench, [*argv, crawl])
    whole, counts = user_seconds(bench, [*argv, *CONTAIN, crawl])
    details = {"records": counts["records"], "cpu_seconds_without": round(rest, 2), "cpu_seconds": round(whole, 2),
               **{key: value for key, value in counts.items() if key.startswith("contain")}}
    yield bench.below(f"{name}.cost", (whole - rest) / rest, 1.5, "of the rest", details, 2)
    bench.command([*argv, *CONTAIN, "--verify", crawl], good=(0, 1))
    with open(os.path.join(work, "summary"), encoding="utf-8") as file:
        found = json.load(file)["differences"]
    yield bench.none(f"{name}.verify", "differences from the definition", found, {})


def containment_template(bench):
    def figure(name, work):
        """contained pages of a site with one template: cost beside the rest of a run, and --verify"""
        crawl = os.path.join(work, "crawl")
        bench.command([bench.SAMEPAGE, "synth", "--pages", str(TEMPLATE_PAGES), "--skew", "template", "-o", crawl])
        yield from containment_cost(bench, name, work, crawl)

    return figure


def containment_trace(bench, source):
    def figure(name, work):
        yield from containment_cost(bench, name, work, bench.trace(source))

    figure.__doc__ = f"contained pages of the {source} trace: cost beside the rest of a run, and --verify"
    return figure


def write_manuals(path):
    """Manuals on one page, their chapters and their sections, each page with a line of its own."""
    rng = random.Random(3)
    with open(path, "w", encoding="utf-8") as out:
        for manual in range(MANUALS):
            parts = []
            for chapter in range(4):
                sections = [" ".join(f"w{rng.randrange(30000)}" for _ in range(rng.randrange(60, 200))) for _ in range(3)]
                parts.append(" ".join(sections))
                for number, text in enumerate(sections):
                    out.write(json.dumps({"url": f"http://m{manual}.example/{chapter}/{number}",
                                          "content": f"{text} section{manual}x{chapter}x{number}"}) + "\n")
                out.write(json.dumps({"url": f"http://m{manual}.example/{chapter}",
                                      "content": f"{parts[-1]} chapter{manual}x{chapter}"}) + "\n")
            out.write(json.dumps({"url": f"http://m{manual}.example/", "content": " ".join(parts)}) + "\n")


def python_with(bench, modules, *packages):
    """A Python that has the modules, from PyPI; None if they cannot be had."""
    folder = os.path.join(bench.ROOT, "build", "bench-python")
    python = os.path.join(folder, "bin", "python")
    if os.path.exists(python) and subprocess.run([python, "-c", "import " + modules], check=False,
                                                 stderr=subprocess.DEVNULL).returncode == 0:
        return python
    for command in ([sys.executable, "-m", "venv", folder],
                    [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", *packages]):
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return None
    return python


def containment_ensemble(bench):
    def figure(name, work):
        """contained pages of made-up manuals: found, and in what time beside datasketch's LSHEnsemble"""
        python = python_with(bench, "datasketch", "datasketch==2.0.0")
        if not python:
            raise bench.Skipped("datasketch cannot be had")
        texts, said = os.path.join(work, "texts"), os.path.join(work, "said")
        write_manuals(texts)
        bench.command([python, os.path.join(bench.ROOT, "tests", "bench", "contained.py"), bench.SAMEPAGE, texts,
                       "--json", said])
        with open(said, encoding="utf-8") as file:
            found = json.load(file)
        ours, best = found["samepage"], found["LSHEnsemble_256"]
        yield bench.at_least(f"{name}.recall", ours["recall"], 1, "of the best containers", found, 4)
        yield bench.at_least(f"{name}.precision", ours["precision"], 1, "of what is named", {}, 4)
        yield bench.below(f"{name}.seconds", ours["seconds"] / best["seconds"], 0.5, "of LSHEnsemble's", {}, 2)

    return figure


def containment_kafka(bench):
    def figure(name, work):
        """contain with containment.threshold=0.9 on Kafka: its processor time beside that of the stages"""
        crawl = os.path.join(work, "crawl")
        bench.command([bench.SAMEPAGE, "synth", "--pages", str(WATCH_PAGES), "--seed", "7", "-o", crawl])
        os.environ["SAMEPAGE_SET_CONTAINMENT_THRESHOLD"] = "0.9"
        try:
            with bench.Kafka(work) as kafka:
                stages = [*kafka.STAGES, "contain"]
                kafka.create("contain.")
                kafka.start("contain.", stages)
                pages, _ = kafka.ingest("contain.", crawl)
                kafka.settled("contain.")
                kafka.stop(stages)
        finally:
            del os.environ["SAMEPAGE_SET_CONTAINMENT_THRESHOLD"]
        rest = sum(kafka.cpu[stage] for stage in kafka.STAGES)
        yield bench.below(name, kafka.cpu["contain"] / rest, 1.5, "of the stages' processor time",
                          {"pages": pages, **{f"cpu_seconds_of_{s}": round(kafka.cpu[s], 1) for s in stages}}, 2)

    return figure


def peers_of_predictions(bench, work, crawl):
    """Options: the keys by which w3lib and courlan take two URLs for one page. Empty if they cannot be had."""
    python = python_with(bench, "w3lib, courlan", "w3lib", "courlan")
    if not python:
        return []
    folder = os.path.join(work, "keys")
    os.makedirs(folder)
    bench.command([python, os.path.join(bench.ROOT, "tests", "bench", "url_keys.py"), crawl, folder])
    return [option for peer in PEERS for option in ("--keys", os.path.join(folder, peer))]


def predictions(bench, name, work, crawl, least):
    """One row: the first fetches that rules save while at most 1 % of the unique pages are lost."""
    report, peers = os.path.join(work, "report"), peers_of_predictions(bench, work, crawl)
    _, _, cpu = bench.command([bench.SAMEPAGE, "evaluate", "-q", "--only", "predict", *peers, "--report", report,
                               crawl])
    with open(os.path.join(report, "predict.csv"), encoding="utf-8", newline="") as file:
        rows = {}
        for row in csv.DictReader(file):
            limit = re.search(r"at most ([0-9.]+) %", row["way"])
            rows[limit[1] if limit else row["way"]] = row
    at = {limit: {key: row[key] for key in ("new URLs", "saved", "unique", "lost", "explored")}
          for limit, row in rows.items()}
    saved = 100 * int(at["1"]["saved"]) / int(at["1"]["new URLs"])
    yield bench.at_least(name, saved, least, "% of first fetches saved",
                         {"at_most_1_percent_lost": at["1"], "at_most_0.1_percent_lost": at["0.1"],
                          **{peer: at[peer] for peer in PEERS if peers}, "cpu_seconds": round(cpu, 1)}, 1)


def predict_trace(bench, source, least):
    def figure(name, work):
        yield from predictions(bench, name, work, bench.trace(source), least)

    figure.__doc__ = f"known before the fetch: what rules about URLs save on the {source} trace"
    return figure


def predict_visitors(bench):
    def figure(name, work):
        """known before the fetch: what rules save on a made-up crawl with visitor ids"""
        plain, crawl = os.path.join(work, "plain"), os.path.join(work, "crawl")
        bench.command([bench.SAMEPAGE, "synth", "--pages", "20000", "-o", plain])
        with open(plain, encoding="utf-8") as lines, open(crawl, "w", encoding="utf-8") as out:
            visitors.write(lines, out)
        yield from predictions(bench, name, work, crawl, 15)

    return figure


def instructions(bench, work, *more):
    """Instructions of a run in memory with one thread, by callgrind."""
    counts = os.path.join(work, "counts")
    argv = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", bench.SAMEPAGE, "run", "-q", "--set",
            "threads=1", *more, "-o", os.path.join(work, "out"), os.path.join(work, "crawl")]
    bench.command(argv)
    with open(counts, encoding="utf-8") as file:
        return int(re.search(r"(?m)^(?:summary|totals): (\d+)", file.read())[1])


def audit_run(bench):
    def figure(name, work):
        """audit.share=0.001 in run: instructions beside those of a run without"""
        if not shutil.which("valgrind"):
            raise bench.Skipped("no valgrind")
        bench.command([bench.SAMEPAGE, "synth", "--pages", str(AUDIT_PAGES), "--seed", "9", "-o",
                       os.path.join(work, "crawl")])
        rest = instructions(bench, work)
        for share in "0.001", "0.01":
            whole = instructions(bench, work, "--set", f"audit.share={share}")
            yield bench.below(f"{name}.{share}", 100 * (whole - rest) / rest, 2, "% more instructions",
                              {"instructions": whole, "without": rest}, 2)

    return figure


def cpu_of(process):
    """Stops the process and returns its processor time."""
    process.terminate()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def wait_for(bench, log, words):
    until = time.monotonic() + 60
    while True:
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if words in text:
            return
        if time.monotonic() > until:
            raise bench.Failed(f"no \"{words}\" in {text[-500:]}")
        time.sleep(0.1)


def audit_watch(bench):
    def figure(name, work):
        """watch with audit.share=0.001 on Kafka: its processor time beside that of the stages"""
        crawl, log = os.path.join(work, "crawl"), os.path.join(work, "watch.log")
        bench.command([bench.SAMEPAGE, "synth", "--pages", str(WATCH_PAGES), "--seed", "7", "-o", crawl])
        with bench.Kafka(work) as kafka:
            kafka.more = {"audit.share": 0.001}
            kafka.create("watch.")
            kafka.start("watch.", kafka.STAGES)
            with open(log, "wb") as err:
                watch = subprocess.Popen([bench.SAMEPAGE, "watch", *kafka.settings("watch.")], stderr=err,
                                         cwd=bench.ROOT)
            kafka.running["monitor"] = watch  # the caller kills it if something fails
            wait_for(bench, log, "watches from now on")
            pages, _ = kafka.ingest("watch.", crawl)
            kafka.settled("watch.")
            time.sleep(2)  # one more lap, which reads the last statuses
            cpu = cpu_of(kafka.running.pop("monitor"))
            kafka.stop(kafka.STAGES)
            topics = {topic: kafka.sizes("watch." + topic) for topic in ("tier1", "status", "audit")}
        stages = sum(kafka.cpu[stage] for stage in kafka.STAGES)
        wait_for(bench, log, "pairs judged: 0 missing, 0 wrong")
        counts = {f"{topic}_{what}": round(value) for topic, (count, size) in topics.items()
                  for what, value in (("messages", count), ("bytes", count * size))}
        yield bench.below(name, 100 * cpu / stages, 2, "% of the stages' processor time",
                          {"pages": pages, "cpu_seconds": round(cpu, 2), "cpu_seconds_of_stages": round(stages, 1),
                           **counts}, 1)

    return figure


def figures(bench):
    found = {"containment_template": containment_template(bench)}
    for source in "kafka-site", "httpd":
        found["containment_" + source.replace("-", "_")] = containment_trace(bench, source)
    found["containment_kafka"] = containment_kafka(bench)
    found["containment_ensemble"] = containment_ensemble(bench)
    found["predict_visitors"] = predict_visitors(bench)
    for source, least in ("kafka-site", 7), ("httpd", 20), ("powershell-docs", 4.5):
        found["predict_" + source.replace("-", "_")] = predict_trace(bench, source, least)
    found["audit_run"] = audit_run(bench)
    found["audit_watch"] = audit_watch(bench)
    return found
