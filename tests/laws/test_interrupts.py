"""Ctrl-C at any moment of a fit leaves the weights after the last complete step."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from adaline import (
    Adaline,
    KernelPerceptron,
    LogisticRegression,
    Perceptron,
    SigmoidPerceptron,
    WidrowHoff,
)

LEARNERS = [
    Perceptron(),
    Perceptron(mode="batch"),
    Perceptron(shuffle=True, random_state=0),
    WidrowHoff(tol=0),
    WidrowHoff(eta=0.1, mode="batch", tol=0),
    Adaline(tol=0, shuffle=True, random_state=0),
    SigmoidPerceptron(tol=0),
    KernelPerceptron("linear"),
    KernelPerceptron("linear"),
    LogisticRegression(0.1),
    LogisticRegression("firth"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_fit_is_one_of_fewer_steps(rng, learner):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    for moment in [2, 3, *rng.choice(np.arange(4, 120), 12, replace=False).tolist()]:
        heard = []

        def hear(done, here, heard=heard, moment=moment):
            heard.append(done)
            if len(heard) == moment:
                raise KeyboardInterrupt

        model = clone(learner).set_params(max_iter=6)
        model._look = hear
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            assert len(heard) == moment
        else:
            assert len(heard) < moment  # it had ended before
            continue
        if heard[-1] == 0:  # nothing is learned yet
            continue
        want = clone(learner).set_params(max_iter=heard[-1]).fit(X, y)
        assert np.array_equal(model.fit_.W, want.fit_.W)
        assert np.array_equal(model.fit_.b, want.fit_.b)
        assert "interrupted" in model.fit_.stopped
