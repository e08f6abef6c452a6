"""Revisits and 304s of an archive over Kafka: `revisits.py WORK PROGRAM`.

`ingest` and the stages produce what `run` produces from the whole archive, also if a second `ingest`
reads the second half and takes the payloads of the first from its directory.
"""

import os
import shutil
import subprocess
import sys

from statuses import Place, check_same, decided, main, of_json  # knows where the other folders are
from harness import check_in

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from revisits import OTHER, TEXT, day, response, revisit  # pylint: disable=wrong-import-position

THIRD = " ".join(f"third{n}" for n in range(60))


def archive():
    """Two halves; each host is a case."""
    a, b, c, d, e, f, g = (f"http://{host}.example/" for host in "abcdefg")
    first = [response(a, day(1), TEXT, digest=True), response(b, day(1), OTHER, digest=True),
             response(c, day(1), THIRD, digest=True), response(d, day(1), OTHER, digest=True),
             response(d, day(2), THIRD, digest=True), response(g, day(1), TEXT + " " + OTHER)]
    rest = [revisit(a, day(3), day(1), a, text=TEXT),  # of its own payload
            revisit(b, day(3), day(1), b, profile="server-not-modified", block="HTTP/1.1 304 Not Modified\n\n"),
            response(c, day(3), "", "304 Not Modified"),
            revisit(d, day(3), day(1), d),  # a content that it no longer has: no effect
            revisit(e, day(3), day(1), a, text=TEXT),  # another page's content, new on this page
            revisit(f, day(3), day(1), a),  # another page's content without a digest: no effect
            revisit(d, day(4), day(1), b, text=OTHER),  # back to an earlier content, which another page has
            revisit(g, day(3)), revisit(g, day(2))]  # the second is late
    return first, rest


def write(place, name, records):
    with open(place.path(name), "wb") as file:
        file.write(b"".join(records))


def revisits(work, program):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = Place(work, program, f"revisits-{os.getpid()}.")
    first, rest = archive()
    write(place, "first.warc", first)
    write(place, "rest.warc", rest)
    place.call("run", "-q", "--set", "partition.cells=6", "-o", place.path("want.jsonl"),
               place.path("first.warc"), place.path("rest.warc"))
    with open(place.path("want.jsonl"), encoding="utf-8") as lines:
        want = decided(of_json(lines.read()))
    place.call("topics", "create", *place.settings())
    with place.stages():
        place.call("ingest", *place.settings(), "--payloads", place.path("payloads"), place.path("first.warc"))
        place.settle(decided(of_json(place.call("run", "-q", place.path("first.warc")))))
        said = subprocess.run([program, "ingest", *place.settings(), "--payloads", place.path("payloads"),
                               place.path("rest.warc")], check=True, text=True, stderr=subprocess.PIPE).stderr
        place.settle(want)
    check_same(decided(place.all()), want, "revisits over Kafka and in `samepage run`")
    check_in("1 revisits of other pages' contents were left out", said)


if __name__ == "__main__":
    main(revisits, *sys.argv[1:])
