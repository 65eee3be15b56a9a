"""Posteriors of classes, from the scores of each row."""

from __future__ import annotations

from functools import reduce

import numpy as np

from adaline.results import Array

_FAR = 700.0  # apart, scores of two classes: exp is within the range of float64 up to here
_TOO_FAR = (
    "a row is so far from every class that it has no posterior; all its densities are zero, and "
    "its mahalanobis(X) distances infinite. Leave it out."
)


def posterior(scores: Array) -> Array:
    """p(k | x) = exp(score_k) / sum_j exp(score_j): the priors are in the scores already."""
    if scores.shape[1] == 2:
        return _of_two(scores)
    p = np.exp(_below_best(scores))
    return np.asarray(p / _over_classes(np.add, p))


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


def log_posterior(scores: Array) -> Array:
    v = _below_best(scores)
    return np.asarray(v - np.log(_over_classes(np.add, np.exp(v))))


def _below_best(scores: Array) -> Array:
    """Scores less the largest of their row."""
    best = _over_classes(np.maximum, scores)
    if not np.isfinite(best).all():
        raise ValueError(_TOO_FAR)
    with np.errstate(over="ignore"):  # -inf, which has no probability, is right
        return np.asarray(scores - best)


def comparable(scores: Array) -> Array:
    """The scores, if every row has one above -inf."""
    finite = np.isfinite(scores).all()
    if not finite and not (scores.max(axis=1) > -np.inf).all():
        raise ValueError(_TOO_FAR)
    return scores


def _over_classes(operation: np.ufunc, A: Array) -> Array:
    """The sum or maximum of each row, (n, 1); of few classes much faster column by column."""
    if A.shape[1] >= 8:  # from here on numpy adds in another order
        return np.asarray(operation.reduce(A, axis=1, keepdims=True))
    return np.asarray(reduce(operation, A.T))[:, None]
