"""Terms of a formula: `log(size) + rooms:garden + age^2`, a small part of R's language.

    a + b        both columns                a:b          their product
    a*b          a + b + a:b                 x^2          a power, 2 to 9
    log(x)       the natural logarithm       sqrt(x)      the square root
    poly(x, 3)   x + x^2 + x^3               .            all columns
    - a          without that term           `a b`        a name with other letters

A term is kept as text in one canonical spelling, such as "log(size)" or "rooms:garden", so that it
is plain data in an encoding. It is a product of factors; a factor of text stands for all its
indicators.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from adaline.errors import DataError

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]*`)|(?P<number>\d+(?![\w.]))|(?P<name>[^\W\d][\w.]*)|(?P<sign>[-+:*^(),.~]))"
)
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
            for term in whole:
                if plus:
                    found[spelled(term)] = None
                elif spelled(term) not in found:
                    raise DataError(
                        f"formula: - {spelled(term)} takes away a term that is not there."
                    )
                else:
                    del found[spelled(term)]
        if not found:
            raise DataError("formula: no terms are left; name a column after ~.")
        if len(found) > _MOST:
            raise DataError(f"formula: {len(found)} terms are more than {_MOST}; name fewer.")
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
    return _Parser(text).formula()


@lru_cache(maxsize=1024)
def term_of(text: str) -> Term:
    """A term from its canonical spelling; DataError for anything else."""
    found = parsed(text)
    one = found.target is None and len(found.items) == 1 and found.items[0][0]
    terms = found.items[0][1] if one else None
    if terms is None or len(terms) != 1 or spelled(terms[0]) != text:
        raise DataError(f"{text[:60]!r} is no term of a formula.")
    return terms[0]


class _Parser:
    """Tokens one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong(at)
            kind = str(found.lastgroup)
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            at = found.end()
        self.at = 0

    def formula(self) -> Formula:
        target = None
        if any(token == "~" for _, token, _ in self.tokens):
            if len(self.tokens) > 1 and self.tokens[1][1] == "~" and self._is_name(0):
                target = self._name()
            self._take("~")
        items = []
        plus = not self._takes("-")
        while True:
            items.append((plus, self._item()))
            if self.at == len(self.tokens):
                return Formula(target, tuple(items))
            plus = self._takes("+")
            if not plus:
                self._take("-")

    def _item(self) -> tuple[Term, ...] | None:
        """Terms of a product of factors; None for "."."""
        if self._takes("."):
            return None
        terms = self._factors()
        while self._peek() in (":", "*"):
            crossed = self._peek() == "*"
            self.at += 1
            other = self._factors()
            products = tuple(a + b for a, b in itertools.product(terms, other))
            terms = tuple(dict.fromkeys(terms + other + products)) if crossed else products
        return terms

    def _factors(self) -> tuple[Term, ...]:
        """A factor as a term; poly(x, 3) is three."""
        name = self._name()
        quoted = self.tokens[self.at - 1][0] == "quoted"
        if self._peek() == "(" and not quoted:
            self.at += 1
            column = self._name()
            if name == "poly":
                self._take(",")
                powers = range(1, self._number() + 1)
                self._take(")")
                return tuple((Factor(column, power=k),) for k in powers)
            if name not in FUNCTIONS:
                raise DataError(
                    f"formula: {name}(...) is none of log, sqrt and poly, which are all it knows."
                )
            self._take(")")
            return ((Factor(column, name),),)
        if self._takes("^"):
            return ((Factor(name, power=self._number()),),)
        return ((Factor(name),),)

    def _number(self) -> int:
        kind, token, at = self._next()
        if kind != "number" or not 1 <= int(token[:3]) <= _HIGHEST or len(token) > 2:
            raise self._wrong(at, f"a power from 1 to {_HIGHEST}")
        return int(token)

    def _name(self) -> str:
        kind, token, at = self._next()
        if kind not in ("name", "quoted"):
            raise self._wrong(at, "the name of a column")
        return token[1:-1] if kind == "quoted" else token

    def _is_name(self, k: int) -> bool:
        return self.tokens[k][0] in ("name", "quoted")

    def _peek(self) -> str | None:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def _takes(self, token: str) -> bool:
        found = self._peek() == token and self.tokens[self.at][0] == "sign"
        self.at += found
        return found

    def _take(self, token: str) -> None:
        if not self._takes(token):
            at = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
            raise self._wrong(at, f"{token!r}")

    def _next(self) -> tuple[str, str, int]:
        if self.at == len(self.tokens):
            raise self._wrong(len(self.text), "the name of a column")
        self.at += 1
        return self.tokens[self.at - 1]

    def _wrong(
        self, at: int, wanted: str = "+, -, :, *, ^, log, sqrt, poly or a column"
    ) -> DataError:
        here = self.text[at : at + 20]
        place = f"at {here!r}" if here.strip() else "at its end"
        return DataError(
            f"formula {self.text[:60]!r}: {place}, expected {wanted}. A name with other letters "
            "stands between backticks."
        )
