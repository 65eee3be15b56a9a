"""Average loss of a decision rule under its own model: exact where it can be, else estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import ndtr
from scipy.stats import gaussian_kde, norm

from adaline import decisions
from adaline.estimators.bayes import _plane, _regions
from adaline.estimators.bayes.densities import Density, Table
from adaline.results import Array

ACCURATE = 1e-6
"""Quadrature that cannot promise this much gives way to Monte Carlo."""


@dataclass(frozen=True, slots=True)
class Risk:
    """An average over the model, and how far to trust it. `float(risk)` is its value.

    Attributes
    ----------
    value : float
    standard_error : float
        Of Monte Carlo; zero for the other methods.
    method : {"closed form", "sum", "quadrature", "monte carlo"}
    quadrature_error : float
        Estimated error of quadrature or of a sum cut off; zero for the other methods.
    """

    value: float
    standard_error: float
    method: Literal["closed form", "sum", "quadrature", "monte carlo"]
    quadrature_error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        error = self.standard_error if self.method == "monte carlo" else self.quadrature_error
        return f"{self.value:.6g}" + (f" +- {error:.1e}" if error else "") + f" ({self.method})"


@dataclass(frozen=True)
class Rule:
    """Decisions of least expected cost: densities, priors, costs[i, j], cost of rejecting."""

    densities: tuple[Density, ...]
    priors: Array
    costs: Array
    reject_cost: float | None

    def weights(self, X: Array) -> Array:
        """p(j | x), or zeros where no class has any density."""
        log_f = np.column_stack([density.log(X) for density in self.densities])
        with np.errstate(divide="ignore", invalid="ignore"):
            joint = np.where(self.priors > 0.0, log_f + np.log(self.priors), -np.inf)
        # An infinite density, at the edge of a support, wins; finite numbers compare.
        joint = np.minimum(joint, np.finfo(np.float64).max)
        top = joint.max(axis=1, keepdims=True)
        w = np.exp(joint - np.where(np.isneginf(top), 0.0, top))
        return np.asarray(w / np.maximum(w.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))

    def decide(self, X: Array) -> _regions.Ints:
        w = self.weights(X)
        decided = decisions.decide(w, self.costs, self.reject_cost)
        return np.where(w.any(axis=1), decided, _regions.NOWHERE)

    @cached_property
    def dimension(self) -> int:
        known = [f.dimension for f in self.densities if f.dimension is not None]
        if known or not self.densities[0].can_draw:
            return known[0] if known else 1
        return int(self.densities[0].draw(1, np.random.default_rng(0)).shape[1])


def average(
    family: tuple[Density, ...] | Table,
    priors: Array,
    costs: Array,
    reject_cost: float | None,
    loss: Array,
    draws: int,
    seed: int,
) -> Risk:
    """sum_j p_j sum_i loss[i, j] P(decide i | j), decisions by costs, rejects in the last row."""
    if isinstance(family, Table):
        return Risk(_over_symbols(family, priors, costs, reject_cost, loss), 0.0, "sum")
    rule = Rule(family, priors, costs, reject_cost)
    P = equal_covariance(rule)
    if P is not None:
        return Risk(decisions.average_risk(P, priors, loss), 0.0, "closed form")
    if any(f.discrete for f in family):
        X = _lattice(rule)
        if X is None:
            return monte_carlo(rule, loss, draws, seed)
        f = np.exp(np.column_stack([density.log(X) for density in family]))
        value = float(np.sum(loss[rule.decide(X)] * (f * priors)))
        missed = float(np.abs(1.0 - f.sum(axis=0)) @ priors) * float(np.abs(loss).max())
        return Risk(value, 0.0, "sum", missed)
    return _by_quadrature(rule, loss) or monte_carlo(rule, loss, draws, seed)


def _over_symbols(
    table: Table, priors: Array, costs: Array, reject_cost: float | None, loss: Array
) -> float:
    joint = table.probabilities.T * priors
    joint = joint[joint.any(axis=1)]
    posterior = joint / joint.sum(axis=1, keepdims=True)
    return float(np.sum(loss[decisions.decide(posterior, costs, reject_cost)] * joint))


def separation(rule: Rule) -> float | None:
    """Mahalanobis distance of two Gaussian classes of equal covariance; None for others."""
    moments = [_regions.moments_if_gaussian(density) for density in rule.densities]
    if len(moments) != 2 or moments[0] is None or moments[1] is None:
        return None
    (m1, C1), (m2, C2) = moments[0], moments[1]
    if not np.array_equal(C1, C2):
        return None
    unit = np.sqrt(np.diagonal(C1))
    difference = (m1 - m2) / unit
    return float(np.sqrt(difference @ np.linalg.solve(C1 / unit / unit[:, None], difference)))


def equal_covariance(rule: Rule) -> Array | None:
    """P(decide i | j) of two Gaussians of equal covariance, a distance d apart.

    ln Lambda is N(d^2/2, d^2) in class 1 and N(-d^2/2, d^2) in class 2, and class 1 is decided
    where it exceeds ln xi.
    """
    d = separation(rule)
    if d == 0.0:  # nothing to see: one decision for all
        P = np.zeros((3, 2))
        P[decisions.decide(rule.priors[None, :], rule.costs, rule.reject_cost)] = 1.0
        return P
    if d is None or rule.reject_cost is not None:
        return None
    (p1, p2), ((c11, c12), (c21, c22)) = rule.priors, rule.costs
    with np.errstate(divide="ignore", invalid="ignore"):
        log_xi = np.log(p2 * (c12 - c22)) - np.log(p1 * (c21 - c11))
    if np.isnan(log_xi):  # neither decision ever costs more: all ties, all to the first class
        log_xi = -np.inf
    z1, z2 = log_xi / d - d / 2, log_xi / d + d / 2
    return np.array([[ndtr(-z1), ndtr(-z2)], [ndtr(z1), ndtr(z2)], [0.0, 0.0]])


def _lattice(rule: Rule) -> Array | None:
    """All points, but for 1e-17 of tail, of discrete classes on a line; None if too many."""
    points = []
    for f in (density.source for density in rule.densities):
        sf = getattr(f, "sf", getattr(f, "ccdf", None))
        if rule.dimension != 1 or sf is None or not hasattr(f, "support"):
            return None
        low, high = (float(end) for end in f.support())
        # Steps are counted from a finite end, so that a shifted lattice is met exactly.
        start = low if np.isfinite(low) else high if np.isfinite(high) else 0.0
        last = high if np.isfinite(high) else _until_empty(start, 1.0, sf)
        first = low if np.isfinite(low) else _until_empty(start, -1.0, f.cdf)
        if not last - first < 2e6:
            return None
        points.append(first + np.arange(round(last - first) + 1))
    X = np.unique(np.concatenate(points))[:, None]
    complete = [abs(1.0 - np.exp(f.log(X)).sum()) < 1e-9 for f in rule.densities]
    return X if all(complete) else None


def _until_empty(x: float, step: float, tail: Callable[[float], float]) -> float:
    """Go on in doubling steps until hardly any probability is left beyond."""
    while tail(x) > 1e-17 and abs(step) < 4e6:
        x, step = x + step, 2.0 * step
    return x


def _by_quadrature(rule: Rule, loss: Array) -> Risk | None:
    """Line or plane integrals; None where they are not possible or not accurate enough."""
    d = separation(rule)
    if d:  # only ln Lambda matters, and it is on a line
        classes = (norm(d * d / 2, d), norm(-d * d / 2, d))
        lines = tuple(Density.of(f, k) for k, f in enumerate(classes))
        rule = Rule(lines, rule.priors, rule.costs, rule.reject_cost)
    kernels = any(isinstance(density.source, gaussian_kde) for density in rule.densities)
    if rule.dimension > 2 or (rule.dimension == 2 and kernels):
        return None  # over the plane, a sum of a bump for each row would take minutes
    integrate = _regions.line if rule.dimension == 1 else _plane.plane
    columns = [integrate(rule, j) for j in range(len(rule.priors))]
    P = np.column_stack([column for column, _ in columns])
    error = float(np.array([e for _, e in columns]) @ rule.priors) * float(np.abs(loss).max())
    if not error <= ACCURATE * float(np.abs(loss).max()):
        if all(density.can_draw for density in rule.densities):
            return None
        raise ValueError(
            f"quadrature reached an error of {error:.1e} only. Give every density "
            "rvs(size, random_state) for Monte Carlo, or cdf, sf, ppf and isf if it is of one "
            "feature; and see that it integrates to one."
        )
    return Risk(float(rule.priors @ np.sum(loss * P, axis=0)), 0.0, "quadrature", error)


def monte_carlo(rule: Rule, loss: Array, draws: int, seed: int) -> Risk:
    """Mean over draws of the expected loss sum_j loss[d(x), j] p(j | x), a stratum a class.

    Averaging posteriors instead of counting errors leaves less variance, and sees errors too
    rare to be drawn.
    """
    if not all(density.can_draw for density in rule.densities):
        raise ValueError(
            "this risk needs Monte Carlo, and a density cannot draw. Give every density a "
            "method rvs(size, random_state), as scipy.stats has."
        )
    if draws < 2 * len(rule.priors):
        raise ValueError(f"draws is {draws}; give at least two for each class, better 10,000.")
    rng, each = np.random.default_rng(seed), draws // len(rule.priors)
    value, variance = 0.0, 0.0
    for p, density in zip(rule.priors.tolist(), rule.densities, strict=True):
        if p > 0.0:
            X = density.draw(each, rng)
            w = rule.weights(X)
            g = np.sum(loss[decisions.decide(w, rule.costs, rule.reject_cost)] * w, axis=1)
            value += p * float(g.mean())
            variance += p * p * float(g.var(ddof=1)) / each
    return Risk(value, float(np.sqrt(variance)), "monte carlo")
