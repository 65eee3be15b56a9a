"""Certificates of weights as a user gets them: rounded to the dtype of the samples.

Procedures prove things of weights in float64. float32 samples get float32 weights, so each bound
grows by as much as that rounding moved the weights, and a claim that no longer holds is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from adaline.linalg import length, lengths
from adaline.results import Array, Certificate, Fit

F = TypeVar("F", bound=Fit)

_SLACK = 1.0 + 2.0**-30  # bounds, and lengths of many numbers, are added up in float64


def delivered(fit: F, dtype: Any) -> F:
    """The fit, with a certificate that speaks of W and b rounded to dtype."""
    claimed = fit.certificate.kind not in ("unproven", "undecided")
    if not claimed:
        return fit
    if np.dtype(dtype) == np.float64 and np.isfinite(fit.W).all() and np.isfinite(fit.b).all():
        return fit
    with np.errstate(over="ignore"):
        W, b = fit.W.astype(dtype), fit.b.astype(dtype)
    with np.errstate(invalid="ignore"):
        moved = np.abs(fit.W - W.astype(np.float64)), np.abs(fit.b - b.astype(np.float64))
    return replace(fit, certificate=_certificate(fit.certificate, W, b, *moved))


def _certificate(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    for key, of in _KINDS.items():
        if key in old.evidence:
            if np.isfinite(W).all() and np.isfinite(b).all():
                return of(old, W, b, dW, db)
            return Certificate(
                "unproven",
                f"a coefficient leaves the range of {W.dtype}; measure its column, or y, in other "
                "units.",
                dict(old.evidence) | ({"digits": 0.0} if "digits" in old.evidence else {}),
            )
    return old  # it does not speak of the weights


def _digits(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    from adaline.certificates._digits import stated, stated_together

    bounds = old.evidence["error_bound"]
    if bounds.ndim == 1:  # of each target's weights together
        grown = (bounds + lengths(dW)) * _SLACK
        return stated_together(W, grown, old.evidence)
    whole = len(bounds) > W.shape[1]
    weights = np.vstack([W.T, b]) if whole else W.T
    moved = np.vstack([dW.T, db]) if whole else dW.T
    missing = old.evidence.get("without_bound", "")
    grown = (bounds + moved) * _SLACK
    return stated(weights, grown, old.evidence["floor"], old.evidence, missing)


def _near(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    """|w - w*| and, where it is known, |b - b*| of a minimum."""
    evidence = dict(old.evidence)
    key = "distance_bound" if "distance_bound" in evidence else "distance"
    evidence[key] = (evidence[key] + length(dW)) * _SLACK
    said = (
        f"rounded to {W.dtype}, the weights are within {evidence[key]:.1e} of those that minimise "
        "the (penalised) loss, |w - w*|"
    )
    if "coef_bound" in evidence:
        evidence["coef_bound"] = (evidence["coef_bound"] + dW.max(axis=0, initial=0.0)) * _SLACK
        evidence["intercept_bound"] = float(evidence["intercept_bound"] + db.max()) * _SLACK
        said += f", and the bias is within {evidence['intercept_bound']:.1e}"
    return Certificate(old.kind, f"{said}.", evidence)


_KINDS: dict[str, Callable[..., Certificate]] = {
    "error_bound": _digits,
    "distance_bound": _near,
    "distance": _near,
}
