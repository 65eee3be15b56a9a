"""Standard errors of v = W x + b at given rows, from the covariance C of all weights.

    var(v_k) = z' C_kk z,    z = (x - centre, 1)

With K classes, p_k = 1 / (1 + sum_{j != k} exp(v_j - v_k)) has the bounds where every contrast
d_jk = v_j - v_k is at an end of its own interval, u_jk = d_jk + z sqrt(var(d_jk)):

    low_k = 1 / (1 + sum_j exp(u_jk)),    high_k = 1 / (1 + sum_j exp(-u_kj))

No two of them contradict each other: low_k <= 1 / (1 + exp(u_jk)) and
high_j <= 1 / (1 + exp(-u_jk)), so that low_k + high_j <= 1. They hold the delta method's interval
of log-odds where that is right, since the error of a weighted mean of contrasts is at most the
weighted mean of their errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from adaline.results import Array
from adaline.tiles import is_sparse

_TILE = 4096  # rows at a time: K^2 numbers are made for each


def errors_of_values(X: Any, C: Array, centre: Array) -> Array:
    """Standard errors (n,) of w'x + b; C (p + 1, p + 1) is of w and of the value at the centre."""
    errors = np.empty(X.shape[0])
    for i in range(0, len(errors), _TILE):
        Z = _centred(X[i : i + _TILE], centre)
        errors[i : i + _TILE] = np.sqrt(_products(Z, C))
    return errors


def bounds_of_logits(X: Any, V: Array, C: Array, centre: Array, z: float) -> tuple[Array, Array]:
    """Low and high (n, K) of the log-odds of each class against the others together."""
    low, high = np.empty(V.shape), np.empty(V.shape)
    K, q = V.shape[1], len(centre) + 1
    none = np.where(np.eye(K, dtype=bool), -np.inf, 0.0)  # a class is no rival of itself
    for i in range(0, len(V), _TILE):
        Z, v = _centred(X[i : i + _TILE], centre), V[i : i + _TILE]
        S = np.empty((len(Z), K, K))
        for k in range(K):
            S[:, k] = np.einsum("nlj,nj->nl", (Z @ C[k].reshape(q, -1)).reshape(-1, K, q), Z)
        own = np.einsum("nkk->nk", S)
        wide = z * np.sqrt(np.maximum(own[:, :, None] + own[:, None, :] - 2 * S, 0.0))
        d = v[:, None, :] - v[:, :, None] + none
        low[i : i + _TILE] = -logsumexp(d + wide, axis=2)
        high[i : i + _TILE] = -logsumexp(d - wide, axis=2)
    return low, high


def _centred(X: Any, centre: Array) -> Array:
    Z = np.ones((X.shape[0], len(centre) + 1))
    Z[:, :-1] = (X.toarray() if is_sparse(X) else X) - centre
    return Z


def _products(Z: Array, C: Array) -> Array:
    """z' C z for each row; C is a covariance, so that less than zero is rounding."""
    return np.asarray(np.maximum(np.einsum("ij,ij->i", Z @ C, Z), 0.0))
