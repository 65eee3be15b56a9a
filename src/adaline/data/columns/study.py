"""`study`: one pass over a table that is learned from, and what it says of every column.

`Encoding.learn`, `look`, `table`, `fit` and the command ask it; what they need to know of all rows
(how many there are, levels, means, missing values) is in its answer.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adaline.data.columns.by_name import ByName, missing_in
from adaline.data.columns.facts import Facts, FactsOf, Texts, counts_of
from adaline.data.columns.inputs import Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import OTHER_KIND, Judge, Verdict, too_many_levels
from adaline.data.reading.header import is_sum
from adaline.data.reading.notations import candidates, nearly_all, words
from adaline.data.reading.source import Block, Source, chosen, place_of
from adaline.errors import DataError, DataWarning

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

    def warn(self) -> None:
        """Warn of what was left out, and of what was guessed."""
        left_out = "; ".join(f"{name!r} {why}" for name, why in self.left_out)
        advice = "use=[...] takes a column in, and columns=[...] says which to use."
        messages = [f"left out: {left_out}. {advice}"] * bool(left_out)
        advice = "read={...} says how to read it, na=[...] what stands for a missing value."
        messages += [f"the column {name!r}: {note}. {advice}" for name, note in self.notes]
        for message in messages:
            warnings.warn(f"{self.source.name}: {message}", DataWarning, stacklevel=3)


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
    source, marks, notes = _mark_strays(source, options, [*picked, target])
    kinds: dict[str, str] = dict(zip(source.names, source.kinds, strict=True))
    judge = Judge(options, source.typed, source.notation, marks)
    head = source.head()
    columns = ByName(head)
    entry = None
    try:
        for name in picked:
            if kinds[name] == "other" and (options.missing != "auto" or options.keeps(name)):
                raise _unusable(name)
        collect = _facts_wanted(source, kinds, picked, judge, columns)
        facts = collect.of_all(options.jobs)
        verdicts = [judge.verdict(name, columns[name], facts.get(name)) for name in picked]
        _use_one(verdicts, facts, options)
        notes += [(v.name, v.note) for v in verdicts if v.note and v.used is not None]
        if target is not None:
            if target not in facts and kinds[target] == "text":
                facts_of_target = replace(collect, kinds={target: "text"}).of_block(head)
            else:
                facts_of_target = facts
            entry, note = judge.target(columns[target], facts_of_target.get(target))
            notes += [(target, note)] * bool(note)
    except DataError as error:
        raise DataError(f"{source.name}: {error.args[0]}", *error.args[1:]) from None
    if any(fact.n + fact.gaps == head.rows for fact in facts.values()):
        notes += _note_on_total(head.names, columns)
    return Study(source, head, facts, tuple(verdicts), entry, tuple(notes), options)


def _study_of_matrix(source: Source, options: ColumnOptions, picked: Sequence[str]) -> Study:
    """Columns of a matrix are taken as they are; only their means may be needed."""
    fill = picked if options.missing in ("mean", "auto") else ()
    facts = FactsOf(source, dict.fromkeys(fill, "number"), {}).of_all(options.jobs)
    judge = Judge(options, True, "", {})
    verdicts = [replace(judge.of_numbers(name, facts.get(name)), why="") for name in picked]
    for verdict in verdicts:
        if verdict.entry is None:
            raise _unusable(verdict.name, "has no value")
    return Study(source, None, facts, tuple(verdicts), None, (), options)


def _facts_wanted(
    source: Source, kinds: Mapping[str, str], picked: Sequence[str], judge: Judge, columns: ByName
) -> FactsOf:
    """What to collect of all rows: text and dates, and numbers only if means are wanted."""
    options, target = judge.options, judge.options.target
    read = {name: "text" if options.read.get(name) == "text" else kinds[name] for name in picked}
    useful = ("text", "date", *["number"] * (options.missing in ("mean", "auto")))
    wanted = {name: kind for name, kind in read.items() if kind in useful}
    if target is not None and kinds[target] == "text":
        levels, forced = columns[target].levels, options.says_number(target)
        notation = not levels or candidates(levels, judge.na_of(target), forced=forced)
        if wanted or notation or target in options.read:
            wanted[target] = "text"
    if not source.again and wanted.keys() <= {target}:
        wanted = {}  # the first rows of the target must do
    na = {name: judge.na_of(name) for name in [*picked, target] if name is not None}
    return FactsOf(source, wanted, na, [name for name in na if options.says_number(name)])


def _use_one(verdicts: list[Verdict], facts: Facts, options: ColumnOptions) -> None:
    """If all columns would be left out, use the first that can be used, with a note."""
    if any(verdict.used is not None for verdict in verdicts):
        return
    for k, verdict in enumerate(verdicts):
        if verdict.entry is not None:
            note = f"{verdict.why}; it is used all the same, as there is no other column"
            verdicts[k] = replace(verdict, why="", note=note)
            return
    fact = facts.get(verdicts[0].name)
    if isinstance(fact, Texts) and fact.n:
        raise too_many_levels(verdicts[0].name, fact, options.most_levels)
    raise _unusable(verdicts[0].name, verdicts[0].why)


def _unusable(name: str, why: str = OTHER_KIND) -> DataError:
    what = f"the column {name!r} {why}"
    if why != OTHER_KIND:
        what = f"every value of the column {name!r} is missing"
    return DataError(what, ("ignore", [name], "leaves it out"))


def _mark_strays(
    source: Source, options: ColumnOptions, names: Sequence[str | None]
) -> tuple[Source, dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """The source read as options ask; with missing="auto", a few texts among numbers are missing.

    Those texts by column, and notes on them.
    """
    text = [name for name, how in options.read.items() if how != "number"]
    source = source.reread(text, tuple(options.na))
    if options.missing != "auto":
        return source, {}, []
    strays = source.strays()
    # Numbers in another notation, such as 1,234.5 far below 12.5, are text that is read later.
    written = [name for name, odd in strays.items() if all(candidates([one]) for one in odd)]
    found = {name: ("numbers", odd) for name, odd in strays.items() if name not in written}
    na = (*options.na, *(one.strip() for _, odd in found.values() for one in odd))
    source = source.reread([*text, *written], tuple(dict.fromkeys(na)))
    kinds = dict(zip(source.names, source.kinds, strict=True))
    unread = [n for n in names if n is not None and kinds[n] == "text" and n not in options.read]
    columns = ByName(source.head()) if unread else None
    for name in unread:
        assert columns is not None
        notation, odd = nearly_all(counts_of(columns[name]), options.na)
        if odd and notation != "number":  # plain numbers were told from codes by their source
            found[name] = ("dates" if notation.startswith("date") else words(notation), odd)
    notes = []
    for name, (among, odd) in found.items():
        shown = ", ".join(map(repr, odd[:SHOWN_STRAYS])) + ", ..." * (len(odd) > SHOWN_STRAYS)
        option = f"--text {shlex.quote(name)} takes the column as text"
        notes.append((name, f"{shown} among {among} is taken as missing; {option}"))
    marks = {name: tuple(one.strip() for one in odd) for name, (_, odd) in found.items()}
    return source, marks, notes


def _note_on_total(names: Sequence[str], columns: ByName) -> list[tuple[str, str]]:
    note = "the last row has the sum of all rows above it: a total is no row, so delete it"
    for name in names:
        column = columns[name]
        if column.kind == "number" and is_sum(column.values, missing_in(column)):
            return [(name, note)]
    return []
