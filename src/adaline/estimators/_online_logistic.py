"""Logistic regression one sample at a time: w + eta (y - p(x)) x, for streams."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._base import Classifier, check_finite
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.kernels import sequential as kernels
from adaline.procedures._state import Recipe, State, learn
from adaline.results import Certificate, Fit
from adaline.schedules import Auto
from adaline.tiles import as_rows

_STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")


class OnlineLogistic(Classifier):
    """partial_fit, learn_one and predict_one of `LogisticRegression`.

    The rates are those of `Auto`: they cannot diverge, and predictions use an average of the
    weights. There is no penalty: its share of the loss vanishes as a stream grows.
    """

    fit_intercept: bool
    _state: State
    _information: Any

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. Any cutting of the rows into calls gives the same
        weights, bit for bit. After `fit`, learning goes on from the fitted weights.
        """
        first = not hasattr(self, "fit_")
        X = self._rows(X, reset=first, finite=False)
        check_finite(X, self._names)
        stream = announced(classes, None if first else self.classes_)
        known, codes = encode(labels_of_rows(y, X), stream)
        X, Y, omega = as_rows(X, codes, self._weights(sample_weight, X))
        if first:
            self.classes_ = known
        if not hasattr(self, "_state"):
            self._begin(X.shape[1])
        learn(self._state, X, Y, omega)
        self._take(X.dtype)
        return self

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y; the first one of a stream needs `classes`."""
        self.partial_fit(np.reshape(x, (1, -1)), [y], classes)
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,)."""
        check_is_fitted(self, "fit_")
        return self.predict(np.reshape(x, (1, -1)))[0]

    def _begin(self, p: int) -> None:
        """A new stream, from the weights of the last fit where there is one."""
        K = 1 if len(self.classes_) == 2 else len(self.classes_)
        criterion = kernels.CROSS_ENTROPY if K == 1 else kernels.SOFTMAX
        keep, bias = kernels.LATE_AVERAGE, bool(self.fit_intercept)
        self._state = State(Recipe(criterion, kernels.BITS, Auto(), keep, bias, K, p))
        if hasattr(self, "fit_"):
            self._state.W[...], self._state.b[...] = self.fit_.W, self.fit_.b
        self.alpha_, self._information = 0.0, None
        self.n_iter_ = np.array([1], dtype=np.int32)

    def _take(self, dtype: Any) -> None:
        W, b = self._state.kept()
        self.fit_ = Fit(W, b, "rows of a stream, each learned once.", _STREAM)
        self.coef_, self.intercept_ = W.astype(dtype), b.astype(dtype)
