"""What a model file may hold, and whether the parts of a model fit together.

`RECORDS` lists the records that a file can name, with a description of each field; estimators
declare theirs in `_stored` (see `estimators.registry`). `Shapes` checks types, shapes and numbers,
because kernels trust them. A description is one or several of these, with " | " between them:

    float K p      finite float64 of shape (K, p); float~ allows NaN and infinities,
                   float+ has none below zero, bound none below zero but infinities
    real K p       finite float64 or float32
    int n, int+ n  whole numbers, whole numbers >= 0; power: exponents of two; bool: truths
    rows n p       real numbers, dense or CSR
                   a side may be a sum such as p+K or p+1
    count =p       a whole number >= 0; with =p it is the p of all shapes
    number, number~, truth, text, kind, dtype, facts, plain, None
    tuple count    a tuple of such values
    labels         (C,) different labels, which gives C, and K = 1 for two classes, C for more
    names p        (p,) strings
    Fit, Fit p:m   a record, or one whose letter p is called m here

Letters stand for one number each throughout a model. `?` after an attribute of an estimator: it may
be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args

import numpy as np

from adaline.errors import ModelFileError
from adaline.procedures.sequential import State
from adaline.results import Kind

FIT_FIELDS = {"W": "float K p", "b": "float K", "stopped": "text", "certificate": "Certificate"}

# Where each frozen record lives, and its fields.
RECORDS: dict[str, tuple[str, dict[str, str]]] = {
    "Certificate": (
        "adaline.results",
        {"kind": "kind", "statement": "text", "evidence": "facts"},
    ),
    "Fit": ("adaline.results", FIT_FIELDS),
    "ClosedFit": (
        "adaline.results",
        FIT_FIELDS
        | {"rank": "count", "condition": "number~", "W_low": "float K p", "b_low": "float K"}
        | {"squares": "float~ K", "root": "float~ p p | float~ p+1 p | None"}
        | {"dependent": "tuple plain"},
    ),
    "NewtonFit": (
        "adaline.results",
        FIT_FIELDS
        | {"theta": "float K p+1", "outcome": "text", "steps": "count"}
        | {"value": "number~", "rank": "count"},
    ),
    "HoKashyapFit": (
        "adaline.procedures.ho_kashyap",
        FIT_FIELDS
        | {"margins": "float K n", "errors": "float K n"}
        | {"iterations": "tuple count", "ends": "tuple text"},
    ),
    "SequentialFit": (
        "adaline.estimators.online",
        FIT_FIELDS | {"corrections": "count", "passes": "count", "converged": "truth | None"},
    ),
    "Recipe": (
        "adaline.procedures.sequential",
        {"criterion": "count", "targets": "count", "keep": "count", "intercept": "truth"}
        | {"schedule": "Constant | OverK | SearchThenConverge | Auto | Absolute"}
        | {"K": "count =K", "p": "count =p"},
    ),
    "Constant": ("adaline.schedules", {"eta": "number"}),
    "OverK": ("adaline.schedules", {"eta1": "number"}),
    "SearchThenConverge": ("adaline.schedules", {"eta0": "number", "tau": "number"}),
    "Auto": ("adaline.schedules", {}),
    "Absolute": ("adaline.schedules", {}),
    "Moments": (
        "adaline.sums.moments",
        {"rows": "count", "weight": "number", "mean": "float p+K", "scatter": "float~ p+K p+K"}
        | {"exponent": "power p+K", "rounding": "bound p+K", "mean_rounding": "bound p+K"}
        | {"targets": "count =K"},
    ),
    "Triangle": (
        "adaline.sums.triangle",
        {"rows": "count", "weight": "number", "R": "float p+K+1 p+K+1", "shift": "float p+K"}
        | {"exponent": "power p+K", "targets": "count =K"},
    ),
    "ClassMoments": (
        "adaline.sums.class_moments",
        {"rows": "int+ C", "weight": "float+ C", "mean": "float C p", "exponent": "power p"}
        | {"scatter": "float p p | float C p p | float C p", "covariance": "text"}
        | {"rounding": "bound p | bound C p", "mean_rounding": "bound C p"},
    ),
    "Spectrum": (
        "adaline.procedures.spectrum",
        {"s": "float+ r", "a": "float r K", "rest": "float~ K", "weight": "number"}
        | {"count": "number", "intercept": "truth", "full": "truth", "flat": "bool K"}
        | {"mean": "float p+K", "e": "plain", "e_y": "power K"}
        | {"V": "float p r | float 0 0", "U": "float n r | float 0 0", "A": "CentredRows | None"},
    ),
    "CentredRows": (
        "adaline.procedures.krylov",
        {"X": "rows n p", "B": "float n K", "root": "float n", "mean": "float p+K"}
        | {"weight": "number", "intercept": "truth", "flat": "bool K", "e": "plain"}
        | {"e_y": "power K"},
    ),
    "Gaussians": (
        "adaline.procedures.gaussian",
        {"exponent": "power p", "centre": "float p", "means": "float C p", "priors": "float+ C"}
        | {"metrics": "tuple Metric", "W": "float C p | float 0 p", "b": "float~ C"}
        | {"certificate": "Certificate"},
    ),
    "Metric": (
        "adaline.procedures.gaussian",
        {"covariance": "float p p | float p", "A": "float p p | float p", "log_det": "number~"}
        | {"error": "number~", "condition": "number~", "shrinkage": "number", "ridge": "number"}
        | {"dependent": "int+ d"},
    ),
    "Information": (
        "adaline.procedures.inference",
        {"error": "float~ K p+1", "loss": "number~", "null": "number~", "weight": "number"}
        | {"saturated": "number~", "constant": "number~", "parameters": "number~"}
        | {"covariance": "float~ K p+1 K p+1 | None", "centre": "float~ p | None"}
        | {"dispersion": "number~"},
    ),
    "Kernel": (
        "adaline.procedures.kernel_perceptron",
        {"name": "text", "degree": "number", "gamma": "number", "coef0": "number"},
    ),
    "BayesModel": (
        "adaline.estimators.bayes",
        {"classes": "labels", "family": "Table | tuple Density", "priors": "float+ C"},
    ),
    "Density": (
        "adaline.estimators.densities",
        {"source": "Gaussian | gaussian_kde", "dimension": "count =p", "discrete": "truth"}
        | {"label": "plain"},
    ),
    "Gaussian": (
        "adaline.estimators.densities",
        {"mean": "float p", "unit": "float+ p", "eigenvalues": "float+ p", "axes": "float p p"}
        | {"ridge": "number"},
    ),
    "Table": (
        "adaline.estimators.densities",
        {"symbols": "tuple plain", "probabilities": "float+ C s"},
    ),
    "MaxMargin": (
        "adaline.estimators.separation",
        {"w": "float p", "b": "number", "margin": "number", "lower": "number", "upper": "number"}
        | {"positive": "float p", "negative": "float p", "support": "int+ m", "weights": "float+ m"}
        | {"classes": "labels", "certificate": "Certificate", "n_iter": "count"},
    ),
}

# Records that are models of their own; the others are parts.
ALONE = ("ClassMoments", "MaxMargin", "Moments", "Triangle")

# Weights that someone wrote after the fit, where they follow from it otherwise.
WRITTEN = {"coef_": "real~ K p | real~ p", "intercept_": "real~ K | number~"}

# Proofs are written as their own JSON.
PROOFS: dict[str, str] = {"Separability": "adaline.certificates.separation.separation"}

REAL_TYPES = ("float64", "float32")
ARRAY_TYPES = {
    **dict.fromkeys(("float", "float~", "float+", "bound"), ("float64",)),
    **dict.fromkeys(("real", "real~"), REAL_TYPES),
    **dict.fromkeys(("int", "int+", "power"), ("int64",)),
    "int32": ("int32",),
    "bool": ("bool",),
}
MOST_POWERS = 2200  # exponents of two beyond the range of float64


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
        raise last if len(options) == 1 else Misfit(show(value))

    def _one(self, value: Any, words: list[str], renamed: dict[str, str]) -> None:
        head, sides = words[0], words[1:]
        if head in ARRAY_TYPES:
            self._array(value, head, sides, renamed)
        elif head == "rows":
            dense = isinstance(value, np.ndarray)
            require(dense or type(value).__name__ in ("csr_array", "csr_matrix"), value)
            numbers = value if dense else value.data
            require(numbers.dtype.name in REAL_TYPES, value)
            require(bool(np.isfinite(numbers).all()), value)
            self._sides(value.shape, sides, renamed)
        elif head == "tuple":
            require(isinstance(value, tuple), value)
            for part in value:
                self._one(part, sides, renamed)
        elif head == "count":
            require(isinstance(value, int | np.integer) and type(value) is not bool, value)
            require(0 <= value < 2**62, value)
            for letter in sides:
                self._sides((int(value),), [letter[1:]], renamed)
        elif head in ("labels", "names"):
            self._words(value, head, sides, renamed)
        elif head in SIMPLE_TYPES:
            require(SIMPLE_TYPES[head](value), value)
        else:
            self._record(value, head, dict(pair.split(":") for pair in sides))

    def _array(self, value: Any, kind: str, sides: list[str], renamed: dict[str, str]) -> None:
        require(isinstance(value, np.ndarray) and value.dtype.name in ARRAY_TYPES[kind], value)
        if kind in ("float", "float+", "real"):
            require(bool(np.isfinite(value).all()), value)
        if kind in ("float+", "int+", "bound"):
            require(bool((value >= 0).all()), value)
        if kind == "power":
            require(bool((np.abs(value // 2) <= MOST_POWERS // 2).all()), value)
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
        require(isinstance(value, np.ndarray) and value.ndim == 1, value)
        flat = value.tolist()
        if head == "names":
            require(all(type(name) is str for name in flat) and value.dtype == object, value)
            self._sides(value.shape, sides, renamed)
            return
        require(all(type(label) in (str, int, float, bool) for label in flat), value)
        require(not any(isinstance(a, float) and not math.isfinite(a) for a in flat), value)
        require(len(set(flat)) == len(flat) >= 2, value)
        self._sides(value.shape, ["C"], renamed)
        self._sides((1 if len(flat) == 2 else len(flat),), ["K"], renamed)

    def _record(self, value: Any, name: str, renamed: dict[str, str]) -> None:
        if name == "State":
            require(isinstance(value, State), value)
            self._record(value.recipe, "Recipe", renamed)
            return
        if name == "gaussian_kde":
            require(type(value).__name__ == "gaussian_kde", value)
            self._sides((len(value.dataset),), ["p"], renamed)
            return
        home, described = RECORDS[name]
        require(type(value) is getattr(import_module(home), name), value)
        if set(described) != {field.name for field in fields(value)}:
            raise ModelFileError(f"RECORDS in {__name__} describes other fields of {name}.")
        # Numbers that name a letter come first, so that shapes can be told from them.
        for field in sorted(described, key=lambda f: "=" not in described[f]):
            try:
                self._any(getattr(value, field), described[field], renamed)
            except Misfit as misfit:
                raise Misfit(f"in {name}.{field}, {misfit}") from None
        if name == "Moments":
            require(knows_all_but_targets(value), value.scatter)
        if name == "ClassMoments":
            shared, full = value.covariance == "shared", value.covariance == "full"
            sides = ["p", "p"] if shared else ["C", "p", "p"] if full else ["C", "p"]
            require(value.covariance in ("shared", "full", "diagonal"), value.covariance)
            self._sides(value.scatter.shape, sides, renamed)
            self._sides(value.rounding.shape, ["p"] if shared else ["C", "p"], renamed)


def knows_all_but_targets(m: Any) -> bool:
    """Whether only products of one target with another are NaN, and then all of them."""
    p = len(m.mean) - m.targets
    yy = m.scatter[p:, p:]
    known = np.isfinite(m.scatter[:p]).all() and np.isfinite(m.scatter[:, :p]).all()
    off = yy[~np.eye(len(yy), dtype=bool)]
    between = np.isfinite(off).all() or np.isnan(off).all()
    return bool(known and between and np.isfinite(np.diag(yy)).all())


def require(condition: bool, value: Any) -> None:
    if not condition:
        raise Misfit(show(value))


def show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"it is an array of shape {value.shape} and dtype {value.dtype}"
    return f"it is {str(value)[:60]!r}, a {type(value).__name__}"


def is_number(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and type(value) is not bool
    return whole or isinstance(value, float | np.floating)


SIMPLE_TYPES: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "plain": lambda value: True,
    "facts": lambda value: type(value) is dict and all(type(key) is str for key in value),
    "kind": lambda value: type(value) is str and value in get_args(Kind),
    "text": lambda value: type(value) is str,
    "truth": lambda value: isinstance(value, bool | np.bool_),
    "dtype": lambda value: isinstance(value, np.dtype) and value.name in REAL_TYPES,
    "number~": is_number,
    "number": lambda value: is_number(value) and bool(np.isfinite(np.float64(value))),
}
