"""The Python package's StatusConsumer reads the statuses of kafka.stages, commits, and resumes there.

usage: package.py STATUSES PROGRAM VENV    (VENV: where python.wheel has installed the package)
       package.py read BROKER TOPIC GROUP  (in a Python with the package and confluent-kafka)
"""

import glob
import json
import os
import subprocess
import sys

import statuses
from harness import Skip, check

IDLE_SECONDS = 20  # a consumer group may take long to begin


def read(broker, topic, group):
    import samepage

    with samepage.StatusConsumer(broker, topic, group=group) as consumer:
        idle = 0
        while idle < IDLE_SECONDS:
            status = consumer.poll(1.0)
            idle = idle + 1 if status is None else 0
            if status is not None:
                print(json.dumps(vars(status)))
        check(consumer.bad == 0, consumer.bad, "records are no status events")
        consumer.commit()


def package(work, program, venv):
    place = statuses.left_behind(work, program)
    installed = glob.glob(os.path.join(venv, "lib", "python*", "site-packages", "samepage"))
    if not installed:
        raise Skip("python.wheel has not run: there is no package to test")
    python = statuses.python_with_packages(os.path.join(os.path.dirname(work), "python-kafka"))

    def events(group):
        return statuses.of_json(subprocess.run(
            [python, "-B", os.path.abspath(__file__), "read", place.address, place.prefix + "status", group],
            check=True, text=True, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.path.dirname(installed[0])}).stdout)

    group = f"{place.prefix}package-{os.getpid()}"
    got = events(group)
    statuses.check_same(statuses.decided(got), place.expected(), "StatusConsumer and `samepage run`")
    check(not events(group), "events come again after a commit")


if __name__ == "__main__":
    if sys.argv[1] == "read":
        read(*sys.argv[2:])
    else:
        statuses.main(package, *sys.argv[1:])
