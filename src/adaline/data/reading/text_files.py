"""Text files as blocks of whole records, each parsed once to an Arrow table.

Text tables, NDJSON and LIBSVM files are such sources. The pass that first needs all rows writes
the tables to a temporary Arrow file; whoever reads them after that, in this process or in another
one that knows the folder, maps that file into memory. tests/data/test_kept_text.py counts parses.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import lzma
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import Any

from adaline.data.reading.files import fingerprint_of_file, open_binary, reading, stamp
from adaline.data.reading.scratch import Scratch, put_in_file, remembered
from adaline.data.reading.source import Block, Piece, Source
from adaline.data.reading.tables import arrow
from adaline.errors import DataError

HEAD_BYTES = 2**20  # from which dialects, names and types are recognised
BLOCK_BYTES = 2**23  # of text
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
    """A text file, whose bytes are counted after unpacking and decoding."""

    path: str
    quotes: bool = True  # whether newlines inside double quotes do not end a record
    encoding: str | None = None  # of what becomes UTF-8, such as UTF-16; None where bytes stay
    name: str = ""  # what to call the file
    packing: bytes | None = None  # how it begins if it is packed
    returns: bool = False  # whether lines end with a carriage return alone, read as a newline

    def __post_init__(self) -> None:
        self.name = self.name or self.path
        with open_binary(self.path) as file:
            start = file.read(10)
        self.packing = next((begin for begin in _PACKED if re.match(begin, start)), None)
        if self.encoding is None and self.head(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            self.encoding = "utf-16"

    def chunks(self, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `begin` to `end` as UTF-8, about a megabyte at a time."""
        decoder = None if self.encoding is None else codecs.getincrementaldecoder(self.encoding)()
        opener = nullcontext if self.packing is None else _PACKED[self.packing]
        advice = "it is cut short or damaged, or in another encoding; save it as plain UTF-8"
        at, raw = 0, b"?"
        with (
            reading(f"{self.name}: the text cannot be read", advice),
            open_binary(self.path) as packed,
            opener(packed) as file,
        ):
            while raw and (end is None or at < end):
                raw = file.read(2**20)
                data = raw if decoder is None else decoder.decode(raw, not raw).encode()
                data = data.replace(b"\r", b"\n") if self.returns else data
                yield data[max(begin - at, 0) : None if end is None else end - at]
                at += len(data)

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The first bytes."""
        data = b""
        for chunk in self.chunks():
            data += chunk
            if len(data) >= size:
                break
        return data[:size]

    def records(
        self, begin: int, line: int, end: int | None, size: int
    ) -> Iterator[tuple[int, bytes]]:
        """Blocks of whole records, of about `size` bytes, each with the line where it begins."""
        chunks, data, at, length = self.chunks(begin, end), b"", 0, size
        while True:
            while len(data) - at < length and (chunk := next(chunks, None)) is not None:
                data, at = data[at:] + chunk, 0
            block = data[at : at + length]
            if len(block) == length:
                block = block[: self._end_of_records(block)]
                if not block and length > max(LONGEST_RECORD, size):
                    raise DataError(
                        f"{self.name}: line {line} is longer than {LONGEST_RECORD} bytes; a quote "
                        "may be open, or this is no text of lines."
                    )
                if not block:  # a record may be longer than a block
                    length *= 2
                    continue
            if not block:
                return
            yield line, block
            line, at, length = line + block.count(b"\n"), at + len(block), size

    def _end_of_records(self, data: bytes) -> int:
        """Where the last whole record ends; 0 where none does."""
        end = data.rfind(b"\n") + 1
        while end and self.quotes and data.count(b'"', 0, end) % 2:  # it is inside quotes
            end = data.rfind(b"\n", 0, end - 1) + 1
        return end

    def check(self, data: bytes, line: int) -> None:
        """Refuse what is no text: NUL bytes, or bytes that are not UTF-8; it begins at a line."""
        if (at := data.find(b"\0")) >= 0:
            line += data.count(b"\n", 0, at)
            raise DataError(
                f"{self.name}: line {line} has a NUL byte, which text never has; the file is "
                "damaged, or it is UTF-16: save it as UTF-8."
            )
        try:
            _ = data.isascii() or data.decode()
        except UnicodeDecodeError as error:
            line += data.count(b"\n", 0, error.start)
            raise DataError(
                f"{self.name}: line {line} has the byte 0x{data[error.start]:02x}, which is not "
                "UTF-8; save the file as UTF-8",
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


class TextSource(Source):
    """A source whose pieces are blocks of records of a text, each parsed to an Arrow table."""

    text: Text
    begin: int = 0  # where the rows are in the text,
    first_line: int = 1  # in which line that is,
    end: int | None = None  # and where they end
    size: int  # bytes of a block, about
    is_small: bool = False  # whether the head is the only block
    layout: Any = None  # how bytes become a table
    scratch: Scratch | None = None  # where processes share what they parsed
    ends: tuple[int, ...] = ()  # of the blocks, in rows, once they are known

    def parse(self, data: bytes, line: int) -> Any:
        """An Arrow table, in one chunk, of the rows of whole records, which begin at a line."""
        raise NotImplementedError

    def block(self, batch: Any, place: Callable[[int], str]) -> Block:
        """The rows of a record batch."""
        raise NotImplementedError

    def lines(self, data: bytes, line: int) -> Iterator[int]:
        """The line of each row."""
        return (n for n, text in enumerate(data.split(b"\n"), line) if text.strip())

    def records(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Blocks of whole records of at most `size` bytes, about, and the lines they begin in."""
        return self.text.records(self.begin, self.first_line, self.end, min(size, self.size))

    def line_of(self, row: int, index: int = 0) -> str:
        """What to call a row of a block, which is read again: for errors."""
        line, data = next(islice(self.records(self.size), index, None))
        return f"line {next(islice(self.lines(data, line), row, None))}"

    def _parse_all(self, size: int) -> Iterator[Any]:
        import pyarrow as pa

        for line, data in self.records(size):
            table = self.parse(data, line)
            yield from table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]

    def batches(self, *, head: bool = False) -> list[Any]:
        """A record batch for each block; or that of the head, about a megabyte of text."""
        # All that the batches depend on: a file may be opened again with other options.
        facts = self.text, stamp(self.text.path), self.layout, self.begin, self.end, self.size, head
        key = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        if head:
            return remembered(key, lambda: [next(self._parse_all(HEAD_BYTES))])
        return remembered(key, lambda: put_in_file(self._all, self.name, self.scratch, key))

    def _all(self) -> Iterator[Any]:
        return iter(self.batches(head=True)) if self.is_small else self._parse_all(self.size)

    def descriptors(self) -> list[Piece]:
        if not self.ends:
            self.ends = tuple(accumulate(batch.num_rows for batch in self.batches()))
            self.rows = self.ends[-1]
        return [Piece(k, *rows) for k, rows in enumerate(pairwise((0, *self.ends)))]

    def read(self, piece: Piece) -> Block:
        return self.block(self.batches()[piece.index], partial(self.line_of, index=piece.index))

    def head(self) -> Block:
        return self.block(self.batches(head=True)[0], self.line_of)

    def set_size(self, rows: int | None, head: bytes, usual: int = BLOCK_BYTES) -> None:
        """Make blocks of about so many rows, as wide as those of the head."""
        width = len(head) // max(head.count(b"\n"), 1)
        self.size = usual if rows is None else max(rows * width, 64)
        self.is_small = rows is None and len(head) < HEAD_BYTES

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut and read."""
        cuts = self.begin, self.end, self.size, len(self.names)
        return fingerprint_of_file(self.text.path, *cuts, self.layout, self.text.encoding)

    def keeping(self, scratch: Any) -> Any:
        return self if scratch is None else self.changed(scratch=scratch)
