"""tools/crawlers builds and tests the plug-ins of examples/crawlers, and says why where it cannot.

usage: crawlers.py SOURCE WORK CASE
    tested       all tests of both plug-ins pass
    unreachable  without Maven Central it ends as skipped, not as failed and not as passed
    broken       source that does not compile is a failure
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile

SKIPPED = 77
# Maven asks this machine for everything, at a port where nobody listens.
NOBODY = """<settings><mirrors><mirror><id>nobody</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:1</url></mirror>
</mirrors></settings>"""


def crawlers(source, work, **environment):
    done = subprocess.run([os.path.join(source, "tools", "crawlers"), work], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment}, check=False)
    print(done.stdout)
    return done


def check(good, *texts):
    if not good:
        sys.exit(" ".join(map(str, texts)))


def skip_where_it_is_skipped(done):
    if done.returncode == SKIPPED:
        sys.exit(SKIPPED)


def tested(source, work):
    done = crawlers(source, work)
    skip_where_it_is_skipped(done)
    check(done.returncode == 0, "exit code", done.returncode)
    tests = re.search(r"(?m)^(\d+) tests, 0 of them failed or skipped$", done.stdout)
    check(tests and int(tests[1]) >= 16, "few tests of the plug-ins ran")
    for name in "stormcrawler", "nutch":
        check(re.search(rf"(?m)/{name}/target/{name}-.*\.jar$", done.stdout), "no jar of", name)
    check_plugin(os.path.join(work, "nutch/target/indexer-samepage"))


def check_plugin(folder):
    """Nutch loads the jars that plugin.xml names, and the writer needs nothing else than Nutch's own."""
    with open(os.path.join(folder, "plugin.xml"), encoding="utf-8") as file:
        named = re.findall(r'<library name="(.*?)"', file.read())
    jars = [name for name in os.listdir(folder) if name.endswith(".jar")]
    check(sorted(named) == sorted(jars), "plugin.xml names", named, "and the folder has", jars)
    classes = {name for jar in jars for name in zipfile.ZipFile(os.path.join(folder, jar)).namelist()}
    for needed in "samepage/Pages", "org/apache/kafka/clients/producer/KafkaProducer", "com/github/luben/zstd/Zstd":
        check(needed + ".class" in classes, "no jar of the plug-in has", needed)


def unreachable(source, work):
    home = os.path.join(work, "home")
    os.makedirs(os.path.join(home, ".m2"))
    with open(os.path.join(home, ".m2", "settings.xml"), "w", encoding="utf-8") as file:
        file.write(NOBODY)
    done = crawlers(source, os.path.join(work, "build"), MAVEN_OPTS="-Duser.home=" + home)
    check(done.returncode == SKIPPED, "exit code", done.returncode)
    if "no mvn here" in done.stdout or "no javac here" in done.stdout:
        sys.exit(SKIPPED)
    check("SKIPPED: Maven Central cannot be reached" in done.stdout, "the reason is not said")


def broken(source, work):
    copy = os.path.join(work, "source")
    for folder in "tools", "schemas", "examples/crawlers":
        shutil.copytree(os.path.join(source, folder), os.path.join(copy, folder))
    with open(os.path.join(copy, "examples/crawlers/common/src/main/java/samepage/Page.java"), "a",
              encoding="utf-8") as file:
        file.write("what no compiler accepts\n")
    done = crawlers(copy, os.path.join(work, "build"))
    skip_where_it_is_skipped(done)
    check(done.returncode not in (0, SKIPPED), "exit code", done.returncode)
    check("Page.java" in done.stdout, "where the mistake is, is not said")


if __name__ == "__main__":
    if sys.argv[3] != "tested":
        shutil.rmtree(sys.argv[2], ignore_errors=True)
    {"tested": tested, "unreachable": unreachable, "broken": broken}[sys.argv[3]](*sys.argv[1:3])
