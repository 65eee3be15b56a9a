"""Gradients of many targets from sums of products in double-double, which need the rows once.

A pass of `gradients` forms the residuals of every target and their products with every column.
Where targets outnumber columns it is quicker to add up, in twice the working precision,

    G = sum (x, 1)(x, 1)',    C = sum (x, 1) y'

once for all: then g = C - G theta, and the residuals have the squares y'y - theta'(C + g).

Where targets are indicators of classes, C has the sums over the rows of each class, which take a
kth of the time. Residuals that are small beside y lose as many digits of double-double as they are
smaller. The bounds know it, and targets that need more are corrected by their rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline._threads import over_pieces
from adaline.kernels.double_double import double_double, products
from adaline.moments import Moments
from adaline.procedures.least_squares.gradients import minus_product
from adaline.procedures.least_squares.normal_equations import Normal
from adaline.results import Array
from adaline.tiles import Rows, is_sparse

ADDITIONS = products.TOGETHER // 3  # of double-double, that one product's roundings count for
MANY = 64  # targets from which sums are quicker than residuals, if columns are not more
_CLASSES = 8  # and one for 8 columns, from which on their sums are quicker than residuals
_MUCH = 2**19  # products of rows and classes, below which calls cost more than they save
_TILE = 2048  # rows of which a copy with a column of ones is made
_WELL = 1e4  # condition numbers up to which sums of products keep the digits that weights need
_RANGE = 200  # powers of two of units, and half as many of lengths, that keep products in range
_LEFT = 1e-8  # share of the squares that residuals have to leave for sums to tell them


@dataclass(frozen=True)
class ProductSums:
    """High and low parts of G (p + 1, p + 1), C (p + 1, k) and y'y (k,), in a Normal's units.

    additions : of double-double, that all roundings in gradients count for: 8 units roundoff
        squared each.
    """

    G: Array
    G_low: Array
    C: Array
    C_low: Array
    squares: Array
    squares_low: Array
    additions: int

    @classmethod
    def of(cls, normal: Normal, rows: Rows) -> ProductSums:
        """One pass over the rows, which are dense and have no weights."""
        p, k, e = normal.m.p, rows.Y.shape[1], normal.m.exponent
        n, Y = len(rows.Y), np.ascontiguousarray(rows.Y)

        def of_piece(i: int, j: int) -> Array:
            own, across = np.zeros((2, p + 2, p + 1)), np.zeros((2, p + 2, k))
            of_classes = np.zeros((2, k, p + 1))
            for s in range(i, j, _TILE):
                some = slice(s, min(s + _TILE, j))
                A = np.ones((some.stop - s, p + 1))
                A[:, :p] = rows.X[some]
                own = products.with_products_of_rows(A, A, own)
                if rows.codes is None:
                    across = products.with_products_of_rows(A, Y[some], across)
                else:
                    products.add_rows_of_classes(A, rows.codes[some], of_classes)
            if rows.codes is not None:
                across[:, :-1] = of_classes.swapaxes(1, 2)
                across[:, -1] = across[:, -2]  # a one is its own square
            return np.concatenate([across, own], axis=2)

        (high, low), *others = over_pieces(of_piece, n, p + 1)
        for part, part_low in others:
            high, carry = double_double.two_sums(high, part)
            high, low = double_double.two_sums(high, low + part_low + carry)
        units = np.append(e[:p], 0)
        own = np.vstack([units[:, None] + e[p:], 2 * e[p:]])
        (C, C_low), (G, G_low) = (
            (np.ldexp(part, -own) for part in (high[:, :k], low[:, :k])),
            (np.ldexp(part[:-1, k:], -units[:, None] - units) for part in (high, low)),
        )
        additions = (products.CHUNKS_OFF + n) // 8 + ADDITIONS * (p + 64)
        if rows.codes is not None:  # by Cauchy and Schwarz, sums of |x| are at most |x| |y| as well
            additions += n
        return cls(G, G_low, C[:-1], C_low[:-1], C[-1], C_low[-1], additions)

    def gradients(self, theta: Array, low: Array) -> tuple[Array, Array, Array]:
        """C - G (theta + low), high and low parts, and the sums of squared residuals."""
        start = np.zeros((2, len(theta) + 1, theta.shape[1]))
        start[0, :-1], start[1, :-1] = self.C, self.C_low
        found = products.with_products(-self.G, np.ascontiguousarray(theta), start)
        g, g_low = found[0, :-1], found[1, :-1] - (self.G_low @ theta + self.G @ low)
        both, both_low = double_double.two_sums(self.C, g)
        parts = both, both_low + self.C_low + g_low
        parts = minus_product(*np.zeros((2, *g.shape)), np.ascontiguousarray(theta), *parts)
        high = np.vstack([self.squares, parts[0]])
        left = np.vstack([self.squares_low, parts[1]])
        left[1:] -= low * both
        return g, g_low, np.maximum(_added(high, left), 0.0)

    def trusted(self, squares: Array) -> NDArray[np.bool_]:
        """Of which targets enough is left for sums of squared residuals to keep their digits."""
        return np.asarray(squares > _LEFT * self.squares)


def _added(high: Array, low: Array) -> Array:
    """Sums of each column of high + low, rounded once."""
    while len(high) > 1:
        half, odd = divmod(len(high), 2)
        total, carry = double_double.two_sums(high[:half], high[half : 2 * half])
        tail = carry + (low[:half] + low[half : 2 * half])
        high, low = (
            np.vstack([a, b[-odd:]]) if odd else a for a, b in ((total, high), (tail, low))
        )
    return np.asarray((high + low)[0])


def _pay(m: Moments, rows: Rows) -> bool:
    """Whether sums take less time than residuals of all targets."""
    p, k = m.p, m.targets
    if rows.codes is None:
        return k > MANY and p <= k
    padded = products.LANES * -(-(p + 1) // products.LANES)
    return k > _CLASSES + padded // 8 and m.rows * p * k > _MUCH


def product_sums(normal: Normal, rows: Rows, lengths: Array) -> ProductSums | None:
    """Sums of products where they serve: many targets, and dense rows without weights.

    lengths (p + 1 + k,) are bounds on those of the columns, the ones and the targets.
    """
    if not _pay(normal.m, rows) or is_sparse(rows.X) or len(rows.omega) or len(rows.X_low):
        return None
    if not normal.condition < _WELL or np.abs(normal.m.exponent).max() > _RANGE:
        return None
    some = lengths[lengths > 0]
    if np.abs(np.frexp(some)[1]).max() > _RANGE // 2:
        return None
    return ProductSums.of(normal, rows)
