"""Logistic regression one sample at a time: w + eta (y - p(x)) x, for streams."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline import decisions
from adaline.certificates.delivery import delivered
from adaline.estimators._base import Classifier, check_finite
from adaline.estimators._delivered import WRITTEN, StreamWeights
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.estimators._progress import CallbackSupportMixin
from adaline.estimators.declarations import demand, same_bits
from adaline.estimators.sequential.learner import one_row, one_sample
from adaline.kernels.sequential import automatic
from adaline.kernels.sequential import neurons as kernels
from adaline.procedures.sequential.state import Recipe, State, learn
from adaline.results import Array, Certificate, Fit
from adaline.schedules import Auto
from adaline.tiles import as_rows

_TOO_LARGE = (
    "X has values beyond 1e154, whose squares overflow; nothing was learned. Measure those columns "
    "in larger units."
)
_STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")


class OnlineLogistic(CallbackSupportMixin, StreamWeights, Classifier):
    """partial_fit, learn_one and predict_one of `LogisticRegression`.

    The rates are those of `Auto`: they cannot diverge, and predictions use an average of the
    weights. There is no penalty: its share of the loss vanishes as a stream grows.
    """

    fit_intercept: bool
    costs: Any
    reject_cost: Any
    _derived = ("_codes", "_labels", "_shape", "_shown")
    _codes: dict[Any, float]
    _labels: list[Any]
    _shape: tuple[int]
    _information: Any

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. Any cutting of the rows into calls gives the same
        weights, bit for bit. After `fit`, learning goes on from the fitted weights.
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        if not first:
            self._heed()
        X = self._rows(X, reset=first, finite=False)
        weights = self._weights(sample_weight, X)
        if weights is not None:  # those of weight zero are not looked at later
            check_finite(X, self._names)
        stream = announced(classes, None if first else self.classes_)
        known, codes = encode(labels_of_rows(y, X), stream, weights)
        decisions.checked_costs(self.costs, len(known))
        X, Y, omega = as_rows(X, codes, weights)
        if first:
            self._know(known)
        state = self._begun(X.shape[1])
        saved = state.copy()
        try:
            learn(state, X, Y, omega)
            if not np.isfinite(state.head[kernels.SQUARES]):
                check_finite(X, self._names)
                raise ValueError(_TOO_LARGE)
        except BaseException:  # Ctrl-C too: a block is learned whole or not at all
            state.restore(saved)
            raise
        self._dtype, self._known, self._shown = X.dtype, None, None
        self._show()  # now, so that predicting changes nothing
        return self

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y: a thin call; NaN and infinities are refused.

        The first one of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        if state is None:
            return self.partial_fit(one_row(x), [y], classes)
        if classes is not None:
            announced(classes, self.classes_)
        try:
            code = self._codes[y]
        except (KeyError, TypeError):
            raise ValueError(
                f"y is {y!r}, which is not among the classes {self.classes_.tolist()}."
            ) from None
        sample = one_sample(x, self._shape)
        if self._shown is not None:
            self._heed()
        if not automatic.learn_one(sample, code, state.head, state.theta):
            return self.partial_fit(one_row(sample), [y])
        self._known = self._shown = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it: a thin call."""
        state = self._state
        if state is None or self.costs is not None or self.reject_cost is not None:
            check_is_fitted(self)
            return self.predict(one_row(x))[0]
        v = self._outputs(one_sample(x, self._shape))
        return self._labels[int(v[0] > 0.0) if len(v) == 1 else int(np.argmax(v))]

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
        self._state, self._known, self._shown = None, delivered(fit, dtype), None
        self._dtype = np.dtype(dtype)
        self._show()

    def _restored(self, dtype: Any) -> None:
        demand(self._known is not None or self._state is not None, "nothing is learned.")
        if self._state is not None and self._known is not None:
            parts = zip((self._known.W, self._known.b), self._state.kept(), strict=True)
            demand(all(same_bits(a, b) for a, b in parts), "two versions of the weights.")
        self._know(self.classes_)
        self._show()

    def _rewrite(self, W: Array, b: Array) -> None:
        if self._state is not None:
            self._state.go_on_from(W, b)
        said = "coef_ or intercept_ was written after learning."
        self._known, self._information = Fit(W, b, said, WRITTEN), None

    def _made_fit(self) -> Fit:
        if self._known is None:
            if self._state is None:
                raise AttributeError("not fitted yet")
            W, b = self._state.kept()
            self._known = Fit(W, b, "rows of a stream, each learned once.", _STREAM)
        known: Fit = self._known
        return known
