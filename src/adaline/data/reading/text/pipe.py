"""CSV text from a pipe: bytes that come once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import IO, Any

from adaline.data.reading.bytes.chunks import Text
from adaline.data.reading.bytes.packed import Forward, damaged, marked, transcoding
from adaline.data.reading.source import Block
from adaline.data.reading.tables.engines import csv_engine
from adaline.data.reading.text.csv_source import CsvSource, streamed
from adaline.data.reading.text.options import FileOptions
from adaline.errors import DataError


class PipedCsv(CsvSource):
    """CSV text whose bytes come once, from a file object."""

    again = False

    def __init__(self, file: IO[bytes], separator: str, name: str, options: FileOptions):
        self.name, self.engine = name, csv_engine()
        self._begin(
            _Piped(file, name, streamed(options.encoding)), separator, options, blanks=False
        )
        self._choose(None, None)

    def _tasted(self) -> bytes:
        if not self.text.take(0, 1):
            raise DataError(f"{self.name}: nothing came; expected column names and rows.")
        return super()._tasted()

    def parts(self) -> Iterator[Block]:
        """The blocks, as they come."""
        return map(self.read, self._pieces(self.chunk))


class _Piped(Text):
    """Bytes of a pipe: those before the last chunk are gone, but their lines are counted."""

    def __init__(self, file: IO[bytes], name: str, encoding: str | None):
        self.path, self.quotes, self.quote, self.returns = name, True, b'"', False
        self.packed, self.packing, self._last, self._before = True, None, (0, b""), 0
        self._lock = threading.RLock()
        head = Forward(lambda: file).read(4)
        self.encoding = encoding or marked(head)
        whole: Any = _Joined(head, file)
        self._file = whole if self.encoding is None else transcoding(whole, self.encoding)

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop; start never goes back before the last chunk."""
        at, data = self._last
        found = super().take(start, stop)
        if self._last[0] > at:
            self._before += data.count(b"\n", 0, self._last[0] - at)
        return found

    def _read(self, start: int, stop: int) -> bytes:
        try:
            data = Forward(lambda: self._file).read(stop - start)
        except UnicodeError as error:
            raise damaged(error, None, self.path) from None  # type: ignore[misc]
        return data.replace(b"\r", b"\n") if self.returns else data

    def line(self, offset: int) -> int:
        """The number of a line in the last chunk."""
        at, data = self._last
        return 1 + self._before + data.count(b"\n", 0, max(offset - at, 0))


class _Joined:
    """Bytes that were read already, and then the file."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head, self._file = head, file

    def read(self, wanted: int) -> bytes:
        if self._head:
            found, self._head = self._head[:wanted], self._head[wanted:]
            return found
        return self._file.read(wanted)
