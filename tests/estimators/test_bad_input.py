"""Bad input gets a clear error, or a right answer, from every estimator with a closed form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from adaline import (
    BayesClassifier,
    GaussianClassifier,
    LeastSquares,
    LeastSquaresClassifier,
    PolynomialLeastSquares,
    Ridge,
)

EVERY = [
    LeastSquares(),
    LeastSquares(refine=False),
    PolynomialLeastSquares(),
    Ridge(),
    Ridge(alpha=1.0),
    LeastSquaresClassifier(),
    GaussianClassifier(),
    GaussianClassifier(covariance="full"),
    GaussianClassifier(covariance="diagonal"),
    BayesClassifier(),
]
WEIGHTED = [e for e in EVERY if not isinstance(e, BayesClassifier)]
each = pytest.mark.parametrize("estimator", EVERY, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 3))


def targets(estimator, X):
    return np.arange(len(X)) % 2 if is_classifier(estimator) else X.sum(axis=1)


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_number_that_is_none_is_named_by_row_and_column(estimator, X, bad):
    y = targets(estimator, X)
    X[7, 2] = X[9, 0] = bad
    with pytest.raises(ValueError, match="first at row 7, column 2"):
        clone(estimator).fit(X, y)


@each
def test_numbers_that_are_none_are_refused_in_predict_too(estimator, X):
    model = clone(estimator).fit(X, targets(estimator, X))
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4, column 1"):
        model.predict(X)


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_in_sparse_rows_they_are_named_too(estimator, X):
    y = targets(estimator, X)
    X[:, 1] = 0.0
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="row 7, column 2"):
        clone(estimator).fit(sparse.csr_matrix(X), y)


@each
@pytest.mark.parametrize("empty", [np.empty((0, 3)), np.empty((30, 0))])
def test_no_rows_or_no_columns_are_refused(estimator, empty):
    with pytest.raises(ValueError, match="minimum of"):
        clone(estimator).fit(empty, np.arange(len(empty)) % 2)


@each
@pytest.mark.parametrize("kind", [int, bool, np.uint8, object])
def test_other_kinds_of_numbers_are_taken_as_numbers(estimator, rng, kind):
    X = rng.integers(0, 2, (40, 3))
    y = targets(estimator, X)
    want = clone(estimator).fit(X.astype(float), y)
    model = clone(estimator).fit(X.astype(kind), y)
    np.testing.assert_array_equal(model.predict(X.astype(kind)), want.predict(X.astype(float)))


@each
def test_text_is_no_number(estimator):
    with pytest.raises(ValueError, match=r"convert|numeric|dtype"):
        clone(estimator).fit(np.array([["a"], ["b"], ["c"]]), [0, 1, 0])


@each
def test_a_column_of_text_is_named_with_what_to_do(estimator, rng):
    table = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    table["town"] = ["Ulm", "Bonn"] * 10
    table["kind"] = pd.Categorical(["x", "y"] * 10)
    for X in (table, pl.from_pandas(table)):
        with pytest.raises(ValueError, match=r"text in 'town', 'kind' .*OneHotEnc"):
            clone(estimator).fit(X, [0, 1] * 10)
    with pytest.raises(ValueError, match=r"text in 'town'"):
        clone(estimator).fit(table[["a", "town"]], [0, 1] * 10)


@each
def test_a_vector_is_no_matrix(estimator, X):
    with pytest.raises(ValueError, match=r"[Rr]eshape"):
        clone(estimator).fit(X[:, 0], targets(estimator, X))


@each
def test_another_number_of_columns_is_refused(estimator, X):
    model = clone(estimator).fit(X, targets(estimator, X))
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
@pytest.mark.parametrize(
    ("weights", "sentence"),
    [(-1.0, "[Nn]egative"), (0.0, "zero for every row"), (np.nan, "NaN")],
)
def test_weights_that_make_no_sense_are_refused(estimator, X, weights, sentence):
    omega = np.full(30, weights)
    if weights != 0:
        omega[1:] = 1.0
    with pytest.raises(ValueError, match=sentence):
        clone(estimator).fit(X, targets(estimator, X), sample_weight=omega)


@each
def test_a_constant_column_says_nothing_and_breaks_nothing(estimator, X):
    y = targets(estimator, X)
    X[:, 1] = 1e6
    model = clone(estimator).fit(X, y)
    assert np.all(np.isfinite(np.asarray(model.predict(X), dtype=float)))


@pytest.mark.parametrize("estimator", [e for e in EVERY if is_classifier(e)], ids=repr)
def test_one_class_is_refused_and_one_member_is_not(estimator, X):
    with pytest.raises(ValueError, match="class"):
        clone(estimator).fit(X, np.zeros(30))
    lonely = np.zeros(30, dtype=int)
    lonely[3] = 1
    model = clone(estimator).fit(X, lonely)
    assert model.classes_.tolist() == [0, 1]
    assert len(model.predict(X)) == 30


@each
def test_the_callers_arrays_are_left_as_they_were(estimator, X):
    y = targets(estimator, X)
    before = X.copy(), y.copy()
    clone(estimator).fit(X, y).predict(X)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


@pytest.mark.parametrize("estimator", [e for e in EVERY if hasattr(e, "forget")], ids=repr)
def test_forgetting_before_learning_is_refused(estimator, X):
    with pytest.raises(ValueError, match="not fitted"):
        clone(estimator).forget(X, targets(estimator, X))
