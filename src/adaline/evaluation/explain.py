"""Single predictions: what each column contributes, and how far the prediction may be off.

v = w'x + b = base + sum_j w_j (x_j - m_j),    base = w'm + b,    m an average row
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.data import Encoding, Prepared
from adaline.estimators.registry import effect_of
from adaline.evaluation.trial import BaseEstimator, ask, column_names, require_fitted
from adaline.parameters import LEVEL, is_sparse
from adaline.results import Array, Result
from adaline.sums.class_moments import ClassMoments


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Contributions of columns to the score of each row: `base + parts.sum(axis=1)` is `score`.

    `parts` (n, columns) is what each of the columns `names` adds because it differs from the row
    `about` (p,), the average one if the model knows it, else zeros; of a table all levels of a text
    are one column. `base` (n,) is the score of that row, and `of` says what scores are: "the
    prediction", "the logarithm of the prediction", "log-odds" or "score". Of two classes a positive
    score speaks for `classes_[1]`. Of more it is that of the predicted class less that of the
    runner-up, `against`.
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
    model: BaseEstimator, X: Any, names: Any = None, *, encoding: Encoding | None = None
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
    linear = ("values", "exponential", "sides", "posterior", "gaussians")
    is_linear = getattr(model, "_exports", None) in linear
    weights = model._exported_weights() if is_linear else None
    if weights is None or (len(weights[1]) > 1 and not hasattr(model, "classes_")):
        what = "is not a sum of weighted columns" if weights is None else "has several targets"
        raise ValueError(f"{type(model).__name__} {what}: there are no contributions of columns.")
    W, b = weights
    label = column_names(model, X, names if encoding is None else list(encoding.names))
    predicted = np.asarray(ask(model, "predict", X))  # first, as it checks the rows
    rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    about, against = _average_row(model, W.shape[1]), None
    with np.errstate(over="ignore", invalid="ignore"):
        V = rows @ W.T + b
        if hasattr(model, "classes_") and getattr(model, "costs", None) is None:
            # Costs move the decision but not the odds, which V explains then.
            V = np.reshape(ask(model, "decision_function", X), V.shape).astype(np.float64)
        if V.shape[1] == 1:
            w, bias = W, b
            score = V[:, 0] if effect_of(model) != "adds" else predicted.astype(np.float64)
        else:
            # The predicted class, or of a rejected row the likeliest, against its runner-up.
            n, known = np.arange(len(V)), predicted[:, None] == model.classes_
            k = np.where(known.any(axis=1), known.argmax(axis=1), V.argmax(axis=1))
            j = np.where(np.arange(V.shape[1]) == k[:, None], -np.inf, V).argmax(axis=1)
            w, bias, score, against = W[k] - W[j], b[k] - b[j], V[n, k] - V[n, j], model.classes_[j]
        parts, base = (rows - about) * w, np.broadcast_to(w @ about + bias, score.shape)
        if encoding is not None:
            label, groups = map(list, zip(*encoding.groups(), strict=True))
            starts = np.cumsum([0, *map(len, groups[:-1])])
            parts = np.add.reduceat(parts, starts, axis=1)
    if not all(np.isfinite(v).all() for v in (parts, score, base)):
        raise ValueError("contributions leave the range of float64; rescale the columns.")
    words = {"adds": "the prediction", "score": "score", "odds": "log-odds"}
    of = words.get(effect_of(model) or "score", "the logarithm of the prediction")
    return Explanation(tuple(label), score, base, parts, about, of, against)


def _average_row(model: BaseEstimator, p: int) -> Array:
    """The means of the columns if the model knows them, else zeros."""
    m, information = getattr(model, "moments_", None), getattr(model, "_information", None)
    mean = getattr(information, "centre", None)
    if isinstance(m, ClassMoments):
        mean = m.weight @ np.where(m.weight[:, None] > 0, m.means, 0.0) / m.weight.sum()
    elif m is not None:
        mean = m.mean_and_squares(about_zero=False)[0][:p]
    is_known = mean is not None and len(mean) == p and bool(np.isfinite(mean).all())
    return np.array(mean, dtype=np.float64) if is_known else np.zeros(p)


def _model_and_rows(model: BaseEstimator, X: Any) -> tuple[Any, Any, Encoding | None]:
    """The estimator, its rows of numbers, and the encoding that made them, if there is one."""
    require_fitted(model.model if isinstance(model, Prepared) else model)
    if not isinstance(model, Prepared):
        return model, X, None
    parts = list(model.encoded(X))
    rows = sparse.vstack(parts).tocsr() if is_sparse(parts[0]) else np.concatenate(parts)
    return model.model, rows, model.encoding


@dataclass(frozen=True, eq=False)
class Interval(Result):
    """Low and high (n,) for each row, (n, k) of several targets, or (n, K) of classes.

    A share `level` of such intervals holds what they are `of`, if the model is right: "a new
    value", "the mean count" or "the probability of each class".
    """

    low: NDArray[Any]
    high: NDArray[Any]
    level: float
    of: str


def interval(model: BaseEstimator, X: Any, level: float = 0.95) -> Interval:
    """Intervals of the predictions of a fitted estimator, or of a `Prepared` one and its table.

    - `LeastSquares`: a new y lies in it with probability `level`, if the noise is normal with one
      variance; Student's t, exact for any number of rows.
    - `Ridge`: the same by the posterior of the weights, for which the penalty is a prior.
    - `LogisticRegression`: the probability of each class; normal on the scale of log-odds, for
      many rows. The penalty counts as a prior. Of three classes or more every difference of two
      scores is at the end of its interval: low of a class and high of another are 1 at most.
    - `PoissonRegression`: the mean count (at exposure 1), in the same way.

    ValueError if there is no theory for the model, or the fit kept too little.

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
    of = {"values": "a new value", "means": "the mean count"}
    of["probabilities"] = "the probability of each class"
    if (what := of.get(getattr(model, "_intervals", None) or "")) is None:
        raise ValueError(
            f"{type(model).__name__} has no theory of how far its predictions may be off; "
            "LeastSquares, Ridge, LogisticRegression and PoissonRegression have one."
        )
    low, high = ask(model, "_interval", X, level)
    return Interval(np.asarray(low), np.asarray(high), level, what)
