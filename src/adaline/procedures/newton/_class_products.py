"""Sums of p_k p_m z z' over the rows, for each pair of K classes: the blocks of their Hessian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adaline.objective import Objective
from adaline.results import Array
from adaline.row_sums.objective_sums import has_pair_grams, pair_grams


def class_products(loss: Objective, P: Array) -> Iterator[tuple[int, int, Array]]:
    """k, m < k and the sum of omega p_k p_m z z', (q, q); P (n, K) are the probabilities.

    Where there is no bias, the last row and column are zero.
    """
    pairs = [(k, m) for k in range(P.shape[1]) for m in range(k)]
    root = np.sqrt(P * np.sqrt(loss.omega)[:, None] if len(loss.omega) else P)
    found: Any
    if loss.is_small or not has_pair_grams(loss.X):
        found = (loss.gram(root[:, k] * root[:, m]) for k, m in pairs)
    else:
        found = pair_grams(loss.X, root, loss.scale, loss.shift)
    for (k, m), G in zip(pairs, found, strict=True):
        if not loss.intercept:
            G[-1], G[:, -1] = 0.0, 0.0
        yield k, m, G
