"""How many rows the Hessian should be a sum of. Costs are counted in passes for a gradient.

A Hessian of m of the n rows is good enough for steps. If rows are like independent draws, the
eigenvalues of H_m relative to H_n lie within (1 +- s)^2 with

    s^2 = q (1/m - 1/n)

(Marchenko & Pastur 1967), and each pass of conjugate gradients then shrinks the error by a factor
of s. More rows mean fewer passes; `best_stride` minimises the sum of both costs. Where most of the
correlations are sampling noise they are shrunk towards zero, which leaves

    s^2 = q (1/m - 1/n) a / (a + q^2 (1/m - 1/n))

with a the sum of the squared true correlations (Ledoit & Wolf 2004), plus about 8 (1/m - 1/n) for
the variances: columns that are hardly correlated need few rows.

Letters: n rows, q columns, K classes, H Hessian (q, q), nu Newton decrement. A stride k means every
k-th row; `chance` is the variance 1/m - 1/n of a correlation by sampling.
"""

from __future__ import annotations

import numpy as np

from adaline.linalg import UNIT
from adaline.objective import Objective
from adaline.results import Array

WORK = 1e8  # n q^2 up to which all rows are summed
FEWEST = 4  # times q: rows of a Hessian, at least
_DEAR = 12.0  # passes that a Hessian costs, from which steps without it are tried first
_GOOD = 30  # times q: rows whose Hessian is about that of all
_PRODUCTS = 25.0  # columns whose products cost as much as a row of a gradient
_FACTOR = 0.05  # passes of n rows for a factorisation, times n / q^2
_VARIANCES = 8.0  # sampling variance of the largest variance, over that of a correlation
_FAR = 0.005  # s^2 between the Hessian at the minimum and one transported there from zero
_SMALL = 0.02  # s^2, up to which a Hessian is as good as that of all rows
_LEAST = 2.0  # passes that even Newton's own steps need
_ROWS, _EACH = 2048, 40  # rows that transport a Hessian, at least, and for each dimension of it
_SPARE = 4  # times as many rows must be there for them to pay
_MOST = 200  # dimensions


def price(loss: Objective, stride: int, sums: int = 1) -> float:
    """Cost, in passes, of `sums` Gram matrices of every stride-th row, and of factoring them."""
    n, q = loss.X.shape[0], len(loss.penalty)
    dearer = 1.0 if loss.K == 1 else 1.0 + loss.K / 5.0  # gradients of K classes
    return float(sums * ((1.0 + q / _PRODUCTS) / stride + _FACTOR * q * q / n) / dearer)


def is_dear(loss: Objective, stride: int = 0) -> bool:
    """Whether a Hessian costs so much that steps and proofs without it are tried first.

    They need a penalty of all columns: it is all they know of the least curvature. With stride = 0,
    the Hessian is one of so many rows that it serves all steps.
    """
    stride = stride or max(loss.X.shape[0] // (_GOOD * len(loss.penalty)), 1)
    return price(loss, stride) > _DEAR and bool((loss.penalty[:-1] > 0).all())


def expected_passes(
    loss: Objective, stride: int, left: float, related: float = np.inf, far: bool = False
) -> float:
    """Passes until nu has shrunk by exp(left), with the Hessian of every stride-th row.

    related is the sum of the squared correlations between columns; far tells that the minimum is
    too far away for the Hessian to be the same there.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    chance = (stride - 1.0) / n
    kept = related / (related + q * q * chance) if 0.0 < related < np.inf else 1.0 * (related > 0)
    squared = chance * (q * kept + _VARIANCES) + _FAR * far
    if squared >= 1.0:
        return np.inf
    return max(_LEAST, 2.0 * left / -np.log(squared)) if squared > 0.0 else _LEAST


def best_stride(
    loss: Objective, left: float, related: float = np.inf, sums: int = 1, far: bool = False
) -> int:
    """The stride for which the Hessian and the passes after it cost least together."""
    some = strides(loss)
    costs = [price(loss, e, sums) + expected_passes(loss, e, left, related, far) for e in some]
    return some[int(np.argmin(costs))]


def strides(loss: Objective) -> list[int]:
    """Strides that leave rows enough; 1 alone for small tables, and for little more rows than
    columns."""
    n, q = loss.X.shape[0], len(loss.penalty)
    if n * q * q <= WORK:
        return [1]
    return sorted({int(1.25**k) for k in range(80) if 1.25**k <= max(n / (FEWEST * q), 1.0)})


def proof_rows(loss: Objective) -> int:
    """The stride for a proof, which then costs about a pass.

    The Hessian of any rows is a lower bound, and one more step gains more than more rows would.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    if n * q * q <= WORK:
        return 1
    return int(np.clip(round(price(loss, 1)), 1, max(n // (FEWEST * q), 1)))


def sample_step(loss: Objective) -> int:
    """The stride of the rows that transport a Hessian; 0 where rows are too few for it to pay."""
    n, dimensions = loss.X.shape[0], max(loss.K**2 - 1, 2)
    stride = n // max(_ROWS, _EACH * dimensions)
    return stride if stride >= _SPARE and dimensions <= _MOST else 0


def correlations(H: Array, rows: float) -> float:
    """Sum of the squared correlations in H, minus what sampling this many rows gives by chance."""
    d = np.diagonal(H)
    squares = float(np.sum(H * H / np.where(d > 0, d, 1.0) / np.where(d > 0, d, 1.0)[:, None]))
    return max(squares - len(H) - len(H) ** 2 / rows, 0.0)


def shrunk(G: Array, penalty: Array, chance: float) -> tuple[Array, bool]:
    """G plus the penalty, its correlations shrunk by the share of them that is sampling noise.

    The second answer tells whether they were shrunk. They are not where s is small, so that
    nothing would be gained, and not where columns may be dependent, which shrinking would hide.
    """
    H, d = G.copy(), G.diagonal()
    H.flat[:: len(H) + 1] += penalty
    if len(H) * chance < _SMALL:
        return H, False
    if not (penalty[:-1] > 4e3 * len(G) ** 2 * UNIT * d[:-1]).all():
        return H, False
    related = correlations(G, 1.0 / chance)
    H *= related / (related + len(H) ** 2 * chance)
    np.fill_diagonal(H, d + penalty)
    return H, True
