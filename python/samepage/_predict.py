"""Whether a URL, not fetched yet, is a page that is known: libsamepage_predict, as include/samepage/predict.h
declares it."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from ._native import SamepageError


class _Prediction(ctypes.Structure):
    _fields_ = [("url", c_char_p), ("confidence", c_double), ("rule", c_char_p), ("explore", c_int)]


class _Rule(ctypes.Structure):
    _fields_ = [("host", c_char_p), ("kind", c_char_p), ("name", c_char_p), ("from_", c_char_p), ("to", c_char_p),
                ("recent_support", c_double), ("recent_against", c_double)]


class Prediction(NamedTuple):
    """A URL is said to be a copy of a page that was fetched."""

    url: str
    confidence: float
    rule: Dict[str, Any]
    explore: bool = False  # fetch it all the same: it is one of the share that keeps the rules honest


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsamepage_predict.so"))
    functions: Dict[str, Tuple[object, List[object]]] = {
        "predictor_new": (c_void_p, []),
        "predictor_free": (None, [c_void_p]),
        "predictor_explore": (c_int, [c_void_p, c_double]),
        "predict_learn": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t]),
        "predict_forget": (None, [c_void_p, c_char_p]),
        "predict_rule": (c_int, [c_void_p, POINTER(_Rule)]),
        "predict": (c_int, [c_void_p, c_char_p, c_double, POINTER(_Prediction)]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, "samepage_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


class Predictor:
    """Rules about URLs, learned from the pages that were fetched, for a crawler to ask before a fetch.

    >>> rules = Predictor()
    >>> for page in range(50):
    ...     for visitor in range(2):
    ...         rules.learn(f"http://a.example/{page}?sid={visitor}", f"text of page {page}")
    >>> rules.predict("http://a.example/7?sid=99").url
    'http://a.example/7?sid=1'

    ``predict`` returns None for the share ``explore`` of the URLs that it could predict, chosen by a hash of the URL, so
    that they are fetched: a rule that was always followed would never meet evidence again. ``ask`` tells these apart
    from URLs of which nothing is known. Memory: about 1 KiB a URL. Any thread may call; calls run one at a time.
    """

    def __init__(self, confidence: float = 0.9, explore: float = 0.01) -> None:
        for name, value in (("confidence", confidence), ("explore", explore)):
            if not 0 <= value <= 1:
                raise SamepageError(f"{name} is a number from 0 to 1")
        self._confidence = float(confidence)
        self._lock = threading.RLock()
        self._rules = _library.samepage_predictor_new()
        _library.samepage_predictor_explore(self._rules, float(explore))

    def __del__(self, free: Any = _library.samepage_predictor_free) -> None:
        free(getattr(self, "_rules", None))

    def learn(self, url: str, content: Union[str, bytes]) -> None:
        """The URL was fetched and had this content. Contents are the same where their bytes are: give the text without
        what changes at each fetch, or the URL of the page's winner. ValueError where the URL is none of http or https.
        """
        data = content.encode("utf-8", "replace") if isinstance(content, str) else bytes(content)
        with self._lock:
            if _library.samepage_predict_learn(self._rules, url.encode(), data, len(data)):
                raise SamepageError(f"{url!r} is no URL of http or https")

    def forget(self, url: str) -> None:
        """The URL is gone, or a redirect now: nothing is a copy of it any more."""
        with self._lock:
            _library.samepage_predict_forget(self._rules, url.encode())

    def rule(self, key: Union[str, bytes], value: Union[str, bytes, None]) -> None:
        """A record of the topic ``rules``, or a line of ``samepage rules`` as both: the rule that others have learned.
        Its evidence takes the place of that found here; what is learned later is added. None as value, or an empty one:
        the rule has expired. ValueError where it is none.
        """
        try:
            about, counts = json.loads(key), json.loads(value) if value else {"recent_support": 0, "recent_against": 0}
            texts = [None if about[name] is None else about[name].encode()
                     for name in ("host", "kind", "name", "from", "to")]
            rule = _Rule(*texts, *(float(counts["recent_" + name]) for name in ("support", "against")))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SamepageError(f"{key!r} is no rule") from error
        with self._lock:
            if _library.samepage_predict_rule(self._rules, byref(rule)):
                raise SamepageError(f"{key!r} is no rule")

    def predict(self, url: str) -> Optional[Prediction]:
        """The page that the URL is a copy of and by which rule; None: fetch it."""
        said = self.ask(url)
        return None if said is None or said.explore else said

    def ask(self, url: str) -> Optional[Prediction]:
        """The same where ``explore`` says of a predicted fetch whether it is to be made; None: nothing is predicted."""
        said = _Prediction()
        with self._lock:
            if not _library.samepage_predict(self._rules, url.encode(), self._confidence, byref(said)):
                return None
            return Prediction(said.url.decode(), said.confidence, json.loads(said.rule), bool(said.explore))
