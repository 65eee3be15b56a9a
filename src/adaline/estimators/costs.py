"""Decisions from posterior probabilities where errors cost differently, or rejecting may be best.

Base class of the Bayes, Gaussian and logistic classifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from adaline import decisions
from adaline.estimators.base import lazy_for_dask, round_to
from adaline.results import Array


class PosteriorClassifier:
    """Predictions from V: log odds (n,) of two classes, or scores (n, K): p(k|x) = softmax(V)."""

    classes_: NDArray[Any]
    costs: Any
    reject_cost: Any
    _values: Callable[[Any], Array]  # v = W x + b, as of `Learner`

    def _from_scores(self, X: Any, function: Callable[[Array], Any]) -> tuple[Any, Any]:
        """function(V) for the rows of X, and the dtype of X."""
        V = self._values(X)
        return function(V[:, 0] if V.shape[1] == 1 else V), V.dtype

    @lazy_for_dask
    def decision_function(self, X: Any) -> Array:
        """Positive, or largest, where the class is predicted (rejects apart).

        Two classes: the log odds of `classes_[1]`, with costs minus the lecture's ln xi. More
        classes: one score each, (n, K); with costs, minus the expected costs.
        """
        return np.asarray(round_to(*self._from_scores(X, self._move_by_costs)))

    @lazy_for_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of least expected cost, or "reject"; the first of tied classes."""
        return np.asarray(self._from_scores(X, self._decide)[0])

    @lazy_for_dask
    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities p(k | x), columns in the order of classes_."""
        return np.asarray(round_to(*self._from_scores(X, posterior)))

    @lazy_for_dask
    def predict_log_proba(self, X: Any) -> Array:
        """ln p(k | x), accurate where p(k | x) is too small for a float."""
        log_p, dtype = self._from_scores(X, log_posterior)
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

    def _decide(self, V: Array) -> NDArray[Any]:
        if self.costs is None and self.reject_cost is None:
            chosen: Any = (V > 0).astype(int) if V.ndim == 1 else V.argmax(axis=1)
            return np.asarray(self.classes_[chosen])
        c = decisions.checked_costs(self.costs, len(self.classes_))
        reject = decisions.checked_reject_cost(self.reject_cost)
        label = None if reject is None else decisions.REJECT_LABEL
        return decisions.labels_of(decisions.decide(posterior(V), c, reject), self.classes_, label)


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
