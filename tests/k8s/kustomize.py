"""The part of kustomize that k8s/ uses: resources, patches by path, configMapGenerator with files.

A patch of a built-in kind of Kubernetes is a strategic merge: lists of named items are merged by name, other lists are
replaced. A patch of a custom resource replaces all lists.
"""

import os
import re
import shutil
import subprocess

import yaml

FIELDS = {"apiVersion", "kind", "resources", "patches", "configMapGenerator"}
MERGED = {"containers": "name", "env": "name", "volumes": "name", "volumeMounts": "mountPath",
          "topologySpreadConstraints": "topologyKey"}


class Broken(Exception):
    """A file that kustomize would refuse."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # the one in C is eight times as fast
    """Refuses duplicate keys, which YAML forbids and PyYAML accepts."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise Broken(f"a key is there twice{node.start_mark}: {keys}")
        return super().construct_mapping(node, deep)


def documents(text):
    return [d for d in yaml.load_all(text, Loader) if d is not None]  # a SafeLoader


def load(path):
    with open(path, encoding="utf-8") as f:
        return documents(f)


def identity(resource):
    return resource["apiVersion"], resource["kind"], resource["metadata"]["name"]


def read(root):
    (kustomization,) = load(os.path.join(root, "kustomization.yaml"))
    if kustomization["kind"] != "Kustomization" or set(kustomization) - FIELDS:
        raise Broken(f"{root}: fields that this program does not know: {set(kustomization) - FIELDS}")
    return kustomization


def references(root):
    """The paths that a kustomization names."""
    kustomization = read(root)
    yield from kustomization.get("resources", [])
    for patch in kustomization.get("patches", []):
        yield patch["path"]
    for generator in kustomization.get("configMapGenerator", []):
        yield from generator["files"]


def merge_list(old, new, key):
    """New items come first, as in kustomize."""
    merged, added = list(old), []
    for item in new:
        at = [i for i, other in enumerate(merged) if other[key] == item[key]]
        if at:
            merged[at[0]] = merge(merged[at[0]], item, True)
        else:
            added.append(item)
    return added + merged


def merge(old, new, strategic):
    merged = dict(old)
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(old.get(key), dict):
            merged[key] = merge(old[key], value, strategic)
        elif strategic and key in MERGED and key in old:
            merged[key] = merge_list(old[key], value, MERGED[key])
        else:
            merged[key] = value
    return merged


def apply(resources, patch):
    at = [i for i, r in enumerate(resources) if identity(r) == identity(patch)]
    if len(at) != 1:
        raise Broken(f"a patch for {identity(patch)}, of which there are {len(at)}")
    if patch.get("$patch") == "delete":
        del resources[at[0]]
        return
    own = "." not in patch["apiVersion"]  # apps/v1, not keda.sh/v1alpha1
    resources[at[0]] = merge(resources[at[0]], patch, own)


def generate(resources, root, generator):
    data = {}
    for path in generator["files"]:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            data[os.path.basename(path)] = f.read()
    metadata = {"name": generator["name"]}
    options = generator.get("options", {})
    if set(options) - {"labels", "disableNameSuffixHash"}:
        raise Broken(f"{root}: options that this program does not know: {options}")
    if "labels" in options:
        metadata["labels"] = options["labels"]
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    known = identity(made) in [identity(r) for r in resources]
    if known != (generator.get("behavior") == "replace"):
        raise Broken(f"{root}: the ConfigMap {generator['name']} is{'' if known else ' not'} there")
    resources[:] = [r for r in resources if identity(r) != identity(made)] + [made]


def render(root):
    """All resources of a folder with a kustomization; ConfigMap names without their hash."""
    kustomization, resources = read(root), []
    for path in kustomization.get("resources", []):
        path = os.path.join(root, path)
        resources += render(path) if os.path.isdir(path) else load(path)
    for generator in kustomization.get("configMapGenerator", []):
        generate(resources, root, generator)
    for entry in kustomization.get("patches", []):
        for patch in load(os.path.join(root, entry["path"])):
            apply(resources, patch)
    return resources


def tool():
    """The command of kustomize itself, if it is installed."""
    for program, command in (("kustomize", "build"), ("kubectl", "kustomize")):
        if shutil.which(program):
            return [program, command]
    return None


def build(root):
    """What kustomize itself builds from the folder; ConfigMap names without their hash."""
    text = subprocess.run([*tool(), root], stdout=subprocess.PIPE, check=True, text=True).stdout
    for resource in documents(text):
        name = resource["metadata"]["name"]
        if resource["kind"] == "ConfigMap":
            text = text.replace(name, re.sub(r"-[a-z0-9]{10}$", "", name))
    return documents(text)
