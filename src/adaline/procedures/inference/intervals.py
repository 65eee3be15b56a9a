"""Standard errors of v = W x + b at given rows, from the covariance C of all weights.

    var(v_k) = z' C_kk z,    z = (x - centre, 1)

and of the log-odds of class k among K, l_k = v_k - ln sum_{j != k} exp(v_j), whose gradient with
respect to the values v is 1 at k and -p_j / (1 - p_k) at the others.
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


def errors_of_logits(X: Any, V: Array, C: Array, centre: Array) -> tuple[Array, Array]:
    """The log-odds (n, K) of each class against the others together, and their errors."""
    n, K = V.shape
    logits, errors = np.empty((n, K)), np.empty((n, K))
    for i in range(0, n, _TILE):
        Z, v = _centred(X[i : i + _TILE], centre), V[i : i + _TILE]
        for k in range(K):
            away = logsumexp(np.delete(v, k, axis=1), axis=1)
            g = -np.exp(v - away[:, None])
            g[:, k] = 1.0
            logits[i : i + _TILE, k] = v[:, k] - away
            wide = (g[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
            flat = C.reshape(wide.shape[1], -1)
            errors[i : i + _TILE, k] = np.sqrt(_products(wide, flat))
    return logits, errors


def _centred(X: Any, centre: Array) -> Array:
    Z = np.ones((X.shape[0], len(centre) + 1))
    Z[:, :-1] = (X.toarray() if is_sparse(X) else X) - centre
    return Z


def _products(Z: Array, C: Array) -> Array:
    """z' C z for each row; C is a covariance, so that less than zero is rounding."""
    return np.asarray(np.maximum(np.einsum("ij,ij->i", Z @ C, Z), 0.0))
