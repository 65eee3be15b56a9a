"""Ho and Kashyap: find weights and margins together, or the proof that there are none.

    e = Ya - b,    b <- b + eta (e + |e|),    a <- Y^+ b

Rows of Y are t (1, x), t = -1 or +1. Margins b start positive and never fall. On separable
classes e -> 0, so that Ya -> b > 0. On others e comes to have no positive component while e != 0;
as Y'e = 0, lambda = -e >= 0 is a weighing of the samples that balances every hyperplane, and no
Ya can be positive throughout. Lecture 001.

With an orthonormal basis Q of the columns of (1, X), Y Y^+ is t Q Q't: an iteration is two
products, and the pseudoinverse is never formed. Columns are centred where there is a bias, which is
exact when they are far from zero, and brought to unit length, so that neither offsets nor units
cost digits.

Called by estimators/separation. Legend: root (n,) square roots of the sample weights, by which
every row of Y and b is multiplied; c (n,) = root times values at the samples; u = Q'c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adaline.linalg import UNIT, condition, eigen, graded_both, singular
from adaline.parameters import is_sparse
from adaline.procedures.krylov import CentredRows, solve
from adaline.results import Array, Fit, Steps, Stepwise
from adaline.sums.rows import Rows
from adaline.sums.threads import one_blas_thread

UNPACKED = 2**25  # numbers up to which CSR rows are unpacked, 256 MB; beyond, they stay sparse
SIDE = 20_000  # of the largest matrix that is made of rows that stay sparse
WELL = 1e5  # condition number up to which QR finds the shortest weights with all digits

Proof = Callable[[Array], bool]
Start = tuple[Array, float, Array]  # w, bias and the values w'x + bias


@dataclass(frozen=True, eq=False)
class HoKashyapFit(Fit):
    """A Fit found with its margins; K neurons, n samples."""

    margins: Array  # the last b, (K, n)
    errors: Array  # e = Ya - b, (K, n)
    iterations: tuple[int, ...]  # k of the last a(k), for each neuron; the start is a(1)
    # How each ended: "separated", all Ya > 0; "balanced", e <= 0 with e != 0; or "iterations".
    ends: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """The end: w, bias, b and e without the weights of the samples, k, and how it ended."""

    w: Array
    bias: float
    margins: Array
    errors: Array
    k: int
    end: str


@dataclass(frozen=True, eq=False)
class Iteration:
    """a(k), as coordinates u or a start, with b(k) and Ya(k) before the correction."""

    space: ColumnSpace
    u: Array
    start: Start | None
    b: Array
    Ya: Array
    root: Array

    def state(self) -> tuple[Array, float, Array, Array]:
        """w, bias, b and Ya, the last two without the weights of the samples."""
        w, bias = self.start[:2] if self.start else self.space.weights(self.u)
        return w, bias, self.b / self.root, self.Ya / self.root


@Stepwise
def ho_kashyap(
    space: ColumnSpace,
    t: Array,
    b: Array,
    root: Array,
    start: Start | None = None,
    *,
    eta: float = 0.9,
    max_iter: int = 1000,
    tol: float = 1e-6,
    proof: Proof = lambda balance: True,
) -> Steps[Run]:
    """Margins and weights of one dichotomy; its steps are `Iteration`s.

    `space` is that of (1, X), factorised once; `t` -1 or +1; `b` the first margins, positive.
    `start` is a(1) as (w, bias, values w'x + bias); without one it is Y^+ b(1). Corrections e + |e|
    below `tol` times the largest |e| count as none. Then `proof` is asked whether lambda (n,)
    proves what it seems to, and asked again at a tenth of tol while it does not.
    """
    b = root * b
    u = np.empty(0) if start else space.coordinates(t * b)
    for k in range(1, max_iter + 1):
        with one_blas_thread(0):  # more threads would change the last digit
            Ya = root * t * start[2] if start else t * space.values(u)
            e = Ya - b
            raised = b + eta * (e + np.abs(e))
            ahead = space.coordinates(t * raised)
        least, low, high = float(Ya.min()), float(e.min()), float(e.max())
        step = Iteration(space, u, start, b, Ya, root)
        yield k, step
        end = ""
        # Ya carries rounding errors of about |b| UNIT: signs below that say nothing. At a given
        # a(1), Y'e = 0 does not hold yet, and only separation ends it.
        noise = 16 * UNIT * float(np.linalg.norm(b))
        if least > noise:
            end = "separated"
        elif start is None and -low > noise and high <= max(tol * -low, noise):
            balance = np.maximum(b - Ya, 0.0) * root  # lambda, without what is left of positive e
            if proof(balance) or high <= noise:  # nothing is left to correct
                end = "balanced"
            tol /= 10
        if end or k == max_iter:
            w, bias, margins, _ = step.state()
            return Run(w, bias, margins, (Ya - b) / root, k, end or "iterations")
        b, u, start = raised, ahead, None
    raise ValueError(f"max_iter is {max_iter}; expected 1 or more.")


def column_space(X: Any, omega: Array, intercept: bool) -> ColumnSpace:
    """An orthonormal basis of the columns of (1, X), of rows of positive weights omega (n,)."""
    n, p = X.shape
    root = np.sqrt(omega) if len(omega) else np.ones(n)
    if not is_sparse(X) or n * p <= UNPACKED:
        return Dense.of(X.toarray() if is_sparse(X) else X, root, intercept)
    if min(n, p) <= SIDE:
        return Sparse(X.astype(np.float64), root, intercept)
    raise ValueError(
        f"X is sparse with {n} rows and {p} columns; Ho-Kashyap factorises a matrix of the "
        f"smaller side, at most {SIDE}. Use Perceptron, or `separability` for a proof."
    )


@dataclass(frozen=True, eq=False)
class Dense:
    """Q' (r, n) in memory: root 1 and U of the columns root (z - mean) / length = U diag(s) V'.

    z = x 2**-exponent.
    """

    Q: Array
    s: Array
    Vt: Array
    length: Array
    mean: Array
    exponent: Array
    size: float  # |root|, with a bias; else 0

    @classmethod
    def of(cls, X: Array, root: Array, intercept: bool) -> Dense:
        """By a singular value decomposition of the weighted, centred columns."""
        top = np.maximum(X.max(axis=0), -X.min(axis=0))
        exponent = np.frexp(top.astype(np.float64))[1]
        Z = np.ldexp(X.astype(np.float64), -exponent)
        mean, axis = np.zeros(Z.shape[1]), np.zeros((0, len(Z)))
        if intercept:
            shift = Z[0] + (Z - Z[0]).mean(axis=0)  # exact for constant columns
            Z -= shift
            mean = (root**2 @ Z) / (root @ root)
            Z -= mean
            mean += shift
            axis = root[None] / np.linalg.norm(root)
        Z *= root[:, None]
        length = np.linalg.norm(Z, axis=0)
        # What centring leaves of a constant column is the rounding of its mean.
        moving = length > 16 * UNIT * np.abs(mean) * np.linalg.norm(root)
        Z[:, ~moving] = 0.0
        length = np.where(moving, length, 1.0)
        U, s, Vt = singular(Z / length)
        noise = UNIT * max(8 * Z.shape[1] ** 0.5, len(Z) ** 0.5)
        r = int(np.count_nonzero(s > noise * s.max(initial=0.0)))
        Q, size = np.concatenate([axis, U[:, :r].T]), float(np.linalg.norm(root)) * intercept
        return cls(Q, s[:r], Vt[:r], length, mean, exponent, size)

    def coordinates(self, c: Array) -> Array:
        return np.asarray(self.Q @ c)

    def values(self, u: Array) -> Array:
        return np.asarray(u @ self.Q)

    def weights(self, u: Array) -> tuple[Array, float]:
        """(w, b) with root (w'x + b) = Q u at the samples; of many the one with the least |w|."""
        S, exponent = self.solver
        z = S @ u[self.size > 0 :]
        with np.errstate(over="ignore"):  # weights that no float64 can be are infinite
            w = np.ldexp(z, -exponent)
            z = np.ldexp(z, self.exponent - exponent)
        return w, u[0] / self.size - float(self.mean @ z) if self.size else 0.0

    @cached_property
    def solver(self) -> tuple[Array, Array]:
        """S and e: weights w = (S u) 2**-e have the coordinates u, and the least |w| of all."""
        r, p = self.Vt.shape
        if r == p:
            return (self.Vt.T / self.s) / self.length[:, None], self.exponent
        # M'w = u has many solutions, and the shortest depends on the units: they are the user's.
        common = np.full(p, self.exponent.max(initial=0))
        M = np.ldexp(self.s[:, None] * self.Vt * self.length, self.exponent - common).T
        Q, R = np.linalg.qr(M)
        if condition(R) < WELL:
            return Q @ np.linalg.inv(R).T, common
        U, s, V = graded_both(M)  # Jacobi: small only because of their columns' units
        keep = s > 0.0
        return (U[:, keep] / s[keep]) @ V[:, keep].T, common


class Sparse:
    """Q = A M for CSR rows too many to unpack, as a product: A are the rows about their mean.

    From A'A or A A', whichever is smaller; half of the digits go, which CSR can spare. With fewer
    rows than columns, Q itself comes from A A', and M (n, r) are eigenvectors over eigenvalues.
    """

    def __init__(self, X: Any, root: Array, intercept: bool) -> None:
        exponent = np.frexp(abs(X).max(axis=0).toarray().ravel())[1]
        self.units = np.ldexp(1.0, np.maximum(exponent, -1020))  # 2^1024 is no number
        self.X, self.root = X, root
        self.A = A = self._centred(np.zeros(len(root)), intercept, self.units)
        self.size = float(np.linalg.norm(root))
        self.axis = root[None] / self.size if intercept else np.zeros((0, len(root)))
        wide = X.shape[0] <= X.shape[1]
        values, V = eigen(A.gram() if wide else A.scatter_matrix())
        keep = values > 64 * len(values) * UNIT * values.max(initial=0.0)
        V, values = V[:, keep], values[keep]
        self.Q: Array | None = V if wide else None
        self.M = V / (values if wide else np.sqrt(values))

    def _centred(self, y: Array, intercept: bool, units: Array | None) -> CentredRows:
        return CentredRows.of(Rows(self.X, y[:, None], self.root**2), intercept, units)

    def coordinates(self, c: Array) -> Array:
        rest = self.M.T @ self.A.transposed(c[:, None])[:, 0] if self.Q is None else self.Q.T @ c
        return np.append(self.axis @ c, rest)

    def values(self, u: Array) -> Array:
        first, rest = u[: len(self.axis)], u[len(self.axis) :, None]
        v = self.A.times(self.M @ rest) if self.Q is None else self.Q @ rest
        return np.asarray(v[:, 0] + first @ self.axis)

    def weights(self, u: Array) -> tuple[Array, float]:
        """(w, b) with root (w'x + b) = Q u at the samples; of many the one with the least |w|."""
        A, bias, u = self.A, len(self.axis), u.copy()
        first, u[:bias] = u[:bias] / self.size, 0.0
        z = self._scaled_weights(u)
        if self.M.shape[1] < A.p:
            # The shortest ones are in the span of the rows in the user's units, where steps of
            # conjugate gradients stay. What they leave is added in units that keep its digits.
            v = A.times(z[:, None])[:, 0]
            B = self._centred(v / self.root, A.intercept, None)
            w = np.ldexp(solve(B, np.zeros(1), np.ones((A.p, 1)))[0][:, 0], B.e_y - B.e)
            z = w * self.units
            z += self._scaled_weights(self.coordinates(v - A.times(z[:, None])[:, 0]))
        return z / self.units, float(first[0] - A.mean[: A.p] @ z) if bias else 0.0

    def _scaled_weights(self, u: Array) -> Array:
        """Weights of the columns divided by their units."""
        z = self.M @ u[len(self.axis) :, None]
        return np.asarray((z if self.Q is None else self.A.transposed(z))[:, 0])


ColumnSpace = Dense | Sparse
