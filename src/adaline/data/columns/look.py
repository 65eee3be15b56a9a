"""`look`: what each column of a table is, and what a fit would do with it and why."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.facts import Facts, collect
from adaline.data.columns.formula import parse_formula
from adaline.data.columns.inputs import ByName, Input, values_in
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.recognise import read_as, recognise
from adaline.data.columns.rules import Rules, Verdict
from adaline.data.reading.blocks import blocks
from adaline.data.reading.notations import words
from adaline.data.reading.source import Column, Source, chosen, place_of
from adaline.errors import DataError, DataWarning, plural
from adaline.results import Result
from adaline.summaries import aligned


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
    use, why : str
        What a fit makes of it; why it is left out, or what is doubtful.
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
    notes : tuple of (column, what is doubtful)
    """

    source: str
    rows: int | None
    columns: tuple[LookedAt, ...]
    encoding: Encoding
    notes: tuple[tuple[str, str], ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful, a sentence each."""
        return tuple(f"{name!r}: {note}." for name, note in self.notes)

    def warn(self) -> None:
        """Warn of what was left out, and of what was guessed."""
        left_out = "; ".join(f"{name!r} {why}" for name, why in self.encoding.left_out)
        advice = "use=[...] takes a column in, and columns=[...] says which to use."
        messages = [f"left out: {left_out}. {advice}"] * bool(left_out)
        advice = "read={...} says how to read it, na=[...] what stands for a missing value."
        messages += [f"the column {name!r}: {note}. {advice}" for name, note in self.notes]
        for message in messages:
            warnings.warn(f"{self.source}: {message}", DataWarning, stacklevel=3)

    @property
    def recognised(self) -> tuple[tuple[str, str], ...]:
        """Columns that were read by a notation, and which, in words."""
        entries = (*self.encoding.inputs, *filter(None, [self.encoding.target]))
        plain = ("", "number", "text", "date")
        return tuple((e.name, words(e.reading)) for e in entries if e.reading not in plain)

    @property
    def merged(self) -> tuple[tuple[str, int], ...]:
        """Columns of text whose rare levels were merged, and how many."""
        return tuple((e.name, len(e.merged)) for e in self.encoding.inputs if e.merged)

    def rows_of_cells(self) -> list[tuple[str, ...]]:
        """The table, a line a column: name, values, gaps, different, examples, use and why."""
        cells: list[tuple[str, ...]] = []
        for c in self.columns:
            count = "?" if c.different is None else str(c.different)
            use = f"{c.use}: {c.why}" if c.why else c.use
            cells.append((c.name, c.kind, str(c.gaps), count, ", ".join(c.examples), use))
        return cells

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
    return study(blocks(source), ColumnOptions.of(options, target, given, missing="auto"))


def study(source: Source, options: ColumnOptions) -> Look:
    """Look at the first rows, and at all if text, dates or means need it.

    `Encoding.learn`, `look` and `table` ask it, and `fit` and the command by way of them.
    """
    names, target = list(source.names), options.target
    for option in ("read", "use", "ignore"):
        for name in getattr(options, option):
            place_of(name, names, source.name, f"column (for {option}=)")
    if target is not None:
        place_of(target, names, source.name, "target column")
        source = source.with_labels(target)
    inputs = [names[j] for j in chosen(options.inputs, names, source.name)]
    inputs = [name for name in inputs if name not in (target, *options.ignore)]
    if not inputs:
        raise DataError(f"{source.name}: there are no columns beside the target.")
    studied = inputs if target is None else [*inputs, target]
    source, head, read = recognise(source, options, studied)
    facts = collect_facts(source, options, head, read)
    rules = Rules(options, source, head, facts)
    verdicts = {v.name: v for v in rules.of_inputs([read[name] for name in inputs])}
    used = tuple(v.entry for v in verdicts.values() if v.entry is not None and not v.why)
    left_out = tuple((v.name, v.why) for v in verdicts.values() if v.why)
    terms = tuple[str, ...]()
    if options.formula is not None:  # inputs that no term has are left out
        formula = parse_formula(options.formula, tuple(entry.name for entry in used))
        used = tuple(entry for entry in used if entry.name in formula.columns)
        terms = tuple(formula.terms)
    if target is not None:
        verdicts[target] = rules.of_target(read[target])
    how = options.missing, options.unknown, left_out, tuple(options.na)
    encoding = Encoding(used, *how, None if target is None else verdicts[target].entry, terms)
    columns = tuple(
        look_at(name, head[name], facts.get(name), verdicts.get(name), name == target)
        for name in names
    )
    rows = next((fact.n + fact.gaps for fact in facts.values()), source.rows)
    notes = tuple((v.name, v.note) for v in verdicts.values() if v.note and not v.why)
    return Look(source.name, rows, columns, encoding, notes)


def collect_facts(
    source: Source, options: ColumnOptions, head: ByName, read: dict[str, Verdict]
) -> dict[str, Facts]:
    """Facts about text and dates, and numbers if means are wanted, but for the target.

    A column without any value in the first rows is read as its levels are, and one whose later
    values do not fit the notation of the first rows is text, unless it was said how to read it.
    """
    means, target = options.missing in ("mean", "auto"), options.target
    entries = [verdict.entry for verdict in read.values() if verdict.entry is not None]
    text = {e.name for e in entries if e.levels is not None or head[e.name].kind == "text"}
    numbers = {e.name for e in entries if e.name != target and (e.is_date or means)}
    wanted = [entry for entry in entries if entry.name in text | numbers]
    facts = collect(source, wanted, options.na, options.jobs)
    late = []
    for name, fact in facts.items():
        counts = fact.counts
        if fact.misfit is not None:
            if name in options.read or head[name].kind != "text":
                raise fact.misfit
            read[name] = Verdict(name, Input(name, ()))
            late.append(Input(name, ()))
        elif counts and options.read.get(name) != "text" and not len(values_in(head[name])):
            levels = Column("text", np.arange(len(counts)), tuple(counts))
            read[name] = verdict = read_as(name, levels, source, options)
            if verdict.entry is not None and verdict.entry.levels is None:
                late.append(verdict.entry)
    return facts | collect(source, late, options.na, options.jobs)


def look_at(
    name: str, column: Column, fact: Facts | None, verdict: Verdict | None, is_target: bool
) -> LookedAt:
    """One column, by its first rows, what all rows hold, and what was decided."""
    entry = None if verdict is None or verdict.why else verdict.entry
    if is_target:
        use = "the target"
        if entry is not None and entry.reading not in ("", "text"):
            use += f", {words(entry.reading)}"
    elif verdict is None:
        use = "left out, as you asked"
    else:
        use = "left out" if entry is None else describe_use(entry)
    values = values_in(column)
    gaps = len(column.values) - len(values) if fact is None else fact.gaps
    different, shown = None, []
    if column.kind != "other":
        values = np.unique(values)
        # Floats beyond 2^53 are rounded, so that different whole numbers may be the same.
        is_rounded = values.dtype.kind == "f" and np.any(np.abs(values) >= 2.0**53)
        different = None if is_rounded else len(values)
        shown = [show(value, column) for value in values[:3].tolist()]
    why = "" if verdict is None else verdict.why or verdict.note
    return LookedAt(name, column.kind, gaps, different, tuple(shown), use, why)


def show(value: Any, column: Column) -> str:
    """A value, in at most 18 letters."""
    text = column.levels[value] if column.kind == "text" else f"{value:g}"
    text = str(np.datetime64(int(value // 1), "D")) if column.kind == "date" else text
    return text if len(text) <= 18 else f"{text[:15]}..."


def describe_use(entry: Input) -> str:
    if entry.levels is not None:
        text = "text, " + plural(len(entry.levels), "level")
        text += f", {len(entry.merged)} rare ones merged" * bool(entry.merged)
    else:
        text = words(entry.reading or "number") + ": days" * entry.is_date
        parts = {part.partition("=")[0] for part in entry.parts}
        text += "".join(f", {what}s" for what in ("month", "weekday") if what in parts)
    return text + ", gaps marked" * entry.gaps
