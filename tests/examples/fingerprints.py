"""The examples in Java write and read messages of the schemas that there are now: the fingerprints in their
sources are those of schemas/*.avsc. Their own tests need Maven.

usage: fingerprints.py SOURCE
"""

import json
import os
import re
import sys

EXAMPLES = {"examples/crawlers/common/src/main/java/samepage/Page.java": "page",
            "examples/java/Status.java": "status"}
EMPTY = 0xC15D213AA4D7A795


def canonical(schema):
    """Avro's Parsing Canonical Form, as far as these schemas need it."""
    if isinstance(schema, str):
        return json.dumps(schema)
    if isinstance(schema, list):
        return "[" + ",".join(map(canonical, schema)) + "]"
    name = json.dumps(f"samepage.{schema['name']}") if "name" in schema else ""
    if schema["type"] == "record":
        fields = ",".join(f'{{"name":{json.dumps(f["name"])},"type":{canonical(f["type"])}}}' for f in schema["fields"])
        return f'{{"name":{name},"type":"record","fields":[{fields}]}}'
    if schema["type"] == "enum":
        return f'{{"name":{name},"type":"enum","symbols":{json.dumps(schema["symbols"], separators=(",", ":"))}}}'
    return canonical(schema["type"])


def crc_64_avro(data):
    value = EMPTY
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (EMPTY if value & 1 else 0)
    return value


def main(source):
    for path, name in EXAMPLES.items():
        with open(os.path.join(source, "schemas", name + ".avsc"), encoding="utf-8") as file:
            wanted = crc_64_avro(canonical(json.load(file)).encode())
        with open(os.path.join(source, path), encoding="utf-8") as file:
            found = re.search(r"FINGERPRINT = 0x([0-9a-f]{16})L;", file.read())
        if not found or int(found[1], 16) != wanted:
            raise SystemExit(f"{path}: its fingerprint is not 0x{wanted:016x}, that of schemas/{name}.avsc")


main(*sys.argv[1:])
