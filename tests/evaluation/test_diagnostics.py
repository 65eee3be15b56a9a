"""Checks of residuals against statsmodels, and that they doubt what is wrong and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from adaline.evaluation.diagnostics import (
    breusch_pagan,
    drift,
    durbin_watson,
    jarque_bera,
    poisson_dispersion,
    reset_test,
    residual_checks,
    row_warnings,
)
from adaline.evaluation.trial import Rows

KEYS = ("linearity", "spread", "normality", "independence")


def of(truth, predicted, kind="values"):
    return {check.key: check for check in residual_checks(truth, predicted, kind)}


@pytest.fixture
def pair(rng):
    f = rng.normal(10, 3, 400)
    return f + rng.standard_normal(400), f


def test_the_statistics_are_those_of_statsmodels(pair):
    sm = pytest.importorskip("statsmodels.api")
    from statsmodels.stats import stattools
    from statsmodels.stats.diagnostic import het_breuschpagan

    y, f = pair
    e = y - f
    assert breusch_pagan(e, f / 20).numbers["p"] == pytest.approx(
        het_breuschpagan(e, sm.add_constant(f))[1], rel=1e-6
    )
    assert jarque_bera(e).numbers["p"] == pytest.approx(stattools.jarque_bera(e)[1], rel=1e-8)
    assert jarque_bera(e).numbers["skew"] == pytest.approx(stattools.jarque_bera(e)[2])
    line = sm.OLS(e, sm.add_constant(f)).fit()
    curve = sm.OLS(e, sm.add_constant(np.column_stack([f, f**2, f**3]))).fit()
    assert reset_test(e, f / 20).numbers["p"] == pytest.approx(
        curve.compare_f_test(line)[1], rel=1e-5
    )
    z = e - e.mean()
    # Durbin and Watson's is about 2 (1 - r), but for the two ends.
    r, ends = durbin_watson(e).numbers["correlation"], (z[0] ** 2 + z[-1] ** 2) / (z @ z)
    assert stattools.durbin_watson(z) == pytest.approx(2 * (1 - r) - ends)


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


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (lambda u: -np.log(1 - u), "Errors are skewed upwards"),
        (lambda u: np.log(1 - u), "Errors are skewed downwards"),
        (
            lambda u: np.sign(u - 0.5) * np.abs(u - 0.5) ** 4,
            "Errors are not normally",
        ),
        (lambda u: u, "Errors are not normally"),  # flat: the excess is -1.2
    ],
)
def test_tails_are_told_by_their_side(noise, said):
    u = (np.arange(400) + 0.5) / 400
    found = jarque_bera(noise(u[np.random.default_rng(0).permutation(400)]))
    assert not found.fine
    assert found.sentence.startswith(said)


@pytest.mark.parametrize("n", [19, 20])
def test_twenty_rows_are_enough(rng, n):
    f = rng.standard_normal(n)
    assert bool(residual_checks(f + rng.standard_normal(n), f)) == (n == 20)


def test_errors_without_a_spread_raise_no_alarm():
    f = np.linspace(0.0, 1.0, 40)
    assert jarque_bera(np.zeros(40)).numbers["excess"] == 0.0
    assert durbin_watson(np.zeros(40)).numbers["correlation"] == 0.0
    assert reset_test(np.zeros(40), f).numbers["share"] == 0.0
    step = breusch_pagan(np.where(f < 0.3, 0.0, np.where(np.arange(40) % 2, 1.0, -1.0)), f)
    assert step.numbers["ratio"] == np.inf
    assert "times as large for the largest fifth" in step.sentence
    back = breusch_pagan(np.where(f > 0.7, 0.0, np.where(np.arange(40) % 2, 1.0, -1.0)), f)
    assert back.numbers["ratio"] == 0.0
    assert "for the smallest fifth of predictions as for the largest" in back.sentence


@pytest.mark.parametrize(
    ("ratio", "fine", "grave", "said"),
    [
        (1.46, True, False, "about as much"),
        (1.6, False, False, "Counts vary 1.6 times as much"),
        (2.1, False, True, "too small by a factor of 1.4."),
        (0.7, True, False, "about as much"),
        (0.6, False, False, "Counts vary 0.6 times"),
    ],
)
def test_dispersion_is_doubted_from_one_and_a_half_times_on(ratio, fine, grave, said):
    even = np.resize([0.99, -1.01], 400) * np.sqrt(ratio / 1.0001)
    found = poisson_dispersion(even)
    assert (found.fine, found.grave) == (fine, grave)
    assert said in found.sentence


def test_a_dispersion_of_two_is_doubted_and_one_that_may_be_chance_is_not():
    assert not poisson_dispersion(np.resize([0.99, -1.01], 400) * np.sqrt(2.0 / 1.0001)).fine
    few = np.zeros(400)
    few[0] = np.sqrt(800.0)  # one wild row: a ratio of 2, and an error of 2
    assert poisson_dispersion(few).fine


def test_counts_have_their_own_checks(rng):
    mean = np.exp(rng.normal(1, 0.5, 200))
    found = of(rng.poisson(mean), mean, "counts")
    assert tuple(found) == ("linearity", "dispersion", "independence")


@pytest.mark.parametrize(("times", "fine"), [(1.4, True), (1.6, False), (3.0, False)])
def test_errors_are_uneven_from_one_and_a_half_times_on(times, fine):
    f = np.linspace(0.0, 1.0, 1000)
    e = np.where(np.arange(1000) % 2, 1.0, -1.0) * np.where(f > 0.5, times, 1.0)
    found = breusch_pagan(e, f)
    assert found.numbers["ratio"] == pytest.approx(times)
    assert found.fine == fine


@pytest.mark.parametrize(("power", "fine"), [(0.01, True), (0.04, False)])
def test_a_bend_is_one_from_two_percent_on(power, fine):
    """Residuals of which a parabola is this share."""
    f = np.linspace(0.0, 1.0, 4000)
    bend = (f - 0.5) ** 2
    bend = (bend - bend.mean()) / bend.std()
    noise = np.where(np.arange(4000) % 2, 1.0, -1.0)
    found = reset_test(np.sqrt(power) * bend + np.sqrt(1 - power) * noise, f)
    assert found.numbers["share"] == pytest.approx(power, rel=0.05)
    assert found.numbers["p"] < 1e-4
    assert found.fine == fine


@pytest.mark.parametrize(("r", "fine"), [(0.08, True), (0.13, False), (-0.13, False)])
def test_neighbours_are_alike_from_a_tenth_on(r, fine):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(20_001)
    found = durbin_watson(noise[1:] + r / (1 - r * r) * noise[:-1])
    assert found.numbers["correlation"] == pytest.approx(r, abs=0.02)
    assert found.fine == fine


def test_a_share_of_a_bend_has_no_units(pair):
    y, f = pair
    f = (f - f.min()) / np.ptp(f)
    e = y - y.mean()
    for times in (1e-6, 1e6):
        assert reset_test(e * times, f).numbers == pytest.approx(reset_test(e, f).numbers)


def test_drift_names_the_columns_that_moved(rng):
    A, B = rng.standard_normal((300, 3)), np.array([0.0, 0.05, 5.0]) + rng.standard_normal((120, 3))
    (check,) = drift(A, B, ["a", "b", "c"])
    assert (check.fine, check.grave) == (False, True)
    twin = stats.ks_2samp(A[:, 2], B[:, 2])
    assert check.numbers["distance"] == pytest.approx(twin.statistic)
    assert "differ from the 300 training rows: c, mean" in check.sentence
    assert "a, mean" not in check.sentence
    (same,) = drift(A, A[::2], ["a", "b", "c"])
    assert same.fine
    assert "are like the 300 training rows" in same.sentence
    constant = np.ones((40, 1))
    assert drift(constant, constant[:20], ["one"])[0].numbers == {"distance": 0.0, "p": 1.0}


def test_drift_between_columns_of_two_values(rng):
    a, b = (rng.random(n)[:, None] < share for n, share in ((400, 0.3), (200, 0.6)))
    (check,) = drift(a.astype(float), b.astype(float), ["flag"])
    assert not check.fine
    assert check.numbers["distance"] == pytest.approx(abs(a.mean() - b.mean()))


def test_false_alarms_of_drift_are_rare(rng):
    """A hundred pairs of samples of ten columns: at most a few per cent may differ by chance."""
    found = [
        drift(rng.random((80, 10)), rng.random((40, 10)), list("abcdefghij")) for _ in range(100)
    ]
    assert sum(not check.fine for (check,) in found) <= 5


def test_a_trifle_is_no_drift_however_significant(rng):
    A, B = rng.random((20_000, 1)), rng.random((20_000, 1)) + 0.05
    (check,) = drift(A, B, ["a"])
    assert check.fine
    assert check.numbers["p"] < 1e-4


def test_sparse_single_and_very_wide_rows_are_not_compared(rng):
    X = rng.standard_normal((10, 2))
    assert drift(sparse.csr_array(X), X, ["a", "b"]) == ()
    assert drift(X, X[:1], ["a", "b"]) == ()
    wide = rng.standard_normal((2, 1001))
    assert drift(wide, wide, [str(j) for j in range(1001)]) == ()


@pytest.mark.parametrize(("n", "p", "few"), [(14, 3, True), (15, 3, False), (4, 1, True)])
def test_five_rows_a_column_are_enough(rng, n, p, few):
    said = row_warnings(Rows(rng.standard_normal((n, p))), False)
    assert bool(said) == few
    if few:
        columns = f"{p} columns" if p > 1 else "1 column"
        assert said[0].startswith(f"{n} rows for {columns} are few, less than 5 per column")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((190, 10), None),  # 5 % and ten rows
        ((191, 9), "only 9 of 200 training rows are 'b', 4.5%: accuracy"),
        ((90, 9), "only 9 of 99 training rows are 'b', 9.1%: accuracy"),
        ((1990, 99), "only 99 of 2,089 training rows are 'b', 4.7%: accuracy"),
        ((30, 9, 9, 30), "only 9 of 78 training rows are 'b', 11.5% (2 classes are as rare):"),
        ((1000, 20, 20, 30), "only 20 of 1,070 training rows are 'b', 1.9% (3 classes are"),
        ((181, 9, 10), "only 9 of 200 training rows are 'b', 4.5%: accuracy"),  # c is not
        ((9, 7), "only 7 of 16 training rows are 'b', 43.8%"),
        ((28, 9), "only 9 of 37 training rows are 'b', 24.3%: accuracy"),
        ((5,), None),
    ],
)
def test_classes_of_few_rows_are_named(rng, counts, said):
    y = np.repeat(list("abcd"[: len(counts)]), counts)
    X = rng.standard_normal((len(y), 1))
    found = row_warnings(Rows(X, y), True)
    assert bool(found) == (said is not None)
    if said:
        assert found[0].startswith(said)
    assert row_warnings(Rows(X, y), False) == []
    assert row_warnings(Rows(X), True) == []
