"""Steps that learn from the last ones: the two loops of L-BFGS around a curvature that is known."""

from __future__ import annotations

from adaline.results import Array

MEMORY = 10  # steps that are remembered

Pairs = list[tuple[Array, Array]]  # steps, and what they did to the slope


def corrected(g: Array, pairs: Pairs, A: Array) -> Array:
    """About C^-1 g, for a curvature C of about (A A')^-1, corrected by what the pairs tell of it.

    >>> import numpy as np
    >>> corrected(np.array([4.0]), [(np.array([1.0]), np.array([2.0]))], np.eye(1))
    array([2.])
    """
    r, shares = g.copy(), []
    for s, y in reversed(pairs):
        shares.append(float(s @ r) / float(s @ y))
        r -= shares[-1] * y
    r = A @ (A.T @ r)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        r = r + (share - float(y @ r) / float(s @ y)) * s
    return r


def remember(pairs: Pairs, s: Array, y: Array) -> None:
    """Add a step that met curvature; forget the oldest beyond the memory."""
    if float(s @ y) > 0.0:
        pairs[:] = [*pairs[1 - MEMORY :], (s, y)]
