"""How many digits of a least-squares solution are proven, from residuals and rounding bounds.

Let A hold the centred samples, W be any matrix with W' A'A W = I + E, and alpha >= |E|. For any
x with gradient g = A'(y - A x), the exact solution x* satisfies

    x* - x = W (I + E)^-1 W' g,      so      |x* - x - W W'g|_i <= |W_i| alpha/(1 - alpha) |W'g|

where W_i is a row of W (Rump's verification idea, for least squares). Nothing here trusts the
procedure that found x or W: they only have to make the numbers small.

Legend: u = 2^-53; gamma(k) = k u / (1 - k u) bounds k rounded operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from adaline.certificates._digits import stated, stated_together
from adaline.linalg import (
    UNDERFLOW,
    UNIT,
    column_lengths,
    lengths,
    multiplication_by,
    times_power,
)
from adaline.results import Array, Certificate, Fit

_SLACK = 1.01  # the bounds themselves are computed in float64
_LOST = 2.0**-1072  # more than a number and what rounding left of it lose below float64's range


def gamma(k: int) -> float:
    """Relative error of k rounded operations in a row."""
    return k * UNIT / (1 - k * UNIT)


def contraction(G: Array, W: Array, rounding: Array) -> float:
    """alpha >= |W' A'A W - I|, where G is A'A up to `rounding`: |G_jk - exact| <= rho_j rho_k.

    G is symmetric and has a positive diagonal, its inverse has too.
    """
    p, times = len(W), multiplication_by(W)
    E = times(times(G.T, W).T, W)  # BLAS wants columns that lie in one piece, as rows of G do
    E.flat[:: p + 1] -= 1.0
    sizes = np.abs(W)
    own = gamma(2 * p + 2) * _size_of_products(np.abs(G), sizes)
    return float(_SLACK * (_norm(E) + own + _square(rounding @ sizes)))


def contraction_with_ones(alpha: float, W: Array, coupling: Array) -> float:
    """alpha for (A, 1/sqrt(n)) and (W, 1) in the place of A and W, where columns of A are centred
    up to `coupling`: their sums over sqrt(n).
    """
    return float(alpha + _SLACK * 2 * _norm(coupling @ np.abs(W)))


def _size_of_products(G: Array, W: Array) -> float:
    """A bound on the Frobenius norm of W'GW, without a product of matrices; none is negative.

    For T = diag(sqrt(G_jj)) it is at most |T^-1 G T^-1| |TW|_F^2 in spectral norm, and that of a
    symmetric matrix is at most its largest row sum (Higham 2002, section 6.2). No units count here.
    """
    t = np.sqrt(G.diagonal())
    return float(np.max(G @ (1 / t) / t, initial=0.0)) * _square(t[:, None] * W)


def _norm(A: Array) -> float:
    """Frobenius norm; numpy's takes some microseconds more to find out which is meant."""
    return sqrt(_square(A))


def _square(A: Array) -> float:
    """That squared; infinite where it leaves float64."""
    flat = A.ravel(order="K")
    return float(flat @ flat)


def contraction_of_rows(K: Array, W: Array, lengths: Array, ridge: Array, additions: int) -> float:
    """alpha >= |W' (A'A + ridge) W - I| from K = B'B, where B = A W was formed in float64.

    K may have one more row and column, for the column of ones beside A. lengths (p,) bound the
    columns of A; `additions` bounds the terms of each sum in K.
    """
    p = len(W)
    E = K - np.eye(len(K))
    E[:p, :p] += (W.T * ridge) @ W
    frobenius = np.sqrt(np.trace(K))
    error = gamma(p + 4) * float(lengths @ np.linalg.norm(W, axis=1))
    own = gamma(additions) * frobenius**2 + 2 * frobenius * error + error * error  # ** would raise
    own += gamma(2 * p) * float(ridge @ np.linalg.norm(W, axis=1) ** 2)
    return float(_SLACK * (np.linalg.norm(E) + own))


def contraction_with_low_parts(alpha: float, W: Array, lengths: Array) -> float:
    """alpha for A + L in the place of A, where |L_ij| <= u |A_ij|: samples beyond float64."""
    moved = UNIT * float(lengths @ np.linalg.norm(W, axis=1))
    whole = np.sqrt(len(W) * (1 + alpha))
    return _SLACK * (alpha + 2 * float(whole) * moved + moved * moved)


def without_correction(W: Array, alpha: float, g: Array, doubt: Array) -> Array:
    """Bounds |x* - x| for each coefficient of k targets, (p, k): |W_i| |(I + E)^-1 W'g|.

    doubt (k,) bounds the length of |W|' times the error of g; infinite where alpha proves nothing.
    """
    if not alpha < 1:
        return np.full(g.shape, np.inf)
    own = gamma(len(g) + 1) * _norm(W) * column_lengths(g)
    reach = (column_lengths(W.T @ g) + own + doubt) / (1 - alpha)
    return np.asarray(np.multiply.outer(_SLACK * column_lengths(W.T), reach))


def doubt_of_gradients(W: Array, sizes: Array, rounding: Array, w: Array) -> Array:
    """Bounds on the lengths of |W|'e, where e (p, k) is the error of g = c - G w, (k,).

    sizes and rounding are (p + k,), of x and y: |G_ij| and |c_jt| are at most the product of two
    sizes, and off by that of two roundings. w is (p, k).
    """
    p, both = len(W), np.stack([sizes, rounding])
    reach = both[:, p:] + both[:, :p] @ np.abs(w)
    far = column_lengths(np.abs(W.T) @ both[:, :p].T) * (gamma(p + 2), 1.0)
    return np.asarray(far @ reach)


def each_without_correction(W: Array, alpha: float, far: Array) -> Array:
    """The same from bounds far (p, k) on |G (x* - x)|, a few times smaller, at p^3 more products.

    For E = W'GW - I, |E| <= alpha, the inverse of G is W (I + E)^-1 W', that of I + E is I up to
    alpha / (1 - alpha). So |x* - x| is at most |W W'| far, plus |W_i| alpha / (1 - alpha) times the
    length of |W|'far; each number of W W' is off by gamma times the lengths of two rows of W.
    """
    if not alpha < 1:
        return np.full(far.shape, np.inf)
    rows = column_lengths(W.T)
    rest = alpha / (1 - alpha) * column_lengths(np.abs(W.T) @ far) + gamma(len(W) + 2) * (
        rows @ far
    )
    return np.asarray(_SLACK * (np.abs(W @ W.T) @ far + np.multiply.outer(rows, rest)))


def noise_of_gradients(sizes: Array, rounding: Array, w: Array) -> Array:
    """Bounds on the errors of g = c - G w, (p, k); see `doubt_of_gradients`."""
    p = len(w)
    found = np.multiply.outer(rounding[:p], rounding[p:] + rounding[:p] @ np.abs(w))
    found += gamma(p + 2) * np.multiply.outer(sizes[:p], sizes[p:] + sizes[:p] @ np.abs(w))
    return np.asarray(_SLACK * found)


def bound_of_bias(mean: Array, mean_rounding: Array, w: Array, bounds: Array) -> Array:
    """Bounds |b* - b| of the biases b = mean_y - mean_x'w of k targets, (k,).

    mean and mean_rounding are (p + k,), of x and y; w (p, k) are within bounds of the exact w*.
    Then b* - b is that of mean_y, less mean_x'(w* - w), less the error of mean_x times w*, less
    the rounding of b itself.
    """
    p, size = len(w), np.abs(mean)
    doubt = mean_rounding[p:] + mean_rounding[:p] @ (np.abs(w) + bounds)
    doubt += size[:p] @ bounds + gamma(p + 2) * (size[p:] + size[:p] @ np.abs(w))
    return np.asarray(_SLACK * doubt)


def in_users_units(bounds: Array, exponent: NDArray[np.int64]) -> Array:
    """Bounds times 2**exponent, plus what underflow may cost in these units and in the user's."""
    return np.asarray(times_power(bounds + UNDERFLOW, exponent) + _LOST)


def certificate_of_digits(
    weights: Array,
    bounds: Array,
    floor: Array,
    alpha: float,
    condition: float,
    missing: str = "",
) -> Certificate:
    """The certificate that bounds on |weights - exact| allow, the last rounding included.

    A weight below `floor` counts as a zero of that size. `missing` names what has no bound.
    """
    return stated(weights, bounds, floor, {"contraction": alpha, "condition": condition}, missing)


def certificate_together(W: Array, bounds: Array, low: Array, condition: float) -> Certificate:
    """The certificate that a bound on |w + low - exact| for each target's weights w allows.

    W and low (k, p): weights, and what rounding them to float64 left over.
    """
    grown = _SLACK * (bounds + lengths(low))
    return stated_together(W, grown, {"condition": condition})


def certificate_of_targets(fits: Sequence[Fit], order: NDArray[np.intp]) -> Certificate:
    """One statement for targets that were solved apart, in this order, each with its bounds.

    Where some fits have no bound on the intercept, nothing is said of it.
    """
    found = [fit.certificate.evidence for fit in fits]
    rows = min(len(e["error_bound"]) for e in found)
    bounds, floor = (
        np.hstack([e[key][:rows] for e in found])[:, order] for key in ("error_bound", "floor")
    )
    weights = np.hstack([np.vstack([fit.W.T, fit.b])[:rows] for fit in fits])[:, order]
    numbers = {key: max(e[key] for e in found) for key in ("contraction", "condition")}
    missing = max((e.get("without_bound", "") for e in found), key=len)
    whole = stated(weights, bounds, floor, numbers, missing)
    said = f"of {len(order)} targets, the least certain: {whole.statement}"
    return Certificate(whole.kind, said, whole.evidence)
