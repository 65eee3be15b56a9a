"""Logistic regression one sample at a time: w + eta (y - p(x)) x, for streams."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._base import Classifier, check_finite
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.estimators._progress import CallbackSupportMixin
from adaline.kernels import _neurons as kernels
from adaline.kernels import automatic
from adaline.procedures._state import Recipe, State, learn
from adaline.results import Certificate, Fit
from adaline.schedules import Auto
from adaline.tiles import as_rows

_NOT_ONE = "x has shape {}; expected {}, one sample."
_TOO_LARGE = (
    "X has values beyond 1e154, whose squares overflow; nothing was learned. Measure those columns "
    "in larger units."
)
_STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")


class OnlineLogistic(CallbackSupportMixin, Classifier):
    """partial_fit, learn_one and predict_one of `LogisticRegression`.

    The rates are those of `Auto`: they cannot diverge, and predictions use an average of the
    weights. There is no penalty: its share of the loss vanishes as a stream grows.
    """

    fit_intercept: bool
    costs: Any
    reject_cost: Any
    _state: State | None = None  # of a stream
    _known: Fit | None = None  # None before learning, and after learn_one until someone asks
    _codes: dict[Any, float]
    _labels: list[Any]
    _shape: tuple[int]
    _information: Any
    _dtype: Any

    # Computed when asked for, because learn_one moves the weights without telling.
    fit_: Any = property(lambda self: self._learned_fit())
    coef_: Any = property(lambda self: self._learned_fit().W.astype(self._dtype))
    intercept_: Any = property(lambda self: self._learned_fit().b.astype(self._dtype))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. Any cutting of the rows into calls gives the same
        weights, bit for bit. After `fit`, learning goes on from the fitted weights.
        """
        before, first = self.__dict__.copy(), not hasattr(self, "fit_")
        X = self._rows(X, reset=first, finite=False)
        weights = self._weights(sample_weight, X)
        if weights is not None:  # those of weight zero are not looked at later
            check_finite(X, self._names)
        stream = announced(classes, None if first else self.classes_)
        known, codes = encode(labels_of_rows(y, X), stream, weights)
        X, Y, omega = as_rows(X, codes, weights)
        if first:
            self._know(known)
        saved = None if self._state is None else self._state.copy()
        state = self._begun(X.shape[1])
        learn(state, X, Y, omega)
        if not np.isfinite(state.head[kernels.SQUARES]):
            if saved is not None:
                state.restore(saved)
            names, self.__dict__ = self._names(), before
            check_finite(X, lambda: names)
            raise ValueError(_TOO_LARGE)
        self._dtype, self._known = X.dtype, None
        self._learned_fit()  # now, so that predicting changes nothing
        return self

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y: a thin call, nothing checked but the shape.

        The first one of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        if state is None:
            return self.partial_fit(np.reshape(x, (1, -1)), [y], classes)
        try:
            code = self._codes[y]
        except (KeyError, TypeError):
            raise ValueError(
                f"y is {y!r}, which is not among the classes {self.classes_.tolist()}."
            ) from None
        sample = np.ascontiguousarray(x, np.float64)
        if sample.shape != self._shape:
            raise ValueError(_NOT_ONE.format(sample.shape, self._shape))
        automatic.learn_one(sample, code, state.head, state.theta)
        self._known = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it: a thin call."""
        state = self._state
        if state is None or self.costs is not None or self.reject_cost is not None:
            check_is_fitted(self, "fit_")
            return self.predict(np.reshape(x, (1, -1)))[0]
        sample = np.ascontiguousarray(x, np.float64)
        if sample.shape != self._shape:
            raise ValueError(_NOT_ONE.format(sample.shape, self._shape))
        head, theta, value = state.head, state.theta, state.kernels.value
        if len(self._labels) == 2:
            return self._labels[value(sample, 0, head, theta) > 0.0]
        K = range(len(self._labels))
        return self._labels[int(np.argmax([value(sample, k, head, theta) for k in K]))]

    def _know(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._codes = {label: float(k) for k, label in enumerate(classes.tolist())}
        self._labels, self._shape = list(classes), (self.n_features_in_,)

    def _begun(self, p: int) -> State:
        """The stream's state, or a new one from the weights of the last fit where there is one."""
        if self._state is not None:
            return self._state
        K = 1 if len(self.classes_) == 2 else len(self.classes_)
        criterion = kernels.CROSS_ENTROPY if K == 1 else kernels.SOFTMAX
        keep, bias = kernels.LATE_AVERAGE, bool(self.fit_intercept)
        state = State(Recipe(criterion, kernels.BITS, Auto(), keep, bias, K, p))
        if self._known is not None:
            state.W[...], state.b[...] = self._known.W, self._known.b
        self.alpha_, self._information = 0.0, None
        self.n_iter_ = np.array([1], dtype=np.int32)
        self._state = state
        return state

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Take what a fit has learned; a stream before it is over."""
        self._state, self._known, self._dtype = None, fit, dtype

    def _learned_fit(self) -> Fit:
        if self._known is None:
            if self._state is None:
                raise AttributeError("not fitted yet")
            W, b = self._state.kept()
            self._known = Fit(W, b, "rows of a stream, each learned once.", _STREAM)
        return self._known
