"""Many small fits in one call: groups, windows, tables in and out, and what cannot be fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from adaline import (
    GaussianClassifier,
    LeastSquares,
    LogisticRegression,
    PoissonRegression,
    Ridge,
    fit_groups,
    rolling,
)

LEARNERS = [
    LeastSquares(),
    LeastSquares(fit_intercept=False),
    Ridge(2.5),
    Ridge(),
    LogisticRegression(0.5),
    PoissonRegression(0.5),
    GaussianClassifier(),
]


@pytest.fixture
def sample(rng):
    """Rows of six groups, shuffled, and targets of three kinds."""
    n, groups = 240, rng.permutation(np.repeat(np.arange(6), 40))
    X = rng.standard_normal((n, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 100.0]
    v = X @ [0.5, 0.05, 3.0] - 300.0 + groups * 0.1
    targets = {
        "numbers": v + rng.standard_normal(n),
        "classes": np.where(v + rng.logistic(size=n) > 0.5, "yes", "no"),
        "counts": rng.poisson(np.exp(0.3 * np.clip(v, -3, 3))),
    }
    return X, targets, groups


def target_of(model, targets):
    if hasattr(model, "predict_proba"):
        return targets["classes"]
    return targets["counts" if isinstance(model, PoissonRegression) else "numbers"]


@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_every_group_has_the_fit_of_its_own_rows(model, sample):
    X, targets, groups = sample
    y = target_of(model, targets)
    fits = fit_groups(model, X, y, groups)
    assert set(fits.status) == {"ok"} or isinstance(model, GaussianClassifier)
    for g in range(6):
        one = clone(model).fit(X[groups == g], y[groups == g])
        np.testing.assert_allclose(fits.coef_[g], np.ravel(one.coef_), rtol=1e-6)
        np.testing.assert_allclose(fits.intercept_[g], np.ravel(one.intercept_), rtol=1e-6)
        predicted = fits.predict(X[groups == g], groups[groups == g])
        if predicted.dtype == object:
            assert list(predicted) == list(one.predict(X[groups == g]))
        else:
            np.testing.assert_allclose(predicted, one.predict(X[groups == g]), rtol=1e-6)


@pytest.mark.parametrize("model", LEARNERS[:2] + LEARNERS[4:6], ids=str)
def test_standard_errors_are_those_of_the_estimator(model, sample):
    X, targets, groups = sample
    y = target_of(model, targets)
    table = fit_groups(model, X, y, groups).summary()
    one = clone(model).fit(X[groups == 2], y[groups == 2]).summary()
    own = table[table["group"] == 2]
    assert list(own["name"])[-3:] == ["x0", "x1", "x2"]
    for column in ("std err", "p", "low 95%"):
        np.testing.assert_allclose(own[column], one[column], rtol=1e-5)


def test_weights_count_rows_twice(rng):
    X, y, groups = rng.standard_normal((60, 2)), rng.standard_normal(60), np.arange(60) % 3
    twice = np.repeat(np.arange(60), 1 + (np.arange(60) % 2))
    weighted = fit_groups(LeastSquares(), X, y, groups, sample_weight=1.0 + np.arange(60) % 2)
    repeated = fit_groups(LeastSquares(), X[twice], y[twice], groups[twice])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    np.testing.assert_allclose(weighted.std_errors, repeated.std_errors, rtol=1e-10)


def test_bits_do_not_depend_on_the_order_of_groups_or_the_number_of_threads(sample):
    from threadpoolctl import threadpool_limits

    X, targets, groups = sample
    X, y, groups = (
        np.tile(a, reps) for a, reps in ((X, (9, 1)), (targets["numbers"], 9), (groups, 9))
    )
    groups = groups + 6 * np.repeat(np.arange(9), 240)
    order = np.argsort((7 * groups) % 54, kind="stable")  # groups elsewhere, rows in their order
    fits = fit_groups(LeastSquares(), X, y, groups)
    with threadpool_limits(1):
        other = fit_groups(LeastSquares(), X[order], y[order], groups[order])
        alone = rolling(LeastSquares(), X, y, window=20)
    assert np.array_equal(fits.coef_, other.coef_)
    assert np.array_equal(fits.errors, other.errors)
    assert np.array_equal(rolling(LeastSquares(), X, y, window=20).coef_, alone.coef_)


def test_groups_that_cannot_be_fitted_say_why_and_stop_nobody(rng):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    groups = np.repeat(["good", "few", "constant", "twins"], [20, 2, 14, 14])
    X[groups == "constant", 1] = 3.0
    X[groups == "twins", 1] = 2.0 * X[groups == "twins", 0]
    fits = fit_groups(LeastSquares(), X, y, groups)
    status = dict(zip(fits.keys["group"], fits.status, strict=True))
    assert status["good"] == "ok"
    assert status["few"] == "too few rows"
    assert status["constant"] == status["twins"] == "dependent columns"
    assert np.isnan(fits.coef_[list(fits.keys["group"]).index("few")]).all()
    assert np.isinf(fits.errors[list(fits.keys["group"]).index("twins")]).all()
    assert "2 dependent columns" in str(fits)


def test_separable_groups_and_groups_of_one_class_have_no_weights(rng):
    X = rng.standard_normal((60, 1))
    groups = np.repeat([0, 1, 2], 20)
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    y[groups == 1] = X[groups == 1, 0] > 0
    y[groups == 2] = 1
    fits = fit_groups(LogisticRegression(0), X, y, groups)
    assert list(fits.status) == ["ok", "separable", "too few rows"]
    assert [c.kind for c in fits.certificates] == ["optimal", "unproven", "unproven"]
    assert list(fits.predict(X[:1], [1])) == [None]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_tables_come_back_as_the_kind_that_was_given(make, sample):
    X, targets, groups = sample
    columns = {"shop": np.array(["a", "b", "c"])[groups % 3], "year": 2000 + groups // 3}
    frame = make({**columns, "price": X[:, 0], "size": X[:, 1], "sales": targets["numbers"]})
    fits = fit_groups(LeastSquares(), frame, target="sales", by=["shop", "year"])
    assert fits.names == ("price", "size")
    assert type(fits.summary()) is type(fits.to_frame()) is type(frame)
    assert len(fits) == 6
    assert np.isfinite(fits.predict(frame)).all()
    here = (columns["shop"] == "b") & (columns["year"] == 2001)
    one = LeastSquares().fit(X[here, :2], targets["numbers"][here])
    place = np.flatnonzero((fits.keys["shop"] == "b") & (fits.keys["year"] == 2001))
    np.testing.assert_allclose(fits.coef_[place][0], one.coef_, rtol=1e-10)


@pytest.mark.parametrize("step", [1, 7])
def test_windows_have_the_fits_of_their_rows(step, rng):
    X = rng.standard_normal((300, 2)).cumsum(axis=0) + 50.0
    X[100, 0] = 1e7  # an outlier that comes and goes
    y = X.sum(axis=1) + rng.standard_normal(300)
    fits = rolling(LeastSquares(), X, y, window=30, step=step)
    assert set(fits.status) == {"ok"}
    for i in range(0, len(fits), 11):
        rows = slice(fits.keys["row"][i] - 29, fits.keys["row"][i] + 1)
        one = LeastSquares().fit(X[rows], y[rows])
        assert np.all(np.abs(fits.coef_[i] - one.coef_) <= 2 * fits.errors[i, :-1])
        error = np.roll(one.summary()["std err"], -1)
        np.testing.assert_allclose(fits.std_errors[i], error, rtol=1e-6)
    assert 0 < fits.renewed < 60 // step + 3


def test_windows_of_time_and_of_groups_hold_their_rows_only(rng):
    n = 200
    X, y, groups = rng.standard_normal((n, 1)), rng.standard_normal(n), np.arange(n) % 2
    times = np.datetime64("2026-01-01") + np.sort(rng.integers(0, 500, n)).astype("timedelta64[h]")
    fits = rolling(Ridge(1.0), X, y, window="5d", times=times, groups=groups)
    assert len(fits) > 100
    for i in range(0, len(fits), 13):
        last, own = fits.keys["row"][i], groups == fits.keys["group"][i]
        rows = own & (np.arange(n) <= last) & (times > times[last] - np.timedelta64(5, "D"))
        assert fits.rows[i] == rows.sum()
        one = Ridge(1.0).fit(X[rows], y[rows])
        np.testing.assert_allclose(fits.coef_[i], one.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("word", "call"),
    [
        ("groups", lambda X, y: fit_groups(LeastSquares(), X, y)),
        ("no column", lambda X, y: fit_groups(LeastSquares(), X, y, by="shop")),
        (
            "row 3",
            lambda X, y: fit_groups(
                LeastSquares(), np.where(np.arange(9) == 3, np.nan, X.T).T, y, y
            ),
        ),
        ("missing", lambda X, y: fit_groups(LeastSquares(), X, y, [None, *"abcdefgh"])),
        ("classes", lambda X, y: fit_groups(LogisticRegression(), X, y, y)),
        ("shape", lambda X, y: fit_groups(LeastSquares(), X, y, [1, 2])),
        ("window", lambda X, y: rolling(LeastSquares(), X, y, window=0)),
        ("times", lambda X, y: rolling(LeastSquares(), X, y, window="3d")),
        ("model", lambda X, y: rolling(LogisticRegression(), X, y, window=3)),
        ("sort", lambda X, y: rolling(LeastSquares(), X, y, window="3s", times=-np.arange(9))),
    ],
)
def test_wrong_calls_are_refused_with_a_reason(word, call):
    with pytest.raises((ValueError, TypeError), match=word):
        call(np.arange(9.0)[:, None], np.arange(9.0))
