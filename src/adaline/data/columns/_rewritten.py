"""Columns that a file writes otherwise than the one that an encoding was learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adaline.data.columns._recognition import recognised
from adaline.data.columns.column_facts import texts_of
from adaline.data.columns.inputs import Input
from adaline.data.columns.of_blocks import ByName
from adaline.data.reading.notations import unit_of, words
from adaline.data.reading.source import Source


def rewritten(
    entries: Sequence[Input], source: Source, na: Sequence[str]
) -> tuple[list[Input], dict[str, str]]:
    """Entries with the notations that the source has; in words, those that are others."""
    other = _other_notations(entries, source, na)
    told = {name: words(notation) for name, notation in other.items()}
    return [replace(e, reading=other.get(e.name, e.reading)) for e in entries], told


def _other_notations(entries: Iterable[Input], source: Source, na: Sequence[str]) -> dict[str, str]:
    """Notations of numbers and dates in the first rows, where the encoding's do not read them.

    The unit must be the same: dollars are no euros.
    """
    kinds = dict(zip(source.names, source.kinds, strict=True))
    wanted = [e for e in entries if e.levels is None and kinds.get(e.name) == "text"]
    if not wanted:
        return {}
    columns, found = ByName(source.head()), {}
    for entry in wanted:
        texts = texts_of(columns[entry.name], (*na, *entry.marks), forced=True)
        seen = recognised(texts, False, "", entry.name)
        own = entry.reading or "number"
        if seen is None or seen.notation == own or entry.reading in texts.readings:
            continue
        if unit_of(seen.notation) == unit_of(own):
            found[entry.name] = seen.notation
    return found
