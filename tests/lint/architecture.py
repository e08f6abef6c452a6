#!/usr/bin/env python3
"""The documents name only files and functions that exist.

  architecture.py SOURCE

In README.md, docs/ARCHITECTURE.md, docs/PROTOCOL.md and CONTRIBUTING.md, whatever stands between backticks:

  * a file (`on_crawled.c`, `group/page.c`) exists, under a folder of that name if one is given;
  * an external symbol (`sp_...`, `SP_...`) and any name with an underscore occurs in the sources;
  * names in front of a file, as in "`barrier`, `first_barrier` (`local/run.c`)" or "`barrier` in `local/run.c`",
    occur in that file;
  * no line of a file is named by its number, which the next change of the file makes wrong.
"""

import re
import sys
from pathlib import Path

DOCUMENTS = ["README.md", "docs/ARCHITECTURE.md", "docs/PROTOCOL.md", "CONTRIBUTING.md"]
FOLDERS = ["processors", "include", "tests", "tools", "schemas", "config", "cmake", "k8s", "python", "docs",
           "examples"]
SUFFIXES = "c|h|cc|py|md|json|avsc|txt|cmake|properties"

CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(rf"[\w./-]+\.(?:{SUFFIXES})")
LINE = re.compile(rf"{FILE.pattern}:\d+")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*_\w+")
NAMES_OF_FILE = re.compile(rf"((?:`\w+`(?:, | and |, then | → ))*`\w+`)\s+(?:\(|in )(`[\w/.-]+\.(?:{SUFFIXES})`)")
# Not in this repository, or a pattern.
FOREIGN = {"jemalloc", "MALLOC_CONF"}


def read_all(source):
    paths = [p for folder in FOLDERS for p in (source / folder).rglob("*") if p.is_file()]
    paths += [p for p in source.iterdir() if p.is_file()]
    return {p.relative_to(source).as_posix(): p for p in paths if "__pycache__" not in p.parts}


def files_of(files, name):
    """`group/page.c` is a file page.c in a folder group, or in a folder above it if there is none."""
    wanted = name.lstrip("./").split("/")
    return [f for f in files if f.split("/")[-len(wanted):] == wanted]


def text_of(files, names):
    return "\n".join(files[n].read_text(errors="replace") for n in names)


def problems_of(document, text, files, known):
    for line, content in enumerate(text.splitlines(), 1):
        for token in CODE.findall(content):
            if LINE.fullmatch(token):
                yield f"{document}:{line}: {token} will be another line soon; name the function"
            elif FILE.fullmatch(token) and not token.startswith("build/"):
                if "*" not in token and not files_of(files, token) and "/" not in token[:1]:
                    yield f"{document}:{line}: no file {token}"
            elif NAME.fullmatch(token) and token not in FOREIGN and token not in known:
                yield f"{document}:{line}: {token} is nowhere in the sources"
    flat = re.sub(r"[ \n|]+", " ", text)
    for names, file in NAMES_OF_FILE.findall(flat):
        inside = set(re.findall(r"\w+", text_of(files, files_of(files, file.strip("`")))))
        for name in CODE.findall(names):
            if inside and name not in inside:
                yield f"{document}: {name} is not in {file.strip('`')}"


def main():
    source = Path(sys.argv[1])
    files = read_all(source)
    code = [f for f in files if re.search(r"\.(c|h|cc|py|cmake|json|avsc)$|CMakeLists\.txt$", f) or "/" not in f
            or f.startswith("tools/")]
    known = set(re.findall(r"\w+", text_of(files, [f for f in code if not f.endswith(".md")])))
    problems = [p for d in DOCUMENTS for p in problems_of(d, (source / d).read_text(), files, known)]
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
