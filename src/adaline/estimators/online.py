"""Learners that correct their weights sample by sample, or by all samples after every pass.

Base classes of Perceptron, Adaline, SigmoidPerceptron and WidrowHoff: a subclass is its docstring,
its parameters and a `_recipe` for `procedures.sequential`. `fit` makes passes; `partial_fit` and
`learn_one` continue a stream, see `streams`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from adaline.certificates.margins import separation
from adaline.errors import plural, warn_caller
from adaline.estimators.base import Learner, as_delivered, unchanged_on_error
from adaline.estimators.registry import WEIGHTS
from adaline.estimators.streams import StreamClassifier, StreamWeights, check_stream_classes
from adaline.kernels import codes
from adaline.parameters import COUNT, FLAG, NOT_NEGATIVE, SEED, ParameterError, numbers, words
from adaline.procedures.gradient_descent import batch
from adaline.procedures.sequential import Outcome, Recipe, State, sequential
from adaline.results import Array, Certificate, Fit, finished
from adaline.schedules import Absolute, Auto, Constant, as_schedule, mean_square, stable_rate
from adaline.sums.rows import as_rows

EACH_ONCE = Outcome(1, "rows of a stream, each learned once.", False)
STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")
NO_PROOF = Certificate(
    "unproven",
    "weights approach least squares as learning goes on; how close they are is not proven.",
)


@dataclass(frozen=True, eq=False)
class SequentialFit(Fit):
    """A Fit found by corrections.

    Attributes
    ----------
    corrections : int
        Corrections made, over all passes; in batch mode, updates.
    passes : int
        Complete passes over the samples.
    converged : bool or None
        Whether learning stopped by its own rule; None for a stream.
    """

    corrections: int
    passes: int
    converged: bool | None = None

    @classmethod
    def of(
        cls, state: State, outcome: Outcome = EACH_ONCE, certificate: Certificate = STREAM
    ) -> SequentialFit:
        converged = None if certificate is STREAM else outcome.converged
        W, b = state.kept()
        counts = state.corrections, outcome.passes
        return cls(W, b, outcome.stopped, certificate, *counts, converged)


def require_online_mode(learner: Any) -> bool:
    """Whether there is partial_fit: not in batch mode, which needs all rows for every update."""
    if not isinstance(learner.mode, str) or learner.mode != "batch":
        return True
    other = learner._MODES[0]
    raise AttributeError(f"mode='batch' needs all rows at once; use fit, or mode={other!r}.")


class OnlineLearner(StreamWeights):
    """fit in passes, and streams, over one State."""

    # Rows, targets or class codes, and weights, all checked; and the number of neurons.
    _check_data: Callable[..., tuple[Any, Array, Array | None, int]]
    _streams = "order"
    _traces = "samples"
    _error = "mean squared error"
    _advice = "Give a larger max_iter."  # where learning has not converged
    _criterion: Any = codes.SQUARED, codes.SIGNS  # of errors, and how targets are coded
    _stored = WEIGHTS | {"_state": "State", "_known": "Fit | SequentialFit | None"}
    _MODES = ("online", "batch")
    _parameters = {
        "max_iter": COUNT,
        "tol": NOT_NEGATIVE,
        "mode": words(*_MODES),
        "fit_intercept": FLAG,
        "shuffle": FLAG,
        "random_state": SEED,
    }

    def __init__(
        self,
        eta: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-3,
        mode: str = "online",
        fit_intercept: bool = True,
        shuffle: bool = False,
        random_state: Any = None,
    ):
        self.eta, self.max_iter, self.tol, self.mode = eta, max_iter, tol, mode
        self.fit_intercept, self.shuffle, self.random_state = fit_intercept, shuffle, random_state

    def _learns_in_order(self) -> bool:
        return self.mode != "batch" and not self.shuffle

    def _row_errors(self, t: Any, V: Any) -> Any:
        return (t - V) ** 2

    def _recipe(self, K: int, p: int) -> Recipe:
        """The recipe of squared errors, which average their weights under automatic rates."""
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Absolute):
            raise ValueError("eta='absolute' is for perceptrons; use a number or 'auto'.")
        auto = isinstance(schedule, Auto) and self.mode != "batch"
        keep = codes.LATE_AVERAGE if auto else codes.LAST
        criterion, targets = self._criterion
        return Recipe(criterion, targets, schedule, keep, bool(self.fit_intercept), K, p)

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        """What is proven of the weights of the State after passes over these rows."""
        return NO_PROOF

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> tuple[State, Any, Array, Array]:
        """The State, of which parameters are read at its first rows, and these rows, checked."""
        first = self._state is None
        X, targets, weights, K = self._check_data(X, y, sample_weight, classes, reset=first)
        X, Y, omega = as_rows(X, targets, weights, checked=True)
        if first:
            self._state, self._dtype = State(self._recipe(K, X.shape[1])), X.dtype
        return self._state, X, np.ascontiguousarray(Y), omega

    @unchanged_on_error
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn in passes over all rows; interrupted (Ctrl-C), the last complete pass stands.

        Parameters
        ----------
        X, y : array-like or CSR of shape (n, p), and array-like of shape (n,)
            Labels of a classifier; numbers, or columns of them (n, k), of a regressor.
        sample_weight : array-like of shape (n,), optional
            Multiplies the step of each sample; zero leaves it out.
        coef_init, intercept_init : array-like, optional
            Where to start, in the shapes of coef_ and intercept_; zero by default.
        """
        self._check_parameters()
        self._state = self._known = None
        state, X, Y, omega = self._observe(X, y, sample_weight)
        start = starting_weights(coef_init, intercept_init, len(state.last), X.shape[1])
        options: Any = {"max_iter": self.max_iter, "tol": self.tol}
        options["bound"] = self._check_rate(X, omega)
        if start is not None:
            state.go_on_from(*start)
        if self.mode != "batch":
            options["note"] = self._look is not None  # `trace` shows every sample
            if self.shuffle:
                seed = check_random_state(self.random_state).randint(2**31 - 1)
                options["rng"] = np.random.default_rng(seed)
        passes = batch if self.mode == "batch" else sequential
        try:
            outcome = finished(passes.steps(state, X, Y, omega, **options), self._look)
        except KeyboardInterrupt:
            done = state.seen if self.mode == "batch" else state.seen // max(X.shape[0], 1)
            stopped = f"interrupted after {done} complete passes."
            self._known = SequentialFit.of(state, Outcome(done, stopped, False))
            raise
        self._known = SequentialFit.of(state, outcome, self._certify(X, Y, omega))
        if not outcome.converged:
            what = f"{type(self).__name__} did not converge: {outcome.stopped}"
            warn_caller(f"{what} {self._advice}", ConvergenceWarning)
        return self

    def _learn_stream(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Each row once, as it comes; non-finite weights are not accepted."""
        self._check_parameters()
        state, X, Y, omega = self._observe(X, y, sample_weight, classes)
        bound = self._check_rate(X, omega) if state.seen == 0 else ""
        before, self._known = self._learn_block(X, Y, omega), None
        if not np.isfinite(state.theta).all():
            state.restore(before)
            stopped = f"diverged; weights are those before this partial_fit. {bound}"
            self._known = SequentialFit.of(state, Outcome(1, stopped, False))
            warn_caller(f"{type(self).__name__} {stopped}", ConvergenceWarning)
        return self

    def _check_rate(self, X: Any, omega: Array) -> str:
        """Warn of a rate above the lectures' bound; returns the sentence about it."""
        schedule = self._state.recipe.schedule
        if self._state.recipe.criterion != codes.SQUARED or isinstance(schedule, Auto | Absolute):
            return ""
        if self.mode == "batch":
            bound, name = stable_rate(X, self.fit_intercept).batch, "2/lambda_max(R)"
        else:
            trace = mean_square(X, omega if len(omega) else None) + bool(self.fit_intercept)
            bound, name = (2.0 / trace if trace > 0 else np.inf), "2/tr[R]"
        # A falling rate is judged halfway through the first pass, which is where it must work.
        constant = isinstance(schedule, Constant) or self.mode == "batch"
        eta = float(schedule(self._state.seen + (0 if constant else X.shape[0] // 2), 1)[0])
        sentence = f"eta is {eta:.4g}, and the bound for stable learning {name} = {bound:.4g}."
        if eta > bound:
            advice = "Learning may diverge; use eta='auto' or a smaller rate."
            warn_caller(f"{sentence} {advice}", ConvergenceWarning)
        return sentence

    def _restored(self) -> None:
        """Predictions, if a stream may begin with these parameters at all."""
        self._recipe(self._state.recipe.K, self.n_features_in_)
        super()._restored()


class OnlineClassifier(OnlineLearner, StreamClassifier):
    """Two classes by one neuron, K classes by K."""

    _exports = "sides"
    _stored = {**OnlineLearner._stored, "classes_": "labels"}

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> tuple[Any, Any, Array | None, int]:
        X, labels, *coded = self._labelled_rows(X, y, sample_weight, classes, reset=reset)
        self.classes_ = labels
        return X, *coded, 1 if len(labels) == 2 else len(labels)

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        row_codes = Y[:, 0].astype(np.int64)
        if len(omega) and not omega.all():
            X, row_codes = X[omega > 0], row_codes[omega > 0]
        W, b = self._state.kept()
        certificate = separation(*as_delivered(W, b, self._dtype), X, row_codes)
        if certificate.kind != "separable":  # else no row was outweighed
            warn_of_runs(self, row_codes)
        return certificate

    @available_if(require_online_mode)
    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come. The first call names all `classes`.

        The weights do not depend on how rows are batched, bit for bit.
        """
        known = None if self._state is None else self.classes_
        return self._learn_stream(X, y, sample_weight, check_stream_classes(classes, known))


def describe_runs(runs: int, counts: Any) -> str:
    """What is odd about so few runs of equal labels, of classes with so many rows; "" if nothing.

    The mean number of runs in a random order is 1 + n - sum n_k^2 / n (Wald and Wolfowitz). A tenth
    of it is reached by sorted rows from 40 on; by a random order of 40 with a chance below 1e-10.

    >>> describe_runs(2, [30, 30])
    'the labels come in 2 runs, as in sorted rows, where a random order has about 31'
    >>> describe_runs(60, [30, 30]), describe_runs(2, [9, 9])
    ('', '')
    """
    n, rows = float(np.sum(counts)), np.asarray(counts, dtype=np.float64)
    expected = 1.0 + n - float(rows @ rows) / n
    if 10 * runs > expected:
        return ""
    sorted_rows = f"the labels come in {plural(runs, 'run')}, as in sorted rows"
    return f"{sorted_rows}, where a random order has about {expected:,.0f}"


def runs_in(labels: NDArray[Any]) -> str:
    runs = 1 + int(np.count_nonzero(labels[1:] != labels[:-1]))
    return describe_runs(runs, np.unique(labels, return_counts=True)[1])


def warn_of_runs(learner: Learner, row_codes: NDArray[Any]) -> None:
    """Warn of rows that are sorted by class, where they are learned in their order."""
    if learner._learns_in_order() and (runs := runs_in(row_codes)):
        advice = "Give shuffle=True" if hasattr(learner, "shuffle") else "Shuffle the rows first"
        warn_caller(f"{runs}; {type(learner).__name__} learns row by row. {advice}.")


def starting_weights(coef: Any, intercept: Any, K: int, p: int) -> tuple[Array, Array] | None:
    """coef_init and intercept_init as W (K, p) and b (K,), zero where one is missing."""
    if coef is None and intercept is None:
        return None
    W, b = np.zeros((K, p)), np.zeros(K)
    for name, value, part in (("coef_init", coef, W), ("intercept_init", intercept, b)):
        values = np.zeros(part.shape) if value is None else numbers(name, value)
        if values.size != part.size or not np.isfinite(values).all():
            what = f"{name} has shape {values.shape}"
            raise ParameterError(f"{what}; expected finite numbers in the shape {part.shape}.")
        part[...] = values.reshape(part.shape)
    return W, b
