"""What learners that correct their errors share: passes, streams, single samples, and manners."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._base import Learner
from adaline.estimators._delivered import WRITTEN, StreamWeights
from adaline.estimators._progress import FRAMES, CallbackSupportMixin, passes
from adaline.estimators._refusals import GUARD
from adaline.estimators.declarations import SEEN
from adaline.kernels import codes
from adaline.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    SEED,
    ParameterError,
    numbers,
    one_sample,
    words,
)
from adaline.procedures.gradient_descent import batch
from adaline.procedures.sequential import Outcome, Recipe, State, learn, sequential
from adaline.procedures.steps import finished
from adaline.results import Array, Certificate, Fit
from adaline.schedules import Absolute, Auto, Constant, as_schedule, mean_square, stable_rate


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


STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")


def streams(learner: Any) -> bool:
    """Whether there are partial_fit and learn_one: not in batch mode."""
    if isinstance(learner.mode, str) and learner.mode == "batch":
        raise AttributeError(
            "mode='batch' needs all rows for every update, so a stream cut differently would "
            f"learn differently; use fit, or mode={learner._MODES[0]!r}."
        )
    return True


class SequentialLearner(CallbackSupportMixin, StreamWeights, Learner):
    """fit in passes, partial_fit and learn_one in streams, over one State."""

    eta: Any
    max_iter: int
    mode: str
    fit_intercept: bool
    shuffle: bool
    random_state: Any
    _streams = "order"
    _traces = "samples"
    _other_advice = ""  # beside more passes, where learning has not converged
    _stored = SEEN | {
        "_state": "State",
        "_dtype": "dtype",
        "_outcome": "Outcome",
        "_certificate": "Certificate",
    }
    _derived: tuple[str, ...] = ("_known", "_shape", "_shown")
    _state: Any = None  # a State, once learning has begun
    _MODES = ("online", "batch")
    _parameters = {
        "max_iter": COUNT,
        "tol": NOT_NEGATIVE,
        "mode": words(*_MODES),
        "fit_intercept": FLAG,
        "shuffle": FLAG,
        "random_state": SEED,
    }

    @property
    def _order_matters(self) -> bool:
        return bool(self.mode != "batch")

    def _recipe(self, K: int, p: int) -> Recipe:
        raise NotImplementedError

    def _squared(self, criterion: int, targets: int, K: int, p: int) -> Recipe:
        """The recipe of squared errors, which average their weights under automatic rates."""
        schedule = as_schedule(self.eta)
        if isinstance(schedule, Absolute):
            raise ValueError("eta='absolute' is for perceptrons; use a number or 'auto'.")
        auto = isinstance(schedule, Auto) and self.mode != "batch"
        keep = codes.LATE_AVERAGE if auto else codes.LAST
        return Recipe(criterion, targets, schedule, keep, bool(self.fit_intercept), K, p)

    @property
    def _tol(self) -> float:
        return getattr(self, "tol", 0.0)

    def _begin(self, K: int, p: int, dtype: Any) -> None:
        """Forget everything; parameters are read here, and hold for the stream that follows."""
        self._state, self._dtype = State(self._recipe(K, p)), np.dtype(dtype)
        self._known, self._shown, self._shape = None, None, (p,)
        self._outcome, self._certificate = Outcome(0, "nothing is learned yet.", False), STREAM

    def _learn_passes(self, X: Any, Y: Array, omega: Array) -> None:
        """Fit: passes until the procedure stops; interrupted, the last complete pass stands."""
        state, bound = self._state, self._check_rate(X, omega)
        shared: dict[str, Any] = {"max_iter": self.max_iter, "tol": self._tol, "bound": bound}
        rng = self._rng() if self.shuffle else None
        if self.mode == "batch":
            steps = batch.steps(state, X, Y, omega, **shared)
        else:
            note = self._look is not None  # `trace` shows every sample
            steps = sequential.steps(state, X, Y, omega, rng=rng, note=note, **shared)
        try:
            with passes(self, self.max_iter) as hear:
                outcome = finished(steps, hear)
        except KeyboardInterrupt:
            done = state.seen if self.mode == "batch" else state.seen // max(X.shape[0], 1)
            self._outcome = Outcome(done, f"interrupted after {done} complete passes.", False)
            raise
        self._outcome = outcome
        if not outcome.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: {outcome.stopped} Give a larger "
                f"max_iter{self._other_advice}.",
                ConvergenceWarning,
                stacklevel=3 + FRAMES,
            )

    def _learn_stream(self, X: Any, Y: Array, omega: Array) -> None:
        """partial_fit: these rows once, as they come; non-finite weights are not accepted."""
        self._heed()
        bound = self._check_rate(X, omega) if self._state.seen == 0 else ""
        saved, stopped = self._state.copy(), "rows of a stream, each learned once."
        try:
            learn(self._state, X, Y, omega)
            finite = bool(np.isfinite(self._state.theta).all())
        except BaseException:  # Ctrl-C too: a block is learned whole or not at all
            self._state.restore(saved)
            raise
        if not finite:
            self._state.restore(saved)
            stopped = f"diverged; weights are those before this partial_fit. {bound}"
            warnings.warn(
                f"{type(self).__name__} {stopped}", ConvergenceWarning, stacklevel=3 + GUARD
            )
        self._outcome, self._certificate = Outcome(1, stopped, False), STREAM

    def _check_rate(self, X: Any, omega: Array) -> str:
        """Warn of a rate above the lectures' bound; the sentence to say if it diverges."""
        schedule = self._state.recipe.schedule
        if self._state.recipe.criterion != codes.SQUARED or isinstance(schedule, Auto | Absolute):
            return ""
        weights = omega if len(omega) else None
        if self.mode == "batch":
            bound, name = stable_rate(X, self.fit_intercept).batch, "2/lambda_max(R)"
        else:
            trace = mean_square(X, weights) + bool(self.fit_intercept)
            bound, name = (2.0 / trace if trace > 0 else np.inf), "2/tr[R]"
        constant = isinstance(schedule, Constant)
        # A falling rate is judged halfway through the first pass, which is where it must work.
        at = 0 if constant or self.mode == "batch" else X.shape[0] // 2
        eta = float(schedule(self._state.seen + at, 1)[0])
        said = f"eta is {eta:.4g}, and the bound for stable learning {name} = {bound:.4g}."
        if eta > bound:
            warnings.warn(
                f"{said} Learning may diverge; use eta='auto' or a smaller rate.",
                ConvergenceWarning,
                stacklevel=4 + FRAMES,
            )
        return said

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _settle(self) -> Self:
        """Make fit_, coef_ and intercept_ anew, now, so that predicting changes nothing."""
        self._known = self._shown = None
        self._show()
        return self

    def _restored(self, dtype: Any) -> None:
        """The weights to predict with, if a stream may begin with these parameters at all."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._begin(self._state.recipe.K, self.n_features_in_, self._dtype)
        self._shape = (self.n_features_in_,)
        self._settle()

    def _rewrite(self, W: Array, b: Array) -> None:
        self._state.go_on_from(W, b)
        self._certificate, self._known = WRITTEN, None
        self._made_fit()

    def _made_fit(self) -> SequentialFit:
        if self._state is None:
            raise AttributeError("not fitted yet")
        if self._known is None:
            W, b = self._state.kept()
            made, out = self._state.corrections, self._outcome
            ended = None if self._certificate in (STREAM, WRITTEN) else out.converged
            told = W, b, out.stopped, self._certificate, made, out.passes, ended
            self._known = SequentialFit(*told)
        known: SequentialFit = self._known
        return known

    n_iter_: Any = property(lambda self: self._made_fit().passes)

    def _one(self, x: Any) -> Array:
        if self._state is None:
            check_is_fitted(self)
        return one_sample(x, self._shape)


def start(state: State, coef: Any, intercept: Any) -> None:
    """Begin from given weights instead of zero."""
    for name, given, place in (
        ("coef_init", coef, state.last[:, :-1]),
        ("intercept_init", intercept, state.last[:, -1]),
    ):
        if given is None:
            continue
        values = numbers(name, given)
        if values.size != place.size or not np.isfinite(values).all():
            raise ParameterError(
                f"{name} has shape {values.shape}; expected {place.size} finite numbers, in the "
                f"shape {place.shape}."
            )
        place[...] = values.reshape(place.shape)
    if coef is not None or intercept is not None:
        state.go_on_from(state.last[:, :-1].copy(), state.last[:, -1].copy())
