"""Many LIBSVM files as one source: all of them together say how many features there are."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adaline.data.reading.feature_names import FeatureNames
from adaline.data.reading.files import FilePiece
from adaline.data.reading.libsvm import Extent, LibsvmBlock, LibsvmSource
from adaline.data.reading.locations import stamp
from adaline.data.reading.scratch import MakeScratch, Scratch
from adaline.data.reading.source import Kind, Piece, Source, reading
from adaline.errors import strange
from adaline.mapreduce import Executor, mapreduce

_KEPT = 4  # files that a process keeps open
_NUMBER: Kind = "number"


@dataclass(frozen=True)
class Cut:
    """A file: which indices it has, where its rows are, and its fingerprint."""

    path: str
    extent: Extent
    pieces: tuple[Piece, ...]
    fingerprint: str


@dataclass(frozen=True)
class CutOf:
    """Open a file and find out where to cut it; without `names` its indices are looked at, too."""

    rows: int | None
    names: FeatureNames | None
    scratch: Scratch | None

    def __call__(self, path: str) -> tuple[Cut, ...]:
        unknown = self.names or FeatureNames(0, 1, ("y",))
        with reading(f"{path}: it cannot be read"):
            source = LibsvmSource(path, None, self.rows, unknown, self.scratch)
            extent = source.extent() if self.names is None else Extent()
            return (Cut(path, extent, tuple(source.descriptors()), source.fingerprint),)


class LibsvmFiles(Source):
    """The rows of LIBSVM files, one file after the other.

    Parameters
    ----------
    name : str
        What the user gave: a folder, a pattern, or the first of a list.
    paths : sequence of str
    rows : int, optional
        Of a block, about.
    names : FeatureNames, optional
        The columns, where they are known; otherwise a pass over all files finds the largest index.
    jobs : int or Executor
        Who opens the files.
    scratch : Scratch, optional
        Where to put what was parsed, and to find it again.
    """

    is_matrix = True
    names: FeatureNames

    def __init__(
        self,
        name: str,
        paths: Sequence[str],
        rows: int | None,
        names: FeatureNames | None,
        jobs: int | Executor,
        scratch: Scratch | None = None,
    ) -> None:
        self.name, self._rows, self.scratch = name, rows, scratch
        found: tuple[Cut, ...] = mapreduce(
            CutOf(rows, names, scratch), paths, _joined, jobs, check=_check_cuts
        )
        self.files = found
        if names is None:
            extent = sum((file.extent for file in self.files), Extent())
            names, self.rows = extent.names(name), extent.rows
        self.names, self.kinds = names, (_NUMBER,) * len(names)

    def descriptors(self) -> Iterator[FilePiece]:
        """The pieces of every file in turn."""
        index = 0
        for file in self.files:
            for piece in file.pieces:
                yield FilePiece(index, piece.start, piece.stop, file.path, piece.index)
                index += 1

    def read(self, piece: Piece) -> LibsvmBlock:
        """The rows of a piece."""
        assert isinstance(piece, FilePiece)
        path = piece.path
        with reading(f"{path}: it cannot be read"):
            source = _kept(path, stamp(path), self._rows, self.names, self.scratch)
        block = source.read(Piece(piece.own, piece.start, piece.stop))

        def place(i: int) -> str:
            return f"{block.place(i)} of {path}"

        return LibsvmBlock(block.names, block.features, block.labels, place)

    def for_reading(self) -> LibsvmFiles:
        """Without the list of files, which a piece names itself."""
        other = copy.copy(self)
        other.files, other.kinds = (), ()
        return other

    def keeping(self, scratch: MakeScratch) -> LibsvmFiles:
        """The same source, which puts what it parsed there, and finds it there again."""
        other = copy.copy(self)
        other.scratch = scratch()
        return other

    @property
    def fingerprint(self) -> str:
        """Of all files in their order."""
        text = "\n".join(
            [repr(self.names), *(f"{file.path} {file.fingerprint}" for file in self.files)]
        )
        return hashlib.sha256(text.encode()).hexdigest()


def _check_cuts(answer: Any) -> None:
    """Files, cut into pieces."""
    if type(answer) is not tuple or not all(type(one) is Cut for one in answer):
        raise strange("something else than files that were cut")
    for one in answer:
        least = min(one.extent.most, one.extent.entries, one.extent.rows)
        if least < 0 or not all(type(piece) is Piece for piece in one.pieces):
            raise strange(f"something else than pieces of {one.path!r}")


def _joined(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return a + b


@lru_cache(maxsize=_KEPT)
def _kept(
    path: str, _: Any, rows: int | None, names: FeatureNames, scratch: Scratch | None
) -> LibsvmSource:
    """An open file; its size and time are part of the key, so that a changed file is read anew."""
    return LibsvmSource(path, None, rows, names, scratch)
