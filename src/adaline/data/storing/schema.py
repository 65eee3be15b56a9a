"""What a model file may hold, and whether the parts of a model fit together.

`SHAPES` lists the records that a file can name, with a description of each array in them; other
fields are described by their annotations, and the learned parts of estimators by `_stored` (see
`estimators.registry`). `Shapes` checks types, shapes and numbers, because kernels trust them. A
description is one of these, or several with " | " between them:

    float K p    finite float64 of shape (K, p); a side may be a sum such as p+K, or * for any
    float~ K p   the same with NaN and infinities
    int n        int64; `bool n` likewise
    rows n p     finite float64 or float32, dense or CSR
    labels       (C,) different labels, which gives C, and K = 1 for two classes, C for more
    names p      (p,) strings
    int, float, bool, str, dtype, None
                 one value; `int =p` is >= 0 and the p of all shapes
    Fit          a record; any other word is an alias in an annotation, and accepts all values

Letters stand for one number each throughout a model. `?` after an attribute of an estimator: it may
be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from adaline.errors import ModelFileError
from adaline.procedures.sequential import FIELDS, State

FIT = "W: float K p, b: float K"

# The records of each module, with the shapes of their arrays.
SHAPES: dict[str, dict[str, str]] = {
    "adaline.results": {
        "Certificate": "",
        "Fit": FIT,
        "ClosedFit": f"{FIT}, W_low: float K p, b_low: float K, squares: float~ K, "
        "root: float~ p p | float~ p+1 p | None, dependent: any",
        "NewtonFit": f"{FIT}, theta: float K p+1",
    },
    "adaline.schedules": dict.fromkeys(
        ["Constant", "OverK", "SearchThenConverge", "Auto", "Absolute"], ""
    ),
    "adaline.sums.moments": {
        "Moments": "mean: float p+K, scatter: float~ p+K p+K, exponent: int p+K, "
        "rounding: float~ p+K, mean_rounding: float~ p+K, targets: int =K",
    },
    "adaline.sums.triangle": {
        "Triangle": "R: float p+K+1 p+K+1, shift: float p+K, exponent: int p+K, targets: int =K",
    },
    "adaline.sums.class_moments": {
        "ClassMoments": "rows: int C, weight: float C, mean: float C p, exponent: int p, "
        "scatter: float p p | float C p p | float C p, rounding: float~ p | float~ C p, "
        "mean_rounding: float~ C p",
    },
    "adaline.procedures.ho_kashyap": {
        "HoKashyapFit": f"{FIT}, margins: float K n, errors: float K n",
    },
    "adaline.procedures.sequential": {
        "Recipe": "K: int =K, p: int =p",
        "State": "recipe: Recipe, head: float s, theta: float t",
    },
    "adaline.procedures.ridge": {
        "Spectrum": "s: float r, a: float r K, rest: float~ K, flat: bool K, mean: float p+K, "
        "e_y: int K, V: float p r | float 0 0, U: float n r | float 0 0",
    },
    "adaline.procedures.krylov": {
        "CentredRows": "X: rows n p, B: float n K, root: float n, mean: float p+K, flat: bool K, "
        "e_y: int K",
    },
    "adaline.procedures.gaussian": {
        "Gaussians": "exponent: int p, centre: float p, means: float C p, priors: float C, "
        "W: float C p | float 0 p, b: float~ C",
        "Metric": "covariance: float p p | float p, A: float p p | float p, dependent: int *",
    },
    "adaline.procedures.inference": {
        "Information": "error: float~ K p+1, covariance: float~ K p+1 K p+1 | None, "
        "centre: float~ p | None",
    },
    "adaline.procedures.kernel_perceptron": {"Kernel": ""},
    "adaline.estimators.online": {"SequentialFit": FIT},
    "adaline.estimators.bayes": {
        "BayesModel": "classes: labels, priors: float C, "
        "family: tuple[Gaussian] | tuple[gaussian_kde] | Table"
    },
    "adaline.estimators.densities": {
        "Gaussian": "mean: float p, root: float p p",
        "Table": "probabilities: float C s",
    },
    "adaline.estimators.separation": {
        "MaxMargin": "w: float p, positive: float p, negative: float p, support: int m, "
        "weights: float m, classes: labels",
    },
    "adaline.data.columns.encoding": {"Encoding": ""},
    "adaline.data.columns.inputs": {"Input": ""},
    "scipy.stats": {"gaussian_kde": "dataset: float p *, factor: float, covariance: float p p"},
}
DESCRIPTIONS = {name: text for group in SHAPES.values() for name, text in group.items()}

# The home of each record, or its class where the module has registered it itself.
records: dict[str, str | type] = {name: home for home, group in SHAPES.items() for name in group}

# The dtypes of arrays; of labels and names the values are checked.
ARRAYS: dict[str, tuple[str, ...]] = {
    **{"float": ("float64",), "float~": ("float64",), "rows": ("float64", "float32")},
    **{"int": ("int64",), "bool": ("bool",), "labels": (), "names": ()},
}


def record_class(name: str) -> Any:
    """The class of a record, imported where it is needed."""
    home = records[name]
    return getattr(import_module(home), name) if isinstance(home, str) else home


def describe_fields(cls: Any) -> dict[str, str]:
    """The description of each field of a record."""
    pairs = DESCRIPTIONS.get(cls.__name__, "").split(", ")
    described = dict(pair.split(": ") for pair in pairs if pair)
    if not is_dataclass(cls):
        return described
    return {field.name: described.get(field.name, str(field.type)) for field in fields(cls)}


class Shapes:
    """Checks values against descriptions; the letters of shapes keep the numbers they got."""

    def __init__(self) -> None:
        self.letters: dict[str, int] = {}

    def check(self, value: Any, description: str, where: str) -> None:
        """Raise ModelFileError with a sentence where the value is not as described."""
        before = dict(self.letters)
        for option in description.split(" | "):
            if self._fits(value, option, where):
                return
            self.letters = dict(before)
        held = f"{str(value)[:60]!r}, a {type(value).__name__}"
        if isinstance(value, np.ndarray):
            held = f"an array of shape {value.shape} and dtype {value.dtype}"
        raise ModelFileError(
            f"{where} does not fit: it is {held}; expected {description}, with the sizes {before}."
        )

    def _fits(self, value: Any, option: str, where: str) -> bool:
        kind, *sides = option.split()
        name = type(value).__name__
        if name in DESCRIPTIONS:  # of this class itself: the codec makes no other
            described = describe_fields(type(value))
            # Numbers that give a letter come first, so that sums of letters have one unknown.
            for field in sorted(described, key=lambda f: "=" not in described[f]):
                self.check(getattr(value, field), described[field], f"{where}.{field}")
            return kind == name or kind not in DESCRIPTIONS
        if isinstance(value, tuple):
            inner = option.removeprefix("tuple[").split(",")[0].rstrip("]")
            is_alias = kind not in CHECKS and kind not in DESCRIPTIONS
            return (option.startswith("tuple[") or is_alias) and all(
                self._fits(part, inner, where) for part in value
            )
        if sides and sides[0].startswith("="):
            return is_int(value) and self._has_shape((int(value),), [sides[0][1:]])
        if kind in ARRAYS and (sides or kind == "labels"):
            return self._is_array(value, kind, sides)
        return CHECKS[kind](value) if kind in CHECKS else kind not in DESCRIPTIONS

    def _is_array(self, value: Any, kind: str, sides: list[str]) -> bool:
        is_sparse = kind == "rows" and type(value).__name__ in ("csr_array", "csr_matrix")
        if not is_sparse and not isinstance(value, np.ndarray):
            return False
        if kind == "labels":
            labels = value.tolist() if value.ndim == 1 else []
            different = len(set(labels)) == len(labels) >= 2 and all(map(is_label, labels))
            machines = 1 if len(labels) == 2 else len(labels)
            return different and self._has_shape((len(labels), machines), ["C", "K"])
        if kind == "names":
            fits = all(type(name) is str for name in value.tolist())
        else:
            numbers = value.data if is_sparse else value
            fits = numbers.dtype.name in ARRAYS[kind]
            fits = fits and (kind not in ("float", "rows") or bool(np.isfinite(numbers).all()))
        return fits and self._has_shape(value.shape, sides)

    def _has_shape(self, shape: tuple[int, ...], sides: list[str]) -> bool:
        if len(shape) != len(sides):
            return False
        for length, side in zip(shape, sides, strict=True):
            if side == "*":
                continue
            terms = [int(t) if t.isdigit() else self.letters.get(t, t) for t in side.split("+")]
            unknown = [term for term in terms if isinstance(term, str)]
            remaining = length - sum(term for term in terms if isinstance(term, int))
            if len(unknown) == 1 and remaining >= 0:
                self.letters[unknown[0]] = remaining
            elif unknown or remaining:
                return False
        return True


def is_int(value: Any) -> bool:
    """Whether it is a count, or any whole number of a moderate size."""
    is_whole = isinstance(value, int | np.integer) and type(value) is not bool
    return is_whole and abs(int(value)) < 2**62


def is_label(value: Any) -> bool:
    return type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


CHECKS: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "str": lambda value: type(value) is str,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "dtype": lambda value: isinstance(value, np.dtype) and value.name in ARRAYS["rows"],
    "int": is_int,
    "float": lambda value: is_int(value) or isinstance(value, float | np.floating),
}


def make_state(recipe: Any, head: Any, theta: Any) -> State:
    """A learner's memory; kernels trust its shapes and codes, so all of them are checked here."""
    Shapes().check(recipe, "Recipe", "the recipe")
    known = recipe.criterion in range(7) and recipe.targets in range(3) and recipe.keep in range(4)
    if not known or recipe.K < 1 or recipe.p < 1 or not hasattr(recipe.schedule, "code"):
        raise ValueError("the recipe has unknown codes")
    for array, (size,) in zip((head, theta), recipe.shapes(), strict=True):
        Shapes().check(array, f"float {size}", "the state")
    state = State(recipe)  # as large as the arrays at hand
    if not np.array_equal(state.head[: len(FIELDS)], head[: len(FIELDS)]):
        raise ValueError("the state contradicts its own recipe")
    state.restore((head, theta))
    return state


def make_kernel_density(dataset: Any, factor: Any, covariance: Any) -> Any:
    """A density of scipy, which needs more rows than features, or its covariance is singular."""
    Shapes().check(dataset, "float p *", "the rows of a density")
    Shapes().check(factor, "float", "the width of a density")
    if not 1 <= len(dataset) < dataset.shape[1]:
        raise ValueError("a density needs more rows than columns")
    return record_class("gaussian_kde")(dataset, factor)


# Records that are made by a function, which checks what their class does not.
MAKERS: dict[str, Callable[..., Any]] = {"State": make_state, "gaussian_kde": make_kernel_density}
