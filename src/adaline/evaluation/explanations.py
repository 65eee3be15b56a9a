"""What each column contributes to a prediction; the contributions add up to it, bit for bit.

v = w'x + b = base + sum_j w_j (x_j - m_j),    base = w'm + b,    m an average row
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data import Encoding
from adaline.estimators.registry import effect_of
from adaline.evaluation._rows import model_and_rows
from adaline.evaluation.answers import asked
from adaline.evaluation.verdict import column_names
from adaline.parameters import is_sparse
from adaline.results import Array, Result
from adaline.sums.class_moments import ClassMoments

_LINEAR = ("values", "exponential", "sides", "posterior", "gaussians")


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
    rounding : ndarray of shape (n,)
        0 nearly always; a last bit, where no part can take it.
    about : ndarray of shape (p,)
        The average row where the model knows one, else zeros.
    of : str
        "the prediction", "the logarithm of the prediction", "log-odds" or "score".
    against : ndarray of shape (n,) or None
        Of more than two classes, the runner-up: the score is that of the predicted class less
        that of this one. Of two classes a positive score speaks for `classes_[1]`.

    Notes
    -----
    `math.fsum([base[i], *parts[i], rounding[i]]) == score[i]`, to the last bit.
    """

    names: tuple[str, ...]
    score: Array
    base: Array
    parts: Array
    rounding: Array
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
    """What each column contributes to the prediction of each row, adding up exactly.

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
    model, X, own = model_and_rows(model, X)
    encoding = own if encoding is None else encoding
    found = model._exported_weights() if getattr(model, "_exports", None) in _LINEAR else None
    many = found is not None and len(found[1]) > 1 and not hasattr(model, "classes_")
    if found is None or many:
        what = "has several targets" if many else "is no sum of weighted columns"
        raise ValueError(
            f"{type(model).__name__} {what}, so columns have no contributions that add up. A "
            "linear learner, such as Ridge or LogisticRegression, has them."
        )
    W, b = found
    label = column_names(model, X, names if encoding is None else list(encoding.names))
    told = np.asarray(asked(model, "predict", X))  # first, as it refuses what are no rows
    rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        score, k, j = _scores(model, X, told, rows @ W.T + b)
    w = W if k is None else W[k] - W[j]
    bias = b if k is None else b[k] - b[j]
    about = _average_row(model, W.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        parts, base = (rows - about) * w, np.broadcast_to(w @ about + bias, score.shape)
        if encoding is not None:
            label, parts = _by_input(encoding, parts)
    if not (np.isfinite(parts).all() and np.isfinite(score).all() and np.isfinite(base).all()):
        raise ValueError("contributions leave the range of float64; rescale the columns.")
    base, parts, rounding = settled(base, parts, score)
    against = None if j is None else model.classes_[j]
    return Explanation(tuple(label), score, base, parts, rounding, about, _of(model), against)


def _of(model: Any) -> str:
    words = {"adds": "the prediction", "score": "score", "odds": "log-odds"}
    return words.get(effect_of(model) or "score", "the logarithm of the prediction")


def _scores(model: Any, X: Any, told: NDArray[Any], V: Array) -> tuple[Array, Any, Any]:
    """The score of each row; of more than two classes, also the class and the runner-up.

    V = W x + b are those of costs too, which move the decision but not the odds.
    """
    if effect_of(model) == "adds":
        return np.asarray(told, dtype=np.float64), None, None
    if getattr(model, "costs", None) is None and hasattr(model, "classes_"):
        V = np.asarray(asked(model, "decision_function", X), dtype=np.float64)
        V = V.reshape(len(told), -1)
    if V.shape[1] == 1:
        return V[:, 0], None, None
    n = np.arange(len(V))
    known = {label: k for k, label in enumerate(model.classes_.tolist())}
    best = V.argmax(axis=1)  # a row that is rejected has no class of its own
    k = np.array([known.get(t, f) for t, f in zip(told.tolist(), best.tolist(), strict=True)])
    rest = V.copy()
    rest[n, k] = -np.inf
    j = rest.argmax(axis=1)
    return V[n, k] - V[n, j], k, j


def _average_row(model: Any, p: int) -> Array:
    """The means of the columns where the model knows them, else zeros."""
    m, known = getattr(model, "moments_", None), getattr(model, "_information", None)
    found = None
    if isinstance(m, ClassMoments):
        found = m.weight @ np.where(m.weight[:, None] > 0, m.means, 0.0) / m.weight.sum()
    elif m is not None:
        found = m.mean_and_squares(about_zero=False)[0][:p]
    elif known is not None and known.centre is not None:
        found = known.centre
    good = found is not None and len(found) == p and bool(np.isfinite(found).all())
    return np.array(found, dtype=np.float64) if good else np.zeros(p)


def _by_input(encoding: Encoding, parts: Array) -> tuple[list[str], Array]:
    """Columns that were made of one of the table's, added."""
    sizes = [len(names) for _, names in encoding.groups()]
    ends = np.cumsum(sizes)
    label = [name for name, _ in encoding.groups()]
    summed = [parts[:, e - s : e].sum(axis=1) for s, e in zip(sizes, ends, strict=True)]
    return label, np.column_stack(summed)


def settled(base: Array, parts: Array, score: Array) -> tuple[Array, Array, Array]:
    """Base, parts and rounding whose exact sum rounds to the score.

    The difference, of a few last bits, goes to the largest part that can take it. Where none can,
    because parts of opposite signs are much larger than their sum, it stands alone.
    """
    C = np.column_stack([base, parts])
    rounding = np.zeros(len(C))
    for i, (row, v) in enumerate(zip(C.tolist(), score.tolist(), strict=True)):
        if math.fsum(row) != v:
            C[i], rounding[i] = _moved(row, v)
    return C[:, 0], C[:, 1:], rounding


def _moved(row: list[float], v: float) -> tuple[list[float], float]:
    """Base and parts, and rounding, of one row."""
    off = math.fsum([v, *(-c for c in row)])
    for k in [*sorted(range(1, len(row)), key=lambda k: -abs(row[k])), 0]:
        moved = [*row[:k], row[k] + off, *row[k + 1 :]]
        if row[k] and math.fsum(moved) == v:
            return moved, 0.0
    if math.fsum([*row, off]) == v:
        return row, off
    return _on_a_grid(row), v


def _on_a_grid(row: list[float]) -> list[float]:
    """Parts that add up to zero exactly: multiples of the last bit of the largest.

    For a score so small that it is nothing but rounding errors of its parts.
    """
    k = max(range(len(row)), key=lambda j: abs(row[j]))
    unit = math.ulp(row[k])
    even = [round(c / unit) * unit for c in row]
    even[k] -= math.fsum(even)
    return even
