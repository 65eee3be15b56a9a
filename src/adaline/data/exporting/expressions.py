"""A fitted linear model as a small tree of expressions, which each language prints in its own way.

A program is a list of steps `name = expression`. A value may be missing: NULL in SQL, NaN in C and
Python. Arithmetic with a missing value is missing and comparisons with one are false, so that a row
with a missing or unknown value has no score, and no answer, in any language. `export` builds a
program, and `sql`, `c` and `python` print it; tests/data/test_export_sources.py runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adaline.data.columns.encoding import Encoding
from adaline.data.columns.inputs import MISSING_LEVEL, OTHER_LEVEL, Input
from adaline.errors import ModelFileError

FORMS = ("values", "exponential", "sides", "posterior", "gaussians")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LEAST_POWER, LARGEST_POWER = -700.0, 709.0  # some databases report under- and overflow beyond


@dataclass(frozen=True)
class Label:
    """The class at a place among the labels; None is no answer."""

    place: int | None


@dataclass(frozen=True)
class Column:
    """A column of numbers. Values equal to a mark are missing, and so are the texts in `gaps`.

    Dates are days since 1970-01-01, and `part` is "month" or "weekday" (Monday is 0) of one. Texts
    such as "12.5" are clear only where the model has learned no notation ("1.234" may be 1234).
    """

    name: str
    marks: tuple[float, ...] = ()
    gaps: tuple[str, ...] = ()
    is_date: bool = False
    takes_texts: bool = True
    part: str = ""


@dataclass(frozen=True)
class Lookup:
    """The number of a text: `missing` for a missing one, and `other` for an unknown one."""

    name: str
    values: dict[str, float | None]
    missing: float | None
    other: float | None


@dataclass(frozen=True)
class Node:
    """An operation on parts: a sign, "and", "missing", exp, log, sqrt, or "case".

    The parts of a case are condition, value, condition, value, ..., and the value otherwise.
    """

    operation: str
    parts: tuple[Expression, ...]


# Also a number, None (the missing value), and the name of an earlier step.
Expression: TypeAlias = float | str | Label | Column | Lookup | Node | None


@dataclass(frozen=True)
class Program:
    """All that the answers follow from.

    Attributes
    ----------
    title : str
        The model's name and version.
    columns : tuple of Column or Lookup
        What a row holds.
    steps : dict of str to Expression
    scores, prediction, probabilities : tuple of str
        The steps w'x + b; predictions, several for several targets; and one for each label.
    labels : list
        The classes; empty where there are none.
    """

    title: str
    columns: tuple[Column | Lookup, ...]
    steps: dict[str, Expression]
    scores: tuple[str, ...]
    prediction: tuple[str, ...] = ("prediction",)
    probabilities: tuple[str, ...] = ()
    labels: Sequence[Any] = ()


def build_program(
    model: Any, title: str, names: list[str], encoding: Encoding | None, exposure: str | None
) -> Program:
    """The program of a linear model; ModelFileError says why there is none."""
    weights = model._exported_weights()
    if model._exports == "gaussians" and not model._is_written():
        weights = model._linear()  # in float64, whatever type the rows had
    if weights is None:
        raise ModelFileError(
            f"{type(model).__name__} is not exported here: it is no sum of weighted columns. "
            "`save` keeps it whole."
        )
    if getattr(model, "reject_cost", None) is not None:
        raise ModelFileError("A model with reject_cost is not exported; labels alone are.")
    W, b = (np.asarray(part, dtype=np.float64) for part in weights)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ModelFileError("A weight is not finite, which no other language can write.")
    columns, terms = read_columns(names, encoding)
    scores = tuple(f"score_{k}" for k in range(len(b)))
    pairs = zip(scores, W.tolist(), b.tolist(), strict=True)
    steps: dict[str, Expression] = {s: weighted_sum(terms, w, bias) for s, w, bias in pairs}
    program = Program(title, columns, steps, scores)
    if not hasattr(model, "classes_"):
        if model._exports == "values":
            return replace(program, prediction=scores)
        low, high = Node("<", (scores[0], LEAST_POWER)), Node(">", (scores[0], LARGEST_POWER))
        rate = when(low, 0.0, high, Node("exp", (LARGEST_POWER,)), Node("exp", (scores[0],)))
        if exposure is not None:
            rate = Node("*", (rate, Column(exposure)))
            program = replace(program, columns=(*columns, Column(exposure)))
        steps["prediction"] = rate
        return program
    labels = model.classes_.tolist()
    if not all(type(label) in (str, int, float, bool) for label in labels):
        raise ModelFileError(f"Labels such as {labels[0]!r} are not exported.")
    program = replace(program, labels=labels)
    costs = None
    if model._exports != "sides":
        costs = getattr(model, "costs", None)
        program = replace(program, probabilities=tuple(f"p_{k}" for k in range(len(labels))))
        add_probabilities(program)
    if costs is not None:
        names = [f"cost_{k}" for k in range(len(labels))]
        for name, row in zip(names, np.asarray(costs, dtype=np.float64).tolist(), strict=True):
            shares = zip(row, program.probabilities, strict=True)
            steps[name] = Node("+", tuple(Node("*", (c, p)) for c, p in shares))
        steps["prediction"] = best_of(names, "<=", [Label(k) for k in range(len(labels))])
    elif len(scores) == 1:
        sides = Node(">", (scores[0], 0.0)), Label(1), Node("<=", (scores[0], 0.0)), Label(0)
        steps["prediction"] = when(*sides, Label(None))
    else:
        steps["prediction"] = best_of(scores, ">=", [Label(k) for k in range(len(labels))])
    return program


def when(*parts: Expression) -> Node:
    """A case: condition, value, ..., otherwise."""
    return Node("case", parts)


def best_of(values: Sequence[str], sign: str, answers: Sequence[Expression]) -> Node:
    """The answer whose value compares with all others: ">=" for the largest, "<=" for the least."""
    parts: list[Expression] = []
    for value, answer in zip(values, answers, strict=True):
        tests = tuple(Node(sign, (value, other)) for other in values if other != value)
        parts += [Node("and", tests), answer]
    return when(*parts, Label(None) if isinstance(answers[0], Label) else None)


def add_probabilities(program: Program) -> None:
    """Steps to a logistic function of one score, else to a softmax; no exp overflows."""
    steps, shares = program.steps, program.probabilities

    def power(v: Expression) -> Node:
        return when(Node("<", (v, LEAST_POWER)), 0.0, Node("exp", (v,)))

    if len(program.scores) == 1:
        s, is_positive = program.scores[0], Node(">=", (program.scores[0], 0.0))
        steps["minus"] = when(is_positive, Node("-", (0.0, s)), s)
        steps["e"] = power("minus")
        small, large = (Node("/", (top, Node("+", (1.0, "e")))) for top in ("e", 1.0))
        steps[shares[0]] = when(is_positive, small, large)
        steps[shares[1]] = when(is_positive, large, small)
        return
    steps["top"] = best_of(program.scores, ">=", program.scores)
    powers = [f"e_{k}" for k in range(len(shares))]
    for name, score in zip(powers, program.scores, strict=True):
        steps[name] = power(Node("-", (score, "top")))
    steps["total"] = Node("+", tuple(powers))
    steps |= {p: Node("/", (e, "total")) for p, e in zip(shares, powers, strict=True)}


@dataclass(frozen=True)
class Level:
    """1 where the text of a column has this place among its levels."""

    column: Lookup
    place: int


def read_columns(
    names: list[str], encoding: Encoding | None
) -> tuple[tuple[Column | Lookup, ...], list[Any]]:
    """What a row holds, and an expression or `Level` for each weight of the model."""
    if encoding is None:
        columns = tuple(map(Column, names))
        return columns, list(columns)
    given = tuple(read_column(entry, encoding) for entry in encoding.inputs)
    pairs = zip(encoding.inputs, given, strict=True)
    own = [terms_of(entry, column, encoding.missing == "drop") for entry, column in pairs]
    if encoding.terms:
        return given, [product_of(parts, own) for parts in encoding.products()]
    return given, [term for terms in own for term in terms]


def read_column(entry: Input, encoding: Encoding) -> Column | Lookup:
    """A column of numbers, or a text whose values are places among the levels; -1 is none."""
    if entry.levels is None:
        gaps = (*encoding.na, *entry.marks)
        marks = tuple(number for number in map(finite_number, gaps) if number is not None)
        return Column(entry.name, marks, gaps, entry.is_date, entry.reading in ("", "date ymd"))
    places: dict[str, float | None] = {level: k for k, level in enumerate(entry.levels)}
    refuse = encoding.unknown == "refuse"
    other = places.get(OTHER_LEVEL, -1) if entry.merged else None if refuse else -1
    gap = places.get(MISSING_LEVEL, places.get(OTHER_LEVEL) if entry.merged else None)
    gap = None if encoding.missing == "drop" else -1 if gap is None and not refuse else gap
    places |= dict.fromkeys(entry.merged, other)
    places |= {text: places.get(level, other) for text, level in entry.spellings}
    places |= dict.fromkeys(encoding.na, gap)
    if not set(places) <= {"true", "false"}:  # databases compare no truth value with a text
        places.setdefault("", gap)
    return Lookup(entry.name, places, gap, other)


def finite_number(text: str) -> float | None:
    """The number that a text is."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def terms_of(entry: Input, column: Column | Lookup, drop: bool) -> list[Any]:
    """The columns of numbers that are made of one column."""
    if isinstance(column, Lookup):
        return [Level(column, k) for k in range(1, len(entry.levels or ()))]
    is_missing, terms = Node("missing", (column,)), list[Any]()
    for part in entry.parts or ("days",):
        what, _, which = part.partition("=")
        if what == "days":
            mean = None if drop else entry.mean
            terms.append(column if mean is None else when(is_missing, mean, column))
            continue
        wanted = float(which) if what == "month" else float(WEEKDAYS.index(which))
        hit = Node("==", (replace(column, part=what), wanted))
        absent = None if drop or entry.mean is None else 0.0
        terms.append(when(is_missing, absent, hit, 1.0, 0.0))
    return [*terms, when(is_missing, 1.0, 0.0)] if entry.gaps else terms


def number_levels(column: Lookup, weights: dict[int, float]) -> Lookup:
    """The number that each text is worth, given weights of places."""

    def worth(place: float | None) -> float | None:
        return None if place is None else weights.get(int(place), 0.0)

    values = {text: worth(place) for text, place in column.values.items()}
    return Lookup(column.name, values, worth(column.missing), worth(column.other))


def product_of(parts: Any, own: Sequence[Sequence[Any]]) -> Expression:
    """One term of a formula."""
    factors: list[Expression] = []
    for j, k, factor in parts:
        term = own[j][k]
        if isinstance(term, Level):
            term = number_levels(term.column, {term.place: 1.0})
        if factor.function:
            inside = Node(">" if factor.function == "log" else ">=", (term, 0.0))
            term = when(inside, Node(factor.function, (term,)), None)
        factors += [term] * max(factor.power, 1)
    return Node("*", tuple(factors))


def weighted_sum(terms: Sequence[Any], weights: list[float], bias: float) -> Node:
    """w'x + b, with one lookup for all levels of a text."""
    parts: list[Expression] = []
    levels: dict[str, tuple[Lookup, dict[int, float]]] = {}
    for term, w in zip(terms, weights, strict=True):
        if isinstance(term, Level):
            levels.setdefault(term.column.name, (term.column, {}))[1][term.place] = w
        else:
            parts.append(Node("*", (w, term)))
    parts += [number_levels(column, worth) for column, worth in levels.values()]
    return Node("+", (*parts, bias))


class Printer:
    """Writes expressions in one language, which a subclass describes."""

    missing, variable, equal, both = "NAN", "{}", "==", " && "
    calls: ClassVar[dict[str, str]] = {f: f + "({})" for f in ("exp", "log", "sqrt")}
    case = "(", "{0} ? {1} : ", "{})"

    def write(self, expression: Expression) -> str:
        """The text of an expression, in brackets where it needs them."""
        match expression:
            case None:
                return self.missing
            case float() | int():
                digits = self.write_number(float(expression))
                return f"({digits})" if digits.startswith("-") else digits
            case str():
                return self.variable.format(expression)
            case Node("case", parts):
                texts = [self.write(part) for part in parts]
                head, branch, otherwise = self.case
                pairs = zip(texts[:-1:2], texts[1::2], strict=True)
                return (
                    head + "".join(branch.format(*p) for p in pairs) + otherwise.format(texts[-1])
                )
            case Node(operation, parts) if operation in self.calls:
                return self.calls[operation].format(self.write(parts[0]))
            case Node(operation, parts):
                signs = {"==": f" {self.equal} ", "and": self.both}
                return in_pairs(
                    [self.write(p) for p in parts], signs.get(operation, f" {operation} ")
                )
        return self.write_leaf(expression)

    def write_number(self, value: float) -> str:
        """A number with all its digits."""
        return repr(value)

    def write_leaf(self, leaf: Any) -> str:
        """A label, column or lookup."""
        raise NotImplementedError


def in_pairs(parts: Sequence[str], sign: str) -> str:
    """An operation in brackets, in pairs of pairs: languages limit how deep an expression is."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) <= 8:  # a line that people can read
        return f"({sign.join(parts)})"
    half = len(parts) // 2
    return f"({in_pairs(parts[:half], sign)}\n  {sign}{in_pairs(parts[half:], sign)})"
