"""The one place that words what bounds on the errors of weights prove.

"exact" is correctly rounded: the true coefficient rounds to the one that is given, because it is
less than half a step of the floating-point numbers away from it. "accurate" is right to a number of
digits, "unproven" claims nothing. Certificates speak of weights as delivered: float32 samples get
float32 weights, so that each bound grows by as much as that rounding moved the weight, and a claim
that no longer holds is dropped.

Called by all procedures with closed forms, and by the estimators (`delivered`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log10
from typing import Any, TypeVar

import numpy as np

from adaline.errors import plural
from adaline.linalg import length, lengths
from adaline.results import Array, Certificate, Fit

F = TypeVar("F", bound=Fit)

MOST_DIGITS = {np.dtype(np.float64): 15.95, np.dtype(np.float32): 7.22}  # that a number can hold
SLACK = 1.0 + 2.0**-30  # bounds, and lengths of many numbers, are added up in float64


def half_steps(weights: Any) -> Array:
    """Half the distance from each weight to the next number of its dtype, the closer of the two.

    Truths that are closer than this round to the weight, which is finite; zero at zero.
    """
    size = np.abs(weights)
    below = np.nextafter(size, size.dtype.type(0.0))
    return np.asarray(np.subtract(size, below, dtype=np.float64) / 2)


def unproven(why: str, evidence: Mapping[str, Any]) -> Certificate:
    """A certificate that claims nothing."""
    return Certificate("unproven", why, evidence)


def out_of_range(dtype: Any, evidence: Mapping[str, Any]) -> Certificate:
    """Of weights that are not finite in this dtype."""
    why = f"a coefficient leaves the range of {dtype}; measure its column, or y, in other units."
    return unproven(why, evidence)


def stated(
    weights: Any, bounds: Array, floor: Array, evidence: Mapping[str, Any], missing: str = ""
) -> Certificate:
    """The certificate of weights, in the dtype they are given in, each within its bound.

    A weight below `floor` counts as a zero of that size; `missing` names what has no bound.
    """
    dtype = np.asarray(weights).dtype
    numbers = dict(evidence) | {"error_bound": bounds, "floor": floor, "digits": 0.0}
    if missing:
        numbers["without_bound"] = missing
    if not np.isfinite(weights).all():
        return out_of_range(dtype, numbers)
    known = f"the scaled condition number is about {numbers['condition']:.1e}"
    if not np.isfinite(bounds).all():
        return unproven(
            f"no digits are proven: {known}, beyond what float64 bounds can reach.", numbers
        )
    size = np.maximum(np.abs(weights), floor, dtype=np.float64)
    with np.errstate(all="ignore"):
        worst = float(np.where(bounds > 0, bounds / size, 0.0).max(initial=0.0))
    digits = numbers["digits"] = digits_of(worst, dtype)
    if not missing and ((bounds < half_steps(weights)) | (bounds == 0)).all():
        return Certificate(
            "exact",
            f"the exact solution for these numbers, correctly rounded: no {dtype} is closer to any "
            f"coefficient of it. Errors are at most {worst:.1e} of each coefficient.",
            numbers,
        )
    if digits < 1:
        return unproven(f"less than one digit is proven; {known}.", numbers)
    small = int(np.count_nonzero(np.abs(weights) < floor))
    zeros = f", {small} of them zero to rounding" if small else ""
    more = f"; of {missing} nothing is proven" if missing else ""
    return Certificate(
        "accurate",
        f"every coefficient agrees with the exact solution to at least {digits:.1f} digits"
        f"{zeros}{more}.",
        numbers,
    )


def digits_of(share: float, dtype: Any) -> float:
    """Digits of a number that is known to this share of it."""
    most = MOST_DIGITS[dtype]
    return min(max(-log10(share), 0.0), most) if share > 0 else most


def stated_together(W: Any, bounds: Array, evidence: Mapping[str, Any]) -> Certificate:
    """The certificate of weights W (k, p) whose errors, all of a target together, have bounds."""
    numbers = dict(evidence) | {"error_bound": bounds, "digits": 0.0}
    size = np.abs(W).max(axis=1, initial=0.0).astype(np.float64)
    nothing = (size == 0) & (bounds > 0)  # zeros: no share of them is small
    if nothing.all():
        return unproven(
            f"all weights are zero, and the exact ones are within {np.max(bounds):.1e} of zero: "
            "they have no digits to prove.",
            numbers,
        )
    with np.errstate(invalid="ignore", over="ignore"):
        shares = np.divide(bounds, size, out=np.zeros(len(size)), where=(bounds != 0) & ~nothing)
    share = float(np.max(shares))  # NaN stays NaN
    if not (share < 0.1 and np.isfinite(W).all()):
        return unproven(
            f"no digits are proven at a condition number of {evidence['condition']:.1e}; a larger "
            "alpha is surer.",
            numbers,
        )
    digits = numbers["digits"] = digits_of(share, np.asarray(W).dtype)
    more = ""
    if many := int(np.count_nonzero(nothing)):
        near = np.max(bounds[nothing])
        have = plural(many, "target", "have")
        more = f"; {have} weights of zero, and exact ones within {near:.1e} of zero"
    return Certificate(
        "accurate",
        f"all weights together are within {np.max(bounds[~nothing]):.1e} of the exact ridge "
        f"solution: {digits:.1f} digits of the largest weight{more}.",
        numbers,
    )


def delivered(fit: F, dtype: Any) -> F:
    """The fit, with a certificate that speaks of W and b rounded to dtype."""
    old, finite = fit.certificate, np.isfinite(fit.W).all() and np.isfinite(fit.b).all()
    of = next((KINDS[key] for key in KINDS if key in old.evidence), None)
    if old.kind in ("unproven", "undecided") or of is None:
        return fit
    if np.dtype(dtype) == np.float64 and finite:
        return fit
    with np.errstate(over="ignore", invalid="ignore"):
        W, b = fit.W.astype(dtype), fit.b.astype(dtype)
        moved = np.abs(fit.W - W.astype(np.float64)), np.abs(fit.b - b.astype(np.float64))
    if np.isfinite(W).all() and np.isfinite(b).all():
        return replace(fit, certificate=of(old, W, b, *moved))
    lost = {"digits": 0.0} if "digits" in old.evidence else {}
    return replace(fit, certificate=out_of_range(W.dtype, {**old.evidence, **lost}))


def rounded_digits(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    """Bounds on each weight, or on each target's weights together."""
    bounds = old.evidence["error_bound"]
    if bounds.ndim == 1:
        return stated_together(W, (bounds + lengths(dW)) * SLACK, old.evidence)
    weights, moved = (np.vstack([A.T, a])[: len(bounds)] for A, a in ((W, b), (dW, db)))
    grown, missing = (bounds + moved) * SLACK, old.evidence.get("without_bound", "")
    return stated(weights, grown, old.evidence["floor"], old.evidence, missing)


def rounded_distance(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    """|w - w*| and, where it is known, |b - b*| of a minimum."""
    evidence = dict(old.evidence)
    key = "distance_bound" if "distance_bound" in evidence else "distance"
    evidence[key] = (evidence[key] + length(dW)) * SLACK
    said = (
        f"rounded to {W.dtype}, the weights are within {evidence[key]:.1e} of those that minimise "
        "the (penalised) loss, |w - w*|"
    )
    if "coef_bound" in evidence:
        evidence["coef_bound"] = (evidence["coef_bound"] + dW.max(axis=0, initial=0.0)) * SLACK
        evidence["intercept_bound"] = float(evidence["intercept_bound"] + db.max()) * SLACK
        said += f", and the bias is within {evidence['intercept_bound']:.1e}"
    return Certificate(old.kind, f"{said}.", evidence)


KINDS: dict[str, Callable[..., Certificate]] = {
    "error_bound": rounded_digits,
    "distance_bound": rounded_distance,
    "distance": rounded_distance,
}
