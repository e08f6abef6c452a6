#!/usr/bin/env python3
"""Hardening, checked on the built files: programs are position-independent; relocation tables are
read-only and stacks not executable; and every object that we compile has checked sizes, stack protection
and marked targets of indirect calls.

  hardened.py BUILD    all that was compiled and linked in this folder
  hardened.py FILE     one linked program or library, wherever it is from
"""

import json
import os
import re
import shlex
import subprocess
import sys

# With checked sizes these functions are replaced by others. (Not snprintf, which stays where the
# compiler has proved that the size is right.)
UNCHECKED = re.compile(r"^(\S+?):.* U (v?printf|v?fprintf|v?sprintf)(@|$)")
OPTIONS = ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=3", "-ffp-contract=off")  # the last: Options.cmake says why


def said(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def linked_problems(path):
    """What is wrong with a program or a shared library, as linked."""
    header = said("readelf", "-hW", path)
    segments = said("readelf", "-lW", path).splitlines()
    dynamic = said("readelf", "-dW", path)
    stack = [line.split()[6] for line in segments if "GNU_STACK" in line]
    if "DYN (" not in header:
        yield "does not lie anywhere in memory (no PIE)"
    if not any("GNU_RELRO" in line for line in segments):
        yield "no RELRO"
    if "NOW" not in dynamic:
        yield "symbols are not bound at once"
    if stack != ["RW"]:
        yield f"the stack is {stack}, not RW"
    if "(TEXTREL)" in dynamic:
        yield "its code is written to when it is loaded"


def objects_problems(commands):
    """What is wrong with objects: by their calls and notes, or by compiler options that leave no trace."""
    objects = list(commands)
    for path, command in commands.items():
        yield from ((path, f"compiled without {option}") for option in OPTIONS
                    if option not in command)
    for line in said("nm", "-A", *objects).splitlines():
        call = UNCHECKED.match(line)
        if call:
            yield call[1], f"calls {call[2]} without a check of sizes"
    if "X86-64" not in said("readelf", "-hW", objects[0]):
        return
    for part in said("readelf", "-nW", *objects).split("File: ")[1:]:
        if "IBT, SHSTK" not in part:
            yield part.split("\n", 1)[0], "does not mark where indirect calls may land"


def elf_files(build):
    """Programs and shared libraries in the folder, except for CMake's compiler checks and what tests have installed.
    """
    for folder, folders, names in os.walk(build):
        folders[:] = [f for f in folders if f not in ("CMakeFiles", "python", "site-packages", "node_modules")]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or name.endswith((".a", ".o")):
                continue
            with open(path, "rb") as f:
                if f.read(4) == b"\x7fELF":
                    yield path


def compiled(build):
    """The command that compiled each existing object."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    commands = {}
    for entry in entries:
        command = shlex.split(entry["command"])
        path = os.path.join(entry["directory"], command[command.index("-o") + 1])
        if os.path.exists(path):
            commands[path] = command
    return commands


def main():
    where = sys.argv[1]
    if os.path.isfile(where):
        problems = [(where, p) for p in linked_problems(where)]
        problems += [(where, f"no call of {check}") for check in ("__stack_chk_fail", "__snprintf_chk")
                     if check not in said("nm", "-D", where)]
    else:
        commands, linked = compiled(where), sorted(elf_files(where))
        problems = list(objects_problems(commands))
        problems += [(path, p) for path in linked for p in linked_problems(path)]
        print(f"{len(commands)} objects, {len(linked)} programs and libraries")
        if len(commands) < 200 or len(linked) < 20:
            problems.append((where, "too little was built to say anything"))
    for path, problem in problems:
        print(f"{path}: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
