"""Signed rows in floats, with bounds on their errors, and the integers where floats do not tell.

The legend is in `exact_rows`. Floats see samples that are scaled and centred: z = x / 2^e - c.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline._jit.little import for_sums, for_work
from adaline.certificates.separation.exact_rows import ExactRows, Ints, rounded
from adaline.integers import dyadic
from adaline.kernels.separability import pricing
from adaline.results import Array

_BLOCK = 4096
_UNIT = 2.0**-53
_TINY = 2.0**-500  # what underflow can do, with much to spare; such rows go to the integers


class SignedRows(ExactRows):
    """All pairs (sample, other class), in floats too."""

    @cached_property
    def _range(self) -> tuple[Array, Array]:
        """Least and largest entry of each column; for CSR minus and plus the largest size."""
        if self.is_sparse:
            top = np.asarray(abs(self.X).max(axis=0).todense()).ravel()
            return -top, top
        run = for_work(pricing.extremes, self.X.size, pricing.extremes_by_numpy)
        low, high = run(self.X)
        return low, high

    @cached_property
    def top(self) -> Array:
        """Largest size of the entries of each column."""
        low, high = self._range
        return np.asarray(np.maximum(high, -low))

    @cached_property
    def exponents(self) -> Ints:
        """Powers of two that bring each column's largest entry to about one."""
        return np.frexp(self.top)[1].astype(np.int64)

    @cached_property
    def centre(self) -> Array:
        """About the middle of each scaled column, in few bits; zero without an intercept.

        Where columns lie far from zero, differences from the centre keep the digits that
        products with the column itself would lose.
        """
        if self.is_sparse or not self.intercept:
            return np.zeros(self.p)
        low, high = (self._scaled(end) for end in self._range)
        middle, spread = (low + high) / 2, high - low
        grain = np.ldexp(1.0, np.frexp(np.maximum(spread, _TINY))[1])
        with np.errstate(over="ignore"):
            c = np.where(spread > 0, np.rint(middle / grain) * grain, low)
        return np.where(np.isfinite(c), c, 0.0)

    @cached_property
    def scale(self) -> Array | None:
        """2^-exponents; None where some of them leave float64."""
        e = -self.exponents
        return np.ldexp(1.0, e) if np.abs(e).max(initial=0) <= 1000 else None

    def _scaled(self, A: Array) -> Array:
        if self.scale is not None:
            return np.asarray(A * self.scale)
        e = -self.exponents
        return np.asarray(np.ldexp(np.ldexp(A, e // 2), e - e // 2))

    @cached_property
    def _scaled_csr(self) -> Any:
        e = -self.exponents[self.X.indices]
        data = np.ldexp(np.ldexp(self.X.data, e // 2), e - e // 2)
        return sparse.csr_matrix((data, self.X.indices, self.X.indptr), shape=self.X.shape)

    def blocks(self) -> Iterator[tuple[int, int, Any, Array]]:
        """Blocks i:j of scaled, centred samples with the intercept's column, and their lengths."""
        for i in range(0, self.n, _BLOCK):
            j = min(i + _BLOCK, self.n)
            if self.is_sparse:
                Z = self._scaled_csr[i:j]
                squares = np.asarray(Z.multiply(Z).sum(axis=1)).ravel() + self.intercept
                if self.intercept:
                    Z = sparse.hstack([sparse.csr_matrix(np.ones((j - i, 1))), Z], format="csr")
            else:
                Z = np.empty((j - i, self.D))
                Z[:, : self.intercept] = 1.0
                np.subtract(self._scaled(self.X[i:j]), self.centre, out=Z[:, self.intercept :])
                squares = np.einsum("ij,ij->i", Z, Z)
            yield i, j, Z, np.sqrt(squares)

    def floats(self, W: Sequence[Sequence[int]]) -> tuple[Array, int]:
        """U and f: U 2^f weigh scaled, centred samples as W weighs samples; the largest is about 1.

        x = 2^e (z + c), so u_j = w_j 2^e_j and u_0 = w_0 + sum w_j 2^e_j c_j, which is summed in
        integers and rounded once.
        """
        s = int(self.intercept)
        m, e = (a.tolist() for a in dyadic(np.concatenate([np.ones(s), self.centre])))
        shifts = [*([0] * s), *self.exponents.tolist()]
        least = min([*shifts, *(a + b for a, b, c in zip(shifts, e, m, strict=True) if c)])
        rows = []
        for w in W:
            u = [a << (b - least) for a, b in zip(w, shifts, strict=True)]
            if s and any(m[1:]):
                terms = zip(w[1:], m[1:], shifts[1:], e[1:], strict=True)
                u[0] += sum(a * b << (f + g - least) for a, b, f, g in terms if b)
            rows.append(u)
        bits = max((a.bit_length() for u in rows for a in u), default=0)
        return np.array([[rounded(a, bits) for a in u] for u in rows]), bits + least

    def _gaps(self, U: Array) -> Iterator[tuple[int, int, Array, Array]]:
        """Blocks i:j of y'w in floats, (j - i, K - 1), and the lengths of their samples."""
        if self.K == 2 and not self.is_sparse and self.scale is not None:
            s = int(self.intercept)
            rest = self.scale, self.centre, U[0, s:].copy(), float(U[0, 0]) if s else 0.0, s
            v, length = for_sums(pricing.dots, self.X.size)(self.X, *rest)
            yield 0, self.n, self.gaps(v[:, None], 0, self.n), length
            return
        for i, j, Z, length in self.blocks():
            yield i, j, self.gaps(np.asarray(Z @ U.T), i, j), length

    def gaps(self, V: Array, i: int, j: int) -> Array:
        """y'w of the pairs of samples i:j from V = Z U', (j - i, K - 1)."""
        codes = self.codes[i:j]
        if self.K == 2:
            return np.where(codes[:, None] == 1, V, -V)
        full = np.concatenate([np.zeros((j - i, 1)), V], axis=1)
        own = np.take_along_axis(full, codes[:, None], axis=1)
        return np.asarray(own - np.take_along_axis(full, self.others[i:j], axis=1))

    @cached_property
    def others(self) -> Ints:
        """Codes of the other classes of each sample, (n, K - 1)."""
        s = np.arange(self.K - 1)
        return s + (s >= self.codes[:, None])

    def sides(
        self, W: Sequence[Sequence[int]], known: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int8], Ints]:
        """The exact signs of y'w of every row, and rows among which the closest is.

        A float is believed where it is larger than all that rounding can have done to it; the
        others are computed in integers, but for those `known` to be zero.
        """
        U, _ = self.floats(W)
        size = (1 + (self.K > 2)) * float(np.sqrt((U * U).sum(axis=1)).max(initial=0.0))
        lengths = self._pair_lengths(U)
        signs, low = np.empty(self.count, dtype=np.int8), np.empty(self.count)
        doubts, high = [], np.inf
        for i, j, gap, length in self._gaps(U):
            bound = 1.01 * (self.D + 8) * _UNIT * size * length[:, None] + self.D * _TINY
            part = slice(i * (self.K - 1), j * (self.K - 1))
            signs[part] = np.sign(gap).ravel()
            doubts.append(part.start + np.flatnonzero(np.abs(gap) <= bound))
            if lengths is None:
                low[part] = (gap - bound).ravel()
                high = min(high, float((gap + bound).min()))
                continue
            per = lengths[self.codes[i:j, None], self.others[i:j]]
            clear = per < np.inf
            low[part] = np.where(clear, (gap - bound) / per, -np.inf).ravel()
            high = min(high, float(np.where(clear, (gap + bound) / per, np.inf).min()))
        doubtful = np.concatenate(doubts)
        if known is not None:
            signs[known] = 0
            doubtful = doubtful[~known[doubtful]]
        for k in range(0, len(doubtful), _BLOCK):
            rest = doubtful[k : k + _BLOCK]
            signs[rest] = [(a > 0) - (a < 0) for a in self.values(rest, W)[0]]
        return signs, np.flatnonzero(low <= (high if self.K == 2 else abs(high) * (1.0 + 1e-6)))

    def _pair_lengths(self, U: Array) -> Array | None:
        """About |w_a - w_b| of all pairs of classes; None for two classes, where there is one.

        Infinite where cancellation or the range of float64 leave it unknown.
        """
        if self.K == 2:
            return None
        full = np.concatenate([np.zeros((1, self.D)), U])[:, int(self.intercept) :]
        with np.errstate(all="ignore"):
            full = self._scaled(full)
            top = np.abs(full).max()
            length = np.sqrt((((full[:, None] - full[None]) / top) ** 2).sum(axis=2))
        return np.where((length > 1e-9) & (length < np.inf), length, np.inf)

    def from_floats(self, m: Sequence[int]) -> list[list[int]]:
        """Weights W of samples from weights m, (K - 1) D of them, of scaled, centred samples.

        The inverse of `floats`: w_j = u_j / 2^e_j and w_0 = u_0 - sum u_j c_j,
        times a power of two.
        """
        s = int(self.intercept)
        c, f = (a.tolist() for a in dyadic(self.centre))
        shifts = [*([0] * s), *(-a for a in self.exponents.tolist())]
        least = min([*shifts, *(a for a, b in zip(f, c, strict=True) if b)])
        W = []
        for k in range(self.K - 1):
            u = m[k * self.D : (k + 1) * self.D]
            w = [a << (b - least) for a, b in zip(u, shifts, strict=True)]
            if s and any(c):
                terms = zip(u[1:], c, f, strict=True)
                w[0] -= sum(a * b << (g - least) for a, b, g in terms if b)
            W.append(w)
        g = math.gcd(*(a for w in W for a in w))
        return [[a // g for a in w] for w in W] if g > 1 else W
