"""`study`: one pass over a table that is learned from, and what it says of every column.

`Encoding.learn`, `look`, `table`, `fit` and the command ask it; what they need to know of all rows
(how many there are, levels, means, missing values) is in its answer.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adaline.data.columns.facts import Facts, FactsOf, Numbers, Texts, counts_of
from adaline.data.columns.inputs import ByName, Input, missing_in
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import (
    best_date,
    best_number,
    counts_rows,
    date_parts,
    is_named_like_rows,
    merge_spellings,
    names_rows,
    suspicious_code,
    text_input,
    too_many_levels,
    unreadable,
)
from adaline.data.reading.column_readings import without_marks
from adaline.data.reading.header import is_sum
from adaline.data.reading.notations import MISSING, NATIVE, candidates, nearly_all, several, words
from adaline.data.reading.source import Block, Column, Source, chosen, place_of
from adaline.errors import DataError, DataWarning

OTHER_KIND = "holds neither numbers nor text"  # lists, or objects in objects
NO_VALUE = "has no value in any row"
GAP_SHARE, GAP_ROWS = 0.05, 5  # of the rows, and rows, from which on gaps have an indicator
SHOWN_STRAYS = 3
Notes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Verdict:
    """What a column would become; why it is left out, or what is doubtful."""

    name: str
    entry: Input | None
    why: str = ""
    note: str = ""

    @property
    def used(self) -> Input | None:
        """The input, None if the column is left out."""
        return None if self.why else self.entry


@dataclass(frozen=True, eq=False)
class Judge:
    """Decides on columns by the options, by facts about all rows and by the first rows.

    `typed` says whether the source has types, `notation` how its numbers are written, and `marks`
    which texts among the numbers of a column stand for missing values.
    """

    options: ColumnOptions
    typed: bool
    notation: str
    marks: Mapping[str, tuple[str, ...]]

    def verdict(self, name: str, column: Column, fact: Numbers | Texts | None) -> Verdict:
        """The input that is made of a column, and why it is left out."""
        if column.kind == "other":
            return Verdict(name, None, OTHER_KIND)
        if isinstance(fact, Texts):
            return self._of_text(name, fact)
        how = self.options.read.get(name, "")
        if column.kind == "date":
            return self.of_numbers(name, fact, "date", only_days=how == "number")
        if how.startswith("date"):
            raise DataError(f"the column {name!r} holds numbers, which cannot be read as dates.")
        verdict = self.of_numbers(name, fact, self.written(column))
        why = counts_rows(column, name)
        if why and not verdict.why and not self.options.keeps(name):
            return replace(verdict, why=why)
        code = suspicious_code(without_marks(column, self.options.na))
        note = "" if code is None else f"{code:g} comes often and may mean a missing value"
        return replace(verdict, note=note)

    def written(self, column: Column) -> str:
        """The notation of a column of numbers if its file has decimal commas; else ""."""
        notation = column.notation or self.notation
        return notation if notation in NATIVE[1:] else ""

    def na_of(self, name: str) -> tuple[str, ...]:
        """Texts that stand for a missing value in a column."""
        return (*self.options.na, *self.marks.get(name, ()))

    def of_numbers(
        self,
        name: str,
        fact: Numbers | Texts | None,
        how: str = "",
        note: str = "",
        only_days: bool = False,
    ) -> Verdict:
        """Numbers or dates, and what stands for their gaps."""
        entry, why = Input(name, reading=how, marks=self.marks.get(name, ())), ""
        if not isinstance(fact, Numbers):
            return Verdict(name, entry, note=note)
        if entry.is_date:
            entry = replace(entry, parts=("days",) if only_days else date_parts(fact))
        if self.options.missing in ("mean", "auto"):
            auto = self.options.missing == "auto"
            if not fact.n and not auto:
                raise _unusable(name, NO_VALUE)
            if not fact.n:
                return Verdict(name, None, NO_VALUE)
            if auto and fact.low == fact.high and not fact.gaps and not self.options.keeps(name):
                why = f"is {fact.low:g} in every row"
            many = fact.gaps >= max(GAP_ROWS, GAP_SHARE * (fact.n + fact.gaps))
            entry = replace(entry, mean=fact.mean, gaps=auto and many)
        return Verdict(name, entry, why, note)

    def _of_text(self, name: str, fact: Texts) -> Verdict:
        options, how = self.options, self.options.read.get(name, "")
        notation, note = self.reading(name, fact)
        if notation:
            return self.of_numbers(name, fact.readings[notation], notation, note)
        auto = options.missing == "auto"
        if auto and not fact.n:
            return Verdict(name, None, NO_VALUE)
        counts, spellings, note = merge_spellings(fact.counts or {}, options.exact_levels)
        why, entry = names_rows(name, fact, counts, options), None
        if fact.counts is not None and len(counts) <= options.most_levels:
            entry = text_input(name, counts, auto and fact.gaps > 0, options.least_rows)
            entry = replace(entry, reading=how, spellings=spellings)
            if auto and not why and len(entry.levels or ()) < 2:
                why = f"is {entry.levels[0]!r} in every row" if entry.levels else "has no value"
                why += ", however it is spelled" * bool(spellings)
        elif options.keeps(name):
            raise too_many_levels(name, fact, options.most_levels)
        if not why or options.keeps(name):
            return Verdict(name, entry, note=note)
        if "number" in fact.readings and not how and not is_named_like_rows(name):
            note = "its text holds numbers only, and was read as numbers"
            return self.of_numbers(name, fact.readings["number"], "number", note)
        mixed = "" if how else several(list(counts), self.na_of(name))
        return Verdict(name, entry, f"holds {mixed}" if mixed else why)

    def reading(self, name: str, fact: Texts) -> tuple[str, str]:
        """The notation of text that is to be read as numbers or dates, "" if it is text; a note.

        A table that has types calls its own text text, unless a notation or a mark of a missing
        value shows why its numbers could not be numbers.
        """
        how, readings, gaps = self.options.read.get(name, ""), fact.readings, fact.n > fact.told
        if how and how != "text":
            fits = [n for n in readings if n == how or n.startswith(f"{how} ")]
            readings = {notation: readings[notation] for notation in fits}
            if not readings:
                raise unreadable(name, fact, how)
        plain = self.typed and "number" in readings and not gaps and name not in self.marks
        if how == "text" or not readings or (plain and not how):
            return "", ""
        notation, note = best_number(readings, fact.counts) or best_date(readings, fact.counts)
        alone = gaps and readings[notation].low == readings[notation].high
        # "?" and "1" are two levels rather than a number with gaps.
        return ("", "") if alone and not how else (notation, note)

    def target(self, column: Column, fact: Numbers | Texts | None) -> tuple[Input | None, str]:
        """How the target is read, None if it is taken as it is; and a note."""
        name = str(self.options.target)
        texts = fact if isinstance(fact, Texts) else Texts({}, 0, 0, 0, {})
        _, same, merged = merge_spellings(texts.counts or {}, self.options.exact_levels)
        text, number = Input(name, (), reading="text", spellings=same), Input(name)
        number = replace(number, marks=self.marks.get(name, ()))
        if column.kind == "date":
            return Input(name, reading="date"), ""
        if self.options.read.get(name, "") == "text":
            return text, merged
        if column.kind == "number":
            written = self.written(column)
            return (replace(number, reading=written) if written or self.na_of(name) else None), ""
        notation, note = self.reading(name, texts)
        if notation:
            return replace(number, reading=notation), note
        as_it_is = self.typed and not self.options.na
        if column.kind != "text" or (as_it_is and not same):
            return None, ""
        gaps = [level for level in column.levels if level in MISSING and not as_it_is]
        note = f"{gaps[0]!r} is a class; na=[{gaps[0]!r}] takes it as missing" if gaps else ""
        return text, "; ".join(filter(None, (note, merged)))


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
            first = target not in facts and kinds[target] == "text"  # the first rows must do
            of_target = replace(collect, kinds={target: "text"}).of_block(head) if first else facts
            entry, note = judge.target(columns[target], of_target.get(target))
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
            raise _unusable(verdict.name, NO_VALUE)
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
