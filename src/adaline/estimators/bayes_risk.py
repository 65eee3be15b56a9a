"""Average loss of a Bayes decision rule if its model is true. Called by BayesClassifier.

    R = sum_j p_j sum_i loss[i, j] P(decide i | j),   reject in the last row of loss

A table of symbols is a sum. Two Gaussians of equal covariance have a closed form, because ln Lambda
is N(+-d^2/2, d^2), with d their Mahalanobis distance. On a line, the points where the decision
changes are found by bisection, and the probability of a region is a difference of distribution
functions. Other densities are drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

from adaline import decisions
from adaline.estimators.densities import Density, Gaussian, Table
from adaline.results import Array

# Quantiles between which decisions are compared: 1000 in the bulk of a density, 200 in each tail.
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

    def decide(self, posterior: Array) -> NDArray[np.intp]:
        return decisions.decide(posterior, self.costs, self.reject_cost)

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


def average_loss(model: Table | tuple[Density, ...], rule: Rule, draws: int, seed: int) -> Risk:
    """The average of the rule's loss over the model."""
    if isinstance(model, Table):
        joint = model.probabilities.T * rule.priors
        joint = joint[joint.any(axis=1)]
        decided = rule.decide(joint / joint.sum(axis=1, keepdims=True))
        return Risk(float(np.sum(rule.loss[decided] * joint)), 0.0, "sum")
    d = mahalanobis_distance(rule.densities)
    if d == 0.0:  # nothing is observed: one decision for all
        loss = rule.loss[rule.decide(rule.priors[None, :])[0]] @ rule.priors
        return Risk(float(loss), 0.0, "closed form")
    if d is not None and rule.reject_cost is None:
        losses = (rule.loss[:2] * decision_probabilities(rule, d)).sum(axis=0)
        return Risk(float(rule.priors @ losses), 0.0, "closed form")
    if d is not None:  # only ln Lambda matters, and it is on a line
        lines: list[Any] = [norm(d * d / 2, d), norm(-d * d / 2, d)]
        rule = replace(rule, densities=tuple(Density.of(f, k) for k, f in enumerate(lines)))
    else:
        lines = [on_line(density) for density in rule.densities]
    if all(lines):
        return Risk(quadrature(rule, lines), 0.0, "quadrature")
    return monte_carlo(rule, draws, seed)


def gaussian_moments(density: Density) -> tuple[Array, Array] | None:
    """Mean (p,) and covariance (p, p) of a regular Gaussian density, None for any other."""
    f = density.source
    if isinstance(f, Gaussian):
        return f.mean, f.covariance
    if getattr(getattr(f, "dist", None), "name", "") == "norm":
        return np.array([float(f.mean())]), np.array([[float(f.var())]])
    if type(f).__name__ == "multivariate_normal_frozen" and f.cov_object.rank == f.dim:
        return np.array(f.mean, dtype=np.float64), np.array(f.cov, dtype=np.float64)
    return None


def mahalanobis_distance(densities: tuple[Density, ...]) -> float | None:
    """Of two Gaussian classes of equal covariance; None for others."""
    moments = [gaussian_moments(density) for density in densities]
    if len(moments) != 2 or moments[0] is None or moments[1] is None:
        return None
    (m1, C1), (m2, C2) = moments[0], moments[1]
    if not np.array_equal(C1, C2):
        return None
    unit = np.sqrt(np.diagonal(C1))
    difference = (m1 - m2) / unit
    return float(np.sqrt(difference @ np.linalg.solve(C1 / unit / unit[:, None], difference)))


def decision_probabilities(rule: Rule, d: float) -> Array:
    """P(decide i | j) at distance d > 0: the first class is decided where ln Lambda > ln xi."""
    (p1, p2), ((c11, c12), (c21, c22)) = rule.priors, rule.costs
    with np.errstate(divide="ignore", invalid="ignore"):
        log_xi = np.log(p2 * (c12 - c22)) - np.log(p1 * (c21 - c11))
    # Where neither decision ever costs more, all are ties, and go to the first class.
    z = (-np.inf if np.isnan(log_xi) else log_xi) / d + np.array([-d / 2, d / 2])
    return np.array([ndtr(-z), ndtr(z)])


def on_line(density: Density) -> Any:
    """The distribution of a density of one feature; None without quantiles and cdf."""
    moments, source = gaussian_moments(density), density.source
    if moments is not None and len(moments[0]) == 1:
        return norm(moments[0][0], np.sqrt(moments[1][0, 0]))
    quantiles = hasattr(source, "ppf") or hasattr(source, "icdf")
    return source if quantiles and not density.discrete else None


def quadrature(rule: Rule, lines: list[Any]) -> float:
    """Split the line where the decision changes; a region narrower than all steps may be missed."""
    # The new distributions of scipy have other names.
    new = ["icdf", "iccdf", "cdf", "ccdf"], ["ppf", "isf", "cdf", "sf"]
    functions = [[getattr(f, name) for name in new[hasattr(f, "ppf")]] for f in lines]
    points = [quantile(QUANTILES) for both in functions for quantile in both[:2]]
    for f in lines:
        ends = np.array(f.support() if hasattr(f, "support") else [], dtype=np.float64)
        ends = ends[np.isfinite(ends)]
        points += [ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf)]
    x = np.concatenate(points)
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
    losses, total = rule.loss[decided[np.append(changes, -1)]], 0.0
    for j, (_, _, cdf, sf) in enumerate(functions):
        below = cdf(a)  # the smaller tail keeps its digits
        chances = np.where(below > 0.5, sf(a) - sf(b), cdf(b) - below)
        total += float(rule.priors[j] * losses[:, j] @ chances)
    return total


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
