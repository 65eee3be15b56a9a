"""`fit` of counts on files: the minimum of the array, a claim that is true, exposures, refusals."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import adaline
from adaline import LogisticRegression, PoissonRegression
from adaline.data import Encoding, blocks, fit
from adaline.errors import DataError, RankDeficientWarning
from reference_poisson import poisson as twin

INPUTS = ["a", "b", "c"]


def counts(rng, n=2000) -> pl.DataFrame:
    X = rng.standard_normal((n, 3)) * [1, 10, 0.1] + [0, 100, -3]
    years = rng.uniform(0.5, 4.0, n)
    v = (X - X.mean(axis=0)) @ [0.5, 0.03, -4.0]
    columns = {name: X[:, j] for j, name in enumerate(INPUTS)}
    return pl.DataFrame({**columns, "years": years, "n": rng.poisson(years * np.exp(v))})


def X_of(table: pl.DataFrame) -> np.ndarray:
    return np.ascontiguousarray(table.select(INPUTS).to_numpy())


def agree(stream, array) -> None:
    """Both claims hold, so both weights are within their bounds of the minimum."""
    assert stream.certificate_.kind == array.certificate_.kind == "optimal"
    coef = sum(m.certificate_.evidence["coef_bound"] for m in (stream, array))
    bias = sum(m.certificate_.evidence["intercept_bound"] for m in (stream, array))
    assert np.all(np.abs(stream.coef_ - array.coef_) <= coef)
    assert abs(stream.intercept_ - array.intercept_) <= bias


@pytest.mark.parametrize("alpha", [0.0, 2.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("exposure", [None, "years"])
def test_a_file_has_the_minimum_of_the_array_within_both_certificates(
    rng, tmp_path, alpha, fit_intercept, exposure
):
    table, options = counts(rng), {"alpha": alpha, "fit_intercept": fit_intercept}
    table.write_csv(tmp_path / "t.csv")
    source = blocks(tmp_path / "t.csv", rows=150)
    stream = fit(
        PoissonRegression(**options), source, "n", columns=INPUTS, exposure=exposure, jobs=1
    )
    years = None if exposure is None else table["years"].to_numpy()
    array = PoissonRegression(**options).fit(X_of(table), table["n"].to_numpy(), exposure=years)
    agree(stream, array)
    assert stream.fit_.outcome == "converged"
    assert stream.feature_names_in_.tolist() == INPUTS
    assert isinstance(stream.n_iter_, int)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-8, 1.0, 1e8]),
    st.sampled_from([0.0, 1e-3, 1.0]),
    st.integers(1, 12),
)
def test_the_claim_holds_for_the_exact_minimum(seed, scale, alpha, rows):
    """The true minimum, to 50 digits, is as near as the certificate says."""
    rng = np.random.default_rng(seed)
    table = counts(rng, n=12)
    X, y, years = X_of(table)[:, :2] * scale, table["n"].to_numpy(), table["years"].to_numpy()
    source = blocks(np.column_stack([X, years, y]), rows=rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(PoissonRegression(alpha=alpha), source, "x3", exposure="x2")
    if model.certificate_.kind != "optimal":
        return
    w, b = twin(X, y, alpha, np.log(years), digits=60)
    found = model.certificate_.evidence
    off = [abs(Decimal(float(a)) - t) for a, t in zip(model.fit_.W[0], w, strict=True)]
    assert sum(o * o for o in off).sqrt() <= Decimal(float(found["distance_bound"]))
    assert abs(Decimal(float(model.fit_.b[0])) - b) <= Decimal(float(found["intercept_bound"]))


def test_two_processes_give_the_bits_of_one(rng, tmp_path):
    counts(rng).write_parquet(tmp_path / "t.parquet", row_group_size=300)
    source = blocks(tmp_path / "t.parquet", rows=300)
    one, two = (fit(PoissonRegression(), source, "n", exposure="years", jobs=j) for j in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.certificate_.evidence["passes"] == two.certificate_.evidence["passes"]


def test_sparse_rows_of_a_file_learn_what_dense_rows_do(rng, tmp_path):
    X = sparse.random_array((400, 300), density=0.05, rng=rng, format="csr")
    y = rng.poisson(np.exp(X[:, :5].sum(axis=1)))
    lines = [
        f"{y[i]} "
        + " ".join(f"{j + 1}:{a!r}" for j, a in zip(r.indices, r.data.tolist(), strict=True))
        for i, r in ((i, X[[i]]) for i in range(400))
    ]
    (tmp_path / "t.libsvm").write_text("\n".join(lines))
    agree(
        fit(PoissonRegression(), blocks(tmp_path / "t.libsvm", rows=90), "y"),
        PoissonRegression().fit(X.toarray(), y),
    )


def test_a_sample_without_counts_is_no_obstacle(rng):
    """Of many small blocks only some are looked into for a start; here all counts are elsewhere."""
    x = rng.standard_normal(200)
    y = np.zeros(200)
    y[17] = y[58] = 3.0
    source = blocks(np.column_stack([x, y]), rows=2)
    agree(fit(PoissonRegression(), source, "x1"), PoissonRegression().fit(x[:, None], y))


def test_a_start_that_is_too_far_is_left(rng):
    """The sample misses the one row where its minimum gives a mean beyond float64."""
    x = rng.standard_normal(400)
    y = rng.poisson(np.exp(1.0 + 2.0 * x)).astype(float)
    x[100] = 4e3
    model = fit(PoissonRegression(), blocks(np.column_stack([x, y]), rows=2), "x1")
    agree(model, PoissonRegression().fit(x[:, None], y))


def test_what_has_no_maximum_is_not_called_one():
    rows = np.column_stack([np.arange(4.0), [0, 0, 0, 5]])
    with pytest.warns(ConvergenceWarning, match="without bound"):
        model = fit(PoissonRegression(alpha=0), blocks(rows, rows=3), "x1")
    assert model.certificate_.kind == "unproven"


def test_dependent_columns_are_told(rng):
    table = counts(rng, 200).with_columns(d=pl.col("a"))
    with pytest.warns(RankDeficientWarning, match="depend on others"):
        model = fit(PoissonRegression(alpha=0), table, "n", columns=[*INPUTS, "d"])
    assert model.certificate_.kind == "unproven"


def test_bad_counts_and_exposures_are_told_with_their_rows(rng, tmp_path):
    table = counts(rng, 60)
    row = pl.int_range(pl.len())

    def message(column, value, **options) -> str:
        bad = table.with_columns(pl.when(row == 41).then(value).otherwise(column).alias(column))
        bad.write_csv(tmp_path / "claims.csv")
        source = blocks(tmp_path / "claims.csv", rows=25)
        with pytest.raises(DataError) as caught:
            fit(PoissonRegression(), source, "n", exposure="years", **options)
        return str(caught.value)

    assert "the target 'n' is -2 at" in message("n", -2)
    assert "claims.csv" in message("n", -2)
    assert "at line 43;" in message("n", -2)
    assert "counts are not negative" in message("n", -2)
    assert "the exposure 'years' is 0 at" in message("years", 0.0)
    assert "the exposure 'years' is -1 at" in message("years", -1.0)
    assert "the exposure 'years' is missing at" in message("years", None)
    assert "every count in the target 'z' is zero" in refusal(table.with_columns(z=0), "z")
    assert "no exposure column 'year'" in refusal(table, "n", exposure="year")
    assert "holds text" in refusal(table.with_columns(t=pl.lit("long")), "n", exposure="t")


def refusal(table, target, **options) -> str:
    with pytest.raises(DataError) as caught:
        fit(PoissonRegression(), blocks(table, rows=25), target, **options)
    return str(caught.value)


def test_rows_without_an_exposure_can_be_dropped(rng):
    table = counts(rng, 300).with_columns(
        years=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("years")
    )
    options = {"exposure": "years", "missing": "drop"}
    left = table.drop_nulls()
    model = fit(PoissonRegression(), blocks(table, rows=40), "n", **options)
    array = PoissonRegression().fit(X_of(left), left["n"].to_numpy(), exposure=left["years"])
    agree(model, array)


def test_an_exposure_that_makes_no_sense_is_refused(rng):
    table = counts(rng, 60)
    for words, options in {
        "among the inputs": {"columns": ["a", "years"]},
        "too": {"exposure": "n"},
        "exposure": {"exposure": 3},
        "inputs": {"encoding": Encoding.learn(table, "n")},
    }.items():
        with pytest.raises((ValueError, TypeError), match=words):
            fit(PoissonRegression(), table, "n", **{"exposure": "years", **options})
    with pytest.raises(ValueError, match="LogisticRegression has none"):
        fit(LogisticRegression(), table, "n", exposure="years")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_model_of_a_file_is_kept_and_predicts(rng, tmp_path):
    model = fit(PoissonRegression(), counts(rng, 100), "n", exposure="years")
    adaline.save(model, tmp_path / "m.adaline")
    again = adaline.load(tmp_path / "m.adaline")
    X = np.zeros((2, 3))
    assert again.model.predict(X).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(model.predict(X, exposure=[2, 4]), model.predict(X) * [2, 4])
