"""Text files in chunks of whole records, plain or packed, and what to call a line in them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import IO, Any

from adaline.data.reading.bytes.locations import open_binary, size_of
from adaline.data.reading.bytes.packed import HEAD, damaged, marked, packing, transcoding, unpacking
from adaline.data.reading.source import Piece
from adaline.errors import DataError

CHUNK = 2**23  # bytes of text that make a block
_LONGEST = 2**30  # bytes of a record
_NEWLINE = b"\n"


class Text:
    """A text file as bytes from here to there; those of a packed file are after unpacking.

    Attributes
    ----------
    path : str
    packing : str or None
        "gzip", "bzip2", "xz", "zstd".
    encoding : str or None
        Of what is transcoded to UTF-8 while it is read, such as UTF-16; None where bytes stay.
    packed : bool
        Whether it is packed or transcoded. Then places are reached by unpacking what is before
        them; going forward costs nothing extra.
    quotes : bool
        Whether newlines inside quotes do not end a record.
    quote : bytes
        The quote.
    returns : bool
        Whether lines end with a carriage return alone, which is then read as a newline.
    """

    def __init__(self, path: str, quotes: bool, encoding: str | None = None):
        self.path, self.quotes, self.quote, self.returns = path, quotes, b'"', False
        with open_binary(path) as file:
            self.packing = packing(file.read(HEAD))
        self._file: IO[bytes] | None = None
        self._last: tuple[int, bytes] = (0, b"")  # what was read last, and where it begins
        self._lock = threading.RLock()  # threads of a worker may share a source
        self.encoding, self.packed = None, self.packing is not None
        self.encoding = encoding or marked(self._read(0, 4))
        if self.encoding is not None:
            self._file, self.packed = None, True

    def __getstate__(self) -> dict[str, Any]:
        gone = ("_file", "_last", "_lock")
        return {name: value for name, value in vars(self).items() if name not in gone}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _file=None, _last=(0, b""), _lock=threading.RLock())

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop, fewer at the end of the file."""
        with self._lock:
            return self._taken(start, stop)

    def _taken(self, start: int, stop: int) -> bytes:
        at, data = self._last
        if not at <= start <= at + len(data):
            at, data = start, b""
        elif stop <= at + len(data):
            return data[start - at : stop - at]
        # What is unpacked is not unpacked twice; reading again costs less than joining.
        head = data[start - at :] if self.packed else b""
        data = self._read(start + len(head), stop)
        self._last = start, head + data if head else data
        return self._last[1]

    def _read(self, start: int, stop: int) -> bytes:
        try:
            if self._file is None:
                self._file = unpacking(self.path, self.packing)
                if self.encoding is not None:
                    self._file = transcoding(self._file, self.encoding)
            file: Any = self._file
            if file.tell() != start:
                file.seek(start)
            data: bytes = file.read(stop - start)
        except Exception as error:
            told = damaged(error, self.packing, self.path)
            if told is None:
                raise
            raise told from None
        return data.replace(b"\r", b"\n") if self.returns else data

    def end_lines_with_returns(self) -> None:
        """Read the lines of an old Macintosh, which end with a carriage return alone."""
        self.returns = True
        self._last = self._last[0], self._last[1].replace(b"\r", b"\n")

    @property
    def size(self) -> int | None:
        """Bytes of text, where they are known."""
        return None if self.packed else size_of(self.path)

    def pieces(self, begin: int, chunk: int) -> Iterator[Piece]:
        """Whole records of about `chunk` bytes each, from byte `begin` on."""
        index, start = 0, begin
        while True:
            data = self.take(start, start + chunk)
            if not data:
                return
            last = len(data) < chunk
            stop = len(data) if last else self._cut(data)
            more = chunk
            while not stop:  # a record longer than a chunk
                more *= 2
                if more > max(_LONGEST, 2 * chunk):
                    raise DataError(
                        f"{self.path}: line {self.line(start)} is longer than {_LONGEST} bytes; "
                        "a quote may be open, or this is no text of lines."
                    )
                data = self.take(start, start + more)
                last = len(data) < more
                stop = len(data) if last else self._cut(data)
            yield Piece(index, start, start + stop)
            index, start = index + 1, start + stop

    def _cut(self, data: bytes) -> int:
        """Where the last whole record ends; 0 where none does."""
        end = data.rfind(_NEWLINE) + 1
        if not self.quotes or data.find(self.quote, 0, end) < 0:
            return end
        inside = data.count(self.quote, 0, end) % 2
        while end and inside:  # this newline is inside quotes
            before = data.rfind(_NEWLINE, 0, end - 1) + 1
            inside = (inside - data.count(self.quote, before, end)) % 2
            end = before
        return end

    def line(self, offset: int) -> int:
        """The number, from 1, of the line in which the byte at this offset is."""
        count, at = 1, 0
        while at < offset:
            data = self.take(at, min(at + CHUNK, offset))
            if not data:
                break
            count, at = count + data.count(_NEWLINE), at + len(data)
        return count

    def check(self, data: bytes, start: int, utf8: bool = True) -> None:
        """Refuse what is no text: NUL bytes, or bytes that are not UTF-8 where they should be."""
        at = data.find(b"\0")
        if at >= 0:
            raise DataError(
                f"{self.path}: line {self.line(start + at)} has a NUL byte, which text never has; "
                "the file is damaged, or it is UTF-16: save it as UTF-8."
            )
        if not utf8 or data.isascii():
            return
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.path}: line {self.line(start + error.start)} has the byte "
                f"0x{data[error.start]:02x}, which is not UTF-8; save the file as UTF-8, or say "
                "what it is, such as encoding='windows-1252'."
            ) from None
