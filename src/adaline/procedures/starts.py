"""Where Newton's method begins: a minimum over n numbers, or coordinate descent on the rows.

**Row space**, where columns outnumber the rows: at the minimum, weights are combinations of the
rows. With the penalty D and G = Z D^-1 Z' = L L', values are v = L u + b and the penalty is
|u|^2 / 2: the loss of the rows L of n columns.

**Text** of two classes: coordinate descent on the dual variables of the rows.

    maximise  sum omega_i H(lambda_i / omega_i) - |sum lambda_i t_i x_i|^2 / (2 alpha)

H(a) = -a ln a - (1 - a) ln(1 - a), over 0 <= lambda_i <= omega_i; w = sum lambda_i t_i x_i / alpha.
Rows of text share few features, and a few passes bring the gap near rounding; then `newton` goes on
from there, and proves what it delivers. The bias, which is not penalised, adds the constraint
sum lambda_i t_i = 0: it is met by a proximal term on the bias, whose centre follows the bias.

Called by `newton`, and by `penalty_search`, whose penalties are multiples of D. Constants:
bench/bench_text.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from adaline.linalg import UNIT, cholesky, eigen, solve_cholesky
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import Logistic
from adaline.sums.objective import Objective
from adaline.sums.scaled_rows import ScaledRows

NUMBERS = 2**16  # of Z at a time: larger arrays cost more to allocate than to fill
PASSES = 20  # at most; where features are shared by all rows, thousands would be needed
SLOW = 0.7  # a gap that is not this much smaller after a pass, from the fifth on, ends them
FIRST = -7.0  # log-odds of the first dual variables: about 0.001 omega
FOLLOWED = 100  # rows whose curvature holds the bias back: as many agree well enough on it


def row_space(objective: Objective) -> tuple[Objective, Callable[[Array], Array]]:
    """The same minimum over n numbers, and the function that gives theta back from theirs."""
    rows, root = objective.rows, np.sqrt(objective.penalty[:-1])
    G = np.zeros((rows.n, rows.n))
    for part in _columns(rows, root):
        product = part @ part.T
        G += product.toarray() if is_sparse(product) else product
    # Rows that depend on others, as centred ones do, need a little more.
    little = 64 * rows.n * UNIT * G.diagonal().max(initial=0.0)
    R = cholesky(G + little * np.eye(rows.n))
    if R is None:
        values, U = eigen(G)
        keep = values > 1e-13 * len(values) * max(values[-1], 0.0)
        roots, U = np.sqrt(values[keep]), U[:, keep]
    L = U * roots if R is None else np.ascontiguousarray(R.T)

    def dual(u: Array) -> Array:
        return np.asarray((U / roots) @ u if R is None else solve_cholesky(R, L @ u))

    def back(theta: Array) -> Array:
        w = rows.combine(dual(theta[:, :-1].T))[:, :-1] / objective.penalty[:-1]
        return np.column_stack([w, theta[:, -1]])

    k = L.shape[1]
    few = replace(
        rows,
        X=L,
        scale=np.ones(k),
        shift=np.zeros(k),
        top=np.append(np.abs(L).max(axis=0), 1.0),
        deviation=L.std(axis=0),
    )
    return replace(objective, rows=few, penalty=np.append(np.ones(k), 0.0)), back


def _columns(rows: ScaledRows, root: Array) -> Iterator[Any]:
    """Blocks of columns of Z D^-1/2; of sparse rows that are not centred, all at once."""
    if is_sparse(rows.X) and not rows.shift.any():
        X = rows.X.astype(np.float64).copy()
        X.data *= (rows.scale / root)[X.indices]
        yield X
        return
    X = rows.X.toarray() if is_sparse(rows.X) else rows.X
    size = max(NUMBERS // rows.n, 64)
    for c in (slice(k, k + size) for k in range(0, len(root), size)):
        part = X[:, c] * (rows.scale[c] / root[c])
        part -= rows.shift[c] / root[c]
        yield part


def is_text(objective: Objective) -> bool:
    """Whether these are two classes of sparse rows of many columns, with one penalty for all."""
    rows = objective.rows
    alpha = objective.penalty[:-1] / rows.scale**2
    plain = bool(alpha[0] > 0.0) and np.ptp(alpha) <= 1e-12 * alpha[0]
    return is_sparse(rows.X) and rows.is_wide and type(objective.loss) is Logistic and plain


def dual_start(objective: Objective, gap: float) -> Array:
    """theta (1, p + 1) where the duality gap is about so small."""
    from adaline.kernels import dual as kernels  # only text needs it

    rows, X = objective.rows, objective.rows.X
    t, omega, alpha = rows.Y, rows.weights, float(objective.penalty[0] / rows.scale[0] ** 2)
    entries = X.data, X.indices, X.indptr
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    u = np.full(rows.n, FIRST)
    lam = omega / (1.0 + np.exp(-FIRST))
    z = np.asarray(X.T @ (lam * t), dtype=np.float64)
    plus, minus = omega[t > 0.0].sum(), omega[t < 0.0].sum()
    b = np.array([np.log(plus / minus) if rows.intercept else 0.0, 0.0])
    random, before, curvature = np.random.default_rng(0), np.inf, 0.25 * rows.weight
    for k in range(PASSES):
        pull = max(rows.n / FOLLOWED, 1.0) / curvature if rows.intercept else 0.0
        b[1] = lam @ t if rows.intercept else 0.0
        order = random.permutation(rows.n)
        now = kernels.dual_pass(*entries, t, omega, squares, order, alpha, pull, b, u, lam, z)
        b[0] += pull * b[1]
        if not np.isfinite(now) or now <= gap or (k > 3 and now > SLOW * before):
            break
        before = now
        curvature = float(lam @ (1.0 - lam / np.where(omega > 0.0, omega, 1.0)))
        curvature = max(curvature, 1e-16 * rows.weight)
    theta = rows.theta(z[None] / alpha, b[:1])
    return theta if np.isfinite(theta).all() else objective.loss.start(rows, 1)
