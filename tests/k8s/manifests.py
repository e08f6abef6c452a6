"""Checks that the resources in k8s/ are complete, and agree with each other and with the program.

`kustomize.py` combines base and overlays. If kubectl or kustomize is installed, their result must equal that of
`kustomize.py`.
"""

import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
sys.dont_write_bytecode = True

import kustomize  # noqa: E402
from harness import Skip, check, check_equal, check_in, main  # noqa: E402

OVERLAYS = ["base", "overlays/small", "overlays/large", "overlays/secure", "overlays/contain",
            "overlays/rules", "overlays/predict"]
FOLDERS = [*OVERLAYS, "serve", "predict", "contain", "watch", "registry", "monitoring"]  # every folder with a kustomization
STAGES = {"signature": "Deployment", "group": "StatefulSet", "compare": "StatefulSet"}
BESIDE = {"serve": "StatefulSet", "watch": "Deployment", "contain": "StatefulSet", "predict": "Deployment"}
KNOWN = {
    ("v1", "ServiceAccount"), ("v1", "Service"), ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"),
    ("policy/v1", "PodDisruptionBudget"),
    ("kafka.strimzi.io/v1", "KafkaTopic"),
    ("keda.sh/v1alpha1", "ScaledObject"), ("keda.sh/v1alpha1", "TriggerAuthentication"),
    ("kafka.strimzi.io/v1", "KafkaUser"), ("networking.k8s.io/v1", "NetworkPolicy"),
    ("monitoring.coreos.com/v1", "PodMonitor"), ("monitoring.coreos.com/v1", "PrometheusRule"),
}
OPERATORS = ("strimzi", "keda", "coreos")  # kinds that Kubernetes itself does not define

NOWHERE = "kafka.bootstrap.servers=127.0.0.1:1"


class Cluster:
    """One overlay, combined with its base."""

    def __init__(self, work, overlay):
        self.name = overlay
        self.resources = kustomize.render(folder(work, overlay))
        self.text = self.one("ConfigMap", "samepage")["data"]["samepage.properties"]
        self.settings = properties(self.text)

    def all(self, kind):
        return [r for r in self.resources if r["kind"] == kind]

    def one(self, kind, name):
        found = [r for r in self.all(kind) if r["metadata"]["name"] == name]
        check(len(found) == 1, f"{self.name}: {len(found)} resources {kind} {name}")
        return found[0]

    def workload(self, stage):
        return self.one({**STAGES, **BESIDE}[stage], f"samepage-{stage}")

    @property
    def pods(self):
        """The stages, and `serve`, `watch`, `contain` and `predict` where they are part of the overlay."""
        named = {(r["kind"], r["metadata"]["name"]) for r in self.resources}
        return [*STAGES, *(s for s, kind in BESIDE.items() if (kind, f"samepage-{s}") in named)]

    @property
    def stages(self):
        """Those with an instance name and, except for signature, a state."""
        return [*STAGES, *(["contain"] if "contain" in self.pods else [])]

    def environment(self, stage):
        """Name -> value, or its source, of the container."""
        return {e["name"]: e.get("value", e.get("valueFrom")) for e in self.container(stage).get("env", [])}

    def pod(self, stage):
        return self.workload(stage)["spec"]["template"]["spec"]

    def container(self, stage):
        containers = self.pod(stage)["containers"]
        check(len(containers) == 1, f"{self.name}: {stage}: {len(containers)} containers")
        return containers[0]

    def number(self, key):
        return int(self.settings[key])


def folder(work, overlay):
    return os.path.join(work.source, "k8s", overlay)


def clusters(test):
    return [Cluster(test, overlay) for overlay in OVERLAYS]


def properties(text):
    """Key -> value; a key must not repeat."""
    settings = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            key, separator, value = line.partition(" = ")
            check(separator, "not a setting:", line)
            check(key not in settings, "set twice:", key)
            settings[key] = value
    return settings


def size_of(text):
    match = re.fullmatch(r"(\d+)(Ki|Mi|Gi)B?", str(text))
    check(match, "not a size:", text)
    return int(match[1]) << {"Ki": 10, "Mi": 20, "Gi": 30}[match[2]]


def defaults_of(test):
    return properties(test.run("config", "--properties").out)


def finds(selector, labels):
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


# ---- whole ----


def each_kustomization_names_all_files_and_only_those(work):
    for overlay in FOLDERS:
        root = folder(work, overlay)
        named = set()
        for path in kustomize.references(root):
            check(os.path.exists(os.path.join(root, path)), f"{overlay}: there is no {path}")
            named.add(os.path.normpath(path))
        found = set(os.listdir(root)) - {"kustomization.yaml"}
        check_equal(found, {n for n in named if not n.startswith("..")},
                    f"{overlay}: files in the folder and files named")


def the_result_is_that_of_kubectl(work):
    if not kustomize.tool():
        raise Skip("neither kubectl nor kustomize is installed: nobody to compare with")
    for overlay in FOLDERS:
        ours = {kustomize.identity(r): r for r in kustomize.render(folder(work, overlay))}
        theirs = {kustomize.identity(r): r for r in kustomize.build(folder(work, overlay))}
        check_equal(ours, theirs, overlay)


def kinds_and_versions_are_known(work):
    for cluster in clusters(work):
        seen = set()
        for resource in cluster.resources:
            identity = kustomize.identity(resource)
            check(identity[:2] in KNOWN, f"{cluster.name}: unknown:", identity)
            check(identity not in seen, f"{cluster.name}: twice:", identity)
            check("namespace" not in resource["metadata"], "a namespace is fixed:", identity)
            seen.add(identity)


PUBLISHED = "kubernetes-validate==1.37.0"  # the schemas that Kubernetes publishes for its latest versions
PIP_SECONDS = 60
FIT = """
import json, sys, kubernetes_validate
errors = []
for resource in json.load(sys.stdin):
    try:
        kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        errors.append([resource["metadata"]["name"], error.message])
json.dump(errors, sys.stdout)
"""


def python_with_schemas(home):
    """A Python that has them, in the build folder; downloaded once for each build."""
    python = os.path.join(home, "bin", "python")
    if not os.path.exists(os.path.join(home, "whole")):
        for command in ([sys.executable, "-m", "venv", "--clear", home],
                        [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", PUBLISHED]):
            try:
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=True, timeout=PIP_SECONDS)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                raise Skip(PUBLISHED + " cannot be had: " + (error.stdout or b"").decode("utf-8", "replace")[-500:]) \
                    from error
        with open(os.path.join(home, "whole"), "w", encoding="utf-8"):
            pass  # an interrupted download is not complete for the next run
    return python


def published_mistakes(python, resources):
    done = subprocess.run([python, "-c", FIT], input=json.dumps(resources), text=True, capture_output=True, check=False)
    check(done.returncode == 0, "the validator failed:", done.stderr[-1000:])
    return json.loads(done.stdout)


def resources_fit_the_published_schemas(work):
    python = python_with_schemas(os.path.join(os.path.dirname(work.program), "kubernetes"))
    checked = 0
    for cluster in clusters(work):
        ours = [r for r in cluster.resources if not any(name in r["apiVersion"] for name in OPERATORS)]
        check_equal(published_mistakes(python, ours), [], cluster.name)
        checked += len(ours)
    check(checked >= 3 * len(OVERLAYS), "almost nothing was checked:", checked)
    policy = next(r for r in ours if r["kind"] == "NetworkPolicy")
    wrong = [{**policy, "spec": {**policy["spec"], "podSelectors": {}}}, {**policy, "spec": {"podSelector": "all"}}]
    check_equal(len(published_mistakes(python, wrong)), 2, "mistakes that are seen")


NPM_SECONDS = 60
KEDA = "@kubernetes-models/keda@0.4.2"  # validators generated from KEDA's own definitions
VALIDATE = """
const errors = [];
for (const r of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {
  const {validate} = require('./node_modules/@kubernetes-models/keda/_schemas/KedaShV1alpha1' + r.kind + '.js');
  if (!validate(r)) errors.push([r.metadata.name, validate.errors.map((e) => [e.instancePath, e.keyword, e.params])]);
}
process.stdout.write(JSON.stringify(errors));
"""


def keda_mistakes(home, resources):
    done = subprocess.run(["node", "-e", VALIDATE], cwd=home, input=json.dumps(resources), text=True,
                          capture_output=True, check=False)
    check(done.returncode == 0, "the validator failed:", done.stderr[-1000:])
    return json.loads(done.stdout)


def resources_of_keda_fit_its_schemas(work):
    home = os.path.join(os.path.dirname(work.program), "keda")
    if not shutil.which("npm") or not shutil.which("node"):
        raise Skip("there is no npm to fetch " + KEDA)
    if not os.path.exists(os.path.join(home, "node_modules", "@kubernetes-models", "keda")):
        os.makedirs(home, exist_ok=True)
        try:
            subprocess.run(["npm", "install", "--prefix", home, "--no-save", "--ignore-scripts", "--no-audit",
                            "--no-fund", KEDA], cwd=home, stdin=subprocess.DEVNULL, capture_output=True, check=True,
                           timeout=NPM_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            shutil.rmtree(home)  # an interrupted download is not complete for the next run
            raise Skip(KEDA + " cannot be had: " + (error.stderr or b"").decode("utf-8", "replace")[-500:]) from error
    checked = 0
    for cluster in clusters(work):
        ours = [r for r in cluster.resources if r["apiVersion"] == "keda.sh/v1alpha1"]
        check_equal(keda_mistakes(home, ours), [], cluster.name)
        checked += len(ours)
        for resource in ours:  # and a wrong resource is refused
            if resource["kind"] == "ScaledObject":
                wrong = {**resource, "spec": {**resource["spec"], "maxReplicaCount": "four"}}
                check(keda_mistakes(home, [wrong]), "a text for a number passes")
    check(checked >= 2, "almost nothing was checked:", checked)


STRIMZI = "io.strimzi:api:0.49.0"  # the classes from which Strimzi's own definitions are generated
MAVEN_SECONDS = 90
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>samepage</groupId><artifactId>strimzi</artifactId>
<version>1</version><packaging>pom</packaging><dependencies><dependency><groupId>{}</groupId><artifactId>{}</artifactId>
<version>{}</version></dependency></dependencies></project>"""


def strimzi_classes(home):
    """The folder of Strimzi's jars, downloaded by Maven once for each build."""
    jars = os.path.join(home, "jars")
    for tool in "mvn", "java":
        if not shutil.which(tool):
            raise Skip(f"there is no {tool} to fetch and use {STRIMZI}")
    if not os.path.exists(jars):
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, "pom.xml"), "w", encoding="utf-8") as f:
            f.write(POM.format(*STRIMZI.split(":")))
        try:
            subprocess.run(["mvn", "-q", "-B", "-Dstyle.color=never", "-f", f.name, "dependency:copy-dependencies",
                            "-DoutputDirectory=" + jars], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=True, timeout=MAVEN_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            shutil.rmtree(home)
            raise Skip(STRIMZI + " cannot be had: " + (error.stdout or b"").decode("utf-8", "replace")[-500:]) from error
    return jars


def strimzi_mistakes(jars, resources):
    done = subprocess.run(["java", "-cp", os.path.join(jars, "*"), os.path.join(HERE, "Strimzi.java")],
                          input=json.dumps(resources), text=True, capture_output=True, check=False)
    check(done.returncode == 0, "the validator failed:", done.stderr[-2000:])
    return done.stdout.splitlines()


def resources_of_strimzi_fit_its_classes(work):
    jars = strimzi_classes(os.path.join(os.path.dirname(work.program), "strimzi"))
    ours, wrong = [], []
    for cluster in clusters(work):
        ours += [r for r in cluster.resources if r["apiVersion"].startswith("kafka.strimzi.io/")]
    check({r["kind"] for r in ours} == {"KafkaTopic", "KafkaUser"} and len(ours) > 25, "few resources", len(ours))
    check_equal(strimzi_mistakes(jars, ours), [], "mistakes")
    topic = next(r for r in ours if r["kind"] == "KafkaTopic")
    user = next(r for r in ours if r["kind"] == "KafkaUser")
    for resource, change, says in (
            (topic, {"partitions": "four"}, "four"), (topic, {"config": [1]}, "from Array value"),
            (topic, {"partition": 4}, "spec.partition"), (user, {"authorisation": {}}, "spec.authorisation"),
            (user, {"authentication": {"type": "password"}}, "password"),
            (user, {"authorization": {"type": "simple", "acls": [{"resource": {"type": "topic", "nam": "a"}}]}},
             "spec.authorization.acls.resource.nam")):
        wrong.append(({**resource, "spec": {**resource["spec"], **change}}, says))
    wrong.append(({**topic, "apiVersion": "kafka.strimzi.io/v9"}, "v9"))
    found = strimzi_mistakes(jars, [r for r, _ in wrong])
    check_equal(len(found), len(wrong), "mistakes: " + "\n".join(found))
    for message, (resource, says) in zip(found, wrong):
        check_in(says, message)
        check_in(resource["metadata"]["name"], message)


# ---- agree with each other ----


def selectors_find_one_stage_each(work):
    for cluster in clusters(work):
        pods = {stage: cluster.workload(stage)["spec"]["template"]["metadata"]["labels"]
                for stage in cluster.pods}
        for stage in cluster.pods:
            name = f"samepage-{stage}"
            selectors = [
                cluster.workload(stage)["spec"]["selector"]["matchLabels"],
                cluster.one("Service", name)["spec"]["selector"],
                cluster.one("PodDisruptionBudget", name)["spec"]["selector"]["matchLabels"]]
            selectors += [c["labelSelector"]["matchLabels"]
                          for c in cluster.pod(stage)["topologySpreadConstraints"]]
            check_equal([c["topologyKey"] for c in cluster.pod(stage)["topologySpreadConstraints"]],
                        ["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
                        f"{cluster.name}: {stage} spreads over")
            for selector in selectors:
                check_equal([s for s in cluster.pods if finds(selector, pods[s])], [stage],
                            f"{cluster.name}: stages that {selector} finds")


def names_lead_to_resources(work):
    for cluster in clusters(work):
        for stage in cluster.pods:
            pod, kind = cluster.pod(stage), cluster.workload(stage)["kind"]
            cluster.one("ServiceAccount", pod["serviceAccountName"])
            for volume in pod["volumes"]:
                if "configMap" in volume:
                    cluster.one("ConfigMap", volume["configMap"]["name"])
            if kind == "StatefulSet":
                service = cluster.workload(stage)["spec"]["serviceName"]
                check_equal(cluster.one("Service", service)["spec"]["clusterIP"], "None",
                            f"{cluster.name}: {service} is headless")
        for scaler in cluster.all("ScaledObject"):
            target = scaler["spec"]["scaleTargetRef"]
            deployment = cluster.one(target["kind"], target["name"])
            check("replicas" not in deployment["spec"],
                  f"{cluster.name}: replicas of {target['name']} are the scaler's")


def topics_are_those_that_the_program_makes(work):
    for number, cluster in enumerate(clusters(work)):
        path = work.write(f"{number}.properties", known_settings(work, cluster.text))
        wanted = list(kustomize.yaml.safe_load_all(work.run("topics", "manifest", "--config", path).out))
        check_equal(len(wanted), 11, "topics of the program")
        found = cluster.all("KafkaTopic")
        for topic in found:
            check(topic["metadata"]["labels"].get("strimzi.io/cluster"), "whose topic?", topic)
        check_equal([(t["metadata"]["name"], t["spec"]) for t in found],
                    [(t["metadata"]["name"], t["spec"]) for t in wanted], cluster.name)


def operations_say_how_long_topics_keep_what(work):
    """The table of topics in docs/OPERATIONS.md, column "kept"."""
    with open(os.path.join(work.source, "docs", "OPERATIONS.md"), encoding="utf-8") as f:
        rows = dict(re.findall(r"(?m)^\| `([a-z0-9-]+)` \|.*?\| ((?:delete|compact).*?) \|", f.read()))
    for topic in kustomize.yaml.safe_load_all(work.run("topics", "manifest").out):
        name, config = topic["spec"]["topicName"].partition(".")[2], topic["spec"]["config"]
        policy = config["cleanup.policy"]
        days = config["delete.retention.ms" if policy == "compact" else "retention.ms"] // 86400000
        words = {"delete": f"delete after {days} days", "compact": f"compact; deletions {days} days",
                 "compact,delete": f"compact, and delete after {days} days"}[policy]
        check(rows.get(name, "").startswith(words), name, words, "OPERATIONS:", rows.get(name))


def no_stage_has_more_pods_than_partitions(work):
    for cluster in clusters(work):
        for stage, key in (("group", "tier1.partitions"), ("compare", "tier2.partitions")):
            replicas = cluster.workload(stage)["spec"]["replicas"]
            check(1 <= replicas <= cluster.number(key),
                  f"{cluster.name}: {replicas} pods of {stage}, {key} = {cluster.number(key)}")
        check(cluster.number("tier2.partitions") <= cluster.number("partition.cells"),
              f"{cluster.name}: partitions of tier 2 without a cell")
        pages = cluster.number("topics.pages_partitions")
        check(cluster.workload("signature")["spec"].get("replicas", 1) <= pages, "signature pods")
        for scaler in cluster.all("ScaledObject"):
            spec = scaler["spec"]
            check(1 <= spec["minReplicaCount"] <= spec["maxReplicaCount"], "scaler's range")
            check_equal(spec["maxReplicaCount"], pages, f"{cluster.name}: scaler's maximum")


def the_scaler_looks_at_the_lag_of_pages(work):
    for cluster in clusters(work):
        check_equal(len(cluster.all("ScaledObject")), 0 if "small" in cluster.name else 1,
                    f"{cluster.name}: scalers")
        for scaler in cluster.all("ScaledObject"):
            check_equal([t["type"] for t in scaler["spec"]["triggers"]], ["kafka"], "triggers")
            trigger = scaler["spec"]["triggers"][0]["metadata"]
            prefix = cluster.settings["topics.prefix"]
            check_equal(trigger["topic"], prefix + "pages", "topic")
            check_equal(trigger["consumerGroup"], prefix + "signature", "consumer group")
            servers = cluster.environment("signature").get("SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS",
                                                           cluster.settings["kafka.bootstrap.servers"])
            check_equal(trigger["bootstrapServers"], servers, "bootstrap servers of scaler and stages")
            check(all(isinstance(value, str) for value in trigger.values()), "KEDA wants texts")


# ---- agree with the settings ----


def probes_ask_where_the_program_listens(work):
    paths = {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
    for cluster in clusters(work):
        check_equal(cluster.settings["http.listen"], "0.0.0.0:8080", cluster.name)
        for stage in cluster.pods:
            container = cluster.container(stage)
            ports = {p["name"]: p["containerPort"] for p in container["ports"]}
            for probe, path in paths.items():
                get = container[probe]["httpGet"]
                check_equal((get["path"], ports.get(get["port"])), (path, 8080),
                            f"{cluster.name}: {stage}: {probe}")
            served = cluster.one("Service", f"samepage-{stage}")["spec"]["ports"]
            check_equal([ports.get(p["targetPort"]) for p in served], [8080], "the service's port")
            notes = cluster.workload(stage)["spec"]["template"]["metadata"].get("annotations", {})
            # Prometheus cannot be told a token by annotations.
            token = "--token-file" in container["args"]
            check_equal(notes.get("prometheus.io/port"), None if token else "8080", "annotation")


def state_lies_on_the_volume(work):
    for cluster in clusters(work):
        for stage in cluster.stages:
            kind, container = cluster.workload(stage)["kind"], cluster.container(stage)
            mounts = {m["mountPath"]: m for m in container["volumeMounts"]}
            state = mounts.get(cluster.settings["state.directory"])
            check(state and not state.get("readOnly"), f"{cluster.name}: {stage}: no place for state")
            claims = [c["metadata"]["name"]
                      for c in cluster.workload(stage)["spec"].get("volumeClaimTemplates", [])]
            volumes = [v["name"] for v in cluster.pod(stage)["volumes"]]
            check(state["name"] in (claims if kind == "StatefulSet" else volumes),
                  f"{cluster.name}: {stage}: {state['name']} is not a volume")
            for mount in mounts.values():
                check(mount["name"] in claims + volumes, "mounted from nowhere:", mount)
            check_equal(container["args"][:2], [stage, "--config"], "arguments")
            check_in(os.path.dirname(container["args"][2]), "\n".join(mounts), "settings")
            check_equal(os.path.basename(container["args"][2]), "samepage.properties", "settings")


def an_instance_is_called_after_its_pod(work):
    for cluster in clusters(work):
        for stage in cluster.stages:
            variables = {e["name"]: e for e in cluster.container(stage)["env"]}
            field = variables["SAMEPAGE_SET_INSTANCE"]["valueFrom"]["fieldRef"]["fieldPath"]
            check_equal(field, "metadata.name", f"{cluster.name}: {stage}")
            check(cluster.pod(stage)["terminationGracePeriodSeconds"] >= 60, "little time to leave")
        check("instance" not in cluster.settings, "one name for all pods")


def pods_have_no_privileges(work):
    for cluster in clusters(work):
        for stage in cluster.pods:
            pod, where = cluster.pod(stage), f"{cluster.name}: {stage}"
            rights = cluster.container(stage)["securityContext"]
            check(pod["securityContext"]["runAsNonRoot"] is True, where, "may be root")
            check(pod["securityContext"]["runAsUser"] > 0, where, "is root")
            check(pod["securityContext"].get("fsGroup", 0) > 0, where, "cannot write its volume")
            check(rights["readOnlyRootFilesystem"] is True, where, "writes to its root")
            check(rights["allowPrivilegeEscalation"] is False, where, "may gain rights")
            check_equal(rights["capabilities"], {"drop": ["ALL"]}, where)
            check(pod["automountServiceAccountToken"] is False, where, "has a token")
            check(not any(pod.get(k) for k in ("hostNetwork", "hostPID", "hostIPC")), where, "host")
            check_equal(cluster.container(stage)["image"], "samepage:latest", where)


def memory_left(cluster, stage, key):
    """The limit without what the settings allow, and 512 MiB for the consumer, the producer and everything else."""
    return (size_of(cluster.container(stage)["resources"]["limits"]["memory"]) -
            size_of(cluster.settings["cache.bytes"]) - (512 << 20) -
            size_of(cluster.settings["store.block_cache_bytes"]) -
            3 * max(size_of(cluster.settings["store.memtable_bytes"]), cluster.number(key) << 20))  # never empty


def memory_limits_have_room_for_all_partitions(work):
    for cluster in clusters(work):
        for stage, key in (("group", "tier1.partitions"), ("compare", "tier2.partitions")):
            left = memory_left(cluster, stage, key)
            check(left >= 0, f"{cluster.name}: {stage}: {-left >> 20} MiB do not fit")


def the_readme_says_how_many_contents_fit_in_the_memory_of_compare(work):
    """What is left for the index, by the most that docs/OPERATIONS.md says a content takes."""
    with open(os.path.join(work.source, "docs", "OPERATIONS.md"), encoding="utf-8") as f:
        most = int(re.search(r"It takes \d+ to (\d+) bytes for each distinct\s+content", f.read())[1])
    with open(os.path.join(work.source, "k8s", "README.md"), encoding="utf-8") as f:
        text = " ".join(f.read().split())
    check_in(f"to {most} bytes for each distinct content", text, "README")
    said = {name: float(number) for number, name in
            re.findall(r"([\d.]+) million(?: contents)? in `(base|overlays/small|overlays/large)`", text)}
    check_equal(sorted(said), ["base", "overlays/large", "overlays/small"], "overlays that the README names")
    for cluster in clusters(work):
        millions = memory_left(cluster, "compare", "tier2.partitions") / most / 1e6
        check_equal(said.get(cluster.name, said["base"]), int(10 * millions) / 10, cluster.name)


def share_of_a_pod(partitions, pods, replicas):
    """The most partitions that one pod may have and copy: processors/runners/kafka/standby.h."""
    def given(members, position):
        starts = [p * (partitions // members) + min(p, partitions % members) for p in range(members + 1)]
        return set(range(starts[position], starts[position + 1]))

    most = 0
    for position in range(pods):
        kept = given(pods, position)
        for gone in range(1, min(replicas, pods - 1) + 1):
            for before in range(max(0, gone - (pods - 1 - position)), min(gone, position) + 1):
                kept |= given(pods - gone, position - before)
        most = max(most, len(kept))
    return most


def more_than_one_pod_keep_standby_copies_for_which_there_is_room(work):
    """On the volumes, for the states that k8s/README.md names, doubled for compactions; and in memory (docs/OPERATIONS.md)."""
    check_equal([share_of_a_pod(4, 2, 1), share_of_a_pod(24, 6, 1), share_of_a_pod(24, 6, 0), share_of_a_pod(1, 1, 1)],
                [4, 10, 4, 1], "shares")
    with open(os.path.join(work.source, "k8s", "README.md"), encoding="utf-8") as f:
        text = " ".join(f.read().split())
    room = {name: int(gib) << 30 for gib, name in re.findall(r"(\d+) GiB(?: a stage)? in `([a-z/]+)`", text)}
    check_equal(sorted(room), ["base", "overlays/large"], "states that the README names")
    for cluster in clusters(work):
        replicas = int(cluster.settings.get("standby.replicas", 0))
        for stage, key in (("group", "tier1.partitions"), ("compare", "tier2.partitions")):
            where, workload, partitions = f"{cluster.name}: {stage}", cluster.workload(stage), cluster.number(key)
            pods = workload["spec"]["replicas"]
            check_equal(replicas, 1 if pods > 1 else 0, f"{where}: {pods} pods, and standby.replicas")
            most = share_of_a_pod(partitions, pods, replicas)
            need = (size_of(cluster.settings["cache.bytes"]) + (512 << 20) +
                    size_of(cluster.settings["store.block_cache_bytes"]) +
                    3 * size_of(cluster.settings["store.memtable_bytes"]) + (24 * most + 128) * replicas * 10**6)
            check(need <= size_of(cluster.container(stage)["resources"]["limits"]["memory"]), where, "memory:", need >> 20)
            state = room.get(cluster.name, room["base"])
            if pods > 1:
                (claim,) = workload["spec"]["volumeClaimTemplates"]
                volume = size_of(claim["spec"]["resources"]["requests"]["storage"])
                check(2 * state * most <= volume * partitions, f"{where}: {volume >> 30} GiB a volume")


def no_pod_requests_more_than_its_limit(work):
    for cluster in clusters(work):
        for stage in cluster.pods:
            resources = cluster.container(stage)["resources"]
            check(size_of(resources["requests"]["memory"]) <= size_of(resources["limits"]["memory"]),
                  f"{cluster.name}: {stage}: requests more memory than its limit")
            check(resources["requests"]["cpu"], f"{cluster.name}: {stage}: no processor")


# ---- accepted by the program ----


def asks_for_a_broker(work, started):
    """The program took its settings, and found no broker behind a closed port."""
    for name, process in started:
        message = process.communicate()[1].decode("utf-8", "replace")
        check(process.returncode == 1, f"{name}: exit code {process.returncode}\n{message}")
        check_in("no broker is reachable", message, name)


def start(work, *arguments, environment=None):
    return work.start("topics", "check", *arguments, "--set", NOWHERE, stderr=subprocess.PIPE,
                      env={**os.environ, **(environment or {})})


def known_settings(work, text):
    """Without http.listen where the program does not have it; a test of its own says so."""
    if "http.listen" in defaults_of(work):
        return text
    return re.sub(r"(?m)^http\..*\n", "", text)


def the_program_has_the_setting_http_listen(work):
    if "http.listen" not in defaults_of(work):
        raise Skip("this samepage has no http.listen yet: probes would fail")


def settings_are_accepted_by_the_program(work):
    started = []
    for number, cluster in enumerate(clusters(work)):
        path = work.write(f"{number}.properties", known_settings(work, cluster.text))
        started.append((cluster.name, start(work, "--config", path)))
    asks_for_a_broker(work, started)
    path = work.write("wrong.properties", cluster.text + "no.such_setting = 1\n")
    work.run("topics", "check", "--config", path, "--set", NOWHERE, code=2)


def the_secret_in_the_readme_is_accepted_by_the_program(work):
    with open(os.path.join(work.source, "k8s", "README.md"), encoding="utf-8") as f:
        block = re.search(r"(?m)^    apiVersion: v1\n    kind: Secret\n(?:    .*\n)+", f.read())[0]
    secret = kustomize.documents(re.sub(r"(?m)^    ", "", block))[0]
    variables = secret["stringData"]
    cluster = Cluster(work, "base")
    for stage in STAGES:
        check_equal([s["secretRef"]["name"] for s in cluster.container(stage)["envFrom"]],
                    [secret["metadata"]["name"]], f"{stage}: Secret")
    check(len(variables) >= 5, "few variables:", variables)
    if not shutil.which("openssl"):
        raise Skip("there is no openssl to make a certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test",
                    "-keyout", work.path("key"), "-out", work.path("ca")],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    variables["SAMEPAGE_SET_KAFKA_SSL_CA_PEM"] = work.read("ca").decode()
    variables["SAMEPAGE_SET_INSTANCE"] = "samepage-group-0"
    asks_for_a_broker(work, [("Secret", start(work, environment=variables))])


if __name__ == "__main__":
    main("__main__")
