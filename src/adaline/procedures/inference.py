"""What large samples say of fitted weights: Wald's tables, intervals of predictions, profiles.

For large samples cov(theta) = H^-1, with H the Hessian of the (penalised) loss at the minimum.

Called by `estimators.newton`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from adaline.certificates.bounds import regular
from adaline.linalg import Factor
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.objective import JOINT, Objective
from adaline.sums.scaled_rows import MANY

if TYPE_CHECKING:
    from adaline.summaries import Summary

KEPT = 256  # weights up to which their covariance is kept: half a megabyte
TILE = 4096  # rows at a time: K^2 numbers are made for each


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
    dispersion : float
        The factor of the variance that the errors include; 1 where the loss has none.
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
    dispersion: float = 1.0

    def facts(self, share: str) -> dict[str, float]:
        """Deviance, AIC, BIC, and the share of the null deviance that the fit explains."""
        n, k = self.weight, self.parameters
        deviance, null = 2 * (self.loss - self.saturated), 2 * (self.null - self.saturated)
        facts = {
            "samples": int(n) if float(n).is_integer() else n,
            "parameters": k,
            "deviance": deviance,
            "null deviance": null,
        }
        if self.dispersion == 1.0:
            minus_twice_log = 2 * (self.loss + self.constant)
            facts["AIC"] = minus_twice_log + 2 * k
            facts["BIC"] = minus_twice_log + float(np.log(n)) * k
        else:  # the likelihood would need a dispersion of its own
            facts["dispersion"] = self.dispersion
        return facts | {share: 1 - deviance / null if null > 0 else np.nan}


def information(objective: Objective, theta: Array) -> Information:
    """From the rows of the fit, at its theta (K, p + 1)."""
    (K, q), rows = theta.shape, objective.rows
    if rows.is_wide or (K > 1 and K * q > JOINT):
        raise ValueError(
            f"{K} x {q} weights: standard errors need a matrix of {K * q} x {K * q}, more than "
            f"is provided for ({JOINT}, or {MANY} for two classes). Choose fewer features."
        )
    sums = objective.sums(theta, "joint")
    assert sums.H is not None
    H = regular(sums.H, K)
    if (expected := getattr(objective.loss, "expected", None)) is not None:
        bent = rows.weights * expected(objective.values(theta)[:, 0])
        H = rows.gram(bent) + np.diag(objective.penalty)
    factor = Factor(H)
    if factor.rank < K * q and rows.n < q:
        raise ValueError(
            f"{rows.n} rows cannot determine {q} coefficients, so these have no standard errors; "
            "give more rows, or a penalty."
        )
    if factor.rank < K * q:
        raise ValueError(
            f"columns depend on others (rank {factor.rank} of {K * q}, the intercept included), so "
            "single coefficients have no standard errors; drop the dependent columns first."
        )
    A = factor.root()
    C = (A @ A.T).reshape(K, q, K, q)
    if K > 1:  # what the classes share is no parameter: it was made up to make H regular
        C = C - C.mean(axis=0, keepdims=True)
        C = C - C.mean(axis=2, keepdims=True)
    shrunk = sum(float(objective.penalty @ np.diagonal(C[k, :, k])) for k in range(K))
    free = (q - (not rows.intercept)) * max(K - 1, 1)
    phi = getattr(objective.loss, "dispersion", None)
    scatter = 1.0
    if phi is not None:
        left = rows.weight * rows.unit - (free - shrunk)
        scatter = phi(rows, objective.values(theta)[:, 0], left)
    C = C * (scatter / rows.unit)
    back = np.diag(np.append(rows.scale, 1.0))
    back[-1, :-1] = -rows.shift
    with np.errstate(over="ignore"):  # columns of 1e-200 have errors beyond float64
        error = np.sqrt([np.diagonal(back @ C[k, :, k] @ back.T) for k in range(K)])
        units = np.append(rows.scale, 1.0)
        kept = units[:, None, None] * C * units if K * q <= KEPT else None
    own = sums.f - 0.5 * float(np.sum(objective.penalty * theta**2))
    loss = objective.loss
    unit = rows.unit
    return Information(
        error,
        loss=own * unit,
        null=loss.null(rows, K) * unit,
        saturated=loss.saturated(rows) * unit,
        constant=loss.constant(rows) * unit,
        weight=rows.weight * unit,
        parameters=free - shrunk,
        covariance=kept,
        centre=rows.shift / rows.scale,
        dispersion=float(scatter),
    )


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

    Intervals are Wald's, or the bounds given: lows and highs (p + 1,) of two classes, bias last.
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


def errors_of_values(X: Any, C: Array, centre: Array) -> Array:
    """Standard errors (n,) of w'x + b: var(v) = z'Cz with z = (x - centre, 1)."""
    errors = np.empty(X.shape[0])
    for i in range(0, len(errors), TILE):
        errors[i : i + TILE] = _roots(_centred(X[i : i + TILE], centre), C)
    return errors


def bounds_of_logits(X: Any, V: Array, C: Array, centre: Array, z: float) -> tuple[Array, Array]:
    """Low and high (n, K) of the log-odds of each class against the others together.

    p_k = 1 / (1 + sum_{j != k} exp(v_j - v_k)) has its bounds where every contrast d_jk = v_j - v_k
    is at an end of its own interval, u_jk = d_jk + z sqrt(var(d_jk)):

        low_k = 1 / (1 + sum_j exp(u_jk)),    high_k = 1 / (1 + sum_j exp(-u_kj))

    No two of them contradict each other: low_k <= 1 / (1 + exp(u_jk)) and
    high_j <= 1 / (1 + exp(-u_jk)), so that low_k + high_j <= 1. They hold the delta method's
    interval of log-odds where that is right, since the error of a weighted mean of contrasts is at
    most the weighted mean of their errors.
    """
    low, high = np.empty(V.shape), np.empty(V.shape)
    K, q = V.shape[1], len(centre) + 1
    none = np.where(np.eye(K, dtype=bool), -np.inf, 0.0)  # a class is no rival of itself
    for i in range(0, len(V), TILE):
        Z, v = _centred(X[i : i + TILE], centre), V[i : i + TILE]
        S = np.empty((len(Z), K, K))
        for k in range(K):
            S[:, k] = np.einsum("nlj,nj->nl", (Z @ C[k].reshape(q, -1)).reshape(-1, K, q), Z)
        own = np.einsum("nkk->nk", S)
        wide = z * np.sqrt(np.maximum(own[:, :, None] + own[:, None, :] - 2 * S, 0.0))
        d = v[:, None, :] - v[:, :, None] + none
        low[i : i + TILE] = -logsumexp(d + wide, axis=2)
        high[i : i + TILE] = -logsumexp(d - wide, axis=2)
    return low, high


def _centred(X: Any, centre: Array) -> Array:
    Z = np.ones((X.shape[0], len(centre) + 1))
    Z[:, :-1] = (X.toarray() if is_sparse(X) else X) - centre
    return Z


def _roots(Z: Array, C: Array) -> Array:
    """sqrt(z' C z) for each row; C is a covariance, so that less than zero is rounding."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", Z @ C, Z), 0.0)))
