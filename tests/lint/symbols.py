#!/usr/bin/env python3
"""Checks the object files of each module: external names begin with sp_ (or samepage_, for a user's
program), neither calls between files nor includes between headers form cycles, a struct is defined
once in the whole project, and every external symbol is used by another file, tests included;
everything else is static.

  symbols.py SOURCE BUILD     SOURCE/processors as built in BUILD
"""

import re
import subprocess
import sys
from pathlib import Path

# Our prefixes, those of the compiler and of C++, and functions that take the place of the C library's.
GOOD = re.compile(r"(sp|samepage)_|_[_A-Z]|DW\.ref\.|(cnd_timedwait|timespec_get|gettimeofday)$")


def objects_of(library):
    """Object file -> (names it defines, names it uses)."""
    said = subprocess.run(["nm", "-g", "-A", library], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = {}
    for line in said.splitlines():
        where, _, rest = line.partition(":")
        member, _, rest = rest.partition(":")
        kind, name = rest.split()[-2:]
        defines, uses = found.setdefault(member.removesuffix(".o"), (set(), set()))
        (uses if kind in "Uw" else defines).add(name)
    return found


def calls(objects):
    """Object file -> the files that define what it uses."""
    home = {name: member for member, (defines, _) in objects.items() for name in defines}
    return {member: {home[name] for name in uses if name in home} - {member}
            for member, (_, uses) in objects.items()}


def includes(folder, module):
    """Header -> the headers of the same module that it includes."""
    graph = {}
    for path in folder.glob("*.h"):
        named = re.findall(rf'^#include "{module}/([^"]+)"', path.read_text(), re.M)
        graph[path.name] = set(named) - {path.name}
    return graph


def circles(graph):
    """The strongly connected components (Tarjan 1972), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for below in sorted(graph.get(node, ())):
            if below not in index:
                visit(below)
            if below in stack:
                low[node] = min(low[node], low[below])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def structs_twice(source):
    """The structs and enums with our prefix that are defined twice."""
    found = {}
    for top in ("processors", "include"):
        for path in sorted((source / top).rglob("*.[ch]")):
            body = r"^\s*(?:struct|enum) ((?:sp|samepage)_\w+) ?\{"
            for name in re.findall(body, path.read_text(), re.M):
                found.setdefault(name, set()).add(path.relative_to(source).as_posix())
    return {name: sorted(paths) for name, paths in found.items() if len(paths) > 1}


def check(module, folder, library):
    """The problems of a module, and the number of its names without prefix."""
    objects, problems = objects_of(library), []
    foreign = sorted(name for defines, _ in objects.values() for name in defines
                     if not GOOD.match(name))
    if foreign:
        problems.append(f"{module}: without sp_, or to be static: {' '.join(foreign)}")
    problems += [f"{module}: these call or include one another in a circle: {' '.join(circle)}"
                 for circle in [*circles(calls(objects)), *circles(includes(folder, module))]]
    return problems, len(foreign)


def is_left_over(source, build, path):
    """Whether the object's source is gone: such objects remain in a used build folder."""
    parts = path.relative_to(build).parts
    if "CMakeFiles" not in parts:
        return False  # linked from several
    at = parts.index("CMakeFiles")
    name = Path(*parts[:at], *parts[at + 2:]).with_suffix("")
    return not any((top / name).exists() for top in (source, build))


def used_nowhere_else(source, build):
    """Names that one object file of processors/ defines and no other uses, those of tests/ included."""
    objects = [str(p) for top in ("processors", "tests") for p in sorted((build / top).rglob("*.o"))
               if not is_left_over(source, build, p)]
    said = subprocess.run(["nm", "-g", "-A", *objects], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    defined, used = set(), set()
    for line in said.splitlines():
        where, _, rest = line.rpartition(":")
        kind, name = rest.split()[-2:]
        if kind in "Uw":
            used.add(name)
        elif "/processors/" in where and name.startswith("sp_"):
            defined.add(name)
    # Assembler labels at the boundaries of an embedded file are used where they are defined, and what
    # chooses a clone of a function (base/clones.h) is used by the loader.
    return {name for name in defined - used if not name.endswith(("_start", "_end", ".resolver"))}


def main(source, build):
    problems, names = [], 0
    libraries = sorted((build / "processors").rglob("libsp_*.a"))
    for library in libraries:
        module = library.name[len("libsp_"):-len(".a")]
        more = check(module, source / library.parent.relative_to(build), library)
        problems += more[0]
        names += more[1]
    problems += [f"{name} is two things: {' '.join(paths)}"
                 for name, paths in sorted(structs_twice(source).items())]
    problems += [f"{name} is used in its own file only: make it static, or remove it"
                 for name in sorted(used_nowhere_else(source, build))]
    for problem in problems:
        print(problem)
    print(f"{len(libraries)} modules, {names} names without sp_, {len(problems)} problems")
    return 1 if problems or len(libraries) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
