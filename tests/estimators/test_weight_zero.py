"""A row of weight zero is no sample, and a class of such rows no class: for every classifier."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import (
    Adaline,
    GaussianClassifier,
    HoKashyap,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    SigmoidPerceptron,
)

CLASSIFIERS = [
    Adaline(),
    GaussianClassifier(),
    GaussianClassifier("full"),
    GaussianClassifier("diagonal"),
    HoKashyap(),
    KernelPerceptron(),
    LeastSquaresClassifier(),
    LogisticRegression(),
    Perceptron(),
    SigmoidPerceptron(),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_one_class_with_weight_is_one_class(model, labels, rng):
    X, y = rng.standard_normal((20, 2)), np.repeat(labels, 10)
    with pytest.raises(ValueError, match=r"one class|only zero sample_weight for the class"):
        model.fit(X, y, sample_weight=np.repeat([1.0, 0.0], 10))


def test_samples_of_weight_zero_are_not_counted(rng):
    X = rng.standard_normal((20, 2))
    y, omega = (X[:, 0] > 0).astype(int), np.ones(20)
    y[3], omega[3] = 1 - y[3], 0.0  # on the wrong side, but no sample
    X[:, 0] += np.where(X[:, 0] > 0, 3.0, -3.0)
    for model in (LeastSquaresClassifier(), Perceptron(), HoKashyap()):
        model.fit(X, y, sample_weight=omega)
        assert model.certificate_.kind == "separable"
        assert model.certificate_.evidence["samples"] == 19
