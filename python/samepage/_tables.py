"""Collections that dedup reads and returns. pandas, pyarrow and datasets are imported only if their objects or files
are used."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import os
import sys
import zlib
from typing import IO, Any, Hashable, Iterable, Iterator, List, Optional, Sequence

from ._native import Text


def is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def is_table(source: Any) -> bool:
    """Whether it is a DataFrame or a Table. Rows from a database may have a method of that name."""
    return hasattr(source, "columns") and not callable(source.columns)


def _field_of(item: Any, field: str, where: str) -> Any:
    try:
        return item[field]
    except (KeyError, TypeError, IndexError):
        names = ", ".join(map(str, item)) if hasattr(item, "keys") else type(item).__name__
        raise KeyError(f"a document has no field {field!r} ({where}); it has: {names}") from None


def _or_empty(value: Optional[Text]) -> Text:
    return "" if value is None else value


def text_of(item: Any, field: str) -> Text:
    """Returns the text of an item: the item itself, or its field. None counts as empty."""
    if isinstance(item, (str, bytes)):
        return item
    return _or_empty(_field_of(item, field, "text=..."))


class Source:
    """A list of texts or mappings."""

    def __init__(self, items: Iterable[Any], field: str) -> None:
        self.items: Any = items if isinstance(items, (list, tuple)) else list(items)
        self.field = field

    def texts(self) -> Iterator[Text]:
        for item in self.items:
            yield text_of(item, self.field)

    def column(self, name: str) -> Iterator[Hashable]:
        for item in self.items:
            yield _field_of(item, name, "key=...")

    def take(self, positions: Sequence[int]) -> Any:
        return [self.items[position] for position in positions]


class Table(Source):
    """Something with columns."""

    def __init__(self, table: Any, field: str, names: Iterable[str]) -> None:
        super().__init__([], field)
        self.items = table
        self.names = list(names)
        self.check(field, "text=...")

    def check(self, name: str, where: str) -> None:
        if name not in self.names:
            raise KeyError(f"there is no column {name!r} ({where}); there are: {', '.join(map(str, self.names))}")
        if self.names.count(name) > 1:
            raise KeyError(f"there are {self.names.count(name)} columns {name!r} ({where}): rename all but one")


class Frame(Table):
    def texts(self) -> Iterator[Text]:
        column = self.items[self.field]
        for value, missing in zip(column, column.isna()):
            yield "" if missing else value

    def column(self, name: str) -> Iterator[Hashable]:
        self.check(name, "key=...")
        yield from self.items[name].tolist()

    def take(self, positions: Sequence[int]) -> Any:
        return self.items.iloc[list(positions)]


class Arrow(Table):
    def texts(self) -> Iterator[Text]:
        for scalar in self.items.column(self.field):
            yield _or_empty(scalar.as_py())

    def column(self, name: str) -> Iterator[Hashable]:
        self.check(name, "key=...")
        yield from self.items.column(name).to_pylist()

    def take(self, positions: Sequence[int]) -> Any:
        pyarrow = need("pyarrow", "a pyarrow.Table")
        return self.items.take(pyarrow.array(positions, type=pyarrow.int64()))


class Dataset(Table):
    def texts(self) -> Iterator[Text]:
        for row in self.items:
            yield _or_empty(row[self.field])

    def column(self, name: str) -> Iterator[Hashable]:
        self.check(name, "key=...")
        yield from self.items[name]

    def take(self, positions: Sequence[int]) -> Any:
        return self.items.select(list(positions))


def need(module: str, what: str) -> Any:
    try:
        return __import__(module, fromlist=["_"])
    except ImportError:
        name = module.split(".")[0]
        raise ImportError(f"{what} needs {name}: pip install {name}") from None


def open_lines(path: str, newline: Optional[str] = None) -> IO[str]:
    """Opens a text file, which may be compressed and may begin with a byte order mark."""
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline=newline)
    return open(path, encoding="utf-8-sig", newline=newline)


def _line_not_utf8(path: str) -> int:
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 0


@contextlib.contextmanager
def reading(path: str, newline: Optional[str] = None) -> Iterator[IO[str]]:
    """Opens a file as open_lines does; what cannot be read is a ValueError that names it."""
    try:
        with open_lines(path, newline) as file:
            yield file
    except UnicodeDecodeError:
        raise ValueError(f"{path}:{_line_not_utf8(path)}: not UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8, "
                         "if that is its charset") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: the gzip file is cut or damaged; get it again: {error}") from None


def read_jsonl(path: str) -> List[Any]:
    rows = []
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except ValueError as error:
                    raise ValueError(f"{path}:{number}: not JSON: {error}") from None
    return rows


def _rows(path: str, reader: "csv.DictReader[str]") -> Iterator[Any]:
    for row in reader:
        beyond: Any = row.pop(None, [])
        if any(beyond):  # spreadsheets write empty ones
            raise ValueError(f"{path}:{reader.line_num}: the row has {len(row) + len(beyond)} cells, and the header "
                             f"{len(row)}: a cell with a comma needs quotation marks")
        yield row


def read_csv(path: str) -> List[Any]:
    limit = csv.field_size_limit(sys.maxsize)  # a page can be longer than the default, 128 KiB
    try:
        with reading(path, newline="") as file:
            return list(_rows(path, csv.DictReader(file)))
    except csv.Error as error:
        raise ValueError(f"{path}: not CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)


def read_txt(path: str) -> List[str]:
    # Not splitlines(): it also splits at form feeds, U+0085 and U+2028, which are part of a text.
    with reading(path) as file:
        return [line.rstrip("\n") for line in file]


def open_file(path: str, field: str) -> Source:
    name = path[:-3] if path.endswith(".gz") else path
    kind = os.path.splitext(name)[1]
    if kind in (".jsonl", ".ndjson", ".json"):
        return Source(read_jsonl(path), field)
    if kind in (".parquet", ".pq"):
        parquet = need("pyarrow.parquet", f"{path}: Parquet")
        table = parquet.read_table(path)
        return Arrow(table, field, table.column_names)
    if kind == ".csv":
        return Source(read_csv(path), field)
    if kind == ".txt":
        return Source(read_txt(path), field)
    raise ValueError(f"{path}: its name does not end in .jsonl, .csv or .txt (also with .gz), or .parquet")


def open_source(source: Any, field: str) -> Source:
    """Opens a source of any type that dedup accepts."""
    if is_path(source):
        return open_file(os.fspath(source), field)
    kind = f"{type(source).__module__}.{type(source).__name__}"
    if kind.startswith("pandas.") and hasattr(source, "iloc") and hasattr(source, "columns"):
        return Frame(source, field, source.columns)
    if kind.startswith("pyarrow.") and hasattr(source, "column_names"):
        return Arrow(source, field, source.column_names)
    if kind.startswith("datasets.") and hasattr(source, "select"):
        return Dataset(source, field, source.column_names)
    if isinstance(source, dict):
        raise TypeError("dedup() takes a list of documents, not one mapping; of a DatasetDict, one split")
    return Source(source, field)
