"""Terms of a formula: `log(size) + rooms:garden + age^2`, a small part of R's language.

    a + b        both columns                a:b          their product
    a*b          a + b + a:b                 x^2          a power, 2 to 9
    log(x)       the natural logarithm       sqrt(x)      the square root
    poly(x, 3)   x + x^2 + x^3               .            all columns
    - a          without that term           `a b`        a name with other letters

A term is kept as text in one canonical spelling, such as "log(size)" or "rooms:garden", so that it
is plain data in an encoding. It is a product of factors; a factor of text stands for all its
indicators. Python's own parser reads the text (`:` as @, `^` as **); nothing is ever run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from adaline.errors import DataError

_TOKEN = re.compile(r"\s*(?:`([^`]*)`|([^\W\d][\w.]*)|(\d{1,2}(?![\w.]))|([-+:*^(),.~]))")
_PLAIN = re.compile(r"[^\W\d][\w.]*")
FUNCTIONS = ("log", "sqrt")
_HIGHEST = 9  # power
_MOST = 500  # terms


@dataclass(frozen=True)
class Factor:
    """A column, its logarithm or square root, or a power of it."""

    column: str
    function: str = ""
    power: int = 1

    def __str__(self) -> str:
        name = self.column if _PLAIN.fullmatch(self.column) else f"`{self.column}`"
        if self.function:
            return f"{self.function}({name})"
        return name if self.power == 1 else f"{name}^{self.power}"

    @property
    def is_plain(self) -> bool:
        """Whether it is the column itself."""
        return not self.function and self.power == 1


Term = tuple[Factor, ...]


@dataclass(frozen=True)
class Formula:
    """What a formula says: the target, and terms with the sign before them; None is all columns."""

    target: str | None
    items: tuple[tuple[bool, tuple[Term, ...] | None], ...]

    @property
    def columns(self) -> list[str]:
        """The columns that are named in terms that are added."""
        named = (f.column for plus, terms in self.items if plus for t in terms or () for f in t)
        return list(dict.fromkeys(named))

    @property
    def takes_all(self) -> bool:
        """Whether there is a "."."""
        return any(terms is None for _, terms in self.items)

    def terms(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The terms in canonical spelling; `columns` are what "." stands for."""
        found: dict[str, None] = {}
        for plus, terms in self.items:
            whole = tuple((Factor(c),) for c in columns) if terms is None else terms
            for term in map(spelled, whole):
                if plus:
                    found[term] = None
                elif term not in found:
                    raise DataError(f"formula: - {term} takes away a term that is not there.")
                else:
                    del found[term]
        if not 0 < len(found) <= _MOST:
            raise DataError(f"formula: it has {len(found)} terms; expected 1 to {_MOST}.")
        return tuple(found)


def spelled(term: Term) -> str:
    """The one spelling of a term, its factors in their order."""
    return ":".join(map(str, term))


@lru_cache(maxsize=64)
def parsed(text: str) -> Formula:
    """A formula, or DataError with a sentence.

    >>> parsed("rent ~ log(size) + rooms*garden").terms([])
    ('log(size)', 'rooms', 'garden', 'rooms:garden')
    >>> parsed(". + poly(age, 2) - `shoe size`").terms(["age", "shoe size"])
    ('age', 'age^2')
    """
    words, names = _words(text)
    target = None
    if "~" in words:
        if len(words) > 1 and words[1] == "~" and words[0][0] == "_":
            target = names[words.pop(0)]
        words = words[1:] if words[0] == "~" else ["~"]
    try:
        node = ast.parse(" ".join(words), mode="eval").body
        return Formula(target, tuple(_items(node, names)))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        raise _wrong(text) from None


@lru_cache(maxsize=1024)
def term_of(text: str) -> Term:
    """A term from its canonical spelling; DataError for anything else."""
    found = parsed(text)
    one = found.target is None and len(found.items) == 1 and found.items[0][0]
    terms = found.items[0][1] if one else None
    if terms is None or len(terms) != 1 or spelled(terms[0]) != text:
        raise DataError(f"{text[:60]!r} is no term of a formula.")
    return terms[0]


def _words(text: str) -> tuple[list[str], dict[str, str]]:
    """The text in Python's words; columns are _0, _1, ..., and which those are."""
    words: list[str] = []
    names: dict[str, str] = {}
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong(text, at)
        quoted, name, number, sign = found.groups()
        at = found.end()
        if name is not None and text[at:].lstrip().startswith("("):
            if name not in (*FUNCTIONS, "poly"):
                raise DataError(
                    f"formula: {name}(...) is none of log, sqrt and poly, which are all it knows."
                )
            words.append(name)
        elif quoted is not None or name is not None:
            words.append(f"_{len(names)}")
            names[words[-1]] = name if quoted is None else quoted
        elif sign == "(" and (not words or words[-1] not in (*FUNCTIONS, "poly")):
            raise _wrong(text, found.start(4))  # sums have no brackets
        else:
            words.append({":": "@", "^": "**", ".": "ALL"}.get(sign, number or sign))
    return words, names


def _items(node: ast.expr, names: dict[str, str]) -> list[tuple[bool, tuple[Term, ...] | None]]:
    """The terms of a sum, and whether they are added; ValueError for anything else."""
    items: list[tuple[bool, tuple[Term, ...] | None]] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        items.append((isinstance(node.op, ast.Add), _terms(node.right, names)))
        node = node.left
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    first = node.operand if isinstance(node, ast.UnaryOp) and minus else node
    return [(not minus, _terms(first, names)), *reversed(items)]


def _terms(node: ast.expr, names: dict[str, str]) -> tuple[Term, ...] | None:
    """Terms of a product; None for all columns."""
    return None if isinstance(node, ast.Name) and node.id == "ALL" else _product(node, names)


def _product(node: ast.expr, names: dict[str, str]) -> tuple[Term, ...]:
    match node:
        case ast.BinOp(left, ast.Mult() | ast.MatMult() as sign, right):
            a, b = _product(left, names), _product(right, names)
            both = tuple(x + y for x, y in product(a, b))
            return tuple(dict.fromkeys(a + b + both)) if isinstance(sign, ast.Mult) else both
        case ast.BinOp(ast.Name(name), ast.Pow(), ast.Constant(int(k))):
            return ((Factor(names[name], power=_power(k)),),)
        case ast.Call(ast.Name("poly"), [ast.Name(name), ast.Constant(int(k))], []):
            return tuple((Factor(names[name], power=j + 1),) for j in range(_power(k)))
        case ast.Call(ast.Name("log" | "sqrt" as function), [ast.Name(name)], []):
            return ((Factor(names[name], function),),)
        case ast.Name(name) if name in names:
            return ((Factor(names[name]),),)
    raise ValueError("no product of columns")


def _power(k: int) -> int:
    if not 1 <= k <= _HIGHEST:
        raise ValueError("no power")
    return k


def _wrong(text: str, at: int = 0) -> DataError:
    near = f" at {text[at : at + 20]!r}" if at else ""
    return DataError(
        f"formula {text[:60]!r}:{near} expected +, -, :, *, ^, log, sqrt, poly (and a power from 1 "
        f"to {_HIGHEST}) or a column. A name with other letters stands between backticks."
    )
