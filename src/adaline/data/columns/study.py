"""A source looked at before it is learned from: what each column is, and what is made of it."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adaline.data.columns.by_name import ByName, column_of, missing_in
from adaline.data.columns.facts import (
    Facts,
    Numbers,
    Texts,
    Wanted,
    facts_of,
    facts_of_block,
    texts_of,
)
from adaline.data.columns.inputs import Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import (
    Reading,
    all_rare,
    counts_rows,
    is_named_like_rows,
    merge_spellings,
    names_rows,
    number_input,
    recognised,
    suspicious_code,
    tells_nothing,
    text_input,
)
from adaline.data.columns.strays import without_strays
from adaline.data.reading.column_readings import as_text, without_marks
from adaline.data.reading.fields import MISSING
from adaline.data.reading.notations import NATIVE, candidates, several
from adaline.data.reading.source import Block, Column, Source, chosen, place_of
from adaline.data.reading.totals import is_sum
from adaline.errors import DataError, DataWarning
from adaline.sums.mapreduce import mapreduce

_TOTAL = "the last row has the sum of all rows above it: a total is no row, so delete it"
_OTHER = "holds neither numbers nor text"  # lists, or objects in objects


@dataclass(frozen=True)
class Verdict:
    """A column: the input that is made of it, why it is left out, and what is doubtful."""

    name: str
    entry: Input | None
    why: str = ""
    note: str = ""
    spare: Input | None = None  # what it would be if it were not left out


@dataclass(frozen=True, eq=False)
class Study:
    """All columns of a source as an encoding sees them."""

    source: Source
    head: Block | None
    facts: Facts
    verdicts: tuple[Verdict, ...]
    target: Input | None
    notes: tuple[tuple[str, str], ...]
    options: ColumnOptions

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Of the columns that are used."""
        return tuple(v.entry for v in self.verdicts if v.entry is not None)

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Columns that are not used, and why."""
        return tuple((v.name, v.why) for v in self.verdicts if v.entry is None)


def study(source: Source, options: ColumnOptions) -> Study:
    """Look at a source: at the first rows, and at all where text, dates or means need it."""
    names = list(source.names)
    for option in ("read", "use", "ignore"):
        for name in getattr(options, option):
            place_of(name, names, source.name, f"column (for {option}=)")
    target = options.target
    if target is not None:
        place_of(target, names, source.name, "target column")
        source = source.with_labels(target)
    picked = [names[j] for j in chosen(options.columns, names, source.name)]
    picked = [name for name in picked if name not in (target, *options.ignore)]
    if not picked:
        raise DataError(f"{source.name}: there are no columns beside the target.")
    as_text = [name for name, how in options.read.items() if how != "number"]
    named = picked if target is None else [*picked, target]
    source, options, odd = without_strays(source.reread(as_text, options.na), options, named)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    for name in picked:
        if kinds[name] == "other" and (options.missing != "auto" or options.keeps(name)):
            raise DataError(f"{source.name}: the column {name!r} {_OTHER}; leave it out.")
    plain = source.is_matrix and not options.read and not options.na
    head = None if plain else source.head()
    wanted = _wanted(options, picked, kinds, head)
    facts = _facts(source, wanted, options, head)
    try:
        if head is None:  # columns of a matrix are taken as they are
            entries = [number_input(n, facts.numbers.get(n), options.missing) for n in picked]
            verdicts = tuple(Verdict(entry.name, entry) for entry in entries)
            return Study(source, head, facts, verdicts, None, (), options)
        judge = _Judge(kinds, ByName(head), facts, options, source.typed, source.notation)
        verdicts = judge.never_empty([judge.verdict(name) for name in picked])
        entry, note = judge.target()
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    notes = [(v.name, v.note) for v in verdicts if v.note and v.entry is not None]
    notes += [(target, note)] if target is not None and note else []
    notes += _total(head, facts)
    return Study(source, head, facts, verdicts, entry, (*odd, *notes), options)


def _total(head: Block, facts: Facts) -> list[tuple[str, str]]:
    """A note on a row of totals, which is doubted where all rows were seen."""
    every: list[Numbers | Texts] = [*facts.numbers.values(), *facts.texts.values()]
    if not every or every[0].n + every[0].gaps != head.rows:
        return []
    columns = ByName(head)
    numbers = ((name, columns[name]) for name in head.names)
    sums = [n for n, c in numbers if c.kind == "number" and is_sum(c.values, missing_in(c))]
    return [(name, _TOTAL) for name in sums[:1]]


def _wanted(
    options: ColumnOptions, picked: list[str], kinds: Mapping[str, str], head: Block | None
) -> Wanted:
    """Text and dates need all rows, numbers only where their means are wanted."""
    forced = [name for name, how in options.read.items() if how.startswith("number")]
    as_text = [name for name, how in options.read.items() if how == "text"]
    text = [name for name in picked if kinds[name] == "text" or name in as_text]
    dates = [name for name in picked if kinds[name] == "date" and name not in text]
    numbers = [name for name in picked if kinds[name] == "number" and name not in text]
    if options.missing not in ("mean", "auto"):
        numbers = []
    target = options.target
    if target is not None and head is not None and kinds[target] == "text":
        levels = column_of(head, target).levels
        open_ = not levels or candidates(levels, options.na_of(target), forced=target in forced)
        read = options.read.get(target, "") != "text" and (open_ or target in options.read)
        passes = not options.exact_levels and (text or numbers or dates)  # for its spellings, too
        text += [target] if read or passes else []
    named = tuple(text), tuple(numbers), tuple(dates)
    return Wanted(*named, options.na, tuple(forced), options.marks)


def _facts(source: Source, wanted: Wanted, options: ColumnOptions, head: Block | None) -> Facts:
    if not (wanted.text or wanted.numbers or wanted.dates):
        return Facts({}, {})
    inputs = [name for name in wanted.text if name != options.target]
    if not source.again and head is not None and not (inputs or wanted.numbers or wanted.dates):
        return facts_of_block(head, wanted)  # the target alone: its first rows must tell
    look = functools.partial(facts_of, source=source.for_reading(), wanted=wanted)
    add: Callable[[Facts, Facts], Facts] = operator.add
    return mapreduce(look, source.descriptors(), add, options.jobs)


@dataclass(frozen=True, eq=False)
class _Judge:
    """What is made of each column, by the facts about all rows and by the first rows."""

    kinds: Mapping[str, str]
    head: ByName
    facts: Facts
    options: ColumnOptions
    typed: bool  # whether the source has types
    notation: str  # in which its columns of numbers are

    def verdict(self, name: str) -> Verdict:
        """The input that is made of a column, or why it is left out."""
        found = self._verdict(name)
        marks = self.options.marks.get(name)
        if not marks:
            return found
        entry, spare = (  # texts that stand for gaps among numbers go with their input
            None if one is None or one.levels is not None else replace(one, marks=marks)
            for one in (found.entry, found.spare)
        )
        return replace(found, entry=entry or found.entry, spare=spare or found.spare)

    def _verdict(self, name: str) -> Verdict:
        kind, read = self.kinds[name], self.options.read.get(name, "")
        if kind == "other":
            return Verdict(name, None, _OTHER)
        if name in self.facts.texts:
            return self._of_text(name, self.facts.texts[name])
        found = self.facts.numbers.get(name)
        if kind == "date":
            return self._of_numbers(name, found, "date", only_days=read == "number")
        if read.startswith("date"):
            raise DataError(f"the column {name!r} holds numbers, which cannot be read as dates.")
        column = self.head[name]
        verdict = self._of_numbers(name, found, self._written(column))
        if verdict.entry is None:
            return verdict
        why = counts_rows(column, name)
        if why is not None and not self.options.keeps(name):
            return Verdict(name, None, why, spare=verdict.entry)
        code = suspicious_code(without_marks(column, self.options.na))
        if code is None:
            return verdict
        note = f"{code:g} comes often and may mean a missing value"
        return Verdict(name, verdict.entry, note=note)

    def _of_numbers(
        self,
        name: str,
        found: Numbers | None,
        reading: str,
        note: str = "",
        *,
        only_days: bool = False,
    ) -> Verdict:
        missing = self.options.missing
        why = tells_nothing(found) if found is not None and missing == "auto" else None
        empty = found is not None and not found.n
        if why is not None and (empty or not self.options.keeps(name)):
            spare = None if empty else number_input(name, found, missing, reading)
            return Verdict(name, None, why, spare=spare)
        return Verdict(
            name, number_input(name, found, missing, reading, only_days=only_days), note=note
        )

    def _of_text(self, name: str, found: Texts) -> Verdict:
        options, how = self.options, self.options.read.get(name, "")
        reading = self._read_as(name, found)
        if reading is not None:
            return self._of_numbers(name, reading.found, reading.notation, reading.note)
        if not found.n and options.missing == "auto":
            return Verdict(name, None, "has no value in any row")
        counts, same, merged = merge_spellings(found.counts or {}, options.exact_levels)
        found = replace(found, counts=counts) if same else found
        why = names_rows(found, name, options.most_levels) or all_rare(found, options.merged_below)
        too_many = found.counts is None or len(found.counts) > options.most_levels
        if too_many and options.keeps(name):
            raise too_many_levels(name, found, options.most_levels)
        spare = None
        if not too_many:
            spare = text_input(name, found, options.missing, options.merged_below, how)
            spare = replace(spare, spellings=same)
            alone = len(spare.levels or ()) < 2
            if options.missing == "auto" and alone and why is None:
                why = f"is {spare.levels[0]!r} in every row" if spare.levels else "has no value"
                why += ", however it is spelled" * bool(same)
        if why is None or options.keeps(name):
            return Verdict(name, spare, note=merged)
        plain = found.readings.get("number")
        if plain is not None and not how and not is_named_like_rows(name):
            note = "its text holds numbers only, and was read as numbers"
            return self._of_numbers(name, plain, "number", note)
        mixed = "" if how else several(list(found.counts or ()), options.na_of(name))
        return Verdict(name, None, f"holds {mixed}" if mixed else why, spare=spare)

    def _read_as(self, name: str, found: Texts) -> Reading | None:
        how = self.options.read.get(name, "")
        typed = self.typed and name not in self.options.marks  # strays are why numbers are text
        return None if how == "text" else recognised(found, typed, how, name)

    def _written(self, column: Column) -> str:
        """The notation of a column of numbers, where its file has decimal commas."""
        notation = column.notation or self.notation
        return notation if notation in NATIVE and notation != "number" else ""

    def target(self) -> tuple[Input | None, str]:
        """How the target is read, None where it is taken as it is; and a note."""
        name, options = self.options.target, self.options
        if name is None:
            return None, ""
        kind, column, found = self.kinds[name], self.head[name], self.facts.texts.get(name)
        marks = options.marks.get(name, ())
        if found is None and kind == "text":
            counts = texts_of(as_text(column, options.na)).counts
        else:
            counts = None if found is None else found.counts
        _, same, merged = merge_spellings(counts or {}, options.exact_levels)
        text = Input(name, (), None, "text", spellings=same)
        if kind == "date":
            return Input(name, reading="date"), ""
        if options.read.get(name, "") == "text":
            return text, merged
        reading = None if found is None else self._read_as(name, found)
        if reading is not None:
            return Input(name, reading=reading.notation, marks=marks), reading.note
        written = self._written(column) if kind == "number" else ""
        if written or (kind == "number" and options.na_of(name)):
            return Input(name, reading=written, marks=marks), ""
        as_is = self.typed and not options.na
        if kind != "text" or (as_is and not same):
            return None, ""
        gaps = [level for level in column.levels if level in MISSING]
        if not gaps or as_is:
            return text, merged
        note = f"{gaps[0]!r} is a class; na=[{gaps[0]!r}] takes it as missing"
        return text, f"{note}; {merged}" if merged else note

    def never_empty(self, verdicts: list[Verdict]) -> tuple[Verdict, ...]:
        """Where all would be left out, the first that can be used is used, with a note."""
        if any(v.entry is not None for v in verdicts):
            return tuple(verdicts)
        for k, verdict in enumerate(verdicts):
            if verdict.spare is not None:
                note = f"{verdict.why}; it is used all the same, as there is no other column"
                verdicts[k] = Verdict(verdict.name, verdict.spare, note=note)
                return tuple(verdicts)
        first = verdicts[0]
        found = self.facts.texts.get(first.name)
        if found is not None and found.n:
            raise too_many_levels(first.name, found, self.options.most_levels)
        if first.why == _OTHER:
            raise DataError(f"the column {first.name!r} {_OTHER}; leave it out.")
        raise DataError(f"every value of the column {first.name!r} is missing; drop it.")


def too_many_levels(name: str, found: Texts, most: int) -> DataError:
    """A column of text that cannot be a column of levels."""
    some = sorted(found.counts)[:2] if found.counts else []
    shown = f" ({some[0]!r}, {some[1]!r}, ...)" if len(some) == 2 else ""
    return DataError(
        f"the column {name!r} has more than {most} levels{shown}, which may be names or numbers of "
        "things; leave it out (columns=), make numbers of it, or raise most_levels."
    )


def warn_of(found: Study) -> None:
    """Say what was left out, and what was guessed."""
    if found.left_out:
        told = "; ".join(f"{name!r} {why}" for name, why in found.left_out)
        warnings.warn(
            f"{found.source.name}: left out: {told}. use=[...] takes a column in, and "
            "columns=[...] says which to use.",
            DataWarning,
            stacklevel=3,
        )
    for name, note in found.notes:
        warnings.warn(
            f"{found.source.name}: the column {name!r}: {note}. read={{...}} says how to read it, "
            "na=[...] what stands for a missing value.",
            DataWarning,
            stacklevel=3,
        )
