"""How wide a margin the corrections of a perceptron leave possible, by the convergence theorem.

Called by procedures/sequential.py. Let (u, u0) of length one have t (u'x + u0) >= gamma for every
sample. A correction adds eta t (x, 1) to (w, b), so it lengthens (w, b) along (u, u0) by eta gamma
at least. After M of them

    eta M gamma <= (u, u0)'((w, b) - start) <= |(w, b) - start|

(Novikoff 1962). On classes that overlap, (w, b) hardly grows while M does: soon no margin is left
that is worth a further pass. K classes: Kesler's samples, in which (u, u0) has K parts.

Additions round by at most u |(w, b)| each, and (w, b) never gets longer than |start| + 2 sqrt(M)
corrections of the longest sample: beside a start far away, corrections may be lost altogether.
"""

from __future__ import annotations

from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from adaline.kernels import codes
from adaline.linalg import UNIT
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.schedules import Absolute, Constant

FAR = 2.0**400  # squares of longer samples and corrections, or of shorter ones, leave float64


class MarginLimit:
    """The largest margin that is still possible, relative to the longest sample (x, 1)."""

    def __init__(self, state: Any, X: Any):
        schedule = state.recipe.schedule
        self.state, self.start, self.made = state, state.last.copy(), state.corrections
        self.eta = schedule.eta if isinstance(schedule, Constant) else 1.0  # absolute: 1 or more
        self._X = X

    @staticmethod
    def serves(state: Any, omega: Array) -> bool:
        """Whether corrections are all of one size at least, and the last weights are wanted."""
        recipe = state.recipe
        perceptron = recipe.criterion == codes.PERCEPTRON and recipe.K == 1
        fixed = isinstance(recipe.schedule, Constant | Absolute) and recipe.keep == codes.LAST
        return (perceptron or recipe.criterion == codes.MACHINE) and fixed and not len(omega)

    @cached_property
    def longest(self) -> float:
        return longest_sample(self._X, float(self.state.recipe.intercept))

    def relative(self) -> float:
        """At most this share of the longest sample; infinite before the first correction."""
        made, step = self.state.corrections - self.made, self.eta * self.longest
        if made == 0 or not all(1 / FAR < size < FAR for size in (self.longest, step)):
            return inf
        moved, far = (
            sqrt(np.vdot(a, a)) for a in ((self.state.last - self.start) / step, self.start / step)
        )
        # 1.01: the limit itself is computed in float64.
        return float(1.01 * (moved / made + 4 * UNIT * (far + 2 * sqrt(made) + 1)))


def longest_sample(X: Any, one: float) -> float:
    """Length of the longest row (x, one); infinite where its square is."""
    with np.errstate(over="ignore"):
        if is_sparse(X):
            rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            squares = np.bincount(rows, np.square(X.data, dtype=np.float64))
        else:
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return sqrt(squares.max(initial=0.0) + one)
