"""Learners that correct their weights sample by sample, or by all samples after every pass.

Base classes of Perceptron, Adaline, SigmoidPerceptron and WidrowHoff: a subclass is its docstring,
its parameters and a `_recipe` for `procedures.sequential`. `fit` makes passes; `partial_fit` and
`learn_one` continue a stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from adaline.certificates.sides import separation
from adaline.errors import plural, warn_caller
from adaline.estimators.base import as_delivered, callbacks, starting_weights, unchanged_on_error
from adaline.estimators.labels import check_labels, check_stream_classes, encode
from adaline.estimators.registry import SEEN
from adaline.estimators.streams import EACH_ONCE, STREAM, StreamClassifier, StreamWeights
from adaline.kernels import codes
from adaline.parameters import COUNT, FLAG, NOT_NEGATIVE, SEED, words
from adaline.procedures.gradient_descent import batch
from adaline.procedures.sequential import Outcome, Recipe, State, sequential
from adaline.procedures.steps import finished
from adaline.results import Array, Certificate, Fit
from adaline.schedules import Absolute, Auto, Constant, as_schedule, mean_square, stable_rate
from adaline.sums.rows import as_rows

# Fewer runs of labels than a random order has, by this factor. Sorted rows of two classes reach it
# from 40 rows on; in a random order of 40 rows the chance is below 1e-10.
LONG_RUNS = 10


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
        Whether learning stopped by its own rule; None for a stream, whose end nobody knows.
    """

    corrections: int
    passes: int
    converged: bool | None = None


def learns_in_order(learner: Any) -> bool:
    """Whether there is partial_fit: not in batch mode, which needs all rows for every update."""
    if not isinstance(learner.mode, str) or learner.mode != "batch":
        return True
    raise AttributeError(
        "mode='batch' needs all rows for every update, so a stream cut differently would "
        f"learn differently; use fit, or mode={learner._MODES[0]!r}."
    )


class OnlineLearner(CallbackSupportMixin, StreamWeights):
    """fit in passes, and streams, over one State."""

    _state: Any = None
    _streams = "order"
    _traces = "samples"
    _error = "mean squared error"
    _advice = "Give a larger max_iter."  # where learning has not converged
    _stored = SEEN | {"_dtype": "dtype", "_state": "State", "_known": "Fit | SequentialFit | None"}
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
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.mode = mode
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _order_matters(self) -> bool:
        return bool(self.mode != "batch")

    def _recipe(self, K: int, p: int) -> Recipe:
        raise NotImplementedError  # pragma: no cover

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> tuple[Any, Array, Array]:
        """Rows, targets (n, k) and weights, all checked; with reset, a new State."""
        raise NotImplementedError  # pragma: no cover

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        """What is proven of the weights of the State after passes over these rows."""
        raise NotImplementedError  # pragma: no cover

    def _row_errors(self, t: Any, V: Any) -> Any:
        return (t - V) ** 2

    def _squared_errors(self, criterion: int, targets: int, K: int, p: int) -> Recipe:
        """The recipe of squared errors, which average their weights under automatic rates."""
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Absolute):
            raise ValueError("eta='absolute' is for perceptrons; use a number or 'auto'.")
        auto = isinstance(schedule, Auto) and self.mode != "batch"
        keep = codes.LATE_AVERAGE if auto else codes.LAST
        return Recipe(criterion, targets, schedule, keep, bool(self.fit_intercept), K, p)

    def _begin(self, K: int, p: int, dtype: Any) -> None:
        """Forget everything; parameters are read here, and hold for the stream that follows."""
        self._state, self._known = State(self._recipe(K, p)), None
        self._dtype, self._shape = np.dtype(dtype), (p,)

    @with_callbacks
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
        X : array-like or CSR of shape (n, p)
        y : array-like of shape (n,)
            Labels of a classifier; numbers, or columns of them (n, k), of a regressor.
        sample_weight : array-like of shape (n,), optional
            Multiplies the step of each sample; zero leaves it out.
        coef_init, intercept_init : array-like, optional
            Where to start, in the shapes of coef_ and intercept_; zero by default.
        """
        self._check_parameters()
        X, Y, omega = self._observe(X, y, sample_weight, reset=True)
        state, bound = self._state, self._check_rate(X, omega)
        start = starting_weights(coef_init, intercept_init, len(state.last), X.shape[1])
        if start is not None:
            state.go_on_from(*start)
        shared: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "bound": bound}
        if self.mode == "batch":
            steps = batch.steps(state, X, Y, omega, **shared)
        else:
            seed = check_random_state(self.random_state).randint(2**31 - 1) if self.shuffle else 0
            shared["rng"] = np.random.default_rng(seed) if self.shuffle else None
            shared["note"] = self._look is not None  # `trace` shows every sample
            steps = sequential.steps(state, X, Y, omega, **shared)
        try:
            with callbacks(self, self.max_iter) as hear:
                outcome = finished(steps, hear)
        except KeyboardInterrupt:
            done = state.seen if self.mode == "batch" else state.seen // max(X.shape[0], 1)
            stopped = f"interrupted after {done} complete passes."
            self._known = self._fit_of(state, Outcome(done, stopped, False), STREAM)
            raise
        self._known = self._fit_of(state, outcome, self._certify(X, Y, omega))
        if not outcome.converged:
            name = type(self).__name__
            message = f"{name} did not converge: {outcome.stopped} {self._advice}"
            warn_caller(message, ConvergenceWarning)
        return self

    def _learn_stream(self, X: Any, Y: Array, omega: Array) -> Self:
        """Each row once, as it comes; non-finite weights are not accepted."""
        state = self._state
        bound = self._check_rate(X, omega) if state.seen == 0 else ""
        saved = state.copy()
        self._learn_block(state, X, Y, omega)
        self._known = None
        if not np.isfinite(state.theta).all():
            state.restore(saved)
            stopped = f"diverged; weights are those before this partial_fit. {bound}"
            self._known = self._fit_of(state, Outcome(1, stopped, False), STREAM)
            warn_caller(f"{type(self).__name__} {stopped}", ConvergenceWarning)
        return self

    def _fit_of(self, state: State, outcome: Outcome, certificate: Certificate) -> SequentialFit:
        W, b = state.kept()
        counts = state.corrections, outcome.passes
        converged = None if certificate is STREAM else outcome.converged
        return SequentialFit(W, b, outcome.stopped, certificate, *counts, converged)

    def _stream_fit(self, state: State) -> SequentialFit:
        return self._fit_of(state, Outcome(1, EACH_ONCE, False), STREAM)

    @property
    def n_iter_(self) -> int:
        """Complete passes over the samples."""
        return int(getattr(self.fit_, "passes", 1))

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

    def _restored(self, dtype: Any) -> None:
        """Predictions, if a stream may begin with these parameters at all."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._begin(self._state.recipe.K, self.n_features_in_, self._dtype)
        super()._restored(dtype)


class OnlineClassifier(OnlineLearner, StreamClassifier):
    """Two classes by one neuron, K classes by K."""

    _exports = "sides"
    _stored = {**OnlineLearner._stored, "classes_": "labels"}

    def _takes_single_samples(self) -> bool:
        return bool(self.mode != "batch")

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> tuple[Any, Array, Array]:
        X = self._rows(X, reset=reset)
        weights = self._weights(sample_weight, X)
        labels, row_codes = encode(check_labels(y, X.shape[0]), classes, weights)
        X, Y, omega = as_rows(X, row_codes, weights, checked=True)
        if reset:
            self._begin(1 if len(labels) == 2 else len(labels), X.shape[1], X.dtype)
            self._set_classes(labels)
        return X, Y, omega

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        row_codes = Y[:, 0].astype(np.int64)
        if len(omega) and not omega.all():
            X, row_codes = X[omega > 0], row_codes[omega > 0]
        W, b = self._state.kept()
        certificate = separation(*as_delivered(W, b, self._dtype), X, row_codes)
        warn_of_runs(self, row_codes, certificate)
        return certificate

    @available_if(learns_in_order)
    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come. The first call names all `classes`.

        Any cutting of the rows into calls gives the same weights, bit for bit.
        """
        self._check_parameters()
        first = self._state is None
        known = check_stream_classes(classes, None if first else self.classes_)
        return self._learn_stream(*self._observe(X, y, sample_weight, known, reset=first))


def runs_of(codes: NDArray[Any]) -> tuple[int, float] | None:
    """How many runs of equal labels there are and a random order has, where these are long.

    The mean number of runs in a random order is 1 + n - sum n_k^2 / n (Wald and Wolfowitz).

    >>> runs_of(np.repeat([0, 1], 30)), runs_of(np.tile([0, 1], 30)), runs_of(np.repeat([0, 1], 9))
    ((2, 31.0), None, None)
    """
    runs = 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
    if LONG_RUNS * runs > len(codes):  # a random order has at most n
        return None
    return are_long(runs, np.unique(codes, return_counts=True)[1])


def are_long(runs: int, counts: Any) -> tuple[int, float] | None:
    """The same for so many runs of classes with so many rows."""
    n, rows = float(np.sum(counts)), np.asarray(counts, dtype=np.float64)
    expected = 1.0 + n - float(rows @ rows) / n
    return (runs, expected) if LONG_RUNS * runs <= expected else None


def goes_in_order(model: Any) -> bool:
    """Whether a classifier takes the rows as they come."""
    in_order = getattr(model, "_order_matters", False) and not getattr(model, "shuffle", False)
    return bool(in_order and getattr(model, "_learns", None) == "classes")


def warn_of_runs(model: Any, codes: NDArray[Any], certificate: Certificate) -> None:
    """Warn, for `fit`, where the order of the rows decides what is learned.

    Not where all rows are on their right sides: then none was outweighed.
    """
    if certificate.kind == "separable" or not goes_in_order(model):
        return
    if (runs := runs_of(codes)) is not None:
        advice = "Give shuffle=True" if hasattr(model, "shuffle") else "Shuffle the rows first"
        warn_caller(f"{sentence(model, *runs)} {advice}.")


def sentence(model: Any, runs: int, expected: float) -> str:
    """What is wrong with the order of the rows."""
    return (
        f"the labels come in {plural(runs, 'run')}, as in sorted rows, where a random order has "
        f"about {expected:,.0f}; {type(model).__name__} learns row by row, so the last rows "
        "outweigh the others."
    )
