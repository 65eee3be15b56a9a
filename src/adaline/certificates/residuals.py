"""How far ridge weights can be from the exact ones, by their gradient alone.

The exact weights w* solve (A'A + lam) (w* - w) = g, where g = A'(y - A w) - lam w is the gradient
at any w. A'A has no negative eigenvalue, so that |w* - w| <= |g| / lam. What is left to bound is
the rounding of g itself, which is computed in float64 from sparse rows:

    residuals:  |fl(x'w) - x'w| <= gamma(m) |x|'|w| for m nonzeros in a row, in all
                gamma(m) N |w| with N >= the spectral norm of |X|, and what adding y costs
    sums:       column j with c_j nonzeros: gamma(c_j) |x_j| |r|
    centring:   sum omega (x - mean) r' = 0 for every constant r', so that only the error of the
                mean times sum omega r counts

A constant in the residuals does not matter, and nothing here trusts how w was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from adaline.linalg import UNIT, lengths
from adaline.results import Array

_SLACK = 1.01  # the bounds themselves are computed in float64
_SMALL = 1e-150  # products below this may be lost


@dataclass(frozen=True)
class SparseSizes:
    """What rounding needs to know of weighted sparse rows.

    norm >= the spectral norm of diag(root) |X|; columns (p,) lengths of the weighted columns about
    zero; counts (p,) their nonzeros; longest, the most nonzeros of a row.
    """

    norm: float
    columns: Array
    counts: Array
    longest: int
    weight: float


def gradient_bounds(
    sizes: SparseSizes,
    mean: Array,
    root: Array,
    pulled: Array,
    residuals: Array,
    values: Array,
    targets: Array,
    lam: Array,
    W: Array,
) -> tuple[Array, Array]:
    """Bounds on |w - w*| of each target, and the gradients G (p, k).

    pulled (p, k) is X'(omega r) as float64 has it, residuals and values and targets (n, k) are r
    = B - V as float64 has them; W (p, k).
    """
    sums = np.array([fsum(c) for c in (root[:, None] ** 2 * residuals).T])
    shifts = np.multiply.outer(mean, sums)
    G = pulled - shifts - lam * W
    size_r, size_v, size_b = (lengths((root[:, None] * M).T) for M in (residuals, values, targets))
    size_w, drift = lengths(W.T), UNIT * (sizes.counts + 8) * sizes.columns
    wrong = UNIT * (sizes.longest + 4) * sizes.norm * size_w + 4 * UNIT * (size_r + size_v + size_b)
    doubt = sizes.norm * wrong  # of the residuals
    doubt += float(np.linalg.norm(drift)) * size_r  # of the sums over rows
    off = np.abs(sums) + 4 * UNIT * np.sqrt(sizes.weight) * size_r
    doubt += float(np.linalg.norm(drift)) / np.sqrt(sizes.weight) * off  # of the mean
    doubt += 4 * UNIT * np.sqrt(sizes.weight) * float(np.linalg.norm(mean)) * size_r
    size_g = lengths(G.T)
    doubt += 4 * UNIT * (size_g + 2 * lengths(shifts.T) + 2 * lam * size_w) + _SMALL
    return _SLACK * (size_g + doubt) / lam, G
