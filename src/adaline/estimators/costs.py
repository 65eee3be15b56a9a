"""Decisions where wrong ones cost differently, or where none may be the best.

Called by the Bayes, Gaussian and logistic classifiers. costs[i, j] is the cost of deciding class i
when class j is true; see `adaline.decisions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import decisions
from adaline.results import Array


def move_by_costs(V: Array, posterior: Callable[[], Array], costs: Any, K: int) -> Array:
    """Values V, moved so that they are positive, or largest, where the decision costs least.

    V (n,) are the log odds of two classes, or (n, K) the scores of more.
    """
    c = decisions.checked_costs(costs, K)
    if K == 2 and c[0, 1] > c[1, 1] and c[1, 0] > c[0, 0]:
        return np.asarray(V + V.dtype.type(np.log(decisions.threshold([0.5, 0.5], c))))
    R = decisions.expected_costs(posterior(), c)
    return np.asarray(R[:, 0] - R[:, 1] if K == 2 else -R, dtype=V.dtype)


def decide_by_costs(P: Array, classes: NDArray[Any], costs: Any, reject_cost: Any) -> NDArray[Any]:
    """The label of least expected cost for each row of posteriors P (n, K), or "reject"."""
    c = decisions.checked_costs(costs, len(classes))
    reject = decisions.checked_reject_cost(reject_cost)
    label = None if reject is None else decisions.REJECT_LABEL
    return decisions.labels_of(decisions.decide(P, c, reject), classes, label)
