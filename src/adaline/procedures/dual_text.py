"""A start for two classes of sparse text: coordinate descent on the dual variables of the rows.

    maximise  sum omega_i H(lambda_i / omega_i) - |sum lambda_i t_i x_i|^2 / (2 alpha)

H(a) = -a ln a - (1 - a) ln(1 - a), over 0 <= lambda_i <= omega_i; w = sum lambda_i t_i x_i / alpha.
Rows of text share few features, and a few passes bring the gap near rounding; then `newton` goes on
from there, and proves what it delivers. The bias, which is not penalised, adds the constraint
sum lambda_i t_i = 0: it is met by a proximal term on the bias, whose centre follows the bias.

Called by `newton`. It is a start only: where passes gain little, it ends. bench/bench_text.py has
what it saves.
"""

from __future__ import annotations

import numpy as np

from adaline.kernels import dual as kernels
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.losses import Logistic
from adaline.sums.objective import Objective

PASSES = 20  # at most; where features are shared by all rows, thousands would be needed
SLOW = 0.7  # a gap that is not this much smaller after a pass, from the fifth on, ends them
FIRST = -7.0  # log-odds of the first dual variables: about 0.001 omega
FOLLOWED = 100  # rows whose curvature holds the bias back: as many agree well enough on it


def is_text(objective: Objective) -> bool:
    """Whether these are two classes of sparse rows of many columns, with one penalty for all."""
    rows = objective.rows
    alpha = objective.penalty[:-1] / rows.scale**2
    plain = bool(alpha[0] > 0.0) and np.ptp(alpha) <= 1e-12 * alpha[0]
    return is_sparse(rows.X) and rows.is_wide and type(objective.loss) is Logistic and plain


def dual_start(objective: Objective, gap: float) -> Array:
    """theta (1, p + 1) where the duality gap is about so small."""
    rows, X = objective.rows, objective.rows.X
    t, omega, alpha = rows.y, rows.weights, float(objective.penalty[0] / rows.scale[0] ** 2)
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
