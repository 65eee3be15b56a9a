"""On which side each sample provably lies, how wide a margin is, and the mistakes it allows.

Any direction w that separates gives a lower bound, the margin it has. Any two points p and q of
the classes' convex hulls give an upper one, half of their distance: no hyperplane between them can
be farther from both. Rounding errors are bounded, and counted against the claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline.certificates.separation.data import validate_labels
from adaline.errors import plural
from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.parameters import NONE, NUMBER, is_sparse, named, numbers
from adaline.results import Array, Certificate, Result
from adaline.sums.rows import as_rows, check_finite
from adaline.sums.values import in_range

BLOCK = 4096  # rows at a time; any round number
COUNTED = 50_000  # rows up to which all on the wrong side are counted: more take as long as a fit


def separation(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> Certificate:
    """Whether all samples are on the correct side, by more than rounding could have moved them.

    Two classes (K = 1 neuron): t (w'x + b) > 0 with t = ±1. More: the neuron of the own class is
    larger than every other. X is dense or CSR.
    """
    least, wrong, close, n, proven, at_least = np.inf, 0, 0, X.shape[0], True, ""
    for i in range(0, n, BLOCK):
        gap, doubt, bound = sides(W, b, X[i : i + BLOCK], codes[i : i + BLOCK])
        least = min(least, float(bound.min()))  # never NaN: what is not finite is -inf
        proven = proven and bool(np.all(gap > doubt))
        wrong += int(np.count_nonzero(~(gap > 0.0)))
        close += int(np.count_nonzero(~(np.abs(gap) >= doubt)))
        if wrong and COUNTED < n > i + BLOCK:  # nothing is left to prove
            at_least = "at least "
            break
    proven = proven and bool(np.isfinite(W).all() and np.isfinite(b).all())
    evidence = {"wrong": wrong, "too_close": close, "samples": n, "least_margin": least}
    if proven:
        statement = (
            f"all {n} samples are classified correctly, by at least {least:.2g} in the score: the "
            "classes are linearly separable."
        )
        return Certificate("separable", statement, evidence)
    are = "is" if wrong == 1 else "are"
    near = f", {close} within rounding of the boundary" if close else ""
    statement = f"{at_least}{wrong} of {plural(n, 'sample')} {are} on the wrong side{near}"
    return Certificate(
        "undecided",
        f"{statement}; separability is undecided: `separability(X, y)` decides it.",
        evidence,
    )


def sides(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """How far each sample is on the correct side, what rounding may have done, and the difference.

    The first two may be in units of their own for each row, the last is in those of w'x + b.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        gap, doubt = gaps(W, b, X, codes)
        bound = gap - doubt
        small = np.abs(gap) < 2.0**80 * X.shape[1] * UNDERFLOW  # products may have underflowed
        if np.isfinite(bound).all() and not (small.any() and W.any()):
            return gap, doubt, bound
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            return gap, doubt, np.full(len(gap), -np.inf)
        Z, w, bias, e = in_range(X, W, b)
        gap, doubt = gaps(w, bias, Z, codes)
        bound = np.ldexp(gap - doubt, e)
        # Numbers below the normal range may have been rounded up on the way back.
        bound = np.where(np.abs(bound) < UNDERFLOW, np.nextafter(bound, -np.inf), bound)
        largest = np.finfo(np.float64).max
        return gap, doubt, np.clip(bound, -largest, largest)


def gaps(W: Array, b: Array, X: Any, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """By how much each sample is on the correct side, and what rounding may have done to that."""
    p, K = X.shape[1], len(W)
    V = np.asarray(X @ W.T, dtype=np.float64)
    V += b
    if K == 1:
        gap, size = np.where(codes == 1, V[:, 0], -V[:, 0]), sizes(W, b, X)[:, 0]
        return gap, 1.01 * (p + 3) * UNIT * size + (p + 3) * UNDERFLOW
    own = np.arange(len(codes)), codes
    gap = V[own]
    V[own] = -np.inf
    gap -= V.max(axis=1)
    if is_sparse(X) or b.ndim == 2:
        each = sizes(W, b, X)
        size = each[own] + each.max(axis=1)
    else:  # no sum of another class is above that of the largest weights: K sums become two
        x, w = np.abs(X), np.abs(W)
        size = np.einsum("ij,ij->i", x, w[codes]) + np.abs(b)[codes]
        size += x @ w.max(axis=0) + np.abs(b).max()
    return gap, 1.01 * (p + 3) * UNIT * size + 2 * (p + 3) * UNDERFLOW


def sizes(W: Array, b: Array, X: Any) -> Array:
    return np.asarray(abs(X) @ np.abs(W).T, dtype=np.float64) + np.abs(b)


def margin_bounds(
    Z: Any, t: Array, w: Array, support: NDArray[np.int64], weights: Array, bias: bool
) -> tuple[float, float]:
    """(lower, upper) of max over unit w (and b) of min t (w'z + b).

    Z (n, p) holds samples, dense or CSR, with no entry above two, each right to one rounding or to
    underflow; t is -1 or +1. A lower bound of zero or less says that rounding hides the margin of
    the direction w. Rows `support` with their weights are convex combinations: of each class with a
    bias, else of t z.
    """
    lower = margin_of(Z, t, w, bias)
    S = Z[support]
    S = S.toarray() if hasattr(S, "toarray") else S
    side = t[support]
    if not bias:
        point, doubt = combination(side[:, None] * S, weights)
        return lower, length_at_most(point, doubt)
    p, p_doubt = combination(S[side > 0], weights[side > 0])
    q, q_doubt = combination(S[side < 0], weights[side < 0])
    return lower, length_at_most(p - q, p_doubt + q_doubt + UNIT * np.abs(p - q)) / 2.0


def margin_of(Z: Any, t: Array, w: Array, bias: bool) -> float:
    """At most the margin of direction w, with the best b where there is one."""
    p, size = Z.shape[1], length(w)
    if size == 0.0:
        return 0.0
    tv = t * np.asarray(Z @ w)
    tv -= 1.01 * (p + 4) * UNIT * np.asarray(abs(Z) @ np.abs(w)) + (p + 4) * UNDERFLOW
    least = 0.5 * (tv[t > 0].min() + tv[t < 0].min()) if bias else tv.min()
    # |w| to one side: the quotient must not be rounded up.
    grow = 1.0 + 1.01 * (p + 6) * UNIT * (1.0 if least > 0 else -1.0)
    return float(least / (size * grow))


def combination(S: Array, weights: Array) -> tuple[Array, Array]:
    """weights' S / sum(weights), and a bound of what rounding did to each component."""
    total, m = float(weights.sum()), len(weights)
    size = weights @ np.abs(S) / total
    return weights @ S / total, 1.01 * (2 * m + 5) * UNIT * size + (m + 5) * UNDERFLOW


def length_at_most(point: Array, doubt: Array) -> float:
    """At least the length of what may lie within doubt of the point."""
    grow = 1.0 + 1.01 * (len(point) + 6) * UNIT
    return float((length(point) + length(doubt)) * grow)


@dataclass(frozen=True)
class MistakeBound(Result):
    """Upper bounds on the corrections of the fixed-increment perceptron from w = 0.

    Attributes
    ----------
    lecture : float
        beta/D^2 with beta = sum |x|^2 and D the distance of the closest sample from the hyperplane.
    sharp : float
        (R/gamma)^2 with R the longest sample; gamma is the lecture's D.
    D, R : float
        Both with the bias's input 1 counted in x and w where there is a bias.
    """

    lecture: float
    sharp: float
    D: float
    R: float


def mistake_bound(X: Any, y: ArrayLike, w: ArrayLike, b: float | None = None) -> MistakeBound:
    """How often the perceptron can be wrong at most, given a hyperplane (w, b) that separates.

    N <= beta/D^2, and sharper N <= (R/gamma)^2, for any order of the samples, any constant eta and
    any number of passes. b is None for a learner without a bias. Public as `adaline.mistake_bound`.

    >>> X = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]]
    >>> bound = mistake_bound(X, [-1, 1, 1, 1], w=[1, 1, -1])
    >>> round(bound.lecture, 9), round(bound.sharp, 9)
    (36.0, 9.0)
    """
    X, _, _ = as_rows(X, None, None)
    (NUMBER | NONE)("b", b)
    b = None if b is None else float(b)
    labels, weights = validate_labels(y, X.shape[0]), numbers("w", w).ravel()
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise named(error, "y") from None
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; the bound is for two.")
    if weights.shape != (X.shape[1],) or not np.isfinite(weights).all():
        raise ValueError(
            f"X has {X.shape[1]} columns and w has shape {weights.shape}; expected as many finite "
            "numbers."
        )
    check_finite(X)
    # One power of two for all samples and one for (w, b): what is squared stays in range, and
    # quotients do not change.
    n, p = X.shape
    e = max(int(np.frexp(max(abs(X).max(), float(b is not None)))[1]), -1000)
    f = int(np.frexp(max(float(np.abs(weights).max(initial=0.0)), abs(b or 0.0)))[1])
    X, weights = X.astype(np.float64) * 2.0**-e, np.ldexp(weights, -f)
    b = None if b is None else np.ldexp(b, -f)
    bias = float(np.ldexp(b or 0.0, -e))
    values = np.asarray(X @ weights, dtype=np.float64) + bias
    # What rounding may have added to the margin is taken off: a bound must not be too small.
    doubt = 1.01 * (p + 4) * UNIT * (np.asarray(abs(X) @ np.abs(weights)) + abs(bias))
    margin = float((np.where(codes == 1, values, -values) - doubt - (p + 4) * UNDERFLOW).min())
    if not margin > 0.0:
        with np.errstate(over="ignore"):
            least = float(np.ldexp(margin, e + f))
        raise ValueError(
            f"(w, b) does not separate: the least t (w'x + b) is {least:.4g}. The bound needs a "
            "hyperplane that classifies every sample correctly."
        )
    grow = 1.0 + 1.01 * (p + 6) * UNIT
    size = length(np.append(weights, b or 0.0)) * grow
    squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
    one = float(np.ldexp(1.0, -e)) if b is not None else 0.0
    squares = np.asarray(squares, dtype=np.float64).ravel() + one * one
    D, R2 = margin / size, float(squares.max()) * grow
    beta = float(squares.sum()) * grow * (1.0 + 1.01 * n * UNIT)
    with np.errstate(over="ignore"):  # a length that no float64 can be is infinite
        R, distance = float(np.ldexp(np.sqrt(R2), e)), float(np.ldexp(D, e))
        # Quotients of numpy's numbers are infinite where they overflow, not an error.
        lecture, sharp = (float(np.float64(a) / D / D) for a in (beta, R2))
    return MistakeBound(lecture, sharp, distance, R)
