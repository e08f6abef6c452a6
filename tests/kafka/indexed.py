"""examples/indexer: fetches without a new text leave the old one in the index; an indexer that is started after another
was killed has read all before it has been idle for long; what it has committed is on the disk.

    indexed.py WORK PROGRAM INDEXER SYNCED
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import statuses
from harness import check, until, wait

WORDS = "north", "south", "east", "west"
# Fetches of the pages after their first one, and whether the text is to stay.
LATER = (({"http_status": 304, "redirect_url": "/nowhere"}, True), ({"http_status": 503, "content": "try later"}, True),
         ({"content_type": "image/png", "content": "no text"}, True), ({"http_status": 410}, False))
IDLE_SECONDS = "30"  # as in its README


def url_of(word):
    return f"http://{word}.example/"


def publish(place, pages):
    with open(place.path("pages.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(page) + "\n" for page in pages)
    place.ingest(crawl="pages.jsonl")


def found(place, indexer, word):
    done = subprocess.run([indexer, "query", "--index", place.path("index.sqlite"), word], check=True, text=True,
                          stdout=subprocess.PIPE)
    return done.stdout.split()


def texts(place):
    with contextlib.closing(sqlite3.connect(f"file:{place.path('index.sqlite')}?mode=ro", uri=True)) as file:
        return {url for url, in file.execute("SELECT url FROM body")}


def check_synced(place):
    """All of the write-ahead log was synced, so nothing of it is lost if the power fails."""
    log = os.stat(place.path("index.sqlite-wal"))
    with open(place.path("synced"), encoding="utf-8") as lines:
        synced = [int(length) for inode, length in map(str.split, lines) if int(inode) == log.st_ino]
    check(synced and synced[-1] == log.st_size, "synced:", synced[-1:], "of", log.st_size)


def main(work, program, indexer, synced):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    place = statuses.Place(work, program, f"indexed-{os.getpid()}.")
    place.call("topics", "create", *place.settings())
    publish(place, [{"url": url_of(word), "content": f"a page about {word} and nothing else"} for word in WORDS])
    command = [indexer, "run", "--broker", place.address, "--prefix", place.prefix, "--index", place.path("index.sqlite"),
               "--idle", IDLE_SECONDS]
    first = place.processes.start("first", command, place.path("indexer.log"),
                                  env={**os.environ, "LD_PRELOAD": synced, "SYNCED_LOG": place.path("synced")})
    try:
        until(lambda: os.path.exists(place.path("index.sqlite")) and first.poll() is None, "an index")
        until(lambda: len(found(place, indexer, "page")) == len(WORDS), "all pages in the index")
    finally:
        place.processes.stop("first", signal.SIGKILL)
    check_synced(place)
    publish(place, [{"url": url_of(word), **page} for word, (page, _) in zip(WORDS, LATER)])
    stay = {url_of(word) for word, (_, stays) in zip(WORDS, LATER) if stays}
    with place.started(*command) as second:
        wait(lambda: texts(place) == stay or second.poll() is not None)
        check(texts(place) == stay, "texts of", texts(place), "and not of", stay, "; the next indexer",
              "runs" if second.poll() is None else "has ended")



if __name__ == "__main__":
    statuses.main(main, *sys.argv[1:])
