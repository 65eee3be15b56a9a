"""LIBSVM text as numbers, and temporary files of them, so that later passes need not read text."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.mapreduce import Executor

SCRATCH = 2.0**30  # bytes of temporary files, unless a user says otherwise
_VALUES = (np.uint8, np.float32, np.float64)  # how values are kept: the first that loses nothing
_MOST = 2**31  # indices from here on do not fit
_written: dict[str, int] = {}  # bytes that this process has written, by folder


@dataclass(frozen=True, eq=False)
class Parsed:
    """Rows of LIBSVM text.

    Attributes
    ----------
    labels : ndarray of shape (rows,)
    indices, values : ndarray of shape (entries,)
        As they are in the text, row after row.
    indptr : ndarray of shape (rows + 1,)
        Where the entries of each row begin and end.
    least, most : int
        Of the indices; 1 and 0 where there are none.
    ordered : bool
        Whether the indices of every row increase.
    """

    labels: Any
    indices: Any
    values: Any
    indptr: Any
    least: int
    most: int
    ordered: bool

    @classmethod
    def of(cls, labels: Any, indices: Any, values: Any, indptr: Any) -> Parsed:
        """With what is to be known of the indices."""
        if not len(indices):
            return cls(labels, indices, values, indptr, 1, 0, True)
        larger = indices[1:] > indices[:-1]
        first = indptr[1:-1]  # of each row but the first: compared with another row
        larger[first[(first > 0) & (first < len(indices))] - 1] = True
        ends = int(indices.min()), int(indices.max())
        return cls(labels, indices, values, indptr, *ends, bool(larger.all()))


@dataclass(frozen=True)
class Scratch:
    """A folder of parsed text, which processes of one machine share; each may fill some bytes.

    Values are kept as bytes or float32 where these are the same numbers, and as float64 otherwise,
    so that what comes back has the same bits.
    """

    folder: str
    room: int

    def get(self, key: str) -> Parsed | None:
        """What was put under this key."""
        try:
            with open(os.path.join(self.folder, key), "rb") as file:
                rows, entries, least, most, ordered, kind = np.fromfile(file, np.int64, 6).tolist()
                labels = np.fromfile(file, np.float64, rows)
                indptr = np.fromfile(file, np.int32, rows + 1)
                indices = np.fromfile(file, np.int32, entries)
                values = np.fromfile(file, _VALUES[kind], entries)
        except FileNotFoundError:
            return None
        values = values.astype(np.float64, copy=False)
        return Parsed(labels, indices, values, indptr, least, most, bool(ordered))

    def put(self, key: str, rows: Parsed) -> None:
        """Keep these rows, where there is room; a full disk is no reason to stop."""
        values, n = rows.values, len(rows.values)
        if rows.least < 0 or rows.most >= _MOST or n >= _MOST:
            return
        kind = _smallest(values)
        size = (
            8 * (len(rows.labels) + 6) + 4 * (len(rows.indptr) + n) + n * _VALUES[kind]().itemsize
        )
        before = _written.get(self.folder, 0)
        if before + size > self.room:
            return
        head = len(rows.labels), n, rows.least, rows.most, rows.ordered, kind
        path = os.path.join(self.folder, key)
        new = f"{path}.{os.getpid()}"
        try:
            with open(new, "xb") as file:
                np.array(head, dtype=np.int64).tofile(file)
                rows.labels.astype(np.float64, copy=False).tofile(file)
                rows.indptr.astype(np.int32, copy=False).tofile(file)
                rows.indices.astype(np.int32, copy=False).tofile(file)
                values.astype(_VALUES[kind], copy=False).tofile(file)
            os.replace(new, path)  # at once, so that nobody reads half a file
        except OSError:
            with suppress(OSError):
                os.unlink(new)
            size = self.room  # no further attempts
        _written[self.folder] = before + size


MakeScratch = Callable[[], Scratch | None]


def _smallest(values: Any) -> int:
    """The number of the first kind in which the values are the same; -0.0 needs its sign."""
    with np.errstate(over="ignore", invalid="ignore"):
        for kind, dtype in enumerate(_VALUES):
            kept = values.astype(dtype)
            if np.array_equal(kept, values) and not (kind == 0 and np.signbit(values).any()):
                return kind
    return len(_VALUES) - 1  # NaN


def no_scratch() -> None:
    """Nothing is kept."""


@contextmanager
def kept_in(size: float, who: int | Executor) -> Iterator[MakeScratch]:
    """What makes a folder for as long as a fit lasts, of at most size bytes and half of the free.

    It is made when it is first asked for: most sources are no text. who reads: so many processes of
    this machine, which have equal shares of it.
    """
    made: list[Scratch] = []

    def scratch() -> Scratch | None:
        if not made and size > 0 and isinstance(who, int) and (folder := _new_folder()):
            room = int(min(size, shutil.disk_usage(folder).free // 2))
            made.append(Scratch(folder, room // who))
        return made[0] if made else None

    try:
        yield scratch
    finally:
        for one in made:
            shutil.rmtree(one.folder, ignore_errors=True)
            _written.pop(one.folder, None)


def _new_folder() -> str | None:
    """An empty folder of this user alone; None where nothing can be written."""
    with suppress(OSError):
        return tempfile.mkdtemp(prefix="adaline-")
    return None
