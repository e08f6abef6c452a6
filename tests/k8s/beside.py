"""Tests of the resources in k8s/ other than the three stages: `serve`, `contain`, `watch`, the network policy, TLS and
SASL, alerts and the dashboard. Run like manifests.py, of which this is the second part.
"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import kustomize  # noqa: E402
import manifests  # noqa: E402
from harness import Skip, check, check_equal, check_in, main, until  # noqa: E402


def secure(test):
    return manifests.Cluster(test, "overlays/secure")


def monitoring(test):
    return kustomize.render(os.path.join(test.source, "k8s", "monitoring"))


def metrics_of_the_program(test):
    """Metric names, from the tables that /metrics is written from."""
    names = set()
    for path, prefix in (("processors/runners/kafka/health.c", "samepage_"),
                         ("processors/programs/serve/handlers/metrics.c", "")):
        with open(os.path.join(test.source, path), encoding="utf-8") as file:
            text = file.read()
        names |= {prefix + name for name in re.findall(r'\{"([a-z_]+)", "(?:counter|gauge)"', text)}
        names |= {prefix + name for name in re.findall(r'"([a-z_]+)",\s*"(?:counter|gauge)"', text)}
    check(len(names) > 15, "few metrics were found in the source:", sorted(names))
    return names


def expressions(test):
    """(where, PromQL) of all alerts and panels."""
    for resource in monitoring(test):
        if resource["kind"] == "PrometheusRule":
            for group in resource["spec"]["groups"]:
                for rule in group["rules"]:
                    yield rule["alert"], rule["expr"]
    for panel in dashboard(test)["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def dashboard(test):
    (made,) = [r for r in monitoring(test) if r["kind"] == "ConfigMap"]
    check_equal(made["metadata"]["labels"]["grafana_dashboard"], "1", "the label that Grafana looks for")
    return json.loads(made["data"]["samepage.json"])


# ---- serve ----


def serve_takes_its_arguments(work):
    """The program accepts every option: it fails only for lack of a broker."""
    for overlay, name in ("overlays/secure", "serve"), ("overlays/rules", "serve"), ("overlays/predict", "predict"):
        check_arguments_of_serve(work, manifests.Cluster(work, overlay), name)


def check_arguments_of_serve(work, cluster, name):
    arguments = cluster.container(name)["args"]
    state, token = work.path("copy"), work.write("token", "0123456789abcdef0123\n")
    settings = work.write("s.properties", cluster.text)
    place = {"/etc/samepage/samepage.properties": settings, "/state": state, "/etc/samepage-serve/token": token,
             "0.0.0.0:8080": "0.0.0.0:0"}
    paths = [a for a in arguments if a.startswith("/")]
    mounts = [m["mountPath"] for m in cluster.container(name)["volumeMounts"]]
    for path in paths:
        check(any(path == m or path.startswith(m + "/") for m in mounts), path, "is on no volume")
    process = work.start(*[place.get(a, a) for a in arguments], "--set", manifests.NOWHERE,
                         stderr=subprocess.PIPE)
    message = process.communicate()[1].decode("utf-8", "replace")
    check(process.returncode == 1, f"exit code {process.returncode}\n{message}")
    check_in("no broker is reachable", message, "serve")


def serve_wants_a_token(work):
    """Without a token it does not listen on addresses that others can reach."""
    arguments = secure(work).container("serve")["args"]
    check("--token-file" in arguments, "serve has no token")
    volumes = {v["name"]: v for v in secure(work).pod("serve")["volumes"]}
    check_equal(volumes["token"]["secret"]["secretName"], "samepage-serve", "the Secret of the README")
    with open(os.path.join(work.source, "k8s", "README.md"), encoding="utf-8") as file:
        check_in("create secret generic samepage-serve --from-file=token", file.read(), "README")


def rules_are_published_by_one_pod_that_has_room_for_them(work):
    """`serve` with the arguments of `secure` and one more, the topic, and the right to write it."""
    found = []
    for overlay in manifests.OVERLAYS:
        cluster = manifests.Cluster(work, overlay)
        if "serve" not in cluster.pods or "--publish-rules" not in cluster.container("serve")["args"]:
            continue
        found.append(overlay)
        check_equal(cluster.container("serve")["args"], [*secure(work).container("serve")["args"], "--publish-rules"],
                    "arguments")
        check_equal(cluster.environment("serve"), secure(work).environment("serve"), f"{overlay}: variables")
        check_equal(cluster.workload("serve")["spec"]["replicas"], 1, "processes that publish")
        name = cluster.settings["topics.prefix"] + "rules"
        check_equal(cluster.one("KafkaTopic", name)["spec"]["partitions"], 1, name)
        rights = {operation for acl in cluster.one("KafkaUser", "samepage")["spec"]["authorization"]["acls"]
                  if acl["resource"]["type"] == "topic" and name.startswith(acl["resource"]["name"])
                  for operation in acl["operations"]}
        check({"Read", "Write", "Describe"} <= rights, name, "rights:", rights)
        limits = [manifests.size_of(c.container("serve")["resources"]["limits"]["memory"])
                  for c in (secure(work), cluster)]
        check(limits[0] + 2 * 1024 * 1_000_000 <= limits[1], "the rules of a million pages do not fit:", limits)
    check_equal(found, ["overlays/rules", "overlays/predict"], "overlays that publish rules")


def pods_that_follow_rules_have_a_publisher_and_keep_nothing(work):
    """As many as wanted, with the Secret and the variables of `serve`, and room for the statuses and rules."""
    found = []
    for overlay in manifests.OVERLAYS:
        cluster = manifests.Cluster(work, overlay)
        if "predict" not in cluster.pods:
            continue
        found.append(overlay)
        container, serve = cluster.container("predict"), cluster.container("serve")
        check("--follow-rules" in container["args"] and "--publish-rules" not in container["args"], container["args"])
        check("--publish-rules" in serve["args"], f"{overlay}: nobody publishes")
        check("--state" not in container["args"], "a copy of the state without a volume")
        check_equal(cluster.environment("predict"), cluster.environment("serve"), f"{overlay}: variables")
        volumes = {v["name"]: v for v in cluster.pod("predict")["volumes"]}
        check_equal(volumes["token"]["secret"]["secretName"], "samepage-serve", "the Secret of the README")
        check(cluster.workload("predict")["spec"]["replicas"] > 1, "only one pod follows")
        limit = manifests.size_of(container["resources"]["limits"]["memory"])
        check(2 * 1024 * 1_000_000 + 1024 * 1_000_000 <= limit, "a million pages do not fit")
    check_equal(found, ["overlays/predict"], "overlays with followers")


# ---- contain ----


def contain_beside_the_base_finds_its_settings_and_disk(work):
    """An overlay made as its kustomization describes: the program accepts the arguments and keeps trying to reach its
    broker."""
    cluster = manifests.Cluster(work, "base")
    resources = kustomize.render(manifests.folder(work, "contain"))
    (stateful,) = [r for r in resources if r["kind"] == "StatefulSet"]
    (container,) = stateful["spec"]["template"]["spec"]["containers"]
    check_equal(stateful["spec"]["replicas"], 1, "one partition")
    settings = work.write("s.properties", cluster.text + "\ncontainment.threshold = 0.9\n")
    place = {"/etc/samepage/samepage.properties": settings}
    check_equal(sorted(m["mountPath"] for m in container["volumeMounts"]),
                sorted(m["mountPath"] for m in cluster.container("compare")["volumeMounts"]), "mounts")
    with open(work.path("log"), "wb") as log:
        process = work.start(*[place.get(a, a) for a in container["args"]], "--set", manifests.NOWHERE, "--set",
                             "http.listen=127.0.0.1:0", "--set", "state.directory=" + work.path("state"), stderr=log)
    until(lambda: b"Connection refused" in work.read("log") or process.poll() is not None, "a try")
    process.terminate()
    check_equal(process.wait(), 0, work.read("log"))
    policy = cluster.one("NetworkPolicy", "samepage")["spec"]["podSelector"]["matchLabels"]
    check(manifests.finds(policy, stateful["spec"]["template"]["metadata"]["labels"]), "contain is open")


def the_contain_stage_runs_where_its_threshold_is_set(work):
    """In an overlay with both, connected like the other stages; one pod, because its topic has one partition."""
    found = 0
    for overlay in manifests.OVERLAYS:
        cluster = manifests.Cluster(work, overlay)
        threshold = float(cluster.settings.get("containment.threshold", 0))
        check_equal("contain" in cluster.pods, threshold > 0, f"{overlay}: a threshold and the stage")
        if threshold == 0:
            continue
        found += 1
        check_equal(cluster.workload("contain")["spec"]["replicas"], 1, overlay)
        for name in "contain", "contain-changelog":
            topic = cluster.one("KafkaTopic", cluster.settings["topics.prefix"] + name)
            check_equal(topic["spec"]["partitions"], 1, name)
        scaled = [s["spec"]["scaleTargetRef"]["name"] for s in cluster.all("ScaledObject")]
        check("samepage-contain" not in scaled, "one partition, and a scaler")
        check_equal(cluster.environment("contain"), cluster.environment("group"), f"{overlay}: variables")
        limit = manifests.size_of(cluster.container("contain")["resources"]["limits"]["memory"])
        stores = sum(manifests.size_of(cluster.settings[key]) * times for key, times in (
            ("cache.bytes", 1), ("store.block_cache_bytes", 1), ("store.memtable_bytes", 3)))
        check(stores + (512 << 20) + 1_000_000 * 300 * 10 <= limit, "a million pages of 300 shingles do not fit")
    check_equal(found, 1, "overlays with the stage")


# ---- watch ----


def watch_takes_its_arguments(work):
    """The program accepts every option and setting, and tries to reach its broker until it is ended."""
    cluster = secure(work)
    check_equal(cluster.pods[-2:], ["serve", "watch"], "beside the stages")
    share = cluster.environment("watch")["SAMEPAGE_SET_AUDIT_SHARE"]
    check_equal(cluster.environment("signature")["SAMEPAGE_SET_AUDIT_SHARE"], share, "the share that is copied")
    settings = work.write("s.properties", cluster.text)
    place = {"/etc/samepage/samepage.properties": settings}
    arguments = [place.get(a, a) for a in cluster.container("watch")["args"]]
    with open(work.path("log"), "wb") as log:
        process = work.start(*arguments, "--set", manifests.NOWHERE, "--set", "http.listen=127.0.0.1:0", "--set",
                             "audit.share=" + share, stderr=log)
    until(lambda: b"Connection refused" in work.read("log") or process.poll() is not None, "a try")
    process.terminate()
    check_equal(process.wait(), 0, work.read("log"))


def watch_keeps_nothing_and_has_room_for_its_sample(work):
    cluster = secure(work)
    check("volumeClaimTemplates" not in cluster.workload("watch")["spec"], "a volume for nothing")
    check_equal([m["mountPath"] for m in cluster.container("watch")["volumeMounts"]], ["/etc/samepage"], "mounts")
    defaults = manifests.defaults_of(work)
    shingles = int(defaults["signature.max_shingles"])
    page = 4 * shingles + 300 + 12 * shingles // 5  # docs/AUDIT.md
    limit = manifests.size_of(cluster.container("watch")["resources"]["limits"]["memory"])
    check(int(defaults["audit.pages"]) * page + (256 << 20) <= limit, "the sample and 256 MiB for clients do not fit")


# ---- network, TLS, SASL ----


def the_network_policy_lets_in_and_out_what_is_needed(work):
    for overlay in manifests.OVERLAYS:
        cluster = manifests.Cluster(work, overlay)
        policy = cluster.one("NetworkPolicy", "samepage")["spec"]
        check_equal(sorted(policy["policyTypes"]), ["Egress", "Ingress"], overlay)
        for stage in cluster.pods:
            labels = cluster.workload(stage)["spec"]["template"]["metadata"]["labels"]
            check(manifests.finds(policy["podSelector"]["matchLabels"], labels), overlay, stage, "is open")
            names = {p["name"] for p in cluster.container(stage)["ports"]}
            allowed = {p["port"] for rule in policy["ingress"] for p in rule["ports"]}
            check_equal(allowed, names, f"{overlay}: {stage}: ports that are let in")
            address = cluster.environment(stage).get("SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS",
                                                     cluster.settings["kafka.bootstrap.servers"])
            port = int(address.rpartition(":")[2])
            check(any(p["port"] <= port <= p.get("endPort", p["port"])
                      for rule in policy["egress"] for p in rule["ports"] if isinstance(p["port"], int)
                      and p["protocol"] == "TCP"), f"{overlay}: {stage} cannot reach {address}")
        check(any(p == {"protocol": "UDP", "port": 53} for rule in policy["egress"] for p in rule["ports"]),
              overlay, "cannot ask for names")


def chosen(selector, labels):
    for rule in selector.get("matchExpressions", []):
        check_equal(rule["operator"], "In", "operator")
        if labels.get(rule["key"]) not in rule["values"]:
            return False
    return manifests.finds(selector["matchLabels"], labels)


def a_registry_is_reached_only_where_one_is_set(work):
    """Each overlay has both the setting and the access, or neither; an overlay of the base, the folder `registry` and
    the setting has both."""
    url = "http://registry:8081"
    base = manifests.folder(work, "base")
    text = manifests.Cluster(work, "base").text + f"schema.registry.url = {url}\n"
    work.write("samepage.properties", text)
    work.write("kustomization.yaml", f"""apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [{base}, {manifests.folder(work, 'registry')}]
configMapGenerator:
  - {{name: samepage, behavior: replace, files: [samepage.properties]}}
""")
    for overlay in [*manifests.OVERLAYS, work.path("")]:
        cluster = manifests.Cluster(work, overlay)
        policies = {p["metadata"]["name"]: p["spec"] for p in cluster.all("NetworkPolicy")}
        address = cluster.settings.get("schema.registry.url")
        check_equal("samepage-registry" in policies, bool(address), f"{overlay}: a policy for a registry")
        reached = {stage for stage in cluster.pods for policy in policies.values() for rule in policy["egress"]
                   for port in rule["ports"] if port["protocol"] == "TCP" and isinstance(port["port"], int)
                   and chosen(policy["podSelector"],
                              cluster.workload(stage)["spec"]["template"]["metadata"]["labels"])
                   and port["port"] <= int((address or url).rpartition(":")[2]) <= port.get("endPort", port["port"])}
        check_equal(reached, {"signature", "group"} if address else set(), f"{overlay}: who reaches a registry")
    check_equal(address, url, "the overlay with a registry")
    # The program accepts these settings; it connects to a broker before it asks a registry.
    manifests.asks_for_a_broker(work, [("settings", manifests.start(work, "--config", work.path("samepage.properties")))])
    with open(os.path.join(work.source, "k8s", "README.md"), encoding="utf-8") as f:
        (patch,) = manifests.kustomize.documents(
            re.search(r"(?m)^    apiVersion: networking(?:.*\n    )+.*port: 443", f.read())[0].replace("\n    ", "\n").strip())
    resources = list(cluster.resources)
    manifests.kustomize.apply(resources, patch)
    policy = next(r for r in resources if r["metadata"]["name"] == "samepage-registry")
    check_equal((policy["spec"]["egress"], policy["spec"]["policyTypes"]),
                ([{"ports": [{"protocol": "TCP", "port": 443}]}], ["Egress"]), "the patch of the README")


def the_secure_overlay_is_accepted_by_the_program(work):
    """With a certificate and a password in place of those in the Secrets it tries to reach a broker."""
    if not shutil.which("openssl"):
        raise Skip("there is no openssl to make a certificate")
    cluster = secure(work)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test",
                    "-keyout", work.path("key"), "-out", work.path("ca")],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    path = work.write("secure.properties", cluster.text)
    secrets = {"ca.crt": work.read("ca").decode(), "password": "secret"}
    started, first = [], None
    for stage in cluster.pods:
        given = {name: value if isinstance(value, str) else secrets[value["secretKeyRef"]["key"]]
                 for name, value in cluster.environment(stage).items() if "KAFKA" in name}
        check_equal(given["SAMEPAGE_SET_KAFKA_SECURITY_PROTOCOL"], "SASL_SSL", stage)
        check(first in (None, given), f"{stage} connects in another way than signature")
        if first is None:
            started.append((stage, manifests.start(work, "--config", path, environment=given)))
        first = given
    manifests.asks_for_a_broker(work, started)


def the_secure_overlay_has_one_user(work):
    cluster = secure(work)
    user = cluster.one("KafkaUser", "samepage")
    variables = cluster.environment("group")
    check_equal(variables["SAMEPAGE_SET_KAFKA_SASL_USERNAME"], user["metadata"]["name"], "user")
    check_equal(variables["SAMEPAGE_SET_KAFKA_SASL_PASSWORD"]["secretKeyRef"],
                {"name": user["metadata"]["name"], "key": "password"}, "the operator's Secret")
    check_equal(variables["SAMEPAGE_SET_KAFKA_SASL_MECHANISM"].lower(), user["spec"]["authentication"]["type"],
                "mechanism")
    ca = variables["SAMEPAGE_SET_KAFKA_SSL_CA_PEM"]["secretKeyRef"]["name"]
    check_equal(ca, user["metadata"]["labels"]["strimzi.io/cluster"] + "-cluster-ca-cert", "the cluster's CA")
    prefix = cluster.settings["topics.prefix"]
    rights = {a["resource"]["type"]: a for a in user["spec"]["authorization"]["acls"]}
    for kind in ("topic", "group", "transactionalId"):
        check_equal((rights[kind]["resource"]["name"], rights[kind]["resource"]["patternType"]),
                    (prefix, "prefix"), kind)
    (scaler,) = cluster.all("ScaledObject")
    (trigger,) = scaler["spec"]["triggers"]
    cluster.one("TriggerAuthentication", trigger["authenticationRef"]["name"])
    check_equal(trigger["metadata"]["username"], user["metadata"]["name"], "KEDA's user")


# ---- monitoring ----


def alerts_and_panels_name_metrics_that_there_are(work):
    known = metrics_of_the_program(work)
    count = 0
    for where, expression in expressions(work):
        named = set(re.findall(r"\bsamepage_[a-z_]+", expression))
        check(named or "kubelet_" in expression, where, "asks for nothing of samepage")
        check(named <= known, where, "asks for metrics that there are not:", sorted(named - known))
        count += 1
    check(count > 20, "few expressions:", count)


def every_alert_says_what_to_do(work):
    for resource in monitoring(work):
        for group in resource.get("spec", {}).get("groups", []):
            names = [rule["alert"] for rule in group["rules"]]
            check_equal(len(names), len(set(names)), "alerts of one name")
            for rule in group["rules"]:
                check(rule["annotations"]["summary"] and rule["annotations"]["description"], rule["alert"])
                check_in(rule["labels"]["severity"], "warning critical", rule["alert"])


def promtool_accepts_all_expressions(work):
    """The dashboard's expressions as recording rules, with Grafana's variables replaced first."""
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed (Debian's package prometheus)")
    (rules,) = [r for r in monitoring(work) if r["kind"] == "PrometheusRule"]
    recorded = [{"record": f"panel:{n}", "expr": re.sub(r"\$__rate_interval", "5m", e).replace("$namespace", "n")}
                for n, (_, e) in enumerate(expressions(work))]
    work.write("rules.yaml", json.dumps(
        {"groups": [*rules["spec"]["groups"], {"name": "panels", "rules": recorded}]}))
    done = subprocess.run(["promtool", "check", "rules", work.path("rules.yaml")], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check(done.returncode == 0, done.stdout)


def alerts_of_standby_copies_fire_where_these_are_missing_or_far_behind(work):
    """As Prometheus evaluates them: pods without a setting for copies and with copies up to date raise none."""
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed (Debian's package prometheus)")
    (rules,) = [r for r in monitoring(work) if r["kind"] == "PrometheusRule"]
    work.write("rules.yaml", json.dumps({"groups": rules["spec"]["groups"]}))
    pods = {"off": ("0x60", "0x60", "0x60"), "kept": ("2x60", "2x60", "300x60"),
            "missing": ("2x60", "0x60", "0x60"), "behind": ("2x60", "2x60", "200000x60"),
            "filled": ("2x60", "0x20 2x39", "900000-40000x20 0x39")}
    series = [{"series": f'samepage_standby_{name}{{stage="group",pod="{pod}"}}', "values": values}
              for pod, all_values in pods.items() for name, values in zip(("wanted", "copies", "remaining"), all_values)]

    def fires(alert, minutes, pod, summary):
        (rule,) = [r for g in rules["spec"]["groups"] for r in g["rules"] if r["alert"] == alert]
        value = pods[pod][1 if alert.endswith("Missing") else 2].partition("x")[0]
        expected = {"exp_labels": {"severity": "warning", "stage": "group", "pod": pod}, "exp_annotations": {
            "summary": summary, "description": rule["annotations"]["description"].replace("{{ $value }}", value)}}
        return {"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": [expected]}

    asked = [fires("SamepageStandbyMissing", 40, "missing", "missing lacks standby copies that it should have"),
             fires("SamepageStandbyBehind", 20, "behind", "The standby copies of behind are far behind"),
             {"eval_time": "25m", "alertname": "SamepageStandbyMissing", "exp_alerts": []},
             {"eval_time": "10m", "alertname": "SamepageStandbyBehind", "exp_alerts": []}]
    work.write("tests.yaml", json.dumps({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [
        {"interval": "1m", "input_series": series, "alert_rule_test": asked}]}))
    done = subprocess.run(["promtool", "test", "rules", work.path("tests.yaml")], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check(done.returncode == 0, done.stdout)


def selected(selector, labels):
    """Whether a selector of labels, with expressions `In` and `NotIn`, finds these labels."""
    for expression in selector.get("matchExpressions", []):
        check_in(expression["operator"], ["In", "NotIn"], "operator")
        if (labels.get(expression["key"]) in expression["values"]) != (expression["operator"] == "In"):
            return False
    return manifests.finds(selector["matchLabels"], labels)


def one_pod_monitor_finds_each_pod_and_has_the_token_where_one_is_asked_for(work):
    asked = set()
    for overlay in manifests.OVERLAYS:
        cluster = manifests.Cluster(work, overlay)
        monitors = cluster.all("PodMonitor")
        for stage in cluster.pods if monitors else ():
            labels = cluster.workload(stage)["spec"]["template"]["metadata"]["labels"]
            found = [m for m in monitors if selected(m["spec"]["selector"], labels)]
            check_equal(len(found), 1, f"{overlay}: monitors of {stage}")
            (endpoint,) = found[0]["spec"]["podMetricsEndpoints"]
            check_equal(endpoint["path"], "/metrics", "path")
            check_in(endpoint["port"], [p["name"] for p in cluster.container(stage)["ports"]], stage)
            asks = "--token-file" in cluster.container(stage)["args"]
            token = {"credentials": {"name": "samepage-serve", "key": "token"}} if asks else None
            check_equal(endpoint.get("authorization"), token, f"{overlay}: token of {stage}")
            asked |= {stage} if asks else set()
    check_equal(asked, {"serve", "predict"}, "pods with a token")


def standby_copies_have_panels(work):
    shown = " ".join(t["expr"] for p in dashboard(work)["panels"] for t in p["targets"])
    for name in "wanted", "copies", "remaining":
        check_in("samepage_standby_" + name, shown, "the dashboard")


def the_dashboard_can_be_loaded(work):
    board = dashboard(work)
    check(board["uid"] and board["title"] and board["schemaVersion"] >= 36, "head of the dashboard")
    variables = {v["name"] for v in board["templating"]["list"]}
    taken, ids = set(), set()
    for panel in board["panels"]:
        check(panel["id"] not in ids, "two panels have one id:", panel["id"])
        ids.add(panel["id"])
        at = panel["gridPos"]
        check(at["x"] + at["w"] <= 24, panel["title"], "is wider than the page")
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                check((x, y) not in taken, panel["title"], "lies on another panel")
                taken.add((x, y))
        for used in re.findall(r"\$\{?([a-z]\w*)", json.dumps(panel)):
            check(used in variables, panel["title"], "uses a variable that there is not:", used)
        letters = [t["refId"] for t in panel["targets"]]
        check(letters and len(letters) == len(set(letters)), panel["title"], "targets")


if __name__ == "__main__":
    main("__main__")
