"""Gradients of squared errors with twice the digits of float64, summed over blocks of rows.

Called by `procedures.least_squares` for rows in memory and by `data.fitting` for streams; sums of
blocks merge with +.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
from numpy.typing import NDArray

from adaline.kernels.double_double import LANES, add_lanes, gradients, two_sums
from adaline.results import Array, Result
from adaline.sums.table import BLOCK, Table
from adaline.sums.threads import over_pieces

MOST_SUMS = 2**16  # numbers of the sums of a pass: more targets take a pass more, but stay in cache
FEWEST = 8  # targets in a pass, for which reading X once is worth its while


@dataclass(frozen=True, eq=False)
class Gradient(Result):
    """Sums of omega (x, 1) r, high and low parts (q, k), and of omega r^2 (k,).

    r = y - (x, 1)'theta.

    added : how many numbers were added in a row, at most. Sums over column j are off by at most
        8 added u^2 |column j| |r|.
    """

    g: Array
    low: Array
    squares: Array
    added: int

    @classmethod
    def of(
        cls, t: Table, scale: Array, which: NDArray[np.int64], theta: Array, low: Array
    ) -> Gradient:
        """Of targets `which`, at theta + low (p + 1, k), for columns times scale (p + k,)."""
        if not t.n:
            return cls(np.zeros_like(theta), np.zeros_like(theta), np.zeros(len(which)), 0)
        cuts, most = len(which), max(MOST_SUMS // (2 * LANES * (t.p + 1)), FEWEST)
        passes = max(-(-len(which) // most), 1)
        edges = [cuts * i // passes for i in range(passes + 1)]

        def of_piece(i: int, j: int) -> Gradient:
            parts = [
                cls._of_rows(t, i, j, scale, which[s:e], theta[:, s:e], low[:, s:e])
                for s, e in pairwise(edges)
            ]
            g, low_parts, squares = (
                np.concatenate([getattr(part, name) for part in parts], axis=-1)
                for name in ("g", "low", "squares")
            )
            return cls(g, low_parts, squares, (j - i) // LANES + LANES + 16)

        return reduce(add, over_pieces(of_piece, t.n, t.p + 1))

    @classmethod
    def _of_rows(
        cls,
        t: Table,
        start: int,
        stop: int,
        scale: Array,
        which: NDArray[np.int64],
        theta: Array,
        low: Array,
    ) -> Gradient:
        q, k = theta.shape
        rows = max(BLOCK // (2 * q) // LANES, 4) * LANES
        columns = np.zeros((q, min(rows, -(-(stop - start) // LANES) * LANES)))
        low_columns = np.zeros_like(columns) if len(t.X_low) else np.zeros((0, 0))
        Y, omega = np.zeros((k, columns.shape[1])), np.zeros(columns.shape[1] * bool(len(t.omega)))
        high, tail = np.ascontiguousarray(theta.T), np.ascontiguousarray(low.T)
        lanes = np.zeros((2, k, q, LANES))
        squares, room = np.zeros((k, LANES)), np.empty((2, LANES))
        for i in range(start, stop, rows):
            part = slice(i, min(i + rows, stop))
            m = part.stop - i
            np.multiply(t.dense(part).T, scale[: t.p, None], out=columns[:-1, :m])
            columns[-1, :m] = 1.0
            np.multiply(t.Y[part][:, which].T, scale[t.p :][which, None], out=Y[:, :m])
            if len(low_columns):
                np.multiply(t.X_low[part].T, scale[: t.p, None], out=low_columns[:-1, :m])
            if len(omega):
                omega[:m] = t.omega[part]
            if m < columns.shape[1]:  # rows of zeros add nothing
                columns[:, m:], Y[:, m:], low_columns[:, m:], omega[m:] = 0.0, 0.0, 0.0, 0.0
            of_rows = (in_lanes(a) for a in (columns, low_columns, Y, omega))
            gradients(*of_rows, high, tail, room, *lanes, squares)
        sums = np.zeros((2, k, q))
        add_lanes(*lanes, *sums)
        # A sum over an axis in one piece would depend on the number of targets.
        return cls(sums[0].T, sums[1].T, squares.cumsum(axis=1)[:, -1], 0)

    def __add__(self, other: Gradient) -> Gradient:
        g, carry = two_sums(self.g, other.g)
        g, low = two_sums(g, self.low + other.low + carry)
        return Gradient(g, low, self.squares + other.squares, self.added + other.added + 4)


def in_lanes(a: Array) -> Array:
    """The last axis, a multiple of LANES, as two."""
    return a.reshape(*a.shape[:-1], a.shape[-1] // LANES, LANES)
