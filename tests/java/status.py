"""examples/java/Status.java reads what an Avro encoder writes, and refuses everything else.

usage: status.py SOURCE
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FINGERPRINT = 0x1BF0184F5B3C2A76
NO_CONTAINER = 0xCDB166BAFD669F8D
NO_RULE = 0x052AEAFB6E82C021
RULES = ("POPULARITY", "STATIC", "SHORT", "MARKET", "ID", "OVERRIDE")
KINDS, REASONS = ("UNIQUE", "WINNER", "LOSER", "GONE"), ("CONTENT", "REDIRECT", "EXACT")


def number(value):
    value = (value << 1) ^ (value >> 63) if value < 0 else value << 1
    value &= 2 ** 64 - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(value):
    data = value.encode()
    return number(len(data)) + data


def optional(value, encode):
    return number(0) if value is None else number(1) + encode(value)


def body(url, version, kind, winner, similarity, reason, group, size, epoch, *rest):
    return (text(url) + number(version) + number(KINDS.index(kind)) + optional(winner, text)
            + optional(similarity, lambda x: struct.pack("<f", x))
            + optional(reason, lambda x: number(REASONS.index(x))) + text(group) + number(size) + number(epoch)
            + (optional(rest[0], lambda x: number(RULES.index(x))) if rest else b"")
            + (optional(rest[1], text) + optional(rest[2], lambda x: struct.pack("<f", x)) if rest[1:] else b""))


def framed(data, registry=False, fingerprint=FINGERPRINT):
    return b"\0\0\0\0\7" + data if registry else b"\xc3\x01" + struct.pack("<Q", fingerprint) + data


def events(chance, count):
    edges = (0, 1, -1, 63, 64, -64, -65, 2 ** 31, -(2 ** 63), 2 ** 63 - 1)
    for _ in range(count):
        yield ("http://x.example/" + chance.choice(("", "\u00e9", "\U0001f600", "a" * 300)), chance.choice(edges),
               chance.choice(KINDS), chance.choice((None, "http://w.example/")),
               chance.choice((None, 0.5, 1.0, 0.875)), chance.choice((None, *REASONS)), "18-00",
               chance.choice(edges), chance.choice(edges), chance.choice((None, *RULES)), *chance.choice(((None, None), ("http://c.example/", 0.9375))))


def line(event):
    return "\t".join("null" if field is None else str(field) for field in event)


def main(source):
    if not (shutil.which("javac") and shutil.which("java")):
        print("SKIPPED: there is no JDK (tools/setup kafka)")
        sys.exit(77)
    chance = random.Random(1)
    good = list(events(chance, 300))
    values = [framed(body(*event), n % 3 == 0) for n, event in enumerate(good)]
    whole = framed(body(*good[1]))
    old = [event[:9] for event in good[:20]]  # before there was a rule
    older = [event[:10] for event in good[20:40]]  # before there was contained_in
    for fingerprint, olds in ((NO_RULE, old), (NO_CONTAINER, older)):
        values += [framed(body(*event), n % 2 == 0, fingerprint) for n, event in enumerate(olds)]
        good += [(*event, *[None] * (12 - len(event))) for event in olds]
    bad = [whole[:size] for size in range(len(whole))]
    bad += [whole + b"\0", b"\xc3\x01" + b"\0" * 8 + whole[10:], b"{}", whole[:10] + b"\xff" * 20,
            framed(number(2) + b"\xff" + body(*good[1])[1:]), framed(number(-5)), framed(body(*old[0])),
            framed(body(*older[0])), framed(body(*old[0]) + b"\0", fingerprint=NO_RULE),
            framed(body(*older[0]) + b"\0", fingerprint=NO_CONTAINER), framed(number(2 ** 40) + b"x")]
    damaged = [bytes(b ^ (1 << chance.randrange(8)) if at == place else b for at, b in enumerate(whole))
               for place in range(len(whole))]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["javac", "-Xlint:all", "-Werror", "--release", "8", "-Xlint:-options", "-d", work,
                        os.path.join(source, "examples/java/Status.java"), os.path.join(HERE, "DecodeLines.java")],
                       check=True)
        done = subprocess.run(["java", "-Xmx64m", "-cp", work, "DecodeLines"], check=True,
                              input="".join(v.hex() + "\n" for v in values + bad + damaged).encode("ascii"),
                              stdout=subprocess.PIPE)
    said = done.stdout.decode().split("\n")[:-1]
    if len(said) != len(values) + len(bad) + len(damaged):
        raise SystemExit(f"{len(said)} lines for {len(values) + len(bad) + len(damaged)} values")
    for event, got in zip(good, said):
        if got != line(event):
            raise SystemExit(f"{event} was read as {got!r}")
    for value, got in zip(bad, said[len(good):]):
        if not got.startswith("wrong: "):
            raise SystemExit(f"{value.hex()} was read as {got!r}")
    print(f"{len(good)} events read, {len(bad)} others refused, {len(damaged)} damaged ones read or refused")


main(*sys.argv[1:])
