"""Between which two numbers the largest margin of two classes lies.

Any direction w that separates gives a lower bound, the margin it has. Any two points p and q of
the classes' convex hulls give an upper one, half of their distance: no hyperplane between them can
be farther from both. Rounding errors are bounded, and counted against the claim.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.results import Array


def margin_bounds(
    Z: Any, t: Array, w: Array, support: NDArray[np.int64], weights: Array, bias: bool
) -> tuple[float, float]:
    """(lower, upper) of max over unit w (and b) of min t (w'z + b).

    Z (n, p) holds samples, dense or CSR, with no entry above two, each right to one rounding or to
    underflow; t is -1 or +1. A lower bound of zero or less says that rounding hides the margin of
    the direction w. Rows `support` with their weights are convex combinations: of each class with a
    bias, else of t z.
    """
    lower = _margin_of(Z, t, w, bias)
    S = Z[support]
    S = S.toarray() if hasattr(S, "toarray") else S
    side = t[support]
    if not bias:
        point, doubt = _combination(side[:, None] * S, weights)
        return lower, _length(point, doubt)
    p, p_doubt = _combination(S[side > 0], weights[side > 0])
    q, q_doubt = _combination(S[side < 0], weights[side < 0])
    return lower, _length(p - q, p_doubt + q_doubt + UNIT * np.abs(p - q)) / 2.0


def _margin_of(Z: Any, t: Array, w: Array, bias: bool) -> float:
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


def _combination(S: Array, weights: Array) -> tuple[Array, Array]:
    """weights' S / sum(weights), and a bound of what rounding did to each component."""
    total, m = float(weights.sum()), len(weights)
    size = weights @ np.abs(S) / total
    return weights @ S / total, 1.01 * (2 * m + 5) * UNIT * size + (m + 5) * UNDERFLOW


def _length(point: Array, doubt: Array) -> float:
    """At least the length of what may lie within doubt of the point."""
    grow = 1.0 + 1.01 * (len(point) + 6) * UNIT
    return float((length(point) + length(doubt)) * grow)
