"""On which side of its hyperplane each training sample provably lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT
from adaline.results import Array, Certificate, Fit

_BLOCK = 4096


def separation(fit: Fit, X: Any, codes: NDArray[np.int64]) -> Certificate:
    """Whether all samples are on their right side, by more than rounding could have moved them.

    Two classes (K = 1 neuron): t (w'x + b) > 0 with t = ±1. More: the neuron of the own class is
    larger than every other.
    """
    least, wrong, close = np.inf, 0, 0
    for i in range(0, X.shape[0], _BLOCK):
        gap, doubt = _gaps(fit, X[i : i + _BLOCK], codes[i : i + _BLOCK])
        least = min(least, float(np.min(gap - doubt)))
        wrong += int(np.count_nonzero(gap <= -doubt))
        close += int(np.count_nonzero(np.abs(gap) < doubt))
    n = X.shape[0]
    evidence = {"wrong": wrong, "too_close": close, "samples": n, "least_margin": least}
    if "digits" in fit.certificate.evidence:
        evidence["digits"] = fit.certificate.evidence["digits"]
    if least > 0:
        return Certificate(
            "separable",
            f"all {n} samples are on their right side, the closest by at least {least:.2g}: "
            "the classes are linearly separable.",
            evidence,
        )
    near = f", {close} within rounding of the boundary" if close else ""
    return Certificate(
        "undecided",
        f"{wrong} of {n} samples are on the wrong side{near}; squared error leaves "
        "separability undecided.",
        evidence,
    )


def _gaps(fit: Fit, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """By how much each sample is on its right side, and what rounding may have done to that."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    V = X @ fit.W.T + fit.b
    doubt = (X.shape[1] + 3) * UNIT * (np.abs(X) @ np.abs(fit.W).T + np.abs(fit.b)) * 1.01
    if V.shape[1] == 1:
        return np.where(codes == 1, 1.0, -1.0) * V[:, 0], doubt[:, 0]
    own = np.arange(len(codes)), codes
    others = V.copy()
    others[own] = -np.inf
    return V[own] - others.max(axis=1), doubt[own] + doubt.max(axis=1)
