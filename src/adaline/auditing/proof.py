"""A proof that weights are near the minimiser, which anybody can check with fractions.

With rows z = (x, 1) in columns scaled by d, a Hessian H at the weights and H - lambda I = L L' + E,

    |theta - theta*| <= d |g| / ((lambda - |E|) (1 - u)),    u = max |z| |g| / (lambda - |E|)

for losses whose curvature changes by at most e^s over a change s of a score (theorem (b) of
`certificates.bounds`, with norms that need no roots), and u = 0 for squares. The file holds theta,
d, lambda, L and the distance; checkers/check_optimality.py computes the rest exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from adaline.parameters import is_sparse

if TYPE_CHECKING:
    from adaline.auditing.minimum import Problem
    from adaline.results import Array

MOST_PRODUCTS = 1e7  # rows x columns² of a proof: a checker takes about half a minute then
EPS = float(np.finfo(np.float64).eps)


def prove_distance(problem: Problem, theta: Array, labels: Any = None) -> dict[str, Any] | None:
    """The proof for weights theta (p + 1,), the intercept last; None where it does not succeed."""
    X, y = problem.X, np.asarray(problem.y, dtype=np.float64).reshape(problem.X.shape[0], -1)
    intercept = int(problem.intercept)
    n, q = X.shape[0], X.shape[1] + intercept
    if max(problem.K, y.shape[1]) > 1 or len(problem.offset) or n * q * q > MOST_PRODUCTS:
        return None
    dense = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
    Z = np.column_stack([dense, np.ones((n, intercept))])
    theta, omega = theta[:q], problem.omega if len(problem.omega) else np.ones(n)
    penalty = np.append(np.full(X.shape[1], problem.alpha), np.zeros(intercept))
    with np.errstate(all="ignore"):
        r, h, size = derivatives(problem.criterion, Z @ theta, y[:, 0])
        H = Z.T @ ((omega * h)[:, None] * Z) + np.diag(penalty)
        d = 2.0 ** -np.round(np.log2(np.diagonal(H)) / 2.0)
        H *= d * d[:, None]
        if not np.isfinite(H).all():
            return None
        least = float(np.linalg.eigvalsh(H)[0]) / 2.0
        if least <= 1e-10:
            return None
        L = np.linalg.cholesky(H - least * np.eye(q))
        Z *= d
        # Rounding: of sums over n rows, and of scores of q products.
        lost = 4 * (n + q + 8) * EPS
        residual = r @ (omega[:, None] * Z) + penalty * theta * d
        doubt = (np.abs(r) + size) @ (omega[:, None] * np.abs(Z)) + penalty * np.abs(theta) * d
        doubt += np.abs(omega * h * (np.abs(Z) @ np.abs(theta / d))) @ np.abs(Z)
        g = float(np.sum(np.abs(residual) + lost * doubt))
        norm = float(np.abs(H - least * np.eye(q) - L @ L.T).sum(axis=0).max())
        bound = least - norm - lost * q * float(np.abs(H).sum(axis=0).max())
        u = float(np.abs(Z).sum(axis=1).max()) * g / bound
        u = 0.0 if problem.criterion == "least-squares" else u
    if not (bound > 0.0 and u < 0.5):
        return None
    return {
        "criterion": problem.criterion,
        "alpha": problem.alpha,
        "fit_intercept": problem.intercept,
        "labels": None if labels is None else [str(label) for label in labels],
        "weights": theta.tolist(),
        "distance": (d * (g / bound / (1.0 - u) * (1.0 + 1e-9))).tolist(),
        "scale": d.tolist(),
        "lambda": least,
        "factor": [row[: j + 1] for j, row in enumerate(L.tolist())],
    }


def derivatives(criterion: str, v: Array, y: Array) -> tuple[Array, Array, Array]:
    """The first two derivatives of the loss at the scores v, and the size of what is rounded."""
    if criterion == "least-squares":
        return v - y, np.ones_like(v), np.abs(v) + np.abs(y)
    mean = np.exp(v) if criterion == "poisson" else expit(v)
    slope = mean if criterion == "poisson" else mean * expit(-v)
    return mean - y, slope, mean + np.abs(y)
