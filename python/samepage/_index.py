"""An index of documents, and the comparison of two texts."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Dict, Hashable, Iterable, Iterator, List, Mapping, NamedTuple, NoReturn, Optional, Union

from ._native import Engine, SamepageError, Signature, Text
from ._outputs import replacing

_FORMAT = "samepage index 1"


class Match(NamedTuple):
    """A document that resembles the given text."""

    key: Hashable
    similarity: float


@dataclass(frozen=True)
class Similarity:
    """The similarity of two texts. True if they are near duplicates."""

    similar: bool
    similarity: float

    def __bool__(self) -> bool:
        return self.similar

    def __float__(self) -> float:
        return self.similarity


def settings_of(threshold: Optional[float], method: str, settings: Optional[Mapping[str, str]]) -> Dict[str, str]:
    given = {"similarity.method": method}
    if threshold is not None:
        given["similarity.threshold"] = repr(float(threshold))
    given.update({key: str(value) for key, value in (settings or {}).items()})
    return given


def similar(a: Text, b: Text, threshold: Optional[float] = 0.8, *, method: str = "shingles",
            content_type: Optional[str] = None, settings: Optional[Mapping[str, str]] = None) -> Similarity:
    """Compares two texts.

    :param threshold: the least similarity of near duplicates; None: the default of the method.
    :param method: "shingles", "simhash", "cosine", "sentences", "lcs" or "combined".
    :param content_type: the type of both texts, for example "text/plain" or "text/html"; None: detected for each.
    :param settings: settings of docs/CONFIGURATION.md that begin with similarity., signature. or text.
    """
    engine = Engine(settings_of(threshold, method, settings))
    with engine.read(a, content_type) as x, engine.read(b, content_type) as y:
        return Similarity(*engine.similarity(x, y))


class Index:
    """An index of documents in memory, by key, that finds the documents that resemble a text.

    >>> index = Index(threshold=0.8)
    >>> index.add("a", "one two three four five six seven eight nine ten")
    >>> index.query("One, two, three, four, five, six, seven, eight, nine, ten.")
    [Match(key='a', similarity=1.0)]

    No similar document is missed, except by the methods cosine and lcs, which compare candidates only. A
    document takes 8 to 10 bytes of memory for each word, 7 kB at most. The index may be used from any thread; calls are
    serialised. The parameters are those of :func:`similar`.
    """

    def __init__(self, threshold: Optional[float] = 0.8, *, method: str = "shingles",
                 content_type: Optional[str] = None, settings: Optional[Mapping[str, str]] = None) -> None:
        self._settings = settings_of(threshold, method, settings)
        self._content_type = content_type
        self._engine = Engine(self._settings)
        self._documents: Dict[Hashable, int] = {}
        self._keys: Dict[int, Hashable] = {}

    def __reduce__(self) -> NoReturn:  # a copy would share the documents
        raise TypeError("an Index cannot be copied or pickled: use save() and load()")

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._documents

    def __iter__(self) -> Iterator[Hashable]:
        """The keys, in the order in which they were added."""
        return iter(list(self._documents))

    def _read(self, text: Text, content_type: Optional[str]) -> Signature:
        return self._engine.read(text, content_type or self._content_type)

    def _put(self, key: Hashable, signature: Signature) -> None:
        document = self._engine.add(signature)
        self._keys[document] = key
        self._documents[key] = document

    def _drop_strays(self, found: Iterable[int]) -> bool:
        """Removes those documents that belong to no key, since an interrupt ended the call that added or removed them
        between two steps. Returns whether there were any."""
        strays = [document for document in found if self._documents.get(self._keys.get(document)) != document]
        for document in strays:
            self._engine.remove(document)
        return bool(strays)

    def _nearest(self, signature: Signature) -> Optional[Match]:
        found = self._engine.nearest(signature)
        while found and self._drop_strays(found[:1]):
            found = self._engine.nearest(signature)
        return Match(self._keys[found[0]], found[1]) if found else None

    def add(self, key: Hashable, text: Text, content_type: Optional[str] = None) -> None:
        """Adds a document. ValueError if the key is in the index: use ``update`` to replace its document."""
        with self._read(text, content_type) as signature, self._engine.lock:
            if key in self._documents:
                raise ValueError(f"{key!r} is in the index: update() replaces it")
            self._put(key, signature)

    def update(self, key: Hashable, text: Text, content_type: Optional[str] = None) -> None:
        """Adds a document, or replaces the text of the one with this key."""
        with self._read(text, content_type) as signature, self._engine.lock:
            if key in self._documents:
                self.remove(key)
            self._put(key, signature)

    def remove(self, key: Hashable) -> None:
        """Removes a document. KeyError if the key is not in the index."""
        with self._engine.lock:
            document = self._documents.pop(key)
            del self._keys[document]
            self._engine.remove(document)

    def query(self, text: Text, limit: Optional[int] = None, content_type: Optional[str] = None) -> List[Match]:
        """Returns all documents that resemble the text, the most similar first; at most ``limit``.

        Takes one comparison for each document of each star in which one is found.
        """
        if limit is not None and limit < 0:
            raise ValueError("limit is below 0")
        with self._read(text, content_type) as signature, self._engine.lock:
            most = None if limit is None else min(limit, len(self))
            found = self._engine.query(signature, most)
            while self._drop_strays(document for document, _ in found):
                found = self._engine.query(signature, most)
            return [Match(self._keys[document], similarity) for document, similarity in found]

    def nearest(self, text: Text, content_type: Optional[str] = None) -> Optional[Match]:
        """Returns one document that resembles the text, or None. Its time does not depend on how many resemble it."""
        with self._read(text, content_type) as signature, self._engine.lock:
            return self._nearest(signature)

    def keep(self, key: Hashable, text: Text, content_type: Optional[str] = None) -> Optional[Match]:
        """Adds a document unless it resembles one of the index. Returns that one, or None if the document was added."""
        with self._read(text, content_type) as signature, self._engine.lock:
            if key in self._documents:
                raise ValueError(f"{key!r} is in the index: update() replaces it")
            match = self._nearest(signature)
            if match is None:
                self._put(key, signature)
            return match

    @property
    def bytes(self) -> int:
        """Memory of the index, without the keys."""
        return self._engine.bytes

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the index to a file; its keys must be str, int, float, bool or None."""
        with self._engine.lock:
            for key in self._documents:
                if not isinstance(key, (str, int, float, bool, type(None))):
                    raise TypeError(f"{key!r} cannot be written: save() takes keys that JSON has")
            with replacing(path) as name, open(name, "a", encoding="utf-8") as file:
                json.dump({"format": _FORMAT, "settings": self._settings, "content_type": self._content_type,
                           "documents": len(self)}, file)
                for key, document in self._documents.items():
                    with self._engine.get(document) as signature:
                        packed = base64.b64encode(signature.pack()).decode()
                    file.write("\n" + json.dumps([key, packed]))
                file.write("\n")

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Index":
        """Reads what ``save`` wrote."""
        name = os.fspath(path)
        with open(name, encoding="utf-8") as file:
            try:
                head = json.loads(file.readline())
                if head["format"] != _FORMAT:
                    raise ValueError(f"its format is {head['format']!r}")
                documents = head["documents"]
                index = cls(None, settings=head["settings"], content_type=head["content_type"])
                for line in file:
                    key, packed = json.loads(line)
                    with index._engine.unpack(base64.b64decode(packed)) as signature:
                        index._put(key, signature)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                what = f"no field {error}" if isinstance(error, KeyError) else error
                raise SamepageError(f"{name} is damaged, or no index of this version: {what}") from error
        if len(index) != documents:
            raise SamepageError(f"{name} ends early: {len(index)} of {documents} documents")
        return index
