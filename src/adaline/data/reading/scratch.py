"""What was parsed of a text, kept: the last part in memory, all parts in temporary Arrow files.

A fit reads its rows in several passes, and the text should be parsed in the first of them only.
"""

from __future__ import annotations

import copy
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from adaline.data.reading.locations import is_url, size_of, stamp
from adaline.data.reading.source import Piece, Source
from adaline.data.reading.text_bytes import Text
from adaline.sums.mapreduce import Executor

SCRATCH = 2.0**32  # bytes of temporary files, unless a user says otherwise
_REMEMBERED = 2  # tables: of the head, and of the piece that was read last
_written: dict[str, int] = {}  # bytes that this process has written, by folder


@dataclass(frozen=True)
class Scratch:
    """A folder of Arrow files, which processes of one machine share; each may fill some bytes."""

    folder: str
    room: int

    def get(self, key: str) -> Any:
        """The table that was put under this key, None where there is none."""
        import pyarrow as pa

        try:
            with pa.memory_map(os.path.join(self.folder, key)) as file:
                return pa.ipc.open_file(file).read_all()
        except OSError:
            return None

    def put(self, key: str, table: Any) -> None:
        """Keep a table, where there is room; a full disk is no reason to stop."""
        import pyarrow as pa

        size, before = table.nbytes + 4096, _written.get(self.folder, 0)  # and names and places
        if before + size > self.room:
            return
        path = os.path.join(self.folder, key)
        new = f"{path}.{os.getpid()}"
        try:
            with pa.OSFile(new, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            size = os.path.getsize(new)
            os.replace(new, path)  # at once, so that nobody reads half a file
        except OSError:
            with suppress(OSError):
                os.unlink(new)
            size = self.room  # no further attempts
        _written[self.folder] = before + size


MakeScratch = Callable[[], Scratch | None]


def no_scratch() -> None:
    """Nothing is kept."""


@contextmanager
def kept_in(size: float, who: int | Executor) -> Iterator[MakeScratch]:
    """What makes a folder for as long as a fit lasts, of at most size bytes and half of the free.

    It is made when it is first asked for: most sources are no text. who reads: so many processes of
    this machine, which have equal shares of it.
    """
    made: list[Scratch] = []

    def scratch() -> Scratch | None:
        if not made and size > 0 and isinstance(who, int) and (folder := _new_folder()):
            made.append(Scratch(folder, int(min(size, _free(folder) // 2)) // who))
        return made[0] if made else None

    try:
        yield scratch
    finally:
        for one in made:
            shutil.rmtree(one.folder, ignore_errors=True)
            _written.pop(one.folder, None)


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


def _new_folder() -> str | None:
    """An empty folder of this user alone; None where nothing can be written, or no Arrow file."""
    with suppress(OSError, ImportError):
        import pyarrow  # noqa: F401

        return tempfile.mkdtemp(prefix="adaline-")
    return None


class TextSource(Source):
    """A source whose pieces are ranges of bytes of a text.

    Attributes
    ----------
    text : Text
    chunk : int
        Bytes of a piece, about.
    layout : Any
        How bytes become an Arrow table; another layout makes another table.
    scratch : Scratch or None
        Where the tables of pieces are kept.
    """

    text: Text
    chunk: int
    layout: Any = None
    scratch: Scratch | None = None
    _known: tuple[Piece, ...] | None = None

    def __init__(self) -> None:
        # Copies that read the same bytes in another way share it.
        self._last: dict[str, tuple[Any, dict[str, tuple[str, ...]]]] = {}

    def _parse(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """An Arrow table of the rows of a piece, and texts that have no place in it."""
        raise NotImplementedError

    def _to_table(self, parsed: Any) -> Any:
        """What a scratch file holds of what was parsed; None for nothing."""
        return parsed

    def _from_table(self, table: Any) -> Any:
        return table

    def _pieces(self, size: int) -> Iterable[Piece]:
        """Ranges of about so many bytes each."""
        raise NotImplementedError

    def _parsed(self, piece: Piece) -> tuple[Any, dict[str, tuple[str, ...]]]:
        """What `_parse` makes of a piece: as it was remembered, from a file, or parsed now."""
        when = () if is_url(self.name) or not self.again else stamp(self.name)
        told = repr((self.name, when, piece.start, piece.stop, self.layout))
        if told in self._last:
            return self._last[told]
        key = hashlib.sha256(told.encode()).hexdigest()[:32]
        table = None if self.scratch is None else self.scratch.get(key)
        found = self._parse(piece) if table is None else (self._from_table(table), {})
        if self.scratch is not None and table is None and not found[1]:
            table = self._to_table(found[0])
            if table is not None:
                self.scratch.put(key, table)
        while len(self._last) >= _REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[told] = found
        return found

    def descriptors(self) -> Iterable[Piece]:
        """Ranges of about as many bytes each, cut after a line."""
        # Looking for the ends of lines again would read, and may be unpack, the whole text.
        return self._noted() if self._known is None else self._known

    def _noted(self) -> Iterator[Piece]:
        found = []
        for piece in self._pieces(self.chunk):
            found.append(piece)
            yield piece
        self._known = tuple(found) if self.scratch is not None else None

    def for_reading(self) -> Source:
        """Without the list of pieces."""
        other = copy.copy(self)
        other._known = None
        return other

    def keeping(self, scratch: MakeScratch) -> Source:
        """The same source, which puts what it parsed there, and finds it there again."""
        size = 0 if self.text.forward else size_of(self.name)
        if self.scratch is not None or not self.again or 0 < size <= self.chunk:
            return self  # what has one piece is remembered
        other = copy.copy(self)
        other.scratch = scratch()
        return other

    def __copy__(self) -> TextSource:
        """Another source that shares what is remembered."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Without what is remembered, which other processes parse themselves."""
        return {**self.__dict__, "_last": {}}
