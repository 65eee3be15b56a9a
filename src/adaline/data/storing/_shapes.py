"""Whether the parts of a model fit together: types, shapes, finite numbers; see `_schema`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from adaline.data.storing._nodes import is_kernel_density, resolved
from adaline.data.storing._schema import RECORDS
from adaline.errors import ModelFileError
from adaline.procedures.sequential import State
from adaline.results import Kind

_REAL = ("float64", "float32")
_DTYPES = {
    **dict.fromkeys(("float", "float~", "float+", "bound"), ("float64",)),
    **dict.fromkeys(("real", "real~"), _REAL),
    **dict.fromkeys(("int", "int+", "power"), ("int64",)),
    "int32": ("int32",),
    "bool": ("bool",),
}
_POWERS = 2200  # of two, beyond the range of float64


class Misfit(Exception):
    """A value is not what a description says."""


class Shapes:
    """Checks values against descriptions; the letters of shapes keep the numbers they got."""

    def __init__(self) -> None:
        self.letters: dict[str, int] = {}

    def check(self, value: Any, description: str, where: str) -> None:
        """Raise ModelFileError with a sentence where the value is not as described."""
        try:
            self._any(value, description, {})
        except Misfit as misfit:
            known = ", ".join(f"{letter} = {n}" for letter, n in sorted(self.letters.items()))
            raise ModelFileError(
                f"{where} does not fit: {misfit}; expected {description}"
                + (f", where {known}." if known else ".")
            ) from None

    def _any(self, value: Any, description: str, renamed: dict[str, str]) -> None:
        before = dict(self.letters)
        options = description.split(" | ")
        for option in options:
            try:
                self._one(value, option.split(), renamed)
                return
            except Misfit as misfit:
                self.letters = dict(before)
                last = misfit
        raise last if len(options) == 1 else Misfit(_shown(value))

    def _one(self, value: Any, words: list[str], renamed: dict[str, str]) -> None:
        head, sides = words[0], words[1:]
        if head in _DTYPES:
            self._array(value, head, sides, renamed)
        elif head == "rows":
            dense = isinstance(value, np.ndarray)
            _demand(dense or type(value).__name__ in ("csr_array", "csr_matrix"), value)
            numbers = value if dense else value.data
            _demand(numbers.dtype.name in _REAL, value)
            _demand(bool(np.isfinite(numbers).all()), value)
            self._sides(value.shape, sides, renamed)
        elif head == "tuple":
            _demand(isinstance(value, tuple), value)
            for part in value:
                self._one(part, sides, renamed)
        elif head == "count":
            _demand(isinstance(value, int | np.integer) and type(value) is not bool, value)
            _demand(0 <= value < 2**62, value)
            for letter in sides:
                self._sides((int(value),), [letter[1:]], renamed)
        elif head in ("labels", "names"):
            self._words(value, head, sides, renamed)
        elif head in _SIMPLE:
            _demand(_SIMPLE[head](value), value)
        else:
            self._record(value, head, dict(pair.split(":") for pair in sides))

    def _array(self, value: Any, kind: str, sides: list[str], renamed: dict[str, str]) -> None:
        _demand(isinstance(value, np.ndarray) and value.dtype.name in _DTYPES[kind], value)
        if kind in ("float", "float+", "real"):
            _demand(bool(np.isfinite(value).all()), value)
        if kind in ("float+", "int+", "bound"):
            _demand(bool((value >= 0).all()), value)
        if kind == "power":
            _demand(bool((np.abs(value // 2) <= _POWERS // 2).all()), value)
        self._sides(value.shape, sides, renamed)

    def _sides(self, shape: tuple[int, ...], sides: list[str], renamed: dict[str, str]) -> None:
        if len(shape) != len(sides):
            raise Misfit(f"its shape is {shape}")
        for found, side in zip(shape, sides, strict=True):
            known, unknown = 0, []
            for term in side.split("+"):
                letter = renamed.get(term, term)
                number = int(term) if term.isdigit() else self.letters.get(letter)
                if number is None:
                    unknown.append(letter)
                else:
                    known += number
            if len(unknown) == 1 and found >= known:
                self.letters[unknown[0]] = found - known
            elif unknown or found != known:
                raise Misfit(f"its shape is {shape}")

    def _words(self, value: Any, head: str, sides: list[str], renamed: dict[str, str]) -> None:
        _demand(isinstance(value, np.ndarray) and value.ndim == 1, value)
        flat = value.tolist()
        if head == "names":
            _demand(all(type(name) is str for name in flat) and value.dtype == object, value)
            self._sides(value.shape, sides, renamed)
            return
        _demand(all(type(label) in (str, int, float, bool) for label in flat), value)
        _demand(not any(isinstance(a, float) and not math.isfinite(a) for a in flat), value)
        _demand(len(set(flat)) == len(flat) >= 2, value)
        self._sides(value.shape, ["C"], renamed)
        self._sides((1 if len(flat) == 2 else len(flat),), ["K"], renamed)

    def _record(self, value: Any, name: str, renamed: dict[str, str]) -> None:
        if name == "State":
            _demand(isinstance(value, State), value)
            self._record(value.recipe, "Recipe", renamed)
            return
        if name == "gaussian_kde":
            _demand(is_kernel_density(value), value)
            self._sides((len(value.dataset),), ["p"], renamed)
            return
        home, described = RECORDS[name]
        _demand(type(value) is resolved(home, name), value)
        # Numbers that name a letter come first, so that shapes can be told from them.
        for field in sorted(described, key=lambda f: "=" not in described[f]):
            try:
                self._any(getattr(value, field.rstrip("?")), described[field], renamed)
            except Misfit as misfit:
                raise Misfit(f"in {name}.{field}, {misfit}") from None
        if name == "Moments":
            _demand(_known_but_between_targets(value), value.scatter)
        if name == "ClassMoments":
            shared, full = value.covariance == "shared", value.covariance == "full"
            sides = ["p", "p"] if shared else ["C", "p", "p"] if full else ["C", "p"]
            _demand(value.covariance in ("shared", "full", "diagonal"), value.covariance)
            self._sides(value.scatter.shape, sides, renamed)
            self._sides(value.rounding.shape, ["p"] if shared else ["C", "p"], renamed)


def _known_but_between_targets(m: Any) -> bool:
    """Whether only products of one target with another are NaN, and then all of them."""
    p = len(m.mean) - m.targets
    yy = m.scatter[p:, p:]
    known = np.isfinite(m.scatter[:p]).all() and np.isfinite(m.scatter[:, :p]).all()
    off = yy[~np.eye(len(yy), dtype=bool)]
    between = np.isfinite(off).all() or np.isnan(off).all()
    return bool(known and between and np.isfinite(np.diag(yy)).all())


def _demand(condition: bool, value: Any) -> None:
    if not condition:
        raise Misfit(_shown(value))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"it is an array of shape {value.shape} and dtype {value.dtype}"
    return f"it is {str(value)[:60]!r}, a {type(value).__name__}"


def _number(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and type(value) is not bool
    return whole or isinstance(value, float | np.floating)


_SIMPLE: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "plain": lambda value: True,
    "facts": lambda value: type(value) is dict and all(type(key) is str for key in value),
    "kind": lambda value: type(value) is str and value in get_args(Kind),
    "text": lambda value: type(value) is str,
    "truth": lambda value: isinstance(value, bool | np.bool_),
    "dtype": lambda value: isinstance(value, np.dtype) and value.name in _REAL,
    "number~": _number,
    "number": lambda value: _number(value) and bool(np.isfinite(np.float64(value))),
}
