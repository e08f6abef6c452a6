"""examples/indexer opens an index that another process is making.

    indexer.py INDEXER
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time


def main(program):
    with tempfile.TemporaryDirectory(prefix="samepage-index-") as work:
        file = os.path.join(work, "index.sqlite")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        query = subprocess.Popen([program, "query", "--index", file, "word"], stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        other.execute("ROLLBACK")
        said = query.communicate()[1]
        if query.returncode or said:
            print(f"FAILED: a query ends with {query.returncode} and says: {said}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
