"""Least squares on large sparse rows, the solution of least norm, by products with them alone."""

from __future__ import annotations

import numpy as np

from adaline.errors import plural
from adaline.procedures.iterative.gradients import least_squares_steps
from adaline.procedures.iterative.sparse_rows import SparseRows
from adaline.results import Array, Certificate, ClosedFit

SHARE = 1e-8  # of the first gradient, at which the steps end
_MOST = 5000
_ROOM = 2**22  # numbers of the weights that are found together


def iterative_least_squares(s: SparseRows) -> ClosedFit:
    """min |y - Xw - b|^2 and, of its solutions, the one of least |w|.

    Without a penalty nothing bounds the smallest eigenvalue, so that a small gradient proves small
    residuals but no digit of the weights: the certificate says so.
    """
    p, k = s.X.shape[1], s.B.shape[1]
    most = max(_ROOM // p, 1)
    W, squares, shares = np.empty((p, k)), np.empty(k), np.empty(k)
    steps = 0
    for i in range(0, k, most):
        at = slice(i, min(i + most, k))
        W[:, at], squares[at], shares[at], taken = _targets(s, at)
        steps = max(steps, taken)
    share = float(shares.max())
    return ClosedFit(
        W=np.ldexp(W, s.e_y - s.e).T.copy(),
        b=np.ldexp(s.bias(W), s.e_y),
        stopped=f"solved by {plural(steps, 'step')} of conjugate gradients on sparse rows.",
        certificate=Certificate(
            "unproven",
            f"the gradient is {share:.1e} of that at zero weights; without a penalty this proves "
            "no digit of the weights. Ridge has a proof.",
            {"steps": steps, "gradient_share": share},
        ),
        rank=min(s.X.shape[0] - s.intercept, p),
        condition=np.nan,  # a small eigenvalue may hide from so few steps
        W_low=np.zeros((k, p)),
        b_low=np.zeros(k),
        squares=np.ldexp(squares, 2 * s.e_y),
    )


def _targets(s: SparseRows, at: slice) -> tuple[Array, Array, Array, int]:
    """Weights, sums of squares, gradients as shares of the first, and steps, of some targets."""
    B = s.weighted(s.B[:, at], s.root)
    W, steps = least_squares_steps(s.times, s.transposed, B, SHARE, _MOST)
    R = B - s.times(W)
    first = np.linalg.norm(s.transposed(B), axis=0)
    share = np.linalg.norm(s.transposed(R), axis=0) / np.where(first > 0, first, 1.0)
    return W, (R**2).sum(axis=0), share, int(steps.max(initial=0))
