"""How wide a margin the corrections of a perceptron leave possible, by the convergence theorem.

Let (u, u0) of length one have t (u'x + u0) >= gamma for every sample. A correction adds
eta t (x, 1) to (w, b), so it lengthens (w, b) along (u, u0) by eta gamma at least. After M of them

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

from adaline.kernels.sequential import neurons
from adaline.linalg import UNIT
from adaline.procedures.sequential.state import State
from adaline.results import Array
from adaline.schedules import Absolute, Constant
from adaline.tiles import is_sparse

_SLACK = 1.01  # the limit itself is computed in float64
_FAR = 2.0**400  # squares of longer samples and corrections, or of shorter ones, leave float64
_BLOCK = 4096  # rows whose squares are made at a time


class MarginLimit:
    """The largest margin that is still possible, relative to the longest sample (x, 1)."""

    def __init__(self, state: State, X: Any):
        schedule = state.recipe.schedule
        self.state, self.start, self.made = state, state.last.copy(), state.corrections
        self.eta = schedule.eta if isinstance(schedule, Constant) else 1.0  # absolute: 1 or more
        self._X = X

    @staticmethod
    def serves(state: State, omega: Array) -> bool:
        """Whether corrections are all of one size at least, and the last weights are wanted."""
        recipe = state.recipe
        alone = recipe.criterion == neurons.MACHINE or recipe.K == 1
        fixed = isinstance(recipe.schedule, Constant | Absolute)
        return (
            state.is_perceptron
            and alone
            and fixed
            and recipe.keep == neurons.LAST
            and not len(omega)
        )

    @cached_property
    def longest(self) -> float:
        """Length of the longest (x, 1); for text a look at it takes as long as half a pass."""
        return _longest(self._X, float(self.state.recipe.intercept))

    def relative(self) -> float:
        """At most this share of the longest sample; infinite before the first correction."""
        made = self.state.corrections - self.made
        in_range = all(1 / _FAR < size < _FAR for size in (self.longest, self.eta * self.longest))
        if made == 0 or not in_range:
            return inf
        step = self.eta * self.longest
        moved, far = (_length(a / step) for a in (self.state.last - self.start, self.start))
        return _SLACK * (moved / made + 4 * UNIT * (far + 2 * sqrt(made) + 1))


def _length(theta: Array) -> float:
    flat = theta.ravel()
    return sqrt(flat @ flat)


def _longest(X: Any, one: float) -> float:
    """Length of the longest row (x, one)."""
    with np.errstate(over="ignore"):  # infinite where squares are
        if is_sparse(X):
            squares = np.square(X.data, dtype=np.float64)
            starts = X.indptr[:-1][np.diff(X.indptr) > 0]
            return sqrt(float(np.add.reduceat(squares, starts).max() if X.nnz else 0.0) + one)
        most = 0.0
        for i in range(0, X.shape[0], _BLOCK):
            x = X[i : i + _BLOCK].astype(np.float64)
            most = max(most, float(np.einsum("ij,ij->i", x, x).max()))
        return sqrt(most + one)
