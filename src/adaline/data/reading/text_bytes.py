"""Text files as bytes of UTF-8: unpacked, decoded, and cut into whole records.

Text tables, NDJSON and LIBSVM files read through `Text`. A plain file is opened for every read; a
packed or decoded one stays open while it is read forwards, and is closed at its end.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adaline.data.reading.columnar import arrow
from adaline.data.reading.locations import open_binary, stamp
from adaline.data.reading.source import Piece
from adaline.errors import DataError, MissingExtra

CHUNK = 2**23  # bytes of text that make a block
LONGEST_RECORD = 2**30  # bytes
STEP = 2**20  # bytes that are unpacked at once
OPEN_STREAMS = 4  # packed files that a process keeps open
# How a packed file begins. Each pattern is longer than a column name that it could be mistaken for.
_PACKED = {
    "gzip": (b"\x1f\x8b",),
    "bzip2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
ENDINGS = (".gz", ".bz2", ".xz", ".zst")  # of names, for the same four
_MARKS = {  # those of 32 bits begin with those of 16 bits, and so come first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_ADVICE = ("encoding", "windows-1252", "reads it as such")


@dataclass
class Text:
    """A text file as bytes from here to there; those of a packed file are after unpacking."""

    path: str
    quotes: bool = True  # whether newlines inside double quotes do not end a record
    encoding: str | None = None  # of what becomes UTF-8, such as UTF-16; None where bytes stay
    name: str = ""  # what to call the file
    packing: str | None = None  # "gzip", "bzip2", "xz" or "zstd"
    returns: bool = False  # whether lines end with a carriage return alone, read as a newline

    def __post_init__(self) -> None:
        self.name = self.name or self.path
        with open_binary(self.path) as file:
            head = file.read(10)
        kinds = (kind for kind, begins in _PACKED.items() if head.startswith(begins))
        self.packing = next(kinds, None)
        head = self.take(0, 4)
        marked = (name for mark, name in _MARKS.items() if head.startswith(mark))
        self.encoding = self.encoding or next(marked, None)

    @property
    def forward(self) -> bool:
        """Whether places are reached by reading all that is before them."""
        return self.packing is not None or self.encoding is not None

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop, fewer at the end of the file."""
        if self.forward:
            data = self._unpacked(start, stop)
        else:
            with open_binary(self.path) as file:
                file.seek(start)
                data = file.read(stop - start)
        return data.replace(b"\r", b"\n") if self.returns else data

    def _unpacked(self, start: int, stop: int) -> bytes:
        stream = _stream(self.path, stamp(self.path), self.packing, self.encoding)
        try:
            return stream.take(start, stop)
        except (MissingExtra, DataError):
            raise
        except UnicodeError as error:
            raise DataError(
                f"{self.name}: this is not the encoding that it seems to be ({str(error)[:120]}); "
                "save the file as UTF-8",
                _ADVICE,
            ) from None
        except Exception as error:  # each library raises errors of its own
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise DataError(
                f"{self.name}: the {self.packing} file is cut short or damaged "
                f"({str(error)[:120]}); copy or download it again."
            ) from None

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
        inside = data.count(b'"', 0, end) % 2 if self.quotes else 0
        while end and inside:  # this newline is inside quotes
            before = data.rfind(b"\n", 0, end - 1) + 1
            inside = (inside - data.count(b'"', before, end)) % 2
            end = before
        return end

    def line(self, offset: int) -> int:
        """The number, from 1, of the line in which the byte at this offset is."""
        starts = range(0, offset, CHUNK)
        return 1 + sum(self.take(at, min(at + CHUNK, offset)).count(b"\n") for at in starts)

    def check(self, data: bytes, start: int, utf8: bool = True) -> None:
        """Refuse what is no text: NUL bytes, or bytes that are not UTF-8 where they should be."""
        if (at := data.find(b"\0")) >= 0:
            raise DataError(
                f"{self.name}: line {self.line(start + at)} has a NUL byte, which text never has; "
                "the file is damaged, or it is UTF-16: save it as UTF-8."
            )
        if not utf8 or data.isascii():
            return
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.name}: line {self.line(start + error.start)} has the byte "
                f"0x{data[error.start]:02x}, which is not UTF-8; save the file as UTF-8",
                _ADVICE,
            ) from None


class _Stream:
    """The bytes of a packed or decoded file; to go back, it is read from its beginning again."""

    def __init__(self, path: str, packing: str | None, encoding: str | None) -> None:
        self.facts = path, packing, encoding
        self.chunks: Iterator[bytes] | None = None
        self.start, self.data = 0, b""  # what was read last, and where it begins
        self.lock = threading.Lock()  # threads of a worker may share a file

    def take(self, start: int, stop: int) -> bytes:
        with self.lock:
            if self.chunks is None or start < self.start:
                self.chunks, self.start, self.data = _chunks(*self.facts), 0, b""
            while self.start + len(self.data) < stop:
                self._forget_before(start)
                try:
                    more = next(self.chunks, None)
                except BaseException:
                    self.chunks = None  # or a damaged file would seem to end here
                    raise
                if more is None:
                    break
                self.data += more
            self._forget_before(start)
            return self.data[: stop - start] if start == self.start else b""

    def _forget_before(self, start: int) -> None:
        gone = min(start - self.start, len(self.data))
        if gone > 0:
            self.start, self.data = self.start + gone, self.data[gone:]


@lru_cache(maxsize=OPEN_STREAMS)
def _stream(path: str, _: Any, packing: str | None, encoding: str | None) -> _Stream:
    """The stream of a file, whose size and time are part of the key."""
    return _Stream(path, packing, encoding)


def _chunks(path: str, packing: str | None, encoding: str | None) -> Iterator[bytes]:
    """A file from its beginning, as plain UTF-8; it is closed at its end, or with the generator."""
    openers: dict[str | None, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    openers |= {"zstd": _open_zstd, None: nullcontext}
    with open_binary(path) as raw, openers[packing](raw) as file:
        decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
        while data := file.read(STEP):
            yield data if decoder is None else decoder.decode(data).encode()
        if decoder is not None:
            yield decoder.decode(b"", True).encode()


def _open_zstd(file: Any) -> Any:
    return arrow(".zst files").CompressedInputStream(file, "zstd")
