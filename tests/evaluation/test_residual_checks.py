"""Checks of residuals against statsmodels, and that they doubt what is wrong and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.evaluation.residual_checks import (
    bends,
    dispersion,
    echoes,
    residual_checks,
    spreads,
    tails,
)

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


def shown(x, digits=2):
    return f"{x:.{digits}g}"


def p_of(check):
    p = check.numbers["p"]
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.3g}"


def test_sentences_of_checks_have_the_numbers_of_the_checks(pair, rng):
    y, f = pair
    e = y - f
    fine = of(y, f)
    share, ratio = fine["linearity"].numbers["share"], fine["spread"].numbers
    assert fine["linearity"].sentence == (
        f"A straight line does: a curve would explain {100 * share:.1f} % of what is left over "
        f"({p_of(fine['linearity'])})."
    )
    assert fine["spread"].sentence == (
        "Errors are about as large for small predictions as for large ones "
        f"({p_of(fine['spread'])})."
    )
    r = fine["independence"].numbers["correlation"]
    assert fine["independence"].sentence == (
        "Errors of neighbouring rows have little to do with each other (correlation "
        f"{shown(r)}, {p_of(fine['independence'])})."
    )
    numbers = fine["normality"].numbers
    assert fine["normality"].sentence == (
        f"Errors are spread about as a normal distribution says (skewness "
        f"{shown(numbers['skew'])}, excess of the tails {shown(numbers['excess'])}, "
        f"{p_of(fine['normality'])})."
    )
    uneven = of(f + e * f**2 / 100, f)["spread"]
    order = np.argsort(f)
    squares = (e * f**2) ** 2
    ratio = np.sqrt(np.mean(squares[order[-80:]]) / np.mean(squares[order[:80]]))
    assert uneven.numbers["ratio"] == pytest.approx(ratio)
    assert uneven.sentence.startswith(
        f"Errors are {shown(ratio)} times as large for the largest fifth of predictions as for the "
        f"smallest ({p_of(uneven)}): standard errors"
    )
    bent = of(y + 0.2 * (f - 10) ** 2, f)["linearity"]
    assert bent.sentence.startswith("The truth bends away from a straight line: a curve would exp")
    walk = of(f + np.cumsum(e), f)["independence"]
    r = walk.numbers["correlation"]
    assert walk.sentence.startswith(
        f"Errors of neighbouring rows are alike (correlation {shown(r)}"
    )


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (lambda u: -np.log(1 - u), "Errors reach farther upwards than normal ones do"),
        (lambda u: np.log(1 - u), "Errors reach farther downwards than normal ones do"),
        (lambda u: np.sign(u - 0.5) * np.abs(u - 0.5) ** 4, "Large errors are more common than"),
        (lambda u: u, "Large errors are more common than"),  # flat: the excess is -1.2
    ],
)
def test_tails_are_told_by_their_side(noise, said):
    u = (np.arange(400) + 0.5) / 400
    found = tails(noise(u[np.random.default_rng(0).permutation(400)]))
    assert not found.fine
    assert found.sentence.startswith(said)


@pytest.mark.parametrize("n", [19, 20])
def test_twenty_rows_are_enough(rng, n):
    f = rng.standard_normal(n)
    assert bool(residual_checks(f + rng.standard_normal(n), f)) == (n == 20)


def test_errors_without_a_spread_raise_no_alarm():
    f = np.linspace(0.0, 1.0, 40)
    assert tails(np.zeros(40)).numbers["excess"] == 0.0
    assert echoes(np.zeros(40)).numbers["correlation"] == 0.0
    assert bends(np.zeros(40), f).numbers["share"] == 0.0
    step = spreads(np.where(f < 0.3, 0.0, np.where(np.arange(40) % 2, 1.0, -1.0)), f)
    assert step.numbers["ratio"] == np.inf
    assert "times as large for the largest fifth" in step.sentence
    back = spreads(np.where(f > 0.7, 0.0, np.where(np.arange(40) % 2, 1.0, -1.0)), f)
    assert back.numbers["ratio"] == 0.0
    assert "for the smallest fifth of predictions as for the largest" in back.sentence


@pytest.mark.parametrize(
    ("ratio", "fine", "grave", "said"),
    [
        (1.46, True, False, "Counts vary about as much as Poisson says (1.5 times)."),
        (1.6, False, False, "Counts vary 1.6 times as much as Poisson says: standard errors are"),
        (2.1, False, True, "too small by a factor of about 1.4."),
        (0.7, True, False, "Counts vary about as much as Poisson says (0.7 times)."),
        (0.6, False, False, "Counts vary only 0.6 times as much as Poisson says."),
    ],
)
def test_dispersion_is_doubted_from_one_and_a_half_times_on(ratio, fine, grave, said):
    even = np.resize([0.99, -1.01], 400) * np.sqrt(ratio / 1.0001)
    found = dispersion(even)
    assert (found.fine, found.grave) == (fine, grave)
    assert said in found.sentence


def test_a_dispersion_of_two_is_doubted_and_one_that_may_be_chance_is_not():
    assert not dispersion(np.resize([0.99, -1.01], 400) * np.sqrt(2.0 / 1.0001)).fine
    few = np.zeros(400)
    few[0] = np.sqrt(800.0)  # one wild row: a ratio of 2, and an error of 2
    assert dispersion(few).fine


def test_counts_have_their_own_checks(rng):
    mean = np.exp(rng.normal(1, 0.5, 200))
    found = of(rng.poisson(mean), mean, "counts")
    assert tuple(found) == ("linearity", "dispersion", "independence")


@pytest.mark.parametrize(("times", "fine"), [(1.4, True), (1.6, False), (3.0, False)])
def test_errors_are_uneven_from_one_and_a_half_times_on(times, fine):
    f = np.linspace(0.0, 1.0, 1000)
    e = np.where(np.arange(1000) % 2, 1.0, -1.0) * np.where(f > 0.5, times, 1.0)
    found = spreads(e, f)
    assert found.numbers["ratio"] == pytest.approx(times)
    assert found.fine == fine


@pytest.mark.parametrize(("power", "fine"), [(0.01, True), (0.04, False)])
def test_a_bend_is_one_from_two_percent_on(power, fine):
    """Residuals of which a parabola is this share."""
    f = np.linspace(0.0, 1.0, 4000)
    bend = (f - 0.5) ** 2
    bend = (bend - bend.mean()) / bend.std()
    noise = np.where(np.arange(4000) % 2, 1.0, -1.0)
    found = bends(np.sqrt(power) * bend + np.sqrt(1 - power) * noise, f)
    assert found.numbers["share"] == pytest.approx(power, rel=0.05)
    assert found.numbers["p"] < 1e-4
    assert found.fine == fine


@pytest.mark.parametrize(("r", "fine"), [(0.08, True), (0.13, False), (-0.13, False)])
def test_neighbours_are_alike_from_a_tenth_on(r, fine):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(20_001)
    found = echoes(noise[1:] + r / (1 - r * r) * noise[:-1])
    assert found.numbers["correlation"] == pytest.approx(r, abs=0.02)
    assert found.fine == fine


def test_a_share_of_a_bend_has_no_units(pair):
    y, f = pair
    f = (f - f.min()) / np.ptp(f)
    e = y - y.mean()
    for times in (1e-6, 1e6):
        assert bends(e * times, f).numbers == pytest.approx(bends(e, f).numbers)
