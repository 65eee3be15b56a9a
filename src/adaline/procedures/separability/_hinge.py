"""Separating weights for many columns: least squares on the rows that still need it.

Minimises half of sum max(0, 1 - y'w)^2 by Newton's method; a step is a least squares problem on the
rows with y'w < 1, solved by conjugate gradients (LSQR), so nothing is ever written out densely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import lsqr

from adaline._jit.working_time import working_time
from adaline.results import Array

_STEPS = 40


def separating(A: Any, deadline: float | None) -> tuple[Array, float] | None:
    """w with A w > 0 and the least of A w, both for |w| = 1; None where none was found."""
    m, k = A.shape
    w, v = np.zeros(k), np.zeros(m)
    value = 0.5 * m
    for step in range(_STEPS):
        if deadline is not None and working_time() > deadline:
            return None
        wrong = np.flatnonzero(v < 1.0)
        # Early steps need no digits, and later ones need few: the rows change from step to step.
        most = min(2 * k, 30 + 5 * step)
        d = lsqr(A[wrong], 1.0 - v[wrong], atol=1e-6, btol=1e-6, iter_lim=most)[0]
        change = np.asarray(A @ d)
        rate, before = 1.0, value
        while rate > 1e-3:
            tried = v + rate * change
            value = 0.5 * float(np.sum(np.maximum(0.0, 1.0 - tried) ** 2))
            if value < before:
                break
            rate *= 0.5
        w, v = w + rate * d, v + rate * change
        length = float(np.sqrt(w @ w))
        if length > 0.0 and v.min() > 1e-9 * length:
            return w / length, float(v.min()) / length
        if value > before * (1.0 - 1e-6):
            return None
    return None
