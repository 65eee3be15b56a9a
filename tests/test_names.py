"""Public names load on first use, and names of other libraries get advice."""

from __future__ import annotations

import gc

import pytest

import adaline
from adaline._names import lazily


@pytest.mark.parametrize("on", [True, False])
def test_loading_a_name_leaves_the_collector_of_garbage_as_it_was(on):
    package = {"__name__": "a package of a test", "__all__": ["sleep", "missing"]}
    load, _ = lazily(package, {"sleep": "time", "missing": "no_such_module"})
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        assert load("sleep") is package["sleep"]
        with pytest.raises(ModuleNotFoundError):
            load("missing")
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()


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
