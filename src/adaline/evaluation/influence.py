"""What single rows do to a fit by least squares or ridge regression: leverage and Cook's distance.

Z      rows in units of their columns, and a column of ones for the bias
omega  weights of the rows
G      (Z' diag(omega) Z + penalty)^-1
h      omega_i z_i' G z_i                    leverage
step   omega_i G z_i e_i / (1 - h_i)         what leaving row i out takes from the weights
D      step' Z' diag(omega) Z step / (q s2)  Cook's distance, q = sum of h

`diagnose` and `plot.ResidualsDisplay` use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from adaline.evaluation.trial import ask
from adaline.evaluation.words import cell, name, number
from adaline.parameters import is_sparse
from adaline.results import Array, Result


@dataclass(frozen=True, eq=False)
class Influence(Result):
    """What single rows do to a fit.

    `leverage` and `cook` are of all rows, in units of the uncertainty of the fit; `rows` have the
    largest distances, largest first, and `changes` (m, p) is what leaving out each adds to the
    coefficients if the penalty stays. `parameters` is the sum of the leverages.

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

    @property
    def decisive(self) -> Any:
        """Those of `rows` that move the fit by themselves: Cook's distance is above 1."""
        return self.rows[self.cook[self.rows] > 1.0]


def influence(model: BaseEstimator, X: Any, y: Any, sample_weight: Any = None) -> Influence | None:
    """Leverage and Cook's distance of training rows.

    Of least squares and ridge regression of one target; None for other models, for sparse rows and
    for large tables.
    """
    if getattr(model, "_intervals", None) != "values" or is_sparse(X) or np.ndim(y) != 1:
        return None
    n, p = X.shape
    # Of larger tables the inverse would take seconds.
    if p > 300 or n * p > 5_000_000 or n <= 2 or np.size(model.coef_) != p:
        return None
    omega = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    with np.errstate(all="ignore"):
        e = np.asarray(y, np.float64) - np.asarray(ask(model, "predict", X), dtype=np.float64)
        Z, units, penalty = _in_units(model, np.asarray(X, dtype=np.float64), omega)
        S = Z.T @ (omega[:, None] * Z)
        if not np.isfinite(S).all():
            return None
        # Directions that the rows do not determine have no steps.
        G = np.linalg.pinv(S + np.diag(penalty), rcond=len(S) * 2.0**-52, hermitian=True)
        V = Z @ G
        h = np.clip(omega * np.sum(V * Z, axis=1), 0.0, 1.0)
        q, largest = float(h.sum()), float(np.abs(e).max()) or 1.0
        r = e / largest  # squares of errors of 1e-200 would vanish
        s = np.sqrt(omega @ r**2 / max(n - q, 1.0))
        # A row of leverage one is met exactly; without it there is no fit to compare with.
        share = np.divide(omega * r, 1.0 - h, out=np.zeros(n), where=h < 1.0 - 1e-10)
        cook = (share / max(s, 1e-300)) ** 2 * np.sum((V @ S) * V, axis=1) / q
    if not (np.isfinite(cook).all() and np.isfinite(h).all()):
        return None
    rows = np.argsort(-cook, kind="stable")[:5]
    changes = -(V[rows] * (largest * share)[rows, None])[:, :p] / units
    return Influence(h, cook, rows, changes, q)


def _in_units(model: BaseEstimator, X: Array, omega: Array) -> tuple[Array, Array, Array]:
    """Columns about their means in units of their largest values, these units, and the penalty."""
    has_bias = bool(getattr(model, "fit_intercept", True))
    Z = X - omega @ X / omega.sum() if has_bias else X
    units = np.abs(Z).max(axis=0)
    units = np.where(units > 0, units, 1.0)
    alpha, scale = getattr(model, "alpha_", 0.0), getattr(model, "column_scale_", None)
    # The root first: without a penalty, 0 / units² is 0 where units² would vanish.
    penalty = (np.sqrt(float(np.max(alpha))) * (1.0 if scale is None else scale) / units) ** 2
    Z = np.column_stack([Z / units, *[np.ones(len(Z))] * has_bias])
    return Z, units, np.append(penalty, [0.0] * has_bias)


def influence_sentence(
    moved: Influence, model: BaseEstimator, X: Any, y: Any, names: list[str], target: str = "target"
) -> str:
    """Whether single rows move the fit, and what the most influential one does."""
    i, count = int(moved.rows[0]), len(moved.decisive)
    largest = f"the largest Cook's distance is {number(float(moved.cook[i]), 2)}"
    if not count:
        return f"No single row moves the fit: leaving any one out changes little; {largest}."
    lead = "A single row moves" if count == 1 else f"{count} rows each move"
    with np.errstate(all="ignore"):
        far = np.nan_to_num(np.abs(X[i] - X.mean(axis=0)) / X.std(axis=0))
    # The column by which the row is recognised, and the coefficient that moves predictions most.
    w, change = np.ravel(model.coef_), moved.changes[0]
    j, k = int(np.argmax(far)), int(np.argmax(np.abs(change) * X.std(axis=0)))
    return (
        f"{lead} the fit; {largest}. That row has {name(target)} {number(float(y[i]), 4)} and "
        f"{name(names[j])} {cell(float(X[i, j]), names[j], 4)}. Without it, the coefficient of "
        f"{name(names[k])} would be {number(float(w[k] + change[k]), 3)} instead of "
        f"{number(float(w[k]), 3)}. Check whether the row is right."
    )
