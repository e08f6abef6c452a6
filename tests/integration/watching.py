"""A run that audits itself: the output does not change, a correct run is not reported, and the audit survives kills.
"""

import json
import os
import random
import signal
import subprocess
import urllib.error
import urllib.request

from harness import check, check_equal, check_in, free_port, main, until

SKEWS = ["near-words", "zipf", "chainlike", "recover", "die-random", "flap-winner", "outrank-near",
         "redirects-random"]


def audited(work, crawl, *more, name="audited"):
    """The report of a run that watches all pages."""
    work.run("run", "-q", "-o", f"{name}.jsonl", "--summary", f"{name}.json", "--set", "audit.share=1",
             "--set", "audit.pages=1000000", *more, crawl)
    return json.loads(work.read(f"{name}.json"))["audit"]


def check_quiet(report, what):
    check_equal((report["missing"], report["wrong"], report["examples"]), (0, 0, []), what)


def an_audit_changes_nothing(work):
    work.run("synth", "--pages", "2000", "--near", "35", "-o", "crawl.jsonl")
    work.run("run", "-q", "-o", "plain.jsonl", "--summary", "plain.json", "crawl.jsonl")
    report = audited(work, "crawl.jsonl")
    check_quiet(report, "a crawl")
    check(report["judged"] > 1000 and report["pages"] > 1500, report)
    check_equal(work.read("audited.jsonl"), work.read("plain.jsonl"), "statuses")
    plain, audited_too = (json.loads(work.read(f"{name}.json")) for name in ("plain", "audited"))
    check("audit" not in plain, "an audit that nobody asked for")
    # In memory, barriers write no rows of the stages, with an audit as without: only those of the watched pages.
    check_equal((plain["rows_put"], audited_too["rows_put"]), (0, report["pages"]), "rows")


def an_audit_of_skewed_crawls_finds_nothing(work):
    for kind in SKEWS:
        work.run("synth", "--pages", "1200", "--skew", kind, "--words", "100", "-o", f"{kind}.jsonl")
        check_quiet(audited(work, f"{kind}.jsonl", name=f"{kind}-audited"), kind)


def an_audit_of_any_method_and_rule_finds_nothing(work):
    work.run("synth", "--pages", "1200", "--near", "35", "-o", "crawl.jsonl")
    for number, setting in enumerate((
            "similarity.method=simhash", "similarity.method=cosine", "similarity.method=sentences",
            "similarity.method=lcs", "similarity.method=combined", "similarity.threshold=0.5", "mode=fast",
            "winner.margin=0.5", "winner.popularity_tolerance=0.3", "winner.relation=a.host = b.host",
            "partition.cells=64", "signature.max_shingles=64")):
        report = audited(work, "crawl.jsonl", "--set", setting, name=f"set{number}")
        check_quiet(report, setting)
        check(report["judged"] > 200, setting, report)


def a_killed_audit_goes_on(work):
    rng = random.Random(11)
    work.run("synth", "--pages", "12000", "--near", "35", "-o", "crawl.jsonl")
    args = ["run", "-q", "--state", "state", "-o", "killed.jsonl", "--set", "barrier.pages=200",
            "--set", "audit.share=0.3", "--summary", "killed.json", "crawl.jsonl"]
    kills = 0
    for _ in range(6):
        process = work.start(*args)
        try:
            process.wait(rng.uniform(0.03, 0.25))
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    work.run(*args)
    check(kills > 0, "no kill came in time")
    calm = [a.replace("killed", "calm") for a in args]
    calm[calm.index("state")] = "calm.state"
    work.run(*calm)
    check_equal(work.read("killed.jsonl"), work.read("calm.jsonl"), "statuses")
    reports = [json.loads(work.read(f"{name}.json"))["audit"] for name in ("killed", "calm")]
    check_quiet(reports[0], "killed")
    check_equal(reports[0]["pages"], reports[1]["pages"], "watched pages")


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return None


def serve_says_what_the_audit_found(work):
    work.run("synth", "--pages", "500", "--near", "35", "-o", "crawl.jsonl")
    for state, share in ("watched", "1"), ("plain", "0"):
        work.run("run", "-q", "--state", state, "-o", os.devnull, "--set", f"audit.share={share}", "crawl.jsonl")
        port = free_port()
        server = work.start("serve", "--state", state, "--listen", f"127.0.0.1:{port}", stderr=subprocess.PIPE)
        try:
            status, text = until(lambda: get(port, "/v1/audit"), "a response")
            metrics = get(port, "/metrics")[1]
            if state == "plain":
                check_equal(status, 404, text)
                check_in("audit.share", text)
                check("samepage_audit" not in metrics, metrics)
                continue
            report = json.loads(text)
            check_quiet(report, "the state")
            check(report["judged"] > 100 and report["share"] == 1, report)
            check_in("\nsamepage_audit_missing_total 0\n", metrics)
            check_in("\nsamepage_audit_wrong_total 0\n", metrics)
            check_in("\nsamepage_audit_late_seconds ", metrics)
            until(lambda: get(port, "/v1/overview")[0] == 200, "the overview")
            check_equal(json.loads(get(port, "/v1/overview")[1])["audit"], report, "on the page")
        finally:
            server.terminate()
            server.wait()
            server.stderr.close()


if __name__ == "__main__":
    main(__name__)
