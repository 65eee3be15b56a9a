"""`look`: what each column of a table is, and what a fit would do with it and why."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.facts import Numbers, Texts, are_rounded, values_in
from adaline.data.columns.formula import parse_formula
from adaline.data.columns.inputs import ByName, Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.verdicts import Judge, facts_wanted, read_strays, use_one
from adaline.data.reading.blocks import blocks
from adaline.data.reading.notations import words
from adaline.data.reading.source import Column, Source, chosen, place_of
from adaline.errors import DataError, DataWarning, plural
from adaline.results import Result
from adaline.summaries import aligned

EXAMPLES, EXAMPLE_LETTERS = 3, 18  # values shown of a column, and letters of each


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
        return tuple((entry.name, words(entry.reading)) for entry in entries if is_news(entry))

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
    picked = [names[j] for j in chosen(options.inputs, names, source.name)]
    picked = [name for name in picked if name not in (target, *options.ignore)]
    if not picked:
        raise DataError(f"{source.name}: there are no columns beside the target.")
    wanted = picked if target is None else [*picked, target]
    source, marks, notes = read_strays(source, options, wanted)
    collect = facts_wanted(source, options, wanted, marks)
    facts, head = collect.of_all(options.jobs), source.head()
    judge, entry = Judge(options, source, facts, ByName(head), marks), None
    try:
        verdicts = [judge.verdict(name) for name in picked]
        use_one(verdicts, facts, options)
        notes += [(v.name, v.note) for v in verdicts if v.note and v.used is not None]
        if target is not None:
            if target not in facts and judge.columns[target].kind == "text":
                first = replace(collect, kinds={target: "text"}).of_block(head)
                judge = replace(judge, facts=first)  # of rows that can be read once only
            entry, note = judge.target(target)
            notes += [(target, note)] * bool(note)
    except DataError as error:
        raise DataError(f"{source.name}: {error.args[0]}", *error.args[1:]) from None
    inputs = tuple(v.used for v in verdicts if v.used is not None)
    left_out = tuple((v.name, v.why) for v in verdicts if v.used is None)
    used, terms = inputs, tuple[str, ...]()
    if options.formula is not None:  # inputs that no term has are left out
        formula = parse_formula(options.formula, tuple(e.name for e in inputs))
        used = tuple(e for e in inputs if e.name in formula.columns)
        terms = tuple(formula.terms)
    how = options.missing, options.unknown, left_out, tuple(options.na)
    encoding = Encoding(used, *how, entry, terms)
    rows = next((fact.n + fact.gaps for fact in facts.values()), source.rows)
    reasons, uses = dict(notes) | dict(left_out), {v.name: "left out" for v in verdicts}
    entries = {e.name: e for e in inputs}
    uses |= {name: describe_use(e) for name, e in entries.items()}
    if target is not None:
        entries |= {} if entry is None else {target: entry}
        uses[target] = "the target" + ("" if entry is None else describe_target(entry))
    looked = []
    for name in source.names:
        column, reading = judge.columns[name], entries[name].reading if name in entries else ""
        gaps, use = count_gaps(facts.get(name), column, reading), uses.get(name)
        seen = (name, column.kind, gaps, *example_values(column))
        looked.append(LookedAt(*seen, use or "left out, as you asked", reasons.get(name, "")))
    return Look(source.name, rows, tuple(looked), encoding, tuple(notes))


def describe_target(entry: Input) -> str:
    known = is_news(entry) or entry.reading in ("number", "date")
    return f", {words(entry.reading)}" * known


def describe_use(entry: Input) -> str:
    if entry.levels is not None:
        text = "text, " + plural(len(entry.levels), "level")
        text += f", {len(entry.merged)} rare ones merged" * bool(entry.merged)
    else:
        text = words(entry.reading or "number") + ": days" * entry.is_date
        parts = {part.partition("=")[0] for part in entry.parts}
        text += "".join(f", {what}s" for what in ("month", "weekday") if what in parts)
    return text + ", gaps marked" * entry.gaps


def count_gaps(fact: Numbers | Texts | None, column: Column, reading: str) -> int:
    """Missing values of all rows, or of the first if there was no look at all."""
    if fact is None:
        return len(column.values) - len(values_in(column))
    numbers = fact.readings.get(reading) if isinstance(fact, Texts) else None
    return fact.gaps if numbers is None else numbers.gaps


def example_values(column: Column) -> tuple[int | None, tuple[str, ...]]:
    if column.kind == "other":
        return None, ()
    values = np.unique(values_in(column))
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


def is_news(entry: Input) -> bool:
    return entry.reading not in ("", "number", "text", "date")
