"""The image of deploy/Dockerfile can start: the program runs in a file system with only a minimal
Debian, the packages that the Dockerfile installs, and their dependencies.

closure: the files of those packages are copied from this machine, where the program was built.
debootstrap: a Debian is downloaded, and the Dockerfile's own line is run in it.

usage: image.py SOURCE PROGRAM closure|debootstrap
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

SKIP = 77
PATIENCE_SECONDS = 60
UNREAD = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")
LIST = "/usr/local/share/samepage/packages"
DEFAULT_RELEASE, DEFAULT_MIRROR = "bookworm", "http://deb.debian.org/debian"
PAGES = [{"url": f"http://{name}.example/", "content": text, "fetch_time_ms": at}
         for at, (name, text) in enumerate((("a", "one two three four five six seven"),
                                            ("b", "one two three four five six seven"),
                                            ("c", "nothing of that kind is to be found here")), 1)]


def skip(why):
    print("SKIPPED:", why)
    sys.exit(SKIP)


def call(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


# ---- a file system from the packages of this machine ----

def installed():
    """Installed packages by name and by provided name: (name, essential, names of dependencies)."""
    form = "${Package}\t${db:Status-Status}\t${Essential}\t${Priority}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
    packages = {}
    provided = {}
    for line in call("dpkg-query", "-W", "-f", form).splitlines():
        name, status, essential, priority, provides, depends = line.split("\t")
        if status != "installed":
            continue
        needs = [[re.split(r"[ (:]", one.strip())[0] for one in group.split("|")]
                 for group in depends.split(",") if group.strip()]
        packages[name] = (essential == "yes" or priority == "required" or name == "apt", needs)
        for other in provides.split(","):
            provided.setdefault(re.split(r"[ (]", other.strip())[0], name)
    return packages, provided


def closure(wanted):
    """The packages, all their dependencies, and a minimal Debian; and the names of those that are not installed here.
    """
    packages, provided = installed()
    found, missing = set(), []
    left = sorted(wanted) + [name for name, (base, _) in packages.items() if base]
    while left:
        name = left.pop()
        name = name if name in packages else provided.get(name, name)
        if name in found or name in missing:
            continue
        if name not in packages:
            missing.append(name)
            continue
        found.add(name)
        for alternatives in packages[name][1]:
            here = [a for a in alternatives if a in packages or a in provided]
            left.append((here or alternatives)[0])
    return sorted(found), missing


def copy_packages(names, root):
    for merged in ("bin", "sbin", "lib", "lib64"):
        os.makedirs(os.path.join(root, "usr", merged), exist_ok=True)
        os.symlink("usr/" + merged, os.path.join(root, merged))
    for path in sorted(set(call("dpkg", "-L", *names).splitlines())):
        if not path.startswith("/") or path.startswith(UNREAD):
            continue
        target = root + path
        if os.path.islink(path):
            if not os.path.lexists(target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.symlink(os.readlink(path), target)
        elif os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        elif os.path.isfile(path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target)


def make_closure(source, packages, root):
    del source
    names, missing = closure(packages)
    linked = [name for name in missing if name.startswith("lib") and name != "libsasl2-modules"]
    if linked:
        raise SystemExit(f"the program is linked with packages that are not installed: {linked}")
    if missing:
        print("not on this machine, and so not in the test:", *missing)
    copy_packages(names, root)


# ---- a downloaded one ----

def make_debootstrap(source, packages, root):
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    if os.geteuid() != 0:
        skip("debootstrap needs root")
    mirror = os.environ.get("SAMEPAGE_DEBIAN_MIRROR", DEFAULT_MIRROR)
    try:
        urllib.request.urlopen(f"{mirror}/dists/{DEFAULT_RELEASE}/Release", timeout=20).close()
    except OSError as error:
        skip(f"{mirror} is out of reach: {error}")
    stage = runtime_stage(source)
    install = re.search(r"^RUN (apt-get update.*?)(?<!\\)$", stage, re.M | re.S)
    commands = install[1].replace("\\\n", " ")
    call("debootstrap", "--variant=minbase", DEFAULT_RELEASE, root, mirror)
    os.makedirs(os.path.dirname(root + LIST))
    with open(root + LIST, "w", encoding="utf-8") as file:
        file.write("".join(name + "\n" for name in packages))
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(name, root + name)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C",
                   "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"}
    call("chroot", root, "sh", "-ec", commands, env=environment)
    owner = os.stat(root + "/state")
    if (owner.st_uid, owner.st_gid) != (10001, 10001):
        raise SystemExit("/state does not belong to the user of the image")


# ---- the Dockerfile ----

def runtime_stage(source):
    with open(os.path.join(source, "deploy/Dockerfile"), encoding="utf-8") as file:
        return file.read().rsplit("\nFROM ", 1)[1]


def check_dockerfile(source):
    """The Dockerfile installs what tools/runtime prints for the copied program, and no package by name."""
    with open(os.path.join(source, "deploy/Dockerfile"), encoding="utf-8") as file:
        text = file.read()
    stage = runtime_stage(source)
    for wanted, where in (("tools/runtime /samepage >/packages", text),
                          (f"COPY --from=build /packages {LIST}", stage),
                          (f"xargs apt-get install -y --no-install-recommends <{LIST}", stage),
                          ("COPY --from=build /samepage /usr/local/bin/samepage", stage)):
        if wanted not in where:
            raise SystemExit(f"deploy/Dockerfile lacks: {wanted}")
    if re.search(r"\blib[a-z0-9.+-]+\d", stage):
        raise SystemExit("the last stage of deploy/Dockerfile names a library: tools/runtime does that")


# ---- the program in it ----

def inside(root):
    """The prefix of a command that runs in `root`."""
    ways = [["chroot", root], ["unshare", "--user", "--map-root-user", "chroot", root]]
    for way in ways:
        done = subprocess.run([*way, "/usr/bin/true"], capture_output=True, check=False)
        if done.returncode == 0:
            return [*way, "/usr/bin/env", "-i", "HOME=/state", "PATH=/usr/local/bin:/usr/bin"]
    return skip("neither chroot nor unshare is allowed here: " + done.stderr.decode().strip())


def check_serve(command, root):
    log = root + "/state/log"
    with open(log, "wb") as err:
        server = subprocess.Popen([*command, "samepage", "serve", "--state", "/state/s", "--listen",
                                   "127.0.0.1:0"], stderr=err, stdout=err)
    try:
        end = time.monotonic() + PATIENCE_SECONDS
        port = None
        while not port:
            with open(log, encoding="utf-8") as file:
                said = file.read()
            port = re.search(r"http://127\.0\.0\.1:(\d+)", said)
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"serve does not listen:\n{said}")
            time.sleep(0.05)
        address = f"http://127.0.0.1:{port[1]}"
        with urllib.request.urlopen(f"{address}/readyz", timeout=PATIENCE_SECONDS) as response:
            if response.read() != b"ready\n":
                raise SystemExit("serve is not ready")
        with urllib.request.urlopen(f"{address}/v1/status?url=http://b.example/",
                                    timeout=PATIENCE_SECONDS) as response:
            return json.load(response)
    finally:
        server.terminate()
        server.wait()


def check_runs(root, program):
    command = inside(root)
    # Stripped, as in the image.
    os.makedirs(root + "/usr/local/bin", exist_ok=True)
    call("strip", "-o", root + "/usr/local/bin/samepage", program)
    os.makedirs(root + "/state", exist_ok=True)
    with open(root + "/state/in.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(page) + "\n" for page in PAGES)
    print(call(*command, "samepage", "--version").strip())
    call(*command, "samepage", "run", "-q", "--state", "/state/s", "-o", "/state/out.jsonl",
         "/state/in.jsonl")
    with open(root + "/state/out.jsonl", encoding="utf-8") as file:
        said = {event["url"]: event["status"] for event in map(json.loads, file)}
    if said.get("http://c.example/") != "unique" or sorted(
            said[f"http://{name}.example/"] for name in "ab") != ["loser", "winner"]:
        raise SystemExit(f"run says {said}, not that c is unique and that one of a and b stands for both")
    status = check_serve(command, root)
    if said["http://b.example/"] not in json.dumps(status):
        raise SystemExit(f"serve says {status}")
    return command


def check_isolated(root, command):
    """The file system is isolated from this machine: without one of its libraries the program cannot start."""
    found = [os.path.join(top, name) for top, _, names in os.walk(root + "/usr/lib")
             for name in names if name.startswith("libmicrohttpd.so")]
    if not found:
        raise SystemExit("libmicrohttpd is not in the image")
    for path in found:
        os.remove(path)
    done = subprocess.run([*command, "samepage", "--version"], capture_output=True, text=True,
                          check=False)
    if done.returncode == 0 or "libmicrohttpd" not in done.stderr:
        raise SystemExit("the program starts without a library that it is linked with")


def main(source, program, case):
    check_dockerfile(source)
    if not shutil.which("dpkg-shlibdeps"):
        skip("no dpkg-shlibdeps: not a Debian, or without build-essential")
    packages = call(os.path.join(source, "tools/runtime"), program).split()
    with tempfile.TemporaryDirectory(prefix="samepage-image-") as root:
        os.chmod(root, 0o755)
        {"closure": make_closure, "debootstrap": make_debootstrap}[case](source, packages, root)
        check_isolated(root, check_runs(root, program))
    print(f"{case}: --version, run and serve, with {len(packages)} packages")


main(*sys.argv[1:])
