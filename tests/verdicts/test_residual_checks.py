"""Checks of residuals against statsmodels, and that they doubt what is wrong and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.verdicts.residual_checks import bends, echoes, residual_checks, spreads, tails

KEYS = ("linearity", "spread", "normality", "independence")


def of(truth, predicted, kind="values"):
    return {check.key: check for check in residual_checks(truth, predicted, kind)}


@pytest.fixture
def pair(rng):
    f = rng.normal(10, 3, 400)
    return f + rng.standard_normal(400), f


def test_the_statistics_are_those_of_statsmodels(pair):
    sm = pytest.importorskip("statsmodels.api")
    from statsmodels.stats.diagnostic import het_breuschpagan
    from statsmodels.stats.stattools import durbin_watson, jarque_bera

    y, f = pair
    e = y - f
    assert spreads(e, f / 20).numbers["p"] == pytest.approx(
        het_breuschpagan(e, sm.add_constant(f))[1], rel=1e-6
    )
    assert tails(e).numbers["p"] == pytest.approx(jarque_bera(e)[1], rel=1e-8)
    assert tails(e).numbers["skew"] == pytest.approx(jarque_bera(e)[2])
    line = sm.OLS(e, sm.add_constant(f)).fit()
    curve = sm.OLS(e, sm.add_constant(np.column_stack([f, f**2, f**3]))).fit()
    assert bends(e, f / 20).numbers["p"] == pytest.approx(curve.compare_f_test(line)[1], rel=1e-5)
    z = e - e.mean()
    # Durbin and Watson's is about 2 (1 - r), but for the two ends.
    r, ends = echoes(e).numbers["correlation"], (z[0] ** 2 + z[-1] ** 2) / (z @ z)
    assert durbin_watson(z) == pytest.approx(2 * (1 - r) - ends)


def test_residuals_as_they_should_be_raise_no_doubt(pair):
    found = of(*pair)
    assert tuple(found) == KEYS
    assert all(check.fine for check in found.values())


def test_each_fault_is_found_by_its_check(pair, rng):
    y, f = pair
    e = y - f
    assert not of(y + 0.2 * (f - 10) ** 2, f)["linearity"].fine
    assert "times as large for the largest fifth" in of(f + e * f**2 / 100, f)["spread"].sentence
    small = of(f + e * (f.max() + 1 - f) ** 2, f)["spread"]
    assert "smallest fifth of predictions as for the largest" in small.sentence
    assert not of(f + rng.exponential(1, 400), f)["normality"].fine
    assert "upwards" in of(f + rng.exponential(1, 400), f)["normality"].sentence
    assert not of(f + np.cumsum(e), f)["independence"].fine


def test_units_do_not_matter(pair):
    y, f = pair
    for times in (1e-200, 1e150):
        assert [c.fine for c in residual_checks(y * times, f * times)] == [True] * 4


def test_counts_that_vary_too_much_are_told(rng):
    mean = np.exp(rng.normal(1, 0.5, 500))
    right = of(rng.poisson(mean), mean, "counts")
    assert right["dispersion"].fine
    wild = of(rng.poisson(mean * rng.gamma(0.5, 2.0, 500)), mean, "counts")["dispersion"]
    assert not wild.fine
    assert "standard errors are too small" in wild.sentence


def test_nothing_is_said_of_few_or_exact_or_equal_rows():
    assert residual_checks(np.arange(10.0), np.zeros(10)) == ()
    assert residual_checks(np.arange(50.0), np.arange(50.0)) == ()
    assert residual_checks(np.arange(50.0), np.ones(50)) == ()
