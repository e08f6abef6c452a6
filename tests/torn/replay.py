"""The files that a program would have left at any moment, from the operations that record.c recorded.

A Disk holds each file and folder twice: as programs see it, and as it would be after a power failure, with
the changes since the last fsync. A fate determines which of those changes survive.
"""

import collections
import os
import stat
import struct

START, OPEN, CLOSE, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, RMDIR = range(1, 12)
NAMES = "- start open close write truncate sync rename link unlink mkdir rmdir".split()
HEAD = struct.Struct("<IiQQQ")
Operation = collections.namedtuple("Operation", "kind file offset data more")


def read_log(path):
    """The operations of one or more processes, in order."""
    operations = []
    with open(path, "rb") as f:
        while head := f.read(HEAD.size):
            kind, file, offset, length, more = HEAD.unpack(head)
            operations.append(Operation(kind, file, offset, f.read(length), f.read(more)))
    return operations


def without_syncs(operations, which):
    """The operations without syncs of `outputs`, or of `folders`, as of a program that forgot them; None: all of them.
    """
    kept, paths, flags = [], {}, {}
    for op in operations:
        if op.kind == OPEN:
            paths[op.file], flags[op.file] = op.data.decode(), op.offset
        folder = op.kind == SYNC and flags[op.file] & os.O_DIRECTORY and not paths[op.file].endswith("rocksdb")
        output = op.kind == SYNC and paths[op.file] in ("out", "dead")
        if not (which == "folders" and folder or which == "outputs" and output):
            kept.append(op)
    return kept


def for_people(path):
    """RocksDB's own log, which it never reads."""
    return os.path.basename(path).startswith("LOG") and "rocksdb" in path


class File:
    def __init__(self, data=b""):
        self.data = bytearray(data)
        self.synced = bytes(data)
        self.pending = []  # (offset, bytes), or (length, None): truncated to this length

    def change(self, offset, data):
        self.pending.append((offset, data))
        change(self.data, offset, data)

    def sync(self):
        self.synced = bytes(self.data)
        self.pending = []


class Linked(bytes):
    """The content of a file with a second name: writing to one changes both."""
    to = None


class Folder:
    def __init__(self):
        self.entries = {}
        self.synced = {}
        self.pending = []  # (name, node or None, name that disappears or None)

    def change(self, name, node, gone=None):
        self.pending.append((name, node, gone))
        name_changed(self.entries, name, node, gone)

    def sync(self):
        self.synced = dict(self.entries)
        self.pending = []


def change(data, offset, more):
    """A write past the end fills the gap with zeros."""
    if more is None:
        del data[offset:]
    data.extend(bytes(max(0, offset - len(data))))
    if more is not None:
        data[offset:offset + len(more)] = more


def name_changed(entries, name, node, gone):
    entries.pop(gone, None)
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


# ---- fates: (changes of names that survive, changes of bytes that survive) ----

class Killed:
    """The process dies; the kernel has every write."""

    @staticmethod
    def names(pending):
        return pending

    @staticmethod
    def bytes(pending):
        return pending


class Strict:
    """A power failure: what was not synced is lost."""

    @staticmethod
    def names(pending):
        del pending
        return []

    bytes = names


class OnlyNames(Strict):
    """A power failure: directory changes survive, unsynced bytes do not."""
    names = Killed.names


class OnlyBytes(Strict):
    """A power failure: bytes survive, unsynced directory changes do not."""
    bytes = Killed.bytes


class Drawn:
    """Of each folder's names and of each file's bytes some of the first changes, up to the middle of a write.

    The names of one folder come to the disk in the order in which they were made, as ext4, XFS and Btrfs
    see to it, and RocksDB relies on when it makes a database. Those of two folders may come in any order.
    """

    def __init__(self, rng):
        self.rng = rng

    def names(self, pending):
        return pending[:self.rng.randrange(len(pending) + 1)]

    def bytes(self, pending):
        count = self.rng.randrange(len(pending) + 1)
        kept = pending[:count]
        if count < len(pending) and pending[count][1] and self.rng.random() < 0.5:
            offset, data = pending[count]
            kept = kept + [(offset, data[:self.rng.randrange(len(data))])]
        return kept


class Disk:
    def __init__(self):
        self.root = Folder()
        self.open = {}  # file descriptor -> node

    # -- as programs see it --

    def find(self, path):
        node = self.root
        for part in filter(None, path.split("/")):
            node = node.entries.get(part) if isinstance(node, Folder) else None
        return node

    def parent(self, path):
        folder, _, name = path.rpartition("/")
        return self.find(folder), name

    def apply(self, op):
        path = op.data.decode() if op.kind in (OPEN, RENAME, LINK, UNLINK, MKDIR, RMDIR) else ""
        if op.kind == START:
            self.open = {}
        elif op.kind == OPEN:
            self.apply_open(op, path)
        elif op.kind == CLOSE:
            self.open.pop(op.file, None)
        elif op.kind == WRITE:
            self.open[op.file].change(op.offset, op.data)
        elif op.kind == TRUNCATE:
            self.open[op.file].change(op.offset, None)
        elif op.kind == SYNC:
            self.open[op.file].sync()
        elif op.kind in (RENAME, LINK):
            self.apply_rename(path, op.more.decode(), op.kind == RENAME)
        else:
            folder, name = self.parent(path)
            folder.change(name, Folder() if op.kind == MKDIR else None)

    def apply_open(self, op, path):
        node = self.find(path)
        if node is None:
            node = File()
            folder, name = self.parent(path)
            folder.change(name, node)
        if op.offset & os.O_TRUNC and node.data:
            node.change(0, None)
        self.open[op.file] = node

    def apply_rename(self, path, to, moved):
        folder, name = self.parent(path)
        target, new = self.parent(to)
        if folder is not target:
            raise ValueError(f"{path} moves to another folder: {to}")
        folder.change(new, folder.entries.get(name) or File(), name if moved else None)

    # -- on a real disk --

    @staticmethod
    def load(directory):
        """Loads a folder, all of it synced."""
        disk, known = Disk(), {}

        def fill(folder, where):
            for name in sorted(os.listdir(where)):
                path = os.path.join(where, name)
                if stat.S_ISDIR(os.stat(path).st_mode):
                    folder.entries[name] = Folder()
                    fill(folder.entries[name], path)
                elif not for_people(path):
                    with open(path, "rb") as f:
                        file = known.setdefault(os.fstat(f.fileno()).st_ino, File(f.read()))
                    folder.entries[name] = file
            folder.sync()

        fill(disk.root, directory)
        return disk

    def after(self, fate):
        """What survives: path -> bytes, or None for a folder; of several names of a file only the first has the bytes.
        """
        left, known = {}, {}

        def visit(folder, prefix):
            entries = dict(folder.synced)
            for name, node, gone in fate.names(folder.pending):
                if gone is None or gone in entries or entries.get(name) is not node:
                    name_changed(entries, name, node, gone)
            for name, node in sorted(entries.items()):
                path = prefix + name
                if isinstance(node, Folder):
                    left[path] = None
                    visit(node, path + "/")
                elif not for_people(path):
                    first = known.setdefault(id(node), path)
                    if first != path:
                        left[path] = Linked(left[first])
                        left[path].to = first
                        continue
                    data = bytearray(node.synced)
                    for offset, more in fate.bytes(node.pending):
                        change(data, offset, more)
                    left[path] = bytes(data)

        visit(self.root, "")
        return left


def write_to(directory, left):
    os.makedirs(directory)
    for path, data in left.items():
        where = os.path.join(directory, path)
        if data is None:
            os.mkdir(where)
        elif isinstance(data, Linked):
            os.link(os.path.join(directory, data.to), where)
        else:
            with open(where, "wb") as f:
                f.write(data)


def differences(directory, left):
    """Differences between the directory and what was recorded."""
    found = Disk.load(directory).after(Killed)
    return sorted(p for p in set(left) | set(found) if left.get(p, 0) != found.get(p, 0))
