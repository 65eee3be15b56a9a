"""SigmoidPerceptron and trace: outputs, both modes, and what cannot be traced."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LeastSquares
from adaline.estimators.perceptron import Perceptron, SigmoidPerceptron
from adaline.estimators.trace import trace
from adaline.estimators.widrow_hoff import Adaline, WidrowHoff

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


def test_three_classes(rng):
    X = rng.standard_normal((300, 2)) + 5 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(300) % 3]
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    for learner in (SigmoidPerceptron("logistic"), SigmoidPerceptron()):
        assert learner.fit(X, y).score(X, y) > 0.95


def test_an_unknown_phi_is_refused(rng):
    with pytest.raises(ValueError, match="phi is 'relu'"):
        SigmoidPerceptron("relu").fit(*clouds(rng))


@pytest.mark.parametrize(
    "learner",
    [Perceptron(), WidrowHoff(), Adaline(mode="batch"), SigmoidPerceptron("logistic", eta=0.1)],
    ids=repr,
)
def test_a_trace_is_text_a_frame_and_html(rng, learner):
    X, y = clouds(rng, n=5)
    table = trace(learner.set_params(max_iter=3), X, y)
    frame = table.to_frame()
    assert list(frame.columns) == [
        *("pass", "sample", "w1", "w2", "b", "t", "v", "update", "dw1", "dw2", "db")
    ]
    assert len(frame) == len(table) == len(str(table).splitlines()) - 2
    assert table.to_html().count("<tr>") == len(table) + 1
    assert not hasattr(learner, "fit_")  # the estimator itself learned nothing


def test_what_does_not_learn_by_steps_cannot_be_traced(rng):
    with pytest.raises(TypeError, match="LeastSquares does not learn in steps"):
        trace(LeastSquares(), *clouds(rng))
