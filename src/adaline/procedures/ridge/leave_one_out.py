"""Exact leave-one-out errors of ridge at many penalties, from one pass over the rows.

    error = sum (r_i / (1 - h_i))^2 / n,    r = y - yhat,    h_i = the leverage of row i

Legend in `spectrum`. Few targets have their residuals at every penalty formed, O(n L k). Of many,
with q_i = (1 - h_i)^-2, u (n, r) the unit directions and e what they leave of y,

    r = e + U B,  B = a lost:    sum q r^2 = q'e^2 + 2 B'(U'Qe) + B'(U'QU)B

which are products of matrices; targets of equal penalties share q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.linalg import singular, triangle_of
from adaline.moments import TOGETHER
from adaline.procedures.ridge.spectrum import Spectrum
from adaline.results import Array
from adaline.tiles import Rows, tile_rows, tiles

OWN_UNITS = np.ones(1)
_TIE = 1e-12  # the least 1 - h that is told from zero
_LEFT = 2.0**-44  # share of a row's largest q that a basis may leave
_UNLIKE = 8.0  # q of a row that differ by more need all the digits that a basis would leave
_WORTH = 0.75  # share of the penalties from which on a basis saves too little
_ROOM = 2**22  # numbers of the sums U'Qe that are kept at once


def leave_one_out(f: Spectrum, rows: Rows, lam: Array, unit: Array = OWN_UNITS) -> Array:
    """Mean squared error of each row predicted without it, r/(1 - h), exactly, (L, k).

    f is of columns that were divided by unit (p,), or by 1.
    """
    r, k = f.a.shape
    if f.A is None and k > max(r, TOGETHER):
        return _of_many(f, rows, lam, unit)
    total = np.zeros((len(lam), k))
    omega = rows.omega[rows.omega > 0] if f.A is not None else rows.omega
    at = 0
    for e, left in _residuals(f, rows, lam, unit):
        left = _of_one_copy(left, omega[at : at + len(e)])
        at += len(e)
        # Of wide rows 1 - h is a sum of positive numbers, without cancellation, however small.
        left = left if f.A is not None else np.maximum(left, _TIE)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 without a penalty
            total += ((e / left) ** 2).sum(axis=0)
    return total / f.weight


def _of_one_copy(left: Array, omega: Array) -> Array:
    """1 - h of one of a row's omega copies, or of the whole row where omega <= 1."""
    if not len(omega):
        return left
    heavy = np.maximum(omega, 1.0).reshape(-1, *[1] * (left.ndim - 1))
    return np.asarray((left + (heavy - 1)) / heavy)


def _residuals(f: Spectrum, rows: Rows, lam: Array, unit: Array) -> Iterator[tuple[Array, Array]]:
    """sqrt(omega) r and 1 - omega h, blocks of rows by penalties by targets."""
    r, shape = len(f.s), (-1, len(lam), f.a.shape[1])
    columns, shared_columns = len(lam) * f.a.shape[1], lam.size  # r may be zero: no -1 for these
    shared = (-1, *lam.shape)
    if f.A is not None:
        lost = f.lost(lam)
        own = (f.U @ (f.a[:, None] * lost).reshape(r, columns)).reshape(shape)
        yield own, (f.U**2 @ lost.reshape(r, shared_columns)).reshape(shared)
        return
    inverse = 1 / (f.s[:, None, None] + lam)
    fitted = ((f.a * np.sqrt(f.s)[:, None])[:, None] * inverse).reshape(r, columns)
    inverse = inverse.reshape(r, shared_columns)
    for Z, Y, share in _rotated(f, rows, unit):
        own = Y[:, None] - (Z @ fitted).reshape(shape)
        np.multiply(Z, Z, out=Z)
        yield own, (share - Z @ inverse).reshape(shared)


def _rotated(f: Spectrum, rows: Rows, unit: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Blocks of weighted rows about the means: x along V, y, and 1 less the bias's leverage."""
    p, k = len(f.V), f.a.shape[1]
    scale = np.ldexp(1.0, -np.append(np.full(p, f.e), f.e_y))
    scale[:p] /= unit
    ones = f.intercept / f.weight
    size, root, at = tile_rows(p + k), np.sqrt(rows.omega), 0
    none = np.empty((len(rows.Y), 0))
    for tile in tiles(rows.X, none, root, scale[:p], f.mean[:p], size):
        at, some = at + len(tile), slice(at, at + len(tile))
        Y = rows.Y[some] * scale[p:]
        Y -= f.mean[p:]
        if len(root):
            Y *= root[some, None]
        yield tile[:, :p] @ f.V, Y, 1 - ones * tile[:, -1:] ** 2


def _of_many(f: Spectrum, rows: Rows, lam: Array, unit: Array) -> Array:
    """`leave_one_out` of more targets than directions, a few penalties at a time."""
    r, k = f.a.shape
    few = max(_ROOM // (r * k), 1)
    total = np.empty((len(lam), k))
    for i in range(0, len(lam), few):
        groups = [_Group.of(f, which, own) for which, own in _equal(lam[i : i + few])]
        _add_rows(groups, f, rows, unit)
        for group in groups:
            total[i : i + few, group.which] = group.errors()
    return total / f.weight


def _equal(lam: Array) -> list[tuple[Any, Array]]:
    """Targets that share a column of lam, and the column; all of them where there is one."""
    if lam.shape[1] == 1:
        return [(slice(None), lam)]
    columns, which = np.unique(lam, axis=1, return_inverse=True)
    return [(np.flatnonzero(which == g), columns[:, g : g + 1]) for g in range(columns.shape[1])]


@dataclass
class _Group:
    """Targets of equal penalties: 1/(s + lam) (r, L), B (r, L, k), and sums over rows seen:

    ee (L, k) = q'e^2, and sums (r m, k + r) = U'P(e, U), where q = P basis' with m <= L columns:
    leverages hardly differ between neighbouring penalties. No basis at all means P = q.
    """

    which: Any
    inverse: Array
    B: Array
    ee: Array
    sums: Array
    basis: Array | None

    @classmethod
    def of(cls, f: Spectrum, which: Any, lam: Array) -> _Group:
        a, L = f.a[:, which], len(lam)
        r, k = a.shape
        sums = np.zeros((L, k)), np.zeros((r, 0, k + r)), np.zeros((L, 0))
        return cls(which, 1 / (f.s[:, None] + lam[:, 0]), a[:, None] * f.lost(lam), *sums)

    def spanned(self, q: Array) -> Array:
        """P (n, m) with q = P basis' of these rows; where it has to, the basis grows."""
        if self.basis is None:
            return q
        top = q.max(axis=1, keepdims=True)
        if np.any(_UNLIKE * q.min(axis=1, keepdims=True) < top):
            return self._all_of(q)
        Q = q / top
        P = Q @ self.basis
        left = Q - P @ self.basis.T
        if np.abs(left).max() > _LEFT:
            _, sizes, V = singular(triangle_of(left - (left @ self.basis) @ self.basis.T))
            more = V[sizes > _LEFT].T
            self.basis = np.hstack([self.basis, more])
            (L, m), (r, old, columns) = self.basis.shape, self.sums.shape
            wider = np.zeros((r, m, columns))
            wider[:, :old] = self.sums
            self.sums = wider
            if m > _WORTH * L:
                return self._all_of(q)
            P = Q @ self.basis
        P *= top
        return np.asarray(P)

    def _all_of(self, q: Array) -> Array:
        self.sums, self.basis = self.at_penalties(), None
        return q

    def at_penalties(self) -> Array:
        """U'Q(e, U) at each penalty, (r, L, k + r)."""
        return self.sums if self.basis is None else np.asarray(self.basis @ self.sums)

    def errors(self) -> Array:
        """Sums of q r^2 over the rows, (L, k)."""
        k, B = self.B.shape[2], self.B.swapaxes(0, 1)
        sums = self.at_penalties().swapaxes(0, 1)
        cross = 2 * sums[:, :, :k] + sums[:, :, k:] @ B
        return np.asarray(np.maximum(self.ee + np.einsum("ljt,ljt->lt", B, cross), 0.0))


def _add_rows(groups: list[_Group], f: Spectrum, rows: Rows, unit: Array) -> None:
    """Add the sums over all rows to those of each group."""
    at, room, product = 0, np.empty(0), np.empty(0)
    for Z, Y, share in _rotated(f, rows, unit):
        omega, at = rows.omega[at : at + len(Z)], at + len(Z)
        U, squares = Z / np.sqrt(f.s), Z * Z
        e, columns = Y - U @ f.a, np.ascontiguousarray(U.T)
        for group in groups:
            left = _of_one_copy(share - squares @ group.inverse, omega)
            q = np.maximum(left, _TIE)
            q = 1 / (q * q)
            mine = e[:, group.which]
            group.ee += q.T @ (mine * mine)
            P = np.ascontiguousarray(group.spanned(q).T)
            flat = group.sums.reshape(-1, group.sums.shape[2])
            room, product = _at_least(room, len(columns) * P.size), _at_least(product, flat.size)
            UP = room[: len(columns) * P.size].reshape(len(columns), *P.shape)
            np.multiply(columns[:, None], P, out=UP)
            own = product[: flat.size].reshape(flat.shape)
            flat += np.matmul(UP.reshape(-1, len(U)), np.hstack([mine, U]), out=own)


def _at_least(room: Array, size: int) -> Array:
    """Room for so many numbers: the same again if it is large enough, as new memory is slow."""
    return room if len(room) >= size else np.empty(size)
