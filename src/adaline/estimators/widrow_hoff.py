"""LMS, squared error × sequential or batch × schedule: Widrow-Hoff's regression and the Adaline."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from adaline.estimators.base import Regressor, unchanged_on_error
from adaline.estimators.online import OnlineClassifier, OnlineLearner, learns_in_order
from adaline.estimators.registry import demand
from adaline.kernels import codes
from adaline.parameters import NUMBER, check_sample, numbers, one_row
from adaline.procedures.sequential import Recipe
from adaline.results import Array, Certificate
from adaline.sums.rows import as_rows

NO_PROOF = Certificate(
    "unproven",
    "weights approach least squares as learning goes on; how close they are is not proven.",
)


class WidrowHoff(OnlineLearner, Regressor):
    """Linear regression by LMS, the delta rule: w + eta (y - w'x - b) x, a sample at a time.

    Lectures: the LMS algorithm, the Widrow-Hoff procedure, batch gradient descent. With rates
    that fall as `OverK`, the weights converge to the pseudoinverse solution of `LeastSquares`.

    Parameters
    ----------
    eta : "auto", float or schedule, default="auto"
        The learning rate. "auto" measures each feature in its own units while it learns, cannot
        diverge, and predicts with an average of the weights (see `Auto`). A number is the
        lectures' LMS, which can track what changes; above the bound 2/tr[R] (`stable_rate`)
        it warns.
    max_iter : int, default=1000
        Passes at most.
    tol : float, default=1e-3
        Stop when the error of a pass is not smaller by this fraction, twice in a row. 0 never.
    mode : {"online", "batch"}, default="online"
        Update after every sample, or after every pass by the *mean* of e x (the lectures' sum is
        this with eta multiplied by N).
    fit_intercept : bool, default=True
    shuffle : bool, default=False
        Whether each pass of `fit` takes all rows in a new random order.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    n_iter_ : int
    certificate_ : Certificate
        "unproven": LMS comes close to least squares, and how close is not proven.
    fit_ : SequentialFit
        The same in the lectures' shapes, with `stopped`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import WidrowHoff
    >>> X = np.random.default_rng(0).standard_normal((2000, 2)) * [1e6, 1e-3]
    >>> y = X @ [2e-6, 3e3] + 1
    >>> model = WidrowHoff().fit(X, y)
    >>> (model.coef_ * [1e6, 1e-3]).round(2), round(float(model.intercept_), 2)
    (array([2., 3.]), 1.0)
    """

    _command = "widrow-hoff"
    _exports = "values"
    _stored = {**OnlineLearner._stored, "_one_target": "truth"}

    def _recipe(self, K: int, p: int) -> Recipe:
        return self._squared_errors(codes.SQUARED, codes.NUMBERS, K, p)

    def _restored(self, dtype: Any) -> None:
        demand(not self._one_target or self._state.recipe.K == 1, "several targets and one.")
        super()._restored(dtype)

    def _output_shape(self, part: Any) -> Any:
        return part[0] if self._one_target else part

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> tuple[Any, Array, Array]:
        one = getattr(self, "_one_target", None)
        X = self._rows(X, reset=reset)
        Y = self._targets(y, X)
        if not reset and (Y.shape[1] != self._state.recipe.K or self._one_target != one):
            raise ValueError(
                f"y has shape {np.shape(y)}, but the stream began with {self._state.recipe.K} "
                "targets; they cannot change."
            )
        X, Y, omega = as_rows(X, Y, self._weights(sample_weight, X), checked=True)
        if reset:
            self._begin(Y.shape[1], X.shape[1], X.dtype)
        return X, np.ascontiguousarray(Y), omega

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        return NO_PROOF

    @available_if(learns_in_order)
    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come.

        Any cutting of the rows into calls gives the same weights, bit for bit.
        """
        self._check_parameters()
        return self._learn_stream(*self._observe(X, y, sample_weight, reset=self._state is None))

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one sample x (p,) with target y: a thin call; NaN and infinities are refused."""
        state = self._state
        if state is None or not self._one_target or self.mode == "batch":
            self.partial_fit(one_row(x), numbers("y", y)[None])
            return self
        if type(y) is not float or not math.isfinite(y):
            NUMBER("y", y)
        if not state.learn_one(self._one(x), float(y)):
            check_sample(x, y)
            self.partial_fit(np.reshape(x, (1, -1)), [y])
            return self
        self._known = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The output for one sample x (p,): a number, or (k,) for several targets."""
        v = self._outputs(self._one(x))
        return v[0] if self._one_target else np.asarray(v)


class Adaline(OnlineClassifier):
    """LMS on targets ±1, the error taken before the threshold: w + eta (t - w'x - b) x.

    Lecture: the Adaline. Its weights approach those of `LeastSquaresClassifier` with margins 1,
    from samples that come one by one. K > 2 classes: one neuron each, +1 on its own samples and
    -1 on the others; the largest decides.

    Parameters
    ----------
    eta : "auto", float or schedule, default="auto"
        The learning rate. "auto" measures each feature in its own units while it learns, cannot
        diverge, and predicts with an average of the weights (see `Auto`). A number is the
        lectures' LMS; above the bound 2/tr[R] (`stable_rate`) it warns.
    max_iter, tol, mode, fit_intercept, shuffle, random_state
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

    def _recipe(self, K: int, p: int) -> Recipe:
        return self._squared_errors(codes.SQUARED, codes.SIGNS, K, p)
