"""`score` of regressors is scikit-learn's r2_score, whatever the targets."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from adaline import LeastSquares, Ridge


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
