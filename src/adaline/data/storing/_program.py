"""A model and its columns as a small program, which `_as_sql`, `_as_c` and `_as_python` write out.

Raw columns are numbers (dates are days since 1970-01-01) and text. Every column that the model has
weights for is a term of them:

    ("number", j)        the number, or the mean where it is missing
    ("gap", j)           1 where it is missing
    ("month", j, m)      1 in that month, 1 to 12; ("weekday", j, d) from Monday, 0, to Sunday, 6
    ("level", j, k)      1 where the text has the place k among the levels
    ("log", t), ("sqrt", t), ("power", t, n), ("times", t, u)      of other terms, of a formula
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import MISSING_LEVEL, OTHER_LEVEL, Input
from adaline.errors import ModelFileError
from adaline.results import Array

NOWHERE = -1  # a text that no indicator is of
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
FORMS = ("values", "exponential", "sides", "posterior", "gaussians")
Term = tuple[Any, ...]


@dataclass(frozen=True)
class Number:
    """A column of numbers: what stands for a gap (None: no prediction), and marks of gaps."""

    name: str
    mean: float | None = None
    marks: tuple[float, ...] = ()
    reading: str = ""
    gaps: tuple[str, ...] = ()  # texts that stand for one

    @property
    def is_date(self) -> bool:
        """Whether the numbers are days since 1970-01-01."""
        return self.reading.startswith("date")


@dataclass(frozen=True)
class Text:
    """A column of text: the places of its levels, of a gap, and of any other text.

    A place of None: there is no prediction.
    """

    name: str
    places: dict[str, int | None]
    gap: int | None
    other: int | None


@dataclass(frozen=True, eq=False)
class Program:
    """All that the answers follow from.

    Attributes
    ----------
    title : str
        The model's name and version.
    columns : tuple of Number or Text
    terms : tuple of Term, p of them
    W, b : ndarray of shape (K, p) and (K,)
    form : "values", "exponential", "sides" or "posterior"
    labels : list or None
        Of classes.
    costs : ndarray of shape (C, C) or None
    exposure : str or None
        The column that counts are proportional to.
    """

    title: str
    columns: tuple[Number | Text, ...]
    terms: tuple[Term, ...]
    W: Array
    b: Array
    form: str
    labels: list[Any] | None
    costs: Array | None = None
    exposure: str | None = None

    @property
    def is_probable(self) -> bool:
        """Whether classes have probabilities."""
        return self.form == "posterior"


def program(
    model: Any,
    title: str,
    names: list[str],
    encoding: Encoding | None,
    exposure: str | None,
    to: str,
) -> Program:
    """The program of a model, or ModelFileError with a sentence."""
    found = model._exported_weights() if model._exports in FORMS else None
    if found is not None and model._exports == "gaussians" and not model._is_written():
        found = model._linear()  # in float64, whatever the rows were in
    if found is None:
        raise ModelFileError(
            f"{type(model).__name__} is not exported to {to} here: it is no sum of weighted "
            "columns. `save` keeps it whole."
        )
    if getattr(model, "reject_cost", None) is not None:
        raise ModelFileError(f"reject_cost is not exported to {to}; labels alone are.")
    W, b = (np.asarray(part, dtype=np.float64) for part in found)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ModelFileError(f"A weight is not finite, which {to} cannot say.")
    classes = getattr(model, "classes_", None)
    labels = None if classes is None else classes.tolist()
    if labels is not None and not all(type(label) in (str, int, float, bool) for label in labels):
        raise ModelFileError(f"Labels such as {labels[0]!r} are not exported to {to}.")
    columns, terms = _columns(names, encoding)
    costs = getattr(model, "costs", None)
    form = "posterior" if model._exports == "gaussians" else model._exports
    costs = None if costs is None else np.asarray(costs, dtype=np.float64)
    return Program(title, columns, terms, W, b, form, labels, costs, exposure)


def _columns(
    names: list[str], encoding: Encoding | None
) -> tuple[tuple[Number | Text, ...], tuple[Term, ...]]:
    if encoding is None:
        numbers = tuple(Number(name) for name in names)
        return numbers, tuple(("number", j) for j in range(len(names)))
    columns: list[Number | Text] = []
    terms: list[Term] = []
    for j, entry in enumerate(encoding.inputs):
        columns.append(_column(entry, encoding))
        terms += _terms(entry, j)
    if encoding.terms:
        terms = _of_formula(encoding)
    return tuple(columns), tuple(terms)


def _of_formula(encoding: Encoding) -> list[Term]:
    """Terms of terms."""
    own = [_terms(entry, j) for j, entry in enumerate(encoding.inputs)]
    found = []
    for parts in encoding.products():
        product: Term = ()
        for j, k, factor in parts:
            term = own[j][k]
            if factor.function:
                term = (factor.function, term)
            elif factor.power > 1:
                term = ("power", term, factor.power)
            product = ("times", product, term) if product else term
        found.append(product)
    return found


def inside(term: Term) -> list[Term]:
    """The terms of columns that a term is made of; the term itself where it is one."""
    if term[0] in ("log", "sqrt", "power"):
        return inside(term[1])
    return [*inside(term[1]), *inside(term[2])] if term[0] == "times" else [term]


def _column(entry: Input, encoding: Encoding) -> Number | Text:
    drop = encoding.missing == "drop"
    if entry.levels is None:
        gaps = (*encoding.na, *entry.marks)
        marks = tuple(n for n in map(_number, gaps) if n is not None)
        return Number(entry.name, None if drop else entry.mean, marks, entry.reading, gaps)
    places: dict[str, int | None] = {level: k for k, level in enumerate(entry.levels)}
    refuse = encoding.unknown == "refuse"
    other = places.get(OTHER_LEVEL, NOWHERE) if entry.merged else None if refuse else NOWHERE
    gap = places.get(MISSING_LEVEL, places.get(OTHER_LEVEL) if entry.merged else None)
    gap = None if drop else NOWHERE if gap is None and not refuse else gap
    places |= dict.fromkeys(entry.merged, other)
    places |= {text: places.get(level, other) for text, level in entry.spellings}
    return Text(entry.name, places | dict.fromkeys(encoding.na, gap), gap, other)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def _terms(entry: Input, j: int) -> list[Term]:
    if entry.levels is not None:
        return [("level", j, k) for k in range(1, len(entry.levels))]
    terms: list[Term] = []
    for part in entry.parts or ("days",):
        what, _, which = part.partition("=")
        if what == "days":
            terms.append(("number", j))
        elif what == "month":
            terms.append(("month", j, int(which)))
        else:
            terms.append(("weekday", j, WEEKDAYS.index(which)))
    return [*terms, ("gap", j)] if entry.gaps else terms
