"""Manual pages and completion, as a user at a terminal meets them."""

import glob
import os
import pty
import re
import select
import shutil
import subprocess
import time

from harness import PATIENCE_SECONDS, Skip, check, check_equal, check_in, free_port, main


def made(work, *names):
    """The files built beside the program."""
    return os.path.join(os.path.dirname(work.program), "manual", *names)


def needs(program):
    if not shutil.which(program):
        raise Skip(f"there is no {program}")


def commands_in(text):
    return re.findall(r"^  ([a-z]+) ", text, re.M)


def rendered(page):
    done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, check=False,
                          env={**os.environ, "MANWIDTH": "200", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
    check(done.returncode == 0 and done.stderr == "", page, "is not rendered cleanly:", done.stderr)
    return done.stdout


def every_option_is_in_the_manual_page_of_its_command(work):
    needs("man")
    commands = commands_in(work.run("--help").out)
    check_equal(sorted(os.listdir(made(work, "man1"))),
                sorted([f"samepage-{c}.1" for c in commands] + ["samepage.1", "samepage-settings.1"]), "pages")
    for command in commands:
        text = rendered(made(work, "man1", f"samepage-{command}.1"))
        shown = work.run(command, "--help").out
        check_equal(set(re.findall(r"--[a-z-]+", text)), set(re.findall(r"--[a-z-]+", shown)), f"options of {command}")
        flat = " ".join(text.split())
        for line in shown.splitlines():
            if not re.match(r"  (--[a-z]+-field NAME,|samepage )", line):
                words = re.sub(r"^  (-\w, )?--[a-z-]+( ?\S+)? +", "", line).split()
                check(" ".join(words) in flat, command, "the page lacks:", line)
    for command in commands:
        check_in(f"samepage-{command}(1)", " ".join(rendered(made(work, "man1", "samepage.1")).split()))
    text = rendered(made(work, "man1", "samepage-settings.1"))
    for setting in re.findall(r"^[a-z0-9_.]+ = .*", work.run("config").out, re.M):
        check_in(setting.rstrip(), text)
    if shutil.which("lexgrog"):  # words by which apropos finds them
        for page in glob.glob(made(work, "man1", "*.1")):
            subprocess.run(["lexgrog", page], check=True, stdout=subprocess.DEVNULL)


ASK_BASH = r"""
. "$1"; shift
complete -p samepage | grep -q -- '-F _samepage' || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_samepage 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
"""


def the_help_of_each_command_fits_a_screen(work):
    for command in commands_in(work.run("--help").out):
        lines = work.run(command, "--help").out.splitlines()
        most = 40 if command == "run" else 46
        check(len(lines) <= most and max(map(len, lines)) <= 100, command, len(lines), "lines, the longest of",
              max(map(len, lines)))


def bash_completes(work):
    os.makedirs(work.path("a folder"))
    work.write("a crawl.jsonl", "")

    def ask(*words):
        done = subprocess.run(["bash", "-c", ASK_BASH, "bash", made(work, "bash", "samepage"), *words],
                              cwd=work.directory, capture_output=True, text=True, check=False)
        check(done.returncode == 0 and done.stderr == "", words, done.stderr)
        return done.stdout.split("\n")[:-1]

    commands = commands_in(work.run("--help").out)
    check_equal(sorted(ask("samepage", "")), sorted(commands + ["help", "--help", "--version"]), "commands")
    check_equal(ask("samepage", "pa"), ["pairs"], "pa")
    check_equal(ask("samepage", "help", "ev"), ["evaluate"], "help ev")
    check_equal(sorted(ask("samepage", "topics", "")), ["check", "create", "manifest"], "topics")
    check_equal(sorted(ask("samepage", "pairs", "a")), ["a crawl.jsonl", "a folder"], "files")
    check_equal(ask("samepage", "topics", "--config", "a c"), ["a crawl.jsonl"], "the file of an option")
    check_equal(ask("samepage", "run", "--set", "barrier"), ["barrier.pages="], "settings")
    for command in commands:
        offered = {word for word in ask("samepage", command, "-") if word.startswith("--")}
        options = work.run(command, "--help").out.split("OPTIONS\n", 1)[1].split("\n\n", 1)[0]
        check_equal(offered, set(re.findall(r"(?:^  (?:-\w, )?| NAME, )(--[a-z-]+)", options, re.M)), f"options of {command}")


def fish_completes(work):
    needs("fish")

    def ask(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source '{made(work, 'fish', 'samepage.fish')}'; complete -C '{line}'"],
                              cwd=work.directory, capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": work.directory})
        check(done.returncode == 0 and done.stderr == "", line, done.stderr)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    check_equal(sorted(set(ask("samepage ")) - {"help"}), sorted(commands_in(work.run("--help").out)), "commands")
    check_equal(ask("samepage pairs --thr"), ["--threshold"], "--thr")
    check_equal(ask("samepage run --set barr"), ["barrier.pages="], "settings")
    check_equal(sorted(ask("samepage topics ")), ["check", "create", "manifest"], "topics")
    check_equal(ask("samepage help ev"), ["evaluate"], "help ev")


def zsh_completes(work):
    """In a terminal: what zsh inserts when the user presses Tab."""
    needs("zsh")
    work.write(".zshrc", f"PS1='> '\nfpath=('{made(work, 'zsh')}' $fpath)\nautoload -U compinit\ncompinit -u\n"
               "accept-line() { print -r -- \"[$BUFFER]\"; BUFFER=; zle .accept-line }\nzle -N accept-line\necho re''ady\n")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(work.directory)
        os.environ.update(ZDOTDIR=work.directory, HOME=work.directory, TERM="dumb")
        os.execvp("zsh", ["zsh", "-i"])
    seen = b""

    def until_seen(text):
        nonlocal seen
        end = time.monotonic() + PATIENCE_SECONDS
        while text.encode() not in seen:
            check(time.monotonic() < end and select.select([terminal], [], [], PATIENCE_SECONDS)[0],
                  f"{text!r} does not come; there is {seen!r}")
            seen += os.read(terminal, 4096)

    try:
        until_seen("ready")
        for typed, completed in [("samepage pai", "samepage pairs "), ("samepage pairs --thr", "samepage pairs --threshold "),
                                 ("samepage help eval", "samepage help evaluate "),
                                 ("samepage run --set barr", "samepage run --set barrier.pages="),
                                 ("samepage topics man", "samepage topics manifest ")]:
            seen = b""
            os.write(terminal, typed.encode() + b"\t\r")  # accept-line prints the line as it is then
            until_seen("[" + completed)
    finally:
        os.kill(child, 9)
        os.close(terminal)
        os.waitpid(child, 0)


def in_a_terminal(work, *arguments, feed=(), shown=None):
    """Returns what the program writes to standard error, a terminal. Feeds it one piece after another, each once
    `shown` has appeared."""
    ours, theirs = pty.openpty()
    process = work.start(*arguments, stdin=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    for piece in feed:
        process.stdin.write(piece)
        process.stdin.flush()
        end = time.monotonic() + PATIENCE_SECONDS
        while not re.search(shown, seen):
            check(time.monotonic() < end and process.poll() is None, shown, "does not come; there is", seen)
            if select.select([ours], [], [], 0.3)[0]:
                seen += os.read(ours, 4096)
            else:  # the bar is drawn once something was read
                process.stdin.write(piece)
                process.stdin.flush()
    process.stdin.close()
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        seen += more
    os.close(ours)
    check(process.wait() == 0, arguments, "exit code", process.returncode, seen)
    return seen.decode("utf-8", "replace")


def a_bar_counts_what_it_names(work):
    work.crawl(pages=3000)
    lines = work.read("crawl.jsonl")

    def bar(unit):
        return rf"[0-9,]+ {unit}  [0-9,]+ {unit}/s  [0-9]+ MB/s".encode()

    shown = in_a_terminal(work, "pairs", "-o", "pairs.jsonl", "-", feed=[lines], shown=bar("pages"))
    check("groups" not in shown, "pairs knows of no groups:", shown)
    check(all(m == "pairs found" for m in re.findall(r"comparing +[0-9,]+ ([a-z ]+)", shown)), "what is counted:", shown)
    shown = in_a_terminal(work, "train", "-o", "map", "--cells", "2", "-", feed=[lines], shown=bar("records"))
    check("groups" not in shown, "train knows of no groups:", shown)
    shown = in_a_terminal(work, "dedup", "--kept", "kept.jsonl", "-", feed=[lines], shown=bar("documents"))
    check_in(" kept", shown)
    shown = in_a_terminal(work, "run", "-o", "status.jsonl", "-", feed=[lines], shown=bar("records"))
    check_in(" groups", shown)
    shown = in_a_terminal(work, "synth", "--pages", "20K", "-o", "more.jsonl")
    check(re.search(r"writing +\[#* *\] +\d+%", shown), "no bar of synth:", shown)
    percents = [int(p) for p in re.findall(r"(\d+)%", shown)]
    check(percents == sorted(percents) and percents[-1] <= 100, "percents:", percents)
    for arguments in ["pairs", "-o", "pairs.jsonl", "crawl.jsonl"], ["synth", "--pages", "20K", "-o", "more.jsonl"]:
        check("\r" not in work.run(*arguments).err, arguments, "draws a bar where there is no terminal")


def a_command_without_a_broker_says_what_to_do(work):
    work.crawl(pages=20)
    address = f"127.0.0.1:{free_port()}"
    for arguments in (["topics", "create"], ["topics", "check"], ["ingest", "--wait", "0", "crawl.jsonl"],
                      ["ingest", "--wait", "6", "crawl.jsonl"], ["status", "--all"],
                      ["serve", "--kafka", "--listen", "127.0.0.1:0"]):
        for _ in range(3):  # where the machine stalled meanwhile, once more
            start = time.monotonic()
            done = work.run(*arguments, "--set", f"kafka.bootstrap.servers={address}", code=1)
            took = time.monotonic() - start
            if took < 25:
                break
        check_in(f"no broker is reachable at {address}; start one there, or name yours: --set kafka.bootstrap.servers=", done.err)
        check_equal("waits for a broker, 6 s in all" in done.err, "6" in arguments, arguments)
        for line in done.err.splitlines():
            check(re.match(r"samepage: |\d{4}-\d\d-\d\dT\S+Z error \w+: \S", line), "not a log line of ours:", line)
        check(took < 25, arguments, "took", took, "seconds: five are meant, thirty are for a broker that is slow")


if __name__ == "__main__":
    main(__name__)
