"""What tools/release makes of the last commit: twice, in two folders, and used as a person would.

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

# What lintian would rather have, and why it is not.
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


def made(source, folder):
    call(os.path.join(source, "tools/release"), folder)
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


def main(source, version):
    if subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        print("SKIPPED: a release is made of a commit, and here is none")
        return 77
    with tempfile.TemporaryDirectory(prefix="samepage-release-") as work:
        one, other = made(source, os.path.join(work, "one")), made(source, os.path.join(work, "other"))
        check(sorted(one) == sorted(other) and len(one) == 2, "files:", sorted(one), sorted(other))
        for name in one:
            check(one[name] == other[name], name, "is not the same in another folder")
        check_source(source, one[f"samepage-{version}.tar.gz"], version)
        package = os.path.join(work, "one", next(name for name in one if name.endswith(".deb")))
        check_use(source, package, version, work)
        if shutil.which("lintian"):
            call("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", ",".join(NOT_MENDED), package)
        else:
            print("no lintian here (tools/setup tests installs it)")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
