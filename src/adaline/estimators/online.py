"""Learners that correct their weights sample by sample, or by all samples after every pass.

Base classes of Perceptron, Adaline, SigmoidPerceptron and WidrowHoff: a subclass is its docstring,
its parameters and a `_recipe` for `procedures.sequential`. `fit` makes passes; `partial_fit` and
`learn_one` continue a stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from adaline.certificates.margins import separation
from adaline.errors import warn_caller
from adaline.estimators.base import as_delivered, starting_weights, unchanged_on_error
from adaline.estimators.labels import check_stream_classes
from adaline.estimators.registry import WEIGHTS
from adaline.estimators.streams import EACH_ONCE, STREAM, StreamClassifier, StreamWeights
from adaline.kernels import codes
from adaline.parameters import COUNT, FLAG, NOT_NEGATIVE, SEED, words
from adaline.procedures.gradient_descent import batch
from adaline.procedures.sequential import Outcome, Recipe, State, sequential
from adaline.results import Array, Certificate, Fit, finished
from adaline.schedules import Absolute, Auto, Constant, as_schedule, mean_square, stable_rate
from adaline.sums.rows import as_rows

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


def require_online_mode(learner: Any) -> bool:
    """Whether there is partial_fit: not in batch mode, which needs all rows for every update."""
    if not isinstance(learner.mode, str) or learner.mode != "batch":
        return True
    other = learner._MODES[0]
    raise AttributeError(f"mode='batch' needs all rows at once; use fit, or mode={other!r}.")


class OnlineLearner(StreamWeights):
    """fit in passes, and streams, over one State."""

    # Rows, targets (n, k) and weights, all checked; with reset, a new State.
    _observe: Callable[..., tuple[Any, Array, Array]]
    _streams = "order"
    _traces = "samples"
    _error = "mean squared error"
    _advice = "Give a larger max_iter."  # where learning has not converged
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
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.mode = mode
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    def _learns_in_order(self) -> bool:
        return self.mode != "batch" and not self.shuffle

    def _row_errors(self, t: Any, V: Any) -> Any:
        return (t - V) ** 2

    def _codes_of_errors(self) -> tuple[int, int]:
        return codes.SQUARED, codes.SIGNS

    def _recipe(self, K: int, p: int) -> Recipe:
        """The recipe of squared errors, which average their weights under automatic rates."""
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Absolute):
            raise ValueError("eta='absolute' is for perceptrons; use a number or 'auto'.")
        auto = isinstance(schedule, Auto) and self.mode != "batch"
        keep = codes.LATE_AVERAGE if auto else codes.LAST
        return Recipe(*self._codes_of_errors(), schedule, keep, bool(self.fit_intercept), K, p)

    def _certify(self, X: Any, Y: Array, omega: Array) -> Certificate:
        """What is proven of the weights of the State after passes over these rows."""
        return NO_PROOF

    def _begin(self, K: int, p: int, dtype: Any) -> None:
        """Forget everything; parameters are read here, and hold for the stream that follows."""
        self._state, self._known = State(self._recipe(K, p)), None
        self._dtype = np.dtype(dtype)

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
        X, Y, omega = self._observe(X, y, sample_weight, reset=True)
        state, bound = self._state, self._check_rate(X, omega)
        start = starting_weights(coef_init, intercept_init, len(state.last), X.shape[1])
        if start is not None:
            state.go_on_from(*start)
        options: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "bound": bound}
        if self.mode != "batch":
            options["note"] = self._look is not None  # `trace` shows every sample
            if self.shuffle:
                seed = check_random_state(self.random_state).randint(2**31 - 1)
                options["rng"] = np.random.default_rng(seed)
        learn = batch if self.mode == "batch" else sequential
        try:
            outcome = finished(learn.steps(state, X, Y, omega, **options), self._look)
        except KeyboardInterrupt:
            done = state.seen if self.mode == "batch" else state.seen // max(X.shape[0], 1)
            stopped = f"interrupted after {done} complete passes."
            self._known = self._fit_of(state, Outcome(done, stopped, False), STREAM)
            raise
        self._known = self._fit_of(state, outcome, self._certify(X, Y, omega))
        if not outcome.converged:
            what = f"{type(self).__name__} did not converge: {outcome.stopped}"
            warn_caller(f"{what} {self._advice}", ConvergenceWarning)
        return self

    def _learn_stream(self, X: Any, Y: Array, omega: Array) -> Self:
        """Each row once, as it comes; non-finite weights are not accepted."""
        state = self._state
        bound = self._check_rate(X, omega) if state.seen == 0 else ""
        saved = self._learn_block(state, X, Y, omega)
        self._known = None
        if not np.isfinite(state.theta).all():
            state.restore(saved)
            stopped = f"diverged; weights are those before this partial_fit. {bound}"
            self._known = self._fit_of(state, Outcome(1, stopped, False), STREAM)
            warn_caller(f"{type(self).__name__} {stopped}", ConvergenceWarning)
        return self

    def _fit_of(self, state: State, outcome: Outcome, certificate: Certificate) -> SequentialFit:
        counts = state.corrections, outcome.passes
        converged = None if certificate is STREAM else outcome.converged
        return SequentialFit(*state.kept(), outcome.stopped, certificate, *counts, converged)

    def _stream_fit(self, state: State) -> SequentialFit:
        return self._fit_of(state, Outcome(1, EACH_ONCE, False), STREAM)

    n_iter_ = property(lambda self: int(getattr(self.fit_, "passes", 1)), doc="Complete passes.")

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
        fresh = type(self)(**self.get_params(deep=False))
        fresh._begin(self._state.recipe.K, self.n_features_in_, self._dtype)
        super()._restored()


class OnlineClassifier(OnlineLearner, StreamClassifier):
    """Two classes by one neuron, K classes by K."""

    _exports = "sides"
    _stored = {**OnlineLearner._stored, "classes_": "labels"}

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> tuple[Any, Array, Array]:
        X, labels, *coded = self._labelled_rows(X, y, sample_weight, classes, reset=reset)
        X, Y, omega = as_rows(X, *coded, checked=True)
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
        if certificate.kind != "separable":  # else no row was outweighed
            self._warn_of_runs(row_codes)
        return certificate

    @available_if(require_online_mode)
    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows too, once, as they come. The first call names all `classes`.

        The weights do not depend on how rows are batched, bit for bit.
        """
        self._check_parameters()
        first = self._state is None
        known = check_stream_classes(classes, None if first else self.classes_)
        return self._learn_stream(*self._observe(X, y, sample_weight, known, reset=first))
