"""A made-up crawl in which sites put visitor ids into their URLs. Used by tools/bench.

Each fetch of a crawl of `samepage synth` is kept. On some sites pages also have a URL with a session parameter, an id
as a directory, a tracking parameter, letters of another case, or a final slash. On others a parameter of the same
name chooses the page."""

import hashlib
import json
import random
import sys
import urllib.parse


def variants(rng, url, kind):
    """Other URLs of the same page."""
    parts = urllib.parse.urlsplit(url)
    mark = "%016x" % rng.getrandbits(64)
    if kind == 0:
        return parts._replace(query="sid=" + mark).geturl()
    if kind == 1:
        return parts._replace(path="/" + mark + parts.path).geturl()
    if kind == 2:
        return parts._replace(query="utm_source=" + rng.choice(["mail", "feed", "ads"]) + mark[:2]).geturl()
    if kind == 3:
        return parts._replace(path=parts.path.upper()).geturl()
    if kind == 4:
        return parts._replace(path=parts.path.removesuffix(".html") + "/").geturl()
    return None


def write(lines, out, seed=1, share=0.5):
    rng = random.Random(seed)
    number = 0
    for line in lines:
        fetch = json.loads(line)
        out.write(line)
        host = urllib.parse.urlsplit(fetch["url"]).netloc
        kind = hashlib.md5(host.encode()).digest()[0] % 7
        if not fetch.get("content") or rng.random() >= share:
            continue
        if kind == 5:  # on this site the parameter chooses the page
            number += 1
            words = " ".join("%s%d" % (rng.choice("abcdefgh"), rng.randrange(10**6)) for _ in range(200))
            fetch.update(url=fetch["url"] + "?sid=%d" % number, content=words, content_type="text/plain")
        else:
            url = variants(rng, fetch["url"], kind)
            if url is None:
                continue
            fetch["url"] = url
        out.write(json.dumps(fetch, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write(sys.stdin, sys.stdout)
