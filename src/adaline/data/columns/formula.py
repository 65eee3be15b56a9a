"""Formulas: `log(size) + rooms:garden + age^2`, a small part of R's language.

    a + b        both columns                a:b          their product
    a*b          a + b + a:b                 x^2          a power, 2 to 9
    log(x)       the natural logarithm       sqrt(x)      the square root
    poly(x, 3)   x + x^2 + x^3               .            all columns
    - a          without that term           `a b`        a name with other letters

An `Encoding` keeps its terms as text in one canonical spelling, such as "log(size)", so that they
are plain data. A term is a product of factors; a factor of text stands for all its indicators.
Python's own parser reads the text (`:` as @, `^` as **, names as _0, _1, ...); nothing is executed.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adaline.data.columns.inputs import Input
from adaline.data.reading.source import Block
from adaline.errors import DataError
from adaline.results import Array

POWERS = range(1, 10)  # x^10 overflows for most columns
MOST_TERMS = 500  # a product of sums grows quickly
_TOKEN = re.compile(r"\s*(?:`([^`]*)`|([^\W\d][\w.]*)|(\d{1,2}(?![\w.]))|([-+:*^(),.~]))")
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
_FUNCTIONS = ("log", "sqrt", "poly")


@dataclass(frozen=True)
class Factor:
    """A column, its logarithm or square root, or a power of it."""

    column: str
    function: str = ""
    power: int = 1

    def __str__(self) -> str:
        name = self.column if _PLAIN_NAME.fullmatch(self.column) else f"`{self.column}`"
        if self.function:
            return f"{self.function}({name})"
        return name if self.power == 1 else f"{name}^{self.power}"

    def of(self, values: Array) -> Array:
        """log x, sqrt x or x^power."""
        if self.function:
            return np.asarray(np.log(values) if self.function == "log" else np.sqrt(values))
        return np.asarray(np.prod([values] * self.power, axis=0))


Term = tuple[Factor, ...]
Part = tuple[int, int, Factor]  # place of an input, place among its columns, what is made of it
Made = tuple[str, str, tuple[Part, ...]]  # name of a column of numbers, its term, its factors


@dataclass(frozen=True)
class Formula:
    """The target, and the terms with the sign before them; None stands for all columns."""

    target: str | None
    signed: tuple[tuple[bool, tuple[Term, ...] | None], ...]

    @property
    def columns(self) -> list[str]:
        """The columns that are named in terms that are added."""
        named = (f.column for plus, terms in self.signed if plus for t in terms or () for f in t)
        return list(dict.fromkeys(named))

    @property
    def takes_all(self) -> bool:
        """Whether there is a "."."""
        return any(terms is None for _, terms in self.signed)

    def terms(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The terms in canonical spelling; `columns` are what "." stands for."""
        kept: dict[str, None] = {}
        for plus, terms in self.signed:
            for term in [(Factor(c),) for c in columns] if terms is None else terms:
                text = spell_term(term)
                if plus:
                    kept[text] = None
                elif text in kept:
                    del kept[text]
                else:
                    raise DataError(f"formula: - {text} removes a term that is not there.")
        if not 0 < len(kept) <= MOST_TERMS:
            raise DataError(f"formula: it has {len(kept)} terms; expected 1 to {MOST_TERMS}.")
        return tuple(kept)


def spell_term(term: Term) -> str:
    """The one spelling of a term, its factors in their order."""
    return ":".join(map(str, term))


@lru_cache(maxsize=1024)
def parse_formula(text: str) -> Formula:
    """A formula; raises DataError if it is none.

    >>> parse_formula("rent ~ log(size) + rooms*garden").terms([])
    ('log(size)', 'rooms', 'garden', 'rooms:garden')
    >>> parse_formula(". + poly(age, 2) - `shoe size`").terms(["age", "shoe size"])
    ('age', 'age^2')
    """
    words: list[str] = []
    names: dict[str, str] = {}
    end = len(text.rstrip())
    at = 0
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _syntax_error(text, at)
        quoted, name, number, sign = match.groups()
        called = text[match.end() :].lstrip().startswith("(")
        if name in _FUNCTIONS and called:
            words.append(name)
        elif sign == "(" and (not words or words[-1] not in _FUNCTIONS):
            raise _syntax_error(text, at)  # sums have no brackets, and there are no other functions
        elif quoted is not None or name is not None:
            words.append(f"_{len(names)}")
            names[words[-1]] = name if quoted is None else quoted
        else:
            words.append({":": "@", "^": "**", ".": "ALL"}.get(sign, number or sign))
        at = match.end()
    target = names[words.pop(0)] if words[1:2] == ["~"] and words[0] in names else None
    try:
        tree = ast.parse(" ".join(words[words[:1] == ["~"] :]), mode="eval").body
        return Formula(target, tuple(_signed_terms(tree, names)))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        raise _syntax_error(text, 0) from None


def parse_term(text: str) -> Term:
    """A term from its canonical spelling; raises DataError for anything else."""
    match parse_formula(text):
        case Formula(None, ((True, (term,)),)) if spell_term(term) == text:
            return term
    raise DataError(f"{text[:60]!r} is no term of a formula.")


def _signed_terms(node: ast.expr, names: dict[str, str]) -> list[Any]:
    """The terms of a sum and whether they are added; ValueError for anything else."""
    plus, head = True, []
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            plus, node, head = isinstance(sign, ast.Add), right, _signed_terms(left, names)
        case ast.UnaryOp(ast.USub(), first):
            plus, node = False, first
    every = isinstance(node, ast.Name) and node.id == "ALL"
    return [*head, (plus, None if every else _product(node, names))]


def _product(node: ast.expr, names: dict[str, str]) -> tuple[Term, ...]:
    match node:
        case ast.BinOp(left, ast.Mult() | ast.MatMult() as sign, right):
            a, b = _product(left, names), _product(right, names)
            both = tuple(x + y for x, y in itertools.product(a, b))
            return tuple(dict.fromkeys(a + b + both)) if isinstance(sign, ast.Mult) else both
        case ast.BinOp(ast.Name(name), ast.Pow(), ast.Constant(int(k))) if k in POWERS:
            return ((Factor(names[name], power=k),),)
        case ast.Call(ast.Name("poly"), [ast.Name(name), ast.Constant(int(k))], []) if k in POWERS:
            return tuple((Factor(names[name], power=j),) for j in range(1, k + 1))
        case ast.Call(ast.Name("log" | "sqrt" as function), [ast.Name(name)], []):
            return ((Factor(names[name], function),),)
        case ast.Name(name) if name in names:
            return ((Factor(names[name]),),)
    raise ValueError("no product of columns")


def _syntax_error(text: str, at: int) -> DataError:
    near = f" at {text[at : at + 20]!r}" if at else ""
    return DataError(
        f"formula {text[:60]!r}:{near} expected +, -, :, *, ^, log, sqrt, poly (and a power from 1 "
        "to 9) or a column. A name with other letters stands between backticks."
    )


@lru_cache(maxsize=32)
def made_columns(inputs: tuple[Input, ...], terms: tuple[str, ...]) -> tuple[Made, ...]:
    """Every column of numbers that terms make; indicators of gaps come last if no term has them."""
    place = {entry.name: j for j, entry in enumerate(inputs)}
    made: list[Made] = []
    whole: set[int] = set()  # inputs that are a term of their own, with all their columns
    for text in terms:
        term = parse_term(text)
        choices = []
        for factor in term:
            if factor.column not in place:
                raise DataError(f"formula: there is no column {factor.column!r} for {text!r}.")
            j = place[factor.column]
            plain = factor == Factor(factor.column)
            if inputs[j].levels is not None and not plain:
                raise DataError(f"formula: {factor} needs numbers, and {factor.column!r} is text.")
            alone = plain and len(term) == 1
            whole |= {j} if alone else set()
            every = alone or inputs[j].levels is not None
            names = inputs[j].names if every else [str(factor)]
            choices.append([(name, (j, k, factor)) for k, name in enumerate(names)])
        for chosen in itertools.product(*choices):
            parts = tuple(part for _, part in chosen)
            made.append((":".join(name for name, _ in chosen), text, parts))
    for j, entry in enumerate(inputs):
        if entry.gaps and j not in whole:
            name = entry.names[-1]
            made.append((name, name, ((j, len(entry.names) - 1, Factor(entry.name)),)))
    return tuple(made)


def expand_terms(
    inputs: tuple[Input, ...], terms: tuple[str, ...], columns: list[Array], block: Block, keep: Any
) -> list[Array]:
    """The columns that terms make of `columns`, those of the inputs one after the other."""
    starts = np.cumsum([0, *(len(entry.names) for entry in inputs)])

    def place_of_first(bad: Any) -> str:
        i = int(np.argmax(bad))
        return block.place(i if keep is None else int(np.flatnonzero(keep)[i]))

    def factor_values(j: int, k: int, factor: Factor) -> Array:
        values = np.asarray(columns[starts[j] + k], dtype=np.float64)
        bad = ~(values > 0) if factor.function == "log" else ~(values >= 0)
        if factor.function and bad.any():
            limit = "above 0" if factor.function == "log" else "of 0 or more"
            raise DataError(
                f"formula: {factor} needs numbers {limit}, and the column {factor.column!r} is "
                f"{values[np.argmax(bad)]:g} at {place_of_first(bad)}; leave that row out, or "
                "choose another term."
            )
        return factor.of(values)

    expanded = []
    for _, _, parts in made_columns(inputs, terms):
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(np.prod([factor_values(*part) for part in parts], axis=0))
        if not np.isfinite(values).all():
            term = spell_term(tuple(factor for _, _, factor in parts))
            at = place_of_first(~np.isfinite(values))
            raise DataError(f"formula: {term} is too large for a number at {at}.")
        expanded.append(values)
    return expanded
