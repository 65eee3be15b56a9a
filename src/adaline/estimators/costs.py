"""Posterior probabilities, decisions where errors cost differently, and weights of classes.

`PosteriorClassifier` is a base class of the Bayes, Gaussian and logistic classifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from adaline import decisions
from adaline.estimators.base import lazy_for_dask, round_to, winners
from adaline.parameters import NONE, Expected, ParameterError, is_number, shown, words
from adaline.results import Array


class PosteriorClassifier:
    """Predictions from V: log odds (n,) of two classes, or scores (n, K): p(k|x) = softmax(V)."""

    classes_: NDArray[Any]
    costs: Any
    reject_cost: Any
    _values: Callable[[Any], Array]  # v = W x + b, as of `Learner`

    def _scores(self, X: Any) -> tuple[Any, Any]:
        """V for the rows of X, as computed, and the dtype of X."""
        V = self._values(X)
        return V[:, 0] if V.shape[1] == 1 else V, V.dtype

    @lazy_for_dask
    def decision_function(self, X: Any) -> Array:
        """Positive, or largest, where the class is predicted (rejects apart).

        Two classes: the log odds of `classes_[1]`, with costs minus the lecture's ln xi. More
        classes: one score each, (n, K); with costs, minus the expected costs.
        """
        V, dtype = self._scores(X)
        return np.asarray(round_to(self._move_by_costs(V), dtype))

    @lazy_for_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of least expected cost, or "reject"; the first of tied classes."""
        V, _ = self._scores(X)
        if self.costs is None and self.reject_cost is None:
            return winners(V, self.classes_)
        c = decisions.checked_costs(self.costs, len(self.classes_))
        reject = decisions.checked_reject_cost(self.reject_cost)
        label = None if reject is None else decisions.REJECT_LABEL
        return decisions.labels_of(decisions.decide(posterior(V), c, reject), self.classes_, label)

    @lazy_for_dask
    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities p(k | x), columns in the order of classes_."""
        V, dtype = self._scores(X)
        return np.asarray(round_to(posterior(V), dtype))

    @lazy_for_dask
    def predict_log_proba(self, X: Any) -> Array:
        """ln p(k | x), accurate where p(k | x) is too small for a float."""
        V, dtype = self._scores(X)
        log_p = log_posterior(V)
        if dtype != log_p.dtype:
            log_p[np.exp(log_p).astype(dtype) == 1] = 0.0  # to agree with predict_proba
        return np.asarray(round_to(log_p, dtype))

    def _move_by_costs(self, V: Array) -> Array:
        if self.costs is None:
            return V
        K = len(self.classes_)
        c = decisions.checked_costs(self.costs, K)
        if K == 2 and c[0, 1] > c[1, 1] and c[1, 0] > c[0, 0]:
            return np.asarray(V + V.dtype.type(np.log(decisions.threshold([0.5, 0.5], c))))
        R = decisions.expected_costs(posterior(V), c)
        return np.asarray(R[:, 0] - R[:, 1] if K == 2 else -R, dtype=V.dtype)


def posterior(V: Array) -> Array:
    if V.ndim == 1:
        return np.asarray(expit(np.column_stack([-V, V])))
    # Along short rows numpy adds one number at a time; along columns it is 50 times as fast.
    with np.errstate(over="ignore"):  # -inf, probability zero, is right
        return np.asarray(softmax(np.ascontiguousarray(V.T), axis=0).T)


def log_posterior(V: Array) -> Array:
    if V.ndim == 1:
        return np.asarray(log_expit(np.column_stack([-V, V])))
    with np.errstate(over="ignore"):
        return np.asarray(log_softmax(np.ascontiguousarray(V.T), axis=0).T)


CLASS_WEIGHT = (
    NONE
    | words("balanced")
    | Expected(
        "a dict of weights >= 0 by label",
        lambda value: (
            isinstance(value, Mapping) and all(is_number(w) and w >= 0 for w in value.values())
        ),
    )
)


def weights_by_class(
    class_weight: Any, classes: NDArray[Any], codes: Any, omega: Array | None
) -> Array | None:
    """Weights of rows times those of their classes: "balanced", a dict, or None for 1.

    "balanced" gives every class the same weight, by n / (K n_k); classes left out of a dict have 1.
    """
    if class_weight is None:
        return omega
    row_weights = np.ones(len(codes)) if omega is None else omega
    if isinstance(class_weight, str):
        sums = np.bincount(codes, row_weights, minlength=len(classes))
        factor = np.divide(sums.sum(), len(classes) * sums, out=np.ones(len(sums)), where=sums > 0)
    else:
        known = classes.tolist()
        if unknown := [label for label in class_weight if label not in known]:
            raise ParameterError(f"class_weight has {shown(unknown[0])}, which is no class of y.")
        factor = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    return np.asarray(row_weights * factor[codes])
