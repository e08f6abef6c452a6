"""Keys that other programs derive from URLs, for `samepage evaluate --keys`: w3lib and courlan, both from PyPI."""

import json
import sys


def keys(trace, normalise, out):
    seen = set()
    with open(trace, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as file:
        for line in lines:
            url = json.loads(line)["url"]
            if url in seen or "\t" in url:
                continue
            seen.add(url)
            try:
                key = normalise(url)
            except (ValueError, TypeError):
                key = url
            file.write(f"{url}\t{key or url}\n")


def w3lib(url):
    from w3lib.url import canonicalize_url
    return canonicalize_url(url)


def courlan(url):
    from courlan import clean_url
    return clean_url(url)


if __name__ == "__main__":
    for name, normalise in ("w3lib", w3lib), ("courlan", courlan):
        keys(sys.argv[1], normalise, f"{sys.argv[2]}/{name}")
