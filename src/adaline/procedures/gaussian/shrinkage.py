"""How far to shrink correlations towards zero: R becomes (1 - a) R + a I.

Letters: S scatter, n weight and r rounding of a class (of all classes if they share a covariance),
u standard deviations, R = S / (n u u'), z = (x - m_k) / u a standardised row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.class_moments import ClassMoments
from adaline.results import Array
from adaline.row_sums.class_tiles import Codes, class_tiles

NOTHING = 2.0**-500  # a variance below this is none: columns are in units of about one


def groups(m: ClassMoments) -> list[tuple[Array, Array, float]]:
    """Scatter, rounding and weight of what has a covariance of its own: all, or each class."""
    if m.covariance == "shared":
        return [(m.scatter, m.rounding, float(m.weight.sum()))]
    return list(zip(m.scatter, m.rounding, m.weight.tolist(), strict=True))


def variances(S: Array, r: Array, n: float) -> Array:
    """Variances of the features, and zero where rounding cannot tell them from zero."""
    spread = S.diagonal() if S.ndim == 2 else S
    return np.where(spread > 4 * r**2, spread, 0.0) / (n or 1.0)


def drowned(spread: Array, r: Array, n: Any) -> NDArray[np.bool_]:
    """Features for which rounding hides whether they vary; constants are exact and not listed.

    All may be of one class, or spread and r (K, p) and n (K, 1) of all.
    """
    found = ~(spread > 4 * r**2)  # of NaN, too
    return np.asarray(found & ~(r * r <= NOTHING * n) & (n > 0))


def ledoit_wolf(X: Any, codes: Codes, omega: Array | None, m: ClassMoments) -> list[float]:
    """Ledoit & Wolf (2004) on standardised rows, which makes it free of units.

    a = sum of the variances of R_ij / sum of (R_ij - I_ij)^2. The variances need sum |z|^4, and so
    the rows once more. Agrees with `sklearn.covariance.ledoit_wolf` of the rows z.
    """
    scale, fourth = np.ldexp(1.0, -m.exponent), np.zeros(m.K)
    u = np.sqrt([variances(*group) for group in groups(m)])
    inverse = np.divide(1.0, u, out=np.zeros_like(u), where=u > 0)
    sums = np.zeros_like(m.mean)
    for tile, _, rows in class_tiles(X, codes, np.empty(0), scale, m.mean, sums):
        c = codes[rows]
        tile *= inverse[c] if len(inverse) > 1 else inverse
        squares = np.einsum("ij,ij->i", tile, tile) ** 2
        fourth += np.bincount(c, squares if omega is None else squares * omega[rows], m.K)
    fourth = fourth.sum(keepdims=True) if len(u) == 1 else fourth
    shares = []
    for (S, r, n), total in zip(groups(m), fourth, strict=True):
        squared, p = _squared_correlations(S, r, n)
        shares.append(_share(max(total / (n or 1.0) - squared, 0.0), n * (squared - p)))
    return shares


def rao_blackwell(m: ClassMoments) -> list[float]:
    """The same aim from moments alone (Chen, Wiesel, Eldar & Hero 2010).

    It is what Ledoit and Wolf's estimate is on average over Gaussian rows with these moments.
    """
    shares = []
    for S, r, n in groups(m):
        squared, p = _squared_correlations(S, r, n)
        wanted = max(n - 2, 0.0) / (n or 1.0) * squared + p**2
        shares.append(_share(wanted, (n + 2) * (squared - p)))
    return shares


def _squared_correlations(S: Array, r: Array, n: float) -> tuple[float, int]:
    """Sum of R_ij^2 over the features that vary, and their number."""
    variance = variances(S, r, n)
    live = np.flatnonzero(variance > 0)
    u = np.sqrt(variance[live])
    R = S[np.ix_(live, live)] / ((n or 1.0) * np.outer(u, u))
    return float(np.sum(R * R)), len(live)


def _share(wanted: float, away: float) -> float:
    return 1.0 if wanted >= away else wanted / away
