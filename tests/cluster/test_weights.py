"""Weights of rows that Dask holds mean what they mean in memory."""

from __future__ import annotations

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="Dask is not installed (extra cluster)")
import dask  # noqa: E402

from adaline import (  # noqa: E402
    GaussianClassifier,
    LeastSquares,
    LeastSquaresClassifier,
    LogisticRegression,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
LABELS = np.array(["a", "b", "c"])[np.arange(300) % 3]
WITHOUT_C, ONLY_A = (LABELS != "c").astype(float), (LABELS == "a").astype(float)
CLASSIFIERS = [LeastSquaresClassifier, GaussianClassifier, LogisticRegression]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(*arrays):
    return [da.from_array(a, chunks=(100, *a.shape[1:])) for a in arrays]


@pytest.mark.parametrize("kind", [LeastSquaresClassifier, GaussianClassifier])
@pytest.mark.filterwarnings("ignore")
def test_a_class_whose_rows_weigh_nothing_is_kept_where_it_is_in_memory(kind):
    here, there = kind().fit(X, LABELS, WITHOUT_C), kind().fit(*lazy(X, LABELS, WITHOUT_C))
    assert there.classes_.tolist() == here.classes_.tolist() == ["a", "b", "c"]
    assert there.certificate_.kind == here.certificate_.kind
    assert np.allclose(there.coef_, here.coef_, atol=1e-12)
    assert (there.predict(X) == here.predict(X)).all()


def test_and_refused_where_it_is_refused_in_memory():
    words = "only zero sample_weight for the class 'c'"
    with pytest.raises(ValueError, match=words):
        LogisticRegression().fit(X, LABELS, WITHOUT_C)
    with pytest.raises(ValueError, match=words):
        LogisticRegression().fit(*lazy(X, LABELS, WITHOUT_C))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class_with_weight_is_one_class(kind):
    for given in ((X, LABELS, ONLY_A), lazy(X, LABELS, ONLY_A)):
        with pytest.raises(ValueError, match=r"of one class, \['a'\]|for the class 'b'"):
            kind().fit(*given)


@pytest.mark.parametrize("spoilt", ["X", "y"])
def test_rows_that_weigh_nothing_must_be_numbers(spoilt):
    rows, y = X.copy(), X[:, 0].copy()
    (rows if spoilt == "X" else y)[2] = np.nan
    for given in ((rows, y, WITHOUT_C), lazy(rows, y, WITHOUT_C)):
        with pytest.raises(ValueError, match=f"{spoilt} (contains|has) NaN"):
            LeastSquares().fit(*given)


@pytest.mark.parametrize("apart", [1e-4, 1e-7])
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_columns_with_weights_get_the_digits_that_rows_in_memory_get(apart, intercept):
    """1e-7 apart, moments have lost every digit, and a triangle of weighted rows begins."""
    hard = np.column_stack([X[:, 0], X[:, 0] + apart * X[:, 1], X[:, 2]])
    y = hard.sum(axis=1) + 0.1 * RNG.standard_normal(300)
    omega = RNG.uniform(0.5, 2.0, 300) * (np.arange(300) % 7 > 0)
    here = LeastSquares(fit_intercept=intercept).fit(hard, y, omega)
    there = LeastSquares(fit_intercept=intercept).fit(*lazy(hard, y, omega))
    assert here.certificate_.kind == there.certificate_.kind == "exact"
    assert np.array_equal(there.coef_, here.coef_)  # both claim to be correctly rounded
    assert there.intercept_ == here.intercept_
    assert "more passes" in there.fit_.stopped
