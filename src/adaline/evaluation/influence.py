"""What single rows do to a fit: leverage, Cook's distance, and how far leaving one out moves it.

Z      rows in units of their columns' deviations, and a column of ones for the bias
omega  curvature of each row's loss times its weight (1 for squares, p (1 - p), or the mean count)
A      Z' diag(omega) Z + penalty, whose inverse is G
h      omega_i z_i' G z_i                    leverage
step   G z_i e_i / (1 - h_i)                 what leaving row i out takes from the weights
D      step' Z' diag(omega) Z step / (q s2)  Cook's distance, q = sum of h

The step is exact for squares with a penalty that stays, and one Newton step for other losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.estimators.registry import scatter_of
from adaline.evaluation.answers import asked
from adaline.evaluation.words import cell, name, number
from adaline.results import Array, Result

LARGE = 1.0  # Cook's distance from which a row decides the fit by itself
_COLUMNS, _NUMBERS = 300, 5_000_000  # up to which single rows are looked at
_KEPT = 5  # rows that are told of


@dataclass(frozen=True, eq=False)
class Influence(Result):
    """What single rows do to a fit.

    Attributes
    ----------
    leverage : ndarray of shape (n,)
        How far the prediction of a row follows its own target.
    cook : ndarray of shape (n,)
        Cook's distances: how far leaving the row out moves all predictions, in units of the
        uncertainty of the fit.
    rows : ndarray of int, shape (m,)
        The rows of the largest distances, largest first.
    changes : ndarray of shape (m, p)
        What leaving out each of `rows` adds to the coefficients.
    parameters : float
        Effective number of parameters, the sum of the leverages.
    exact : bool
        Whether the changes are exact (squared errors, the penalty kept), or those of one Newton
        step.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares
    >>> from adaline.evaluation.influence import influence
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
        """Rows of `rows` that move the fit by themselves."""
        return self.rows[self.cook[self.rows] > LARGE]


def influence(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Influence | None:
    """Leverage and Cook's distance of the rows that a model has learned from.

    Of least squares, ridge, Poisson regression and logistic regression of two classes; None for
    other models, for sparse rows, and for more than 300 columns or 5 million numbers.

    Parameters
    ----------
    model : fitted estimator
    X, y : ndarray of shape (n, p) and (n,)
        The rows of the fit.
    sample_weight : ndarray of shape (n,), optional
        The weights of the fit.
    """
    if not _is_known(model, X, y):
        return None
    with np.errstate(all="ignore"):
        residuals, curvature, kind = _residuals(model, X, y)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        Z, units, penalty = _units(model, np.asarray(X, dtype=np.float64), weight)
        omega, e = weight * curvature, weight * residuals
        S = Z.T @ (omega[:, None] * Z)
        G = _inverse(S + np.diag(penalty))
        if G is None:
            return None
        V = Z @ G
        h = np.clip(omega * np.sum(V * Z, axis=1), 0.0, 1.0)
        q = float(h.sum())
        s = _scale(kind, residuals, weight, curvature, len(e) - q)
        # A row of leverage one is met exactly; without it there is no fit to compare with.
        share = np.divide(e, 1.0 - h, out=np.zeros_like(e), where=h < 1.0 - 1e-10)
        cook = (share / s) ** 2 * np.sum((V @ S) * V, axis=1) / q
    if not (np.isfinite(cook).all() and np.isfinite(h).all()):
        return None
    rows = np.argsort(-cook, kind="stable")[:_KEPT]
    changes = -(V[rows] * share[rows, None])[:, : len(units)] / units
    return Influence(h, cook, rows, changes, q, kind == "squares")


def _is_known(model: Any, X: Any, y: Any) -> bool:
    if getattr(model, "_intervals", None) is None or hasattr(X, "toarray") or np.ndim(y) != 1:
        return False
    if getattr(model, "alpha", None) == "firth" or len(getattr(model, "classes_", "ab")) != 2:
        return False
    n, p = X.shape
    few = p <= _COLUMNS and n * p <= _NUMBERS and n > 2
    return bool(few and np.size(model.coef_) == p and model.n_features_in_ == p)


def _residuals(model: Any, X: Any, y: Any) -> tuple[Array, Array, str]:
    """Slopes of the loss at each row, with their sign turned, and its curvature."""
    if hasattr(model, "classes_"):
        p = np.asarray(asked(model, "predict_proba", X), dtype=np.float64)[:, 1]
        return (np.asarray(y) == model.classes_[1]) - p, p * (1.0 - p), "logistic"
    mean = np.asarray(asked(model, "predict", X), dtype=np.float64)
    e = np.asarray(y, dtype=np.float64) - mean
    scatter = scatter_of(model)
    if scatter == "counts":
        return e, mean, "counts"
    if scatter == "relative":  # of the gamma loss
        return e / mean, np.asarray(y, dtype=np.float64) / mean, "squares"
    return e, np.ones(len(e)), "squares"


def _units(model: Any, X: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Columns about their means in units of their deviations, these units, and the penalty."""
    bias = bool(getattr(model, "fit_intercept", True))
    centre = weight @ X / weight.sum() if bias else np.zeros(X.shape[1])
    Z = X - centre
    units = np.abs(Z).max(axis=0)  # first: squares of columns of 1e-200 would vanish
    units = np.where(units > 0, units, 1.0)
    units = units * np.sqrt(np.mean((Z / units) ** 2, axis=0))
    units = np.where(units > 0, units, 1.0)
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    own = getattr(model, "column_scale_", None)
    own = np.ones(len(units)) if own is None else own
    penalty = (np.sqrt(float(np.max(alpha))) * own / units) ** 2  # 0 without one, in any units
    Z = Z / units
    if not bias:
        return Z, units, penalty
    return np.column_stack([Z, np.ones(len(Z))]), units, np.append(penalty, 0.0)


def _inverse(A: Array) -> Array | None:
    """A generalised inverse: directions that the rows say nothing about have no steps."""
    if not np.isfinite(A).all():
        return None
    values, axes = np.linalg.eigh(A)
    kept = values > len(values) * np.finfo(np.float64).eps * max(float(values[-1]), 1e-300)
    return np.asarray((axes[:, kept] / values[kept]) @ axes[:, kept].T)


def _scale(kind: str, e: Array, weight: Array, curvature: Array, free: float) -> float:
    """Deviation of the noise: of squares; of counts at least what Poisson says; else 1."""
    if kind == "logistic":
        return 1.0
    if kind == "counts":
        e = np.divide(e, np.sqrt(curvature), out=np.zeros_like(e), where=curvature > 0)
    largest = float(np.abs(e).max()) or 1.0
    s = largest * float(np.sqrt(np.sum(weight * (e / largest) ** 2) / max(free, 1.0)))
    return max(s, 1.0) if kind == "counts" else max(s, 1e-300)


def sentence(
    found: Influence, model: Any, X: Any, y: Any, names: list[str], target: str = "target"
) -> str:
    """Whether single rows decide the fit, and what the most influential one does."""
    i, rows = int(found.rows[0]), found.decisive
    largest = f"the largest Cook's distance is {number(float(found.cook[i]), 2)}"
    if not len(rows):
        return f"No single row decides: leaving any one of them out moves little; {largest}."
    more = len(rows) - 1 if len(rows) < _KEPT else _KEPT - 1
    many = "A single row moves" if not more else f"{more + 1} rows each move"
    return (
        f"{many} the fit; {largest}. That row has {name(target)} {_told(y[i])}"
        f"{_odd(X, i, names)}. Without it, {_moved(found, model, names)}. See whether it is right."
    )


def _told(value: Any) -> str:
    shown = value.item() if hasattr(value, "item") else value
    return repr(name(shown)) if isinstance(shown, str) else number(float(shown), 4)


def _odd(X: Any, i: int, names: list[str]) -> str:
    """The column in which the row is farthest out."""
    R = np.asarray(X, dtype=np.float64)
    with np.errstate(all="ignore"):
        far = np.nan_to_num(np.abs(R[i] - R.mean(axis=0)) / R.std(axis=0))
    j = int(np.argmax(far))
    if far[j] < 2:
        return ""
    mean = cell(float(R[:, j].mean()), names[j], 3)
    return f" and {name(names[j])} {cell(float(R[i, j]), names[j], 4)}, where the mean is {mean}"


def _moved(found: Influence, model: Any, names: list[str]) -> str:
    """The coefficient that changes most, in its own size."""
    w = np.ravel(model.coef_)
    change = found.changes[0]
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(np.abs(change) / np.maximum(np.abs(w), 1e-300))
    size = np.abs(w) > 1e-3 * np.abs(w).max()  # a coefficient of nothing may double for nothing
    j = int(np.argmax(np.where(size, ratio, 0.0)))
    about = "" if found.exact else "about "
    return (
        f"the coefficient of {name(names[j])} would be {about}{number(float(w[j] + change[j]), 3)} "
        f"instead of {number(float(w[j]), 3)}"
    )
