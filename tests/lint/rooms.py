#!/usr/bin/env python3
"""The build keeps modules apart: a module sees the public headers of the modules that its
CMakeLists.txt names, and nothing else; and modules only name what lies below them.

  rooms.py SOURCE BUILD     SOURCE/processors as configured in BUILD
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ["platform", "model", "stages", "runners", "programs"]


class Module:
    def __init__(self, folder, text):
        call = re.search(r"sp_module\((\w+)(.*?)\)\n", text + "\n", re.S)
        self.name, self.folder, words = call[1], folder, call[2].split()
        self.lists = {"HEADERS": [], "SOURCES": [], "DEPENDS": []}
        current = None
        for word in words:
            if word in self.lists:
                current = self.lists[word]
            else:
                current.append(word)
        self.public = {f"{self.name}/{header}" for header in self.lists["HEADERS"]}
        self.headers = {f"{self.name}/{path.name}" for path in folder.glob("*.h")}
        self.depends = [d[3:] for d in self.lists["DEPENDS"] if d.startswith("sp_")]


def modules_of(source):
    found = {}
    for lists in sorted((source / "processors").rglob("CMakeLists.txt")):
        text = lists.read_text()
        if "sp_module(" in text:
            module = Module(lists.parent, text)
            found[module.name] = module
    return found


def room_of(source, module):
    return ROOMS.index(module.folder.relative_to(source / "processors").parts[0])


def circle_from(modules, name, path=()):
    """The first cycle of modules that name one another, or None."""
    if name in path:
        return " -> ".join(path[path.index(name):] + (name,))
    circles = (circle_from(modules, below, path + (name,)) for below in modules[name].depends)
    return next((circle for circle in circles if circle), None)


def compile_commands(build):
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith(".c"):
            commands.setdefault(Path(entry["file"]).parent, entry["command"].split())
    return commands


def compiles(command, header):
    """Whether a file of that module can include the header."""
    keep = [word for word in command if word.startswith(("-I", "-D", "-std"))]
    compiler = command[1] if Path(command[0]).name == "ccache" else command[0]
    done = subprocess.run([compiler, *keep, "-fsyntax-only", "-x", "c", "-"],
                          input=f'#include "{header}"\n', text=True, stderr=subprocess.PIPE)
    if done.returncode and "No such file" not in done.stderr:
        raise SystemExit(done.stderr)
    return done.returncode == 0


def main(source, build):
    modules, commands, problems = modules_of(source), compile_commands(build), []
    headers = set().union(*(m.headers for m in modules.values()))
    for module in modules.values():
        seen = [Path(word[2:]) for word in commands[module.folder] if word.startswith("-I")]
        allowed = set(module.headers)
        for name in module.depends:
            allowed |= modules[name].public
            if room_of(source, modules[name]) > room_of(source, module):
                problems.append(f"{module.name} names {name}, which lies above it")
        for header in sorted(headers):
            visible = any((folder / header).exists() for folder in seen)
            if visible != (header in allowed):
                problems.append(f"{module.name} {'sees' if visible else 'does not see'} {header}")
        if circle := circle_from(modules, module.name):
            problems.append(f"a circle: {circle}")
    # The same with the compiler, for one header of each kind.
    group = commands[modules["group"].folder]
    for header, fine in (("group/members.h", True), ("winners/winners.h", True),
                         ("contents/contents.h", True), ("compare/compare.h", False),
                         ("kafka/worker.h", False), ("similarity/internal.h", False)):
        if compiles(group, header) != fine:
            problems.append(f"group: #include \"{header}\" {'fails' if fine else 'compiles'}")
    for problem in problems:
        print(problem)
    print(f"{len(modules)} modules, {len(headers)} headers, {len(problems)} problems")
    return 1 if problems or len(modules) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
