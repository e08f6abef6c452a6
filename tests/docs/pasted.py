"""Command lines in the documents can be pasted into a shell: what explains them stands behind a #.

    pasted.py SOURCE
"""

import glob
import os
import re
import sys

COMMAND = re.compile(r"    (?:\$ )?(?:\./)?(?:samepage|tools/|curl|cmake|python -m samepage)\b")


def main(source):
    wrong = []
    for folder in "", "docs", "examples/*":
        for name in sorted(glob.glob(os.path.join(source, folder, "*.md"))):
            with open(name, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if COMMAND.match(line) and re.search(r"\S {3,}\S", line.split(" # ")[0]):
                        wrong.append(f"{name}:{number}: {line.strip()}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
