"""The minimum of a criterion near given weights, with proven bounds; called by `audit`.

The minimiser starts at the weights that are audited, so that a fit that has converged costs one
or two passes more, and its proof (`certificates.bounds`) trusts neither of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from adaline.auditing.refine import refine
from adaline.estimators.least_squares import LeastSquares
from adaline.estimators.ridge import Ridge
from adaline.parameters import is_sparse
from adaline.procedures.inference import information
from adaline.procedures.newton import newton
from adaline.results import Array
from adaline.sums.losses import Logistic, Loss, Poisson, Softmax
from adaline.sums.objective import Objective

if TYPE_CHECKING:
    from adaline.evaluation.trial import BaseEstimator

TOLERANCE = 1e-12  # of the minimiser, in standard errors: as near as float64 can tell
MOST_ENTRIES = 2e6  # of a table whose infinite coefficients are searched by linear programming
LARGEST_DENOMINATOR = 1000  # of directions in which coefficients grow: they are small integers


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and the criterion; y are numbers, or class codes."""

    criterion: str
    X: Any
    y: NDArray[Any]
    omega: Array  # (n,), or (0,) where all weights are 1
    offset: Array
    alpha: float
    intercept: bool
    K: int  # outputs
    penalised_intercept: bool = False


@dataclass(frozen=True, eq=False)
class Minimum:
    """W (K, p) and b (K,) within bounds of the minimiser, and what is known of it."""

    W: Array
    b: Array
    W_bound: Array
    b_bound: Array
    outcome: str = "converged"  # or "separated", "quasi", and others that prove nothing
    std_errors: Array | None = None  # (K, p + 1), the bias last
    condition: float = float("nan")
    dependent: tuple[int, ...] = ()
    facts: dict[str, float] = field(default_factory=dict)  # log-likelihood, R²
    gain: float = 0.0  # by how much the audited weights exceed the least criterion


def minimise(problem: Problem, W: Array, b: Array) -> Minimum:
    """The minimum of a problem, starting at W and b."""
    if problem.penalised_intercept:  # as a column of ones
        ones = np.ones((problem.X.shape[0], 1))
        dense = problem.X.toarray() if is_sparse(problem.X) else problem.X
        more = {"X": np.hstack([dense, ones]), "intercept": False, "penalised_intercept": False}
        found = minimise(Problem(**vars(problem) | more), np.column_stack([W, b]), 0.0 * b)
        halves = found.W[:, :-1], found.W[:, -1], found.W_bound[:, :-1], found.W_bound[:, -1]
        return Minimum(*halves, found.outcome)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if problem.criterion == "least-squares":
            return least_squares(problem, W, b)
        return likeliest(problem, W, b)


def least_squares(problem: Problem, W: Array, b: Array) -> Minimum:
    model: BaseEstimator = LeastSquares(problem.intercept)
    if problem.alpha > 0.0:
        model = Ridge(problem.alpha, fit_intercept=problem.intercept)
    omega = problem.omega if len(problem.omega) else None
    model.fit(problem.X, problem.y, omega)
    fit, (K, p) = model.fit_, np.atleast_2d(model.coef_).shape
    bounds = np.full((K, p + 1), inf)
    if model.certificate_.kind in ("exact", "accurate"):
        own = np.asarray(model.certificate_.evidence["error_bound"], dtype=np.float64)
        if own.ndim == 1:
            bounds[:, :-1] = own[:, None]
        else:
            bounds[:, : len(own)] = own.T
    if not problem.intercept:
        bounds[:, -1] = 0.0
    if fit.dependent:  # many weights give the same least sum
        bounds[:] = inf
    errors, facts = None, {}
    if problem.alpha == 0.0 and K == 1 and not fit.dependent:
        try:
            table = model.summary()
            errors = np.asarray(table["std err"])[None]
            errors = np.roll(errors, -1) if problem.intercept else np.append(errors[0], 0.0)[None]
            facts = {"log-likelihood": float(table.facts["log-likelihood"])}
            spread = float(np.sum((problem.y - problem.y.mean()) ** 2))
            if not len(problem.omega) and spread > 0.0:  # about the mean, whoever made the constant
                facts["R²"] = 1.0 - float(fit.squares[0]) / spread
        except ValueError:
            errors = None  # no degree of freedom
    gain = squares(problem, W, b) - squares(problem, fit.W, fit.b)
    dependent = tuple(column for column, _ in fit.dependent)
    rest = ("converged", errors, float(fit.condition), dependent, facts, gain)
    return Minimum(fit.W, fit.b, bounds[:, :-1], bounds[:, -1], *rest)


def squares(problem: Problem, W: Array, b: Array) -> float:
    """Sum of squared errors, with the penalty."""
    Y = problem.y if problem.y.ndim == 2 else problem.y[:, None]
    R = Y - (problem.X @ W.T + b)
    omega = problem.omega if len(problem.omega) else np.ones(len(R))
    return float(omega @ np.sum(R * R, axis=1) + problem.alpha * np.sum(W * W))


def likeliest(problem: Problem, W: Array, b: Array) -> Minimum:
    loss: Loss = Softmax() if problem.K > 1 else Logistic()
    loss = Poisson() if problem.criterion == "poisson" else loss
    y = 2.0 * problem.y - 1.0 if isinstance(loss, Logistic) else problem.y
    y = np.ascontiguousarray(y, dtype=np.int64 if problem.K > 1 else np.float64)
    rows = (problem.X, y, problem.omega, problem.alpha, problem.intercept)
    objective = Objective.of(loss, *rows, K=problem.K, offset=problem.offset)
    if problem.K > 1:  # what classes share is nothing at the minimum
        start = objective.rows.theta(W - W.mean(axis=0), b - b.mean())
    else:
        start = objective.rows.theta(W, b)
    with np.errstate(all="ignore"):
        before = objective.sums(start)
    near = np.isfinite(start).all() and before.f < 2.0 * loss.null(objective.rows, problem.K)
    fit = newton(objective, 100, TOLERANCE, start if near else None)
    shape, evidence = fit.W.shape, fit.certificate.evidence
    W_bound, b_bound = np.full(shape, inf), np.full(shape[0], inf)
    if fit.certificate.kind == "optimal":
        W_bound = np.broadcast_to(evidence["coef_bound"], shape)
        b_bound = np.full(shape[0], float(evidence["intercept_bound"]) * problem.intercept)
    V, v = fit.W, fit.b
    if fit.certificate.kind == "optimal" and (finer := refine(objective, V, v)) is not None:
        (V, v), (W_bound, b_bound) = finer
    errors, facts = None, {}
    if fit.outcome not in ("separated", "quasi"):
        try:
            known = information(objective, fit.theta)
            errors, facts = known.error, {"log-likelihood": -(known.loss + known.constant)}
        except ValueError:
            errors = None  # dependent columns, or too many
    condition = condition_of(objective, fit.theta)
    gain = before.f * objective.rows.unit - fit.value
    rest = (fit.outcome, errors, condition, (), facts, float(gain))
    return Minimum(V, v, W_bound, b_bound, *rest)


def condition_of(objective: Objective, theta: Array) -> float:
    """Root of that of the Hessian in units of its diagonal; NaN where it would take a pass more."""
    if objective.q > 500 or objective.K > 1 or objective.rows.n * objective.q > 2**21:
        return float("nan")
    H = objective.sums(theta, "joint").H
    assert H is not None
    d = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
    values = np.linalg.eigvalsh(H / d / d[:, None])
    return float(np.sqrt(values[-1] / max(values[0], 1e-32 * values[-1])))


def infinite_direction(problem: Problem) -> list[Fraction]:
    """A direction d (p + 1,) in which coefficients of two classes grow without bound, or nothing.

    Where t_i (x_i, 1)'d >= 0 for every row, and > 0 for one, the loss falls for ever along d.
    Linear programming finds one that is positive on as many rows as possible; it is rounded to
    small fractions, and counts only if it holds in exact arithmetic.
    """
    n, p = problem.X.shape
    if n * p > MOST_ENTRIES:
        return []
    X = problem.X.toarray() if is_sparse(problem.X) else np.asarray(problem.X, dtype=np.float64)
    used = problem.omega > 0 if len(problem.omega) else np.ones(n, dtype=bool)
    X, t = X[used], (2.0 * problem.y - 1.0)[used]
    scale = np.maximum(np.abs(X).max(axis=0, initial=0.0), 1e-300)
    Z = t[:, None] * np.column_stack([X / scale, np.full(len(X), float(problem.intercept))])
    Z = np.unique(Z, axis=0)
    # max sum s, s <= Z d, 0 <= s <= 1: s_i > 0 wherever any direction has z_i'd > 0.
    A = sparse.hstack([sparse.csr_array(-Z), sparse.eye_array(len(Z))], format="csr")
    bounds = [(-1e6, 1e6)] * (p + 1) + [(0.0, 1.0)] * len(Z)
    goal = np.append(np.zeros(p + 1), -np.ones(len(Z)))
    found = linprog(goal, A_ub=A, b_ub=np.zeros(len(Z)), bounds=bounds, method="highs")
    if found.x is None or found.fun is None or found.fun > -0.5:
        return []
    d = found.x[: p + 1] / np.append(scale, 1.0)
    d[-1] *= problem.intercept
    d /= np.abs(d).max()
    rounded = [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in d]
    for D in (rounded, [Fraction(float(v)) for v in d]):
        if grows(X, t, D):
            return D
    return []


def grows(X: Array, t: Array, D: list[Fraction]) -> bool:
    """Whether t_i (x_i, 1)'D >= 0 for every row and > 0 for one, in fractions where it is close."""
    d = np.array([float(v) for v in D])
    v, size = t * (X @ d[:-1] + d[-1]), np.abs(X) @ np.abs(d[:-1]) + abs(d[-1])
    if np.any(v < -1e-9 * size):
        return False
    for i in np.flatnonzero(v <= 1e-9 * size):
        exact = sum((Fraction(float(x)) * c for x, c in zip(X[i], D, strict=False)), Fraction(0))
        if (exact + D[-1]) * int(t[i]) < 0:
            return False
    return bool(np.any(v > 1e-9 * size))
