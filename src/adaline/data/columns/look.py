"""`look`: what each column of a table is, and what a fit would do with it and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.facts import Numbers
from adaline.data.columns.inputs import ByName, Input, missing_in
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import are_rounded
from adaline.data.columns.study import Study, study
from adaline.data.reading.blocks import blocks
from adaline.data.reading.notations import words
from adaline.data.reading.source import Column
from adaline.results import Result
from adaline.summaries import aligned

EXAMPLES, EXAMPLE_LETTERS = 3, 18  # values shown of a column, and letters of each
ALIKE = 0.999  # correlation of columns that hold nearly the same
COMPARED_COLUMNS, COMPARED_ROWS = 200, 10_000  # at most: a tenth of a second
TELLING_ROWS = 3  # rows that differ from the rest, at least: rare words meet in one row by chance


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
    source: Any, target: str | None = None, options: ColumnOptions | None = None, **given: Any
) -> Look:
    """What each column of a table is, and what a fit would do with it and why.

    Parameters are those of `Encoding.learn`, which decides in the same way, but missing is "auto"
    by default; `encoding` of the answer is the one to fit with.

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
    options = ColumnOptions.of(options, target, given, missing="auto")
    learned = study(blocks(source), options)
    columns = ByName(learned.head or learned.source.head())
    alike = _alike(learned, columns)
    notes = {name: f"nearly the same as {other!r}" for name, other in alike.items()}
    notes |= dict(learned.notes) | dict(learned.left_out)
    entries = {entry.name: entry for entry in learned.inputs}
    uses = {verdict.name: "left out" for verdict in learned.verdicts}
    uses |= {name: describe_use(entry) for name, entry in entries.items()}
    if options.target is not None:
        uses[options.target] = "the target"
        if learned.target is not None:
            entries[options.target] = learned.target
            known = _is_news(learned.target) or learned.target.reading in ("number", "date")
            uses[options.target] += f", {words(learned.target.reading)}" * known
    looked = []
    for name in learned.source.names:
        column, reading = columns[name], entries[name].reading if name in entries else ""
        gaps = _count_gaps(learned, column, name, reading)
        use = uses.get(name, "left out, as you asked")
        looked.append(LookedAt(name, column.kind, gaps, *_values(column), use, notes.get(name, "")))
    warnings = [f"{name!r}: {note}." for name, note in learned.notes]
    warnings += [f"{name!r} says nearly the same as {other!r}." for name, other in alike.items()]
    encoding = Encoding.of(learned)
    return Look(learned.source.name, learned.rows, tuple(looked), encoding, tuple(warnings))


def describe_use(entry: Input) -> str:
    """How a column is used, in words."""
    if entry.is_date:
        parts = [part.partition("=")[0] for part in entry.parts]
        more = [word for word in ("month", "weekday") if word in parts]
        text = words(entry.reading) + ": days" + "".join(f", {word}s" for word in more)
    elif entry.levels is not None:
        count = len(entry.levels)
        text = f"text, {count} level{'s' * (count != 1)}"
        text += f", {len(entry.merged)} rare ones merged" * bool(entry.merged)
    else:
        text = words(entry.reading or "number")
    return text + ", gaps marked" * entry.gaps


def _count_gaps(learned: Study, column: Column, name: str, reading: str) -> int:
    """Missing values of all rows, or of the first if there was no look at all."""
    fact = learned.facts.get(name)
    if fact is None:
        missing = missing_in(column)
        return 0 if missing is None else int(missing.sum())
    numbers = fact if isinstance(fact, Numbers) else fact.readings.get(reading)
    return fact.gaps if numbers is None else numbers.gaps


def _values(column: Column) -> tuple[int | None, tuple[str, ...]]:
    """How many different values there are, and the first few."""
    missing = missing_in(column)
    values = np.unique(column.values if missing is None else column.values[~missing])
    if column.kind == "other":
        return None, ()
    first = values[:EXAMPLES].tolist()
    if column.kind == "text":
        shown = [column.levels[k] for k in first]
    elif column.kind == "date":
        shown = [str(np.datetime64(int(day // 1), "D")) for day in first]
    else:
        shown = [f"{value:g}" for value in first]
    count = None if column.kind == "number" and are_rounded(values) else len(values)
    most = EXAMPLE_LETTERS
    return count, tuple(s if len(s) <= most else f"{s[: most - 3]}..." for s in shown)


def _alike(learned: Study, columns: ByName) -> dict[str, str]:
    """Columns of numbers whose first rows hold nearly the same as those of an earlier column."""
    plain = [e.name for e in learned.inputs if e.levels is None and not e.reading]
    units: dict[str, Any] = {}
    alike: dict[str, str] = {}
    for name in plain[:COMPARED_COLUMNS]:
        column = columns[name]
        if column.kind != "number" or missing_in(column) is not None:
            continue
        values = np.asarray(column.values[:COMPARED_ROWS], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = values - values.mean()
            length = float(np.linalg.norm(centred))
        differ = np.count_nonzero(values != np.median(values))
        if np.isfinite(length) and length > 0 and differ >= TELLING_ROWS:
            unit = centred / length
            twin = next((n for n, v in units.items() if abs(float(unit @ v)) > ALIKE), None)
            units[name] = unit
            alike |= {} if twin is None else {name: twin}
    return alike


def _is_news(entry: Input) -> bool:
    return entry.reading not in ("", "number", "text", "date")
