"""A source looked at before it is learned from: what each column is, and what is made of it."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

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
from adaline.mapreduce import mapreduce

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
    for option, wanted_names in (
        ("read", options.read),
        ("use", options.use),
        ("ignore", options.ignore),
    ):
        for name in wanted_names:
            place_of(name, names, source.name, f"column (for {option}=)")
    if options.target is not None:
        place_of(options.target, names, source.name, "target column")
    picked = [names[j] for j in chosen(options.columns, names, source.name)]
    picked = [name for name in picked if name not in (options.target, *options.ignore)]
    if not picked:
        raise DataError(f"{source.name}: there are no columns beside the target.")
    as_text = [name for name, how in options.read.items() if how != "number"]
    named = picked if options.target is None else [*picked, options.target]
    if options.target is not None:
        source = source.with_labels(options.target)
    source, options, odd = without_strays(source.reread(as_text, options.na), options, named)
    kinds = dict(zip(source.names, source.kinds, strict=True))
    for name in picked:
        if kinds[name] == "other" and (options.missing != "auto" or options.keeps(name)):
            raise DataError(f"{source.name}: the column {name!r} {_OTHER}; leave it out.")
    plain = source.is_matrix and not options.read and not options.na
    head = None if plain else source.head()
    wanted = _wanted(options, picked, kinds, head)
    facts = _facts(source, wanted, options, head)
    if plain:
        found = [_plain(name, facts, options, source) for name in picked]
        return Study(source, head, facts, tuple(found), None, (), options)
    assert head is not None
    columns = ByName(head)
    verdicts = [_verdict(name, kinds[name], columns, facts, options, source) for name in picked]
    verdicts = [_with_marks(verdict, options) for verdict in verdicts]
    target, note = _target(kinds, columns, facts, options, source)
    verdicts = _never_empty(verdicts, facts, options, source)
    seen = Study(source, head, facts, tuple(verdicts), target, (), options)
    own = tuple((v.name, v.note) for v in verdicts if v.note and v.entry is not None)
    return replace(seen, notes=(*odd, *own, *_further_notes(seen, options, note)))


def _further_notes(found: Study, options: ColumnOptions, note: str) -> tuple[tuple[str, str], ...]:
    """On the target, and on a row of totals, which is doubted where all rows were seen."""
    assert found.head is not None
    notes = [(options.target, note)] if options.target is not None and note else []
    facts: list[Numbers | Texts] = [*found.facts.numbers.values(), *found.facts.texts.values()]
    if facts and facts[0].n + facts[0].gaps == found.head.rows:
        columns = ByName(found.head)
        numbers = ((name, columns[name]) for name in found.head.names)
        sums = [n for n, c in numbers if c.kind == "number" and is_sum(c.values, missing_in(c))]
        notes += [(name, _TOTAL) for name in sums[:1]]
    return tuple(notes)


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
        column = column_of(head, target)
        open_ = not column.levels or candidates(
            column.levels, options.na_of(target), forced=target in forced
        )
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


def _plain(name: str, facts: Facts, options: ColumnOptions, source: Source) -> Verdict:
    """A column of a matrix: taken as it is."""
    return Verdict(
        name, _named(source, number_input, name, facts.numbers.get(name), options.missing)
    )


def _named(source: Source, make: Any, *given: Any, **more: Any) -> Any:
    """Name the source in an error about a column."""
    try:
        return make(*given, **more)
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None


def _verdict(
    name: str, kind: str, head: ByName, facts: Facts, options: ColumnOptions, source: Source
) -> Verdict:
    if kind == "other":
        return Verdict(name, None, _OTHER)
    if name in facts.texts:
        return _of_text(name, facts.texts[name], options, source)
    if kind == "date":
        only = options.read.get(name) == "number"
        found = facts.numbers[name]
        return _of_numbers(name, found, "date", options, source, only_days=only)
    if options.read.get(name, "").startswith("date"):
        raise DataError(
            f"{source.name}: the column {name!r} holds numbers, which cannot be read as dates."
        )
    column = head[name]
    reading = _native_reading(column, source)
    verdict = _of_numbers(name, facts.numbers.get(name), reading, options, source)
    if verdict.entry is None:
        return verdict
    why = counts_rows(column, name)
    if why is not None and not options.keeps(name):
        return Verdict(name, None, why, spare=verdict.entry)
    code = suspicious_code(without_marks(column, options.na))
    if code is None:
        return verdict
    return Verdict(name, verdict.entry, note=f"{code:g} comes often and may mean a missing value")


def _of_numbers(
    name: str,
    found: Numbers | None,
    reading: str,
    options: ColumnOptions,
    source: Source,
    note: str = "",
    *,
    only_days: bool = False,
) -> Verdict:
    why = tells_nothing(found) if found is not None and options.missing == "auto" else None
    empty = found is not None and not found.n
    if why is not None and (empty or not options.keeps(name)):
        spare = None if empty else number_input(name, found, options.missing, reading)
        return Verdict(name, None, why, spare=spare)
    make = functools.partial(_named, source, number_input)
    entry = make(name, found, options.missing, reading, only_days=only_days)
    return Verdict(name, entry, note=note)


def _of_text(name: str, found: Texts, options: ColumnOptions, source: Source) -> Verdict:
    how = options.read.get(name, "")
    reading = _read_as(name, found, options, source)
    if reading is not None:
        return _of_numbers(name, reading.found, reading.notation, options, source, reading.note)
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
    if why is not None and not options.keeps(name):
        plain = found.readings.get("number")
        if plain is not None and not how and not is_named_like_rows(name):
            note = "its text holds numbers only, and was read as numbers"
            return _of_numbers(name, plain, "number", options, source, note)
        mixed = "" if how else several(list(found.counts or ()), options.na_of(name))
        return Verdict(name, None, f"holds {mixed}" if mixed else why, spare=spare)
    return Verdict(name, spare, note=merged)


def _read_as(name: str, found: Texts, options: ColumnOptions, source: Source) -> Reading | None:
    how = options.read.get(name, "")
    if how == "text":
        return None
    typed = source.typed and name not in options.marks  # strays are why numbers are text
    reading: Reading | None = _named(source, recognised, found, typed, how, name)
    return reading


def _with_marks(verdict: Verdict, options: ColumnOptions) -> Verdict:
    """The texts that stand for gaps in a column of numbers go with its input."""
    marks = options.marks.get(verdict.name)
    if not marks:
        return verdict
    entry, spare = (
        None if one is None or one.levels is not None else replace(one, marks=marks)
        for one in (verdict.entry, verdict.spare)
    )
    return replace(verdict, entry=entry or verdict.entry, spare=spare or verdict.spare)


def _native_reading(column: Column, source: Source) -> str:
    """The notation of a column of numbers, where its file has decimal commas."""
    notation = column.notation or source.notation
    return notation if notation in NATIVE and notation != "number" else ""


def _target(
    kinds: Mapping[str, str],
    columns: ByName,
    facts: Facts,
    options: ColumnOptions,
    source: Source,
) -> tuple[Input | None, str]:
    """How the target is read; None where it is taken as it is."""
    name = options.target
    if name is None:
        return None, ""
    marks = options.marks.get(name, ())
    found = facts.texts.get(name)
    texts = texts_of(as_text(columns[name], options.na)) if kinds[name] == "text" else None
    counts = found.counts if found is not None else texts.counts if texts is not None else None
    _, same, merged = merge_spellings(counts or {}, options.exact_levels)
    text = Input(name, (), None, "text", spellings=same)
    if kinds[name] == "date":
        return Input(name, reading="date"), ""
    if options.read.get(name, "") == "text":
        return text, merged
    reading = None if found is None else _read_as(name, found, options, source)
    if reading is not None:
        return Input(name, reading=reading.notation, marks=marks), reading.note
    written = _native_reading(columns[name], source) if kinds[name] == "number" else ""
    if written or (kinds[name] == "number" and options.na_of(name)):
        return Input(name, reading=written, marks=marks), ""
    if kinds[name] != "text" or (source.typed and not options.na and not same):
        return None, ""
    gaps = [level for level in columns[name].levels if level in MISSING]
    if not gaps or (source.typed and not options.na):
        return text, merged
    note = f"{gaps[0]!r} is a class; na=[{gaps[0]!r}] takes it as missing"
    return text, f"{note}; {merged}" if merged else note


def too_many_levels(name: str, found: Texts, most: int) -> DataError:
    """A column of text that cannot be a column of levels."""
    some = sorted(found.counts)[:2] if found.counts else []
    shown = f" ({some[0]!r}, {some[1]!r}, ...)" if len(some) == 2 else ""
    return DataError(
        f"the column {name!r} has more than {most} levels{shown}, which may be names or numbers of "
        "things; leave it out (columns=), make numbers of it, or raise most_levels."
    )


def _never_empty(
    verdicts: list[Verdict], facts: Facts, options: ColumnOptions, source: Source
) -> list[Verdict]:
    """Where every column would be left out, the first that can be used is used, with a note."""
    if any(v.entry is not None for v in verdicts):
        return verdicts
    for k, verdict in enumerate(verdicts):
        if verdict.spare is not None:
            note = f"{verdict.why}; it is used all the same, as there is no other column"
            kept = Verdict(verdict.name, verdict.spare, note=note)
            return [*verdicts[:k], kept, *verdicts[k + 1 :]]
    first = verdicts[0]
    if first.name in facts.texts and facts.texts[first.name].n:
        raise too_many_levels(first.name, facts.texts[first.name], options.most_levels)
    if first.why == _OTHER:
        raise DataError(f"{source.name}: the column {first.name!r} {_OTHER}; leave it out.")
    raise DataError(f"{source.name}: every value of the column {first.name!r} is missing; drop it.")


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
