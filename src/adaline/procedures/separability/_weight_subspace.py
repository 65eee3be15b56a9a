"""Weights orthogonal to some rows, in coordinates of whole numbers, and in floats."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.exact_rows import Ints
from adaline.certificates.separation.integer_claims import TooLarge, used_columns, weights_of
from adaline.certificates.separation.signed_rows import SignedRows
from adaline.integers import (
    Matrix,
    combination,
    dot,
    independent,
    integer_rows,
    least_exponents,
    null_space,
    reduced,
)
from adaline.procedures.separability._conditioned import Conditioned
from adaline.procedures.separability._float_rows import FloatRows, to_integers
from adaline.results import Array

_WIDEST = 2000  # weights up to which null spaces are written down


class WeightSubspace:
    """All weights, or those orthogonal to the rows of a support.

    Where there are more columns than rows, independent columns are enough: what any weights can
    do, weights of these can.
    """

    def __init__(self, rows: SignedRows) -> None:
        self.rows = rows
        self.basis: Matrix | None = None
        self.chosen = False  # whether independent columns were chosen, modulo a prime
        self.exact: Conditioned | None = None  # other coordinates than the columns themselves

    @cached_property
    def columns(self) -> Ints:
        """Columns that carry weights."""
        columns = used_columns(self.rows)
        if len(columns) <= self.rows.n:
            return columns
        if self.rows.n > _WIDEST:
            raise TooLarge(
                f"{self.rows.n} rows of {len(columns)} columns are too many for integers"
            )
        X, found = self.rows.samples(np.arange(self.rows.n))
        self.chosen = True
        _, chosen = independent(integer_rows(X, least_exponents(X)))
        return np.asarray(found[chosen])

    @cached_property
    def q(self) -> Ints:
        """Powers of two that the columns are divided by."""
        return self.rows.grains[self.columns]

    @property
    def full(self) -> int:
        """All weights."""
        width = len(self.columns) if self.exact is None else len(self.exact.P)
        return (self.rows.K - 1) * width

    @property
    def width(self) -> int:
        """Free weights."""
        return self.full if self.basis is None else len(self.basis)

    def signed(self, numbers: list[int]) -> Matrix:
        """Signed rows in integers, before any restriction."""
        if self.exact is not None:
            return self.exact.signed(numbers)
        return self.rows.integers(numbers, self.rows.grains, self.columns)[0]

    def matrix(self, numbers: list[int]) -> Matrix:
        """Signed rows in the coordinates of this space."""
        matrix = self.signed(numbers)
        if self.basis is None:
            return matrix
        return [[dot(row, z) for z in self.basis] for row in matrix]

    def weights(self, coordinates: list[int]) -> list[list[int]]:
        """Weights W (K - 1, D) of the samples."""
        z = coordinates if self.basis is None else combination(coordinates, self.basis)
        if self.exact is not None:
            return self.exact.weights(z)
        return weights_of(reduced(z), self.columns, self.q, self.rows.K, self.rows.D)

    def restrict(self, support: list[int]) -> bool:
        """Keep only weights orthogonal to the support's rows; False where none are left."""
        if len(support) > self.full:
            matrix, _, _ = self.rows.integers(support)
            if len(independent(matrix)[0]) == self.full:
                return False
        if self.full > _WIDEST:
            raise TooLarge(
                f"{self.full} weights are more than the {_WIDEST} with exact null spaces"
            )
        self.basis = null_space(self.signed(support), self.full)
        return bool(self.basis)

    def beyond(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which active rows some weights of this space are not orthogonal to."""
        assert self.basis is not None
        rng = np.random.default_rng(2)
        mixed = self.weights([int(a) for a in rng.integers(1, 2**20, len(self.basis))])
        signs, _ = self.rows.sides(mixed, ~active)
        left = np.asarray(active & (signs != 0))
        for k in range(len(self.basis)):
            unit = [int(j == k) for j in range(len(self.basis))]
            rest = np.flatnonzero(active & ~left)
            for i in range(0, len(rest), 4096):
                part = rest[i : i + 4096]
                left[part] = [a != 0 for a in self.rows.values(part, self.weights(unit))[0]]
        return left

    # ---- in floats

    def view(self, floats: FloatRows, active: NDArray[np.bool_]) -> FloatRows:
        """Float rows in an orthonormal basis of this space."""
        if self.basis is None:
            return floats
        columns = [self._floats(z) for z in self.basis]
        self._shifts = [f for _, f in columns]
        Q, self._R = np.linalg.qr(np.array([u for u, _ in columns]).T)
        return floats.reduced(Q, active)

    def _floats(self, z: list[int]) -> tuple[Array, int]:
        if self.exact is not None:
            return self.exact.to_floats(z)
        W = weights_of(z, self.columns, self.q, self.rows.K, self.rows.D)
        U, f = self.rows.floats(W)
        return U.ravel(), f - max(self.q.tolist())  # weights_of multiplied by that power of two

    def rounded(self, u: Array, least: float) -> list[list[int]] | None:
        """Weights of the samples that are, exactly, in this space and about u of the view."""
        if self.basis is None:
            numbers, _ = to_integers(u, least)
            if self.exact is None:
                return self.rows.from_floats(numbers)
            return self.weights(self.exact.from_floats(numbers))
        a = np.linalg.lstsq(self._R, u, rcond=None)[0]
        if not a.any() or not np.isfinite(a).all():
            return None
        most = max(self._shifts)
        factors = zip(to_integers(a, 0.0)[0], self._shifts, strict=True)
        return self.weights([b << (most - f) for b, f in factors])
