"""How long the first step from theta = 0 should be.

At zero all rows weigh alike, and Newton's step is that of least squares. Where rows are like draws
from an elliptical distribution it points to the minimum, and only its length is wrong (Brillinger
1982): a small sample of the rows tells the right one, which saves passes over all of them.

Letters: d step, c its length, V values d'z of the sample's rows, phi(c) their loss.
"""

from __future__ import annotations

import numpy as np

from adaline.objective import LogisticLoss
from adaline.procedures._rows import projected
from adaline.results import Array

_LONGEST = 16.0


def first_length(few: LogisticLoss, d: Array) -> float:
    """c >= 1 that minimises phi, from the rows of `few`.

    >>> import numpy as np
    >>> from adaline.objective import logistic_loss
    >>> X = np.linspace(-1.0, 1.0, 1000)[:, None]
    >>> codes = (np.sin(1e4 * X[:, 0]) < 5.0 * X[:, 0]).astype(np.int64)
    >>> loss = logistic_loss(X, codes, 2, np.empty(0), 1.0, True)
    >>> first_length(loss, np.array([[4.0, 0.0]])) > 1.0
    True
    """
    V, own = projected(few, d.T), few.target
    omega = few.omega if len(few.omega) else np.ones(len(V))
    if few.K == 1:  # values of two classes, zero those of the first
        V, own = np.column_stack([np.zeros(len(V)), V[:, 0]]), (own > 0).astype(np.int64)
    drawn = V[np.arange(len(V)), own]
    D = float(np.sum(few.penalty * d * d))
    c = 1.0
    for _ in range(10):  # slopes flatten on the way out, so that Newton's steps do not overshoot
        P = np.exp(c * V - np.max(c * V, axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        mean = np.sum(P * V, axis=1)
        slope = float(omega @ (mean - drawn)) + c * D
        bend = float(omega @ (np.sum(P * V * V, axis=1) - mean**2)) + D
        if not (slope < 0.0 and bend > 0.0 and c < _LONGEST):
            break
        step = -slope / bend
        c = min(c + step, _LONGEST)
        if step < 0.03 * c:
            break
    return c if np.isfinite(c) else 1.0
