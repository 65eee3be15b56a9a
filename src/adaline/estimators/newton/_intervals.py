"""Intervals of probabilities and of means, from the covariance of the weights (normal theory)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from adaline.procedures.inference import bounds_of_logits, errors_of_values
from adaline.results import Array


def of_probabilities(model: Any, X: Any, level: float) -> tuple[Array, Array]:
    """Low and high (n, K), such that low of a class and high of another add up to 1 at most."""
    C, centre = _covariance(model)
    X = model._rows(X, reset=False)
    z = ndtri((1 + level) / 2)
    if len(model.classes_) == 2:
        v = model._values(X)[:, 0]
        wide = z * errors_of_values(X, C[0, :, 0], centre)
        low, high = expit(v - wide), expit(v + wide)
        return np.column_stack([expit(-v - wide), low]), np.column_stack([expit(wide - v), high])
    V = np.asarray(model._values(X), dtype=np.float64)
    low, high = bounds_of_logits(X, V, C, centre, float(z))
    return expit(low), expit(high)


def of_means(model: Any, X: Any, level: float) -> tuple[Array, Array]:
    """Low and high of exp(w'x + b), (n,)."""
    C, centre = _covariance(model)
    X = model._rows(X, reset=False)
    v = model._values(X)[:, 0]
    wide = ndtri((1 + level) / 2) * errors_of_values(X, C[0, :, 0], centre)
    with np.errstate(over="ignore"):
        return np.exp(v - wide), np.exp(v + wide)


def _covariance(model: Any) -> tuple[Array, Array]:
    """(K, p + 1, K, p + 1) of the weights, and the row it is about, where the fit kept them."""
    model._refuse_written("intervals are those of the likeliest weights")
    known = model._information
    if known is None or known.covariance is None or known.centre is None:
        raise ValueError(
            "this fit kept no covariance of its weights, which intervals need: its rows were read "
            "in blocks, or its columns are very many or dependent, or it is of an older version. "
            "Fit again, in memory and with fewer columns."
        )
    return known.covariance, known.centre
