"""Predicts whether a URL that was not fetched yet leads to a known page: libsamepage_predict, as
include/samepage/predict.h declares it."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Tuple, Union

from ._native import SamepageError


class _Prediction(ctypes.Structure):
    _fields_ = [("url", c_char_p), ("confidence", c_double), ("rule", c_char_p), ("explore", c_int)]


class _Rule(ctypes.Structure):
    _fields_ = [("host", c_char_p), ("kind", c_char_p), ("name", c_char_p), ("from_", c_char_p), ("to", c_char_p),
                ("recent_support", c_double), ("recent_against", c_double)]


class Prediction(NamedTuple):
    """A URL is predicted to be a copy of a page that was fetched."""

    url: str
    confidence: float
    rule: Dict[str, Any]
    explore: bool = False  # fetch it nevertheless, to get new evidence about the rule


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
        "url_canonical": (c_size_t, [c_char_p, c_size_t, c_char_p, c_size_t]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, "samepage_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _spelled(url: str) -> bytes:
    """The URL for C; empty, which is no URL, if it has half of a surrogate pair or a NUL, where C would end it."""
    try:
        data = url.encode()
    except UnicodeEncodeError:
        return b""
    return b"" if b"\0" in data else data


def canonical_url(url: str) -> Optional[str]:
    """The canonical form of a URL, a str: the same for all spellings that are one page. None if it has no scheme or no
    host, a space or a control character, or more than 8,192 bytes. TypeError if it is no str.

    >>> canonical_url("HTTP://A.example:80/b#c")
    'http://a.example/b'
    """
    if not isinstance(url, str):
        raise TypeError(f"a URL is a str, not {type(url).__name__}")
    data = _spelled(url)
    size = _library.samepage_url_canonical(data, len(data), None, 0)
    out = ctypes.create_string_buffer(size + 1)
    _library.samepage_url_canonical(data, len(data), out, size + 1)
    return out.value.decode("utf-8", "replace") if size else None


class Predictor:
    """Rules about URLs, learned from the pages that were fetched. A crawler asks them before a fetch.

    >>> rules = Predictor()
    >>> for page in range(50):
    ...     for visitor in range(2):
    ...         rules.learn(f"http://a.example/{page}?sid={visitor}", f"text of page {page}")
    >>> rules.predict("http://a.example/7?sid=99").url
    'http://a.example/7?sid=1'

    ``predict`` returns None for the share ``explore`` of the URLs that it could predict, chosen by a hash of the URL, so
    that they are fetched: a rule that is always followed would never get new evidence. ``ask`` distinguishes these from
    URLs of which nothing is known. Memory: about 1 KiB a URL. It may be used from any thread; calls are serialised.
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

    def __reduce__(self) -> NoReturn:  # a copy would free the same rules again
        raise TypeError("a Predictor cannot be copied or pickled")

    def learn(self, url: str, content: Union[str, bytes]) -> None:
        """Learns that the URL was fetched and had this content. Contents are compared byte by byte, so pass the text
        without parts that change at each fetch, or the URL of the page's winner. ValueError if the URL is not absolute.
        """
        data = content.encode("utf-8", "replace") if isinstance(content, str) else bytes(memoryview(content))
        with self._lock:
            if _library.samepage_predict_learn(self._rules, _spelled(url), data, len(data)):
                raise SamepageError(f"{url!r} is no URL: it needs a scheme and a host, no spaces or control characters, "
                                    "and at most 8192 bytes")

    def forget(self, url: str) -> None:
        """Forgets the page of a URL that is gone or redirects: no other URL is predicted to be its copy."""
        with self._lock:
            _library.samepage_predict_forget(self._rules, _spelled(url))

    def rule(self, key: Union[str, bytes], value: Union[str, bytes, None]) -> None:
        """Takes a rule that was learned elsewhere: a record of the topic ``rules``, or a line of ``samepage rules`` as
        both key and value. Its evidence replaces that of this predictor; evidence of later fetches is added. A value
        that is None or empty means that the rule has expired. ValueError if it is not a rule.
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
        """Returns the page that the URL is predicted to be a copy of, with the rule; None: fetch the URL."""
        said = self.ask(url)
        return None if said is None or said.explore else said

    def ask(self, url: str) -> Optional[Prediction]:
        """The same, but None only if nothing is predicted; ``explore`` says whether to fetch the URL nevertheless."""
        said = _Prediction()
        with self._lock:
            if not _library.samepage_predict(self._rules, _spelled(url), self._confidence, byref(said)):
                return None
            return Prediction(said.url.decode(), said.confidence, json.loads(said.rule), bool(said.explore))
