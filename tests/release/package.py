"""What tools/release makes of the last commit: twice, in two folders, and used as a person would. The first time, the
objects of the preset `release` are taken from ccache if they are there: they must be those that are compiled the second
time.

    package.py SOURCE VERSION
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

# Complaints of lintian, and why they are accepted.
NOT_MENDED = {
    "initial-upload-closes-no-bugs": "is no upload to Debian",
    "bogus-mail-host-in-debian-changelog": "the project has no mail of its own",
    "bogus-mail-host": "the same",
}


def check(condition, *what):
    if not condition:
        raise SystemExit(" ".join(str(w) for w in what))


def call(*command, **options):
    done = subprocess.run(command, text=True, capture_output=True, check=False, **options)
    check(done.returncode == 0, " ".join(command), "ended with", done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout


def made(source, folder, *options):
    call(os.path.join(source, "tools/release"), folder, *options)
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def check_source(source, packed, version):
    """The tarball has the files of the commit and nothing else."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as tar:
        names = {name.removeprefix(f"samepage-{version}/") for name in tar.getnames() if not tar.getmember(name).isdir()}
    check(names == set(call("git", "-C", source, "ls-tree", "-r", "--name-only", "HEAD").split("\n")) - {""},
          "the source release has other files than the commit")


def check_use(source, package, version, work):
    root = os.path.join(work, "root")
    call("dpkg-deb", "-x", package, root)
    program = os.path.join(root, "usr/bin/samepage")
    check(call(program, "--version").startswith(f"samepage {version} "), "another version")
    call(program, "synth", "--pages", "500", "-o", "crawl.jsonl", cwd=work)
    call(program, "run", "-q", "--verify", "--state", "state", "-o", "status.jsonl", "crawl.jsonl", cwd=work)
    check(os.path.getsize(os.path.join(work, "status.jsonl")) > 10000, "the run wrote hardly anything")
    for name in ("share/man/man1/samepage-run.1.gz", "share/bash-completion/completions/samepage",
                 "share/zsh/vendor-completions/_samepage", "share/fish/vendor_completions.d/samepage.fish",
                 "share/doc/samepage/copyright", "share/doc/samepage/CHANGELOG.md.gz"):
        check(os.path.getsize(os.path.join(root, "usr", name)) > 0, "the package lacks", name)
    depends = {word.split()[0] for word in call("dpkg-deb", "-f", package, "Depends").strip().split(", ")}
    needed = set(call(os.path.join(source, "tools/runtime"), program).split())
    check(needed and needed <= depends | {"libc6"}, "the package does not depend on", needed - depends)
    print("depends on", *sorted(depends))


LIBRARIES = {  # name for pkg-config: header, a function
    "samepage": ("status.h", "samepage_status_open"), "samepage_filter": ("filter.h", "samepage_filter_run"),
    "samepage_index": ("index.h", "samepage_index_new"), "samepage_predict": ("predict.h", "samepage_predictor_new"),
}


def check_libraries(packages, version, work):
    """A program for each library builds and starts with the content of the two packages."""
    root = os.path.join(work, "libraries")
    for name in "libsamepage0", "libsamepage-dev":
        call("dpkg-deb", "-x", packages[name], root)
    folder = os.path.join(root, "usr/lib", call("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip())
    environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(folder, "pkgconfig"), "LD_LIBRARY_PATH": folder}
    program = os.path.join(work, "uses")
    for name, (header, function) in LIBRARIES.items():
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write(f"#include <samepage/{header}>\n#include <stdio.h>\n"
                       f"int main(void) {{ return printf(\"%d\\n\", (void *){function} != 0) < 0; }}\n")
        flags = call("pkg-config", "--cflags", "--libs", name, env=environment).split()
        check(call("pkg-config", "--modversion", name, env=environment).strip() == version, name, "has another version")
        call("cc", "-o", program, program + ".c", *flags)
        check(call(program, env=environment) == "1\n", name, "cannot be used")
    depends = call("dpkg-deb", "-f", packages["libsamepage-dev"], "Depends")
    check(f"libsamepage0 (= {version})" in depends, "the headers do not depend on their libraries:", depends)


def main(source, version):
    if subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        print("SKIPPED: a release is made of a commit, and here is none")
        return 77
    with tempfile.TemporaryDirectory(prefix="samepage-release-") as work:
        one, other = made(source, os.path.join(work, "one"), "--cached"), made(source, os.path.join(work, "other"))
        check(sorted(one) == sorted(other) and len(one) == 4, "files:", sorted(one), sorted(other))
        for name in one:
            check(one[name] == other[name], name, "is not the same in another folder")
        check_source(source, one[f"samepage-{version}.tar.gz"], version)
        packages = {name.split("_")[0]: os.path.join(work, "one", name) for name in one if name.endswith(".deb")}
        check_use(source, packages["samepage"], version, work)
        check_libraries(packages, version, work)
        if shutil.which("lintian"):
            call("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", ",".join(NOT_MENDED), *packages.values())
        else:
            print("no lintian here (tools/setup tests installs it)")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
