"""The contract: scikit-learn's own checks on every public estimator, and tables with names."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adaline import (
    Adaline,
    BayesClassifier,
    GammaRegression,
    GaussianClassifier,
    HoKashyap,
    KernelPerceptron,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    PoissonRegression,
    PolynomialLeastSquares,
    Ridge,
    SigmoidPerceptron,
    WidrowHoff,
    expected_failed_checks,
)

ESTIMATORS = [
    LeastSquares(),
    LeastSquares(fit_intercept=False, refine=False),
    PolynomialLeastSquares(),
    Ridge(),
    Ridge(alpha=1.0),
    LeastSquaresClassifier(),
    GaussianClassifier(),
    GaussianClassifier(covariance="full"),
    GaussianClassifier(covariance="diagonal"),
    BayesClassifier(),
    LogisticRegression(),
    PoissonRegression(),
    HoKashyap(),
]
IN_ORDER = [  # learners that take rows as they come
    Perceptron(),
    Perceptron(mode="batch", keep="pocket"),
    Perceptron(multiclass="ovr", keep="average", shuffle=True),
    WidrowHoff(),
    WidrowHoff(mode="batch"),
    Adaline(),
    SigmoidPerceptron(),
    SigmoidPerceptron(phi="logistic", mode="batch"),
]


KERNELS = [
    KernelPerceptron(),
    KernelPerceptron(kernel="linear", max_iter=50),
    KernelPerceptron(kernel="poly", max_iter=50),
]


@pytest.mark.filterwarnings("ignore::UserWarning")  # dependent columns in the checks' own data
@parametrize_with_checks(
    [*ESTIMATORS, *IN_ORDER, *KERNELS, GammaRegression()],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)


def test_no_exception_is_stated_where_none_is_needed():
    """What is stated must fail (the marks above are strict), and nothing else is stated."""
    assert expected_failed_checks(Perceptron(mode="batch")) == {}
    assert expected_failed_checks(LogisticRegression()) == {}
    assert len(expected_failed_checks(KernelPerceptron())) == 2


def test_a_column_of_text_is_named_with_what_to_do(rng):
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    frame["town"] = ["Ulm", "Bonn"] * 10
    frame["kind"] = pd.Categorical(["x", "y"] * 10)
    for X in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"text in 'town', 'kind' .*OneHotEnc"):
            LeastSquares().fit(X, [0, 1] * 10)


def table(kind, rng):
    columns = {"height": rng.standard_normal(60), "weight": rng.standard_normal(60)}
    y = np.where(columns["height"] + 0.5 * columns["weight"] > 0, 1, 0)
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind]
    return make(columns), np.column_stack(list(columns.values())), y


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_tables_go_in_with_their_column_names(kind, estimator, rng):
    frame, X, y = table(kind, rng)
    model = clone(estimator).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, twin = model.predict(frame), clone(estimator).fit(X, y)
    # Most tables lie column by column in memory, where BLAS rounds otherwise on some processors.
    by_row, by_column = twin.predict(X), twin.predict(np.asfortranarray(X))
    assert np.array_equal(found, by_row) or np.array_equal(found, by_column)
    np.testing.assert_allclose(found, by_row, rtol=0, atol=1e-14)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimators_work_in_a_pipeline_under_cross_validation(estimator, rng):
    _, X, y = table("pandas", rng)
    scores = cross_val_score(make_pipeline(StandardScaler(), clone(estimator)), X, y, cv=3)
    assert np.all(np.isfinite(scores))
