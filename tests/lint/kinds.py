#!/usr/bin/env python3
"""A kind of message that is added does not compile until each switch over kinds handles it.

  kinds.py SOURCE BUILD     every C file of BUILD that has `case SP_MSG_...:`

Each is compiled with a page/message.h that has one kind more: the compiler must complain of as many
switches as there are.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = "processors/model/page/message.h"
LAST = re.compile(r"(enum sp_message_kind \{.*?)(\s*/\*[^*]*\*/)?\n\};", re.S)
SWITCH = re.compile(r"\bswitch \(.*?(?=\bswitch \(|\Z)", re.S)


def add_kind(source, folder):
    text, count = LAST.subn(r"\1, SP_MSG_ADDED\n};", (source / HEADER).read_text(), count=1)
    assert count == 1, f"{HEADER} has no enum sp_message_kind"
    (folder / "page").mkdir()
    (folder / "page" / "message.h").write_text(text)


def complaints(entry, folder):
    """The lines of switches that the compiler finds incomplete."""
    command = entry["command"].split()
    command[command.index("-o") + 1] = os.devnull
    command[1:1] = ["-I", str(folder), "-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], env={**os.environ, "LC_ALL": "C"},
                          stderr=subprocess.PIPE, text=True)
    lines = set(re.findall(r":(\d+):\d+: error: .*'SP_MSG_ADDED' not (?:explicitly )?handled", done.stderr))
    return lines if done.returncode else set()


def main(source, build):
    source = Path(source).resolve()
    problems, switches = [], 0
    entries = {e["file"]: e for e in json.loads((Path(build) / "compile_commands.json").read_text())}
    with tempfile.TemporaryDirectory() as folder:
        add_kind(source, Path(folder))
        for path in sorted(entries):
            if not path.endswith(".c"):
                continue
            code = re.sub(r"/\*.*?\*/", "", Path(path).read_text(), flags=re.S)
            wanted = sum("case SP_MSG_" in text for text in SWITCH.findall(code))
            found = len(complaints(entries[path], Path(folder))) if wanted else 0
            switches += wanted
            if wanted != found:
                problems.append(f"{path}: of {wanted} switches over kinds of messages {found} notice "
                                "one that is added: no `default:`, and -Werror=switch-enum")
    print("\n".join(problems + [f"{switches} switches, {len(problems)} problems"]))
    return 1 if problems or not switches else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
