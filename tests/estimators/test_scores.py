"""`score` of regressors is scikit-learn's r2_score, whatever the targets."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import r2_score

from adaline import LeastSquares, Ridge
from adaline.estimators._base import explained_share


@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_score_is_that_of_scikit_learn(rng, targets, weighted, dtype):
    X = rng.standard_normal((40, 3)).astype(dtype)
    Y = rng.standard_normal(40 if targets is None else (40, targets))
    omega = rng.uniform(0.0, 2.0, 40) if weighted else None
    for model in (LeastSquares(), Ridge(1.0)):
        model.fit(X, Y)
        wanted = r2_score(Y, model.predict(X), sample_weight=omega)
        assert model.score(X, Y, omega) == pytest.approx(wanted, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("y", "predicted"),
    [
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        ([[1.0, 5.0], [1.0, 6.0]], [[1.0, 5.5], [1.0, 5.5]]),
        ([[1.0, 5.0], [1.0, 6.0]], [[2.0, 5.0], [1.0, 6.0]]),
        ([1.0], [2.0]),
        ([1e200, -1e200], [0.0, 1e200]),
    ],
)
def test_targets_that_do_not_vary_and_rows_that_are_few(y, predicted):
    y, predicted = np.array(y), np.array(predicted)
    with warnings.catch_warnings(record=True) as mine:
        warnings.simplefilter("always")
        got = explained_share(y, predicted, None)
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        wanted = r2_score(y, predicted)
    assert got == pytest.approx(wanted, rel=1e-15, nan_ok=True)
    assert [w.category for w in mine] == [w.category for w in others]


def test_infinite_predictions_have_no_score():
    with pytest.raises(ValueError, match="infinity"):
        explained_share(np.array([1.0, 2.0]), np.array([1.0, np.inf]), None)
