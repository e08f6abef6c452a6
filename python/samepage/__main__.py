"""python -m samepage: Parquet for the command samepage, and deduplication of files."""

from __future__ import annotations

import argparse
import base64
import contextlib
import datetime
import json
import re
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, TextIO, Tuple

from ._dedup import dedup
from ._outputs import check, replacing
from ._tables import need, reading

_ROW = "doc:"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _url(key: Any) -> str:
    """Converts an id as the program does with --id-field: to doc:ID, unless it is a URL."""
    text = str(key)
    if re.match(r"[A-Za-z]+://.|doc:.", text):
        return text
    return _ROW + re.sub(r"[\x00-\x20\x7f%#]", lambda found: f"%{ord(found[0]):02X}", text)


def _line(row: Dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain) + "\n"


def _batches(paths: Sequence[str]) -> Iterator[Tuple[str, int, Any]]:
    """Record batches of Parquet files, in order, in bounded memory: each with its file and the number of its first row
    there, from 0."""
    parquet = need("pyarrow.parquet", "Parquet")
    for path in paths:
        number = 0
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1024):
            yield path, number, batch
            number += batch.num_rows


def _check_columns(batch: Any, *names: Optional[str]) -> None:
    there = batch.schema.names
    for name in names:
        if name is not None and name not in there:
            raise KeyError(f"there is no column {name!r}; there are: {', '.join(there)}")


def to_jsonl(options: argparse.Namespace, out: TextIO) -> int:
    """Writes rows of Parquet files as pages for the command."""
    number = 0
    for path, first, batch in _batches(options.input):
        _check_columns(batch, options.text_field, options.id_field)
        for place, row in enumerate(batch.to_pylist(), first):
            key = row.pop(options.id_field) if options.id_field else f"{_ROW}{number}"
            if key is None or key != key:  # NaN
                raise ValueError(f"{path}: row {place} (from 0) has no id in column {options.id_field!r}: all rows without "
                                 "one would be one page; fill the column, or leave out --id-field")
            content = row.pop(options.text_field)
            page = {"url": _url(key), "content": "" if content is None else content}
            if options.all:
                page = {**{name: value for name, value in row.items() if name not in page}, **page}
            out.write(_line(page))
            number += 1
    return number


def _kept_keys(path: str) -> Dict[str, None]:
    keys: Dict[str, None] = {}
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    keys[str(row["url"] if "url" in row else row["id"])] = None
                except (ValueError, KeyError, TypeError):
                    raise ValueError(f"{path}:{number}: no JSON object with a url or an id") from None
    return keys


def to_parquet(options: argparse.Namespace) -> int:
    """Selects the rows of Parquet files that a JSONL file names, with all columns unchanged."""
    parquet = need("pyarrow.parquet", "Parquet")
    pyarrow = need("pyarrow", "Parquet")
    keys = _kept_keys(options.kept)
    writer, number, written = None, 0, 0
    with replacing(options.output) as output:
        for _, _, batch in _batches(options.rows_of):
            _check_columns(batch, options.id_field)
            names = (batch.column(options.id_field).to_pylist() if options.id_field
                     else [f"{_ROW}{number + row}" for row in range(batch.num_rows)])
            number += batch.num_rows
            kept = batch.filter(pyarrow.array([str(name) in keys or _url(name) in keys for name in names],
                                              type=pyarrow.bool_()))
            if writer is None:
                writer = parquet.ParquetWriter(output, kept.schema)
            writer.write_batch(kept)
            written += kept.num_rows
        if writer is None:
            raise ValueError(f"{', '.join(options.rows_of)}: no rows")
        writer.close()
    return written


@contextlib.contextmanager
def _create(path: str) -> Iterator[TextIO]:
    """Half of a surrogate pair, which a text from JSON may have but UTF-8 cannot, is written as JSON's escape."""
    with replacing(path) as name, open(name, "a", encoding="utf-8", errors="backslashreplace") as file:
        yield file


def _write_kept(kept: Any, path: str) -> None:
    with _create(path) as file:
        for row in kept:
            file.write(_line(row) if isinstance(row, dict) else row + "\n")


def run_dedup(options: argparse.Namespace) -> str:
    result = dedup(options.input, options.threshold, text=options.text_field, method=options.method,
                   key=options.id_field)
    if hasattr(result.kept, "column_names"):
        with replacing(options.kept) as name:
            need("pyarrow.parquet", "Parquet").write_table(result.kept, name)
    else:
        _write_kept(result.kept, options.kept)
    if options.removed:
        with _create(options.removed) as file:
            for position, kept, similarity in result.removed:
                file.write(_line({"row": position, "kept": kept, "similarity": similarity}))
    return f"{len(result.positions)} kept, {len(result.removed)} removed"


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m samepage", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("to-jsonl", help="Parquet files as JSONL for the command samepage",
                              description="Writes each row as {\"url\", \"content\"}.")
    one.add_argument("input", nargs="+", metavar="PARQUET")
    one.add_argument("-o", "--output", default="-", metavar="FILE", help="standard output by default")
    one.add_argument("--text-field", default="text", metavar="COLUMN")
    one.add_argument("--id-field", metavar="COLUMN",
                     help="becomes the URL, or doc:ID if it is not a URL; default: doc:N, N counts rows over all files")
    one.add_argument("--all", action="store_true", help="the other columns as well")
    one = commands.add_parser("to-parquet", help="the rows of Parquet files that a JSONL file names")
    one.add_argument("kept", metavar="JSONL", help="objects with the url (or id) that to-jsonl wrote")
    one.add_argument("--rows-of", nargs="+", required=True, metavar="PARQUET",
                     help="the files that to-jsonl read, in the same order")
    one.add_argument("-o", "--output", required=True, metavar="FILE")
    one.add_argument("--id-field", metavar="COLUMN")
    one = commands.add_parser("dedup", help="a .parquet, .jsonl, .csv or .txt file without near duplicates")
    one.add_argument("input")
    one.add_argument("--kept", required=True, metavar="FILE", help="Parquet from Parquet, else JSONL")
    one.add_argument("--removed", metavar="FILE", help="JSONL: row, kept, similarity")
    one.add_argument("--threshold", type=float, default=0.8)
    one.add_argument("--method", default="shingles")
    one.add_argument("--text-field", default="text", metavar="COLUMN")
    one.add_argument("--id-field", metavar="COLUMN", help="how removed documents name the kept ones")
    return top


def _files(options: argparse.Namespace) -> Tuple[List[Tuple[str, Optional[str]]], List[str]]:
    """The outputs, each with its option, and the inputs."""
    if options.command == "dedup":
        return [("--kept", options.kept), ("--removed", options.removed)], [options.input]
    if options.command == "to-parquet":
        return [("-o", options.output)], [options.kept, *options.rows_of]
    return [("-o", None if options.output == "-" else options.output)], options.input


def main(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_args(arguments)
    try:
        check(*_files(options))
        if options.command == "to-jsonl" and options.output == "-":
            to_jsonl(options, sys.stdout)
            sys.stdout.flush()
        elif options.command == "to-jsonl":
            with _create(options.output) as out:
                said = f"{to_jsonl(options, out)} rows"
            print(said, file=sys.stderr)
        elif options.command == "to-parquet":
            print(f"{to_parquet(options)} rows", file=sys.stderr)
        else:
            print(run_dedup(options), file=sys.stderr)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (OSError, EOFError, ImportError, ValueError, KeyError, TypeError) as error:
        text = error.args[0] if isinstance(error, KeyError) else error
        print(f"python -m samepage {options.command}: {text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
