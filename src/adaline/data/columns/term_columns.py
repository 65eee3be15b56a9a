"""Columns that the terms of a formula make of the columns of inputs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from adaline.data.columns.inputs import Input
from adaline.data.columns.terms import Factor, Term, term_of
from adaline.data.reading.source import Block
from adaline.errors import DataError
from adaline.results import Array

# A column is a product of parts of inputs: (place of the input, place among its columns, factor).
Part = tuple[int, int, Factor]
Made = tuple[str, str, tuple[Part, ...]]  # name, term, parts


@lru_cache(maxsize=32)
def made_columns(inputs: tuple[Input, ...], terms: tuple[str, ...]) -> tuple[Made, ...]:
    """Every column of numbers; indicators of gaps come last where no term has them."""
    place = {entry.name: j for j, entry in enumerate(inputs)}
    made: list[Made] = []
    told: set[int] = set()
    for text in terms:
        term = term_of(text)
        for factor in term:
            if factor.column not in place:
                raise DataError(f"formula: there is no column {factor.column!r} for {text!r}.")
            entry = inputs[place[factor.column]]
            if entry.levels is not None and not factor.is_plain:
                raise DataError(f"formula: {factor} needs numbers, and {entry.name!r} is text.")
        if len(term) == 1 and term[0].is_plain:
            j = place[term[0].column]
            told.add(j)
            names = inputs[j].names
            made += [(name, text, ((j, k, term[0]),)) for k, name in enumerate(names)]
        else:
            made += _products(inputs, place, term, text)
    for j, entry in enumerate(inputs):
        if entry.gaps and j not in told:
            own = Factor(entry.name)
            made.append((entry.names[-1], entry.names[-1], ((j, len(entry.names) - 1, own),)))
    return tuple(made)


def _products(
    inputs: tuple[Input, ...], place: dict[str, int], term: Term, text: str
) -> list[Made]:
    """Every product of one column of each factor: all indicators of text, the number itself."""
    rows: list[tuple[list[str], tuple[Part, ...]]] = [([], ())]
    for factor in term:
        j = place[factor.column]
        entry = inputs[j]
        text_ = entry.levels is not None
        ways = [(name, k) for k, name in enumerate(entry.names)] if text_ else [(str(factor), 0)]
        rows = [
            ([*names, name], (*parts, (j, k, factor))) for names, parts in rows for name, k in ways
        ]
    return [(":".join(names), text, parts) for names, parts in rows]


def expanded(
    inputs: tuple[Input, ...], terms: tuple[str, ...], columns: list[Array], block: Block, keep: Any
) -> list[Array]:
    """The columns of terms; `columns` are those of the inputs, one after the other."""
    starts = np.cumsum([0, *(len(entry.names) for entry in inputs)])
    found = []
    for _, _, parts in made_columns(inputs, terms):
        values = [_of(factor, columns[starts[j] + k], block, keep) for j, k, factor in parts]
        product = values[0]
        for value in values[1:]:
            product = product * value
        if not np.isfinite(product).all():
            what, at = (
                ":".join(str(part[2]) for part in parts),
                _at(~np.isfinite(product), block, keep),
            )
            raise DataError(f"formula: {what} is too large for a number at {at}.")
        found.append(product)
    return found


def _of(factor: Factor, values: Array, block: Block, keep: Any) -> Array:
    values = np.asarray(values, dtype=np.float64)
    if factor.function:
        bad = ~(values > 0) if factor.function == "log" else ~(values >= 0)
        if bad.any():
            worst = values[int(np.argmax(bad))]
            wanted = "above 0" if factor.function == "log" else "of 0 or more"
            raise DataError(
                f"formula: {factor} needs numbers {wanted}, and the column {factor.column!r} is "
                f"{worst:g} at {_at(bad, block, keep)}; leave that row out, or take another term."
            )
        return np.asarray(np.log(values) if factor.function == "log" else np.sqrt(values))
    result = values
    with np.errstate(over="ignore"):
        for _ in range(factor.power - 1):
            result = result * values
    return result


def _at(bad: Any, block: Block, keep: Any) -> str:
    """The place of the first bad row in the source."""
    i = int(np.argmax(bad))
    return block.place(i if keep is None else int(np.flatnonzero(keep)[i]))
