"""Average loss of a Bayes decision rule if its model is true. Called by BayesClassifier.

    R = sum_j p_j sum_i loss[i, j] P(decide i | j),   reject in the last row of loss

A table of symbols is a sum. Two Gaussians of equal covariance have a closed form, because ln Lambda
is N(+-d^2/2, d^2), with d their Mahalanobis distance. On a line, the points where the decision
changes are found by bisection, and the probability of a region is a difference of distribution
functions. Other densities are drawn from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

from adaline import decisions
from adaline.estimators.densities import Gaussian, Table, draw, is_discrete, log_density
from adaline.results import Array

Decide = Callable[[Array], NDArray[np.intp]]  # p(j | x) (n, K) to decisions (n,)


@dataclass(frozen=True, slots=True)
class Risk:
    """An average over the model, and how far to trust it. `float(risk)` is its value.

    Attributes
    ----------
    value, standard_error : float
        The error is that of Monte Carlo; zero for the other methods.
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


def average_loss(
    family: Any, priors: Array, costs: Array, reject: float | None, loss: Array, how: Any
) -> Risk:
    """The average of loss[i, j] for decisions of least cost; `how` is the draws and their seed."""

    def decide(posterior: Array) -> NDArray[np.intp]:
        return decisions.decide(posterior, costs, reject)

    if isinstance(family, Table):
        joint = family.probabilities.T * priors
        joint = joint[joint.any(axis=1)]
        decided = decide(joint / joint.sum(axis=1, keepdims=True))
        return Risk(float(np.sum(loss[decided] * joint)), 0.0, "sum")
    if reject is None and (d := mahalanobis_distance(family)):
        losses = (loss[:2] * decision_probabilities(priors, costs, d)).sum(axis=0)
        return Risk(float(priors @ losses), 0.0, "closed form")
    lines = [distribution_on_line(source) for source in family]
    if all(lines):
        return Risk(quadrature(family, lines, priors, decide, loss), 0.0, "quadrature")
    return monte_carlo(family, priors, decide, loss, *how)


def posterior_of(family: tuple[Any, ...], priors: Array, X: Array) -> Array:
    """p(j | x), or zeros where no class has any density."""
    log_f = np.column_stack([log_density(source, X) for source in family])
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = np.where(priors > 0.0, log_f + np.log(priors), -np.inf)
    # An infinite density, at the edge of a support, wins; finite numbers compare.
    joint = np.minimum(joint, np.finfo(np.float64).max)
    top = joint.max(axis=1, keepdims=True)
    w = np.exp(joint - np.where(np.isneginf(top), 0.0, top))
    return np.asarray(w / np.maximum(w.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def gaussian_moments(f: Any) -> tuple[Array, Array] | None:
    """Mean (p,) and covariance (p, p) of a regular Gaussian density, None for any other."""
    if isinstance(f, Gaussian):
        return f.mean, f.covariance
    if getattr(getattr(f, "dist", None), "name", "") == "norm":
        return np.array([float(f.mean())]), np.array([[float(f.var())]])
    if type(f).__name__ == "multivariate_normal_frozen" and f.cov_object.rank == f.dim:
        return np.array(f.mean, dtype=np.float64), np.array(f.cov, dtype=np.float64)
    return None


def mahalanobis_distance(family: tuple[Any, ...]) -> float | None:
    """Of two Gaussian classes of equal covariance; None for others."""
    moments = [pair for source in family if (pair := gaussian_moments(source)) is not None]
    if len(family) != 2 or len(moments) != 2 or not np.array_equal(moments[0][1], moments[1][1]):
        return None
    (m1, C), (m2, _) = moments
    unit = np.sqrt(np.diagonal(C))  # so that columns of any size do not overflow
    difference = (m1 - m2) / unit
    return float(np.sqrt(difference @ np.linalg.solve(C / unit / unit[:, None], difference)))


def decision_probabilities(priors: Array, costs: Array, d: float) -> Array:
    """P(decide i | j) at distance d > 0: the first class is decided where ln Lambda > ln xi."""
    (p1, p2), ((c11, c12), (c21, c22)) = priors, costs
    with np.errstate(divide="ignore", invalid="ignore"):
        log_xi = np.log(p2 * (c12 - c22)) - np.log(p1 * (c21 - c11))
    # Where neither decision ever costs more, all are ties, and go to the first class.
    z = (-np.inf if np.isnan(log_xi) else log_xi) / d + np.array([-d / 2, d / 2])
    return np.array([ndtr(-z), ndtr(z)])


def distribution_on_line(source: Any) -> Any:
    """The distribution of a density of one feature; None without quantiles and cdf."""
    moments = gaussian_moments(source)
    if moments is not None and len(moments[0]) == 1:
        return norm(moments[0][0], np.sqrt(moments[1][0, 0]))
    return source if hasattr(source, "ppf") and not is_discrete(source) else None


def quadrature(family: Any, lines: list[Any], priors: Array, rule: Decide, loss: Array) -> float:
    """Split the line where the decision changes; a region between two quantiles may be missed."""
    # Decisions are compared between 1000 quantiles in the bulk of a density and 200 in each tail.
    shares = np.concatenate([np.geomspace(1e-300, 1e-3, 200), np.linspace(1e-3, 0.5, 500)])
    x = np.unique(np.concatenate([g(shares) for f in lines for g in (f.ppf, f.isf)]))
    x = x[np.isfinite(x)]

    def decide(x: Array) -> NDArray[np.intp]:
        return rule(posterior_of(family, priors, x[:, None]))

    decided = decide(x)
    changes = np.flatnonzero(np.diff(decided))
    left, right = x[changes], x[changes + 1]
    for _ in range(120 if len(changes) else 0):  # until the ends are neighbouring numbers
        middle = left + 0.5 * (right - left)
        same = decide(middle) == decided[changes]
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    a, b = np.append(-np.inf, right), np.append(right, np.inf)
    losses, total = loss[decided[np.append(changes, -1)]], 0.0
    for j, f in enumerate(lines):
        below = f.cdf(a)  # the smaller tail keeps its digits
        chances = np.where(below > 0.5, f.sf(a) - f.sf(b), f.cdf(b) - below)
        total += float(priors[j] * losses[:, j] @ chances)
    return total


def monte_carlo(
    family: Any, priors: Array, decide: Decide, loss: Array, draws: int, seed: int
) -> Risk:
    """Mean over draws of the expected loss sum_j loss[d(x), j] p(j | x), a stratum a class.

    Averaging posteriors instead of counting errors leaves less variance, and sees errors too
    rare to be drawn.
    """
    if draws < 2 * len(priors):
        raise ValueError(f"draws is {draws}; give at least two for each class, better 10,000.")
    rng, each = np.random.default_rng(seed), draws // len(priors)
    value, variance = 0.0, 0.0
    for p, source in zip(priors.tolist(), family, strict=True):
        if p > 0.0:
            posterior = posterior_of(family, priors, draw(source, each, rng))
            losses = np.sum(loss[decide(posterior)] * posterior, axis=1)
            value += p * float(losses.mean())
            variance += p * p * float(losses.var(ddof=1)) / each
    return Risk(value, float(np.sqrt(variance)), "monte carlo")
