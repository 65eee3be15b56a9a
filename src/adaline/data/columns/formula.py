"""Formulas: `log(size) + rooms:garden + age^2`, a small part of R's language.

    a + b        both columns                a:b          their product
    a*b          a + b + a:b                 x^2          a power, 2 to 9
    log(x)       the natural logarithm       sqrt(x)      the square root
    poly(x, 3)   x + x^2 + x^3               .            all columns
    - a          without that term           `a b`        a name with other letters

An `Encoding` keeps its terms as text in one canonical spelling, such as "log(size)", so that they
are plain data. A term is a product of factors; a factor of text stands for all its indicators.
Python's own parser reads the text (`:` as @, `^` as **, names as _0_, _1_, ...); nothing is run.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from adaline.data.columns.inputs import Input
from adaline.data.reading.source import Block
from adaline.errors import DataError
from adaline.results import Array

POWERS = range(1, 10)  # x^10 overflows for most columns
MOST_TERMS = 500  # a product of sums grows quickly
TOKEN = re.compile(
    r"`(?P<quoted>[^`]*)`|(?P<function>log|sqrt|poly)(?=\s*\()|(?P<name>[^\W\d][\w.]*)"
    r"|\d{1,2}(?![\w.])|[-+*,()]|(?P<sign>[:^.])|\s+"
)
SIGNS = {":": "@", "^": "**", ".": "ALL"}
PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")


@dataclass(frozen=True)
class Factor:
    """A column, its logarithm or square root, or a power of it."""

    column: str
    function: str = ""
    power: int = 1

    def __str__(self) -> str:
        name = self.column if PLAIN_NAME.fullmatch(self.column) else f"`{self.column}`"
        if self.function:
            return f"{self.function}({name})"
        return name if self.power == 1 else f"{name}^{self.power}"

    def of(self, values: Array) -> Array:
        if self.function:
            return np.asarray(np.log(values) if self.function == "log" else np.sqrt(values))
        return np.asarray(np.prod([values] * self.power, axis=0))  # as exports multiply


Term = tuple[Factor, ...]
Part = tuple[int, int, Factor]  # place of an input, place among its columns, what is made of it
Made = tuple[str, str, tuple[Part, ...]]  # name of a column of numbers, its term, its factors


@dataclass(frozen=True)
class Formula:
    """The target before ~, the terms by their one spelling, and whether "." was among them."""

    target: str | None
    terms: dict[str, Term]
    takes_all: bool

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(f.column for term in self.terms.values() for f in term))


@lru_cache(maxsize=1024)
def parse_formula(text: str, columns: tuple[str, ...] | None = None) -> Formula:
    """A formula; raises DataError if it is none. "." stands for `columns`, unknown if None.

    >>> list(parse_formula("rent ~ log(size) + rooms*garden").terms)
    ['log(size)', 'rooms', 'garden', 'rooms:garden']
    >>> list(parse_formula(". + poly(age, 2) - `shoe size`", ("age", "shoe size")).terms)
    ['age', 'age^2']
    """
    names: dict[str, str] = {}

    def translate(match: re.Match[str]) -> str:
        word, name = f"_{len(names)}_", match["name"] or match["quoted"]
        if name is None:
            return SIGNS.get(match[0], match[0])
        names[word] = name
        return word

    left, _, right = text.rpartition("~")
    if TOKEN.sub("", left + right):
        raise syntax_error(text)
    target, code = TOKEN.sub(translate, left).strip(), TOKEN.sub(translate, right).strip()
    terms: dict[str, Term] = {}
    try:
        tree = ast.parse(code, mode="eval").body
        for plus, node in summands(tree):
            every = isinstance(node, ast.Name) and node.id == "ALL"
            for term in [(Factor(c),) for c in columns or ()] if every else factors(node, names):
                spelling = ":".join(map(str, term))
                if plus:
                    terms[spelling] = term
                elif terms.pop(spelling, None) is None and columns is not None:
                    raise DataError(f"formula: - {spelling} removes a term that is not there.")
        wanted = names[target] if target else None
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, DataError) else syntax_error(text) from None
    if len(terms) > MOST_TERMS or (columns is not None and not terms):
        raise DataError(f"formula: it has {len(terms)} terms; expected 1 to {MOST_TERMS}.")
    return Formula(wanted, terms, "ALL" in code)


def summands(node: ast.expr) -> list[tuple[bool, ast.expr]]:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            return [*summands(left), (isinstance(sign, ast.Add), right)]
        case ast.UnaryOp(ast.USub(), first):
            return [(False, first)]
    return [(True, node)]


def factors(node: ast.expr, names: dict[str, str]) -> tuple[Term, ...]:
    match node:
        case ast.BinOp(left, ast.Mult() | ast.MatMult() as sign, right):
            a, b = factors(left, names), factors(right, names)
            both = tuple(x + y for x, y in product(a, b))
            return tuple(dict.fromkeys(a + b + both)) if isinstance(sign, ast.Mult) else both
        case ast.BinOp(ast.Name(name), ast.Pow(), ast.Constant(int(k))) if k in POWERS:
            return ((Factor(names[name], power=k),),)
        case ast.Call(ast.Name("poly"), [ast.Name(name), ast.Constant(int(k))], []) if k in POWERS:
            return tuple((Factor(names[name], power=j),) for j in range(1, k + 1))
        case ast.Call(ast.Name("log" | "sqrt" as function), [ast.Name(name)], []):
            return ((Factor(names[name], function),),)
        case ast.Name(name):
            return ((Factor(names[name]),),)
    raise ValueError("no product of columns")


def syntax_error(text: str) -> DataError:
    return DataError(
        f"formula {text[:60]!r}: expected +, -, :, *, ^, log, sqrt, poly (and a power from 1 to 9) "
        "or a column. A name with other letters stands between backticks."
    )


@lru_cache(maxsize=32)
def made_columns(inputs: tuple[Input, ...], terms: tuple[str, ...]) -> tuple[Made, ...]:
    """Every column of numbers that terms make; indicators of gaps come last if no term has them."""
    place = {entry.name: j for j, entry in enumerate(inputs)}
    made: list[Made] = []
    whole: set[int] = set()  # inputs that are a term of their own, with all their columns
    for text in terms:
        parsed = parse_formula(text, ()).terms
        if list(parsed) != [text]:
            raise DataError(f"{text[:60]!r} is no term of a formula.")
        choices = []
        for factor in parsed[text]:
            if factor.column not in place:
                raise DataError(f"formula: there is no column {factor.column!r} for {text!r}.")
            j = place[factor.column]
            plain, is_text = factor == Factor(factor.column), inputs[j].levels is not None
            if is_text and not plain:
                raise DataError(f"formula: {factor} needs numbers, and {factor.column!r} is text.")
            alone = plain and len(parsed[text]) == 1
            whole |= {j} if alone else set()
            names = inputs[j].names if alone or is_text else [str(factor)]
            choices.append([(name, (j, k, factor)) for k, name in enumerate(names)])
        for chosen in product(*choices):
            parts = tuple(part for _, part in chosen)
            made.append((":".join(name for name, _ in chosen), text, parts))
    for j, entry in enumerate(inputs):
        if entry.gaps and j not in whole:
            name = entry.names[-1]
            made.append((name, name, ((j, len(entry.names) - 1, Factor(entry.name)),)))
    return tuple(made)


def expand_terms(
    inputs: tuple[Input, ...], terms: tuple[str, ...], columns: list[Array], block: Block
) -> list[Array]:
    """The columns that terms make of `columns`, those of the inputs one after the other."""
    starts = np.cumsum([0, *(len(entry.names) for entry in inputs)])
    expanded = []
    for name, _, parts in made_columns(inputs, terms):
        made = np.ones(())
        for j, k, factor in parts:
            x = np.asarray(columns[starts[j] + k], dtype=np.float64)
            bad = ~(x > 0) if factor.function == "log" else ~(x >= 0)
            if factor.function and bad.any():
                i = int(np.argmax(bad))
                limit = "above 0" if factor.function == "log" else "of 0 or more"
                raise DataError(
                    f"formula: {factor} needs numbers {limit}, and the column {factor.column!r} is "
                    f"{x[i]:g} at {block.place(i)}; leave that row out, or choose another term."
                )
            with np.errstate(over="ignore", invalid="ignore"):
                made = made * factor.of(x)
        if not np.isfinite(made).all():
            at = block.place(int(np.argmin(np.isfinite(made))))
            raise DataError(f"formula: {name} is too large for a number at {at}.")
        expanded.append(made)
    return expanded
