"""The sigmoid perceptron: squared error through phi × sequential or batch × schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline import criteria
from adaline.estimators.online import OnlineClassifier
from adaline.kernels import codes
from adaline.parameters import words
from adaline.procedures.sequential import Recipe
from adaline.results import Array
from adaline.schedules import Schedule

SIGMOIDS = {"tanh": (codes.TANH, codes.SIGNS), "logistic": (codes.SQUARED_LOGISTIC, codes.BITS)}


class SigmoidPerceptron(OnlineClassifier):
    """Squared error through a sigmoid: w + eta (t - phi(v)) phi'(v) x with v = w'x + b.

    Lecture: gradient descent and LMS for a sigmoidal perceptron. Unlike the Adaline it follows
    the gradient of the error of its own output, so that samples far on their right side no longer
    pull. The error has local minima; learning starts from zero. K > 2 classes: one neuron each.

    Parameters
    ----------
    phi : {"tanh", "logistic"}, default="tanh"
        tanh has targets ±1 and phi' = 1 - phi^2; logistic 0/1 and phi' = phi (1 - phi).
    eta : "auto", float or schedule, default="auto"
        The learning rate; see `Auto`.
    max_iter, mode, fit_intercept, shuffle, random_state
        As in `WidrowHoff`.
    tol : float, default=1e-3
        Stop when the error of a pass is not smaller by this fraction, twice in a row, or when the
        mean squared error is below it. 0 never.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, certificate_, fit_
        As in `Perceptron`.

    Examples
    --------
    >>> from adaline import SigmoidPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["a", "a", "b", "a", "b", "b"]
    >>> model = SigmoidPerceptron(mode="batch").fit(X, y)
    >>> model.predict([[0.5], [4.5]]), model.output([[0.0], [5.0]]).round(2)
    (array(['a', 'b'], dtype='<U1'), array([-0.81,  0.81]))
    """

    _command = "sigmoid"
    _error = "mean squared error through the sigmoid"
    _parameters = {"phi": words(*SIGMOIDS), **OnlineClassifier._parameters}

    def __init__(
        self,
        phi: str = "tanh",
        eta: float | str | Schedule = "auto",
        max_iter: int = 1000,
        tol: float = 1e-3,
        mode: str = "online",
        fit_intercept: bool = True,
        shuffle: bool = False,
        random_state: Any = None,
    ):
        super().__init__(eta, max_iter, tol, mode, fit_intercept, shuffle, random_state)
        self.phi = phi

    def _recipe(self, K: int, p: int) -> Recipe:
        return self._squared_errors(*SIGMOIDS[self.phi], K, p)

    def _row_errors(self, t: Any, V: Any) -> Any:
        return (t - criteria.phi(SIGMOIDS[self.phi][0], V)) ** 2

    def output(self, X: Any) -> Array:
        """phi(w'x + b): between -1 and 1 for tanh, 0 and 1 for logistic."""
        v = self.decision_function(X)
        return np.asarray(criteria.phi(SIGMOIDS[self.phi][0], v))
