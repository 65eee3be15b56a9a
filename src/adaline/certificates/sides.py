"""On which side of its hyperplane each training sample provably lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import plural
from adaline.linalg import UNDERFLOW, UNIT
from adaline.parameters import is_sparse
from adaline.results import Array, Certificate

_FIRST, _BLOCK = 256, 4096  # rows looked at first, and then at a time
_COUNTED = 50_000  # rows up to which all that are on the wrong side are counted
_LARGEST = float(np.finfo(np.float64).max)


def separation(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> Certificate:
    """Whether all samples are on their right side, by more than rounding could have moved them.

    Two classes (K = 1 neuron): t (w'x + b) > 0 with t = ±1. More: the neuron of the own class is
    larger than every other. X is dense or CSR.
    """
    least, wrong, close, n, more = np.inf, 0, 0, X.shape[0], ""
    proven = bool(np.isfinite(W).all() and np.isfinite(b).all())
    ends = [*range(_FIRST, n, _BLOCK), n]
    for i, end in zip([0, *ends], ends, strict=False):
        gap, doubt, bound = _sides(W, b, X[i:end], codes[i:end])
        least = min(least, float(bound.min()))  # never NaN: what is not finite is -inf
        proven = proven and bool(np.all(gap > doubt))
        wrong += int(np.count_nonzero(~(gap > 0.0)))
        close += int(np.count_nonzero(~(np.abs(gap) >= doubt)))
        if wrong and end < n and n > _COUNTED:  # nothing to prove, and long to count
            more = "at least "
            break
    evidence = {"wrong": wrong, "too_close": close, "samples": n, "least_margin": least}
    if proven:
        statement = (
            f"all {n} samples are on their right side, by at least {least:.2g} in the score: the "
            "classes are linearly separable."
        )
        return Certificate("separable", statement, evidence)
    are = "is" if wrong == 1 else "are"
    near = f", {close} within rounding of the boundary" if close else ""
    statement = f"{more}{wrong} of {plural(n, 'sample')} {are} on the wrong side{near}"
    return Certificate(
        "undecided",
        f"{statement}; separability is undecided: `separability(X, y)` decides it.",
        evidence,
    )


def _sides(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """How far each sample is on its right side, what rounding may have done, and the difference.

    The first two may be in units of their own for each row, the last is in those of w'x + b.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        gap, doubt = _gaps(W, b, X, codes)
        bound = gap - doubt
        small = np.abs(gap) < 2.0**80 * X.shape[1] * UNDERFLOW  # products may have underflowed
        if np.isfinite(bound).all() and not (small.any() and W.any()):
            return gap, doubt, bound
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            return gap, doubt, np.full(len(gap), -np.inf)
        Z, w, bias, e = _in_range(W, b, X)
        gap, doubt = _gaps(w, bias, Z, codes)
        bound = np.ldexp(gap - doubt, e)
        # Numbers below the normal range may have been rounded up on the way back.
        bound = np.where(np.abs(bound) < UNDERFLOW, np.nextafter(bound, -np.inf), bound)
        return gap, doubt, np.clip(bound, -_LARGEST, _LARGEST)


def _in_range(W: Array, b: Array, X: Any) -> tuple[Any, Array, Array, NDArray[np.int64]]:
    """(X, W, b) in powers of two that leave no product above one, and w'x + b = 2^e (W z + b).

    Every row has an e of its own, and b (n, K) as many.
    """
    f = int(np.frexp(np.abs(W).max(initial=0.0))[1])
    top = abs(X).max(axis=1)
    top = np.asarray(top.todense()).ravel() if is_sparse(X) else top
    own = np.frexp(np.asarray(top, dtype=np.float64))[1].astype(np.int64) + f
    e = np.maximum(own, int(np.frexp(np.abs(b).max())[1])) if b.any() else own
    if is_sparse(X):
        Z = X.astype(np.float64)
        Z.data = np.ldexp(Z.data, np.repeat(f - e, np.diff(X.indptr)))
    else:
        Z = np.ldexp(np.asarray(X, dtype=np.float64), (f - e)[:, None])
    return Z, np.ldexp(W, -f), np.ldexp(b, -e[:, None]), e


def _gaps(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """By how much each sample is on its right side, and what rounding may have done to that."""
    p, K = X.shape[1], len(W)
    V = np.asarray(X @ W.T, dtype=np.float64)
    V += b
    if K == 1:
        gap, size = np.where(codes == 1, V[:, 0], -V[:, 0]), _sizes(W, b, X)[:, 0]
        return gap, 1.01 * (p + 3) * UNIT * size + (p + 3) * UNDERFLOW
    own = np.arange(len(codes)), codes
    gap = V[own]
    V[own] = -np.inf
    gap -= V.max(axis=1)
    if is_sparse(X) or b.ndim == 2:
        each = _sizes(W, b, X)
        size = each[own] + each.max(axis=1)
    else:  # no sum of another class is above that of the largest weights: K sums become two
        x, w = np.abs(X), np.abs(W)
        size = np.einsum("ij,ij->i", x, w[codes]) + np.abs(b)[codes]
        size += x @ w.max(axis=0) + np.abs(b).max()
    return gap, 1.01 * (p + 3) * UNIT * size + 2 * (p + 3) * UNDERFLOW


def _sizes(W: Array, b: Array, X: Any) -> Array:
    """|W||x| + |b| of each row, (n, K)."""
    return np.asarray(abs(X) @ np.abs(W).T, dtype=np.float64) + np.abs(b)
