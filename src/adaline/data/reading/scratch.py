"""What was parsed of a text, kept: the last parts in memory, all parts in temporary Arrow files.

A fit reads its rows in several passes, and the text should be parsed in the first of them only.
"""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from adaline.data.reading.locations import fingerprint_of_file, size_of, stamp
from adaline.data.reading.source import Block, Piece, Source
from adaline.data.reading.text_bytes import Text
from adaline.sums.mapreduce import Executor

SCRATCH = 2.0**32  # bytes of temporary files, unless a user says otherwise
REMEMBERED_TABLES = 2  # of a process: of the head, and of the piece that was read last
_recent: dict[str, tuple[Any, dict[str, tuple[str, ...]]]] = {}
_written: dict[str, int] = {}  # bytes that this process has written, by folder


@dataclass
class Scratch:
    """A folder of Arrow files, which processes of one machine share; each may fill some bytes."""

    size: float
    processes: int = 1
    folder: str = ""

    def begin(self) -> bool:
        """Make the folder when it is first needed; False where nothing can be written."""
        if not self.folder and self.size > 0:
            with suppress(OSError):
                self.folder = tempfile.mkdtemp(prefix="adaline-")
                self.size = min(self.size, _free(self.folder) // 2) // self.processes
        return bool(self.folder)

    def get(self, key: str) -> Any:
        """The table that was put under this key, None where there is none."""
        import pyarrow as pa

        try:
            with pa.memory_map(os.path.join(self.folder, key)) as file:
                return pa.ipc.open_file(file).read_all()
        except OSError:
            return None

    def put(self, key: str, table: Any) -> None:
        """Keep a table if it fits; a full disk is no reason to stop."""
        import pyarrow as pa

        size, before = table.nbytes + 4096, _written.get(self.folder, 0)  # and names and places
        if before + size > self.size:
            return
        path = os.path.join(self.folder, key)
        new = f"{path}.{os.getpid()}"
        try:
            with pa.OSFile(new, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            os.replace(new, path)  # at once, so that nobody reads half a file
        except OSError:
            with suppress(OSError):
                os.unlink(new)
            size = int(self.size)  # no further attempts
        _written[self.folder] = before + size


@contextmanager
def kept_in(size: float, who: int | Executor) -> Iterator[Scratch | None]:
    """A folder for as long as a fit lasts, of at most `size` bytes and half of what is free.

    who : those that read; so many processes of this machine have equal shares of it.
    """
    scratch = Scratch(size, who) if isinstance(who, int) else None
    try:
        yield scratch
    finally:
        if scratch is not None and scratch.folder:
            shutil.rmtree(scratch.folder, ignore_errors=True)
            _written.pop(scratch.folder, None)


def _free(folder: str) -> int:
    """Bytes that are free there; of a folder that lies in memory, no more than memory has."""
    free = shutil.disk_usage(folder).free
    with suppress(OSError, ValueError):  # other systems than Linux have no such list
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1:3] for line in file]
        over = [mount for mount in mounts if os.path.realpath(folder).startswith(mount[0])]
        if max(over, key=lambda mount: len(mount[0]))[1] in ("tmpfs", "ramfs"):
            free = min(free, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return free


class TextSource(Source):
    """A source whose pieces are ranges of bytes of a text; each is parsed to an Arrow table."""

    text: Text
    begin: int = 0  # where the rows are in the text
    end: int | None = None
    chunk: int  # bytes of a piece, about
    layout: Any = None  # this and the next two are how bytes become a table
    dialect: Any = None
    names_line: Any = None
    scratch: Scratch | None = None  # where the tables of pieces are kept
    _known: tuple[Piece, ...] | None = None

    def parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """An Arrow table of the rows of a piece, and by column texts that have no place in it."""
        raise NotImplementedError

    def parsed(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """What `parse` makes of a piece: as it was remembered, from a file, or parsed now."""
        # All that the table depends on: a file may be opened again with other options.
        where = self.text, stamp(self.text.path), piece.start, piece.stop, self.end
        facts = repr((*where, self.layout, self.dialect, self.names_line))
        key = hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        if (known := _recent.get(key)) is not None:
            return known
        table = None if self.scratch is None else self.scratch.get(key)
        result = self.parse(piece) if table is None else (table, {})
        if self.scratch is not None and table is None and not result[1]:
            self.scratch.put(key, result[0])
        for old in list(_recent)[: 1 - REMEMBERED_TABLES]:  # threads may do so, too
            _recent.pop(old, None)
        _recent[key] = result
        return result

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line; noted when all were found."""
        return self._pieces() if self._known is None else self._known

    def _pieces(self) -> Iterator[Piece]:
        pieces = []
        for piece in self.text.pieces(self.begin, self.chunk, self.end):
            pieces.append(piece)
            yield piece
        self._known = tuple(pieces)

    def first_piece(self) -> Piece:
        """The first rows, about a megabyte."""
        return next(self.text.pieces(self.begin, min(self.chunk, 2**20), self.end))

    def head(self) -> Block:
        """The first rows."""
        return self.read(self.first_piece())

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut and read."""
        how = self.layout, self.dialect, self.text.encoding, len(self.names)
        return fingerprint_of_file(self.text.path, self.begin, self.end, self.chunk, how)

    def for_reading(self) -> Source:
        """Without the list of pieces."""
        other = copy.copy(self)
        other._known = None
        return other

    def keeping(self, scratch: Any, *, many: bool = False) -> Source:
        """The same source, which puts what it parsed there, and finds it there again."""
        small = not self.text.forward and size_of(self.text.path) <= self.chunk  # is remembered
        if self.scratch is not None or (small and not many) or not (scratch and scratch.begin()):
            return self
        other = copy.copy(self)
        other.scratch = scratch
        return other


def piece_bytes(rows: int | None, sample: bytes, usual: int) -> int:
    """Bytes of a piece that has about so many rows, as wide as those of a sample."""
    return usual if rows is None else max(rows * (len(sample) // max(sample.count(b"\n"), 1)), 64)
