"""Certificates from bounds on the errors of weights: exact, accurate to some digits, or unproven.

"exact" is correctly rounded: the true coefficient rounds to the one that is given, because it is
less than half a step of the floating-point numbers away from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import Any

import numpy as np

from adaline.results import Array, Certificate

_MOST = {np.dtype(np.float64): 15.95, np.dtype(np.float32): 7.22}  # digits that a number can hold
# numpy needs 20 microseconds to spell the name of a dtype.
_NAMES: dict[Any, str] = {np.dtype(t): t.__name__ for t in (np.float64, np.float32)}


def half_steps(weights: Any) -> Array:
    """Half the distance from each weight to the next number of its dtype, the closer of the two.

    Truths that are closer than this round to the weight, which is finite; zero at zero.
    """
    size = np.abs(weights)
    below = np.nextafter(size, size.dtype.type(0.0))
    return np.asarray(np.subtract(size, below, dtype=np.float64) / 2)


def stated(
    weights: Any, bounds: Array, floor: Array, evidence: Mapping[str, Any], missing: str = ""
) -> Certificate:
    """The certificate of weights, in the dtype they are given in, each within its bound.

    A weight below `floor` counts as a zero of that size; `missing` names what has no bound.
    """
    dtype = np.asarray(weights).dtype
    name = _NAMES[dtype]
    numbers = dict(evidence) | {"error_bound": bounds, "floor": floor, "digits": 0.0}
    condition = numbers["condition"]
    if missing:
        numbers["without_bound"] = missing
    if not np.isfinite(weights).all():
        return Certificate(
            "unproven",
            f"a coefficient leaves the range of {name}; measure its column, or y, in other units.",
            numbers,
        )
    if not np.isfinite(bounds).all():
        return Certificate(
            "unproven",
            f"no digits are proven: the scaled condition number is about {condition:.1e}, beyond "
            "what float64 bounds can reach.",
            numbers,
        )
    size = np.maximum(np.abs(weights), floor, dtype=np.float64)
    with np.errstate(all="ignore"):
        relative = np.where(bounds > 0, bounds / size, 0.0)
    worst = float(relative.max(initial=0.0))
    most = _MOST[dtype]
    digits = min(max(-log10(worst), 0.0), most) if worst > 0 else most
    numbers["digits"] = digits
    if not missing and ((bounds < half_steps(weights)) | (bounds == 0)).all():
        return Certificate(
            "exact",
            f"the exact solution for these numbers, correctly rounded: no {name} is closer to any "
            f"coefficient of it. Errors are at most {worst:.1e} of each coefficient.",
            numbers,
        )
    if digits < 1:
        return Certificate(
            "unproven",
            f"less than one digit is proven; the scaled condition number is {condition:.1e}.",
            numbers,
        )
    small = np.abs(weights) < floor
    zeros = f", {int(small.sum())} of them zero to rounding" if small.any() else ""
    rest = f"; of {missing} nothing is proven" if missing else ""
    return Certificate(
        "accurate",
        f"every coefficient agrees with the exact solution to at least {digits:.1f} digits"
        f"{zeros}{rest}.",
        numbers,
    )


def stated_together(W: Any, bounds: Array, evidence: Mapping[str, Any]) -> Certificate:
    """The certificate of weights W (k, p) whose errors, all of a target together, have bounds."""
    numbers = dict(evidence) | {"error_bound": bounds, "digits": 0.0}
    size = np.abs(W).max(axis=1, initial=0.0).astype(np.float64)
    nothing = (size == 0) & (bounds > 0)  # zeros: no share of them is small
    if nothing.all():
        return Certificate(
            "unproven",
            f"all weights are zero, and the exact ones are within {np.max(bounds):.1e} of zero: "
            "they have no digits to prove.",
            numbers,
        )
    with np.errstate(invalid="ignore", over="ignore"):
        shares = np.divide(bounds, size, out=np.zeros(len(size)), where=(bounds != 0) & ~nothing)
    share = float(np.max(shares))  # NaN stays NaN
    if not (share < 0.1 and np.isfinite(W).all()):
        return Certificate(
            "unproven",
            f"no digits are proven at a condition number of {evidence['condition']:.1e}; a larger "
            "alpha is surer.",
            numbers,
        )
    most = _MOST[np.asarray(W).dtype]
    digits = min(-log10(share), most) if share > 0 else most
    rest = ""
    if nothing.any():
        many = int(nothing.sum())
        have = "1 target has" if many == 1 else f"{many} targets have"
        near = np.max(bounds[nothing])
        rest = f"; {have} weights of zero, and exact ones within {near:.1e} of zero"
    return Certificate(
        "accurate",
        f"all weights together are within {np.max(bounds[~nothing]):.1e} of the exact ridge "
        f"solution: {digits:.1f} digits of the largest weight{rest}.",
        numbers | {"digits": digits},
    )
