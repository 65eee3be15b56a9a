"""Verdicts on columns: what a column would become, and why it is left out or doubtful.

`look.study` asks `Judge` about every column, once it knows which texts are missing values and what
all rows hold.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adaline.data.columns import facts as rules
from adaline.data.columns.facts import Facts, FactsOf, Numbers, Texts
from adaline.data.columns.inputs import ByName, Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.reading.notations import MISSING, NATIVE, candidates, nearly_all, several, words
from adaline.data.reading.source import Column, Source, without_marks
from adaline.errors import DataError

OTHER_KIND = "holds neither numbers nor text"  # lists, or objects in objects
NO_VALUE = "has no value in any row"
GAP_SHARE, GAP_ROWS = 0.05, 5  # of the rows, and rows, from which on gaps have an indicator
SHOWN_STRAYS = 3
Marks = Mapping[str, tuple[str, ...]]  # texts among the numbers of a column that are missing values


@dataclass(frozen=True)
class Verdict:
    """What a column would become; why it is left out, or what is doubtful."""

    name: str
    entry: Input | None
    why: str = ""
    note: str = ""

    @property
    def used(self) -> Input | None:
        return None if self.why else self.entry


def read_strays(
    source: Source, options: ColumnOptions, names: Sequence[str]
) -> tuple[Source, Marks, list[tuple[str, str]]]:
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
    odd = {name: ("numbers", texts) for name, texts in strays.items() if name not in written}
    na = (*options.na, *(one.strip() for _, texts in odd.values() for one in texts))
    source = source.reread([*text, *written], tuple(dict.fromkeys(na)))
    kinds = dict(zip(source.names, source.kinds, strict=True))
    unread = [name for name in names if kinds[name] == "text" and name not in options.read]
    head = ByName(source.head())
    for name in unread:
        notation, texts = nearly_all(rules.counts_of(head[name]), options.na)
        if texts and notation != "number":  # plain numbers were told from codes by their source
            odd[name] = ("dates" if notation.startswith("date") else words(notation), texts)
    notes = []
    for name, (among, texts) in odd.items():
        shown = ", ".join(map(repr, texts[:SHOWN_STRAYS])) + ", ..." * (len(texts) > SHOWN_STRAYS)
        option = f"--text {shlex.quote(name)} takes the column as text"
        notes.append((name, f"{shown} among {among} is taken as missing; {option}"))
    marks = {name: tuple(one.strip() for one in texts) for name, (_, texts) in odd.items()}
    return source, marks, notes


def facts_wanted(
    source: Source, options: ColumnOptions, names: Sequence[str], marks: Marks
) -> FactsOf:
    """What to collect of all rows: text and dates, and numbers only if means are wanted."""
    kinds = dict(zip(source.names, source.kinds, strict=True))
    read = {name: "text" if options.read.get(name) == "text" else kinds[name] for name in names}
    if options.target is not None and kinds[options.target] != "text":
        del read[options.target]
    useful = ("text", "date", *["number"] * (options.missing in ("mean", "auto")))
    wanted = {name: kind for name, kind in read.items() if kind in useful}
    if not source.again and wanted.keys() - {options.target}:
        raise DataError(
            f"{source.name} can be read once only, and its text columns and means need a pass of "
            "their own; save it to a file first, give an encoding=, or choose columns= of numbers."
        )
    wanted = wanted if source.again else {}  # the first rows of the target must do
    na = {name: (*options.na, *marks.get(name, ())) for name in names}
    return FactsOf(source, wanted, na, [name for name in names if options.says_number(name)])


def use_one(verdicts: list[Verdict], facts: Facts, options: ColumnOptions) -> None:
    """If all columns would be left out, use the first that can be used, with a note."""
    if any(verdict.used is not None for verdict in verdicts):
        return
    for k, verdict in enumerate(verdicts):
        if verdict.entry is not None:
            note = f"{verdict.why}; it is used all the same, as there is no other column"
            verdicts[k] = replace(verdict, why="", note=note)
            return
    name, fact = verdicts[0].name, facts.get(verdicts[0].name)
    if isinstance(fact, Texts) and fact.n:
        raise rules.too_many_levels(name, fact, options.most_levels)
    raise unusable(name, verdicts[0].why)


def unusable(name: str, why: str) -> DataError:
    what = f"the column {name!r} {why}"
    if why == NO_VALUE:
        what = f"every value of the column {name!r} is missing"
    return DataError(what, ("ignore", [name], "leaves it out"))


@dataclass(frozen=True, eq=False)
class Judge:
    """Decides on columns by the options, by facts about all rows and by the first rows."""

    options: ColumnOptions
    source: Source
    facts: Facts
    columns: ByName
    marks: Marks

    @property
    def auto(self) -> bool:
        return self.options.missing == "auto"

    def verdict(self, name: str) -> Verdict:
        """The input that is made of a column, and why it is left out."""
        options, fact = self.options, self.facts.get(name)
        how = options.read.get(name, "")
        if self.source.is_matrix and not options.read and not options.na:  # taken as it is
            verdict = self.of_numbers(name, fact)
            if verdict.entry is None:
                raise unusable(name, NO_VALUE)
            return replace(verdict, why="")
        column = self.columns[name]
        if column.kind == "other":
            if not self.auto or options.keeps(name):
                raise unusable(name, OTHER_KIND)
            return Verdict(name, None, OTHER_KIND)
        if isinstance(fact, Texts):
            return self.of_text(name, fact, how)
        if column.kind == "date":
            return self.of_numbers(name, fact, "date", only_days=how == "number")
        if how.startswith("date"):
            raise DataError(f"the column {name!r} holds numbers, which cannot be read as dates.")
        verdict = self.of_numbers(name, fact, self.written(column))
        why = rules.counts_rows(column, name)
        if why and not verdict.why and not options.keeps(name):
            return replace(verdict, why=why)
        code = rules.suspicious_code(without_marks(column, options.na))
        note = "" if code is None else f"{code:g} comes often and may mean a missing value"
        return replace(verdict, note=note)

    def written(self, column: Column) -> str:
        """The notation of a column of numbers if its file has decimal commas; else ""."""
        notation = column.notation or self.source.notation
        return notation if notation in NATIVE[1:] else ""

    def of_numbers(
        self, name: str, fact: Numbers | Texts | None, how: str = "", *, only_days: bool = False
    ) -> Verdict:
        """Numbers or dates, and what stands for their gaps."""
        entry, why = Input(name, reading=how, marks=self.marks.get(name, ())), ""
        if not isinstance(fact, Numbers):
            return Verdict(name, entry)
        if entry.is_date:
            entry = replace(entry, parts=("days",) if only_days else rules.date_parts(fact))
        if self.options.missing in ("mean", "auto"):
            if not fact.n and not self.auto:
                raise unusable(name, NO_VALUE)
            if not fact.n:
                return Verdict(name, None, NO_VALUE)
            is_constant = fact.low == fact.high and not fact.gaps
            if self.auto and is_constant and not self.options.keeps(name):
                why = f"is {fact.low:g} in every row"
            many = fact.gaps >= max(GAP_ROWS, GAP_SHARE * (fact.n + fact.gaps))
            entry = replace(entry, mean=fact.mean, gaps=self.auto and many)
        return Verdict(name, entry, why)

    def of_text(self, name: str, fact: Texts, how: str) -> Verdict:
        """Levels, or numbers or dates by a notation."""
        options, is_kept = self.options, self.options.keeps(name)
        notation, note = self.reading(name, fact)
        if notation:
            verdict = self.of_numbers(name, fact.readings[notation], notation)
            return replace(verdict, note=note)
        if self.auto and not fact.n:
            return Verdict(name, None, NO_VALUE)
        counts, spellings, note = rules.merge_levels(fact.counts or {}, options.exact_levels)
        why, entry = rules.names_rows(name, fact, counts, options), None
        if fact.counts is not None and len(counts) <= options.most_levels:
            entry = rules.text_input(name, counts, self.auto and fact.gaps > 0, options.least_rows)
            entry = replace(entry, reading=how, spellings=spellings)
            if self.auto and not why and len(entry.levels or ()) < 2:
                why = f"is {entry.levels[0]!r} in every row" if entry.levels else "has no value"
                why += ", however it is spelled" * bool(spellings)
        elif is_kept:
            raise rules.too_many_levels(name, fact, options.most_levels)
        if not why or is_kept:
            return Verdict(name, entry, note=note)
        if "number" in fact.readings and not how and not rules.is_named_like_rows(name):
            verdict = self.of_numbers(name, fact.readings["number"], "number")
            return replace(verdict, note="its text holds numbers only, and was read as numbers")
        mixed = "" if how else several(list(counts), (*options.na, *self.marks.get(name, ())))
        return Verdict(name, entry, f"holds {mixed}" if mixed else why)

    def reading(self, name: str, fact: Texts) -> tuple[str, str]:
        """The notation of text that is to be read as numbers or dates, "" if it is text; a note.

        A table that has types calls its own text text, unless a notation or a mark of a missing
        value shows why its numbers could not be numbers.
        """
        how, readings, gaps = self.options.read.get(name, ""), fact.readings, fact.n > fact.told
        if how and how != "text":
            readings = {n: r for n, r in readings.items() if n == how or n.startswith(f"{how} ")}
            if not readings:
                raise rules.unreadable(name, fact, how)
        plain = self.source.typed and "number" in readings and not (gaps or name in self.marks)
        if how == "text" or not readings or (plain and not how):
            return "", ""
        levels = fact.counts or {}
        notation, note = rules.best_number(readings, levels)
        if not notation:
            notation, note = rules.best_date(readings, levels)
        alone = gaps and readings[notation].low == readings[notation].high
        # "?" and "1" are two levels rather than a number with gaps.
        return ("", "") if alone and not how else (notation, note)

    def target(self, name: str) -> tuple[Input | None, str]:
        """How the target is read, None if it is taken as it is; and a note."""
        column, fact = self.columns[name], self.facts.get(name)
        marks = self.marks.get(name, ())
        if column.kind == "date":
            return Input(name, reading="date"), ""
        is_text = self.options.read.get(name, "") == "text"
        if column.kind == "number" and not is_text:
            written = self.written(column)
            is_read = written or self.options.na or marks
            return Input(name, reading=written, marks=marks) if is_read else None, ""
        if not isinstance(fact, Texts):
            return (Input(name, (), reading="text") if is_text else None), ""
        notation, note = ("", "") if is_text else self.reading(name, fact)
        if notation:
            return Input(name, reading=notation, marks=marks), note
        _, spellings, merged = rules.merge_levels(fact.counts or {}, self.options.exact_levels)
        as_it_is = self.source.typed and not self.options.na
        if as_it_is and not spellings and not is_text:
            return None, ""
        gaps = [] if as_it_is or is_text else [one for one in column.levels if one in MISSING]
        note = f"{gaps[0]!r} is a class; na=[{gaps[0]!r}] takes it as missing" if gaps else ""
        text = Input(name, (), reading="text", spellings=spellings)
        return text, "; ".join(filter(None, (note, merged)))
