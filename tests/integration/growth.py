"""The cost of a fetch in a crawl, compared with one four times as long."""

ALLOWED = 1.5  # as a factor: linear cost is 1, logarithmic 1.3, quadratic 4


def wrong_growth(kind, fetches, few, many, grows, least):
    """A line for each counter that grows although it is not in `grows`, or is there and does not grow.

    few, many: counts a fetch, of `fetches` and of four times as many. least: as much of a counter is nothing."""
    for counter in few:
        growth = (many[counter] + least) / (few[counter] + least)  # growth from zero to a little does not count
        said = f"{kind}: {few[counter]:.1f} {counter} a fetch at {fetches}, {many[counter]:.1f} at {4 * fetches}"
        print(said)
        if growth > ALLOWED and counter not in grows:
            yield f"{said}: they grow with the crawl"
        if growth <= ALLOWED and counter in grows:
            yield f"{said}: they do not grow any more; take the name out of GROWS"
