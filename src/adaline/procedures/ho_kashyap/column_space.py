"""What w'x + b can be on the samples: an orthonormal basis of the columns of (1, X).

With it Y Y^+ is Q Q', two products an iteration, and the pseudoinverse is never formed. Columns
are centred where there is a bias, which is exact when they are far from zero, and brought to unit
length, so that neither offsets nor units cost digits.

Letters: root (n,) square roots of the sample weights; c (n,) = root v for values v at the samples;
u = Q'c its coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT, eigen, singular
from adaline.procedures.least_squares.minimum_norm import wide_minimum_norm
from adaline.procedures.least_squares.normal_equations import rank_tolerance
from adaline.results import Array
from adaline.tiles import Rows, exponents, first_mean, is_sparse

_UNPACKED = 2**25  # numbers up to which CSR rows are unpacked; beyond, they stay as they are
_CACHED = 2**14  # numbers in a block of the basis
_SIDE = 20_000  # of the largest matrix that is made of rows that stay sparse


@dataclass(frozen=True, eq=False)
class Dense:
    """Q, in memory, and the way back from coordinates to weights."""

    basis: Array  # (blocks, r, B): Q' in blocks of B samples, zeros behind the last
    rows: Rows
    intercept: bool
    back: Array  # (p, r): weights in units 2**-exponent from coordinates
    null: Array  # orthonormal rows: directions of w, in the user's units, that no sample sees
    mean: Array
    exponent: NDArray[np.int64]

    def coordinates(self, c: Array) -> Array:
        blocks, _, B = self.basis.shape
        padded = np.zeros(blocks * B)
        padded[: len(c)] = c
        return np.asarray((self.basis @ padded.reshape(blocks, B, 1)).sum(axis=0)[:, 0])

    def values(self, u: Array) -> Array:
        return np.asarray((u @ self.basis).ravel()[: self.rows.X.shape[0]])

    def weights(self, u: Array) -> tuple[Array, float]:
        """(w, b) with root (w'x + b) = Q u at the samples; of many the one with the least |w|."""
        root = _roots(self.rows)
        if not len(self.back):  # more columns than rows; with p rows and no column: rank 0
            target = Rows(self.rows.X, (self.values(u) / root)[:, None], self.rows.omega, _EMPTY)
            fit = wide_minimum_norm(target, self.intercept)
            return fit.W[0], float(fit.b[0])
        first = u[0] / float(np.linalg.norm(root)) if self.intercept else 0.0
        z = self.back @ u[int(self.intercept) :]
        # A common power of two changes no norm, and keeps weights of tiny columns in range.
        down = self.exponent.min(initial=0) - self.exponent
        w = np.ldexp(z, down)
        w -= self.null.T @ (self.null @ w)
        b = first - float(self.mean @ np.ldexp(w, -down)) if self.intercept else 0.0
        with np.errstate(over="ignore"):  # weights that no float64 can be are infinite
            return np.ldexp(w, -self.exponent.min(initial=0)), b


@dataclass(frozen=True, eq=False)
class Thin:
    """Q = root (X D - 1 mean') M for CSR rows too many to unpack, as a product of its factors.

    With fewer rows than columns, Q itself comes from X X', and M is not needed.
    """

    X: Any
    root: Array
    intercept: bool
    scale: Array
    M: Array  # (p, r), or (n, r) eigenvectors over eigenvalues where rows are fewer
    Q: Array  # (n, r) without the bias where rows are fewer, else empty

    def coordinates(self, c: Array) -> Array:
        rest = self.Q.T @ c if len(self.Q) else self.M.T @ self._down(c)
        return np.append(self._axis() @ c, rest) if self.intercept else np.asarray(rest)

    def values(self, u: Array) -> Array:
        tail = u[int(self.intercept) :]
        v = self.Q @ tail if len(self.Q) else self._up(self.M @ tail)
        return np.asarray(v + u[0] * self._axis()) if self.intercept else np.asarray(v)

    def weights(self, u: Array) -> tuple[Array, float]:
        """(w, b) with root (w'x + b) = Q u at the samples."""
        z = self.M @ u[int(self.intercept) :]
        if len(self.Q):
            z = self._down(z)
        w = self.scale * z
        if not self.intercept:
            return w, 0.0
        axis, total = self._axis(), float(np.linalg.norm(self.root))
        return w, float(u[0] - axis @ (self.root * (self.X @ w))) / total

    def _axis(self) -> Array:
        return np.asarray(self.root / np.linalg.norm(self.root))

    def _up(self, z: Array) -> Array:
        """root (X D) z, without its part along the bias."""
        v = self.root * np.asarray(self.X @ (self.scale * z))
        return np.asarray(v - self._axis() * (self._axis() @ v)) if self.intercept else v

    def _down(self, c: Array) -> Array:
        """The transpose of `_up`."""
        c = c - self._axis() * (self._axis() @ c) if self.intercept else c
        return np.asarray(self.scale * (self.X.T @ (self.root * c)))


ColumnBasis = Dense | Thin
_EMPTY = np.empty((0, 0))


def column_space(rows: Rows, intercept: bool) -> ColumnBasis:
    """The basis for rows (their Y is not read), all of positive weight."""
    n, p = rows.X.shape
    if is_sparse(rows.X) and n * p > _UNPACKED:
        return _thin(rows, intercept)
    e = exponents(rows.X, np.empty((n, 0)))
    X = rows.X.toarray() if is_sparse(rows.X) else rows.X
    X = np.ldexp(X.astype(np.float64), -e)
    root = _roots(rows)
    mean = np.zeros(p)
    if intercept:
        shift = first_mean(X, np.empty((n, 0)), np.ones(p), n)
        X -= shift
        mean = (root**2 @ X) / (root @ root)
        X -= mean
        mean += shift
    X *= root[:, None]
    length = np.linalg.norm(X, axis=0)
    # What centring leaves of a constant column is the rounding of its mean.
    moving = length > 16 * UNIT * np.abs(mean) * np.linalg.norm(root) if intercept else length > 0
    X[:, ~moving] = 0.0
    length = np.where(moving, length, 1.0)
    U, s, Vt = singular(X / length)
    r = int(np.count_nonzero(s > max(rank_tolerance(X), UNIT * n**0.5) * s.max(initial=0.0)))
    axis = root / np.linalg.norm(root)
    Q = _in_blocks(np.column_stack([axis, U[:, :r]]) if intercept else U[:, :r])
    if n - intercept < p:
        return Dense(Q, rows, intercept, _EMPTY, _EMPTY, mean, e)
    back = (Vt[:r].T / s[:r]) / length[:, None]
    null = np.zeros((0, p))
    if r < p:
        null = np.ldexp(Vt[r:] / length, e.min(initial=0) - e)
        _, _, null = singular(null / np.linalg.norm(null, axis=1, keepdims=True))
    return Dense(Q, rows, intercept, back, null, mean, e)


def _in_blocks(Q: Array) -> Array:
    """Q (n, r) as (blocks, r, B), so that a block fits in cache and its columns in registers."""
    n, r = Q.shape
    B = int(np.clip(_CACHED // max(r, 1), 16, 256))
    padded = np.zeros((-(-n // B) * B, r))
    padded[:n] = Q
    return np.ascontiguousarray(padded.reshape(len(padded) // B, B, r).transpose(0, 2, 1))


def _thin(rows: Rows, intercept: bool) -> Thin:
    """From X'X or X X', whichever is smaller; half of the digits go, which CSR can spare."""
    X, (n, p) = rows.X.astype(np.float64), rows.X.shape
    if min(n, p) > _SIDE:
        raise ValueError(
            f"X is sparse with {n} rows and {p} columns; Ho-Kashyap factorises a matrix of the "
            f"smaller side, at most {_SIDE}. Use Perceptron, or `separability` for a proof."
        )
    root, scale = _roots(rows), np.ldexp(1.0, -exponents(X, np.empty((n, 0))))
    space = Thin(X, root, intercept, scale, _EMPTY, _EMPTY)
    A = X.multiply(root[:, None]).multiply(scale).tocsr()
    axis = root / np.linalg.norm(root)
    if n <= p:
        G = (A @ A.T).toarray()
        if intercept:  # (I - a a') G (I - a a')
            g = G @ axis
            G += np.outer(axis, axis) * (axis @ g) - np.outer(g, axis) - np.outer(axis, g)
    else:
        G = (A.T @ A).toarray()
        if intercept:
            g = np.asarray(A.T @ axis)
            G -= np.outer(g, g)
    values, V = eigen(G)
    keep = values > 64 * len(values) * UNIT * values.max(initial=0.0)
    V, values = V[:, keep], values[keep]
    if n <= p:
        return Thin(X, root, intercept, scale, V / values, V)
    return Thin(space.X, root, intercept, scale, V / np.sqrt(values), _EMPTY)


def _roots(rows: Rows) -> Array:
    return np.sqrt(rows.omega) if len(rows.omega) else np.ones(rows.X.shape[0])
