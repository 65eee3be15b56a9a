"""The inverse of the scatter matrix to its last digits, for standard errors.

A factor W with W'SW = I to eps cond(X)^2, or eps cond(X) by a QR, is good enough to correct
weights with, and too rough for standard errors. Measured in double-double, the rows

    B = (X - 1 c') W,    c near the means,    K = B'B about its own means

are right to their last digits, however much of X W cancels; and K, which is nearly I, gives

    S^-1 = W K^-1 W' = (W L)(W L)',    K^-1 = L L'.
"""

from __future__ import annotations

import numpy as np

from adaline.kernels.double_double import double_double
from adaline.linalg import UNIT, inverse_cholesky
from adaline.procedures.least_squares.normal_equations import Normal
from adaline.results import Array
from adaline.tiles import Rows, is_sparse

_ENOUGH = 1e-13  # relative error of a factor, up to which there is nothing to gain
_WORK = 2**18  # n p^2, up to which products in double-double take about a millisecond


def covariance_root(normal: Normal, rows: Rows) -> Array:
    """root (p, p) with root root' = S^-1; (p + 1, p) where its digits are known.

    Then the last row is mean'root, or zeros without a bias.
    """
    n, p = rows.X.shape
    rough = UNIT * normal.condition * (normal.condition if normal.from_moments else 1.0)
    if rough <= _ENOUGH or n * p * p > _WORK or np.any(normal.ridge):
        return normal.root
    with np.errstate(all="ignore"):  # columns of 1e200: the factor as it is will have to do
        found = _measured(normal, rows)
    return normal.root if found is None or not np.isfinite(found).all() else found


def _measured(normal: Normal, rows: Rows) -> Array | None:
    """The root, corrected by K as measured on the rows; None where it is too far off for that."""
    m, p, root = normal.m, normal.m.p, normal.root
    centre = np.ldexp(m.mean[:p], m.exponent[:p]) @ root if normal.intercept else np.zeros(p)
    dense = rows.X.toarray() if is_sparse(rows.X) else rows.X
    X = np.ascontiguousarray(dense, dtype=np.float64)
    X_low = rows.X_low if len(rows.X_low) else np.zeros_like(X)
    none = np.zeros(p)
    B = np.column_stack(
        [
            double_double.values(X, X_low, np.ascontiguousarray(w), none, -c, 0.0)
            for w, c in zip(root.T, centre, strict=True)
        ]
    )
    omega = rows.omega if len(rows.omega) else np.ones(len(B))
    about = omega @ B / omega.sum() if normal.intercept else none
    B -= about
    L = inverse_cholesky(B.T @ (omega[:, None] * B))
    if L is None or np.abs(L - np.eye(p)).max(initial=0.0) > 0.5:
        return None
    return np.vstack([root, centre + about]) @ L
