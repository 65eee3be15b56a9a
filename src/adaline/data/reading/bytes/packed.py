"""Files as streams of plain UTF-8 bytes: unpacked (gzip, bzip2, xz, zstd) and transcoded."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable
from typing import IO, Any

from adaline.data.reading.bytes.locations import is_url, open_binary
from adaline.errors import DataError, MissingExtra

# How a packed file begins. Each pattern is longer than a column name that it could be mistaken for.
_MAGIC = {
    "gzip": (b"\x1f\x8b",),
    "bzip2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
ENDINGS = (".gz", ".bz2", ".xz", ".zst")  # of names, for the same four
HEAD = 10  # bytes that tell how a file is packed
_STEP = 2**20  # bytes that are unpacked at once on the way to a place
# The marks of 32 bits begin with those of 16 bits, and so come first.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def packing(head: bytes) -> str | None:
    """How a file that begins with these bytes is packed: "gzip", ..., or None."""
    return next((kind for kind, begins in _MAGIC.items() if head.startswith(begins)), None)


def marked(head: bytes) -> str | None:
    """The encoding that a byte order mark tells; None for UTF-8, which needs no transcoding."""
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)


def unpacking(path: str, kind: str | None) -> IO[bytes]:
    """A file object of the unpacked bytes."""
    if kind is None:
        return open_binary(path)
    if kind == "zstd":
        return Forward(lambda: _zstd(path))  # type: ignore[return-value]
    opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[kind]
    file: IO[bytes] = opener(open_binary(path) if is_url(path) else path, "rb")
    return file


def transcoding(file: IO[bytes], encoding: str) -> IO[bytes]:
    """A file object of the same text in UTF-8; it can be read again if the file can."""

    def begin() -> Any:
        if hasattr(file, "seek"):
            file.seek(0)
        return _Transcoded(file, encoding)

    return Forward(begin)  # type: ignore[return-value]


class Forward:
    """Bytes that come in order only: going back begins again."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin, self._file, self._at = begin, begin(), 0

    def tell(self) -> int:
        """Where the next byte to be read is."""
        return self._at

    def seek(self, place: int) -> None:
        """Go to a place; what is before it is unpacked and forgotten."""
        if place < self._at:
            self._file, self._at = self._begin(), 0
        while self._at < place and self.read(min(place - self._at, _STEP)):
            pass

    def read(self, wanted: int) -> bytes:
        """So many bytes, fewer at the end only."""
        parts = []
        while wanted > 0 and (more := self._file.read(wanted)):
            parts.append(more)
            self._at, wanted = self._at + len(more), wanted - len(more)
        return b"".join(parts)


class _Transcoded:
    """The text of a file in UTF-8, decoded piece by piece."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
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


def _zstd(path: str) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return zstd.open(open_binary(path) if is_url(path) else path, "rb")
    except ImportError:
        pass
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra.of("io", f"{path}: reading .zst files", "pyarrow") from None
    return pa.CompressedInputStream(open_binary(path) if is_url(path) else pa.OSFile(path), "zstd")


def damaged(error: Exception, kind: str | None, path: str) -> DataError | None:
    """The sentence for bytes that cannot be unpacked or decoded; None for another error."""
    if isinstance(error, UnicodeError):
        return DataError(
            f"{path}: this is not the encoding that it seems to be ({str(error)[:120]}); save the "
            "file as UTF-8, or give encoding=."
        )
    broken = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, struct.error, ValueError)
    # bz2 and zstd raise a plain OSError, which has no number as those of the system have.
    no_system = isinstance(error, OSError) and error.errno is None
    is_zstd = type(error).__name__ == "ZstdError"
    if kind is None or not (isinstance(error, broken) or no_system or is_zstd):
        return None
    return DataError(
        f"{path}: the {kind} file is cut short or damaged ({str(error)[:120]}); copy or download "
        "it again."
    )
