"""A loss summed over rows at theta: value, gradient and curvature, in pieces that add up.

    f(theta) = sum_i omega_i loss_i(theta'z_i + offset_i) + sum_j penalty_j theta_j^2 / 2
    z = (scale x - shift, 1)

theta (K, p + 1) holds the weights and, last, the bias; one output is K = 1. Scales are powers of
two and shifts are near the columns' means, so that unscaled and shifted columns cost no digits;
the penalty is that of the weights in the units of X. What the loss of a row is, a `Loss` of
`adaline.losses` says; this file holds all that does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline._threads import pieces
from adaline.kernels.losses import losses
from adaline.kernels.losses.links import ROWS
from adaline.kernels.sums import sums
from adaline.linalg import UNDERFLOW, UNIT, inner
from adaline.results import Array
from adaline.row_sums.objective_sums import (
    MANY,
    UNPACKED,
    added,
    and_bias,
    copied_rows,
    gram,
    has_pair_grams,
    over_rows,
    pair_grams,
    units_of_columns,
)
from adaline.tiles import entries, is_sparse, tile_rows

LONG = 400  # columns, from which a block of rows no longer stays in the cache
NEAR = 4.0  # means of this many deviations cost no digit to speak of
_STEEPEST = 2.0**1000  # curvature of a penalty, at most
_FAINTEST = float(np.finfo(np.float64).smallest_subnormal)
_UNSURE = 0.01  # proofs have slack for values, and so for curvatures, that are off by this much
_NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """f and its gradient (K, p + 1) at theta.

    least is the smallest lead of a row's own class (-inf where there are no classes), slopes the
    sum of dloss/dv over the rows, and size what the rounding of f is measured by.
    """

    f: float
    g: Array
    least: float
    slopes: float
    size: float


Part = tuple[float, Array, float]  # loss, gradient (K, p + 1) and least lead of some rows


class Extent(Protocol):
    """How many rows there are and how large: what bounds on rounding are made of.

    Rows in memory are an `Objective`; rows of a file are known by sums only.
    """

    @property
    def n(self) -> int:
        """Rows."""
        ...

    @property
    def weight(self) -> float:
        """Sum of the sample weights."""
        ...

    @property
    def total(self) -> float:
        """Sum of omega times the target, where targets are numbers."""
        ...

    @property
    def top(self) -> Array:
        """Bounds on |z_j|, (p + 1,)."""
        ...

    @property
    def length(self) -> Array:
        """Bounds on the root of sum omega z_j^2, (p + 1,)."""
        ...

    @property
    def farthest(self) -> float:
        """The largest |offset|."""
        ...

    @property
    def uncentred(self) -> Array:
        """|z - x scale| of the columns where sums are made of x instead of z; else 0, (p + 1,)."""
        ...

    def depth(self) -> float:
        """Rounded additions behind a component of the gradient, at most."""
        ...


class Loss(Protocol):
    """What Newton's procedure asks of a criterion.

    Its third derivative must be at most the second: then the curvature changes by at most a factor
    exp(s) where no value moves by more than s, on which the proofs of `certificates.optimality`
    rest.
    """

    endless: str
    """Why weights may grow without bound where there is no penalty."""

    def parts(self, rows: Objective, theta: Array, slopes: Array) -> list[Part]:
        """Sums over pieces of the rows, without the penalty; fills slopes where it has room.

        For one output slopes (n,) are the roots of omega d2loss/dv2; for K classes they are the
        probabilities (n, K).
        """
        ...

    def size(self, rows: Extent, theta: Array, f: float, slopes: float) -> float:
        """Sum of the sizes of the terms of f, about; slopes is the sum of omega dloss/dv."""
        ...

    def rounding(self, rows: Extent, theta: Array, slopes: float) -> Array:
        """Bound on what rounding may have done to the gradient without the penalty, (p + 1,)."""
        ...

    def start(self, rows: Objective) -> Array:
        """A theta (K, p + 1) to begin with."""
        ...

    def null(self, rows: Objective) -> float:
        """Sum of the losses of the best fit without features."""
        ...

    def saturated(self, rows: Objective) -> float:
        """The least that the sum of the losses could be: deviance is twice what lies above."""
        ...

    def constant(self, rows: Objective) -> float:
        """What the loss leaves out of minus the log likelihood."""
        ...


@dataclass(frozen=True, eq=False)
class Objective:
    """Rows, their targets and weights, a loss, and the units in which theta is measured.

    Attributes
    ----------
    loss : Loss
    X : ndarray or CSR of shape (n, p)
    target : ndarray of shape (n,)
        As the loss wants it.
    omega, offset : ndarray of shape (n,) or empty
        Sample weights, and what is added to the values theta'z.
    K : int
    intercept : bool
    scale, shift : ndarray of shape (p,)
    penalty : ndarray of shape (p + 1,)
        Curvature of the penalty; zero for the bias.
    top, length : ndarray of shape (p + 1,)
        Bounds on |z_j| and on the root of sum omega z_j^2.
    """

    loss: Loss
    X: Any
    target: NDArray[Any]
    omega: Array
    offset: Array
    K: int
    intercept: bool
    scale: Array
    shift: Array
    penalty: Array
    top: Array
    length: Array

    @classmethod
    def of(
        cls,
        loss: Loss,
        X: Any,
        target: NDArray[Any],
        omega: Array,
        alpha: float,
        intercept: bool,
        *,
        K: int = 1,
        offset: Array = _NONE,
    ) -> Objective:
        """In units that fit the columns, with the penalty alpha / 2 |w|^2."""
        with np.errstate(invalid="ignore", over="ignore"):  # NaN in X gives NaN in length
            scale, shift, top, length = units_of_columns(X, omega, intercept)
        penalty = penalty_of(alpha, scale)
        rest = omega, offset, K, intercept, scale, shift, penalty, top, length
        return cls(loss, X, target, *rest)

    def on(self, X: Any, alpha: float) -> Objective:
        """The same loss and targets with other columns for the same rows."""
        rest = self.target, self.omega, alpha, self.intercept
        return Objective.of(self.loss, X, *rest, K=self.K, offset=self.offset)

    def room(self) -> Array:
        """Where `at` leaves the slopes of the rows."""
        n = self.X.shape[0]
        return np.empty(n if self.K == 1 else (n, self.K))

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.X.shape[0])

    @cached_property
    def weight(self) -> float:
        """Sum of the sample weights."""
        return float(self.omega.sum()) if len(self.omega) else float(self.X.shape[0])

    @cached_property
    def total(self) -> float:
        """Sum of omega times the target."""
        return float(self.omega @ self.target if len(self.omega) else np.sum(self.target))

    @cached_property
    def farthest(self) -> float:
        """The largest |offset|."""
        return float(np.max(np.abs(self.offset), initial=0.0))

    @property
    def uncentred(self) -> Array:
        """Of K classes, and where they are long, plain rows are summed as they are."""
        away = np.zeros(len(self.top))
        if self.long_rows or (self.K > 1 and self.plain):
            away[:-1] = np.abs(self.shift)
        return away

    @property
    def is_wide(self) -> bool:
        """Whether there are too many columns for a matrix of columns x columns."""
        return len(self.penalty) > MANY

    @property
    def centred(self) -> bool:
        """Whether rows are unpacked and centred; wide sparse rows are not."""
        return not is_sparse(self.X) or len(self.scale) <= UNPACKED

    @property
    def plain(self) -> bool:
        """Whether X can be multiplied as it is: the columns' means are near zero already."""
        return bool(self.X.dtype == np.float64 and self._near_zero)

    @property
    def long_rows(self) -> bool:
        """Whether one output is summed over rows as they are, each so long that it is read once."""
        return self.K == 1 and len(self.scale) >= LONG and self._near_zero

    @cached_property
    def _near_zero(self) -> bool:
        dense = isinstance(self.X, np.ndarray) and self.X.flags.c_contiguous
        return dense and bool(np.all(np.abs(self.shift) <= NEAR))

    def at(self, theta: Array, slopes: Array = _NONE) -> Evaluation:
        """Value and gradient; fills slopes, made by `room`, where given."""
        f, g, least = _whole(self.loss.parts(self, theta, slopes))
        g = g.reshape(theta.shape)
        total = float(np.add.reduce(g[:, -1]))
        if not self.intercept:
            g[:, -1] = 0.0
        size = self.loss.size(self, theta, f, total)
        pull = self.penalty * theta
        own = 0.5 * inner(pull, theta)
        return Evaluation(f + own, g + pull, least, total, size + own)

    def neuron(self, code: int, theta: Array, slopes: Array) -> list[Part]:
        """`Loss.parts` of one output whose loss `kernels.losses.links` knows by this code."""
        X, shift = self.X, self.shift if self.centred else _NONE
        theta = np.ascontiguousarray(theta[0])

        def of_piece(i: int, j: int) -> Part:
            rows = self.target[i:j], self.omega[i:j], self.offset[i:j]
            rest = *rows, self.scale, shift, theta, slopes[i:j]
            if is_sparse(X):
                data, indices, indptr = entries(X)
                some = data, indices, indptr[i : j + 1]
                return losses.neuron_sparse(code, *some, *rest)  # type: ignore[no-any-return]
            return losses.neuron_dense(code, X[i:j], *rest)  # type: ignore[no-any-return]

        return over_rows(of_piece, X)

    def gram(self, root: Array, stride: int = 1) -> Array:
        """Sum of root^2 z z' over every stride-th row, without the penalty; (p + 1, p + 1)."""
        if stride == 1 and self.is_small:
            G: Array = sums.gram_of_few(self._few_rows, root)
        elif stride == 1 and self.K > 1 and has_pair_grams(self.X):
            # By what Hessians of K classes are made of: nothing else has to be compiled.
            R = np.column_stack([root, np.ones(len(root))])
            G = pair_grams(self.X, R, self.scale, self.shift)[0]
        else:
            some = self.X[::stride], np.ascontiguousarray(root[::stride])
            G = gram(*some, self.scale, self.shift, apart=stride > 1)
        if not self.intercept:
            G[-1], G[:, -1], G[-1, -1] = 0.0, 0.0, 1.0
        return G

    @property
    def is_small(self) -> bool:
        """Whether rows are so few that numpy makes their Gram matrices."""
        return self.n * len(self.top) ** 2 <= sums.FEW_PRODUCTS

    @cached_property
    def _few_rows(self) -> Array:
        """All z (n, p + 1), made once for all Gram matrices of a small table."""
        X = self.X.toarray() if is_sparse(self.X) else self.X
        return np.asarray(sums.few_rows(X, np.empty((self.n, 0)), self.scale, self.shift))

    def with_penalty(self, alpha: float, units: Array | None = None) -> Objective:
        """The same rows with another penalty, alpha / 2 |w|^2 in the units of X.

        With units (p,) it is sum penalty_j w_j^2 / 2, penalty = alpha * units**2.
        """
        own = self.scale if units is None else self.scale * units
        return replace(self, penalty=penalty_of(alpha, own))

    def thinned(self, stride: int) -> Objective:
        """Every stride-th row, weights enlarged so that their sum stays the same."""
        omega = self.omega[::stride] if len(self.omega) else np.ones(-(-self.X.shape[0] // stride))
        X = self.X[::stride]
        omega = omega * (self.weight / max(float(omega.sum()), np.finfo(np.float64).tiny))
        X = X if is_sparse(X) else copied_rows(X)
        target, offset = self.target[::stride].copy(), self.offset[::stride].copy()
        return replace(self, X=X, target=target, omega=omega, offset=offset)

    def depth(self) -> float:
        """Rounded additions behind a component of the gradient, at most."""
        n, q = self.X.shape[0], len(self.top)
        start, stop = pieces(n, q - 1)[0]
        return float(tile_rows(q) + (stop - start) / ROWS + 64 if self.centred else n)

    def rounding(self, theta: Array, here: Evaluation) -> Array:
        """Bound on what rounding may have done to each component of the gradient, (p + 1,)."""
        return gradient_rounding(self.loss, self, self.penalty, self.scale, theta, here.slopes)

    def original(self, theta: Array) -> tuple[Array, Array]:
        """W (K, p) and b (K,) for the columns as they came."""
        return theta[:, :-1] * self.scale, theta[:, -1] - theta[:, :-1] @ self.shift


def _whole(parts: list[Part]) -> Part:
    """The sum of pieces, of which there is one where rows are few."""
    if len(parts) == 1:
        f, g, least = parts[0]
        return float(f), g, float(least)
    f, least = sum(float(part[0]) for part in parts), min(float(part[2]) for part in parts)
    return f, added([part[1] for part in parts]), least


def penalty_of(alpha: float, scale: Array) -> Array:
    """Curvature (p + 1,) of alpha / 2 |w|^2 for w = theta scale; zero for the bias.

    It stays positive where alpha is: a loss with a penalty has a minimum on any data.
    """
    with np.errstate(over="ignore"):  # columns of 1e-200: as good as no column
        own = np.minimum(alpha * scale * scale, _STEEPEST)
    return and_bias(np.maximum(own, _FAINTEST if alpha > 0 else 0.0), 0.0)


def reach(rows: Extent, theta: Array, away: Array | float = 0.0) -> float:
    """Bound on |theta|'(|z| + away) + |offset|, of the output where it is largest."""
    return float((np.abs(theta) @ (rows.top + away)).max()) + rows.farthest


def gradient_rounding(
    loss: Loss, rows: Extent, penalty: Array, scale: Array, theta: Array, slopes: float
) -> Array:
    """Bound on what rounding may have done to the gradient with its penalty, (p + 1,).

    Where x is summed in the place of z, the scale enlarges what products have lost. Infinite where
    values are not right to a percent: then curvatures are not, on which proofs rest, too.
    """
    if not (len(rows.top) + 4) * UNIT * reach(rows, theta, 2.0 * rows.uncentred) < _UNSURE:
        return np.full(len(rows.top), np.inf)
    lost = rows.n * UNDERFLOW * and_bias(np.maximum(scale, 1.0), 1.0)
    own = _penalty_rounding(penalty, theta) + lost
    return np.asarray(loss.rounding(rows, theta, slopes) + own)


def _penalty_rounding(penalty: Array, theta: Array) -> Array:
    """Bound on what rounding did to the penalty's part of the gradient, (p + 1,).

    Infinite where the penalty had to be lowered: nothing is proven then.
    """
    own = 4.0 * UNIT * np.abs(penalty * theta).max(axis=0)
    own += UNDERFLOW * np.abs(theta).max(axis=0)  # a penalty too small for float64
    return np.where(penalty < _STEEPEST, own, np.inf)
