"""Files that were dropped on the page, in a temporary folder with harmless names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_LONGEST = 80  # letters of a name


def harmless(name: str, endings: Sequence[str], otherwise: str) -> str:
    """A file's name without folders, signs that a shell obeys, or a strange ending.

    >>> harmless("../../My prices (2024).CSV", [".csv"], ".csv")
    'My prices _2024_.csv'
    >>> harmless("-rf", [".csv"], ".csv")
    'rf.csv'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    ending = next((e for e in endings if last.lower().endswith(e)), "")
    stem = last[: len(last) - len(ending)] if ending else last
    kept = "".join(c if c.isalnum() or c in " _-." else "_" for c in stem)
    return (kept.strip(" .-")[:_LONGEST].strip(" .-") or "data") + (ending or otherwise)


class Folder:
    """A temporary folder of this user alone; it is removed at the end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="adaline-play-", ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name)

    def keep(self, name: str, content: bytes, endings: Sequence[str], otherwise: str) -> Path:
        """Write a file, and say where it is."""
        path = self.path / harmless(name, endings, otherwise)
        path.write_bytes(content)
        return path

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()
