"""From scores of K classes to their probabilities, in as few new arrays as may be.

To clear a new array of half a megabyte takes the system longer than numpy takes to subtract: of
three classes and more, probabilities take the place of the scores.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from adaline.results import Array

_FAR = 700.0  # apart, scores of two classes: exp is within the range of float64 up to here
_ADDED, _COMPARED = 8, 32  # columns from which numpy adds in another order, and is as quick
_TOO_FAR = (
    "a row is so far from every class that it has no posterior; all its densities are zero, and "
    "its mahalanobis(X) distances infinite. Leave it out."
)


def posterior(scores: Array) -> Array:
    """p(k | x) = exp(score_k) / sum_j exp(score_j): the priors are in the scores already."""
    if scores.shape[1] == 2:
        return _of_two(scores)
    return _normalised(_below_best(scores))


def log_posterior(scores: Array) -> Array:
    """The logarithms of `posterior`."""
    v = _below_best(scores)
    return np.asarray(v - np.log(_over_classes(np.add, np.exp(v))))


def comparable(scores: Array) -> Array:
    """The scores, if every row has one above -inf."""
    if not np.isfinite(scores).all() and not (scores.max(axis=1) > -np.inf).all():
        raise ValueError(_TOO_FAR)
    return scores


def softmax(V: Array) -> Array:
    """exp(v_k) / sum_j exp(v_j) of each row of V (n, K), which stays as it is."""
    with np.errstate(over="ignore"):  # a difference beyond the range: the smaller one is zero
        return _normalised(V - _over_classes(np.maximum, V))


def _of_two(scores: Array) -> Array:
    """1 / (1 + e) and e / (1 + e), where e = exp(-v): one exponential a row."""
    with np.errstate(over="ignore", invalid="ignore"):
        v = scores[:, 1] - scores[:, 0]
        e = np.exp(-v)
        second = 1.0 / (1.0 + e)
        p = np.stack((e * second, second), axis=1)
    if not np.abs(v).max() < _FAR:
        _replace_far(p, v, scores)
    return p


def _replace_far(p: Array, v: Array, scores: Array) -> None:
    """The same for rows where e may leave the range of float64, or v is infinite."""
    far = ~(np.abs(v) < _FAR)
    v = v[far]
    if np.isnan(v).any():
        _below_best(scores[far])  # refuses
    e = np.exp(-np.abs(v))
    both = np.stack((e / (1.0 + e), 1.0 / (1.0 + e)), axis=1)
    p[far] = np.where(v[:, None] > 0.0, both, both[:, ::-1])


def _below_best(scores: Array) -> Array:
    """Scores less the largest of their row, in their place."""
    best = _over_classes(np.maximum, scores)
    if not np.isfinite(best).all():
        raise ValueError(_TOO_FAR)
    with np.errstate(over="ignore"):  # -inf, which has no probability, is right
        scores -= best
    return scores


def _normalised(below: Array) -> Array:
    """exp(v_k) / sum_j exp(v_j) of v none of which is above zero, in their place."""
    p = np.exp(below, out=below)
    p /= _over_classes(np.add, p)
    return p


def _over_classes(operation: np.ufunc, A: Array) -> Array:
    """The sum or maximum of each row, (n, 1); of few classes much faster column by column."""
    if A.shape[1] >= (_ADDED if operation is np.add else _COMPARED):
        return np.asarray(operation.reduce(A, axis=1, keepdims=True))
    return np.asarray(reduce(operation, A.T))[:, None]
