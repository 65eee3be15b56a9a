"""A few texts among numbers or dates: they count as gaps, and are told."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import numpy as np

from adaline.data.columns.by_name import ByName
from adaline.data.columns.options import ColumnOptions
from adaline.data.reading.notations import candidates, nearly_all, words
from adaline.data.reading.source import Source

_SHOWN = 3


def without_strays(
    source: Source, options: ColumnOptions, names: Sequence[str]
) -> tuple[Source, ColumnOptions, tuple[tuple[str, str], ...]]:
    """With missing="auto": a few texts among numbers or dates are marks of gaps; with notes."""
    if options.missing != "auto" or source.is_matrix:
        return source, options, ()
    odd_ones = source.strays()
    # Numbers in another notation, such as 1,234.5 far below 12.5, are for the study to read.
    written = [name for name, odd in odd_ones.items() if all(candidates([o]) for o in odd)]
    source = source.reread(written) if written else source
    plain = {n: ("numbers", odd) for n, odd in odd_ones.items() if n not in written}
    marks = {name: tuple(text.strip() for text in odd) for name, (_, odd) in plain.items()}
    source = with_gaps(source, options.na, marks.values()) if marks else source
    among = _among_notations(source, options, names)
    marks |= {name: tuple(text.strip() for text in odd) for name, (_, odd) in among.items()}
    found, options = plain | among, options.with_marks(marks)
    return source, options, tuple((name, _note(name, *found[name])) for name in found)


def with_gaps(
    source: Source, na: Sequence[str], marks: Iterable[Sequence[str]], text: Sequence[str] = ()
) -> Source:
    """The source, of which columns of numbers take these texts as gaps; `text` are no numbers."""
    every = (*na, *(mark for some in marks for mark in some))
    return source.reread(text, tuple(dict.fromkeys(every)))


def _among_notations(
    source: Source, options: ColumnOptions, names: Sequence[str]
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Columns of text that are nearly all dates or numbers with signs in the first rows."""
    kinds = dict(zip(source.names, source.kinds, strict=True))
    text = [name for name in names if kinds[name] == "text" and name not in options.read]
    columns = ByName(source.head()) if text else None
    found = {}
    for name in text:
        assert columns is not None
        column = columns[name]
        there = column.values if column.missing is None else column.values[~column.missing]
        counts = np.bincount(there, minlength=len(column.levels)).tolist()
        told = {level: n for level, n in zip(column.levels, counts, strict=True) if n}
        notation, odd = nearly_all(told, options.na)
        if odd and notation != "number":  # plain numbers were told from codes by their source
            among = "dates" if notation.startswith("date") else words(notation)
            found[name] = (among, odd)
    return found


def _note(name: str, among: str, odd: Sequence[str]) -> str:
    told = ", ".join(map(repr, odd[:_SHOWN])) + ", ..." * (len(odd) > _SHOWN)
    return (
        f"{told} among {among} is taken as missing; --text {shlex.quote(name)} takes the column as "
        "text"
    )
