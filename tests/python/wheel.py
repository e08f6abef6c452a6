"""Builds the Python package, installs the wheel into a new virtual environment, and there runs the
tests of this folder, the examples of the documentation and mypy.

usage: wheel.py SOURCE WORK PROGRAM
"""

import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIP = 77
HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = ["pyarrow", "pandas", "datasets", "fastavro", "mypy"]


def call(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def check_reachable():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--retries", "1", "-d", folder,
                               "wheel"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print("SKIPPED: PyPI is out of reach:", done.stdout[-500:])
        sys.exit(SKIP)


def check_sources(archive):
    """The source distribution contains what the build needs, and nothing of Kafka or RocksDB."""
    with tarfile.open(archive) as tar:
        names = [name.split("/", 1)[-1] for name in tar.getnames()]
    for wanted in ("samepage/_native.py", "processors/model/stars/stars.c", "include/samepage/index.h",
                   "LICENSE"):
        if wanted not in names:
            raise SystemExit(f"{archive} lacks {wanted}")
    for name in names:
        if "kafka" in name or "store/" in name:
            raise SystemExit(f"{archive} holds {name}, which the package does not need")


def main(source, work, program):
    shutil.rmtree(work, ignore_errors=True)
    dist = os.path.join(work, "dist")
    fresh = os.path.join(work, "venv")
    call(sys.executable, "-m", "venv", fresh)
    python = os.path.join(fresh, "bin", "python")
    check_reachable()
    call(os.path.join(source, "tools/python"), dist, env={**os.environ, "PYTHON": sys.executable})
    (wheel,), (archive,) = (glob.glob(f"{dist}/samepage-*{end}") for end in (".whl", ".tar.gz"))
    check_sources(archive)
    if "manylinux" not in wheel:
        raise SystemExit(f"{wheel} needs libraries of the machine it was built on")
    call(python, "-m", "pip", "install", "-q", wheel)
    (library,) = glob.glob(f"{fresh}/lib/python*/site-packages/samepage/libsamepage_index.so")
    call(sys.executable, "-B", os.path.join(source, "tests/lint/hardened.py"), library)
    # In an empty environment: pandas, pyarrow, datasets and Kafka clients are optional.
    print(call(python, "-I", "-c", "import samepage; print(samepage.__version__, bool(samepage.similar("
               "'one two three four five', 'One two three four five')))", cwd=work).strip())
    call(python, "-m", "pip", "install", "-q", "--no-compile", *BESIDE)  # most of it is never imported
    environment = {**os.environ, "SAMEPAGE": program, "SAMEPAGE_SOURCE": source}
    print(call(python, "-I", "-B", "-m", "unittest", "discover", "-s", HERE, "-p", "test_*.py",
               cwd=work, env=environment))
    print(call(python, "-I", "-m", "mypy", "--strict", "--cache-dir", os.path.join(work, "mypy"),
               "-p", "samepage", cwd=work).strip())


main(*sys.argv[1:])
