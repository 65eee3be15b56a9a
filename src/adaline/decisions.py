"""From probabilities to decisions: Bayes' theorem, costs, thresholds and reject.

    *** costs[i, j] is the cost of DECIDING class i when class j is TRUE. ***

It is the lecture's c_ij: a row is a decision, a column is the truth. scikit-learn's confusion
matrix has the truth in its rows, so a cost matrix laid out like one must be transposed.

Letters: K classes, n samples, p_j prior of class j, f_j(x) its density, c_ij = costs[i, j],
Lambda(x) = f_1(x) / f_2(x) the likelihood ratio, xi the threshold it has to pass. The lecture
counts classes from 1: its classes 1 and 2 are the indices 0 and 1 here.

Ties go to the first of the tied classes. For two classes that is `classes_[0]`: the positive
class `classes_[1]` is predicted only where it is strictly better.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from adaline.parameters import NONE, NUMBER, ParameterError, finite, is_whole, numbers, shown
from adaline.results import Array

Decisions = NDArray[np.intp]

REJECT = -1
REJECT_LABEL = "reject"
SUM_TOLERANCE = 1e-4  # by so much float32 posteriors of many classes may miss their sum
REJECT_COST = NONE | NUMBER


def checked_priors(priors: ArrayLike, K: int) -> Array:
    """The K class probabilities p_j, checked and summing to exactly one.

    >>> checked_priors([0.4, 0.6], 2)
    array([0.4, 0.6])
    """
    _check_classes(K)
    p = numbers("priors", priors, f"{K} numbers")
    if p.shape != (K,):
        raise ParameterError(f"priors has shape {p.shape}; expected K = {K} numbers.")
    if not np.all(np.isfinite(p)) or np.any(p < 0.0):
        raise ParameterError(f"priors are {p.tolist()}; probabilities are finite and not negative.")
    total = float(p.sum())
    if abs(total - 1.0) > 1e-9:
        raise ValueError(
            f"priors {p.tolist()} sum to {total:.10g}; they must sum to one. "
            "If they are counts or weights, divide them by their sum."
        )
    return p / total


def checked_costs(costs: ArrayLike | None, K: int) -> Array:
    """The K by K costs, costs[i, j] of deciding i when j is true; None gives 1 - I.

    Gains are negative costs. Rejected are costs of a correct decision above those of every wrong
    one (gains given as costs), and costs for which every decision is the same.

    >>> checked_costs(None, 2)
    array([[0., 1.],
           [1., 0.]])
    """
    _check_classes(K)
    if costs is None:
        return 1.0 - np.eye(K)
    c = numbers("costs", costs, f"{K} by {K} numbers, such as [[0, 5], [1, 0]]")
    if c.shape != (K, K):
        raise ValueError(
            f"costs has shape {c.shape}; {K} classes need ({K}, {K}) for K = {K}, costs[i, j] of "
            "deciding class i when class j is true. Rejects cost reject_cost, not a row."
        )
    if not np.all(np.isfinite(c)):
        raise ValueError(f"costs are {c.tolist()}; every cost must be a finite number.")
    if np.all(c == c[0]):
        raise ValueError(
            f"costs are {c.tolist()}: all decisions cost the same, so there is nothing to decide."
        )
    right = np.diagonal(c)
    most_wrong = np.where(np.eye(K, dtype=bool), -np.inf, c).max(axis=0)
    absurd = np.flatnonzero(right > most_wrong)
    if absurd.size:
        j = int(absurd[0])
        raise ValueError(
            f"costs make no sense: when class {j} is true, deciding {j} costs {right[j]:g} and "
            "every wrong decision less; give gains as negative costs."
        )
    return c


def checked_reject_cost(reject_cost: float | None) -> float | None:
    """The cost of rejecting a sample, a number; None for never."""
    REJECT_COST("reject_cost", reject_cost)
    return None if reject_cost is None else float(reject_cost)


def log_posterior(log_density: ArrayLike, priors: ArrayLike) -> Array:
    """ln p(j | x) = ln f_j(x) + ln p_j - ln sum_k f_k(x) p_k, from logarithms throughout.

    A sample that no class can produce (density zero in every class of positive prior) has no
    posterior, and neither has one where two classes have infinite density: both are refused.

    Parameters
    ----------
    log_density : array of shape (n, K)
        ln f_j(x) of each sample.
    priors : array of shape (K,)

    Examples
    --------
    >>> np.exp(log_posterior(np.log([[0.75, 0.25]]), [0.4, 0.6])).round(4)
    array([[0.6667, 0.3333]])
    """
    f = numbers("log_density", log_density)
    q = numbers("priors", priors)
    if f.ndim != 2 or not f.shape[1] or q.shape != f.shape[1:]:
        raise ParameterError(
            f"log_density has shape {f.shape} and priors has shape {q.shape}; expected (n, K), one "
            "row a sample and one column a class, and (K,)."
        )
    p = checked_priors(priors, f.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = np.where(p > 0.0, f + np.log(p), -np.inf)
    missing = np.isnan(joint).any(axis=1)
    _refuse(missing, "has a log-density that is not a number in log_density", "Check it")
    infinite = np.isposinf(joint)
    _refuse(infinite.sum(axis=1) > 1, "has infinite density in two classes", "Leave it out")
    joint[infinite.any(axis=1)] = np.where(infinite, 0.0, -np.inf)[infinite.any(axis=1)]
    _refuse(
        np.isneginf(joint).all(axis=1),
        "has density zero in every class, so its posterior is undefined",
        "Leave it out, or give a class a density that reaches it",
    )
    return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))


def posterior(log_density: ArrayLike, priors: ArrayLike) -> Array:
    """Bayes' theorem, p(j | x) = f_j(x) p_j / sum_k f_k(x) p_k; see log_posterior.

    >>> posterior(np.log([[0.75, 0.25]]), [0.4, 0.6]).round(4)
    array([[0.6667, 0.3333]])
    """
    p = np.exp(log_posterior(log_density, priors))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def expected_costs(posterior: ArrayLike, costs: ArrayLike) -> Array:
    """Cost to expect of each decision: R_i(x) = sum_j costs[i, j] p(j | x), shape (n, K).

    >>> expected_costs([[0.9, 0.1]], [[0, 100], [1, 0]])
    array([[10. ,  0.9]])
    """
    P, c = finite("posterior", posterior), finite("costs", costs)
    if c.ndim != 2 or not c.size:
        raise ParameterError(f"costs has shape {c.shape}; expected (K, K), one row a decision.")
    if P.ndim != 2 or P.shape[1] != c.shape[1]:
        raise ParameterError(f"posterior has shape {P.shape} and costs {c.shape}; expected one K.")
    if P.size and (P.min() < -SUM_TOLERANCE or P.sum(axis=1).max() > 1.0 + SUM_TOLERANCE):
        raise ParameterError("posterior has rows that are negative, or sum to more than one.")
    return np.asarray(P @ c.T)


def decide(posterior: ArrayLike, costs: ArrayLike, reject_cost: float | None = None) -> Decisions:
    """Index of the decision of least expected cost, or -1 where even that exceeds reject_cost.

    Of tied decisions the first is taken; at exactly reject_cost a class is decided.

    >>> decide([[0.9, 0.1], [0.5, 0.5]], 1 - np.eye(2), reject_cost=0.2)
    array([ 0, -1])
    """
    reject_cost = checked_reject_cost(reject_cost)
    R = expected_costs(posterior, costs)
    limit = np.inf if reject_cost is None else reject_cost
    return np.where(R.min(axis=1) > limit, REJECT, R.argmin(axis=1))


def labels_of(
    decisions: Decisions, classes: NDArray[Any], reject_label: str | None = None
) -> NDArray[Any]:
    """Class labels of decisions, and reject_label where the decision is -1.

    With a reject label it is always an array of objects: a dtype must not depend on the data.

    >>> labels_of(np.array([1, -1]), np.array([10, 20]), "reject")
    array([20, 'reject'], dtype=object)
    """
    if reject_label is None:
        return np.asarray(classes[decisions])
    if any(label == reject_label for label in classes.tolist()):
        raise ValueError(f"a class is called {reject_label!r}, the answer for rejected samples.")
    labels = classes.astype(object)[decisions]
    labels[decisions == REJECT] = reject_label
    return np.asarray(labels)


def log_likelihood_ratio(log_density_1: ArrayLike, log_density_2: ArrayLike) -> Array:
    """ln Lambda(x) = ln f_1(x) - ln f_2(x); +-inf where one density is zero.

    >>> log_likelihood_ratio([-1.0, -2.0], [-3.0, -np.inf])
    array([ 2., inf])
    """
    f, g = numbers("log_density_1", log_density_1), numbers("log_density_2", log_density_2)
    if f.shape != g.shape and f.ndim and g.ndim:
        raise ParameterError(f"log_density_1 has shape {f.shape} and log_density_2 {g.shape}.")
    with np.errstate(invalid="ignore"):
        ratio = f - g
    _refuse(
        np.isnan(np.atleast_1d(ratio)),
        "has both densities zero, both infinite, or not a number (in log_density_1 or "
        "log_density_2): their ratio is undefined",
        "Leave it out",
    )
    return np.asarray(ratio)


def likelihood_ratio(log_density_1: ArrayLike, log_density_2: ArrayLike) -> Array:
    """Lambda(x) = f_1(x) / f_2(x), from log-densities; inf where it is beyond float64.

    >>> likelihood_ratio(np.log([0.75]), np.log([0.25])).round(12)
    array([3.])
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_likelihood_ratio(log_density_1, log_density_2)))


def threshold(priors: ArrayLike, costs: ArrayLike | None = None) -> float:
    """xi = p2 (c12 - c22) / (p1 (c21 - c11)): decide class 1 where Lambda(x) > xi.

    Classes 1 and 2 of the lecture are the indices 0 and 1: c12 is costs[0, 1], the cost of
    deciding the first class when the second is true. xi is inf when p1 = 0.

    >>> round(threshold([0.4, 0.6]), 12)
    1.5
    >>> round(threshold([0.5, 0.5], [[0, 10], [1, 0]]), 12)
    10.0
    """
    p1, p2 = checked_priors(priors, 2)
    (c11, c12), (c21, c22) = checked_costs(costs, 2)
    if c21 <= c11 or c12 <= c22:
        raise ValueError(
            f"the threshold needs c21 > c11 and c12 > c22: being wrong must cost more than being "
            f"right; here c11 = {c11:g}, c12 = {c12:g}, c21 = {c21:g}, c22 = {c22:g}. "
            "costs[i, j] is the cost of deciding i when j is true."
        )
    return math.inf if p1 == 0.0 else float(p2 * (c12 - c22) / (p1 * (c21 - c11)))


def _check_classes(K: Any) -> None:
    if not is_whole(K) or K < 1:
        raise ParameterError(f"K is {shown(K)}; expected the number of classes, 1 or more.")


def _refuse(bad: Any, what: str, advice: str) -> None:
    """Raise for the first sample marked bad."""
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(f"sample {first} {what} ({int(bad.sum())} such in all). {advice}.")
