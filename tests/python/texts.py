"""Made-up texts for the tests."""

import random


def words(chance, count):
    return [f"w{chance.randrange(5000)}" for _ in range(count)]


def families(count, seed=1):
    """Texts of sixty words; most differ from an earlier one by a word or two."""
    chance = random.Random(seed)
    texts = []
    for i in range(count):
        text = words(chance, 60) if i % 10 == 0 else list(texts[chance.randrange(i)])
        for _ in range(chance.randrange(3)):
            text[chance.randrange(60)] = f"w{chance.randrange(5000)}"
        texts.append(text)
    return [" ".join(text) for text in texts]


def jaccard(a, b, k=5):
    """Similarity of the sets of k-word shingles, by definition."""
    x, y = ({tuple(t[i:i + k]) for i in range(len(t) - k + 1)} for t in (a.split(), b.split()))
    return len(x & y) / len(x | y)
