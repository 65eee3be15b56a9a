"""`study`: one pass over a table that is learned from, and what it says of every column.

`Encoding.learn`, `look`, `table`, `fit` and the command ask it; what they need to know of all rows
(how many there are, levels, means, missing values, labels of the target) is in its answer.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adaline.data.columns.by_name import ByName, missing_in
from adaline.data.columns.facts import Facts, FactsOf, Numbers, Texts, counts_of, facts_of
from adaline.data.columns.inputs import Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import OTHER_KIND, Judge, Verdict, too_many_levels
from adaline.data.reading.notations import candidates, nearly_all, words
from adaline.data.reading.source import Block, Source, chosen, place_of
from adaline.data.reading.totals import is_sum
from adaline.errors import DataError, DataWarning

MOST_LABELS = 1000  # different values of a target up to which they may be classes
SHOWN_STRAYS = 3
Notes = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Study:
    """All columns of a source as an encoding sees them.

    Attributes
    ----------
    source : Source
        Its rows, read as the study read them.
    head : Block or None
        The first rows; None of a matrix.
    facts : dict
        What all rows hold, by column.
    verdicts : tuple of Verdict
        What becomes of each column but the target and those that are ignored.
    target : Input or None
        How the target is read; None if it is taken as it is.
    notes : tuple of (column, note)
        What is doubtful.
    options : ColumnOptions
    """

    source: Source
    head: Block | None
    facts: Facts
    verdicts: tuple[Verdict, ...]
    target: Input | None
    notes: Notes
    options: ColumnOptions

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Of the columns that are used."""
        return tuple(v.used for v in self.verdicts if v.used is not None)

    @property
    def left_out(self) -> Notes:
        """Columns that are not used, and why."""
        return tuple((v.name, v.why) for v in self.verdicts if v.used is None)

    @property
    def rows(self) -> int | None:
        """The number of rows, if the source knows it or there was a pass over all."""
        for fact in self.facts.values():
            return fact.n + fact.gaps
        return self.source.rows

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The different values of the target, sorted; None if unknown, or too many for classes."""
        fact = self.facts.get(self.options.target or "")
        if fact is None:
            return None
        merged: dict[Any, Any] = dict(self.target.spellings) if self.target is not None else {}
        known: Any = fact.different if isinstance(fact, Numbers) else fact.counts
        labels = None if known is None else {merged.get(value, value) for value in known}
        return None if labels is None or len(labels) > MOST_LABELS else tuple(sorted(labels))

    def warn(self) -> None:
        """Warn of what was left out, and of what was guessed."""
        name, told = self.source.name, "; ".join(f"{n!r} {why}" for n, why in self.left_out)
        messages = [
            f"{name}: left out: {told}. use=[...] takes a column in, and columns=[...] says which "
            "to use."
        ] * bool(told)
        messages += [
            f"{name}: the column {column!r}: {note}. read={{...}} says how to read it, na=[...] "
            "what stands for a missing value."
            for column, note in self.notes
        ]
        for message in messages:
            warnings.warn(message, DataWarning, stacklevel=3)


def study(source: Source, options: ColumnOptions) -> Study:
    """Look at the first rows, and at all if text, dates or means need it."""
    names = list(source.names)
    for option in ("read", "use", "ignore"):
        for name in getattr(options, option):
            place_of(name, names, source.name, f"column (for {option}=)")
    target = options.target
    if target is not None:
        place_of(target, names, source.name, "target column")
        source = source.with_labels(target)
    picked = [names[j] for j in chosen(options.inputs, names, source.name)]
    picked = [name for name in picked if name not in (target, *options.ignore)]
    if not picked:
        raise DataError(f"{source.name}: there are no columns beside the target.")
    if source.is_matrix and not options.read and not options.na:
        return _study_of_matrix(source, options, picked)
    text = [name for name, how in options.read.items() if how != "number"]
    source = source.reread(text, tuple(options.na))
    marks, notes = dict[str, tuple[str, ...]](), list[tuple[str, str]]()
    if options.missing == "auto":
        source, marks, notes = _mark_strays(source, options, text, [*picked, target])
    kinds: dict[str, str] = dict(zip(source.names, source.kinds, strict=True))
    for name in picked:
        if kinds[name] == "other" and (options.missing != "auto" or options.keeps(name)):
            raise DataError(f"{source.name}: the column {name!r} {OTHER_KIND}; leave it out.")
    judge = Judge(options, source.typed, source.notation, marks)
    head = source.head()
    columns = ByName(head)
    entry, note, seen = None, "", None
    try:
        collect = _collected(source, kinds, picked, judge, columns)
        facts = facts_of(collect, options.jobs)
        verdicts = [judge.verdict(name, columns[name], facts.get(name)) for name in picked]
        _use_one(verdicts, facts, options)
        if target is not None:
            seen = (
                facts.get(target) or replace(collect, kinds={target: "text"}).of_block(head)[target]
            )
            entry, note = judge.target(columns[target], seen)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    notes += [(v.name, v.note) for v in verdicts if v.note and v.used is not None]
    notes += [(str(target), note)] * bool(note)
    if any(fact.n + fact.gaps == head.rows for fact in facts.values()):
        notes += _total_in_last_row(head.names, columns)
    return Study(source, head, facts, tuple(verdicts), entry, tuple(notes), options)


def _study_of_matrix(source: Source, options: ColumnOptions, picked: Sequence[str]) -> Study:
    """Columns of a matrix are taken as they are; only their means may be needed."""
    fill = dict.fromkeys(picked if options.missing in ("mean", "auto") else (), "number")
    facts = facts_of(FactsOf(source, fill, {}), options.jobs)
    judge = Judge(options, True, "", {})
    verdicts = [replace(judge.of_numbers(name, facts.get(name)), why="") for name in picked]
    for verdict in verdicts:
        if verdict.entry is None:
            raise _nothing_there(verdict.name)
    return Study(source, None, facts, tuple(verdicts), None, (), options)


def _collected(
    source: Source, kinds: Mapping[str, str], picked: Sequence[str], judge: Judge, columns: ByName
) -> FactsOf:
    """What a pass collects: text and dates need all rows, numbers only if means are wanted."""
    options, collected = judge.options, dict[str, str]()
    for name in picked:
        kind = "text" if options.read.get(name) == "text" else kinds[name]
        if kind in ("text", "date") or (kind == "number" and options.missing in ("mean", "auto")):
            collected[name] = kind
    target = options.target
    if target is not None and kinds[target] == "text":
        levels, forced = columns[target].levels, options.says_number(target)
        notation = not levels or candidates(levels, judge.na_of(target), forced=forced)
        if collected or notation or target in options.read:
            collected[target] = "text"
    elif target is not None and collected and kinds[target] == "number":
        collected[target] = "target"
    if not source.again and collected.keys() <= {target}:
        collected = {}  # the first rows of the target must do
    na = {name: judge.na_of(name) for name in (*picked, *([target] if target else []))}
    return FactsOf(source, collected, na, [name for name in na if options.says_number(name)])


def _use_one(verdicts: list[Verdict], facts: Facts, options: ColumnOptions) -> None:
    """If all columns would be left out, use the first that can be used, with a note."""
    if any(verdict.used is not None for verdict in verdicts):
        return
    for k, verdict in enumerate(verdicts):
        if verdict.entry is not None:
            note = f"{verdict.why}; it is used all the same, as there is no other column"
            verdicts[k] = replace(verdict, why="", note=note)
            return
    first = verdicts[0]
    fact = facts.get(first.name)
    if isinstance(fact, Texts) and fact.n:
        raise too_many_levels(first.name, fact, options.most_levels)
    if first.why == OTHER_KIND:
        raise DataError(f"the column {first.name!r} {OTHER_KIND}; leave it out.")
    raise _nothing_there(first.name)


def _nothing_there(name: str) -> DataError:
    return DataError(f"every value of the column {name!r} is missing; drop it.")


def _mark_strays(
    source: Source, options: ColumnOptions, text: Sequence[str], names: Sequence[str | None]
) -> tuple[Source, dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """With missing="auto", a few texts among numbers or dates count as missing; with notes."""
    strays = source.strays()
    # Numbers in another notation, such as 1,234.5 far below 12.5, are text that is read later.
    written = [name for name, odd in strays.items() if all(candidates([one]) for one in odd)]
    found = {name: ("numbers", odd) for name, odd in strays.items() if name not in written}
    na = (*options.na, *(one.strip() for _, odd in found.values() for one in odd))
    source = source.reread([*text, *written], tuple(dict.fromkeys(na)))
    kinds = dict(zip(source.names, source.kinds, strict=True))
    wanted = [n for n in names if n is not None and kinds[n] == "text" and n not in options.read]
    columns: Any = ByName(source.head()) if wanted else {}
    for name in wanted:
        notation, odd = nearly_all(counts_of(columns[name]), options.na)
        if odd and notation != "number":  # plain numbers were told from codes by their source
            found[name] = ("dates" if notation.startswith("date") else words(notation), odd)
    notes = []
    for name, (among, odd) in found.items():
        told = ", ".join(map(repr, odd[:SHOWN_STRAYS])) + ", ..." * (len(odd) > SHOWN_STRAYS)
        option = f"--text {shlex.quote(name)} takes the column as text"
        notes.append((name, f"{told} among {among} is taken as missing; {option}"))
    marks = {name: tuple(one.strip() for one in odd) for name, (_, odd) in found.items()}
    return source, marks, notes


def _total_in_last_row(names: Sequence[str], columns: ByName) -> list[tuple[str, str]]:
    """A note on a last row that has the sum of all rows above it."""
    for name in names:
        column = columns[name]
        if column.kind == "number" and is_sum(column.values, missing_in(column)):
            return [
                (
                    name,
                    "the last row has the sum of all rows above it: a total is no row, so "
                    "delete it",
                )
            ]
    return []
