"""Rosenblatt's perceptron, and the perceptron with a sigmoid: sequential or batch × schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline import criteria
from adaline.estimators.online import OnlineClassifier
from adaline.kernels import codes
from adaline.parameters import words
from adaline.procedures.sequential import Recipe
from adaline.results import Array
from adaline.schedules import Absolute, Auto, Schedule, as_schedule

KEPT_WEIGHTS = {"last": codes.LAST, "average": codes.AVERAGE, "pocket": codes.POCKET}
SIGMOIDS = {"tanh": (codes.TANH, codes.SIGNS), "logistic": (codes.SQUARED_LOGISTIC, codes.BITS)}
CRITERIA = {"machine": codes.MACHINE, "ovr": codes.PERCEPTRON}


class Perceptron(OnlineClassifier):
    """Correct each error: w + eta t x where t (w'x + b) <= 0, until a pass makes no correction.

    Lectures: the perceptron and its criterion, fixed increment, absolute error correction.
    Separable classes are separated after finitely many corrections (`mistake_bound`). The form w +
    eta [d - y] x of lecture 000 is this one with twice the eta, as d - y is ±2.

    Parameters
    ----------
    eta : float, "absolute" or schedule, default=1.0
        The step. "absolute" takes the smallest whole step that corrects the sample;
        `OverK` forces convergence on overlapping classes, counting samples (batch: passes).
    max_iter : int, default=1000
        Passes at most.
    tol : float, default=1e-3
        Stop, after five passes or more, where the corrections prove that no (w, b) of length one
        has t (w'x + b) above tol times the longest (x, 1) for all samples. 0 goes on. Not for
        batches, other `keep`, sample weights, `multiclass="ovr"` and steps that change.
    mode : {"incremental", "batch"}, default="incremental"
        Update after every error, or by their sum after every pass.
    keep : {"last", "average", "pocket"}, default="last"
        The weights to predict with: the last; their average over all samples seen; or those with
        the longest run of right answers (batch: fewest errors).
    multiclass : {"machine", "ovr"}, default="machine"
        K > 2 classes: the linear machine (Kesler), or each class against the rest.
    fit_intercept : bool, default=True
        Whether there is a bias b, a weight whose input is always 1.
    shuffle, random_state : bool, and int, RandomState or None
        Whether each pass of `fit` takes all rows in a new random order, and its seed.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
    classes_, n_iter_ : ndarray, and int
        Sorted labels, and passes.
    certificate_ : Certificate
        "separable" when every training sample is provably on the correct side, else "undecided".
    fit_ : SequentialFit
        The same in the lectures' shapes, with `stopped` and the number of `corrections`.

    Examples
    --------
    >>> from adaline import Perceptron
    >>> X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], [-1, 1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.coef_, model.intercept_, model.fit_.corrections, model.certificate_.kind
    (array([[1., 1.]]), array([1.]), 3, 'separable')
    """

    _command = "perceptron"
    _advice = (
        "Give a larger max_iter or a smaller tol, columns of similar size, or ask `separability` "
        "whether any hyperplane exists."
    )
    _error = "perceptron criterion"
    _MODES = ("incremental", "batch")
    _parameters = {
        **OnlineClassifier._parameters,
        "mode": words(*_MODES),
        "keep": words(*KEPT_WEIGHTS),
        "multiclass": words(*CRITERIA),
    }

    def __init__(
        self,
        eta: float | str | Schedule = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        mode: str = "incremental",
        keep: str = "last",
        multiclass: str = "machine",
        fit_intercept: bool = True,
        shuffle: bool = False,
        random_state: Any = None,
    ):
        super().__init__(eta, max_iter, tol, mode, fit_intercept, shuffle, random_state)
        self.keep, self.multiclass = keep, multiclass

    def _recipe(self, K: int, p: int) -> Recipe:
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Auto):
            raise ValueError("eta='auto' is for squared errors; use 1.0, 'absolute' or OverK.")
        if isinstance(schedule, Absolute) and self.mode == "batch":
            raise ValueError("eta='absolute' corrects one sample; use mode='incremental'.")
        criterion = codes.PERCEPTRON if K == 1 else CRITERIA[self.multiclass]
        keep, bias = KEPT_WEIGHTS[self.keep], bool(self.fit_intercept)
        return Recipe(criterion, codes.SIGNS, schedule, keep, bias, K, p)

    def _row_errors(self, t: Any, V: Any) -> Any:
        return np.maximum(0.0, -t * V)


class SigmoidPerceptron(OnlineClassifier):
    """Squared error through a sigmoid: w + eta (t - phi(v)) phi'(v) x with v = w'x + b.

    Lecture: gradient descent and LMS for a sigmoidal perceptron. It follows the gradient of the
    error of its own output, so that samples far on the correct side do not pull. The error has
    local minima; learning starts from zero. K > 2 classes: one neuron each.

    Parameters
    ----------
    phi : {"tanh", "logistic"}, default="tanh"
        tanh has targets ±1 and phi' = 1 - phi^2; logistic 0/1 and phi' = phi (1 - phi).
    tol : float, default=1e-3
        Stop when the error of a pass is not smaller by this fraction, twice in a row, or when the
        mean squared error is below it. 0 never.
    eta, max_iter, mode, fit_intercept, shuffle, random_state
        As in `WidrowHoff`.

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

    _criterion = property(lambda self: SIGMOIDS[self.phi])

    def _row_errors(self, t: Any, V: Any) -> Any:
        return (t - criteria.phi(self._criterion[0], V)) ** 2

    def output(self, X: Any) -> Array:
        """phi(w'x + b): between -1 and 1 for tanh, 0 and 1 for logistic."""
        v = self.decision_function(X)
        return np.asarray(criteria.phi(self._criterion[0], v))
