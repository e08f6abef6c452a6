"""Files that are written: a file is complete or unchanged, and never takes the place of an input."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Iterator, List, Optional, Sequence, Tuple, Union

Path = Union[str, "os.PathLike[str]"]


def _mode(path: str) -> Optional[int]:
    try:
        return os.stat(path).st_mode
    except OSError:
        return None


def _is_replaced(path: str) -> bool:
    """Whether the output is a regular file or a new one. Names in /dev and /proc are those of open files."""
    mode = _mode(path)
    return (mode is None or stat.S_ISREG(mode)) and not os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _part(path: str) -> str:
    return f"{os.path.realpath(path)}.part"


def _same(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)


def check(outputs: Sequence[Tuple[str, Optional[str]]], inputs: Sequence[str]) -> None:
    """Raises ValueError if an output, given as its option and path, is an input or another output. Only a character
    device may be both: it has no content to lose."""
    taken: List[Tuple[str, str]] = [(path, f"the input {path}") for path in inputs]
    for option, path in outputs:
        if path is None:
            continue
        written = [path, _part(path)] if _is_replaced(path) else [path]
        for other, what in taken:
            if any(_same(name, other) for name in written) and not stat.S_ISCHR(_mode(path) or 0):
                raise ValueError(f"{option} {path} would replace {what}: name another file")
        taken += [(name, f"the file of {option}") for name in written]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[str]:
    """Yields the name of the file to write, which does not exist or is to be appended to. A regular file is replaced if
    all goes well, and is unchanged otherwise; anything else, as a device or a pipe, is written as it is."""
    name = os.fspath(path)
    if not _is_replaced(name):
        yield name
        return
    part = _part(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(part)
    try:
        yield part
        os.replace(part, os.path.realpath(name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
