"""Wald's inference for weights found by Newton: standard errors, tests, intervals and deviance.

For large samples cov(theta) = H^-1, with H the Hessian of the (penalised) loss at the minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from adaline.objective import Objective
from adaline.procedures.newton.curvature import EXACT, depth, full_hessian, is_one_matrix, root_of
from adaline.results import Array
from adaline.row_sums.objective_sums import MANY

if TYPE_CHECKING:
    from adaline.summaries import Summary

KEPT = 256  # weights up to which their covariance is kept: half a megabyte


@dataclass(frozen=True, eq=False)
class Information:
    """What a summary needs of the rows: a covariance of (b, w), and two losses.

    Attributes
    ----------
    error : ndarray of shape (K, p + 1)
        Standard errors of the weights and, last, the bias, in the units of X.
    loss, null : float
        Sum of losses of this fit, and of the fit without features.
    saturated, constant : float
        The least that the sum of losses could be, and what it leaves out of minus the log
        likelihood.
    weight : float
        Sum of the sample weights.
    parameters : float
        How many free parameters; with a penalty their effective number, trace of H^-1 H(alpha=0).
    covariance : ndarray of shape (K, p + 1, K, p + 1) or None
        Of all weights, in the units of X, and of the values at `centre`, for intervals of
        predictions; None where they are more than a model file should carry.
    centre : ndarray of shape (p,) or None
        A row near the means of the columns, or of zeros where columns were not centred.
    """

    error: Array
    loss: float
    null: float
    saturated: float
    constant: float
    weight: float
    parameters: float
    covariance: Array | None = None
    centre: Array | None = None

    def facts(self, share: str) -> dict[str, float]:
        """Deviance, AIC, BIC, and the share of the null deviance that the fit explains."""
        n, k = self.weight, self.parameters
        deviance, null = 2 * (self.loss - self.saturated), 2 * (self.null - self.saturated)
        minus_twice_log = 2 * (self.loss + self.constant)
        return {
            "samples": int(n) if float(n).is_integer() else n,
            "parameters": k,
            "deviance": deviance,
            "null deviance": null,
            "AIC": minus_twice_log + 2 * k,
            "BIC": minus_twice_log + float(np.log(n)) * k,
            share: 1 - deviance / null if null > 0 else np.nan,
        }


def affordable(loss: Objective) -> bool:
    """Whether the information costs little compared with the fit."""
    n, q = loss.X.shape[0], len(loss.penalty)
    return n * q * q <= 1e8 and is_one_matrix(loss)


def information(loss: Objective, theta: Array) -> Information:
    """From the rows of the fit, at its theta (K, p + 1)."""
    K, q = theta.shape
    if loss.is_wide or (K > 1 and not is_one_matrix(loss)):
        raise ValueError(
            f"{K} x {q} weights: standard errors need a matrix of {K * q} x {K * q}, more than "
            f"is provided for ({EXACT}, or {MANY} for two classes). Choose fewer features."
        )
    root = loss.room()
    here = loss.at(theta, root)
    H = loss.gram(root) + np.diag(loss.penalty) if K == 1 else full_hessian(loss, root)
    found = root_of(H, depth(loss))
    n = loss.X.shape[0]
    if found.rank < len(H) and n < q:
        raise ValueError(
            f"{n} rows cannot determine {q} coefficients, so these have no standard errors; give "
            "more rows, or a penalty."
        )
    if found.rank < len(H):
        raise ValueError(
            f"columns depend on others (rank {found.rank} of {len(H)}, the intercept included), so "
            "single coefficients have no standard errors; drop the dependent columns first."
        )
    C = (found.A @ found.A.T).reshape(K, q, K, q)
    if K > 1:  # what the classes share is no parameter: it was made up to make H regular
        C = C - C.mean(axis=0, keepdims=True)
        C = C - C.mean(axis=2, keepdims=True)
    back = np.diag(np.append(loss.scale, 1.0))
    back[-1, :-1] = -loss.shift
    with np.errstate(over="ignore"):  # columns of 1e-200 have errors beyond float64
        error = np.sqrt([np.diagonal(back @ C[k, :, k] @ back.T) for k in range(K)])
        units = np.append(loss.scale, 1.0)
        kept = units[:, None, None] * C * units if K * q <= KEPT else None
    shrunk = sum(float(loss.penalty @ np.diagonal(C[k, :, k])) for k in range(K))
    free = (q - (not loss.intercept)) * max(K - 1, 1)
    value = here.f - 0.5 * float(np.sum(loss.penalty * theta**2))
    kind = loss.loss
    best = kind.null(loss), kind.saturated(loss), kind.constant(loss)
    rest = free - shrunk, kept, loss.shift / loss.scale
    return Information(error, value, *best, loss.weight, *rest)


def wald_summary(
    title: str,
    W: Array,
    b: Array,
    known: Information,
    facts: dict[str, float],
    names: list[str],
    outputs: list[str],
    *,
    intercept: bool,
    level: float,
    notes: tuple[str, ...],
    bounds: tuple[Array, Array] | None = None,
) -> Summary:
    """Coefficients, standard errors, z, p and intervals; outputs are the names of K > 1 of them.

    Intervals are Wald's, or the bounds given: lows and highs (p + 1,) of two classes, the bias
    last.
    """
    from adaline.summaries import Summary  # most fits make no table

    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
    theta, error = np.column_stack([b, W]), np.roll(known.error, 1, axis=1)
    if not intercept:
        theta, error = theta[:, 1:], error[:, 1:]
    own = ["intercept", *names] if intercept else names
    labels = own if len(W) == 1 else [f"{label}: {name}" for label in outputs for name in own]
    w, error = theta.ravel(), error.ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        z = w / error
    wide = error * ndtri((1 + level) / 2)
    low, high = w - wide, w + wide
    if bounds is not None:
        low, high = (np.roll(bound, 1)[0 if intercept else 1 :] for bound in bounds)
    columns = {
        "coef": w,
        "std err": error,
        "z": z,
        "p": 2 * ndtr(-np.abs(z)),
        f"low {level:.0%}": low,
        f"high {level:.0%}": high,
    }
    return Summary(title, tuple(labels), columns, facts, notes)
