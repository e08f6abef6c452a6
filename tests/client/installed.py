"""Installs into a temporary prefix and builds uses.c and uses_index.c against it: with pkg-config, shared and static,
as C and as C++, and with find_package. Only the prefix is shown to the compilers.

usage: installed.py CMAKE BUILD CC CXX
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "uses.c")
INDEX_SOURCE = os.path.join(HERE, "uses_index.c")
PREDICT_SOURCE = os.path.join(HERE, "uses_predict.c")
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(uses LANGUAGES C)
find_package(samepage 0.2 REQUIRED)
foreach(kind samepage samepage_static)
  add_executable(uses_${kind} SOURCE)
  target_link_libraries(uses_${kind} PRIVATE samepage::${kind})
endforeach()
"""


def call(*command, **kwargs):
    environment = {k: v for k, v in os.environ.items() if k != "DESTDIR"}
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**environment, **kwargs})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def exports_only_its_own(library, *options):
    for line in call("nm", *options, "--defined-only", "--extern-only", library).splitlines():
        words = line.split()
        if len(words) == 3 and not words[2].startswith("samepage_"):
            raise SystemExit(f"{library} shows {words[2]}")


def soname(library):
    return next(line.split("[")[1].rstrip("]") for line in call("readelf", "-d", library).splitlines()
                if "(SONAME)" in line)


def build_indexer(cmake, cc, prefix, work):
    """Builds a copy of examples/indexer, away from the source tree."""
    if subprocess.run(["pkg-config", "--exists", "sqlite3", "rdkafka"], check=False).returncode:
        print("no SQLite or no librdkafka: examples/indexer is not built")
        return
    copy, made = os.path.join(work, "indexer"), os.path.join(work, "indexer-made")
    shutil.copytree(os.path.join(HERE, "../../examples/indexer"), copy)
    call(cmake, "-S", copy, "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}",
         "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    call(cmake, "--build", made)
    done = subprocess.run([os.path.join(made, "indexer"), "query", "--index", os.path.join(work, "no.sqlite"), "word"],
                          check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode != 1 or "no.sqlite: unable to open" not in done.stderr or os.path.exists(
            os.path.join(work, "no.sqlite")):
        raise SystemExit("the indexer that was built against the prefix does not run")
    print("examples/indexer builds and runs")


def main(cmake, build, cc, cxx):
    with tempfile.TemporaryDirectory(prefix="samepage-installed-") as work:
        prefix = os.path.join(work, "prefix")
        call(cmake, "--install", build, "--prefix", prefix)
        found = [os.path.join(top, name) for top, _, names in os.walk(prefix) for name in names]
        packages = os.path.dirname(next(f for f in found if f.endswith("samepage.pc")))
        libraries = os.path.dirname(next(f for f in found if f.endswith("libsamepage.a")))
        exports_only_its_own(os.path.join(libraries, "libsamepage.so"), "-D")
        exports_only_its_own(os.path.join(libraries, "libsamepage.a"))

        for name in ("libsamepage_filter.so", "libsamepage_index.so", "libsamepage_predict.so"):
            exports_only_its_own(os.path.join(libraries, name), "-D")
            if not soname(os.path.join(libraries, name)).startswith(name + "."):
                raise SystemExit(f"{name} has no version in its name")

        def asked(*options, package="samepage"):
            return call("pkg-config", *options, package, PKG_CONFIG_PATH=packages).split()

        def builds(name, *command):
            program = os.path.join(work, name)
            call(*command, "-o", program)
            print(name, call(program).strip())

        path = f"-Wl,-rpath,{libraries}"
        builds("shared", cc, "-std=c99", *STRICT, SOURCE, *asked("--cflags", "--libs"), path)
        builds("shared-c++", cxx, "-std=c++11", *STRICT, "-x", "c++", SOURCE, "-x", "none",
               *asked("--cflags", "--libs"), path)
        both = [flag for package in ("samepage_index", "samepage_filter")
                for flag in asked("--cflags", "--libs", package=package)]
        builds("index", cc, "-std=c99", *STRICT, INDEX_SOURCE, *both, path)
        builds("index-c++", cxx, "-std=c++11", *STRICT, "-x", "c++", INDEX_SOURCE, "-x", "none", *both,
               path)
        predict = asked("--cflags", "--libs", package="samepage_predict")
        builds("predict", cc, "-std=c99", *STRICT, PREDICT_SOURCE, *predict, path)
        builds("predict-c++", cxx, "-std=c++11", *STRICT, "-x", "c++", PREDICT_SOURCE, "-x", "none", *predict, path)
        static = [f for f in asked("--cflags", "--libs", "--static") if f != "-lsamepage"]
        builds("static", cc, *STRICT, SOURCE, os.path.join(libraries, "libsamepage.a"), *asked("--cflags"),
               "-lrdkafka")
        if "-lrdkafka" not in static:
            raise SystemExit(f"pkg-config --static does not name librdkafka: {static}")

        project = os.path.join(work, "project")
        os.mkdir(project)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT.replace("SOURCE", SOURCE))
        made = os.path.join(work, "made")
        call(cmake, "-S", project, "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}",
             f"-DCMAKE_C_COMPILER={cc}")
        call(cmake, "--build", made)
        for kind in ("samepage", "samepage_static"):
            print("find_package", kind, call(os.path.join(made, f"uses_{kind}")).strip())
        build_indexer(cmake, cc, prefix, work)


main(*sys.argv[1:])
