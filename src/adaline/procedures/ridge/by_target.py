"""Ridge with a penalty for each target: few are corrected one by one, many solved together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.digits import (
    certificate_of_digits,
    certificate_of_targets,
    gamma,
    in_users_units,
)
from adaline.certificates.ridge_digits import SharedInverse
from adaline.linalg import UNIT, eigen, times_power
from adaline.moments import TOGETHER, Moments
from adaline.procedures.least_squares.closed_form import PROVABLE, least_squares
from adaline.procedures.least_squares.normal_equations import Normal, normal_equations
from adaline.results import Array, Certificate, ClosedFit
from adaline.tiles import Rows

_RANGE = 1e100  # penalties from 1/_RANGE to _RANGE of the columns' squares keep products in range
# The penalty on w^2 of an alpha: a number, or one for each column. Of alphas (k, 1): rows of them.
Penalty = Callable[[Any], Any]


def ridge_by_target(
    m: Moments | None, rows: Rows | None, alphas: Array, penalty: Penalty, intercept: bool
) -> ClosedFit:
    """Least squares with a penalty for each target; those of one penalty are solved together."""
    if m is None or np.all(alphas == alphas[0]):
        # The last digits of many targets cost more than all else; moments prove about nine.
        few = m is None or m.targets <= TOGETHER
        ridge, refined = penalty(float(alphas[0])), few or bool(alphas[0] == 0)
        return least_squares(m, rows, intercept=intercept, ridge=ridge, refined=refined)
    k, parts = m.targets, []
    alone = np.arange(k)
    if k > TOGETHER:
        whole, proven = _together(m, alphas, penalty, intercept)
        if whole is not None:
            parts, alone = [(whole, proven)], np.setdiff1d(alone, proven)
        zero = alone[alphas[alone] == 0]
        if len(zero) > 1:
            parts.append((_solved(m, rows, zero, penalty(0.0), intercept), zero))
            alone = alone[alphas[alone] > 0]
    for t in alone:
        some = np.array([t])
        parts.append((_solved(m, rows, some, penalty(float(alphas[t])), intercept), some))
    return _joined(parts, k)


def _solved(
    m: Moments, rows: Rows | None, which: NDArray[np.intp], ridge: Any, intercept: bool
) -> ClosedFit:
    """Some targets, with one penalty."""
    some = None if rows is None else replace(rows, Y=rows.Y[:, which])
    return least_squares(_of_targets(m, which), some, intercept=intercept, ridge=ridge)


def _of_targets(m: Moments, which: NDArray[np.intp]) -> Moments:
    """Moments of x and of some of the targets."""
    pick = np.append(np.arange(m.p), m.p + which)
    vectors = {v: getattr(m, v)[pick] for v in ("mean", "exponent", "rounding", "mean_rounding")}
    return replace(m, scatter=m.scatter[np.ix_(pick, pick)], targets=len(which), **vectors)


def _together(
    m: Moments, alphas: Array, penalty: Penalty, intercept: bool
) -> tuple[ClosedFit | None, NDArray[np.intp]]:
    """The targets of positive penalties of which moments prove digits, from one eigendecomposition.

    In the units of the normal equations, where the penalties are D_jt = lam_t / size_j^2.
    """
    positive = np.flatnonzero(alphas > 0)
    if not len(positive):
        return None, positive
    least = float(alphas[positive].min())
    normal = normal_equations(_of_targets(m, positive), intercept, penalty(least))
    if normal is None:
        return None, positive[:0]
    u, p = normal.m, normal.m.p
    ridge = normal.ridge
    lams = alphas[positive] * (ridge.min() / least)
    if not (ridge.max() < _RANGE * ridge.min() and 1 / _RANGE < lams.min() < lams.max() < _RANGE):
        return None, positive[:0]
    size = np.sqrt(ridge.min() / ridge)
    D = np.broadcast_to(penalty(alphas[positive, None]), (len(positive), p)).T
    D = np.ldexp(D, -2 * u.exponent[:p, None])
    S, c, rho = u.scatter[:p, :p], u.scatter[:p, p:], u.rounding[:p]
    s, V = eigen(S * np.outer(size, size))
    s = np.maximum(s, 0.0)
    inverse = SharedInverse(V, size, 1 / (s[:, None] + lams))
    alpha = inverse.contractions(S, s, lams, D, rho)
    w = inverse.solved(c)
    w += inverse.solved(c - S @ w - D * w)
    g = c - S @ w - D * w
    noise = gamma(p + 4) * (np.abs(c) + np.abs(S) @ np.abs(w) + D * np.abs(w))
    noise += np.outer(rho, u.rounding[p:]) + np.outer(rho, rho @ np.abs(w))
    bounds = inverse.bounds(alpha, g, noise)
    on = np.flatnonzero(alpha <= PROVABLE)
    if not len(on):
        return None, positive[:0]
    fit = _from_moments(normal, on, w[:, on], bounds[:, on], D[:, on], float(alpha[on].max()))
    return fit, positive[on]


def _from_moments(
    normal: Normal, on: NDArray[np.intp], w: Array, bounds: Array, D: Array, alpha: float
) -> ClosedFit:
    """The fit of weights w (p, k) with penalties D, within bounds, in the units of `normal`."""
    m, p = normal.m, normal.m.p
    which, e = p + on, m.exponent
    b = m.mean[which] - m.mean[:p] @ w if normal.intercept else np.zeros(len(on))
    own = np.diag(m.scatter)
    lengths = np.sqrt(np.maximum(own, 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    with np.errstate(over="ignore"):  # a penalty makes weights smaller
        floor = UNIT * lengths[which] / (lengths[:p, None] + D / lengths[:p, None])
    exponent = e[which] - e[:p, None]
    W = times_power(w, exponent)
    # |y - Xw|^2 = |y|^2 - w'(2c - S w), from centred sums.
    S, c = m.scatter[:p, :p], m.scatter[:p, which]
    squares = own[which] - np.einsum("jt,jt->t", w, 2 * c - S @ w)
    return ClosedFit(
        W=np.ascontiguousarray(W.T),
        b=np.ldexp(b, e[which]),
        stopped="solved in closed form from moments.",
        certificate=certificate_of_digits(
            W,
            in_users_units(bounds, exponent),
            times_power(floor, exponent),
            alpha,
            normal.condition,
            missing="the intercept" if normal.intercept else "",
        ),
        rank=p,
        condition=normal.condition,
        W_low=np.zeros((len(on), p)),
        b_low=np.zeros(len(on)),
        squares=np.ldexp(np.maximum(squares, 0.0), 2 * e[which]),
    )


def _joined(parts: list[tuple[ClosedFit, NDArray[np.intp]]], k: int) -> ClosedFit:
    """One fit of the k targets of all parts; the least certain part speaks for them."""
    fits = [fit for fit, _ in parts]
    order = np.argsort(np.concatenate([which for _, which in parts]))
    worst = min(fits, key=lambda fit: float(fit.certificate.evidence.get("digits", 0.0)))
    certificate = Certificate(
        worst.certificate.kind,
        f"of {k} targets, the least certain: {worst.certificate.statement}",
        worst.certificate.evidence,
    )
    if all("error_bound" in fit.certificate.evidence for fit in fits):
        certificate = certificate_of_targets(fits, order)

    def stacked(name: str) -> Array:
        return np.concatenate([getattr(fit, name) for fit in fits])[order]

    return ClosedFit(
        W=stacked("W"),
        b=stacked("b"),
        stopped=worst.stopped,
        certificate=certificate,
        rank=min(fit.rank for fit in fits),
        condition=max(fit.condition for fit in fits),
        W_low=stacked("W_low"),
        b_low=stacked("b_low"),
        squares=stacked("squares"),
        dependent=max((fit.dependent for fit in fits), key=len),
    )
