"""Text files in pieces: bytes of UTF-8, cut into whole records, parsed to Arrow tables and kept.

Text tables, NDJSON and LIBSVM files are such sources. A fit reads its rows in several passes, and
parses the text in the first of them only: the tables of the last pieces stay in memory, and those
of all pieces in temporary Arrow files.
"""

from __future__ import annotations

import bz2
import codecs
import copy
import gzip
import hashlib
import lzma
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adaline.data.reading.files import fingerprint_of_file, open_binary, reading, stamp
from adaline.data.reading.source import Block, Piece, Source
from adaline.data.reading.tables import arrow
from adaline.errors import DataError
from adaline.sums.mapreduce import Executor

SCRATCH = 2.0**32  # bytes of temporary files, unless a user says otherwise
# What a process has parsed: the table of the head, and that of the piece that was read last.
_recent: dict[str, Any] = {}
CHUNK = 2**23  # bytes of text that make a block
LONGEST_RECORD = 2**30  # bytes
ENDINGS = (".gz", ".bz2", ".xz", ".zst")  # of names of packed files
# How a packed file begins: longer than a column name that it could be mistaken for.
_PACKED: dict[bytes, Any] = {
    rb"\x1f\x8b": gzip.open,
    rb"BZh[1-9]1AY&SY": bz2.open,
    rb"\xfd7zXZ\x00": lzma.open,
    rb"\x28\xb5\x2f\xfd": lambda file: arrow(".zst files").CompressedInputStream(file, "zstd"),
}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@dataclass
class Text:
    """A text file as bytes from here to there; those of a packed file are after unpacking."""

    path: str
    quotes: bool = True  # whether newlines inside double quotes do not end a record
    encoding: str | None = None  # of what becomes UTF-8, such as UTF-16; None where bytes stay
    name: str = ""  # what to call the file
    packing: bytes | None = None  # how it begins if it is packed
    returns: bool = False  # whether lines end with a carriage return alone, read as a newline

    def __post_init__(self) -> None:
        self.name = self.name or self.path
        with open_binary(self.path) as file:
            head = file.read(10)
        self.packing = next((begin for begin in _PACKED if re.match(begin, head)), None)
        if self.encoding is None and self.take(0, 2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            self.encoding = "utf-16"

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop, fewer at the end of the file."""
        advice = "it is cut short or damaged, or in another encoding; save it as plain UTF-8"
        with reading(f"{self.name}: the text cannot be read", advice):
            if self.packing is not None or self.encoding is not None:
                facts = self.path, self.packing, self.encoding
                data = _stream(stamp(self.path), *facts).take(start, stop)
            else:
                with open_binary(self.path) as file:
                    file.seek(start)
                    data = file.read(stop - start)
        return data.replace(b"\r", b"\n") if self.returns else data

    def pieces(self, begin: int, chunk: int, end: int | None = None) -> Iterator[Piece]:
        """Whole records of about `chunk` bytes each, from byte `begin` on."""
        index, start = 0, begin
        while end is None or start < end:
            size, length = chunk, 0
            while not length:  # a record may be longer than a chunk
                if size > max(LONGEST_RECORD, 2 * chunk):
                    raise DataError(
                        f"{self.name}: line {self.line(start)} is longer than {LONGEST_RECORD} "
                        "bytes; a quote may be open, or this is no text of lines."
                    )
                data = self.take(start, start + size)
                if not data:
                    return
                length = len(data) if len(data) < size else self._cut(data)
                size *= 2
            yield Piece(index, start, start + length)
            index, start = index + 1, start + length

    def _cut(self, data: bytes) -> int:
        """Where the last whole record ends; 0 where none does."""
        end = data.rfind(b"\n") + 1
        while end and self.quotes and data.count(b'"', 0, end) % 2:  # it is inside quotes
            end = data.rfind(b"\n", 0, end - 1) + 1
        return end

    def line(self, offset: int) -> int:
        """The number, from 1, of the line in which the byte at this offset is."""
        starts = range(0, offset, CHUNK)
        return 1 + sum(self.take(at, min(at + CHUNK, offset)).count(b"\n") for at in starts)

    def check(self, data: bytes, start: int) -> None:
        """Refuse what is no text: NUL bytes, or bytes that are not UTF-8."""
        if (at := data.find(b"\0")) >= 0:
            raise DataError(
                f"{self.name}: line {self.line(start + at)} has a NUL byte, which text never has; "
                "the file is damaged, or it is UTF-16: save it as UTF-8."
            )
        try:
            _ = data.isascii() or data.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.name}: line {self.line(start + error.start)} has the byte "
                f"0x{data[error.start]:02x}, which is not UTF-8; save the file as UTF-8",
                ("encoding", "windows-1252", "reads it as such"),
            ) from None


def is_windows(data: bytes, complete: bool) -> bool:
    """Whether the beginning of a file is rather Windows-1252 than UTF-8.

    >>> is_windows("Müller".encode("cp1252"), True), is_windows("Müller".encode(), True)
    (True, False)
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, complete)
    wrong = 0 if data.startswith(codecs.BOM_UTF8) else text.count("�")
    right = sum(letter > "\x7f" for letter in text) - wrong if wrong else 0
    # Mostly UTF-8 is damaged UTF-8, and control characters are no text: both are refused.
    return right < wrong and _CONTROL.search(data) is None


class _Stream:
    """The bytes of a packed or decoded file; to go back, it is read from its beginning again."""

    def __init__(self, _: Any, *facts: Any) -> None:
        self.facts = facts
        self.chunks: Iterator[bytes] = iter(())
        self.start, self.data = sys.maxsize, b""  # what was read last, and where it begins
        self.lock = threading.Lock()  # threads of a worker may share a file

    def take(self, start: int, stop: int) -> bytes:
        with self.lock:
            if start < self.start:
                self.chunks, self.start, self.data = _chunks(*self.facts), 0, b""
            try:
                while self.start + len(self.data) < stop:
                    more = next(self.chunks)
                    gone = min(start - self.start, len(self.data))
                    self.start, self.data = self.start + gone, self.data[gone:] + more
            except StopIteration:
                pass
            except BaseException:
                self.start = sys.maxsize  # or a damaged file would seem to end here
                raise
            return self.data[start - self.start : stop - self.start]


# The size and time of a file are part of what a stream is known by.
_stream = lru_cache(maxsize=4)(_Stream)


def _chunks(path: str, packing: bytes | None, encoding: str | None) -> Iterator[bytes]:
    """A file from its beginning, as plain UTF-8; it is closed at its end, or with the generator."""
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    opener = nullcontext if packing is None else _PACKED[packing]
    with open_binary(path) as raw, opener(raw) as file:
        while data := file.read(2**20):
            yield data if decoder is None else decoder.decode(data).encode()
    if decoder is not None:
        yield decoder.decode(b"", True).encode()


@dataclass
class Scratch:
    """A folder of Arrow files, which processes of one machine share."""

    size: float
    folder: str

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

        path = os.path.join(self.folder, key)
        new = f"{path}.{os.getpid()}"
        try:
            used = sum(entry.stat().st_size for entry in os.scandir(self.folder))
            if used + table.nbytes + 4096 > self.size:  # and names and places
                return
            with pa.OSFile(new, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
            os.replace(new, path)  # at once, so that nobody reads half a file
        except OSError:
            with suppress(OSError):
                os.unlink(new)
            self.size = 0  # no further attempts


@contextmanager
def kept_in(size: float, who: int | Executor) -> Iterator[Scratch | None]:
    """A folder for as long as a fit lasts, of at most `size` bytes and half of what is free.

    None where nothing can be written. `who` are those that read: processes of other machines share
    no folder.
    """
    with ExitStack() as stack:
        scratch = None
        if size > 0 and isinstance(who, int):
            with suppress(OSError):
                own = tempfile.TemporaryDirectory(prefix="adaline-", ignore_cleanup_errors=True)
                folder = stack.enter_context(own)
                free = shutil.disk_usage(folder).free
                with suppress(AttributeError):  # Windows, which has no tmpfs
                    if os.major(os.stat(folder).st_dev) == 0:  # no disk: it may lie in memory
                        pages = os.sysconf("SC_AVPHYS_PAGES")
                        free = min(free, pages * os.sysconf("SC_PAGE_SIZE"))
                scratch = Scratch(min(size, free // 2), folder)
        yield scratch


class TextSource(Source):
    """A source whose pieces are ranges of bytes of a text; each is parsed to an Arrow table."""

    text: Text
    begin: int = 0  # where the rows are in the text
    end: int | None = None
    chunk: int  # bytes of a piece, about
    layout: Any = None  # how bytes become a table
    scratch: Scratch | None = None  # where the tables of pieces are kept
    _known: tuple[Piece, ...] | None = None

    def parse(self, piece: Piece) -> Any:
        """An Arrow table of the rows of a piece."""
        raise NotImplementedError

    def parsed(self, piece: Piece) -> Any:
        """What `parse` makes of a piece: as it was remembered, from a file, or parsed now."""
        # All that the table depends on: a file may be opened again with other options.
        file = self.text, stamp(self.text.path), self.layout
        facts = repr((*file, piece.start, piece.stop, self.end))
        key = hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        if (table := _recent.get(key)) is not None:
            return table
        table = None if self.scratch is None else self.scratch.get(key)
        if table is None:
            table = self.parse(piece)
            if self.scratch is not None:
                self.scratch.put(key, table)
        for old in list(_recent)[:-1]:  # threads may do so, too
            _recent.pop(old, None)
        _recent[key] = table
        return table

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
        return self.read(self.first_piece())

    def cut_into(self, rows: int | None, sample: bytes, usual: int = CHUNK) -> None:
        """Pieces of about so many rows, as wide as those of a sample."""
        width = len(sample) // max(sample.count(b"\n"), 1)
        self.chunk = usual if rows is None else max(rows * width, 64)

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut and read."""
        cuts = self.begin, self.end, self.chunk, len(self.names)
        return fingerprint_of_file(self.text.path, *cuts, self.layout, self.text.encoding)

    def for_reading(self) -> Source:
        other: Source = self.changed(_known=None)
        return other

    def keeping(self, scratch: Any) -> Source:
        other: Source = self if scratch is None else self.changed(scratch=scratch)
        return other

    def changed(self, **attributes: Any) -> Any:
        """A copy with other attributes."""
        other = copy.copy(self)
        vars(other).update(attributes)
        return other
