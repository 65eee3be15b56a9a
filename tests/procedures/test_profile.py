"""Profile-likelihood intervals against a slow twin that fits every profile anew."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq, minimize
from scipy.stats import chi2

from adaline import LogisticRegression
from adaline.procedures.newton import newton
from adaline.procedures.profile import profile_intervals
from adaline.sums.objective import logistic_objective


def sample(rng, n=40, p=2, offset=0.0):
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 30, p) + rng.uniform(-3, 3, p)
    v = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=p) + offset
    y = (rng.random(n) < 1 / (1 + np.exp(-v))).astype(int)
    y[:2], X[:2] = [0, 1], X[:2][::-1]  # both classes, and no separation to speak of
    y[2:4], X[2] = [1, 0], X[3] + 0.1
    return X, y


def slow_bounds(X, y, omega, j, level):
    """statsmodels fits the other columns with beta x_j as an offset, for each beta asked for."""
    Z = np.column_stack([X, np.ones(len(X))])
    others = np.delete(Z, j, axis=1)
    best = sm.GLM(y, Z, sm.families.Binomial(), freq_weights=omega).fit(tol=1e-13)

    def excess(beta):
        model = sm.GLM(y, others, sm.families.Binomial(), offset=beta * Z[:, j], freq_weights=omega)
        return model.fit(tol=1e-13, maxiter=300).deviance - best.deviance - chi2.ppf(level, 1)

    found = []
    for side in (-1, 1):
        reach = 1.0
        while excess(best.params[j] + side * reach * best.bse[j]) < 0:
            reach *= 1.5
        found.append(
            brentq(excess, best.params[j], best.params[j] + side * reach * best.bse[j], xtol=1e-10)
        )
    return sorted(found)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_bounds_are_those_of_statsmodels_fitted_again_and_again(rng, level):
    X, y = sample(rng)
    omega = rng.choice([1.0, 2.0, 0.5], len(y))
    model = LogisticRegression(alpha=0).fit(X, y, omega)
    table = model.summary(level, X, y, omega, intervals="profile")
    low, high = table[f"low {level:.0%}"], table[f"high {level:.0%}"]
    for j, place in ((0, 1), (1, 2), (2, 0)):
        want = slow_bounds(X, y, omega, j, level)
        np.testing.assert_allclose([low[place], high[place]], want, rtol=1e-5, atol=1e-7)
    assert "profile likelihood" in str(table)


def test_a_proportion_s_bounds_solve_their_equation_by_hand():
    """Intercept only (the column is constant zero but for nothing): k of n, and no weight moves."""
    k, n = 3, 20
    X, y = np.zeros((n, 1)), (np.arange(n) < k).astype(int)
    loss = logistic_objective(X, y, 2, np.empty(0), 1.0, True)
    low, high = profile_intervals(loss, newton(loss).theta[0], 0.95)

    def deviance(b):
        return 2 * (n * np.logaddexp(0, b) - k * b)

    best = np.log(k / (n - k))
    for bound in (low[-1], high[-1]):
        assert deviance(bound) - deviance(best) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-7)
    assert low[-1] < best < high[-1]
    assert best - low[-1] > high[-1] - best  # rare events: longer to the left


def test_firth_s_profile_is_finite_on_separated_classes_and_solves_its_equation():
    X, y = np.arange(8.0)[:, None], (np.arange(8) >= 4).astype(int)
    model = LogisticRegression("firth").fit(X, y)
    table = model.summary(X=X, y=y, intervals="profile")

    def criterion(w, b):
        v = w * X[:, 0] + b
        s = 1 / (2 + np.exp(v) + np.exp(-v))
        Z = np.column_stack([X[:, 0], np.ones(8)])
        return np.sum(np.logaddexp(0, v) - y * v) - 0.5 * np.linalg.slogdet((Z.T * s) @ Z)[1]

    least = criterion(model.coef_[0, 0], model.intercept_[0])
    for bound in (table["low 95%"][1], table["high 95%"][1]):
        start = -3.5 * bound
        best = minimize(lambda c, bound=bound: criterion(bound, c[0]), [start], tol=1e-12).fun
        assert 2 * (best - least) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-5)
    assert table["low 95%"][1] > 0  # separated: the sign is beyond doubt


def test_what_cannot_be_profiled_is_refused_in_words(rng):
    X, y = sample(rng)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="intervals is 'exact'"):
        model.summary(intervals="exact")
    with pytest.raises(ValueError, match="give them"):
        model.summary(intervals="profile")
    with pytest.raises(ValueError, match="likeliest of these rows"):
        model.summary(X=X + 1.0 * (X > 1), y=1 - y, intervals="profile")
    with pytest.raises(ValueError, match="level is 0"):
        model.summary(0, X=X, y=y, intervals="profile")
    three = LogisticRegression().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="two classes"):
        three.summary(X=X, y=np.arange(len(X)) % 3, intervals="profile")
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="profile intervals need weights of fit"):
        model.summary(X=X, y=y, intervals="profile")
