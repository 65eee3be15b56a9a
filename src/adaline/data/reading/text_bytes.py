"""Text files as bytes of UTF-8: unpacked, decoded, and cut into whole records.

Text tables, NDJSON and LIBSVM files read through `Text`. A plain file is opened for every read; a
packed or decoded one stays open while it is read forwards, and is closed at its end.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import struct
import threading
import zlib
from collections.abc import Iterator
from typing import IO, Any

from adaline.data.reading.locations import is_url, open_binary
from adaline.data.reading.source import Piece
from adaline.errors import DataError, MissingExtra

CHUNK = 2**23  # bytes of text that make a block
_LONGEST = 2**30  # bytes of a record
_STEP = 2**20  # bytes that are unpacked at once on the way to a place
# How a packed file begins. Each pattern is longer than a column name that it could be mistaken for.
_PACKED = {
    "gzip": (b"\x1f\x8b",),
    "bzip2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
ENDINGS = (".gz", ".bz2", ".xz", ".zst")  # of names, for the same four
# The marks of 32 bits begin with those of 16 bits, and so come first.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Text:
    """A text file as bytes from here to there; those of a packed file are after unpacking.

    Attributes
    ----------
    path : str
    packing : str or None
        "gzip", "bzip2", "xz", "zstd".
    encoding : str or None
        Of what is decoded and becomes UTF-8, such as UTF-16; None where bytes stay.
    quotes : bool
        Whether newlines inside double quotes do not end a record.
    pipe : file or None
        Bytes that come once.
    returns : bool
        Whether lines end with a carriage return alone, which is then read as a newline.
    """

    def __init__(
        self, path: str, quotes: bool, encoding: str | None = None, pipe: IO[bytes] | None = None
    ):
        self.path, self.quotes, self.pipe, self.returns = path, quotes, pipe, False
        self.packing: str | None = None
        self.encoding: str | None = None
        self._forget()
        if pipe is not None:
            head = b""
            while len(head) < 4 and (part := pipe.read(4 - len(head))):
                head += part
            self.pipe = _Joined(head, pipe)  # type: ignore[assignment]
        else:
            with open_binary(path) as file:
                self.packing = _packing(file.read(10))
            head = self._read(0, 4)
            self.close()
        found = (name for mark, name in _BYTE_ORDER_MARKS.items() if head.startswith(mark))
        self.encoding = encoding or next(found, None)

    def _forget(self) -> None:
        self._file: Any = None
        self._at, self._end, self._lines_before = 0, -1, 0
        self._last: tuple[int, bytes] = (0, b"")  # what was read last, and where it begins
        self._lock = threading.RLock()  # threads of a worker may share a source

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __del__(self) -> None:
        if "_file" in self.__dict__:
            self.close()

    def close(self) -> None:
        """Close the file; it is opened again when it is read again."""
        if self._file is not None and self.pipe is None:
            self._file.close()
        if self.pipe is None:
            self._file = None

    @property
    def forward(self) -> bool:
        """Whether places are reached by reading all that is before them."""
        return self.packing is not None or self.encoding is not None or self.pipe is not None

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop, fewer at the end of the file."""
        with self._lock:
            at, data = self._last
            if not at <= start <= at + len(data):
                at, data = start, b""
            elif stop <= at + len(data):
                return data[start - at : stop - at]
            # What is unpacked is not unpacked twice; reading again costs less than joining.
            head = data[start - at :] if self.forward else b""
            if self.pipe is not None:
                self._lines_before += data.count(b"\n", 0, start - at)
            more = self._read(start + len(head), stop)
            self._last = start, head + more if head else more
            return self._last[1]

    def _read(self, start: int, stop: int) -> bytes:
        try:
            data = self._forward(start, stop) if self.forward else self._plain(start, stop)
        except Exception as error:
            sentence = self._damage(error)
            if sentence is None:
                raise
            raise sentence from None
        return data.replace(b"\r", b"\n") if self.returns else data

    def _plain(self, start: int, stop: int) -> bytes:
        with open_binary(self.path) as file:
            file.seek(start)
            return file.read(stop - start)

    def _forward(self, start: int, stop: int) -> bytes:
        """Read on, or from the beginning again where the place has gone by."""
        if 0 <= self._end <= start:
            return b""
        if self._file is None or start < self._at:
            self.close()
            self._file, self._at = self._opened(), 0
        while self._at < start and self._more(min(start - self._at, _STEP)):
            pass
        parts = []
        while self._at < stop and (part := self._more(stop - self._at)):
            parts.append(part)
        if self._at < stop:
            self._end = self._at
            self.close()
        return b"".join(parts)

    def _more(self, wanted: int) -> bytes:
        part: bytes = self._file.read(wanted)
        self._at += len(part)
        return part

    def _opened(self) -> Any:
        """The unpacked bytes, decoded where they are not UTF-8."""
        file: Any = self.pipe
        if self.pipe is None:
            place: Any = open_binary(self.path) if is_url(self.path) else self.path
            open_packed: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
            if self.packing == "zstd":
                file = _zstd(self.path, place)
            else:
                file = open_packed.get(self.packing, open)(place, "rb")
        return file if self.encoding is None else _Decoded(file, self.encoding)

    def end_lines_with_returns(self) -> None:
        """Read the lines of an old Macintosh, which end with a carriage return alone."""
        self.returns = True
        self._last = self._last[0], self._last[1].replace(b"\r", b"\n")

    def pieces(self, begin: int, chunk: int) -> Iterator[Piece]:
        """Whole records of about `chunk` bytes each, from byte `begin` on."""
        index, start = 0, begin
        while True:
            more, stop = chunk, 0
            while not stop:  # a record may be longer than a chunk
                if more > max(_LONGEST, 2 * chunk):
                    raise DataError(
                        f"{self.path}: line {self.line(start)} is longer than {_LONGEST} bytes; "
                        "a quote may be open, or this is no text of lines."
                    )
                data = self.take(start, start + more)
                if not data:
                    return
                stop = len(data) if len(data) < more else self._cut(data)
                more *= 2
            yield Piece(index, start, start + stop)
            index, start = index + 1, start + stop

    def _cut(self, data: bytes) -> int:
        """Where the last whole record ends; 0 where none does."""
        end = data.rfind(b"\n") + 1
        if not self.quotes or data.find(b'"', 0, end) < 0:
            return end
        inside = data.count(b'"', 0, end) % 2
        while end and inside:  # this newline is inside quotes
            before = data.rfind(b"\n", 0, end - 1) + 1
            inside = (inside - data.count(b'"', before, end)) % 2
            end = before
        return end

    def line(self, offset: int) -> int:
        """The number, from 1, of the line in which the byte at this offset is."""
        if self.pipe is not None:  # in the last chunk
            at, data = self._last
            return 1 + self._lines_before + data.count(b"\n", 0, max(offset - at, 0))
        count, at = 1, 0
        while at < offset and (data := self.take(at, min(at + CHUNK, offset))):
            count, at = count + data.count(b"\n"), at + len(data)
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
                f"0x{data[error.start]:02x}, which is not UTF-8; save the file as UTF-8",
                ("encoding", "windows-1252", "reads it as such"),
            ) from None

    def _damage(self, error: Exception) -> DataError | None:
        """The sentence for bytes that cannot be unpacked or decoded; None for another error."""
        if isinstance(error, UnicodeError):
            return DataError(
                f"{self.path}: this is not the encoding that it seems to be ({str(error)[:120]}); "
                "save the file as UTF-8",
                ("encoding", "windows-1252", "reads it as such"),
            )
        broken = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, struct.error, ValueError)
        # bz2 and zstd raise a plain OSError, which has no number as those of the system have.
        without_number = isinstance(error, OSError) and error.errno is None
        is_zstd = type(error).__name__ == "ZstdError"
        if self.packing is None or not (isinstance(error, broken) or without_number or is_zstd):
            return None
        return DataError(
            f"{self.path}: the {self.packing} file is cut short or damaged ({str(error)[:120]}); "
            "copy or download it again."
        )


class _Joined:
    """Bytes that were read already, and then the file."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head, self._file = head, file

    def read(self, wanted: int) -> bytes:
        found, self._head = self._head[:wanted], self._head[wanted:]
        return found or self._file.read(wanted)


class _Decoded:
    """The text of a file in UTF-8, decoded piece by piece."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._left = file, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, wanted: int) -> bytes:
        while not self._left:
            raw = self._file.read(min(wanted, _STEP))
            self._left = self._decoder.decode(raw, not raw).encode()
            if not raw:
                break
        found, self._left = self._left[:wanted], self._left[wanted:]
        return found

    def close(self) -> None:
        self._file.close()


def _packing(head: bytes) -> str | None:
    """How a file that begins with these bytes is packed: "gzip", ..., or None."""
    return next((kind for kind, begins in _PACKED.items() if head.startswith(begins)), None)


def _zstd(path: str, place: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra.of("io", f"{path}: reading .zst files", "pyarrow") from None
    return pa.CompressedInputStream(pa.OSFile(place) if place is path else place, "zstd")
