"""Single predictions: what each column contributes, and how far the prediction may be off.

v = w'x + b = base + sum_j w_j (x_j - m_j),    base = w'm + b,    m an average row
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data import Encoding, Prepared
from adaline.estimators.registry import effect_of
from adaline.evaluation.trial import ask, column_names, require_fitted
from adaline.parameters import LEVEL, is_sparse
from adaline.results import Array, Result
from adaline.sums.class_moments import ClassMoments

LINEAR_EXPORTS = ("values", "exponential", "sides", "posterior", "gaussians")


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Contributions of columns to the score of each row.

    Attributes
    ----------
    names : tuple of str
        The columns; of a table those of the table, so that all levels of a text are one.
    score : ndarray of shape (n,)
        What the parts add up to; `of` says what it is.
    base : ndarray of shape (n,)
        The score of the row `about`.
    parts : ndarray of shape (n, columns)
        What each column adds, because it differs from `about`.
    about : ndarray of shape (p,)
        The average row if the model knows it, else zeros.
    of : str
        "the prediction", "the logarithm of the prediction", "log-odds" or "score".
    against : ndarray of shape (n,) or None
        Of more than two classes, the runner-up: the score is that of the predicted class less
        that of this one. Of two classes a positive score speaks for `classes_[1]`.

    Notes
    -----
    `base + parts.sum(axis=1)` equals `score` up to rounding.
    """

    names: tuple[str, ...]
    score: Array
    base: Array
    parts: Array
    about: Array
    of: str
    against: NDArray[Any] | None = None

    @property
    def is_about_the_average(self) -> bool:
        """Whether contributions are measured from an average row, not from a row of zeros."""
        return bool(np.any(self.about))


def explain(
    model: Any, X: Any, names: Sequence[str] | None = None, *, encoding: Encoding | None = None
) -> Explanation:
    """What each column contributes to the prediction of each row.

    Parameters
    ----------
    model : fitted estimator whose score is a sum of weighted columns, or Prepared
    X : array-like or CSR of shape (n, p); for Prepared, a table or a file
    names : sequence of str, optional
        Of the columns of X; by default those of the fit.
    encoding : Encoding, optional
        How X was made of a table: all columns made of one of the table's are explained as one.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from adaline import LeastSquares, explain
    >>> model = LeastSquares().fit([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 2.0]], [1, 4, 3, 8])
    >>> found = explain(model, [[4.0, 2.0]], ["size", "rooms"])
    >>> found.base.round(6), found.parts.round(6), found.score.round(6)
    (array([4.]), array([[1.5, 2.5]]), array([8.]))
    """
    model, X, own = _model_and_rows(model, X)
    encoding = own if encoding is None else encoding
    is_linear = getattr(model, "_exports", None) in LINEAR_EXPORTS
    weights = model._exported_weights() if is_linear else None
    if weights is None or (len(weights[1]) > 1 and not hasattr(model, "classes_")):
        what = "is not a sum of weighted columns" if weights is None else "has several targets"
        raise ValueError(
            f"{type(model).__name__} {what}, so columns have no contributions that add up. Use a "
            "linear learner, such as Ridge or LogisticRegression."
        )
    W, b = weights
    label = column_names(model, X, names if encoding is None else list(encoding.names))
    predicted = np.asarray(ask(model, "predict", X))  # first, as it checks the rows
    rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    about, against = _average_row(model, W.shape[1]), None
    with np.errstate(over="ignore", invalid="ignore"):
        V = rows @ W.T + b
        if hasattr(model, "classes_") and getattr(model, "costs", None) is None:
            # Costs move the decision but not the odds, which V explains then.
            V = np.asarray(ask(model, "decision_function", X), dtype=np.float64)
            V = V.reshape(len(rows), -1)
        if V.shape[1] == 1:
            w, bias = W, b
            score = V[:, 0] if effect_of(model) != "adds" else predicted.astype(np.float64)
        else:
            k, j = _best_two(V, predicted, model.classes_)
            n = np.arange(len(V))
            w, bias, score, against = W[k] - W[j], b[k] - b[j], V[n, k] - V[n, j], model.classes_[j]
        parts, base = (rows - about) * w, np.broadcast_to(w @ about + bias, score.shape)
        if encoding is not None:
            groups = encoding.groups()
            label = [group for group, _ in groups]
            ends = np.cumsum([len(columns) for _, columns in groups])[:-1]
            split = np.split(parts, ends, axis=1)
            parts = np.column_stack([columns.sum(axis=1) for columns in split])
    if not all(np.isfinite(v).all() for v in (parts, score, base)):
        raise ValueError("contributions leave the range of float64; rescale the columns.")
    words = {"adds": "the prediction", "score": "score", "odds": "log-odds"}
    of = words.get(effect_of(model) or "score", "the logarithm of the prediction")
    return Explanation(tuple(label), score, base, parts, about, of, against)


def _best_two(V: Array, predicted: NDArray[Any], classes: NDArray[Any]) -> tuple[Any, Any]:
    """The predicted class of each row, and its runner-up."""
    codes = {label: k for k, label in enumerate(classes.tolist())}
    best = V.argmax(axis=1)  # a rejected row has no class of its own
    pairs = zip(predicted.tolist(), best.tolist(), strict=True)
    k = np.array([codes.get(label, first) for label, first in pairs])
    others = V.copy()
    others[np.arange(len(V)), k] = -np.inf
    return k, others.argmax(axis=1)


def _average_row(model: Any, p: int) -> Array:
    """The means of the columns if the model knows them, else zeros."""
    m, information = getattr(model, "moments_", None), getattr(model, "_information", None)
    mean = getattr(information, "centre", None)
    if isinstance(m, ClassMoments):
        mean = m.weight @ np.where(m.weight[:, None] > 0, m.means, 0.0) / m.weight.sum()
    elif m is not None:
        mean = m.mean_and_squares(about_zero=False)[0][:p]
    is_known = mean is not None and len(mean) == p and bool(np.isfinite(mean).all())
    return np.array(mean, dtype=np.float64) if is_known else np.zeros(p)


def _model_and_rows(model: Any, X: Any) -> tuple[Any, Any, Encoding | None]:
    """The estimator, its rows of numbers, and the encoding that made them, if there is one."""
    if not isinstance(model, Prepared):
        require_fitted(model)
        return model, X, None
    require_fitted(model.model)
    parts = list(model.encoded(X))
    rows = sparse.vstack(parts).tocsr() if is_sparse(parts[0]) else np.concatenate(parts)
    return model.model, rows, model.encoding


@dataclass(frozen=True, eq=False)
class Interval(Result):
    """Low and high for each row.

    Attributes
    ----------
    low, high : ndarray of shape (n,), (n, k) for several targets, or (n, K) for classes
    level : float
        The share of such intervals that hold what they are of, if the model is right.
    of : str
        "a new value", "the mean count" or "the probability of each class".
    """

    low: NDArray[Any]
    high: NDArray[Any]
    level: float
    of: str


def interval(model: Any, X: Any, level: float = 0.95) -> Interval:
    """Intervals of predictions.

    - `LeastSquares`: a new y lies in it with probability `level`, if the noise is normal with one
      variance; Student's t, exact for any number of rows.
    - `Ridge`: the same by the posterior of the weights, for which the penalty is a prior.
    - `LogisticRegression`: the probability of each class; normal on the scale of log-odds, for
      many rows. The penalty counts as a prior. Of three classes or more every difference of two
      scores is at the end of its interval: low of a class and high of another are 1 at most.
    - `PoissonRegression`: the mean count (at exposure 1), in the same way.

    Parameters
    ----------
    model : fitted estimator, or Prepared
    X : array-like or CSR of shape (n, p); for Prepared, a table or a file
    level : float, default=0.95

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If there is no theory for the model, or the fit kept too little.

    Examples
    --------
    >>> from adaline import LeastSquares, interval
    >>> x = np.arange(20.0)[:, None]
    >>> y = 2 * x[:, 0] + np.tile([1.0, -1.0], 10)
    >>> found = interval(LeastSquares().fit(x, y), [[10.0], [30.0]])
    >>> found.low.round(1), found.high.round(1)
    (array([17.7, 56.8]), array([22.3, 62.6]))
    """
    level = float(LEVEL("level", level))
    model, X, _ = _model_and_rows(model, X)
    kind = getattr(model, "_intervals", None)
    if kind is None:
        raise ValueError(
            f"{type(model).__name__} has no theory of how far its predictions may be off; "
            "LeastSquares, Ridge, LogisticRegression and PoissonRegression have one."
        )
    low, high = ask(model, "_interval", X, level)
    of = {"values": "a new value", "means": "the mean count"}
    what = of.get(kind, "the probability of each class")
    return Interval(np.asarray(low), np.asarray(high), level, what)
