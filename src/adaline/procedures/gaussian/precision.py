"""Covariances and their inverses, never inverted blindly.

Letters: S scatter, n weight and r rounding of one class (or of all), u standard deviations,
R = S / (n u u') the correlations. All is computed from R, so units of features do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT, condition, eigen, inverse_cholesky, pivots
from adaline.procedures.gaussian.shrinkage import variances
from adaline.results import Array, Result

FLOOR = 2.0**-20
"""Least eigenvalue left in a singular correlation matrix: ten digits of its inverse survive."""


@dataclass(frozen=True, eq=False)
class Metric(Result):
    """A covariance S and a factor of its inverse: A A' = S^-1, so |A'd|^2 = d' S^-1 d.

    Attributes
    ----------
    covariance : ndarray of shape (p, p), or (p,) for a diagonal one
        With shrinkage and ridge, as it is used.
    A : ndarray of shape (p, p) or (p,)
        Zero in the rows of features that are constant over all classes: these tell nothing.
    log_det : float
        ln |S| over the other features.
    error : float
        Bound on the relative rounding error of every d' S^-1 d; infinite where there is none.
    condition : float
        Condition number of R, an estimate.
    shrinkage, ridge : float
        R became (1 - shrinkage) R + (shrinkage + ridge) I.
    dependent : ndarray of int
        Features that depend on the others (or do not vary), as far as rounding lets us tell.
    """

    covariance: Array
    A: Array
    log_det: float
    error: float
    condition: float
    shrinkage: float
    ridge: float
    dependent: NDArray[np.intp]


def full(S: Array, r: Array, n: float, spare: Array, shrinkage: float) -> Metric:
    """A and ln |S / n| through the Cholesky factor of R, with a ridge where R is singular."""
    variance = variances(S, r, n)
    u = np.where(variance > 0, np.sqrt(variance), spare)
    live = np.flatnonzero(u > 0)
    u, own, L = u[live], variance[live] > 0, len(live)
    v = np.sqrt(n or 1.0) * u
    R = (S if len(S) == L else S[np.ix_(live, live)]) / v[:, None]
    R *= (1.0 - shrinkage) / v
    if not own.all():
        R[~own], R[:, ~own] = 0.0, 0.0
    R.flat[:: L + 1] = own * (1.0 - shrinkage) + shrinkage  # the diagonal
    # |R_ij - exact| <= doubt_i doubt_j, and so is the error of its Cholesky factorisation.
    doubt = np.sqrt((r[live] / v) ** 2 + 2 * (L + 8) * UNIT)
    W, error = _inverse_factor(R, doubt)
    ridge, dependent = 0.0, live[:0]
    if error >= 0.5:  # as far as rounding lets us tell, R may be singular
        values, _ = eigen(R)
        ridge = max(0.0, FLOOR - float(values[0]))
        dependent = live[np.sort(pivots(R)[int(np.sum(values >= FLOOR)) :])]
        W, error = _inverse_factor(R + ridge * np.eye(L), doubt)
        while W is None:
            ridge = 2 * max(ridge, FLOOR)
            W, error = _inverse_factor(R + ridge * np.eye(L), doubt)
    assert W is not None
    A, C = W / u[:, None], R
    C.flat[:: L + 1] += ridge
    C *= u
    C *= u[:, None]
    if len(r) > L:
        some, A, C = (A, C), np.zeros((len(r), L)), np.zeros((len(r), len(r)))
        A[live], C[np.ix_(live, live)] = some
    log_det = 2 * float(np.sum(np.log(u)) - np.sum(np.log(np.diagonal(W))))
    return Metric(C, A, log_det, error, condition(W) ** 2, shrinkage, ridge, dependent)


def _inverse_factor(R: Array, doubt: Array) -> tuple[Array | None, float]:
    """W with W'RW = I, and a bound on the relative error of every d'WW'd; inf without one.

    With W'(R + E)W = I - F and |E_ij| <= doubt_i doubt_j, |F| <= ||W|' doubt|^2 + 2g + g^2,
    where g bounds the error of inverting the triangle (Higham 2002, theorem 10.3, section 14.2).
    """
    if not len(R):  # nothing varies
        return R, UNIT
    W = inverse_cholesky(R)
    if W is None:
        return None, np.inf
    p = len(R)
    g = 2 * (p + 8) * UNIT * np.sqrt(p) * np.linalg.norm(W)
    eta = float(np.sum((np.abs(W).T @ doubt) ** 2) + 2 * g + g**2)
    return W, eta / (1 - eta) if eta < 1 else np.inf


def diagonal(S: Array, r: Array, n: float, spare: Array, shrinkage: float) -> Metric:
    """The same for variances alone: a feature that does not vary gets FLOOR of its spare unit."""
    variance = variances(S, r, n)
    own, live = variance > 0, (variance > 0) | (spare > 0)
    C = np.where(own, variance, FLOOR * spare**2)
    A = np.divide(1.0, np.sqrt(C), out=np.zeros(len(r)), where=live)
    eta = float(np.max(r**2 * A**2 * own, initial=0.0) / (n or 1.0)) + 8 * UNIT
    ridge = FLOOR if np.any(live & ~own) else 0.0
    log_det = float(np.sum(np.log(C[live])))
    error = eta / (1 - eta) if eta < 1 else np.inf
    return Metric(C, A, log_det, error, 1.0, 0.0, ridge, np.flatnonzero(live & ~own))
