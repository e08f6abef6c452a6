"""Near duplicates of texts and web pages.

>>> import samepage
>>> result = samepage.dedup(["the quick brown fox jumps over the lazy dog",
...                          "The quick brown fox jumps over the lazy dog!",
...                          "an entirely different sentence about something else"])
>>> result.kept
['the quick brown fox jumps over the lazy dog', 'an entirely different sentence about something else']

``dedup`` returns a collection without its near duplicates; ``unique`` does the same for a stream. ``similar`` compares
two texts. An ``Index`` holds documents that can be added, changed and removed. A ``Predictor`` predicts before a fetch
whether a URL leads to a known page. ``StatusConsumer`` reads the status events that samepage writes to Kafka.
``python -m samepage --help``: Parquet.
"""

from ._dedup import Deduplicated, Removed, dedup, unique
from ._index import Index, Match, Similarity, similar
from ._native import SamepageError, version as _version
from ._predict import Prediction, Predictor, canonical_url
from ._status import DecodeError, Status, StatusConsumer, decode_status

__version__ = _version()
__all__ = ["DecodeError", "Deduplicated", "Index", "Match", "Prediction", "Predictor", "Removed", "SamepageError", "Similarity",
           "Status", "StatusConsumer", "canonical_url", "decode_status", "dedup", "similar", "unique"]
