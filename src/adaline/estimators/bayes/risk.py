"""Average loss of a Bayes decision rule if its model is true. Called by bayes.py.

    R = sum_j p_j sum_i loss[i, j] P(decide i | j),   reject in the last row of loss

Two Gaussians of equal covariance have a closed form, because ln Lambda is N(+-d^2/2, d^2), with d
their Mahalanobis distance. On a line, regions of one decision lie between points found by
bisection, and the probability of a region is a difference of distribution functions. Other
densities are drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

from adaline import decisions
from adaline.estimators.bayes.densities import Density, Table
from adaline.estimators.bayes.learned_densities import Gaussian
from adaline.results import Array

# Quantiles from which regions are looked for: 1000 in the bulk of a density and 200 in each tail.
QUANTILES = np.concatenate([np.geomspace(1e-300, 1e-3, 200), np.linspace(1e-3, 0.5, 500)])
HALVINGS = 120  # of an interval, until its ends are neighbouring numbers


@dataclass(frozen=True, slots=True)
class Risk:
    """An average over the model, and how far to trust it. `float(risk)` is its value.

    Attributes
    ----------
    value : float
    standard_error : float
        Of Monte Carlo; zero for the other methods.
    method : {"closed form", "sum", "quadrature", "monte carlo"}
    """

    value: float
    standard_error: float
    method: Literal["closed form", "sum", "quadrature", "monte carlo"]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        error = f" +- {self.standard_error:.1e}" if self.method == "monte carlo" else ""
        return f"{self.value:.6g}{error} ({self.method})"


@dataclass(frozen=True)
class Rule:
    """Decisions of least expected cost, and the loss that is averaged."""

    densities: tuple[Density, ...]
    priors: Array
    costs: Array
    reject_cost: float | None
    loss: Array

    def posterior(self, X: Array) -> Array:
        """p(j | x), or zeros where no class has any density."""
        log_f = np.column_stack([density.log(X) for density in self.densities])
        with np.errstate(divide="ignore", invalid="ignore"):
            joint = np.where(self.priors > 0.0, log_f + np.log(self.priors), -np.inf)
        # An infinite density, at the edge of a support, wins; finite numbers compare.
        joint = np.minimum(joint, np.finfo(np.float64).max)
        top = joint.max(axis=1, keepdims=True)
        w = np.exp(joint - np.where(np.isneginf(top), 0.0, top))
        return np.asarray(w / np.maximum(w.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))

    def decide(self, posterior: Array) -> NDArray[np.intp]:
        return decisions.decide(posterior, self.costs, self.reject_cost)


class Line:
    """Distribution function, quantiles and ends of the support of a density of one feature."""

    def __init__(self, source: Any):
        new = not hasattr(source, "ppf")  # the new distributions of scipy have other names
        names = ("icdf", "iccdf", "cdf", "ccdf") if new else ("ppf", "isf", "cdf", "sf")
        self.quantile, self.upper_quantile, self._cdf, self._sf = (
            getattr(source, name) for name in names
        )
        ends = np.array(source.support() if hasattr(source, "support") else [], dtype=np.float64)
        ends = ends[np.isfinite(ends)]
        self.ends = np.concatenate([ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf)])

    @classmethod
    def of(cls, density: Density) -> Line | None:
        """None for densities of several features, of counts, or without these functions."""
        moments, source = moments_if_gaussian(density), density.source
        if moments is not None and len(moments[0]) == 1:
            source = norm(moments[0][0], np.sqrt(moments[1][0, 0]))
        try:
            return None if density.discrete else cls(source)
        except AttributeError:
            return None

    def chance(self, a: Array, b: Array) -> Array:
        """P(a < x <= b); the smaller tail keeps its digits."""
        below = self._cdf(a)
        return np.asarray(np.where(below > 0.5, self._sf(a) - self._sf(b), self._cdf(b) - below))


def average_loss(model: Table | tuple[Density, ...], rule: Rule, draws: int, seed: int) -> Risk:
    """The average of the rule's loss over the model."""
    if isinstance(model, Table):
        joint = model.probabilities.T * rule.priors
        joint = joint[joint.any(axis=1)]
        decided = rule.decide(joint / joint.sum(axis=1, keepdims=True))
        return Risk(float(np.sum(rule.loss[decided] * joint)), 0.0, "sum")
    d = separation(rule.densities)
    if d == 0.0:  # nothing to see: one decision for all
        loss = rule.loss[rule.decide(rule.priors[None, :])[0]] @ rule.priors
        return Risk(float(loss), 0.0, "closed form")
    if d is not None and rule.reject_cost is None:
        losses = (rule.loss[:2] * chances(rule, d)).sum(axis=0)
        return Risk(float(rule.priors @ losses), 0.0, "closed form")
    if d is not None:  # only ln Lambda matters, and it is on a line
        classes = norm(d * d / 2, d), norm(-d * d / 2, d)
        rule = replace(rule, densities=tuple(Density.of(f, k) for k, f in enumerate(classes)))
    lines = [line for line in map(Line.of, rule.densities) if line is not None]
    if len(lines) == len(rule.densities):
        return Risk(on_a_line(rule, lines), 0.0, "quadrature")
    return monte_carlo(rule, draws, seed)


def moments_if_gaussian(density: Density) -> tuple[Array, Array] | None:
    """Mean (p,) and covariance (p, p) of a regular Gaussian density, None for any other."""
    f = density.source
    if isinstance(f, Gaussian):
        return f.mean, f.covariance
    if getattr(getattr(f, "dist", None), "name", "") == "norm":
        return np.array([float(f.mean())]), np.array([[float(f.var())]])
    if type(f).__name__ == "multivariate_normal_frozen" and f.cov_object.rank == f.dim:
        return np.array(f.mean, dtype=np.float64), np.array(f.cov, dtype=np.float64)
    return None


def separation(densities: tuple[Density, ...]) -> float | None:
    """Mahalanobis distance of two Gaussian classes of equal covariance; None for others."""
    moments = [moments_if_gaussian(density) for density in densities]
    if len(moments) != 2 or moments[0] is None or moments[1] is None:
        return None
    (m1, C1), (m2, C2) = moments[0], moments[1]
    if not np.array_equal(C1, C2):
        return None
    unit = np.sqrt(np.diagonal(C1))
    difference = (m1 - m2) / unit
    return float(np.sqrt(difference @ np.linalg.solve(C1 / unit / unit[:, None], difference)))


def chances(rule: Rule, d: float) -> Array:
    """P(decide i | j) at distance d > 0: the first class is decided where ln Lambda > ln xi."""
    (p1, p2), ((c11, c12), (c21, c22)) = rule.priors, rule.costs
    with np.errstate(divide="ignore", invalid="ignore"):
        log_xi = np.log(p2 * (c12 - c22)) - np.log(p1 * (c21 - c11))
    # Where neither decision ever costs more, all are ties, and go to the first class.
    z = (-np.inf if np.isnan(log_xi) else log_xi) / d + np.array([-d / 2, d / 2])
    return np.array([ndtr(-z), ndtr(z)])


def on_a_line(rule: Rule, lines: list[Line]) -> float:
    """Find where the decision changes; a region narrower than all intervals may be missed."""
    points = [line.quantile(QUANTILES) for line in lines]
    points += [line.upper_quantile(QUANTILES) for line in lines]
    x = np.concatenate([*points, *(line.ends for line in lines)])
    x = x[np.isfinite(x)]
    x = np.unique(np.concatenate([x, np.linspace(x.min(), x.max(), len(QUANTILES))]))

    def decide(x: Array) -> NDArray[np.intp]:
        return rule.decide(rule.posterior(x[:, None]))

    decided = decide(x)
    changes = np.flatnonzero(np.diff(decided))
    left, right = x[changes], x[changes + 1]
    for _ in range(HALVINGS if len(changes) else 0):
        middle = left + 0.5 * (right - left)
        same = decide(middle) == decided[changes]
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    a, b = np.append(-np.inf, right), np.append(right, np.inf)
    losses = rule.loss[decided[np.append(changes, -1)]]
    return float(sum(p * losses[:, j] @ lines[j].chance(a, b) for j, p in enumerate(rule.priors)))


def monte_carlo(rule: Rule, draws: int, seed: int) -> Risk:
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
            posterior = rule.posterior(density.draw(each, rng))
            losses = np.sum(rule.loss[rule.decide(posterior)] * posterior, axis=1)
            value += p * float(losses.mean())
            variance += p * p * float(losses.var(ddof=1)) / each
    return Risk(value, float(np.sqrt(variance)), "monte carlo")
