"""Public names load on first use, and names of other libraries get advice."""

from __future__ import annotations

import pytest

import adaline


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: adaline.LogisticRegression(C=2.0), "alpha=1/C"),
        (lambda: adaline.LogisticRegression(penalty="l1"), "squares"),
        (lambda: adaline.LeastSquaresClassifier(class_weight="balanced"), "sample_weight"),
        (lambda: adaline.LeastSquares(C=2.0), "it has fit_intercept, refine"),
        (lambda: adaline.NLMS(4, mu=0.5), "eta"),
        (lambda: adaline.Perceptron(eta0=0.5), "eta"),
    ],
)
def test_a_parameter_of_other_libraries_gets_a_sentence(make, words):
    with pytest.raises(TypeError, match=words):
        make()


@pytest.mark.parametrize(
    ("name", "words"),
    [("Lasso", "Ridge"), ("SVC", "max_margin"), ("LinearRegression", "LeastSquares")],
)
def test_a_name_of_other_libraries_gets_a_sentence(name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(adaline, name)
    assert not hasattr(adaline, "Lasagne")
