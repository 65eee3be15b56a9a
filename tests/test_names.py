"""A name that goes away warns its caller, at the caller's line, and works until then."""

from __future__ import annotations

import gc

import pytest
from sklearn.base import clone

import adaline
from adaline import Ridge
from adaline._names import deprecated, lazily


@deprecated(instead="Ridge", until="9.9")
class OldRidge(Ridge):
    pass


@deprecated(instead="twice", until="9.9")
def double(number: int, *, plus: int = 0) -> int:
    """Two times a number."""
    return 2 * number + plus


def test_a_function_warns_at_the_line_of_its_caller_and_works():
    with pytest.warns(FutureWarning, match=r"^double is deprecated .* 9\.9; use twice\.$") as seen:
        assert double(3, plus=1) == 7
    assert seen[0].filename == __file__
    assert double.__doc__ == "Two times a number."


def test_an_estimator_warns_and_can_still_be_cloned_and_searched_over():
    with pytest.warns(FutureWarning, match="OldRidge is deprecated") as seen:
        model = OldRidge(alpha=2.0)
    assert seen[0].filename == __file__
    with pytest.warns(FutureWarning, match="use Ridge"):
        again = clone(model)
    assert again.get_params() == model.get_params()
    assert again.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).alpha_ == 2.0


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
