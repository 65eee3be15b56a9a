"""LMS, squared error × sequential or batch × schedule: Widrow-Hoff's regression and the Adaline."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from adaline.estimators.base import Regressor, unchanged_on_error
from adaline.estimators.online import OnlineClassifier, OnlineLearner, require_online_mode
from adaline.kernels import codes
from adaline.parameters import NUMBER, numbers, one_row
from adaline.results import Array


class WidrowHoff(OnlineLearner, Regressor):
    """Linear regression by LMS, the delta rule: w + eta (y - w'x - b) x, a sample at a time.

    Lectures: the LMS algorithm, the Widrow-Hoff procedure, batch gradient descent. With rates that
    fall as `OverK`, the weights converge to the pseudoinverse solution of `LeastSquares`.

    Parameters
    ----------
    eta : "auto", float or schedule, default="auto"
        The learning rate. "auto" measures each feature in its own units, cannot diverge, and
        predicts with an average of the weights (see `Auto`). A number is the lectures' LMS, with a
        warning above the bound 2/tr[R] (`stable_rate`).
    max_iter : int, default=1000
        Passes at most.
    tol : float, default=1e-3
        Stop when the error of a pass is not smaller by this fraction, twice in a row. 0 never.
    mode : {"online", "batch"}, default="online"
        Update after every sample, or after every pass by the *mean* of e x (the lectures' sum is
        this with eta multiplied by N).
    fit_intercept, shuffle, random_state
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,) and float, or (k, p) and (k,)
    n_iter_, certificate_, fit_
        As in `Perceptron`; LMS comes close to least squares, but how close is "unproven".

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import WidrowHoff
    >>> X = np.random.default_rng(0).standard_normal((2000, 2)) * [1e6, 1e-3]
    >>> y = X @ [2e-6, 3e3] + 1
    >>> (WidrowHoff().fit(X, y).coef_ * [1e6, 1e-3]).round(2)
    array([2., 3.])
    """

    _command = "widrow-hoff"
    _exports = "values"
    _stored = {**OnlineLearner._stored, "_one_target": "bool"}

    _criterion = codes.SQUARED, codes.NUMBERS

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, classes: None, *, reset: bool
    ) -> tuple[Any, Array, Array | None, int]:
        before = None if reset else (self._one_target, self._state.recipe.K)
        X = self._rows(X, reset=reset)
        Y = self._targets(y, X)
        if before not in (None, (self._one_target, Y.shape[1])):
            raise ValueError(f"y has shape {np.shape(y)}; the targets of a stream cannot change.")
        return X, Y, self._weights(sample_weight, X), Y.shape[1]

    @available_if(require_online_mode)
    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come.

        The weights do not depend on how rows are batched, bit for bit.
        """
        return self._learn_stream(X, y, sample_weight)

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one sample x (p,) with target y, quickly; NaN and infinities are rejected."""
        if self._state is None or not self._one_target or self.mode == "batch":
            self.partial_fit(one_row(x), numbers("y", y)[None])
            return self
        if type(y) is not float or not math.isfinite(y):
            NUMBER("y", y)
        if not self._learned_one(x, float(y)):
            self.partial_fit(one_row(x), [y])
        return self

    def predict_one(self, x: Any) -> Any:
        """The output for one sample x (p,): a number, or (k,) for several targets."""
        v = self._outputs(x)
        return v[0] if self._one_target else np.asarray(v)


class Adaline(OnlineClassifier):
    """LMS on targets ±1, the error taken before the threshold: w + eta (t - w'x - b) x.

    Lecture: the Adaline. Its weights approach those of `LeastSquaresClassifier` with margins 1. K >
    2 classes: one neuron each, +1 on its own samples and -1 on the others.

    Parameters
    ----------
    eta, max_iter, tol, mode, fit_intercept, shuffle, random_state
        As in `WidrowHoff`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, certificate_, fit_
        As in `Perceptron`.

    Examples
    --------
    >>> from adaline import Adaline
    >>> model = Adaline().fit([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"])
    >>> model.predict([[2.0], [9.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _command = "adaline"
