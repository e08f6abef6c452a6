"""A collection in, the same collection without near duplicates out."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from typing import Any, Generic, Hashable, Iterable, Iterator, List, Mapping, NamedTuple, Optional, TypeVar, Union

from ._index import Index
from ._native import Text
from ._tables import is_path, is_table, open_source, text_of

Collection = TypeVar("Collection")
Item = TypeVar("Item")


class Removed(NamedTuple):
    """A document that was removed: its position in the source, and the key of the kept document that it resembles
    (also a position, unless keys were given)."""

    position: int
    kept: Hashable
    similarity: float


@dataclass(frozen=True)
class Deduplicated(Generic[Collection]):
    """The result of ``dedup``.

    ``kept`` has the type of the source: a list, a DataFrame, a Table or a Dataset.
    """

    kept: Collection
    positions: List[int] = field(repr=False)
    removed: List[Removed] = field(repr=False)

    def __iter__(self) -> Iterator[Any]:
        kept: Any = self.kept
        items: Iterator[Any] = iter(kept)
        return items

    def __len__(self) -> int:
        return len(self.positions)


def dedup(source: Union[Iterable[Any], str, "os.PathLike[str]"], threshold: Optional[float] = 0.8, *,
          text: str = "text", method: str = "shingles", content_type: Optional[str] = None,
          settings: Optional[Mapping[str, str]] = None, key: Optional[str] = None,
          index: Optional[Index] = None) -> Deduplicated[Any]:
    """Returns the source without its near duplicates: a document that resembles an earlier kept one is removed.

    :param source: texts; mappings with a field ``text``; a pandas DataFrame, a pyarrow Table or RecordBatch, or a
        datasets.Dataset with a column of that name; or the path of a .jsonl, .csv or .txt file (a line
        is a text; also .gz), or of a .parquet file.
    :param threshold: the least similarity of near duplicates; None: the default of the method.
    :param text: the field or column of the text.
    :param key: the field or column of a document's key; None: its position. ValueError if a kept document, also one of
        ``index``, has the same key.
    :param index: an index to which kept documents are added; documents that resemble one of it are removed as well.
        Needs ``key``; threshold, method and settings are those of the index.

    A document without words resembles nothing and is kept. Each removed document resembles its kept document directly,
    not only through a chain of similar documents.
    """
    if index is not None and key is None:
        raise ValueError("index= needs key=: places mean nothing to the next call")
    taken = open_source(source, text)
    seen = index if index is not None else Index(threshold, method=method, content_type=content_type,
                                                 settings=settings)
    keys: Iterable[Hashable] = itertools.count() if key is None else taken.column(key)
    positions: List[int] = []
    removed: List[Removed] = []
    for position, (name, document) in enumerate(zip(keys, taken.texts())):
        if name in seen:
            raise ValueError(f"document {position} (from 0) has the key of a kept document, {name!r}: keys must be unique")
        match = seen.keep(name, document, content_type)
        if match is None:
            positions.append(position)
        else:
            removed.append(Removed(position, match.key, match.similarity))
    return Deduplicated(taken.take(positions), positions, removed)


def unique(items: Iterable[Item], threshold: Optional[float] = 0.8, *, text: str = "text",
           method: str = "shingles", content_type: Optional[str] = None,
           settings: Optional[Mapping[str, str]] = None) -> Iterator[Item]:
    """Yields the items of a stream that resemble no earlier yielded item."""
    if is_path(items) or isinstance(items, dict) or is_table(items):  # a table yields its columns
        raise TypeError("unique() takes a stream of documents: dedup() takes files and tables")
    index = Index(threshold, method=method, content_type=content_type, settings=settings)
    for position, item in enumerate(items):
        document: Text = text_of(item, text)
        if index.keep(position, document) is None:
            yield item
