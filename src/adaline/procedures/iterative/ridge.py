"""Ridge on large sparse rows by preconditioned conjugate gradients, with a bound on the error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import certificate_together, in_users_units
from adaline.certificates.residuals import SparseSizes, gradient_bounds
from adaline.errors import plural
from adaline.procedures.iterative.gradients import ridge_steps
from adaline.procedures.iterative.sparse_rows import SparseRows
from adaline.results import Array, Certificate, ClosedFit

SHARE = 1e-8  # of |w|, within which the solution is proven to lie where the data allow it
_MOST = 5000  # steps; well-posed data take some dozens
_ROOM = 2**22  # numbers of the weights that are found together
_SAFE = 1e100  # penalties beyond this, or below its inverse, in units of X, may leave float64


def iterative_ridge(s: SparseRows, alpha: Array) -> ClosedFit:
    """w = (A'A + alpha)^-1 A'y for each target; no matrix of p x p or n x n numbers is made."""
    p, k = s.X.shape[1], s.B.shape[1]
    lam = np.ldexp(alpha, -2 * s.e)
    if not np.all((lam > 1 / _SAFE) & (lam < _SAFE)):
        raise ValueError(
            f"alpha is {np.min(alpha):g} and the largest entry of X is about 2**{s.e}; products of "
            "sparse rows need a penalty nearer to their squares. Scale X, or change alpha."
        )
    most = max(_ROOM // p, 1)
    W, bounds = np.empty((p, k)), np.empty(k)
    steps, squares, shares = np.zeros(k, dtype=np.int64), np.empty(k), np.empty(k)
    for i in range(0, k, most):
        at = slice(i, min(i + most, k))
        W[:, at], steps[at], bounds[at], squares[at], shares[at] = _targets(s, lam[at], at)
    condition = float(np.sqrt((s.norm**2 + lam.min()) / lam.min()))
    used = np.ldexp(W, s.e_y - s.e)
    grown = in_users_units(bounds + p * 2.0**-1020, s.e_y - s.e)
    found = certificate_together(used.T, grown, np.zeros((k, p)), condition)
    evidence = {**found.evidence, "steps": int(steps.max()), "gradient_share": float(shares.max())}
    count = plural(int(steps.max()), "step")
    return ClosedFit(
        W=used.T.copy(),
        b=np.ldexp(s.bias(W), s.e_y),
        stopped=f"solved by {count} of conjugate gradients on sparse rows.",
        certificate=Certificate(found.kind, found.statement, evidence),
        rank=min(s.X.shape[0] - s.intercept, p),
        condition=condition,
        W_low=np.zeros((k, p)),
        b_low=np.zeros(k),
        squares=np.ldexp(squares, 2 * s.e_y),
    )


def _targets(
    s: SparseRows, lam: Array, at: slice
) -> tuple[Array, NDArray[np.int64], Array, Array, Array]:
    """Weights, steps, bounds, sums of squares and gradients, as shares of the first, of some."""
    B = s.B[:, at]
    C = s.pull(s.weighted(B, s.omega))
    # Columns far above the mean eigenvalue are scaled down to it. Those below stay as they are:
    # dividing by their squares would spread the many equal eigenvalues of wide data.
    level = 2.0 * s.squares.sum() / min(s.X.shape)
    D = np.maximum(s.squares, level)
    W, steps = ridge_steps(s.scatter, C, lam, D, SHARE, _MOST)
    V = s.values(W)
    R = B - V
    pulled = s.turned_product(s.weighted(R, s.omega))
    bounds, G = gradient_bounds(sizes_of(s), s.mean, s.root, pulled, R, V, B, lam, W)
    first = np.linalg.norm(C, axis=0)
    share = np.linalg.norm(G, axis=0) / np.where(first > 0, first, 1.0)
    R -= s.omega @ R / s.weight if s.intercept else 0.0
    return W, steps, bounds, s.omega @ R**2, share


def sizes_of(s: SparseRows) -> SparseSizes:
    """What the bounds on rounding need to know of these rows."""
    longest = int(np.max(np.diff(s.X.indptr), initial=0))
    return SparseSizes(s.norm, np.sqrt(s.raw_squares), s.counts, longest, s.weight)
