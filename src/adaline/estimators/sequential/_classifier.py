"""Classifiers that correct their errors: labels, passes, streams and single samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from adaline.certificates.sides import separation
from adaline.estimators._base import Classifier
from adaline.estimators._delivered import as_delivered
from adaline.estimators._labels import announced, encode, labels_of_rows
from adaline.estimators._progress import with_callbacks
from adaline.estimators._refusals import all_or_nothing
from adaline.estimators.sequential.learner import SequentialLearner, start, streams
from adaline.estimators.sequential.runs import warn_of_runs
from adaline.parameters import check_sample, one_row
from adaline.results import Array
from adaline.sums.rows import as_rows


class SequentialClassifier(Classifier, SequentialLearner):
    """Two classes by one neuron, K classes by K."""

    _exports = "sides"
    _stored = {**SequentialLearner._stored, "classes_": "labels"}
    _derived = ("_codes", *SequentialLearner._derived)
    _codes: dict[Any, float]

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> tuple[Any, NDArray[np.int64], Array, Array]:
        """(X, codes, the same as targets (n, 1), weights)."""
        X = self._rows(X, reset=reset)
        weights = self._weights(sample_weight, X)
        found, codes = encode(labels_of_rows(y, X), classes, weights)
        X, Y, omega = as_rows(X, codes, weights, checked=True)
        if reset:
            K = 1 if len(found) == 2 else len(found)
            self._begin(K, X.shape[1], X.dtype)
            self._know(found)
        return X, codes, Y, omega

    def _know(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._codes = {label: float(k) for k, label in enumerate(classes.tolist())}

    def _restored(self, dtype: Any) -> None:
        self._know(self.classes_)
        super()._restored(dtype)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn in passes over all rows.

        Parameters
        ----------
        X : array-like or CSR of shape (n, p)
        y : array-like of shape (n,)
            Any labels.
        sample_weight : array-like of shape (n,), optional
            Multiplies the step of each sample; zero leaves it out.
        coef_init, intercept_init : array-like, optional
            Where to start, in the shapes of coef_ and intercept_; zero by default.
        """
        self._check_parameters()
        X, codes, Y, omega = self._observe(X, y, sample_weight, None, reset=True)
        start(self._state, coef_init, intercept_init)
        self._learn_passes(X, Y, omega)
        if len(omega) and not omega.all():
            X, codes = X[omega > 0], codes[omega > 0]
        W, b = self._state.kept()
        self._certificate = separation(*as_delivered(W, b, self._dtype), X, codes)
        warn_of_runs(self, codes, self._certificate)
        return self._settle()

    @available_if(streams)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come. The first call names all `classes`.

        Any cutting of the rows into calls gives the same weights, bit for bit.
        """
        self._check_parameters()
        first = self._state is None
        known = announced(classes, None if first else self.classes_)
        X, _, Y, omega = self._observe(X, y, sample_weight, known, reset=first)
        self._learn_stream(X, Y, omega)
        return self._settle()

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y: a thin call; NaN and infinities are refused.

        The very first sample of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        if state is None or self.mode == "batch":
            self.partial_fit(one_row(x), [y], classes)
            return self
        if classes is not None:
            announced(classes, self.classes_)
        try:
            code = self._codes[y]
        except (KeyError, TypeError):
            raise ValueError(
                f"y is {y!r}, which is not among the classes {self.classes_.tolist()}."
            ) from None
        if self._shown is not None:
            self._heed()
        if not state.learn_one(self._one(x), code):
            check_sample(x)
            self.partial_fit(np.reshape(x, (1, -1)), [y])
            return self
        self._known = self._shown = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,)."""
        v = self._outputs(self._one(x))
        return self.classes_[int(v[0] > 0.0) if len(v) == 1 else int(np.argmax(v))]
