"""libsamepage_index, as include/samepage/index.h declares it."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

Text = Union[str, bytes]


class SamepageError(ValueError):
    """A setting or an argument is not valid; the text says which."""


class _Match(ctypes.Structure):
    _fields_ = [("document", c_uint32), ("similarity", c_double)]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsamepage_index.so"))
    strings = POINTER(c_char_p)
    functions: Dict[str, Tuple[object, List[object]]] = {
        "reader_new": (c_void_p, [strings, c_char_p, c_size_t]),
        "reader_free": (None, [c_void_p]),
        "read": (c_void_p, [c_void_p, c_char_p, c_size_t, c_char_p]),
        "signature_free": (None, [c_void_p]),
        "signature_size": (c_uint32, [c_void_p]),
        "signature_pack": (c_size_t, [c_void_p, c_char_p, c_size_t]),
        "signature_unpack": (c_void_p, [c_char_p, c_size_t]),
        "index_new": (c_void_p, [strings, c_char_p, c_size_t]),
        "index_free": (None, [c_void_p]),
        "index_similarity": (c_double, [c_void_p, c_void_p, c_void_p]),
        "index_similar": (c_int, [c_void_p, c_void_p, c_void_p]),
        "index_add": (c_int, [c_void_p, c_void_p, POINTER(c_uint32)]),
        "index_remove": (c_int, [c_void_p, c_uint32]),
        "index_nearest": (c_int, [c_void_p, c_void_p, POINTER(_Match)]),
        "index_query": (c_int64, [c_void_p, c_void_p, POINTER(_Match), c_size_t]),
        "index_get": (c_void_p, [c_void_p, c_uint32]),
        "index_count": (c_uint64, [c_void_p]),
        "index_bytes": (c_uint64, [c_void_p]),
        "index_version": (c_char_p, []),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, "samepage_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def version() -> str:
    text: bytes = _library.samepage_index_version()
    return text.decode()


class Signature:
    """The signature of a text. Immutable; belongs to the engine that made it. Freed at the end of a with statement, not by
    __del__, where Python would drop a KeyboardInterrupt."""

    __slots__ = ("_pointer", "_engine")

    def __init__(self, pointer: int, engine: "Engine") -> None:
        self._pointer, self._engine = pointer, engine

    def __enter__(self) -> "Signature":
        return self

    def __exit__(self, *_: object) -> None:
        # References are counted without atomics: under the lock of all that share them.
        with self._engine.lock:
            _library.samepage_signature_free(self._pointer)

    @property
    def pointer(self) -> int:
        return self._pointer

    def pack(self) -> bytes:
        size = _library.samepage_signature_pack(self._pointer, None, 0)
        out = ctypes.create_string_buffer(size)
        _library.samepage_signature_pack(self._pointer, out, size)
        return out.raw


class Engine:
    """A reader and an index with one lock, for use from any thread; calls are serialised."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.lock = threading.RLock()  # the methods of Index hold it over several calls
        self._reader = self._index = None
        words = [word.encode() for pair in settings.items() for word in pair]
        array = (c_char_p * (len(words) + 1))(*words, None)
        error = ctypes.create_string_buffer(1024)
        self._reader = _library.samepage_reader_new(array, error, len(error))
        self._index = self._reader and _library.samepage_index_new(array, error, len(error))
        if not self._index:
            raise SamepageError(error.value.decode(errors="replace"))

    # The functions as defaults: at the end of the interpreter the module may be gone first.
    def __del__(self, free_index: Any = _library.samepage_index_free,
                free_reader: Any = _library.samepage_reader_free) -> None:
        free_index(self._index)
        free_reader(self._reader)

    def read(self, text: Text, content_type: Optional[str]) -> Signature:
        if isinstance(text, str):
            # Whatever a meta tag or the content type says: it was decoded.
            data = text.encode("utf-8", "replace")
            content_type = f"{(content_type or '').partition(';')[0]}; charset=utf-8"
        elif isinstance(text, bytes):
            data = text
        else:
            raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
        kind = content_type.encode() if content_type else None
        with self.lock:
            return Signature(_library.samepage_read(self._reader, data, len(data), kind), self)

    def unpack(self, data: bytes) -> Signature:
        pointer = _library.samepage_signature_unpack(data, len(data))
        if not pointer:
            raise SamepageError("the bytes are no signature")
        return Signature(pointer, self)

    def similarity(self, a: Signature, b: Signature) -> Tuple[bool, float]:
        with self.lock:
            return (bool(_library.samepage_index_similar(self._index, a.pointer, b.pointer)),
                    _library.samepage_index_similarity(self._index, a.pointer, b.pointer))

    def _check(self, code: int) -> int:
        if code >= 0:
            return code
        raise SamepageError({-1: "there is no such document", -2: "the index is full",
                             -3: "the signature was made with other settings"}.get(code, f"error {code}"))

    def add(self, signature: Signature) -> int:
        document = c_uint32()
        with self.lock:
            self._check(_library.samepage_index_add(self._index, signature.pointer, byref(document)))
        return document.value

    def remove(self, document: int) -> None:
        with self.lock:
            self._check(_library.samepage_index_remove(self._index, document))

    def get(self, document: int) -> Signature:
        with self.lock:
            return Signature(_library.samepage_index_get(self._index, document), self)

    def nearest(self, signature: Signature) -> Optional[Tuple[int, float]]:
        match = _Match()
        with self.lock:
            found = self._check(_library.samepage_index_nearest(self._index, signature.pointer, byref(match)))
        return (match.document, match.similarity) if found else None

    def query(self, signature: Signature, limit: Optional[int]) -> List[Tuple[int, float]]:
        room = 16 if limit is None else limit
        with self.lock:
            while True:
                matches = (_Match * room)()
                found = self._check(_library.samepage_index_query(self._index, signature.pointer, matches,
                                                                  room))
                if found <= room or limit is not None:
                    return [(m.document, m.similarity) for m in matches[:min(found, room)]]
                room = found

    @property
    def bytes(self) -> int:
        with self.lock:
            return int(_library.samepage_index_bytes(self._index))
