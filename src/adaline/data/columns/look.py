"""`look`: what each column of a table is, and what a fit would do with it and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data.columns.by_name import ByName, missing_in
from adaline.data.columns.encoding import Encoding
from adaline.data.columns.facts import Numbers, Texts
from adaline.data.columns.inputs import Input
from adaline.data.columns.options import MOST_LEVELS, ColumnOptions, Missing, Unknown
from adaline.data.columns.rules import are_rounded, told
from adaline.data.columns.study import Study, Verdict, study
from adaline.data.reading.blocks import blocks
from adaline.data.reading.notations import words
from adaline.data.reading.source import Column, Source
from adaline.results import Result
from adaline.summaries import aligned
from adaline.sums.mapreduce import Executor

_EXAMPLES, _WIDE = 3, 18  # values shown of a column, and letters of each
_ALIKE = 0.999  # correlation of columns that say nearly the same
_COMPARED = 200  # columns of numbers that are compared with each other, at most
_ROWS = 10_000  # rows that are compared
_TELLING = 3  # rows that differ from the rest, at least: rare words meet in one row by chance


@dataclass(frozen=True)
class LookedAt(Result):
    """One column, as `look` saw it.

    Attributes
    ----------
    name : str
    kind : str
        "number", "text" or "date": what its values are.
    gaps : int
        Missing values; of the target, and of numbers where no mean is wanted, in the first rows.
    different : int or None
        Different values in the first rows; None where they were not counted, as for whole numbers
        beyond 2^53.
    examples : tuple of str
    use : str
        What a fit makes of it.
    why : str
        Why it is left out, or what is doubtful; empty where there is nothing to say.
    """

    name: str
    kind: str
    gaps: int
    different: int | None
    examples: tuple[str, ...]
    use: str
    why: str = ""


@dataclass(frozen=True, eq=False)
class Look(Result):
    """What `look` saw: plain data, which prints as a table.

    Attributes
    ----------
    source : str
        The file or table.
    rows : int or None
        Where they are known.
    columns : tuple of LookedAt
    encoding : Encoding
        What a fit would use.
    warnings : tuple of str
        What is doubtful, a sentence each.
    """

    source: str
    rows: int | None
    columns: tuple[LookedAt, ...]
    encoding: Encoding
    warnings: tuple[str, ...]

    @property
    def recognised(self) -> tuple[tuple[str, str], ...]:
        """Columns that were read by a notation, and which, in words."""
        target = [] if self.encoding.target is None else [self.encoding.target]
        entries = [entry for entry in (*self.encoding.inputs, *target) if _is_news(entry)]
        return tuple((entry.name, words(entry.reading)) for entry in entries)

    @property
    def merged(self) -> tuple[tuple[str, int], ...]:
        """Columns of text whose rare levels were merged, and how many."""
        found = [entry for entry in self.encoding.inputs if entry.merged]
        return tuple((entry.name, len(entry.merged)) for entry in found)

    def rows_of_cells(self) -> list[tuple[str, ...]]:
        """The table, a line a column: name, values, gaps, different, examples, use and why."""
        return [
            (
                column.name,
                column.kind,
                str(column.gaps),
                "?" if column.different is None else str(column.different),
                ", ".join(column.examples),
                f"{column.use}: {column.why}" if column.why else column.use,
            )
            for column in self.columns
        ]

    def __str__(self) -> str:
        head = ("column", "holds", "gaps", "different", "such as", "use")
        lines = aligned([head, *self.rows_of_cells()], left=len(head))
        return "\n".join([*lines, *self.warnings])


def look(
    source: Any,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "auto",
    unknown: Unknown = "refuse",
    most_levels: int = MOST_LEVELS,
    rare: int | None = None,
    read: Mapping[str, str] | None = None,
    na: Sequence[str] | None = None,
    use: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    formula: str | None = None,
    exact_levels: bool = False,
    jobs: int | Executor = 1,
) -> Look:
    """What each column of a table is, and what a fit would do with it and why.

    Parameters are those of `Encoding.learn`, which decides in the same way; `encoding` of the
    answer is the one to fit with.

    Examples
    --------
    >>> import polars as pl
    >>> from adaline.data import look
    >>> table = pl.DataFrame(
    ...     {
    ...         "": range(1, 13),
    ...         "share": ["41.5%", "7 %", "?"] * 4,
    ...         "colour": ["red", "blue", None] * 4,
    ...         "y": [1.5, 2.0, 3.0] * 4,
    ...     }
    ... )
    >>> print(look(table, "y"))
    column  holds   gaps  different  such as        use
            number  0     12         1, 2, 3        left out: counts the rows
    share   text    4     3          41.5%, 7 %, ?  percent
    colour  text    4     2          blue, red      text, 3 levels
    y       number  0     3          1.5, 2, 3      the target
    """
    options = ColumnOptions.given(
        target=target,
        columns=columns,
        missing=missing,
        unknown=unknown,
        most_levels=most_levels,
        rare=rare,
        read=read,
        na=na,
        use=use,
        ignore=ignore,
        formula=formula,
        exact_levels=exact_levels,
        jobs=jobs,
    )
    return look_at(blocks(source), options)


def look_at(source: Source, options: ColumnOptions) -> Look:
    """`look` with its parameters in one object, as `table` and the command have them."""
    found = study(source, options)
    encoding, target = Encoding.of(found), options.target
    head = ByName(found.head if found.head is not None else found.source.head())
    alike = _alike(found, head)
    seen = {verdict.name: verdict for verdict in found.verdicts}
    notes = {name: note for name, note in found.notes}
    looked = [
        _looked_at(name, kind, seen.get(name), found, head, target, alike, notes)
        for name, kind in zip(found.source.names, found.source.kinds, strict=True)
    ]
    warnings = [f"{name!r}: {note}." for name, note in found.notes]
    warnings += [f"{name!r} says nearly the same as {other!r}." for name, other in alike.items()]
    rows = found.source.rows if found.source.rows is not None else _rows(found)
    return Look(found.source.name, rows, tuple(looked), encoding, tuple(warnings))


def _rows(found: Study) -> int | None:
    """The number of rows, where all were looked at."""
    facts: list[Numbers | Texts] = [*found.facts.numbers.values(), *found.facts.texts.values()]
    return facts[0].n + facts[0].gaps if facts else None


def _looked_at(
    name: str,
    kind: str,
    verdict: Verdict | None,
    found: Study,
    head: ByName,
    target: str | None,
    alike: Mapping[str, str],
    notes: Mapping[str, str],
) -> LookedAt:
    column = head[name]
    different, examples = _values(column)
    gaps = int(np.sum(_gone(column)))
    if name in found.facts.texts:
        texts = found.facts.texts[name]
        entry = verdict.entry if verdict is not None else found.target
        reading = texts.readings.get(entry.reading) if entry is not None else None
        gaps = texts.gaps if reading is None else reading.gaps
    elif name in found.facts.numbers:
        gaps = found.facts.numbers[name].gaps
    why = notes.get(name, "") or (f"nearly the same as {alike[name]!r}" if name in alike else "")
    if name == target:
        how = found.target.reading if found.target else ""
        use = "the target" + (f", {words(how)}" if how not in ("", "text") else "")
    elif verdict is None:
        use = "left out, as you asked"
    elif verdict.entry is None:
        use, why = "left out", verdict.why
    else:
        use = told(verdict.entry)
    return LookedAt(name, kind, gaps, different, examples, use, why)


def _gone(column: Column) -> NDArray[np.bool_]:
    gone = missing_in(column)
    return np.zeros(len(column.values), dtype=bool) if gone is None else gone


def _values(column: Column) -> tuple[int | None, tuple[str, ...]]:
    """How many different values there are, and the first few."""
    values = column.values[~_gone(column)]
    if column.kind == "other":
        return None, ()
    found = np.unique(values)
    if column.kind == "text":
        shown = [column.levels[k] for k in found[:_EXAMPLES].tolist()]
    elif column.kind == "date":
        shown = [str(np.datetime64(int(v // 1), "D")) for v in found[:_EXAMPLES].tolist()]
    else:
        shown = [f"{v:g}" for v in found[:_EXAMPLES].tolist()]
    count = None if column.kind == "number" and are_rounded(found) else len(found)
    return count, tuple(s if len(s) <= _WIDE else f"{s[: _WIDE - 3]}..." for s in shown)


def _alike(found: Study, head: ByName) -> dict[str, str]:
    """Columns of numbers whose first rows say nearly the same as those of an earlier column."""
    names = [
        verdict.name
        for verdict in found.verdicts
        if verdict.entry is not None and verdict.entry.levels is None and not verdict.entry.reading
    ][:_COMPARED]
    columns = {}
    for name in names:
        column = head[name]
        if column.kind == "number" and missing_in(column) is None:
            values = np.asarray(column.values[:_ROWS], dtype=np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                centred = values - values.mean()
                length = float(np.linalg.norm(centred))
            differ = np.count_nonzero(values != np.median(values))
            if np.isfinite(length) and length > 0 and differ >= _TELLING:
                columns[name] = centred / length
    told: dict[str, str] = {}
    for k, (name, unit) in enumerate(columns.items()):
        for other in list(columns)[:k]:
            if abs(float(unit @ columns[other])) > _ALIKE:
                told[name] = other
                break
    return told


def _is_news(entry: Input) -> bool:
    return entry.reading not in ("", "number", "text", "date")
