#!/usr/bin/env python3
"""What the linker says of the program: it lies anywhere in memory, its tables and stack cannot be
written or run, and the modules that read what strangers send check bounds and stacks.

  hardened.py PROGRAM BUILD
"""

import subprocess
import sys

# Modules compiled with checks (cmake/Options.cmake), and a check each must have called for.
CHECKED = {"input": "__stack_chk_fail", "text": "__stack_chk_fail", "config": "__snprintf_chk",
           "serve": "__snprintf_chk", "relation": "__stack_chk_fail"}


def said(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def main():
    program, build = sys.argv[1:3]
    problems = []

    def want(good, text):
        if not good:
            problems.append(text)

    want("DYN (Position-Independent Executable" in said("readelf", "-hW", program), "not a PIE")
    segments = said("readelf", "-lW", program).splitlines()
    want(any("GNU_RELRO" in line for line in segments), "no RELRO")
    stack = [line.split()[6] for line in segments if "GNU_STACK" in line]
    want(stack == ["RW"], f"the stack is {stack}, not RW")
    want("NOW" in said("readelf", "-dW", program), "symbols are not bound at once")
    for module, check in CHECKED.items():
        library = said("find", build, "-name", f"libsp_{module}.a").split()
        want(len(library) == 1 and f"U {check}" in said("nm", library[0]),
             f"{module}: no call of {check}")
    for problem in problems:
        print(f"{program}: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
