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


def test_large_samples_have_wald_s_intervals(rng):
    X, y = sample(rng, n=20_000)
    model = LogisticRegression(alpha=0).fit(X, y)
    wald, profile = model.summary(), model.summary(X=X, y=y, intervals="profile")
    for bound in ("low 95%", "high 95%"):
        assert np.max(np.abs(wald[bound] - profile[bound]) / wald["std err"]) < 0.1


def test_without_a_bias_there_is_none_to_bound(rng):
    X, y = sample(rng)
    model = LogisticRegression(alpha=0, fit_intercept=False).fit(X, y)
    table = model.summary(X=X, y=y, intervals="profile")
    assert table.names == ("x0", "x1")
    low, high = table["low 95%"], table["high 95%"]
    z = chi2.ppf(0.95, 1)
    for j in range(2):
        other = X[:, 1 - j]
        for bound in (low[j], high[j]):
            best = minimize(
                lambda c, bound=bound, j=j, other=other: np.sum(
                    np.logaddexp(0, bound * X[:, j] + c[0] * other)
                    - y * (bound * X[:, j] + c[0] * other)
                ),
                [0.0],
                tol=1e-12,
            ).fun
            assert 2 * best - 2 * model.fit_.value == pytest.approx(z, rel=1e-5)


def test_a_penalty_is_part_of_the_profile(rng):
    X, y = sample(rng)
    model = LogisticRegression(alpha=3.0).fit(X, y)
    table = model.summary(X=X, y=y, intervals="profile")
    w = table["high 95%"][1]

    def penalised(c):
        v = w * X[:, 0] + c[0] * X[:, 1] + c[1]
        return np.sum(np.logaddexp(0, v) - y * v) + 1.5 * (w * w + c[0] ** 2)

    best = minimize(penalised, [0.0, 0.0], tol=1e-12).fun
    assert 2 * (best - model.fit_.value) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-5)
    assert "profile penalised likelihood" in str(table)


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


@pytest.mark.parametrize("seed", range(12))
def test_firth_s_profile_can_be_followed_on_few_and_separated_samples(seed):
    """The Fisher information is far from all of the curvature there."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 2))
    y = (30 * X[:, 0] + rng.logistic(size=10) > 0).astype(int)
    y[:2] = 0, 1
    model = LogisticRegression("firth").fit(X, y)
    table = model.summary(X=X, y=y, intervals="profile")
    assert np.isfinite(table["low 95%"]).all()
    assert np.isfinite(table["high 95%"]).all()
    assert np.all(table["low 95%"] < table["coef"])
    assert np.all(table["coef"] < table["high 95%"])


def test_a_side_on_which_the_likelihood_is_flat_has_an_infinite_bound(rng):
    """All but one row of a group have the same label, and that one has hardly any weight."""
    X = np.repeat([0.0, 1.0], 20)[:, None]
    y = np.r_[np.arange(20) % 2, np.ones(20, dtype=int)]
    y[-1] = 0
    omega = np.ones(40)
    omega[-1] = 1e-30
    loss = logistic_objective(X, y, 2, omega, 0.0, True)
    theta = newton(loss.with_penalty(1e-12)).theta[0]
    low, high = profile_intervals(loss.with_penalty(1e-12), theta, 0.95)
    assert high[0] > 1e3
    assert np.isfinite(low[0])
    low, high = profile_intervals(loss.with_penalty(1e-300), theta, 0.95)
    assert high[0] == np.inf
    assert np.isfinite(low[0])
    # The other side is that of the group with both labels against certainty.
    want = profile_intervals(
        loss.with_penalty(1e-6), newton(loss.with_penalty(1e-6)).theta[0], 0.95
    )
    assert low[0] == pytest.approx(want[0][0], rel=1e-3)


def test_units_change_the_bounds_by_their_factor_only(rng):
    X, y = sample(rng)
    plain = LogisticRegression(alpha=0).fit(X, y).summary(X=X, y=y, intervals="profile")
    for unit in (1e-8, 1e8):
        scaled = LogisticRegression(alpha=0).fit(X * unit, y)
        table = scaled.summary(X=X * unit, y=y, intervals="profile")
        np.testing.assert_allclose(table["low 95%"][1:] * unit, plain["low 95%"][1:], rtol=1e-6)
        np.testing.assert_allclose(table["high 95%"][0], plain["high 95%"][0], rtol=1e-6)


def test_what_cannot_be_profiled_is_refused_in_words(rng):
    X, y = sample(rng)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="intervals is 'exact'"):
        model.summary(intervals="exact")
    with pytest.raises(ValueError, match="give them"):
        model.summary(intervals="profile")
    with pytest.raises(ValueError, match="very rows"):
        model.summary(X=X + 1.0 * (X > 1), y=1 - y, intervals="profile")
    with pytest.raises(ValueError, match="level is 0"):
        model.summary(0, X=X, y=y, intervals="profile")
    three = LogisticRegression().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="two classes"):
        three.summary(X=X, y=np.arange(len(X)) % 3, intervals="profile")
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match="no profile intervals"):
        model.summary(X=X, y=y, intervals="profile")


def firth_criterion(x, y, omega, slope, bias):
    """-log L - log|I| / 2 of many slopes and biases, by the formula."""
    v = slope * x[:, None] + bias
    loss = omega @ np.where(y[:, None] == 1, np.logaddexp(0, -v), np.logaddexp(0, v))
    h = omega[:, None] * np.exp(-np.logaddexp(0, -v) - np.logaddexp(0, v))
    mean = (h * x[:, None]).sum(0) / h.sum(0)
    return loss - 0.5 * np.log(h.sum(0) * (h * (x[:, None] - mean) ** 2).sum(0))


def few_rows(seed):
    rng = np.random.default_rng(seed)
    x, omega = rng.standard_normal(10).round(2), rng.choice([1.0, 2.0, 3.0], 10)
    return x, (x + 0.4 * rng.standard_normal(10) > 0).astype(int), omega


X10 = np.array([1.47, -1.75, -0.68, 1.14, 0.65, 0.76, 0.08, -1.32, 0.14, -0.49])
Y10, W10 = np.array([1, 0, 0, 1, 1, 1, 0, 0, 1, 0]), np.array([3.0, 3, 1, 1, 1, 2, 3, 1, 1, 1])


@pytest.mark.parametrize("seed", [None, *range(4)])
def test_firth_s_bounds_lie_beyond_a_first_crossing_that_is_not_the_last(seed):
    x, y, omega = (X10, Y10, W10) if seed is None else few_rows(seed)
    if len(np.unique(y)) < 2:
        return
    model = LogisticRegression("firth").fit(x[:, None], y, omega)
    table = model.summary(0.95, x[:, None], y, omega, intervals="profile")
    least = firth_criterion(x, y, omega, model.coef_[0], model.intercept_)[0]
    slopes = np.r_[np.linspace(-5, 20, 101), np.geomspace(20, 1000, 80)]
    for slope in slopes:
        bias = np.linspace(-1.5 * abs(slope) - 5, 1.5 * abs(slope) + 5, 601)
        with np.errstate(divide="ignore", invalid="ignore"):  # no curvature is left far out
            excess = 2 * (firth_criterion(x, y, omega, slope, bias) - least)
        kept = bias[excess < chi2.ppf(0.95, 1)]
        if len(kept):
            assert table["low 95%"][1] <= slope <= table["high 95%"][1]
            assert table["low 95%"][0] <= kept.min()
            assert kept.max() <= table["high 95%"][0]
    if seed is None:
        assert table["high 95%"][1] == pytest.approx(86.62, rel=1e-3)
