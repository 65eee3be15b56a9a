"""From scores of K classes to probabilities. Called by Gaussian and logistic classifiers."""

from __future__ import annotations

from functools import reduce

import numpy as np

from adaline.results import Array

FEW_CLASSES = 8  # below, operations column by column are many times as fast as along short rows
TOO_FAR = (
    "a row is so far from every class that it has no posterior; all its densities are zero, and "
    "its mahalanobis(X) distances infinite. Leave it out."
)


def posterior(scores: Array) -> Array:
    """p(k | x) = exp(score_k) / sum_j exp(score_j): the priors are in the scores already."""
    return normalised(below_best(scores))


def log_posterior(scores: Array) -> Array:
    """The logarithms of `posterior`."""
    v = below_best(scores)
    return np.asarray(v - np.log(over_classes(np.add, np.exp(v))))


def below_best(scores: Array) -> Array:
    """Scores less the largest of their row."""
    best = over_classes(np.maximum, scores)
    if not np.isfinite(best).all():
        raise ValueError(TOO_FAR)
    with np.errstate(over="ignore"):  # -inf, which has no probability, is right
        return np.asarray(scores - best)


def comparable(scores: Array) -> Array:
    """The scores, if every row has one above -inf."""
    if not np.isfinite(scores).all() and not (scores.max(axis=1) > -np.inf).all():
        raise ValueError(TOO_FAR)
    return scores


def softmax(V: Array) -> Array:
    """exp(v_k) / sum_j exp(v_j) of each row of V (n, K)."""
    with np.errstate(over="ignore"):  # a difference beyond the range: the smaller one is zero
        return normalised(V - over_classes(np.maximum, V))


def normalised(below: Array) -> Array:
    """exp(v_k) / sum_j exp(v_j) of v none of which is above zero, in their place."""
    p = np.exp(below, out=below)
    p /= over_classes(np.add, p)
    return p


def over_classes(operation: np.ufunc, A: Array) -> Array:
    """The sum or maximum of each row, (n, 1)."""
    if A.shape[1] >= FEW_CLASSES:
        return np.asarray(operation.reduce(A, axis=1, keepdims=True))
    return np.asarray(reduce(operation, A.T))[:, None]
