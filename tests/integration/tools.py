"""--help of every program in tools/, and lists behind head, and what tools/growth does."""

import os
import shutil
import subprocess

from harness import check, check_in, main

# Programs that a tool must not call to print its help; each call leaves a mark.
FORBIDDEN = ["apt-get", "dpkg-query", "sudo", "cmake", "ninja", "ctest", "mvn", "java", "docker", "pip", "clang-format"]


def tools_print_their_help_and_do_nothing_else(work):
    os.makedirs(work.path("bin"))
    for name in FORBIDDEN:
        work.write(f"bin/{name}", f"#!/bin/sh\necho {name} >>{work.path('called')}\nexit 1\n")
        os.chmod(work.path(f"bin/{name}"), 0o755)
    environment = {**os.environ, "PATH": work.path("bin") + ":" + os.environ["PATH"]}
    folder = os.path.join(work.source, "tools")
    for tool in sorted(os.listdir(folder)):
        if not os.access(os.path.join(folder, tool), os.X_OK):
            continue
        for option in "--help", "-h":
            done = subprocess.run([os.path.join(folder, tool), option], cwd=work.directory, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            check(done.returncode == 0, tool, option, "exit code", done.returncode, done.stderr[-500:])
            check_in(tool, done.stdout, f"help of tools/{tool}")
            check(done.stderr == "", tool, "speaks on standard error:", done.stderr[-500:])
            check(not work.exists("called"), tool, option, "called", work.exists("called") and work.read("called"))


def tools_that_list_end_quietly_when_nobody_reads_on(work):
    work.crawl(pages=2000)
    work.run("run", "-q", "-o", "status", "--groups", "groups", "crawl.jsonl")
    for command in (["show-groups", "groups", "1000"], ["bench", "--list"], ["mutate", "--list"], ["lint", "house"]):
        tool = os.path.join(work.source, "tools", command[0])
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([tool, *command[1:]], cwd=work.directory, stdin=subprocess.DEVNULL, stdout=write,
                              stderr=subprocess.PIPE, text=True, check=False)
        os.close(write)
        check(done.stderr == "", *command, "speaks on standard error:", done.stderr[-500:])


def growth_says_what_grows_and_what_is_wrong(work):
    def growth(program):
        return subprocess.run([os.path.join(work.source, "tools", "growth"), "--from", "3", "--count", "2", "--pages",
                               "60", "--all", "--program", program], capture_output=True, text=True, check=False)

    done = growth(work.program)
    check(done.returncode == 0, "exit code", done.returncode, done.stdout, done.stderr)
    for seed in 3, 4:
        check_in(f"\n{seed}: words ", done.stdout, "shape of the crawl")
    check(done.stdout.count("microseconds") == 2, done.stdout)
    done = growth(shutil.which("false"))
    check(done.returncode == 1 and done.stdout.count("WRONG: 60 pages: exit code 1") == 2, done.stdout)
    done = growth("no-such-program")
    check(done.returncode == 2, "exit code", done.returncode)
    check_in("name another one with --program", done.stderr, "message")


if __name__ == "__main__":
    main(__name__)
