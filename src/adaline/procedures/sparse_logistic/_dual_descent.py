"""Passes of coordinate descent on the dual of the logistic loss; `dual` says what for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.kernels.losses import dual as kernels
from adaline.procedures.sparse_logistic._dual_proof import EPS, DualRows, Proof, proven
from adaline.results import Array

_BLOCK = 8  # neighbours that are shuffled together, for the sake of memory; 512 slow learning
_FOLLOWED = 10, 100  # rows whose curvature holds the bias back, at least and at most
_SHARE = 60  # one in so many: with more, the bias needs many passes to arrive
_START = -7.0  # log-odds of the first dual variables: about 0.001 omega


class Descent:
    """Where the descent is: log-odds u and dual variables lam of the rows, z, and the bias."""

    def __init__(self, rows: DualRows) -> None:
        self.of, self.rows, self.p = rows, rows.entries, rows.X.shape[1]
        t, omega, self.intercept = rows.t, rows.omega, rows.intercept
        self.t, self.omega, self.alpha = t, omega, rows.alpha
        self.squares = kernels.row_squares(self.rows[0], self.rows[2])
        if not np.isfinite(self.squares).all():
            raise ValueError("a row of X is so long that |x|^2 leaves float64; scale the features.")
        self.u = np.full(len(t), _START)
        self.lam = omega * kernels.share(_START)
        self.z = kernels.combination(*self.rows, self.lam * t, self.p)
        plus, minus = omega[t > 0.0].sum(), omega[t < 0.0].sum()
        self.b = np.array([np.log(plus / minus) if rows.intercept else 0.0, 0.0])
        self.pull, self.passes = 0.0, 0
        self.random = np.random.default_rng(0)
        self.value = np.log(2.0) * omega.sum()

    def descend(self, idle: float) -> float:
        """One pass; returns about what the gap was while it went by."""
        if self.intercept:
            self.b[1] = self.lam @ self.t
            self.pull = self._pull()
        idle = idle * self.value / len(self.t)
        state = self.b, self.u, self.lam, self.z
        order = _shuffled(len(self.t), self.random)
        target = self.t, self.omega, self.squares, order
        gap = kernels.dual_pass(*self.rows, *target, self.alpha, self.pull, idle, *state)
        if self.intercept:
            self.b[0] += self.pull * self.b[1]
        self.value = kernels.entropy(self.omega, self.u) - self.z @ self.z / (2.0 * self.alpha)
        self.passes += 1
        return float(gap)

    def _pull(self) -> float:
        """1 / the curvature of some rows: the bias follows what they ask for.

        Rows by the hundred agree well enough on the bias, whatever their number; with fewer it
        jumps about, with all of them it would need many passes to arrive.
        """
        rows = np.count_nonzero(self.omega)
        share = rows / min(max(rows / _SHARE, _FOLLOWED[0]), _FOLLOWED[1])
        if self.passes == 0:  # the first dual variables say nothing
            return float(share / (0.25 * self.omega.sum()))
        curvature = self.lam @ (1.0 - self.lam / np.where(self.omega > 0.0, self.omega, 1.0))
        return float(share / max(curvature, EPS * self.omega.sum()))

    def proof(self) -> Proof:
        """The dual point made feasible, its primal, the best bias for it, and the gap."""
        t, omega, u = self.t, self.omega, self.u
        if self.intercept:
            u = u + kernels.balance(t, omega, u) * t
        return proven(self.of, u, None, self._best_bias)

    def _best_bias(self, w: Array) -> float:
        if not self.intercept:
            return 0.0
        v = kernels.products(*self.rows, w)
        return -float(kernels.balance(self.t, self.omega, -self.t * v))

    def best(self) -> Array:
        """Where to go on from: these weights, or zero where that is better."""
        proof = self.proof()
        return proof.w if proof.value < np.log(2.0) * self.omega.sum() else np.zeros(self.p)


def _shuffled(n: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A random order of the rows that stays inside blocks of neighbours."""
    shift = int(random.integers(_BLOCK))  # so that neighbours are not always the same
    blocks = random.permutation(-(-(n + shift) // _BLOCK))
    places = blocks[:, None] * _BLOCK + np.arange(_BLOCK) - shift
    order: NDArray[np.int64] = random.permuted(places, axis=1).ravel()
    return order[(order >= 0) & (order < n)]
