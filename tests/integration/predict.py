"""URL rules learned from a state: the command, the response of serve, the experiment."""

import csv
import io
import json
import random
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from crash import MOST_KILLS, after_a_while, after_some_output, arguments, few_of, kill, size, undisturbed
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
    check_in("--output", work.run("rules", "--state", "state", "--publish", "-o", "all.jsonl", code=2).err)
    work.run("rules", "--state", "nowhere", code=1)


def another_spelling_of_a_winner_is_no_evidence(work):
    visitors_crawl(work)
    before = [r for r in map(json.loads, work.run("rules", "--state", "state").out.splitlines())]
    lines = [{**line, "url": line["url"].replace("http://a.", "HTTP://A."), "fetch_time_ms": 1800000000000}
             for line in work.json_lines("crawl.jsonl")]
    work.write("again.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    work.run("run", "-q", "--state", "state", "-o", "again.out", "again.jsonl")
    after = [json.loads(line) for line in work.run("rules", "--state", "state").out.splitlines()]
    counts = [[(r["name"], r["support"], r["against"]) for r in rules if r["host"] == "a.example"]
              for rules in (before, after)]
    check_equal(*counts, "support and against")


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


# ---- after kills and deletions, and in skewed crawls ----


def all_rules(work, state, code=0):
    """Every rule of the state, as `rules` prints it."""
    return work.run("rules", "--state", state, "--confidence", "0", code=code)


def key_of(rule):
    return tuple(rule[name] for name in ("host", "kind", "name", "from", "to"))


def changing_crawl(work, pages=900):
    """Hosts that visitors_crawl has, where some pages are fetched again with another text, and some die; returns the
    last line of each page that is left."""
    left, lines = {}, []

    def fetch(url, text, status=200):
        line = {"url": url, "fetch_time_ms": 1700000000000 + len(lines) * 1000, "http_status": status}
        if status == 200:
            line.update(content_type="text/plain", content=words(text))
        lines.append(json.dumps(line))
        left[url] = lines[-1]
        if status != 200:
            del left[url]

    for page in range(pages):
        for visit in range(2):
            for host, text in ("a", page), ("b", 100000 + 2 * page + visit):
                fetch(f"http://{host}.example/{page}?sid={page * 1000 + visit * 37 + 11}", text)
        if page % 5 == 4:
            fetch(f"http://a.example/{page - 2}?sid={(page - 2) * 1000 + 11}", 200000 + page)
        if page % 7 == 6:
            fetch(f"http://a.example/{page - 3}?sid={(page - 3) * 1000 + 48}", 0, 404)
    work.write("crawl.jsonl", "\n".join(lines) + "\n")
    return left


def check_part(rules, of):
    """A crawl that is not at its end supports no rule more often."""
    whole = {key_of(rule): rule for rule in map(json.loads, of.splitlines())}
    for rule in map(json.loads, rules.splitlines()):
        check(key_of(rule) in whole, "a rule that the whole crawl does not have:", rule)
        pairs = rule["support"] + rule["against"], whole[key_of(rule)]["support"] + whole[key_of(rule)]["against"]
        check(pairs[0] <= pairs[1], "pairs of", rule, pairs)


def learn_with_kills(work, barrier, inputs, seeds):
    """Runs that were killed until one ended by itself have the rules of an undisturbed run. Returns these, and those of
    each state right after a kill."""
    seeds = few_of(seeds)
    undisturbed(work, barrier, *inputs)
    total = size(work, "calm.out")
    want, after_kills = all_rules(work, "calm.state").out, []
    check(want.count("\n") > 3, "few rules:", want)
    for seed in seeds:
        tag, rng = f"killed-{seed}", random.Random(seed)
        for _ in range(MOST_KILLS):
            process = work.start(*arguments(tag, barrier, *inputs))
            after_some_output(work, rng, process, tag, total)
            if not kill(process):
                break
            done = all_rules(work, f"{tag}.state", code=None)
            after_kills.append(done.out if done.code == 0 else "")  # killed before there was a state
        work.run(*arguments(tag, barrier, *inputs))
        check_equal(all_rules(work, f"{tag}.state").out, want, f"seed {seed}: rules")
    print(f"{len(after_kills)} kills")
    check(len(after_kills) >= len(seeds), "only", len(after_kills), "kills")
    return want, after_kills


def a_killed_run_has_the_rules_of_an_undisturbed_one(work):
    """The rules are those of the pages that are left, whatever happened to the process or to other pages."""
    left = changing_crawl(work)
    want, _ = learn_with_kills(work, 37, ["crawl.jsonl"], range(4))
    lines = sorted(left.values(), key=lambda line: json.loads(line)["fetch_time_ms"])
    work.write("left.jsonl", "\n".join(lines) + "\n")
    work.run("run", "-q", "--state", "left.state", "-o", "left.out", "left.jsonl")
    check_equal(all_rules(work, "left.state").out, want, "rules, and those of the last fetches alone")


def a_state_right_after_a_kill_has_the_rules_of_a_part_of_the_crawl(work):
    visitors_crawl(work, pages=900)
    want, after_kills = learn_with_kills(work, 37, ["--set", "store.write_ahead_log=on", "crawl.jsonl"], range(10, 13))
    check_equal(all_rules(work, "state").out, want, "with other barriers")
    parts = [rules for rules in after_kills if rules not in ("", want)]
    check(parts, "no kill left a part of the rules")
    for rules in parts:
        check_part(rules, want)


def forgotten_pages_leave_no_trace_in_the_rules(work):
    """Also if `forget` is killed: the rules are those of a crawl that never had the pages."""
    visitors_crawl(work, pages=600)
    fetches = work.json_lines("crawl.jsonl")
    urls = sorted({f["url"] for f in fetches})
    names = urls[::7] + [u for u in urls if "a.example" in u and u.endswith("11")][::5]
    work.write("list", "\n".join(sorted(set(names))))
    work.write("left.jsonl", "".join(json.dumps(f) + "\n" for f in fetches if f["url"] not in names))
    work.run("run", "-q", "--state", "left.state", "-o", "left.out", "left.jsonl")
    want, before = all_rules(work, "left.state").out, all_rules(work, "state").out
    check(want != before, "nothing was learned from the pages")
    args = ["forget", "-q", "--state", "state", "-o", "status.jsonl", "--forget", "list"]
    rng, kills = random.Random(3), 0
    for _ in range(6):
        process = work.start(*args)
        after_a_while(work, rng, process, 0.15)
        kills += kill(process)
    work.run(*args)
    check(kills > 0, "no kill")
    rules = all_rules(work, "state").out
    check_equal(rules, want, "rules, and those without the pages")
    check(not [n for n in set(names) if f'"{n}"' in rules], "a forgotten page is an example")


def a_killed_run_of_a_skewed_crawl_has_the_rules_of_an_undisturbed_one(work):
    two_visitors(work, "skewed", 2000, "mix")
    learn_with_kills(work, 41, ["skewed"], range(20, 23))


def rules_of(work, crawl):
    """The number of rules, and of those that `rules` lists by default."""
    work.run("run", "-q", "--state", f"{crawl}.state", "-o", f"{crawl}.out", crawl)
    return all_rules(work, f"{crawl}.state").out.count("\n"), work.run("rules", "--state", f"{crawl}.state").out.count("\n")


def two_visitors(work, name, pages, kind):
    """A skewed crawl in which two visitors fetch each page, each with an id of its own."""
    work.run("synth", "--pages", str(pages), "--skew", kind, "--words", "100", "-o", "plain")
    with open(work.path(name), "w", encoding="utf-8") as file:
        for number, line in enumerate(work.json_lines("plain")):
            for visitor in range(2):
                fetch = {**line, "fetch_time_ms": 2 * line["fetch_time_ms"] + visitor}
                if line["http_status"] == 200:
                    fetch["url"] += f"?sid={100000 + 2 * number + visitor}"
                file.write(json.dumps(fetch) + "\n")


def a_skewed_crawl_four_times_as_long_has_no_more_rules_a_host(work):
    """Visitor ids over large groups, redirects and pages that die or change: the rules are about hosts, not about pages.
    """
    for kind in "mix", "same", "near-url", "zipf", "redirects-random", "die-random", "flap-winner":
        counts = []
        for pages in 400, 1600:
            two_visitors(work, f"{kind}-{pages}", pages, kind)
            hosts = {fetch["url"].split("/")[2] for fetch in work.json_lines(f"{kind}-{pages}")}
            counts.append((len(hosts), *rules_of(work, f"{kind}-{pages}")))
        (few_hosts, few, sure_few), (many_hosts, many, sure_many) = counts
        print(f"{kind}: {few_hosts} and {many_hosts} hosts, {few} and {many} rules, {sure_few} and {sure_many} listed")
        check(sure_few > 0, kind, "has no rules")
        for rules in (few, many), (sure_few, sure_many):
            check(rules[1] / many_hosts <= 1.1 * rules[0] / few_hosts + 0.5, kind, "(hosts, rules, listed):", counts)


def trap(work, name, fetches):
    """A host with a visitor id in each URL, one that invents parameters, and one with forty parameters."""
    with open(work.path(name), "w", encoding="utf-8") as file:
        for number in range(fetches):
            page, forty = number // 8, "&".join(f"p{k}={number >> k % 8 & 1}" for k in range(40))
            for host, query, text in (("ids", f"?sid={100000 + number}", page),
                                      ("names", f"?p{number}=1" if number % 8 else "", 50000 + page),
                                      ("forty", f"?sid={100000 + number}&{forty}", 60000 + page)):
                file.write(json.dumps({
                    "url": f"http://{host}.example/{page}{query}", "fetch_time_ms": 1700000000000 + number * 1000,
                    "http_status": 200, "content_type": "text/plain", "content": words(text)}) + "\n")


def hosts_with_endless_parameters_and_visitor_ids_have_few_rules_to_publish(work):
    """Of four times as many visitor ids there are no more rules. Invented names have a rule each, of one pair or two:
    too few to be listed."""
    listed = []
    for fetches in 200, 800:
        trap(work, f"trap-{fetches}", fetches)
        listed.append(rules_of(work, f"trap-{fetches}"))
    (few, sure_few), (many, sure_many) = listed
    print(f"{few} and {many} rules, {sure_few} and {sure_many} of them with a confidence of 0.5")
    check(many <= 4 * few, "rules:", few, many)
    check(sure_few > 0 and sure_many <= sure_few + 4, "rules to publish:", sure_few, sure_many)


def a_page_is_near_an_early_one_behind_any_number_of_its_template(work):
    """The last page is near the first, and shares a template with a thousand later ones."""
    template = [f"part{i}" for i in range(80)]
    texts = [" ".join(template + [f"own{page}n{i}" for i in range(20)]) for page in range(1300)]
    texts.append(texts[0].replace("part40", "other"))
    fetches = [{"url": f"http://a.example/{i}", "content_type": "text/plain", "content": text}
               for i, text in enumerate(texts)]
    work.write("crawl.jsonl", "".join(json.dumps(fetch) + "\n" for fetch in fetches))
    work.run("evaluate", "-q", "--report", "report", "--only", "predict", "crawl.jsonl")
    with open(work.path("report/predict-confidence.csv"), newline="") as f:
        row = next(csv.DictReader(f))
    check_equal((row["new URLs"], row["unique"]), ("1301", "1300"), "pages")


if __name__ == "__main__":
    main(__name__)
