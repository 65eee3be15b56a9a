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
    BayesClassifier,
    GammaRegression,
    GaussianClassifier,
    HoKashyap,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
    PoissonRegression,
    PolynomialLeastSquares,
    Ridge,
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


@pytest.mark.filterwarnings("ignore::UserWarning")  # dependent columns in the checks' own data
@parametrize_with_checks([*ESTIMATORS, GammaRegression()])  # its targets are positive
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)


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
