"""How many rows a curvature is worth, counted in passes over all rows for a gradient.

A curvature of m rows serves for steps about as well as one of all n: where rows are like draws, its
eigenvalues, measured by those of the whole, lie within (1 +- s)^2 with

    s^2 = q (1/m - 1/n)

(Marchenko & Pastur 1967), and conjugate gradients then win a factor s a pass. More rows, fewer
passes; `cheapest` finds where the sum is least. Correlations that are mostly chance are shrunk
towards none, which leaves

    s^2 = q (1/m - 1/n) a / (a + q^2 (1/m - 1/n))

with a the sum of the squared correlations that are not chance (Ledoit & Wolf 2004), and about
8 (1/m - 1/n) more for the variances: columns that hardly depend on each other need few rows.

Letters: n rows, q columns, K classes, H curvature (q, q), nu distance from the minimum.
"""

from __future__ import annotations

import numpy as np

from adaline.linalg import UNIT
from adaline.objective import Objective
from adaline.results import Array

WORK = 1e8  # n q^2 up to which all rows are summed
FEWEST = 4  # times q: rows of a curvature, at least
_PRODUCTS = 25.0  # columns whose products cost as much as a row of a gradient
_FACTOR = 0.1  # passes of n rows for a factorisation, times n / q^2
_VARIANCES = 8.0  # times the chance in a correlation: that in the largest variance
_FAR = 0.005  # s^2 by which a curvature at zero misses that at the minimum, when taken there
_SMALL = 0.02  # s^2, up to which a curvature is as good as that of all rows
_LEAST = 2.0  # passes that even Newton's own steps need


def price(loss: Objective, every: int, sums: int = 1) -> float:
    """Passes that cost as much as `sums` Gram matrices of every so many-th row, factored."""
    n, q = loss.X.shape[0], len(loss.penalty)
    dearer = 1.0 if loss.K == 1 else 1.0 + loss.K / 5.0  # gradients of K classes
    return float(sums * ((1.0 + q / _PRODUCTS) / every + _FACTOR * q * q / n) / dearer)


def passes(
    loss: Objective, every: int, left: float, related: float = np.inf, far: bool = False
) -> float:
    """Passes until nu has shrunk by exp(left), with the curvature of every so many-th row.

    related is the sum of the squared correlations between columns; far where the minimum is not
    near enough for its curvature to be this one.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    chance = (every - 1.0) / n
    kept = related / (related + q * q * chance) if 0.0 < related < np.inf else 1.0 * (related > 0)
    squared = chance * (q * kept + _VARIANCES) + _FAR * far
    if squared >= 1.0:
        return np.inf
    return max(_LEAST, 2.0 * left / -np.log(squared)) if squared > 0.0 else _LEAST


def cheapest(
    loss: Objective, left: float, related: float = np.inf, sums: int = 1, far: bool = False
) -> int:
    """Every so many-th row: where a curvature and the passes after it cost least together."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if n * q * q <= WORK:
        return 1
    some = sorted({int(1.25**k) for k in range(80) if 1.25**k <= max(n / (FEWEST * q), 1.0)})
    costs = [price(loss, e, sums) + passes(loss, e, left, related, far) for e in some]
    return some[int(np.argmin(costs))]


def proof_rows(loss: Objective) -> int:
    """Every so many-th row for a proof, which then costs about a pass: any rows' curvature is
    less than that of all, and one more step gains more than more rows would."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if n * q * q <= WORK:
        return 1
    return int(np.clip(round(price(loss, 1)), 1, max(n // (FEWEST * q), 1)))


def correlations(H: Array, rows: float) -> float:
    """Sum of the squared correlations in H, a sum over so many rows, beyond what chance gives."""
    d = np.diagonal(H)
    squares = float(np.sum(H * H / np.where(d > 0, d, 1.0) / np.where(d > 0, d, 1.0)[:, None]))
    return max(squares - len(H) - len(H) ** 2 / rows, 0.0)


def shrunk(G: Array, penalty: Array, chance: float) -> tuple[Array, bool]:
    """G and the penalty, correlations shrunk by the part of them, squared, that is chance.

    chance is the variance of a correlation, 1/m - 1/n. Whether they were shrunk, too: not where s
    is small, so that nothing is to be gained, nor where without the correlations columns that
    depend on others would no longer be seen to.
    """
    H, d = G + np.diag(penalty), np.diagonal(G)
    regular = np.all(penalty[:-1] > 4e3 * len(G) ** 2 * UNIT * d[:-1])
    if len(H) * chance < _SMALL or not regular:
        return H, False
    related = correlations(G, 1.0 / chance)
    H *= related / (related + len(H) ** 2 * chance)
    np.fill_diagonal(H, d + penalty)
    return H, True
