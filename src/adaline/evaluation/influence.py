"""What single rows do to a fit: leverage, Cook's distance, and how far leaving one out moves it.

Z      rows in units of their columns' deviations, and a column of ones for the bias
omega  curvature of each row's loss times its weight (1 for squares, p (1 - p), or the mean count)
G      (Z' diag(omega) Z + penalty)^-1
h      omega_i z_i' G z_i                    leverage
step   G z_i e_i / (1 - h_i)                 what leaving row i out takes from the weights
D      step' Z' diag(omega) Z step / (q s2)  Cook's distance, q = sum of h

The step is exact for squares with a penalty that stays, and one Newton step for other losses.
`diagnose` and the residual plots call `influence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.estimators.registry import scatter_of
from adaline.evaluation.trial import ask
from adaline.evaluation.words import cell, name, number
from adaline.parameters import is_sparse
from adaline.results import Array, Result

DECISIVE_COOK = 1.0  # Cook's distance from which a row moves the fit by itself: the usual rule
MAX_COLUMNS, MAX_ENTRIES = 300, 5_000_000  # of larger tables the inverse would take seconds
ROWS_REPORTED = 5


@dataclass(frozen=True, eq=False)
class Influence(Result):
    """What single rows do to a fit.

    `leverage` and `cook` are of all rows, in units of the uncertainty of the fit; `rows` have the
    largest distances, largest first, and `changes` (m, p) is what leaving out each adds to the
    coefficients, exactly or by one Newton step. `parameters` is the sum of the leverages.

    >>> from adaline import LeastSquares
    >>> x, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0])
    >>> found = influence(LeastSquares().fit(x, y), x, y)
    >>> int(found.rows[0]), found.changes[0].round(3)  # without row 5 the slope is 1
    (5, array([-0.571]))
    """

    leverage: Array
    cook: Array
    rows: Any
    changes: Array
    parameters: float
    exact: bool

    @property
    def decisive(self) -> Any:
        """Those of `rows` that move the fit by themselves."""
        return self.rows[self.cook[self.rows] > DECISIVE_COOK]


def influence(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Influence | None:
    """Leverage and Cook's distance of training rows.

    Of least squares, ridge, Poisson, gamma and logistic regression of two classes; None for other
    models, for sparse rows and for large tables.
    """
    if getattr(model, "_intervals", None) is None or is_sparse(X) or np.ndim(y) != 1:
        return None
    if getattr(model, "alpha", None) == "firth" or len(getattr(model, "classes_", "ab")) != 2:
        return None
    n, p = X.shape
    if p > MAX_COLUMNS or n * p > MAX_ENTRIES or n <= 2 or np.size(model.coef_) != p:
        return None
    with np.errstate(all="ignore"):
        residuals, curvature, kind = _residuals(model, X, y)
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
        Z, units, penalty = _standardised(model, np.asarray(X, dtype=np.float64), weight)
        omega, e = weight * curvature, weight * residuals
        S = Z.T @ (omega[:, None] * Z)
        if not np.isfinite(S).all():
            return None
        # Directions that the rows do not determine have no steps.
        G = np.linalg.pinv(S + np.diag(penalty), rcond=len(S) * 2.0**-52, hermitian=True)
        V = Z @ G
        h = np.clip(omega * np.sum(V * Z, axis=1), 0.0, 1.0)
        q, s = float(h.sum()), 1.0
        if kind != "logistic":  # the deviation of the noise; of counts at least that of Poisson
            z = residuals / (1.0 if kind == "squares" else np.sqrt(np.maximum(curvature, 1e-300)))
            largest = float(np.abs(z).max()) or 1.0
            s = largest * float(np.sqrt(weight @ (z / largest) ** 2 / max(n - q, 1.0)))
            s = max(s, 1e-300 if kind == "squares" else 1.0)
        # A row of leverage one is met exactly; without it there is no fit to compare with.
        share = np.divide(e, 1.0 - h, out=np.zeros_like(e), where=h < 1.0 - 1e-10)
        cook = (share / s) ** 2 * np.sum((V @ S) * V, axis=1) / q
    if not (np.isfinite(cook).all() and np.isfinite(h).all()):
        return None
    rows = np.argsort(-cook, kind="stable")[:ROWS_REPORTED]
    changes = -(V[rows] * share[rows, None])[:, :p] / units
    return Influence(h, cook, rows, changes, q, kind == "squares")


def _residuals(model: Any, X: Any, y: Any) -> tuple[Array, Array, str]:
    """Minus the slope of the loss at each row, and its curvature."""
    if hasattr(model, "classes_"):
        p = np.asarray(ask(model, "predict_proba", X), dtype=np.float64)[:, 1]
        return (np.asarray(y) == model.classes_[1]) - p, p * (1.0 - p), "logistic"
    mean, y = np.asarray(ask(model, "predict", X), dtype=np.float64), np.asarray(y, np.float64)
    scatter = scatter_of(model)
    if scatter == "counts":
        return y - mean, mean, "counts"
    if scatter == "relative":  # the gamma loss
        return (y - mean) / mean, y / mean, "squares"
    return y - mean, np.ones(len(y)), "squares"


def _standardised(model: Any, X: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Columns about their means in units of their deviations, these units, and the penalty."""
    has_bias = bool(getattr(model, "fit_intercept", True))
    Z = X - weight @ X / weight.sum() if has_bias else X
    units = np.abs(Z).max(axis=0)  # first: squares of columns of 1e-200 would vanish
    units = np.where(units > 0, units, 1.0)
    units = units * np.sqrt(np.mean((Z / units) ** 2, axis=0))
    units = np.where(units > 0, units, 1.0)
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    scale = getattr(model, "column_scale_", None)
    penalty = (np.sqrt(float(np.max(alpha))) * (1.0 if scale is None else scale) / units) ** 2
    if not has_bias:
        return Z / units, units, penalty
    return np.column_stack([Z / units, np.ones(len(Z))]), units, np.append(penalty, 0.0)


def influence_sentence(
    found: Influence, model: Any, X: Any, y: Any, names: list[str], target: str = "target"
) -> str:
    """Whether single rows move the fit, and what the most influential one does."""
    i, count = int(found.rows[0]), len(found.decisive)
    largest = f"the largest Cook's distance is {number(float(found.cook[i]), 2)}"
    if not count:
        return f"No single row moves the fit: leaving any one out changes little; {largest}."
    lead = "A single row moves" if count == 1 else f"{count} rows each move"
    value = y[i].item() if hasattr(y[i], "item") else y[i]
    value = repr(name(value)) if isinstance(value, str) else number(float(value), 4)
    w, change = np.ravel(model.coef_), found.changes[0]
    with np.errstate(all="ignore"):
        far = np.nan_to_num(np.abs(X[i] - X.mean(axis=0)) / X.std(axis=0))
        ratio = np.nan_to_num(np.abs(change) / np.maximum(np.abs(w), 1e-300))
    # The coefficient that changes most in its own size; one near zero may double for nothing.
    is_some = np.abs(w) > 1e-3 * np.abs(w).max()
    j, k = int(np.argmax(far)), int(np.argmax(np.where(is_some, ratio, 0.0)))
    at, mean = cell(float(X[i, j]), names[j], 4), cell(float(X[:, j].mean()), names[j], 3)
    return (
        f"{lead} the fit; {largest}. That row has {name(target)} {value} and {name(names[j])} {at}"
        f", where the mean is {mean}. Without it, the coefficient of {name(names[k])} would be "
        f"{'' if found.exact else 'about '}{number(float(w[k] + change[k]), 3)} instead of "
        f"{number(float(w[k]), 3)}. Check whether the row is right."
    )
