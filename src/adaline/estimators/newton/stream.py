"""Logistic regression one sample at a time: w + eta (y - p(x)) x, for streams.

The rates are those of `Auto`: they cannot diverge, and predictions use an average of the weights.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.certificates.statements import delivered
from adaline.estimators._base import Classifier, check_finite
from adaline.estimators._delivered import WRITTEN, StreamWeights
from adaline.estimators._labels import announced, encode, labels_of_rows, weights_by_class
from adaline.estimators.declarations import demand, same_bits
from adaline.kernels.codes import BITS, CROSS_ENTROPY, LATE_AVERAGE, SOFTMAX
from adaline.parameters import one_row, one_sample
from adaline.results import Array, Certificate, Fit

STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")


class LogisticStream(StreamWeights, Classifier):
    """`partial_fit` and `learn_one` of `LogisticRegression`, and the weights they move."""

    fit_intercept: bool
    class_weight: Any
    costs: Any
    reject_cost: Any
    alpha_: float
    n_iter_: Any
    _information: Any
    _codes: dict[Any, float]
    _labels: list[Any]
    _shape: tuple[int]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, each once, by the gradient of its own loss (on-line learning).

        The first call names all `classes`. Any cutting of the rows into calls gives the same
        weights, bit for bit. After `fit`, learning goes on from the fitted weights. The rates are
        those of `Auto`, and there is no penalty: its share of the loss vanishes as a stream grows.
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
        self._check_costs(len(known))
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all rows at once; in a stream give a dict of "
                "weights."
            )
        weights = weights_by_class(self.class_weight, known, codes, weights)
        if self._state is None:
            state = self._new_state(len(known), X.shape[1])
            self._learn_rows(state, X, codes, weights)
            self._know(known)
            self.alpha_, self._information = 0.0, None
            self.n_iter_ = np.array([1], dtype=np.int32)
            self._state = state
        else:
            saved = self._state.copy()
            try:
                self._learn_rows(self._state, X, codes, weights)
            except BaseException:  # Ctrl-C too
                self._state.restore(saved)
                raise
        self._dtype, self._known, self._shown = X.dtype, None, None
        self._show()  # now, so that predicting changes nothing
        return self

    def _new_state(self, classes: int, p: int) -> Any:
        """A new stream, from the weights of the last fit where there is one."""
        from adaline.procedures.sequential import Recipe, State
        from adaline.schedules import Auto

        K = 1 if classes == 2 else classes
        criterion = CROSS_ENTROPY if K == 1 else SOFTMAX
        state = State(Recipe(criterion, BITS, Auto(), LATE_AVERAGE, bool(self.fit_intercept), K, p))
        if self._known is not None:
            state.go_on_from(self._known.W, self._known.b)
        return state

    def _learn_rows(self, state: Any, X: Any, codes: Any, weights: Any) -> None:
        from adaline.procedures.sequential import learn

        Y = codes.astype(np.float64).reshape(-1, 1)
        learn(state, X, Y, np.empty(0) if weights is None else weights)
        if not np.isfinite(state.counters.inputs):
            check_finite(X, self._names)
            raise ValueError(
                "X has values beyond 1e154, whose squares overflow; nothing was learned. Measure "
                "those columns in larger units."
            )

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y: a thin call; NaN and infinities are refused.

        The first one of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        if state is None or self.class_weight is not None:
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
        if not state.learn_one(sample, code):
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

    def _restored(self, dtype: Any) -> None:
        demand(self._known is not None or self._state is not None, "nothing is learned.")
        if self._state is not None and self._known is not None:
            parts = zip((self._known.W, self._known.b), self._state.kept(), strict=True)
            demand(all(same_bits(a, b) for a, b in parts), "two versions of the weights.")
        self._know(self.classes_)
        self._show()

    def _check_costs(self, K: int) -> None:
        if self.costs is not None:
            from adaline import decisions

            decisions.checked_costs(self.costs, K)

    def _know(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._codes = {label: float(k) for k, label in enumerate(classes.tolist())}
        self._labels, self._shape = list(classes), (self.n_features_in_,)

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Take what a fit has learned; a stream before it is over."""
        self._state, self._known, self._shown = None, delivered(fit, dtype), None
        self._dtype = np.dtype(dtype)
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
            self._known = Fit(W, b, "rows of a stream, each learned once.", STREAM)
        known: Fit = self._known
        return known
