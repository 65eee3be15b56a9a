"""Newton's procedure for any loss; a new Hessian is made only where that pays.

A pass for the gradient costs much less than a pass for the Hessian. So a step uses an older Hessian
of some of the rows (`_stride` says how many), corrected by L-BFGS (`_newton_state`). Where columns
are many, steps begin with a sketch of it (`_sketch`), and end with that unless they are slow; there
most steps are made with rows in float32 (`_float32`), and the last with the rows as they are. Where
rows are many, the start is about the minimum for a spread sample of them.

Lecture: 5.9, logistic regression.
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np

from adaline.linalg import UNIT
from adaline.objective import Objective
from adaline.procedures.newton import _stride
from adaline.procedures.newton._newton_state import NewtonState, begin
from adaline.procedures.newton.curvature import Curvature, is_one_matrix
from adaline.procedures.newton.descent import concluded, descend, is_noise
from adaline.procedures.steps import Steps, Stepwise, finished
from adaline.results import Array, NewtonFit, Outcome
from adaline.row_sums.objective_sums import FEW

_SAMPLE, _EACH = 2048, 40  # rows of the sample to start from, at least, and for each weight
_FEW_ROWS = 512  # rows whose n x n side costs less than about 30 passes over them
_PASSES = 60  # steps that more rows are given before their n x n side is made, or n / 16
_ROWS, _ROWS_OF_CLASSES = 3000, 1000  # up to which the n x n side is a way, for one output or more
_CHEAP = 2**16  # numbers in the rows, up to which a further step costs next to nothing
_PATIENCE = 15  # steps with a Hessian that is not exact, after the first new one
_NEARER, _TRIES = 10.0, 3  # how much smaller nu is when a proof is tried again, and how often
_TRIAL, _SHARE = 8, 0.8  # steps without a matrix before they are judged, and share of max_iter
_SPARE = 5  # steps of max_iter that are left for those with a matrix
_TINY = float(np.finfo(np.float64).tiny)  # a nu of zero is taken for this one
_ROUGH = 0.8  # price of a Hessian in float32, counted in passes over rows in float32
_GAIN = 3.0  # by how much log nu falls with each step after a Hessian of all rows
_DEAR = 100.0  # times tol: a relative change of a weight above this is worth a step on any data

Minimum = tuple[Array, Array, bool]  # theta, slopes of the rows there, and whether it converged
Penalty = tuple[float, Array | None]  # alpha, and the units (p,) of the columns where not their own


@Stepwise
def newton(
    loss: Objective, max_iter: int = 100, tol: float = 1e-8, start: Array | None = None
) -> Steps[NewtonFit]:
    """theta that minimises f, with a bound on its distance from the minimum.

    Stops when three things hold: nu = sqrt(g'H^-1 g) is at most tol sqrt(n K q), so that weights
    are off by at most tol sqrt(n) standard errors, root mean square; the next step would change no
    weight by a relative amount above tol (see `_is_fine`); and the distance from the minimum is
    proven. It yields its NewtonState, at the start and after each step.
    """
    n, q = loss.X.shape[0], len(loss.penalty)
    theta = loss.loss.start(loss) if start is None else start
    tol = float(tol)  # it may be a Fraction, which numpy does not know
    goal = tol * sqrt(loss.weight * theta.size)
    spare = n // max(_SAMPLE, _EACH * q * loss.K)
    if start is None and not loss.is_wide and spare >= 4:
        theta = _from_a_sample(loss, min(16, spare))
    limit = _ROWS if loss.K == 1 else _ROWS_OF_CLASSES
    few = start is None and loss.is_wide and n <= limit and bool((loss.penalty[:-1] > 0).all())
    if few and n <= _FEW_ROWS:
        theta = _from_few_rows(loss, max_iter, tol, goal)
    rounds = start is None and not theta[:, :-1].any()
    state = begin(loss, theta, goal, sketched=_stride.is_dear(loss), rounds=rounds)
    try:
        yield 0, state
        # Passes may lead more rows to the minimum before an n x n matrix of them is made.
        most = min(max(_PASSES, n // 16), max_iter) if few and n > _FEW_ROWS else max_iter
        rule = _Rule(state, goal, proven=True, tol=tol, most=most)
        outcome = yield from descend(state, rule, most)
        if few and n > _FEW_ROWS and outcome == "max_iter":
            made, state = state.steps, begin(loss, _from_few_rows(loss, max_iter, tol, goal), goal)
            state.steps = made
            rule = _Rule(state, goal, proven=True, tol=tol)
            outcome = yield from descend(state, rule, max_iter)
    except KeyboardInterrupt:
        outcome = "interrupted"
        state.here, state.coarse = loss.at(state.theta, state.root), False  # a trial left its own
    state.use_rows()
    return concluded(state, outcome)


@Stepwise
def newton_auto(loss: Objective, max_iter: int, tol: float) -> Steps[tuple[NewtonFit, Penalty]]:
    """The fit of least approximate leave-one-out loss, and its penalty.

    The search is bounded (see `_penalty_search`). Where its penalty is so small that rounding
    hides the minimum, a larger one is taken.
    """
    penalties, start = penalties_by_loss(loss, max_iter)
    for penalty in penalties:
        fit = yield from newton.steps(loss.with_penalty(*penalty), max_iter, tol, start)
        if fit.outcome not in ("rounding", "max_iter"):
            break
        start = None
    return fit, penalty


def penalties_by_loss(loss: Objective, max_iter: int) -> tuple[list[Penalty], Array | None]:
    """Penalties by their approximate leave-one-out loss, and a theta near the first minimum."""
    from adaline.procedures.newton._penalty_search import best_penalty

    def minimum(
        here: Objective, start: Array | None, known: Curvature | None, goal: float
    ) -> Minimum:
        theta = here.loss.start(here) if start is None else start
        state = begin(here, theta, goal, sketched=_stride.is_dear(here), known=known)
        outcome = finished(descend(state, _Rule(state, goal, proven=False), max_iter))
        return state.theta, state.root, outcome == "converged"

    return best_penalty(loss, minimum)


def _from_few_rows(loss: Objective, max_iter: int, tol: float, goal: float) -> Array:
    """Near the minimum, by way of an n x n matrix of the rows."""
    from adaline.procedures.newton._row_space import wide_start

    return wide_start(loss, goal, lambda few: newton(few, max_iter, tol, few.loss.start(few)))


def _from_a_sample(loss: Objective, stride: int) -> Array:
    """About the minimum for every stride-th row: no nearer than such a sample can tell."""
    few = loss.thinned(stride)
    start = loss.loss.start(few)
    goal = 0.1 * np.sqrt(stride * start.size)
    state = begin(few, start, goal)
    outcome = finished(descend(state, _Rule(state, goal, proven=False), 30))
    return start if outcome in ("separated", "quasi") else state.theta


class _Rule:
    """When steps of rows in memory end, and when they get a new Hessian.

    They end where nu <= goal and, with `proven`, where the distance from the minimum is proven.
    Further steps for the relative accuracy of the weights end when one gains less than a digit.
    """

    def __init__(
        self, state: NewtonState, goal: float, *, proven: bool, tol: float = inf, most: float = inf
    ) -> None:
        self.state, self.goal, self.proven, self.tol, self.most = state, goal, proven, tol, most
        loss = state.loss
        self.bare = not loss.penalty[:-1].any()
        # No component of the mean gradient may be above tol, in units of its column's deviation.
        size = sqrt(state.theta.size)
        self.steepest = goal / size * np.where(loss.length > 0, loss.length, np.inf)
        self.brief = 1 if len(loss.penalty) <= FEW and state.known.exact else 3
        self.nu, self.ratio = state.nu, 1.0  # after the last step, and relative to that before
        self.finer = 0  # steps after nu <= goal, for relative accuracy
        self.since, self.renewals = 0, 0  # steps since the last new Hessian, and how many were made
        self.least = [max(state.nu, _TINY)]  # so far, after each step
        self.nearer, self.tries = inf, 0  # nu for which a proof is tried again; how many failed
        self.stuck, self.still = 0, 0  # steps in a row that gained little, and that found nothing

    def arrived(self, more: bool) -> Outcome | None:
        """Near the minimum, with weights as accurate as they are wanted, and proven."""
        state = self.state
        if not self.nu <= min(self.goal, self.nearer) or state.lost:
            return None
        if state.coarse:
            state.use_rows()
            self.nu = state.nu
            return self.arrived(more)
        if self.proven and not (np.abs(state.here.g) <= self.steepest).all():
            return None
        if more and (self.finer == 0 or self.ratio < 0.1) and not _is_fine(state, self.tol):
            self.finer += 1
            return None
        if not self.proven or state.proven():
            return "converged"
        if more:
            self._go_nearer()
        return None

    def _go_nearer(self) -> None:
        """After a proof that failed: make nu smaller before the next, or make a matrix for it.

        A matrix for each step that proves nothing would cost more than all steps.
        """
        state = self.state
        if not state.sketched:
            self.nearer = self.nu / _NEARER if _stride.is_dear(state.loss) else inf
            return
        short = max(state.shortfall(), _NEARER)
        left = log(short)
        pays = self.tries < _TRIES and left / self._rate() < _anew(state.loss, left)
        if state.loss.is_wide or pays:
            self.nearer, self.tries = self.nu / short, self.tries + 1
        else:
            self._renew(left, 1)

    def _renew(self, left: float, stride: int) -> None:
        """Make a new Hessian: the cheaper of one in float32 and one of every stride-th row."""
        state, loss = self.state, self.state.loss
        rough = stride == 0 and state.can_roughen and _roughly(loss, left) <= _anew(loss, left)
        if not (rough and state.roughen()):
            state.use_rows()
            state.renew(left, stride)
        self.nu, self.since, self.renewals = self.state.nu, 0, self.renewals + 1
        self.nearer, self.least = inf, [max(self.nu, _TINY)]

    def is_endless(self) -> bool:
        """Whether rows have lost their curvature, or steps go on although nu is small."""
        return self.state.lost or (self.nu <= self.goal and self.state.steps > 20)

    def after_step(self, moved: bool, whole: bool) -> Outcome | None:
        """Compare nu with that before; make a new Hessian where that pays."""
        state, loss = self.state, self.state.loss
        self.still = 0 if moved else self.still + 1
        if self.still > 3 and not state.tentative:
            return "rounding"
        before, self.nu, self.since = self.nu, state.nu, self.since + 1
        self.least.append(max(min(self.nu, self.least[-1]), _TINY))
        self.ratio = self.nu / before if before > 0 else 1.0
        self.stuck = self.stuck + 1 if not whole or self.ratio > 0.9 else 0
        left = log(max(self.nu / self.goal, 1.0))
        if state.coarse and not state.tentative and (self.still > 0 or self.stuck > 3):
            state.use_rows()  # whatever hinders steps, rounded rows shall not be the reason
            self.nu, self.still, self.stuck = state.nu, 0, 0
            return None
        if state.tentative:
            if self.still > 1 or self.stuck > 12 or self._is_slow(left):
                self._renew(left, 0)
            return None
        if self.nu <= self.goal and self.ratio > 0.5 and self.stuck > 3:
            if self.proven and not state.lost and state.proven():  # only `level` does not hold
                return "converged"
            return "rounding" if not self.bare else "quasi"
        if (
            self.stuck > 12
            and self.since > 1
            and state.known.exact
            and is_noise(self.nu, state.here.size, loss.weight)
        ):
            return "rounding"
        if self._wants_renewal(whole, left):
            self._renew(left, 0 if whole else 1)
        return None

    def _wants_renewal(self, whole: bool, left: float) -> bool:
        """Whether a new Hessian costs less than the steps without it, for nu to fall by exp(left).

        A Hessian that was sampled or shrunk gets more steps before it is judged.
        """
        known = self.state.known
        if self.state.sketched:  # another would know no more, and L-BFGS would begin anew
            return False
        soon = self.renewals == 0 or (known.exact and not known.shrunk)
        if self.since <= (self.brief if soon else _PATIENCE) or self.nu <= 0.1 * self.goal:
            return False
        more = left / -log(max(self.ratio, UNIT)) if self.ratio < 1.0 else inf
        return not whole or more > _anew(self.state.loss, left)

    def _is_slow(self, left: float) -> bool:
        """Whether steps without a matrix will cost more than the matrix and the steps with it."""
        state = self.state
        if self.since < _TRIAL:
            return False
        wanted = max(min(self.goal, self.nearer), _TINY)
        more = log(max(self.least[-1] / wanted, 1.0)) / self._rate()
        cost = _anew(state.loss, left)
        if state.can_roughen:
            cost = min(cost, _roughly(state.loss, left))
        ends = state.steps > _SHARE * self.most and more > self.most - _SPARE - state.steps
        return more > cost or ends

    def _rate(self) -> float:
        """Mean fall of log nu, of all steps or of the latter half: nu of L-BFGS falls in leaps."""
        k = len(self.least) - 1
        falls = [log(self.least[i] / self.least[-1]) / max(k - i, 1) for i in (0, k // 2)]
        return max(*falls, UNIT)


def _is_fine(state: NewtonState, tol: float) -> bool:
    """Whether a further step would change no weight w_j by more than tol max(|w_j|, its error).

    A small nu says that the error is small compared with the standard errors, not with the
    weights: where columns are nearly dependent, standard errors are large. The larger the rows, the
    more a step costs; then the relative change may be up to _DEAR tol, and is measured against the
    root mean square of the weights rather than against each weight.
    """
    if tol == inf:
        return True
    K, q = state.theta.shape
    cost = min(max(state.loss.X.shape[0] * q * K / _CHEAP, 1.0), _DEAR)
    w, error = state.theta[:, :-1], state.known.deviations().reshape(-1, q)[:, :-1]
    usual = sqrt((w * w).sum() / max(w.size, 1)) * (1.0 - 1.0 / cost)
    size = np.maximum(np.maximum(np.abs(w), error), usual)
    return bool((np.abs(state.direction()[:, :-1]) <= tol * cost * size).all())


def _roughly(loss: Objective, left: float) -> float:
    """Cost, in passes for a gradient, of a Hessian in float32 and of the steps with it."""
    return _ROUGH * _stride.price(loss, 1) + left / _GAIN


def _anew(loss: Objective, left: float) -> float:
    """Cost, in passes for a gradient, of a new Hessian and of the steps to the minimum with it."""
    n, K, q = loss.X.shape[0], loss.K, len(loss.penalty)
    if n * q * q <= _stride.WORK:  # a step with a new Hessian doubles the digits
        return 2.0 + q / 25.0
    if K > 1 and is_one_matrix(loss):
        return _stride.price(loss, 1, K * (K + 1) // 2) + _stride.expected_passes(loss, 1, left)
    stride = _stride.best_stride(loss, left, sums=K)
    return _stride.price(loss, stride, K) + _stride.expected_passes(loss, stride, left)
