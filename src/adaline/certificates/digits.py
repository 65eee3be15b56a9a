"""How far weights can be from the exact ones: theorem (a), for squared errors.

Called by `procedures.least_squares`, `ridge` and `krylov`. Nothing here trusts the procedure that
found the weights.

**Theorem.** Let S = A'A, A the rows about their means, D >= 0 the penalties, and w* minimise
|y - A w|^2 + w'D w. Take any w, its gradient g = A'(y - A w) - D w, any step d and any invertible
V. With lambda a lower bound on the eigenvalues of V'(S + D)V,

    |V^-1 (w* - w - d)| <= |V'(g - (S + D)d)| / lambda.

*Proof.* (S + D)(w* - w) = g, so that V'(S + D)V V^-1 (w* - w - d) = V'(g - (S + D)d).

If the residuals y - A w are off by f, g is off by A'f, and since |A V e| <= sqrt(e'V'(S + D)V e)
the solution moves by at most |f| / sqrt(lambda) instead.

**Choices of V.** The inverse of a triangle R, of the moments (`cholesky_defect`) or of the rows
(`triangle_defect`): V'(S + D)V = I + E with |E| <= alpha, so that lambda = 1 - alpha. Or the
identity, with the least penalty for lambda, as S has no negative eigenvalue.

u = 2^-53; gamma(k) = k u / (1 - k u) bounds k rounded operations (Higham 2002, section 3.1).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNDERFLOW, UNIT, lengths
from adaline.results import Array

SLACK = 1.01  # the bounds themselves are computed in float64
LOST = 2.0**-1072  # more than a number and what rounding left of it lose below float64's range


def gamma(k: int) -> float:
    """Relative error of k rounded operations in a row."""
    return k * UNIT / (1 - k * UNIT)


def lengths_of(A: Array) -> Array:
    """Euclidean length of each column, also where squares leave float64's range."""
    with np.errstate(over="ignore", under="ignore"):
        size = np.sqrt(np.einsum("ij,ij->j", A, A))
    if ((size > 1e-140) & (size < 1e140)).all():
        return np.asarray(size)
    return lengths(np.ascontiguousarray(A.T))


def cholesky_defect(G: Array, R: Array, V: Array, rounding: Array) -> float:
    """alpha >= |V'(S + D)V - I| for V = R^-1, R'R = G as computed, G = S + D up to `rounding`.

    R'R = G + F with |F_jk| <= gamma(p + 1) sqrt(G_jj G_kk) (Higham 2002, theorem 10.5), and one
    rounding more for the diagonal of G; V'F V is at most gamma |(|V|'d)|^2 for d_j = sqrt(G_jj).
    The inverse leaves R V - I = R C V, |C| <= gamma(p) |V||R| (section 14.2), of length delta.
    """
    p, sizes = len(G), np.abs(V)
    with np.errstate(over="ignore", invalid="ignore"):
        of_factor = float(np.sum((np.sqrt(np.diagonal(G)) @ sizes) ** 2))
        of_sums = float(np.sum((rounding @ sizes) ** 2))
        delta = gamma(p + 1) * float(np.sum(R * R)) * float(np.sum(V * V))
    if not delta < 0.5:
        return 1.0  # which proves nothing
    delta /= 1 - delta  # the inverse of R itself is longer than V by as much
    return smaller(SLACK * (gamma(p + 3) * of_factor + of_sums + 2 * delta + delta * delta))


def smaller(alpha: float) -> float:
    """alpha, or 1, which proves nothing; also for NaN."""
    return float(alpha) if alpha < 1.0 else 1.0


def triangle_defect(
    K: Array, added: int, V: Array, columns: Array, D: Array, drift: Array
) -> float:
    """alpha >= |V'(S + D)V - I|, where K is B'B for B = A V as computed in float64.

    columns (p,) bound the lengths of those of A; sums in K have at most `added` terms; drift (p,)
    bounds sqrt(n) times how far columns are from centred, which counts squared.
    """
    p = len(V)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.asarray(lengths(V))
        E = K - np.eye(p) + (V.T * D) @ V
        frobenius = sqrt(float(np.trace(K)))
        error = gamma(p + 4) * float(columns @ rows)  # of B
        own = gamma(added) * frobenius**2 + 2 * frobenius * error + error * error
        own += gamma(2 * p) * float(D @ rows**2) + float(drift @ rows) ** 2
        return smaller(SLACK * (float(np.linalg.norm(E)) + own))


def noise_of_sums(
    size: Array, rounding: Array, size_y: Array, rounding_y: Array, D: Array, w: Array
) -> Array:
    """Bounds on the errors of g = c - (S + D)w from moments, (p, k).

    |S_ij| is at most size_i size_j and off by rounding_i rounding_j, and c likewise.
    """
    reach, doubt = size_y + size @ np.abs(w), rounding_y + rounding @ np.abs(w)
    own = np.multiply.outer(size, reach) + D * np.abs(w)
    return np.asarray(SLACK * (gamma(len(w) + 4) * own + np.multiply.outer(rounding, doubt)))


def in_users_units(bounds: Array, exponent: NDArray[Any]) -> Array:
    """Bounds times 2**exponent, plus what underflow may cost in these units and in the user's."""
    return np.asarray(np.ldexp(bounds + UNDERFLOW, exponent) + LOST)


def outward(bound: Array) -> Array:
    """A little more than the bound: it was added up in float64, and may have underflowed."""
    return np.asarray(np.nextafter(np.nextafter(bound, np.inf), np.inf))
