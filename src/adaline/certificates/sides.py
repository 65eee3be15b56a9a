"""On which side of its hyperplane each training sample provably lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT
from adaline.results import Array, Certificate

_FIRST, _BLOCK = 256, 4096  # rows looked at first, and then at a time
_COUNTED = 50_000  # rows up to which all that are on the wrong side are counted


def separation(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> Certificate:
    """Whether all samples are on their right side, by more than rounding could have moved them.

    Two classes (K = 1 neuron): t (w'x + b) > 0 with t = ±1. More: the neuron of the own class is
    larger than every other. X is dense or CSR.
    """
    least, wrong, close, n, more = np.inf, 0, 0, X.shape[0], ""
    ends = [*range(_FIRST, n, _BLOCK), n]
    for i, end in zip([0, *ends], ends, strict=False):
        gap, doubt = _gaps(W, b, X[i:end], codes[i:end])
        least = min(least, float(np.min(gap - doubt)))
        wrong += int(np.count_nonzero(~(gap > 0.0)))
        close += int(np.count_nonzero(np.abs(gap) < doubt))
        if wrong and end < n and n > _COUNTED:  # nothing to prove, and long to count
            more = "at least "
            break
    evidence = {"wrong": wrong, "too_close": close, "samples": n, "least_margin": least}
    if least > 0:
        statement = (
            f"all {n} samples are on their right side, the closest by at least {least:.2g}: "
            "the classes are linearly separable."
        )
        return Certificate("separable", statement, evidence)
    near = f", {close} within rounding of the boundary" if close else ""
    statement = f"{more}{wrong} of {n} samples are on the wrong side{near}"
    return Certificate(
        "undecided",
        f"{statement}; separability is undecided: `separability(X, y)` decides it.",
        evidence,
    )


def _gaps(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """By how much each sample is on its right side, and what rounding may have done to that."""
    V = np.asarray(X @ W.T, dtype=np.float64) + b
    size = np.asarray(abs(X) @ np.abs(W).T, dtype=np.float64) + np.abs(b)
    doubt = 1.01 * (X.shape[1] + 3) * UNIT * size
    if len(b) == 1:
        return np.where(codes == 1, V[:, 0], -V[:, 0]), doubt[:, 0]
    own, others = (np.arange(len(codes)), codes), V.copy()
    others[own] = -np.inf
    return V[own] - others.max(axis=1), doubt[own] + doubt.max(axis=1)
