"""A loss summed over rows: value, slope and curvature of any kind of rows, and their rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.sums.losses import Gamma, Logistic, Poisson, Softmax
from adaline.sums.objective import Objective
from adaline.sums.scaled_rows import MANY

CASES = {"logistic": 1, "softmax": 3, "poisson": 1, "gamma": 1}
FORMS = {
    "dense": np.asarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
}


def objective(rng, case="logistic", n=150, p=4, form="dense", alpha=0.7, intercept=True, **more):
    """Rows of columns of several sizes, means and weights; float32 holds the same numbers."""
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    X, K = X.astype(np.float32).astype(np.float64), CASES[case]
    omega = rng.uniform(0.5, 2.0, n) if more.get("weighted", True) else np.empty(0)
    if case in ("logistic", "softmax"):
        y = rng.integers(0, max(K, 2), n)
        loss, t = (Logistic(), 2.0 * y - 1.0) if K == 1 else (Softmax(), y)
        return Objective.of(loss, FORMS[form](X), t, omega, alpha, intercept, K=K), X, y, omega
    y, offset = rng.poisson(2.0, n) + 1.0, rng.standard_normal(n)
    loss = Poisson() if case == "poisson" else Gamma()
    of = Objective.of(loss, FORMS[form](X), y, omega, alpha, intercept, offset=offset)
    return of, X, y, omega


def theta_of(rng, of):
    theta = rng.standard_normal((of.K, of.q)) / np.sqrt(of.q)
    theta[:, -1] *= of.intercept
    return theta


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
@pytest.mark.parametrize("shape", [(150, 4), (700, 400), (60, MANY + 3)])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e4])
def test_rounding_of_the_gradient_stays_below_its_bound(rng, case, form, shape, size):
    """Against long doubles, of columns that are constant or far from zero too."""
    if np.finfo(np.longdouble).nmant < 60:
        pytest.skip("no long doubles here")
    of, X, _, _ = objective(rng, case, *shape, form=form)
    rows = of.rows
    theta = size * theta_of(rng, of)
    if case in ("poisson", "gamma"):
        theta *= min(1.0, 20.0 / max(1.0, np.abs(of.values(theta)).max()))
    sums = of.sums(theta)
    Z = np.column_stack([X.astype(np.longdouble) * rows.scale - rows.shift, np.ones(len(X))])
    V = Z @ theta.T.astype(np.longdouble)
    V += rows.offset[:, None] if len(rows.offset) else 0.0
    if case == "softmax":
        P = np.exp(V - V.max(axis=1, keepdims=True))
        R = P / P.sum(axis=1, keepdims=True) - np.eye(3)[rows.Y]
    else:
        v, t = V[:, 0], rows.Y
        R = {
            "logistic": lambda: -t * np.exp(-np.logaddexp(0, t * v)),
            "poisson": lambda: np.exp(v) - t,
            "gamma": lambda: 1 - t * np.exp(-v),
        }[case]()[:, None]
    exact = (R * rows.weights[:, None]).T @ Z + of.penalty * theta
    assert np.all(np.abs(sums.g - exact) <= sums.rounding)
