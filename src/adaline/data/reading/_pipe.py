"""CSV text from a pipe: bytes that come once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from adaline.data.reading._csv import CsvSource
from adaline.data.reading._engine import engine
from adaline.data.reading._text import CHUNK, Text
from adaline.data.reading.source import Block, checked_names
from adaline.errors import DataError

_TASTE = 2**20


class PipedCsv(CsvSource):
    """CSV text whose bytes come once, from a file object."""

    again = False

    def __init__(self, file: IO[bytes], separator: str, name: str):
        self.name, self.separator, self.engine = name, separator, engine("CSV text")
        self.text: Text = _Piped(file, name)
        taste = self.text.take(0, _TASTE)
        if not taste:
            raise DataError(f"{name}: nothing came; expected column names and rows.")
        self.text.check(taste if len(taste) < _TASTE else taste[: taste.rfind(b"\n") + 1], 0)
        self.bom = 3 if taste.startswith(b"\xef\xbb\xbf") else 0
        end, fields = self._header(taste[self.bom :])
        self.begin, self.fields = self.bom + end, checked_names(fields, name)
        self.places = list(range(len(fields)))
        self.all_kinds = self._kinds(taste[self.begin :])
        self.names, self.kinds = self.fields, tuple(self.all_kinds)
        self.chunk = CHUNK

    def parts(self) -> Iterator[Block]:
        """The blocks, as they come."""
        return map(self.read, self.text.pieces(self.begin, self.chunk))


class _Piped(Text):
    """Bytes of a pipe: those before the last chunk are gone, but their lines are counted."""

    def __init__(self, file: IO[bytes], name: str):
        self.path, self.quotes, self.packed = name, True, True
        self._file, self._last, self._before = file, (0, b""), 0

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from start to stop; start never goes back before the last chunk."""
        at, data = self._last
        found = super().take(start, stop)
        if self._last[0] > at:
            self._before += data.count(b"\n", 0, self._last[0] - at)
        return found

    def _read(self, start: int, stop: int) -> bytes:
        assert self._file is not None
        parts, wanted = [], stop - start
        while wanted > 0 and (more := self._file.read(wanted)):
            parts.append(more)
            wanted -= len(more)
        return b"".join(parts)

    def line(self, offset: int) -> int:
        """The number of a line in the last chunk."""
        at, data = self._last
        return 1 + self._before + data.count(b"\n", 0, max(offset - at, 0))
