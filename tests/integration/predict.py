"""URL rules learned from a state: the command, the response of serve, the experiment."""

import csv
import io
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from harness import check, check_equal, check_in, free_port, main, until


def words(number):
    return " ".join("w%dx%d" % (number * 7919 % 1000003, k) for k in range(80))


def visitors_crawl(work, pages=120):
    """Pages of a.example under two sessions each; on b.example the same parameter chooses the page."""
    lines = []
    for page in range(pages):
        for visit in range(2):
            for host, text in ("a", page), ("b", 1000 + 2 * page + visit):
                lines.append(json.dumps({
                    "url": f"http://{host}.example/{page}?sid={page * 1000 + visit * 37 + 11}",
                    "fetch_time_ms": 1700000000000 + len(lines) * 1000, "http_status": 200,
                    "content_type": "text/plain", "content": words(text)}))
    work.write("crawl.jsonl", "\n".join(lines) + "\n")
    work.run("run", "-q", "--state", "state", "-o", "status.jsonl", "crawl.jsonl")


def rules_of_a_state_are_listed(work):
    visitors_crawl(work)
    rules = [json.loads(line) for line in work.run("rules", "--state", "state").out.splitlines()]
    of_a = [r for r in rules if (r["host"], r["kind"], r["name"]) == ("a.example", "parameter", "sid")]
    check_equal(len(of_a), 1, "the rule")
    check(of_a[0]["confidence"] > 0.9 and of_a[0]["support"] >= 100 and of_a[0]["against"] == 0, of_a)
    check_equal([r for r in rules if r["host"] == "b.example"], [], "rules of b.example")
    check_equal([r["confidence"] for r in rules], sorted((r["confidence"] for r in rules), reverse=True), "order")
    everything = work.run("rules", "--state", "state", "--confidence", "0", "-o", "all.jsonl")
    check(len(work.json_lines("all.jsonl")) > len(rules), everything)
    check_in("--state", work.run("rules", code=2).err)
    work.run("rules", "--state", "nowhere", code=1)


def get(port, path, **arguments):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(arguments)}") as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")
    except OSError:
        return None


def serve_says_what_a_url_will_be(work):
    visitors_crawl(work)
    port = free_port()
    server = work.start("serve", "--state", "state", "--listen", f"127.0.0.1:{port}", "--predict",
                        stderr=subprocess.PIPE)
    try:
        url = "http://a.example/7?sid=999999"
        status, said = until(lambda: (lambda a: a if a and a[0] != 503 else None)(
            get(port, "/v1/predict", url=url, explore=0)), "a response")
        check_equal(status, 200, "status")
        check_equal(said["duplicate_of"], "http://a.example/7?sid=7048", "the page")
        check_equal((said["rule"]["kind"], said["rule"]["name"], said["fetch"]), ("parameter", "sid", False), "rule")
        check(said["confidence"] > 0.9, said)
        check_equal(get(port, "/v1/predict", url=url, explore=1)[1]["fetch"], True, "explored")
        check_equal(get(port, "/v1/predict", url="http://b.example/7?sid=999999")[1]["duplicate_of"], None, "b")
        check_equal(get(port, "/v1/predict", url=url, confidence=1)[1]["fetch"], True, "too sure")
        check_equal(get(port, "/v1/predict", url="nothing")[0], 400, "no URL")
        check_equal(get(port, "/v1/predict", url=url, confidence="x")[0], 400, "no number")
        check_equal(get(port, "/v1/predict")[0], 400, "no argument")
    finally:
        stop(server)


def stop(server):
    server.terminate()
    server.wait()
    server.stderr.close()


def fetched_of(work, urls, *options):
    """For each URL whether it should be fetched, and whether only to explore."""
    port = free_port()
    server = work.start("serve", "--state", "state", "--listen", f"127.0.0.1:{port}", "--predict", *options,
                        stderr=subprocess.PIPE)
    try:
        until(lambda: (get(port, "/v1/predict", url=urls[0]) or (503,))[0] != 503, "a response")
        responses = [get(port, "/v1/predict", url=url)[1] for url in urls]
        return {said["url"]: (said["fetch"], said["explore"]) for said in responses}
    finally:
        stop(server)


def serve_explores_the_share_of_the_setting(work):
    """Without an argument the setting counts. The same URLs are chosen each time, and never one without a prediction.
    """
    visitors_crawl(work)
    known = [f"http://a.example/{page}?sid=999999" for page in range(120)]
    unknown = [f"http://b.example/{page}?sid=999999" for page in range(5)]
    some = fetched_of(work, known + unknown, "--set", "predict.explore=0.2")
    check_equal({some[url] for url in known}, {(True, True), (False, False)}, "both kinds")
    check_equal({some[url] for url in unknown}, {(True, False)}, "what nothing is known of")
    check(8 <= sum(explore for _, explore in some.values()) <= 42, some)
    work.write("settings", "predict.explore = 0.2\n")
    check_equal(fetched_of(work, known + unknown, "--config", "settings"), some, "again, from a file")
    check_equal(set(fetched_of(work, known, "--set", "predict.explore=1").values()), {(True, True)}, "all")
    few = fetched_of(work, known)
    check(sum(explore for _, explore in few.values()) <= 8, "a hundredth without the setting:", few)
    check_in("predict.explore", work.run("serve", "--state", "state", "--set", "predict.explore=2", code=2).err)


def predictions_are_held_against_keys(work):
    visitors_crawl(work)
    fetches = work.json_lines("crawl.jsonl")
    work.write("dropped", "".join("%s\t%s\n" % (f["url"], f["url"].split("?")[0]) for f in fetches))
    work.write("kept", "".join("%s\t%s\n" % (f["url"], f["url"]) for f in fetches))
    work.run("evaluate", "-q", "--only", "predict", "--report", "report", "--keys", "dropped", "--keys", "kept",
             "crawl.jsonl")
    rows = list(csv.DictReader(io.StringIO(work.read("report/predict.csv").decode())))
    by_way = {row["way"].split(":")[0].split(" (")[0]: row for row in rows}
    check_equal(int(by_way["dropped"]["saved"]), 240, "saved by a key that ignores the parameter")
    check_equal(int(by_way["dropped"]["lost"]), 120, "and lost")
    check_equal(int(by_way["kept"]["saved"]), 0, "saved by the URL itself")
    rules = by_way["rules, at most 0.1 % lost"]
    check_equal(int(rules["lost"]), 0, "lost by rules")
    check(int(rules["saved"]) > 80, rules)
    check_in("--keys", work.run("evaluate", "-q", "--only", "predict", "--report", "report", "--keys", "missing",
                                "crawl.jsonl", code=1).err)


def saved_and_explored(work, share):
    work.run("evaluate", "-q", "--only", "predict", "--report", "report", "--set", f"predict.explore={share}",
             "crawl.jsonl")
    rows = list(csv.DictReader(io.StringIO(work.read("report/predict-confidence.csv").decode())))
    row = next(row for row in rows if row["confidence"] == "0.5")
    return int(row["saved"]), int(row["explored"])


def the_replay_makes_the_fetches_that_it_explores(work):
    visitors_crawl(work)
    all_saved, none = saved_and_explored(work, 0)
    check(all_saved > 80 and none == 0, all_saved, none)
    check_equal(saved_and_explored(work, 1)[0], 0, "saved where every predicted fetch is made")
    check(saved_and_explored(work, 1)[1] >= all_saved, "predictions with all the evidence there is")
    saved, explored = saved_and_explored(work, 0.3)
    check(0 < explored < saved < all_saved, saved, explored, all_saved)
    check_equal(saved_and_explored(work, 0.3), (saved, explored), "again")


if __name__ == "__main__":
    main(__name__)
