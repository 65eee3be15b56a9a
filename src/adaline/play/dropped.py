"""A file dropped on the board: two columns of numbers and a label, chosen or as the user says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.data import look, table
from adaline.play.points import CLASSES, MOST, Points, made

LARGEST = 20 * 2**20  # bytes; a board shows 20,000 points
_ENDINGS = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Dropped:
    """A table on the board.

    Attributes
    ----------
    name : str
        Of the file: a user's text, to be shown and never to be opened.
    content : bytes
    numbers, labels : tuple of str
        Columns that can be axes, and those that can be the label.
    x, y, label : str
        The columns that are shown.
    classes : tuple of str
        What the classes A, B, ... are in the file.
    """

    name: str
    content: bytes
    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    x: str
    y: str
    label: str
    classes: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """For the page."""
        return {
            "name": self.name,
            "numbers": self.numbers,
            "labels": self.labels,
            "x": self.x,
            "y": self.y,
            "label": self.label,
            "classes": self.classes,
        }


def opened(name: str, content: bytes) -> Dropped:
    """Look at a file, and choose columns: the first two of numbers, and the last of few values."""
    if len(content) > LARGEST:
        raise ValueError(f"the file has more than {LARGEST // 2**20} MB; the table tab takes it.")
    with _file(name, content) as path:
        seen = look(path).columns
    few = [c.name for c in seen if c.different is not None and 2 <= c.different <= len(CLASSES)]
    useful = [c.name for c in seen if c.kind == "number" and c.why != "counts the rows"]
    if not few:
        raise ValueError("no column has two to four different values, which could be classes.")
    texts = [c.name for c in seen if c.name in few and c.kind == "text"]
    label = (texts or few)[-1]
    axes = [column for column in useful if column != label]
    if len(axes) < 2:
        raise ValueError("a board needs two columns of numbers beside the label.")
    return Dropped(name, content, tuple(useful), tuple(few), axes[0], axes[1], label)


def chosen(file: Dropped, x: Any, y: Any, label: Any) -> Dropped:
    """The same file with other columns."""
    if x not in file.numbers or y not in file.numbers or label not in file.labels:
        raise ValueError("choose two columns of numbers, and one of two to four values.")
    if len({x, y, label}) < 3:
        raise ValueError("the axes and the label are three different columns.")
    return replace(file, x=x, y=y, label=label)


def points_of(file: Dropped) -> tuple[Dropped, Points]:
    """The points of the columns chosen, and what their classes are; rows with gaps are left out."""
    with _file(file.name, file.content) as path:
        rows = table(path, file.label, columns=[file.x, file.y], missing="drop")
        X, y = np.asarray(rows.X, dtype=np.float64), rows.y
    if X.shape[1] != 2:
        raise ValueError(f"{file.x} and {file.y} are not read as two columns of numbers.")
    if len(X) > MOST:
        raise ValueError(f"the file has {len(X):,} rows; a board shows up to {MOST:,}.")
    known, codes = np.unique(y, return_inverse=True)
    if len(known) > len(CLASSES):
        raise ValueError(f"{file.label} has {len(known)} values; a board shows up to four classes.")
    names = tuple(str(value) for value in known.tolist())
    return replace(file, classes=names), made(X, codes, (file.x, file.y))


@contextmanager
def _file(name: str, content: bytes) -> Iterator[str]:
    """The bytes as a file that readers can open; its name is ours, since the user's is text."""
    ending = os.path.splitext(name.lower())[1]
    if ending not in _ENDINGS:
        raise ValueError(f"the board takes {', '.join(_ENDINGS)}; this file ends in {ending!r}.")
    with tempfile.TemporaryDirectory(prefix="adaline-play-") as folder:
        path = os.path.join(folder, f"points{ending}")
        with open(path, "wb") as file:
            file.write(content)
        try:
            yield path
        except ValueError as error:  # the folder is no business of the page
            raise ValueError(str(error).replace(path, "the file")) from None
