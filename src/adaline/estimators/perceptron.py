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

    Lectures: the perceptron (incremental and batch), the perceptron criterion, fixed increment and
    absolute error correction. Separable classes are separated after finitely many corrections
    (`mistake_bound`); else it stops by `tol` or at `max_iter`, with a ConvergenceWarning. The form
    w + eta [d - y] x of lecture 000 is this one with twice the eta, as d - y is ±2.

    Parameters
    ----------
    eta : float, "absolute" or schedule, default=1.0
        The step. "absolute" takes the smallest whole step that corrects the sample;
        `OverK` forces convergence on overlapping classes, counting samples (batch: passes).
    max_iter : int, default=1000
        Passes at most.
    tol : float, default=1e-3
        Stop, after five passes at the earliest, where the corrections show that no (w, b) of length
        one has t (w'x + b) above tol times the longest (x, 1) for all samples (the convergence
        theorem): classes that overlap need no more passes, and classes with a wider margin are
        always separated. 0 goes on. Not for batches, `keep` other than "last", sample weights,
        `multiclass="ovr"` and steps that change.
    mode : {"incremental", "batch"}, default="incremental"
        Update after every error, or by their sum after every pass.
    keep : {"last", "average", "pocket"}, default="last"
        The weights to predict with: the last; the average over all samples seen; or those with
        the longest run of right answers (batch: fewest errors). The last two suit classes that
        overlap.
    multiclass : {"machine", "ovr"}, default="machine"
        K > 2 classes: the linear machine (Kesler: raise the true class, lower the strongest
        other), or each class against the rest.
    fit_intercept : bool, default=True
        Whether there is a bias b, a weight whose input is always 1.
    shuffle : bool, default=False
        Whether each pass of `fit` takes all rows in a new random order.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray
    n_iter_ : int
        Passes, the last one without corrections included.
    certificate_ : Certificate
        "separable" when every training sample is provably on its right side, else "undecided".
    fit_ : SequentialFit
        The same in the lectures' shapes, with `stopped` and the number of `corrections`.

    Examples
    --------
    >>> from adaline import Perceptron
    >>> X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], [-1, 1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.coef_, model.intercept_, model.fit_.corrections
    (array([[1., 1.]]), array([1.]), 3)
    >>> model.certificate_.kind, model.fit_.stopped
    ('separable', 'pass 2 made no correction.')
    """

    _command = "perceptron"
    _advice = (
        "Give a larger max_iter or a smaller tol, columns of similar size, or ask `separability` "
        "whether any hyperplane exists: without one, no number of passes is enough."
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
        self.keep = keep
        self.multiclass = multiclass

    def _recipe(self, K: int, p: int) -> Recipe:
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Auto):
            raise ValueError(
                "eta='auto' is for squared errors; a perceptron's corrections need no rate. "
                "Use 1.0, 'absolute' or OverK."
            )
        if isinstance(schedule, Absolute) and self.mode == "batch":
            raise ValueError("eta='absolute' corrects one sample; use mode='incremental'.")
        criterion = codes.PERCEPTRON if K == 1 else CRITERIA[self.multiclass]
        keep, bias = KEPT_WEIGHTS[self.keep], bool(self.fit_intercept)
        return Recipe(criterion, codes.SIGNS, schedule, keep, bias, K, p)

    def _row_errors(self, t: Any, V: Any) -> Any:
        return np.maximum(0.0, -t * V)


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
