"""SigmoidPerceptron and trace: outputs, both modes, and what cannot be traced."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.estimators.perceptron import SigmoidPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def clouds(rng, n=150):
    X = np.vstack([rng.standard_normal((n, 2)), rng.standard_normal((n, 2)) + 1.5])
    order = rng.permutation(2 * n)
    return X[order], np.repeat([0, 1], n)[order]


@pytest.mark.parametrize("phi", ["tanh", "logistic"])
def test_batch_and_online_find_the_same_minimum(rng, phi):
    X, y = clouds(rng)
    batch = SigmoidPerceptron(phi, mode="batch", tol=1e-10).fit(X, y)
    online = SigmoidPerceptron(phi, tol=0, max_iter=300).fit(X, y)
    np.testing.assert_allclose(online.coef_, batch.coef_, rtol=0.05)


def test_logistic_is_tanh_of_half_the_argument(rng):
    """(1 + tanh(v/2))/2 is the logistic function: its minimum has twice the weights."""
    X, y = clouds(rng)
    one = SigmoidPerceptron("tanh", mode="batch", tol=1e-12).fit(X, y)
    other = SigmoidPerceptron("logistic", mode="batch", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(other.coef_, 2 * one.coef_, rtol=1e-3)
    np.testing.assert_allclose(2 * other.output(X) - 1, one.output(X), atol=1e-3)
