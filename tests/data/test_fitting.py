"""`fit` on files: every learner that can, in one pass or a few, and refusals in sentences."""

from __future__ import annotations

import io
import warnings
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaline import (
    Adaline,
    GammaRegression,
    GaussianClassifier,
    HoKashyap,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    PoissonRegression,
    Ridge,
    SigmoidPerceptron,
    WidrowHoff,
)
from adaline.data import Encoding, blocks, fit
from adaline.errors import DataError, RankDeficientWarning, SeparableError
from reference_losses import exact_minimum

INPUTS = ["a0", "a1", "a2", "a3"]


def table_of(rng, n: int = 2000) -> pl.DataFrame:
    X = rng.standard_normal((n, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, -3]
    v = (X - X.mean(axis=0)) @ [1.0, 0.1, -5.0, 0.5]
    k = np.argmax(np.column_stack([v, -v, np.zeros(n)]) + rng.gumbel(size=(n, 3)), axis=1)
    years = rng.uniform(0.5, 4.0, n)
    return pl.DataFrame(
        {
            **{name: X[:, j] for j, name in enumerate(INPUTS)},
            "y": v + rng.standard_normal(n),
            "two": (rng.random(n) < 1 / (1 + np.exp(-v))).astype(int),
            "three": np.array(["ant", "bee", "cat"])[k],
            "n": rng.poisson(years * np.exp(0.3 * v)),
            "cost": np.exp(0.3 * v) * rng.gamma(2.0, size=n),
            "years": years,
        }
    )


@pytest.fixture
def table(rng) -> pl.DataFrame:
    return table_of(rng)


def X_of(table: pl.DataFrame) -> np.ndarray:
    return np.ascontiguousarray(table.select(INPUTS).to_numpy())


def agree(stream, array) -> None:
    """Both claims hold, so both weights are within their bounds of the minimum."""
    assert stream.certificate_.kind == array.certificate_.kind == "optimal"
    assert stream.fit_.outcome == "converged"
    coef = sum(m.certificate_.evidence["coef_bound"] for m in (stream, array))
    W, V = np.atleast_2d(stream.coef_), np.atleast_2d(array.coef_)
    if len(W) > 1 and not array.alpha:  # all classes may move together
        W, V = W - W.mean(axis=0), V - V.mean(axis=0)
    assert np.all(np.abs(W - V) <= 2 * np.max(coef) + 1e-12)


# Closed forms differ from those of arrays by the rounding of sums in another order.
CLOSED = {
    "least squares": (LeastSquares(), "y"),
    "least squares, no bias": (LeastSquares(fit_intercept=False), "y"),
    "ridge": (Ridge(alpha=3.0), "y"),
    "ridge by gcv": (Ridge(alpha="gcv"), "y"),
    "machine of two": (LeastSquaresClassifier(), "two"),
    "machine of three": (LeastSquaresClassifier(), "three"),
    "gaussian": (GaussianClassifier(), "three"),
    "gaussian of two": (GaussianClassifier(), "two"),
    "full covariances": (GaussianClassifier("full"), "three"),
    "variances": (GaussianClassifier("diagonal"), "three"),
}


@pytest.mark.parametrize(("learner", "target"), CLOSED.values(), ids=CLOSED)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_closed_forms_of_a_file_are_those_of_the_array(table, tmp_path, learner, target):
    table.write_parquet(tmp_path / "t.parquet", row_group_size=300)
    stream = fit(
        type(learner)(**learner.get_params()), tmp_path / "t.parquet", target, columns=INPUTS
    )
    array = learner.fit(X_of(table), table[target].to_numpy())
    method = "predict_proba" if isinstance(learner, GaussianClassifier) else "decision_function"
    method = method if hasattr(array, "classes_") else "predict"
    ours, theirs = (getattr(model, method)(X_of(table)) for model in (stream, array))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
    assert stream.feature_names_in_.tolist() == INPUTS
    if hasattr(stream, "classes_"):
        assert stream.classes_.tolist() == array.classes_.tolist()


MINIMA = {
    "two": (LogisticRegression, "two", None),
    "three": (LogisticRegression, "three", None),
    "counts": (PoissonRegression, "n", None),
    "rates": (PoissonRegression, "n", "years"),
    "costs": (GammaRegression, "cost", None),
}


@pytest.mark.parametrize(("learner", "target", "exposure"), MINIMA.values(), ids=MINIMA)
@pytest.mark.parametrize("alpha", [0.0, 2.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_minima_of_a_file_are_those_of_the_array_within_both_certificates(
    table, tmp_path, learner, target, exposure, alpha, fit_intercept
):
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    table.write_csv(tmp_path / "t.csv")
    source, given = blocks(tmp_path / "t.csv", rows=150), {"columns": INPUTS, "exposure": exposure}
    stream = fit(learner(**options), source, target, **given)
    more = {} if exposure is None else {"exposure": table[exposure].to_numpy()}
    array = learner(**options).fit(X_of(table), table[target].to_numpy(), **more)
    agree(stream, array)
    two = fit(learner(**options), source, target, jobs=2, **given)
    assert two.coef_.tobytes() == stream.coef_.tobytes()


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-8, 1.0, 1e8]),
    st.sampled_from([0.0, 1e-3, 1.0]),
    st.integers(1, 12),
)
def test_the_claim_holds_for_the_exact_minimum(seed, scale, alpha, rows):
    """The true minimum, to 50 digits, is as near as the certificate says."""
    table = table_of(np.random.default_rng(seed), n=12)
    X, y, years = X_of(table)[:, :2] * scale, table["n"].to_numpy(), table["years"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = blocks(np.column_stack([X, years, y]), rows=rows)
        if not y.any():
            return
        model = fit(PoissonRegression(alpha=alpha), source, "x3", exposure="x2")
    if model.certificate_.kind != "optimal":
        return
    w, b = exact_minimum("counts", X, y, alpha, offset=np.log(years))
    found = model.certificate_.evidence
    off = [abs(Decimal(float(a)) - t) for a, t in zip(model.fit_.W[0], w, strict=True)]
    assert sum(o * o for o in off).sqrt() <= Decimal(float(found["distance_bound"]))
    assert abs(Decimal(float(model.fit_.b[0])) - b) <= Decimal(float(found["intercept_bound"]))


SEQUENTIAL = {
    "perceptron": (Perceptron, "three", {}),
    "adaline": (Adaline, "two", {}),
    "sigmoid": (SigmoidPerceptron, "two", {}),
    "widrow-hoff": (WidrowHoff, "y", {}),
    "logistic on line": (LogisticRegression, "three", {"online": True}),
}


@pytest.mark.parametrize(("learner", "target", "options"), SEQUENTIAL.values(), ids=SEQUENTIAL)
@pytest.mark.parametrize("rows", [50, None])
def test_learners_of_rows_in_order_have_the_same_bits(
    table, tmp_path, learner, target, options, rows
):
    table.write_csv(tmp_path / "t.csv")
    source = blocks(tmp_path / "t.csv", rows=rows)
    stream = fit(learner(), source, target, columns=INPUTS, passes=2, **options)
    array, y = learner(), table[target].to_numpy()
    for _ in range(2):
        array.partial_fit(X_of(table), y, *(() if target == "y" else (np.unique(y),)))
    assert stream.coef_.tobytes() == array.coef_.tobytes()


def test_shuffled_passes_depend_on_the_seed_alone(table):
    def run(seed):
        learner, source = WidrowHoff(shuffle=True), blocks(table, rows=100)
        return fit(learner, source, "y", columns=INPUTS, seed=seed, passes=2).coef_.tobytes()

    assert run(1) == run(1) != run(2)


def test_a_pipe_is_learned_as_a_file_is(table):
    text = table.write_csv().encode()
    for learner, target in (
        (Ridge, "y"),
        (WidrowHoff, "y"),
        (LogisticRegression, "two"),  # several passes, and classes to find
        (Perceptron, "two"),
    ):
        piped = fit(learner(), io.BytesIO(text), target, columns=INPUTS)
        whole = fit(learner(), table, target, columns=INPUTS)
        np.testing.assert_allclose(piped.coef_, whole.coef_, rtol=1e-12)


# Rows that are few, late, missing, or hard.


def test_missing_rows_are_left_out_together_with_their_target(rng):
    X, y = rng.standard_normal((200, 2)), rng.standard_normal(200)
    X[3, 0], X[50, 1], y[70] = np.nan, np.nan, np.nan
    rows = blocks(pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}), rows=60)
    model = fit(LeastSquares(), rows, "y", missing="drop")
    keep = np.isfinite(X).all(axis=1) & np.isfinite(y)
    np.testing.assert_allclose(model.coef_, LeastSquares().fit(X[keep], y[keep]).coef_, rtol=1e-12)
    assert model.moments_.rows == 197
    with pytest.raises(DataError, match="target 'y' is missing at row 70"):
        fit(LeastSquares(), rows, "y", missing="mean")


def test_rows_without_an_exposure_can_be_dropped(table):
    holed = table.with_columns(years=pl.when(pl.int_range(pl.len()) % 7 != 0).then("years"))
    options = {"columns": INPUTS, "exposure": "years", "missing": "drop"}
    model, left = (
        fit(PoissonRegression(), blocks(holed, rows=40), "n", **options),
        holed.drop_nulls(),
    )
    agree(model, PoissonRegression().fit(X_of(left), left["n"].to_numpy(), exposure=left["years"]))


def test_a_class_that_comes_late_is_a_class_all_the_same(table):
    late = pl.concat([table, table[:50].with_columns(three=pl.lit("dog"))])
    for learner in (LogisticRegression, GaussianClassifier, LeastSquaresClassifier, Perceptron):
        model = fit(learner(), blocks(late, rows=20), "three", columns=INPUTS)
        assert model.classes_.tolist() == ["ant", "bee", "cat", "dog"]


HARD = {"offset": (1e8, 1e1), "condition": (0.0, 1e9), "both": (1e5, 1e6)}


@pytest.mark.parametrize(("offset", "condition"), HARD.values(), ids=HARD)
@pytest.mark.filterwarnings("ignore:rounding has left no digit")
def test_hard_least_squares_reads_again_until_the_digits_are_those_of_the_array(
    rng, offset, condition
):
    n, p = 600, 4
    U, _ = np.linalg.qr(rng.standard_normal((n, p)))
    V, _ = np.linalg.qr(rng.standard_normal((p, p)))
    X = (U * np.geomspace(1, 1 / condition, p)) @ V.T * np.sqrt(n) + offset
    y = X @ rng.standard_normal(p) + rng.standard_normal(n)
    source = blocks(np.column_stack([X, y]), rows=100)
    for learner in (LeastSquares(), Ridge(alpha=1e-6)):
        stream, array = fit(learner, source, f"x{p}").coef_.copy(), learner.fit(X, y)
        # Both are proven to 13 digits and more.
        np.testing.assert_allclose(stream, array.coef_, rtol=1e-12)
        assert learner.certificate_.evidence["digits"] > 12.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankDeficientWarning)  # all that moments can tell
        quick = fit(LeastSquares(refine=False), source, f"x{p}")
    assert "more passes" not in quick.fit_.stopped


def test_progress_tells_rows_done_and_all_rows(table, tmp_path):
    heard = []
    tell = lambda done, total: heard.append((done, total))  # noqa: E731
    fit(Ridge(), blocks(table, rows=600), "y", columns=INPUTS, progress=tell)
    assert heard == [(600, 2000), (1200, 2000), (1800, 2000), (2000, 2000)]


def test_what_has_no_minimum_is_not_called_one(rng):
    x = np.repeat(np.arange(10.0), 2)
    classes = (x > 5).astype(float)
    with pytest.raises(SeparableError, match="separates"):
        fit(LogisticRegression(alpha=0), blocks(np.column_stack([x, classes]), rows=3), "x1")
    classes[10] = 1.0  # one of two rows at 5
    with pytest.raises(SeparableError, match="finite weights"):
        fit(LogisticRegression(alpha=0), blocks(np.column_stack([x, classes]), rows=6), "x1")
    rows = np.column_stack([np.arange(4.0), [0, 0, 0, 5]])
    with pytest.warns(ConvergenceWarning, match="without bound"):
        model = fit(PoissonRegression(alpha=0), blocks(rows, rows=3), "x1")
    assert model.certificate_.kind == "unproven"
    table = table_of(rng, 200).with_columns(d=pl.col("a0"))
    for learner, target in ((LeastSquares(), "y"), (PoissonRegression(alpha=0), "n")):
        with pytest.warns(RankDeficientWarning, match=r"depend|combination"):
            fit(learner, blocks(table, rows=30), target, columns=["a0", "a1", "d"])


def test_bad_counts_and_exposures_are_told_with_their_rows(rng, tmp_path):
    table = table_of(rng, 60)
    for column, value, words in (
        ("n", -2, r"target 'n' is -2 at line 43;.* counts are not negative"),
        ("years", 0.0, "the exposure 'years' is 0 at line 43"),
        ("years", None, "the exposure 'years' is missing at"),
        ("years", "long", "years"),
    ):
        row = pl.int_range(pl.len()) == 41
        bad = table.with_columns(pl.when(row).then(pl.lit(value)).otherwise(column).alias(column))
        bad.write_csv(tmp_path / "t.csv")
        with pytest.raises(DataError, match=words):
            fit(PoissonRegression(), tmp_path / "t.csv", "n", columns=INPUTS, exposure="years")


class Mine(Ridge):
    """A class that declares nothing of its own."""


GIVEN = {"columns": INPUTS}
REFUSED = {  # learner, target, options, and a word of the message
    "a class": (Ridge, "y", GIVEN, r"give an object, Ridge\(\)"),
    "rows at once": (HoKashyap(), "two", GIVEN, "HoKashyap cannot learn from blocks"),
    "undeclared": (Mine(), "y", GIVEN, "Mine cannot learn from blocks of rows; these can: Adal"),
    "shrinkage": (GaussianClassifier(shrinkage="auto"), "two", GIVEN, "shrinkage='auto'"),
    "alpha": (LogisticRegression(alpha="auto"), "two", GIVEN, "alpha='auto'"),
    "loo": (Ridge(alpha="loo"), "y", GIVEN, "loo"),
    "passes": (Perceptron(), "two", {**GIVEN, "passes": 0}, "passes is 0"),
    "option": (Ridge(), "y", {"colums": INPUTS}, "colums is no option"),
    "one class": (GaussianClassifier(), "one", GIVEN, "one class"),
    "many classes": (GaussianClassifier(), "y", GIVEN, "different values"),
    "no name": (Perceptron(), "too", {}, "did you mean 'two'"),
    "text": (Ridge(), "three", GIVEN, "holds text; a regressor needs numbers"),
    "no counts": (PoissonRegression(), "zero", GIVEN, "every count in the target 'zero' is zero"),
    "on line": (PoissonRegression(), "n", {"online": True}, "has no such procedure"),
    "exposure": (LogisticRegression(), "two", {"exposure": "years"}, "LogisticRegression has none"),
    "exposure twice": (PoissonRegression(), "n", {"exposure": "n"}, "the exposure, too"),
    "exposed": (
        PoissonRegression(),
        "n",
        {"columns": ["a0", "years"], "exposure": "years"},
        "inputs",
    ),
    "no exposure": (PoissonRegression(), "n", {"exposure": "year"}, "no exposure column 'year'"),
    "no target": (Ridge(), None, {}, "target is None"),
}


@pytest.mark.parametrize(("learner", "target", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_and_changes_nothing(table, learner, target, options, words):
    before = dict(vars(learner))
    table = table.with_columns(one=1, zero=0)
    with pytest.raises((ValueError, TypeError), match=words):
        fit(learner, table, target, **options)
    assert dict(vars(learner)) == before


@pytest.mark.parametrize("learner", [LogisticRegression, Perceptron])
def test_rows_that_come_once_give_the_same_model(table, learner):
    once = fit(learner(), iter([table]), "two", columns=INPUTS)
    again = fit(learner(), [table], "two", columns=INPUTS)
    assert np.array_equal(once.coef_, again.coef_)


def test_an_encoding_of_the_target_is_refused(table):
    with pytest.raises(ValueError, match="among the inputs"):
        fit(Ridge(), table, "y", encoding=Encoding.learn(table, columns=["y"]))


def test_a_dask_table_is_refused_with_what_to_do():
    dask = pytest.importorskip("dask.dataframe")
    rows = dask.from_pandas(pl.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}).to_pandas(), 1)
    for source in (rows, rows.to_dask_array(lengths=True)):
        with pytest.raises(TypeError, match=r"dask.*model\.fit"):
            fit(LeastSquares(), source, "y")
