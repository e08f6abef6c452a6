"""--help of every program in tools/."""

import os
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


if __name__ == "__main__":
    main(__name__)
