"""Conjugate gradients for many targets at once: each has its own step, and stops on its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from adaline.results import Array

_ROUNDING = 1e-14  # shares of the first gradient below which only rounding is left


def ridge_steps(
    product: Callable[[Array], Array], C: Array, lam: Array, D: Array, share: float, most: int
) -> tuple[Array, NDArray[np.int64]]:
    """W with (S + lam) W = C nearly, and the number of steps of each target.

    product(V) is S V; D (p,) is about the diagonal of S, for the preconditioner 1/(D + lam). A
    target is done where |gradient| <= share lam |w|: then w is within that share of the solution.
    """
    found, steps = np.zeros_like(C), np.zeros(C.shape[1], dtype=np.int64)
    least = _ROUNDING * _lengths(C)
    on = np.flatnonzero(least > 0.0)
    W, R, lam, least = np.zeros((len(C), len(on))), C[:, on], lam[on], least[on]
    scale = 1.0 / (D[:, None] + lam)
    V = scale * R
    rz = _dots(R, V)
    for step in range(1, most + 1):
        if not len(on):
            break
        Q = product(V)
        Q += lam * V
        a = rz / _dots(V, Q)
        W += a * V
        R -= a * Q
        left = _lengths(R)
        more = (left > share * lam * _lengths(W)) & (left > least) & np.isfinite(left)
        if step == most or not more.all():
            found[:, on], steps[on] = W, step
            on, lam, least, rz = on[more], lam[more], least[more], rz[more]
            W, R, V, scale = (M[:, more] for M in (W, R, V, scale))
        Z = scale * R
        new = _dots(R, Z)
        V *= new / rz
        V += Z
        rz = new
    return found, steps


def least_squares_steps(
    times: Callable[[Array], Array],
    transposed: Callable[[Array], Array],
    B: Array,
    share: float,
    most: int,
) -> tuple[Array, NDArray[np.int64]]:
    """W that minimises |B - A W|, of least norm, and steps of each target (CGLS: Hestenes and
    Stiefel 1952). Done where |A'r| <= share |A'b|.

    No preconditioner: from zero the steps stay in the span of the rows, where the solution of
    least norm lies, and other units would change what is least.
    """
    G = transposed(B)
    found, steps = np.zeros_like(G), np.zeros(B.shape[1], dtype=np.int64)
    first = _lengths(G)
    on = np.flatnonzero(first > 0.0)
    W, R, V, first = np.zeros((len(G), len(on))), B[:, on], G[:, on], first[on]
    gg = first**2
    for step in range(1, most + 1):
        if not len(on):
            break
        Q = times(V)
        a = gg / _dots(Q, Q)
        W += a * V
        R -= a * Q
        G = transposed(R)
        new = _dots(G, G)
        more = (new > (share * first) ** 2) & np.isfinite(new)
        if step == most or not more.all():
            found[:, on], steps[on] = W, step
            on, gg, new, first = on[more], gg[more], new[more], first[more]
            W, R, V, G = (M[:, more] for M in (W, R, V, G))
        V *= new / gg
        V += G
        gg = new
    return found, steps


def _dots(A: Array, B: Array) -> Array:
    """a'b of each column; of one column BLAS is several times faster than einsum."""
    if A.shape[1] == 1:
        return np.array([A[:, 0] @ B[:, 0]])
    return np.asarray(np.einsum("ij,ij->j", A, B))


def _lengths(A: Array) -> Array:
    return np.sqrt(_dots(A, A))
