"""How columns are read, by their first rows: as text, or as numbers or dates in which notation.

`look.study` calls `recognise`. A column with later values in another notation is text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

import numpy as np

from adaline.data.columns.facts import Facts, facts_of
from adaline.data.columns.inputs import ByName, Input
from adaline.data.columns.options import ColumnOptions
from adaline.data.columns.rules import Verdict, is_named_like_rows, names_rows
from adaline.data.reading import notations
from adaline.data.reading.dates import ORDERS
from adaline.data.reading.notations import candidates, is_gap
from adaline.data.reading.source import Column, Source, as_numbers
from adaline.errors import DataError


def recognise(
    source: Source, options: ColumnOptions, names: Iterable[str]
) -> tuple[Source, ByName, dict[str, Verdict]]:
    """The source read as options ask, its first rows, and how each column is read."""
    text = [name for name, how in options.read.items() if how != "number"]
    source, strays = source.reread(text, tuple(options.na)), dict[str, tuple[str, ...]]()
    if options.missing == "auto":
        odd = source.strays()
        # Numbers in another notation, such as 1,234.5 far below 12.5, are text that is read later.
        text += [name for name, texts in odd.items() if all(candidates([t]) for t in texts)]
        strays = {name: texts for name, texts in odd.items() if name not in text}
        na = (*options.na, *(t.strip() for texts in strays.values() for t in texts))
        source = source.reread(text, tuple(dict.fromkeys(na)))
    head = ByName(source.head())
    read = {name: read_as(name, head[name], source, options, strays.get(name)) for name in names}
    return source, head, read


def read_as(
    name: str,
    column: Column,
    source: Source,
    options: ColumnOptions,
    strays: tuple[str, ...] | None = None,
) -> Verdict:
    """How a column is read; `strays` are texts among plain numbers, which are missing values."""
    how, note = options.read.get(name, ""), ""
    if column.kind == "other":  # lists, or objects in objects
        return Verdict(name, None, "holds neither numbers nor text")
    if how == "text":
        return Verdict(name, Input(name, (), reading="text"))
    if column.kind == "date":
        return Verdict(name, Input(name, reading="date", parts=("days",) * (how == "number")))
    if column.kind == "number":
        if how.startswith("date"):
            what = f"the column {name!r} holds numbers"
            raise DataError(f"{source.name}: {what}, which cannot be read as dates.")
        notation = column.notation or source.notation
        notation = notation if notation in notations.NATIVE[1:] else ""
    else:
        notation, strays, note = read_text_column(name, column, source, options, strays or ())
        if not notation:
            return Verdict(name, Input(name, ()))
    if strays:
        shown = ", ".join(map(repr, strays[:3])) + ", ..." * (len(strays) > 3)
        kind = notations.words(notation or "number").partition(",")[0]
        option = f"--text {shlex.quote(name)} takes the column as text"
        stray = f"{shown} among {kind} is taken as missing; {option}"
        note = "; ".join(filter(None, (stray, note)))
    marks = tuple(text.strip() for text in strays or ())
    return Verdict(name, Input(name, reading=notation, marks=marks), note=note)


def read_text_column(
    name: str,
    column: Column,
    source: Source,
    options: ColumnOptions,
    strays: tuple[str, ...],
) -> tuple[str, tuple[str, ...], str]:
    """The notation of numbers or dates, "" if text is text; strays among them; and a note.

    A table that has types calls its own text text, unless a notation or a mark of a missing value
    shows why its numbers could not be numbers, or it would be left out.
    """
    how, fact = options.read.get(name, ""), facts_of(column)
    counts = fact.counts or dict.fromkeys(column.levels, 1)
    if options.missing == "auto" and not how:
        notation, others = notations.nearly_all(counts, options.na)
        # The source has told plain numbers from codes.
        strays = others if others and notation != "number" else strays
    na = (*options.na, *(text.strip() for text in strays))
    readings = {
        notation: facts_of(as_numbers(column, notation, na)[0], notation.startswith("date"))
        for notation in candidates(list(counts), na, forced=how.startswith("number"))
        if not how or notation == how or notation.startswith(f"{how} ")
    }
    if how and counts and not readings:
        raise unreadable(f"{source.name}: the column {name!r}", counts, how)
    values = [level for level in counts if not is_gap(level, na)]
    has_marks = len(values) < len(counts)
    if source.typed and "number" in readings and not (how or has_marks):
        is_text = name == options.target or options.keeps(name) or is_named_like_rows(name)
        if is_text or not names_rows(name, fact, counts, options):
            return "", (), ""
        return "number", (), "its text holds numbers only, and was read as numbers"
    notation, note = choose_notation(readings, values)
    if has_marks and not how and notation and readings[notation].low == readings[notation].high:
        return "", (), ""  # "?" and "1" are two levels rather than a number with gaps
    return notation, strays, note


def unreadable(column: str, levels: Iterable[str], how: str) -> DataError:
    """The first value that is not what the user calls its column, by itself or with the others."""
    values = [level for level in levels if not is_gap(level)] or ["no value"]
    read = {v: any(n.startswith(how) for n in candidates([v], forced=True)) for v in values}
    example = min(values, key=lambda value: read[value])[:40]
    return DataError(
        f"{column} has {example!r}, which cannot be read as {how!r} with the others; "
        "correct it, or leave it out",
        ("na", [example], "takes it as missing"),
    )


def choose_notation(readings: Mapping[str, Facts], levels: Iterable[str]) -> tuple[str, str]:
    """The likeliest of the notations that read all values, and a note if it is a guess."""
    first = next(iter(readings), "")  # the likeliest one, but for what the numbers say
    if first.startswith("date"):
        return choose_order(readings, levels)
    unit = notations.unit_of(first)
    plain = f"number {unit}".strip()
    numbers, other = readings.get(first), readings.get(f"{plain} .,")
    if numbers is None or other is None or numbers == other:
        return first, ""
    if first == f"{plain} ,.":
        return first, "1,234 was read as a thousand and more, not as 1.234"
    # Three or more numbers such as 987 beside 1.234 end where thousands begin.
    texts = {level.strip().lstrip("+-") for level in levels} - {"999"}
    hundreds = sum(text.isdigit() and len(text) == 3 for text in texts)
    if first == plain and (unit in notations.MONEY or (hundreds >= 3 and numbers.high < 1000)):
        return f"{plain} .,", "1.234 was read as a thousand and more, not as 1.234"
    if first == plain and numbers.high < 1000 and not np.isclose(1000 * numbers.mean, other.mean):
        advice = "not as a thousand and more (the notation 'number .,')"
        return first, f"1.234 was read as 1.234, {advice}"
    return first, ""


def choose_order(readings: Mapping[str, Facts], levels: Iterable[str]) -> tuple[str, str]:
    """The order of day and month; if both fit, the one that keeps the dates closer together."""
    best = min(readings, key=lambda notation: readings[notation].high - readings[notation].low)
    notes = []
    if len(set(readings.values())) > 1:
        order = ORDERS[best.removeprefix("date ")]
        notes.append(f"dates such as 01/02/2024 fit two orders and were read {order}")
    if not all(re.search(r"\d{4}", level) for level in levels):
        notes.append("years of two digits were read as 1969 to 2068")
    return best, "; ".join(notes)
