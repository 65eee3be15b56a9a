"""What large samples say of logistic weights: errors, tests, intervals and deviance.

cov(theta) = H^-1, the inverse curvature of the (penalised) loss at the minimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from adaline.objective import MANY, LogisticLoss
from adaline.procedures._curvature import EXACT, depth, root_of, whole
from adaline.results import Array
from adaline.summaries import Summary


@dataclass(frozen=True, eq=False)
class Information:
    """What a summary needs of the rows: a covariance of (b, w), and two losses.

    Attributes
    ----------
    error : ndarray of shape (K, p + 1)
        Standard errors of the weights and, last, the bias, in the units of X.
    loss, null : float
        Sum of losses of this fit, and of the fit without features.
    weight : float
        Sum of the sample weights.
    parameters : float
        How many free parameters; with a penalty their effective number, trace of H^-1 H(alpha=0).
    """

    error: Array
    loss: float
    null: float
    weight: float
    parameters: float


def affordable(loss: LogisticLoss) -> bool:
    """Whether the information costs little beside the fit."""
    n, q = loss.X.shape[0], len(loss.penalty)
    return n * q * q <= 1e8 and loss.K * q <= EXACT


def information(loss: LogisticLoss, theta: Array) -> Information:
    """From the rows of the fit, at its theta (K, p + 1)."""
    K, q = theta.shape
    if q > MANY or (K > 1 and K * q > EXACT):
        raise ValueError(
            f"{K} x {q} weights: standard errors need a matrix of {K * q} x {K * q}, more than "
            f"is provided for ({EXACT}, or {MANY} for two classes). Choose fewer features."
        )
    n = loss.X.shape[0]
    root, none = np.empty(n if K == 1 else (n, K)), np.empty(0)
    here = loss.at(theta, *((root, none) if K == 1 else (none, root)))
    H = loss.gram(root) + np.diag(loss.penalty) if K == 1 else whole(loss, root)
    found = root_of(H, depth(loss))
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
    shrunk = sum(float(loss.penalty @ np.diagonal(C[k, :, k])) for k in range(K))
    free = (q - (not loss.intercept)) * max(K - 1, 1)
    value = here.f - 0.5 * float(np.sum(loss.penalty * theta**2))
    return Information(error, value, _null(loss), loss.weight, free - shrunk)


def _null(loss: LogisticLoss) -> float:
    """Loss of the best constant probabilities; of equal ones where there is no bias."""
    codes = (loss.target > 0).astype(np.int64) if loss.K == 1 else loss.target
    weights = loss.omega if len(loss.omega) else None
    share = np.bincount(codes, weights, minlength=max(loss.K, 2)) / loss.weight
    if not loss.intercept:
        return loss.weight * float(np.log(len(share)))
    share = share[share > 0]
    return -loss.weight * float(share @ np.log(share))


def logistic_summary(
    W: Array,
    b: Array,
    known: Information,
    names: list[str],
    classes: list[str],
    *,
    intercept: bool,
    level: float,
    notes: tuple[str, ...],
    bounds: tuple[Array, Array] | None = None,
) -> Summary:
    """Coefficients, standard errors, z, p and intervals; deviance, AIC and BIC.

    Intervals are Wald's, or the bounds given: lows and highs (p + 1,) of two classes, the bias
    last.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
    theta, error = np.column_stack([b, W]), np.roll(known.error, 1, axis=1)
    if not intercept:
        theta, error = theta[:, 1:], error[:, 1:]
    own = ["intercept", *names] if intercept else names
    labels = own if len(W) == 1 else [f"{label}: {name}" for label in classes for name in own]
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
    n, k, deviance = known.weight, known.parameters, 2 * known.loss
    facts = {
        "samples": int(n) if float(n).is_integer() else n,
        "parameters": k,
        "deviance": deviance,
        "null deviance": 2 * known.null,
        "AIC": deviance + 2 * k,
        "BIC": deviance + float(np.log(n)) * k,
        "McFadden R²": 1 - known.loss / known.null if known.null > 0 else math.nan,
    }
    return Summary("Logistic regression", tuple(labels), columns, facts, notes)
