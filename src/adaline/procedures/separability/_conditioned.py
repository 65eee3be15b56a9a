"""Samples in coordinates in which they are well conditioned, computed exactly and rounded once.

Where columns depend on each other up to their last digits, floats see nothing of what is left.
Coordinates E P with whole numbers P, about V / sigma of a singular value decomposition, are
computed in integers, so the rounding happens after the cancellation; a second round mends what
the first one's own rounding left.
"""

from __future__ import annotations

import numpy as np

from adaline.certificates.separation.exact_rows import blocks, rounded
from adaline.certificates.separation.integer_claims import weights_of
from adaline.certificates.separation.signed_rows import SignedRows
from adaline.integers import (
    Matrix,
    combination,
    dot,
    independent,
    integer_rows,
    least_exponents,
    reduced,
)
from adaline.linalg import singular
from adaline.procedures.separability._float_rows import FloatRows, signed_floats, to_integers
from adaline.results import Array

_ROUNDS = 4
_GOOD = 1e4  # condition number with which floats work well
_MOST = 3e7  # products of whole numbers: some seconds


class Conditioned:
    """Exact coordinates of all samples, and float rows made of them; use `of`."""

    def __init__(self, rows: SignedRows) -> None:
        X, found = rows.samples(np.arange(rows.n))
        q = least_exponents(X)
        E = integer_rows(X, q)
        _, chosen = independent(E)
        self.rows, self.columns, self.q = rows, found[chosen], q[chosen]
        self.E: Matrix = [[row[j] for j in chosen] for row in E]
        k = len(chosen)
        self.P: Matrix = [[int(i == j) for i in range(k)] for j in range(k)]  # its columns
        self.F, self.shifts = self._rounded(self.E)
        for _ in range(_ROUNDS):
            _, sigma, Vt = singular(self.F)
            if sigma[-1] * _GOOD > sigma[0]:
                break
            self._change(Vt / np.maximum(sigma, sigma[0] * 1e-18)[:, None])
        self.floats: FloatRows = signed_floats(self.F, rows)

    @classmethod
    def of(cls, rows: SignedRows) -> Conditioned | None:
        """None where it would take long, or where all samples are zero."""
        small = rows.n * rows.D**2 <= _MOST and (rows.intercept or bool(rows.top.any()))
        return cls(rows) if small else None

    @staticmethod
    def _rounded(E: Matrix) -> tuple[Array, list[int]]:
        """Columns in floats, the largest entry about one, and by which powers of two divided."""
        shifts = [max(abs(a) for a in column).bit_length() for column in zip(*E, strict=True)]
        return np.array(
            [[rounded(a, s) for a, s in zip(row, shifts, strict=True)] for row in E]
        ), shifts

    def _change(self, M: Array) -> None:
        """New coordinates: rows of M weigh the present columns, once these are scaled."""
        factors = []
        for m in M:
            numbers, _ = to_integers(m, 0.0)
            most = max(self.shifts)
            factors.append([a << (most - s) for a, s in zip(numbers, self.shifts, strict=True)])
        self.P = [combination(f, self.P) for f in factors]
        self.E = [[dot(row, f) for f in factors] for row in self.E]
        self.F, self.shifts = self._rounded(self.E)

    def signed(self, numbers: list[int]) -> Matrix:
        """Signed rows in these coordinates."""
        pairs = [self.rows.pair(number) for number in numbers]
        codes = self.rows.codes
        return [blocks(self.E[i], int(codes[i]), other, self.rows.K) for i, other in pairs]

    def weights(self, z: list[int]) -> list[list[int]]:
        """Weights of the samples for weights z, K - 1 blocks, of these coordinates."""
        k = len(self.P)
        parts = [combination(z[b * k : (b + 1) * k], self.P) for b in range(self.rows.K - 1)]
        flat = reduced([a for part in parts for a in part])
        return weights_of(flat, self.columns, self.q, self.rows.K, self.rows.D)

    def to_floats(self, z: list[int]) -> tuple[Array, int]:
        """u and f with u 2^f weighing the float samples as z weighs these coordinates."""
        scaled = [a << s for a, s in zip(z, self.shifts * (self.rows.K - 1), strict=True)]
        bits = max(a.bit_length() for a in scaled)
        return np.array([rounded(a, bits) for a in scaled]), bits

    def from_floats(self, numbers: list[int]) -> list[int]:
        """Weights of these coordinates for whole weights of the float samples."""
        most = max(self.shifts)
        back = [most - s for s in self.shifts] * (self.rows.K - 1)
        return [a << s for a, s in zip(numbers, back, strict=True)]
