"""What `audit` says of weights is true, whoever found them: checked in fractions and decimals.

`make fuzz LAW=audit SECONDS=600` runs the same search for longer, from a new seed each time.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from adaline import audit
from reference import exact_least_squares
from reference_losses import exact_minimum
from search import search


def rows(rng):
    p = int(rng.integers(1, 4))
    n = int(rng.integers(p + 3, 16))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.choice([0, 0, 3, -4], p)
    X += rng.choice([0.0, 1.0, 1e3], p)
    if rng.integers(3) == 0 and p > 1:
        X[:, -1] = X[:, 0] * 0.3 + 10.0 ** -rng.integers(1, 12) * rng.standard_normal(n)
    omega = rng.choice([1.0, 2.0, 0.5], n) if rng.integers(3) == 0 else None
    return X, omega


def minimiser(criterion, X, y, omega, alpha):
    """The minimiser as fractions, the intercept last."""
    if criterion == "least-squares":
        return exact_least_squares(X, y, omega, True, alpha)
    w, b = exact_minimum("counts" if criterion == "poisson" else "classes", X, y, alpha, omega)
    return [Fraction(a) for a in [*w, b]]


def peer(criterion, alpha, n, rng):
    tol = float(10.0 ** rng.integers(-12, -1))
    if criterion == "least-squares":
        return Ridge(alpha) if alpha else LinearRegression()
    if criterion == "poisson":
        return PoissonRegressor(alpha=alpha / n, tol=tol, max_iter=1000)
    solver = ["lbfgs", "newton-cg", "newton-cholesky", "liblinear"][rng.integers(4)]
    return LogisticRegression(C=1 / alpha if alpha else np.inf, solver=solver, tol=tol)


def claim_holds(rng):
    """One audit of perturbed or of a peer's weights; None where it claims nothing."""
    criterion = ["least-squares", "logistic", "poisson"][rng.integers(3)]
    (X, omega), alpha = rows(rng), float(rng.choice([0.0, 0.3, 10.0]))
    n = len(X)
    y = rng.standard_normal(n)
    if criterion == "logistic":
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
    elif criterion == "poisson":
        y = rng.poisson(2.0, n).astype(float)
        y[0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            truth = minimiser(criterion, X, y, omega, alpha)
        except (StopIteration, ArithmeticError):
            truth = None
        if rng.integers(2) or truth is None:
            try:
                model = peer(criterion, alpha, n, rng).fit(X, y, omega)
            except (ValueError, ArithmeticError):
                return None
            answer = audit(model, X, y, sample_weight=omega)
            model_alpha = answer.facts.get("alpha", alpha)
            if criterion == "poisson" and model_alpha != alpha:  # alpha / n times the weights
                truth = minimiser(criterion, X, y, omega, model_alpha)
        else:
            w = np.array([float(a) for a in truth])
            w = w * (1.0 + rng.standard_normal(len(w)) * 10.0 ** rng.uniform(-16, 3))
            answer = audit(
                coef=w[:-1],
                intercept=w[-1],
                criterion=criterion,
                alpha=alpha,
                X=X,
                y=y,
                sample_weight=omega,
            )
    return judge(answer, truth)


def judge(answer, truth):
    if answer.distance is None:
        assert answer.verdict == "refused"
        return None
    if truth is None:  # singular: no single minimiser may be claimed
        return False if np.isfinite(answer.distance).all() else None
    weights = [Fraction(float(a)) for a in answer.weights[0]]
    apart = [abs(a - b) for a, b in zip(weights, truth, strict=True)]
    near = all(
        not np.isfinite(far) or d <= Fraction(float(far))
        for d, far in zip(apart, answer.distance[0], strict=True)
    )
    signs = all(
        not proven or (a > 0) == (b > 0)
        for a, b, proven in zip(weights, truth, answer.signs[0], strict=True)
    )
    sizes = np.abs([float(a) for a in truth])
    if answer.std_errors is not None:
        sizes = np.maximum(sizes, np.nan_to_num(answer.std_errors[0]))
    shares = [float(d) / size if size else 0.0 for d, size in zip(apart, sizes, strict=True)]
    right = answer.verdict != "proven" or max(shares) <= 1.001e-3
    right &= answer.verdict != "not the minimiser" or max(shares) > 0.99e-3
    return near and signs and right


@pytest.mark.parametrize("seed", range(6))
def test_what_an_audit_claims_is_true(seed):
    rng = np.random.default_rng(seed)
    claims = [claim_holds(rng) for _ in range(25)]
    assert False not in claims
    assert claims.count(True) > 12


if __name__ == "__main__":
    search(lambda _, seed: claim_holds(np.random.default_rng(seed)), ["audit"])
