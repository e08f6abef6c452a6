#!/usr/bin/env python3
"""docs/PAPERS.md names only what exists, and leaves no figure and no table of the papers out.

  papers.py SOURCE BUILD SAMEPAGE

In each row: files exist; commands, their options, experiments, settings and tests exist; no cell is
empty.
"""

import re
import subprocess
import sys
from pathlib import Path

COLUMNS = ["paper", "what", "file", "run", "gives", "the paper's"]

# Of each paper, by the first word of its heading.
PRINTED = {
    "Zhu,": [f"Figure {n}" for n in range(1, 10)] + ["Table 1"],
    "Smith:": [],
    "Huang,": ["Table 1", "Table 2"],
    "Paudel,": ["Figure 1", "Figure 2", "Table 1", "Table 2", "Table 3"],
}


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode == 0 else None


class Program:
    """The program's help and settings, requested once."""

    def __init__(self, samepage, build):
        self.samepage = samepage
        self.helps = {}
        self.experiments = {line.split()[0] for line in
                            output_of(samepage, "evaluate", "--list").splitlines()}
        self.settings = set(re.findall(r"^([a-z0-9_.]+) *=", output_of(
            samepage, "config", "--properties").replace("#", ""), re.M))
        self.tests = re.findall(r"Test +#\d+: (\S+)", output_of("ctest", "--test-dir", build, "-N"))

    def help(self, command):
        if command not in self.helps:
            self.helps[command] = output_of(self.samepage, *command.split(), "--help")
        return self.helps[command]

    def problems(self, words):
        """The problems of a samepage command line, without its first word."""
        if not words or self.help(words[0]) is None:
            yield f"there is no command {words[:1]}"
            return
        text = self.help(words[0])
        for i, word in enumerate(words):
            value = words[i + 1] if i + 1 < len(words) else ""
            option = word.split("=")[0]
            if word.startswith("--") and not re.search(re.escape(option) + r"(?![a-z-])", text):
                yield f"`{words[0]}` has no {option}"
            if option == "--only":
                yield from (f"there is no experiment {name}" for name in value.split(",")
                            if name not in self.experiments)
            if option == "--set" and value.split("=")[0] not in self.settings:
                yield f"there is no setting {value}"


def run_problems(program, source, text):
    words = text.split()
    if words[0] == "samepage":
        yield from program.problems(words[1:])
    elif words[:2] == ["ctest", "-R"]:
        if not any(re.search(words[2], name) for name in program.tests):
            yield f"no test matches {words[2]}"
    elif not (source / words[0]).exists():
        yield f"{words[0]} is neither a command nor a file"


def row_problems(program, source, cells):
    if len(cells) != len(COLUMNS) or not all(cells):
        yield f"{len(COLUMNS)} cells are wanted, none empty"
        return
    files, runs = (re.findall(r"`([^`]+)`", cells[i]) for i in (2, 3))
    if not files or not runs:
        yield "a file and a command are wanted"
    yield from (f"there is no file {name}" for name in files if not (source / name).is_file())
    for text in runs:
        yield from run_problems(program, source, text)


def main(source, build, samepage):
    source = Path(source).resolve()
    program = Program(samepage, build)
    lines = (source / "docs" / "PAPERS.md").read_text().splitlines()
    problems, rows, paper, named = [], 0, None, {name: set() for name in PRINTED}
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            paper = line.split()[1]
        if not line.startswith("|") or line.startswith("|---"):
            continue
        # A | inside `…` does not separate cells.
        cells = [c.strip() for c in re.sub(r"`[^`]*`", lambda m: m.group().replace("|", "\0"),
                                           line).strip("|").split("|")]
        if cells == COLUMNS:
            continue
        rows += 1
        named.setdefault(paper, set()).add(cells[0])
        problems += [f"docs/PAPERS.md:{number}: {p}" for p in row_problems(program, source, cells)]
    for paper, printed in PRINTED.items():
        problems += [f"docs/PAPERS.md: {paper} {what} has no row" for what in printed
                     if what not in named[paper]]
        if not named[paper]:
            problems.append(f"docs/PAPERS.md: {paper} has no rows")
    print("\n".join(problems + [f"{rows} rows, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
