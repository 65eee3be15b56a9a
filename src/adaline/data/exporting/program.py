"""A fitted linear model as a small tree of expressions, which each language prints in its own way.

A program is a list of layers of steps `name = expression`; a step uses only steps of layers before
it. A value may be missing: NULL in SQL, NaN in C and Python. Arithmetic with a missing value is
missing and comparisons with one are false, so that a row with a missing or unknown value has no
score, and no answer, in any language. `export` builds a program, and `languages` prints it;
tests/data/test_export_sources.py runs them.

An expression is a number, None (the missing value), the name of an earlier step, a `Column`, a
`Lookup`, or a tuple of an operation and its parts:

    ("+", ...), ("-", a, b), ("*", ...), ("/", a, b), ("<", a, b), ..., ("and", ...)
    ("exp", a), ("log", a), ("sqrt", a), ("missing", a)
    ("month", days), ("weekday", days)   of a date; Monday is 0
    ("case", condition, value, condition, value, ..., value otherwise)
    ("label", k)                         class k of the labels; None for no answer
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import MISSING_LEVEL, OTHER_LEVEL, Input
from adaline.data.reading.dates import WEEKDAYS
from adaline.errors import ModelFileError

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

LEAST_POWER, LARGEST_POWER = -700.0, 709.0  # some databases report under- and overflow beyond


@dataclass(frozen=True)
class Column:
    """A column of numbers (dates are days since 1970-01-01); some marks are missing values."""

    name: str
    marks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Lookup:
    """The number of a text, by its place among the levels.

    The place of a missing and of another text, as of a known one, is -1 for no level, whose number
    is the last, or None for no answer.
    """

    name: str
    places: dict[str, int | None]
    missing: int | None
    other: int | None
    numbers: tuple[float, ...]

    def number(self, place: int | None) -> float | None:
        return None if place is None else self.numbers[place]


Expression: TypeAlias = Any


@dataclass(frozen=True)
class Program:
    """Steps to the scores w'x + b, to predictions (one per target) and to probabilities."""

    title: str  # the model's name and version
    columns: tuple[Column | Lookup, ...]  # what a row holds
    layers: list[dict[str, Expression]]
    scores: tuple[str, ...]
    prediction: tuple[str, ...] = ("prediction",)
    probabilities: tuple[str, ...] = ()  # one for each label
    labels: Sequence[Any] = ()  # the classes


def build_program(
    model: Learner, title: str, names: list[str], encoding: Encoding | None, exposure: str | None
) -> Program:
    """The program of a linear model; ModelFileError says why there is none."""
    if getattr(model, "reject_cost", None) is not None:
        raise ModelFileError("A model with reject_cost is not exported; labels alone are.")
    W, b = (np.asarray(part, dtype=np.float64) for part in model._exported_weights())
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ModelFileError("A weight is not finite, which no other language can write.")
    columns, terms = read_columns(names, encoding)
    texts = [text for one in columns if isinstance(one, Lookup) for text in one.places]
    labels = model.classes_.tolist() if hasattr(model, "classes_") else []
    if any("\0" in str(x) for x in (*texts, *labels, *(c.name for c in columns), exposure)):
        raise ModelFileError("A name or text has a NUL character, which no language can write.")
    scores = tuple(f"score_{k}" for k in range(len(b)))
    sums = [weighted_sum(terms, w, bias) for w, bias in zip(W.tolist(), b.tolist(), strict=True)]
    program = Program(title, columns, [dict(zip(scores, sums, strict=True))], scores)
    if labels:
        return add_classes(program, model, labels)
    if model._exports == "values":
        return replace(program, prediction=scores)
    (v,) = scores
    low, high = ("<", v, LEAST_POWER), (">", v, LARGEST_POWER)
    rate: Expression = ("case", low, 0.0, high, ("exp", LARGEST_POWER), ("exp", v))
    if exposure is not None:
        rate = ("*", rate, Column(exposure))
        program = replace(program, columns=(*columns, Column(exposure)))
    program.layers.append({"prediction": rate})
    return program


def add_classes(program: Program, model: Learner, labels: list[Any]) -> Program:
    """Steps to the class of the largest score, or of the least expected cost.

    Probabilities are the softmax of the scores, of which the first of two is 0; no exp overflows.
    """
    layers, costs = program.layers, getattr(model, "costs", None)
    if not all(type(label) in (str, int, float, bool) for label in labels):
        raise ModelFileError(f"Labels such as {labels[0]!r} are not exported.")
    scores: tuple[Any, ...] = program.scores if len(labels) > 2 else (0.0, program.scores[0])
    places = [*(("label", k) for k in range(len(labels))), ("label", None)]
    program = replace(program, labels=labels)
    if model._exports == "sides":
        layers.append({"prediction": best_of(scores, ">=", places)})
        return program
    p, e, c = ([f"{letter}_{k}" for k in range(len(labels))] for letter in ("p", "e", "cost"))
    layers.append({"top": best_of(scores, ">=", (*scores, None))})
    if costs is None:
        layers[-1]["prediction"] = best_of(scores, ">=", places)
    differences = [("-", score, "top") for score in scores]
    powers = [("case", ("<", v, LEAST_POWER), 0.0, ("exp", v)) for v in differences]
    layers.append(dict(zip(e, powers, strict=True)))
    layers.append({"total": ("+", *e)})
    layers.append({p[k]: ("/", e[k], "total") for k in range(len(labels))})
    if costs is not None:
        prices = np.asarray(costs, dtype=np.float64).tolist()
        shares = [[("*", *pair) for pair in zip(row, p, strict=True)] for row in prices]
        layers.append({name: ("+", *parts) for name, parts in zip(c, shares, strict=True)})
        layers.append({"prediction": best_of(c, "<=", places)})
    return replace(program, probabilities=tuple(p))


def best_of(
    values: Sequence[Expression], sign: str, answers: Sequence[Expression]
) -> tuple[Expression, ...]:
    """The answer whose value compares with all others: ">=" for the largest, "<=" for the least.

    Of equal values the first one is the best, as in numpy's argmax; the last answer is for none.
    """
    parts: list[Expression] = []
    for value, answer in zip(values, answers[:-1], strict=True):
        parts += [("and", *((sign, value, other) for other in values if other != value)), answer]
    return ("case", *parts, answers[-1])


def read_columns(
    names: list[str], encoding: Encoding | None
) -> tuple[tuple[Column | Lookup, ...], list[Expression]]:
    """What a row holds, and an expression for each weight of the model."""
    if encoding is None:
        columns = tuple(map(Column, names))
        return columns, list(columns)
    terms: list[list[Expression]] = []
    given: list[Column | Lookup] = []
    for entry in encoding.inputs:
        if entry.levels is not None:
            lookup, places = read_levels(entry, encoding), range(len(entry.levels) + 1)
            given.append(lookup)
            units = [tuple(float(j == k) for j in places) for k in places[1:-1]]
            terms.append([replace(lookup, numbers=unit) for unit in units])
        else:
            column = Column(entry.name, finite_numbers((*encoding.na, *entry.marks)))
            given.append(column)
            terms.append(terms_of(entry, column, encoding.missing == "drop"))
    if encoding.terms:
        return tuple(given), [product_of(parts, terms) for parts in encoding.products()]
    return tuple(given), [term for own in terms for term in own]


def read_levels(entry: Input, encoding: Encoding) -> Lookup:
    """The place of each text among the levels; -1 is none, and None is no answer."""
    levels = entry.levels or ()
    places: dict[str, int | None] = {level: k for k, level in enumerate(levels)}
    refuse = encoding.unknown == "refuse"
    other = places.get(OTHER_LEVEL, -1) if entry.merged else None if refuse else -1
    gap = places.get(MISSING_LEVEL, places.get(OTHER_LEVEL) if entry.merged else None)
    gap = None if encoding.missing == "drop" else -1 if gap is None and not refuse else gap
    places |= dict.fromkeys(entry.merged, other)
    places |= {text: places.get(level, other) for text, level in entry.spellings}
    places |= dict.fromkeys(encoding.na, gap)
    if not set(places) <= {"true", "false"}:  # databases compare no truth value with a text
        places.setdefault("", gap)
    return Lookup(entry.name, places, gap, other, (0.0,) * (len(levels) + 1))


def finite_numbers(texts: Sequence[str]) -> tuple[float, ...]:
    """The numbers among texts."""
    numbers = []
    for text in texts:
        with suppress(ValueError):
            numbers.append(float(text))
    return tuple(number for number in numbers if np.isfinite(number))


def terms_of(entry: Input, column: Column, drop: bool) -> list[Expression]:
    """The columns of numbers that are made of one column of numbers or dates."""
    is_missing, terms = ("missing", column), list[Expression]()
    mean = None if drop else entry.mean
    for part in entry.parts or ("days",):
        what, _, which = part.partition("=")
        if what == "days":
            terms.append(column if mean is None else ("case", is_missing, mean, column))
            continue
        wanted = float(which) if what == "month" else float(WEEKDAYS.index(which))
        hit, gap = ("==", (what, column), wanted), None if mean is None else 0.0
        terms.append(("case", is_missing, gap, hit, 1.0, 0.0))
    return [*terms, ("case", is_missing, 1.0, 0.0)] if entry.gaps else terms


def product_of(parts: Any, terms: Sequence[Sequence[Expression]]) -> Expression:
    """One term of a formula."""
    factors: list[Expression] = []
    for j, k, factor in parts:
        term = terms[j][k]
        if factor.function:
            inside = (">" if factor.function == "log" else ">=", term, 0.0)
            term = ("case", inside, (factor.function, term), None)
        factors += [term] * max(factor.power, 1)
    return ("*", *factors)


def weighted_sum(terms: Sequence[Expression], weights: list[float], bias: float) -> Expression:
    """w'x + b, with one lookup for all levels of a text."""
    parts: list[Expression] = []
    lookups: dict[str, Lookup] = {}
    for term, w in zip(terms, weights, strict=True):
        if isinstance(term, Lookup):
            before = lookups.get(term.name, replace(term, numbers=(0.0,) * len(term.numbers)))
            pairs = zip(before.numbers, term.numbers, strict=True)
            lookups[term.name] = replace(term, numbers=tuple(a + w * b for a, b in pairs))
        else:
            parts.append(("*", w, term))
    return ("+", *parts, *lookups.values(), bias)
