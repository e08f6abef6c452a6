"""Runs the shell blocks of a document as a person would: in order, in one bash, in a fresh folder.

    blocks.py PROGRAM SOURCE DOCUMENT local|kafka|clone

A block is indented by four spaces, or fenced. Each block is run unless it is in LISTED; a block that is
neither shell nor listed fails. Output in the document is compared:

    $ samepage similar a b      a command; continuation lines begin with "> "
    Jaccard similarity  0.9…    its output and messages; … is any text within a line,
    …                           alone on a line any number of lines
    samepage pairs crawl.jsonl  in a block without "$ " all lines are commands, without output
    cmd   # ends with Ctrl-C    gets SIGINT after some seconds
    cmd   # as soon as ...      is repeated until it succeeds, for some minutes

Each command must end with exit code 0.

local: all but the sections on Kafka. kafka: the whole document, with a broker of its own. clone: the
sections that build and install, in a copy of the repository's files; `samepage` is not in the path there.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))
from harness import PATIENCE_SECONDS, SKIPPED, Failure, Skip, check, free_port, until  # noqa: E402

SETTINGS = "settings: lines for a file of --config, which `samepage config --config` must accept"

# (document, first words of the block): what the block is, if not a shell block to run.
LISTED = {
    ("README.md", "crawled page ─>"): "a drawing",
    ("docs/OPERATIONS.md", "kafka.bootstrap.servers = kafka-1.example"): SETTINGS,
    ("docs/OPERATIONS.md", "schema.registry.url"): SETTINGS,
    ("docs/OPERATIONS.md", "topics.pages_schema_id"): SETTINGS,
    ("docs/OPERATIONS.md", "partition.map = map-2"): SETTINGS,
    ("docs/OPERATIONS.md", "for topic in pages:page.avsc"):
        "needs a schema registry: tests/kafka/registry.py registers both schemas with a stand-in",
    ("docs/OPERATIONS.md", "tools/chaos"): "takes minutes: the test kafka.chaos runs one of them",
}
# Single lines of blocks that are run, which are not.
LISTED_LINES = {("README.md", "./tools/test"): "runs this test, too"}
CLONE_SECTIONS = {"README.md": ["samepage", "Install", "Python"]}
KAFKA_SECTIONS = ["On Kafka"]


class Block:
    def __init__(self, section, line, lines):
        self.section = section
        self.line = line
        self.lines = lines

    def first(self):
        return self.lines[0].removeprefix("$ ").strip()

    def commands(self):
        """[(line, command, expected output or None)]"""
        if not any(line.startswith("$ ") for line in self.lines):
            return [(self.line, "\n".join(self.lines), None)]
        check(self.lines[0].startswith("$ "), f"line {self.line}: output before the first command")
        found = []
        for number, line in enumerate(self.lines, self.line):
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            elif line.startswith("> ") and not found[-1][2]:
                found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
            else:
                found[-1][2].append(line)
        return found


def blocks(text):
    """All indented and fenced blocks, each with its heading of level 1 or 2."""
    section, found, lines, start, fenced = "", [], [], 0, False

    def end():
        while lines and not lines[-1].strip():
            lines.pop()
        if lines:
            found.append(Block(section, start, list(lines)))
        lines.clear()

    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            end()
            fenced, start = not fenced, number + 1
        elif fenced:
            lines.append(line)
        elif line.startswith("    ") and (lines or not before.strip()):
            if not lines:
                start = number
            lines.append(line[4:])
        elif not line.strip() and lines:
            lines.append("")
        else:
            end()
            if re.match(r"##? ", line):
                section = line.split(" ", 1)[1]
        before = line
    end()
    return found


def matches(expected, shown):
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            *parts, last = line.rstrip().split("…")  # numbers are right-aligned: the number of spaces varies
            pattern += "".join(re.escape(part.rstrip()) + ".*" for part in parts) + re.escape(last) + r"\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in shown.splitlines()))


def as_run(command, replaced):
    """The block with the changes that the test makes."""
    lines = []
    for line in command.split("\n"):
        once, _, comment = line.partition(" # ")
        once = once.strip()
        if "ends with Ctrl-C" in comment:
            line = f"timeout -s INT 8 {once} || [ $? = 124 ]"
        elif "as soon as" in comment:
            line = f"for try in $(seq {PATIENCE_SECONDS}); do {once} && break; sleep 1; [ $try != {PATIENCE_SECONDS} ]; done"
        for old, new in replaced.items():
            line = line.replace(old, new)
        lines.append(line)
    return "\n".join(lines)


def script_of(todo, replaced, out):
    """One bash for all blocks, so that jobs, variables and folders last, as in a person's shell."""
    script = ["set -E", "trap 'echo \"exit code $? of: $BASH_COMMAND\" >&9; exit 1' ERR", "exec 9>&2"]
    for number, (line, command, _) in enumerate(todo):
        script += [f"echo {number} > {out}/at", "{", as_run(command, replaced), f"}} > {out}/{number} 2>&1"]
    return "\n".join(script) + "\n"


def run_script(work, todo, replaced, environment):
    out = os.path.join(work, ".out")
    os.mkdir(out)
    with open(os.path.join(out, "script"), "w", encoding="utf-8") as f:
        f.write(script_of(todo, replaced, out))
    with open(os.path.join(out, "said"), "wb") as said:  # a file, because background jobs keep a pipe open
        shell = subprocess.Popen(["bash", os.path.join(out, "script")], cwd=work, env=environment,
                                 stdin=subprocess.DEVNULL, stderr=said, start_new_session=True)

    def shown(name):
        with open(os.path.join(out, str(name)), encoding="utf-8", errors="replace") as f:
            return f.read()

    try:
        shell.wait()
        if shell.returncode:
            number = int(shown("at"))
            raise Failure(f"line {todo[number][0]}: {todo[number][1]}\n{shown('said')}\n{shown(number)[-3000:]}")
        for number, (line, command, expected) in enumerate(todo):
            text = shown(number)
            for old, new in replaced.items():
                text = text.replace(new, old)
            if expected is not None and not matches(expected, text):
                raise Failure(f"line {line}: {command}\nthe document shows\n" + "\n".join(expected) +
                              f"\nand it prints\n{text}")
        until(lambda: not members(shell.pid), "the end of what the document started and ended", seconds=60)
    finally:
        stop_session(shell.pid)


def members(session):
    """The processes of the shell's session, and no others."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry))
    return found


def stop_session(session):
    for number in signal.SIGTERM, signal.SIGKILL:
        for process in members(session):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        end = time.monotonic() + 10
        while members(session) and time.monotonic() < end:
            time.sleep(0.1)


def listed(document, block):
    for (name, start), what in LISTED.items():
        if name == document and block.first().startswith(start):
            return what
    return None


def check_settings(program, block, work):
    name = os.path.join(work, ".settings")
    with open(name, "w", encoding="utf-8") as f:
        f.write("\n".join(line.split(" #")[0] for line in block.lines) + "\n")
    done = subprocess.run([program, "run", "--config", name, "--help"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"line {block.line}: the program refuses these settings: {done.stderr}")
    os.remove(name)


def wanted(part, document, block):
    if block.section in CLONE_SECTIONS.get(document, []):
        return part == "clone"
    return part == "kafka" or (part == "local" and block.section not in KAFKA_SECTIONS)


def copy_repository(source, work):
    done = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                          capture_output=True, check=False)
    if done.returncode:
        raise Skip("not in a clone: git says which files are the repository's")
    for name in filter(None, done.stdout.decode().split("\0")):
        if os.path.exists(os.path.join(source, name)):
            os.makedirs(os.path.dirname(os.path.join(work, name)), exist_ok=True)
            shutil.copy(os.path.join(source, name), os.path.join(work, name))


def run(program, source, document, part, work):
    with open(os.path.join(source, document), encoding="utf-8") as f:
        found = blocks(f.read())
    unused = {start for name, start in [*LISTED, *LISTED_LINES] if name == document}
    todo = []
    for block in found:
        what = listed(document, block)
        if what:
            unused.discard(next(start for start in unused if block.first().startswith(start)))
            print(f"not run: line {block.line}: {block.first()}: {what}")
            if what == SETTINGS:
                check_settings(program, block, work)
            continue
        for line in list(block.lines):
            for (name, start), why in LISTED_LINES.items():
                if name == document and line.startswith(start):
                    unused.discard(start)
                    block.lines.remove(line)
                    print(f"not run: line {block.line}: {line}: {why}")
        if wanted(part, document, block):
            todo += block.commands()
    check(not unused, "listed, and not in the document:", unused)
    check(todo, "no block to run in", document)

    environment = {k: v for k, v in os.environ.items() if not k.startswith("SAMEPAGE_") and k != "DESTDIR"}
    environment["LC_ALL"] = "C.UTF-8"
    replaced = {"127.0.0.1:8080": f"127.0.0.1:{free_port()}"}
    if part == "clone":
        copy_repository(source, work)
        environment["HOME"] = work  # installs go to ~/.local
        environment["CCACHE_BASEDIR"] = work  # the copy's objects are those of the original (tools/test)
    else:
        environment["PATH"] = os.path.dirname(program) + ":" + environment["PATH"]
        for name in "tools", "schemas":
            os.symlink(os.path.join(source, name), os.path.join(work, name))
    # The default address of `serve` cannot be set by a setting.
    replaced["samepage serve --state"] = f"samepage serve --listen {replaced['127.0.0.1:8080']} --state"
    if part == "kafka":
        port = free_port(2)  # ports for clients and for the controller
        environment.update(SAMEPAGE_KAFKA_DIR=os.path.join(work, ".kafka"),
                           SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS=f"127.0.0.1:{port}")
        replaced["127.0.0.1:9092"] = f"127.0.0.1:{port}"
        replaced["tools/kafka up"] = f"tools/kafka up --port {port}"
        todo.insert(0, (0, "sleep 3600 &", None))  # a background job of the user's, which no block may end
        todo.append((0, "kill %sleep", None))
    try:
        run_script(work, todo, replaced, environment)
    finally:
        if part == "kafka":
            subprocess.run([os.path.join(source, "tools/kafka"), "down", "--wipe"], env=environment, check=False)


def main(program, source, document, part):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends everything that the blocks started
    program, source = os.path.abspath(program), os.path.abspath(source)
    work = tempfile.mkdtemp(prefix="samepage-docs-", dir=os.environ.get("SAMEPAGE_DOCS_DIR"))
    try:
        if part == "kafka" and not (shutil.which("java") and shutil.which("mvn")):
            raise Skip("no Java or no Maven: no broker")
        run(program, source, document, part, work)
        return 0
    except Skip as reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    except Failure as failure:
        print(f"{document}: {failure}")
        return 1
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
