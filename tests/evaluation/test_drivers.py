"""What drives a model: which columns are named, in which order, and how many."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from adaline.evaluation import drivers
from adaline.evaluation.coefficients import PER_SD, Coefficients


def told(effects, half=0.5, **model):
    """Drivers of a model with one output whose columns have these effects per deviation."""
    p = len(effects)
    names = list("abcdefghi"[:p])
    rows = [{"name": "intercept", "coef": 7.0}] + [
        {"name": n, "coef": e, PER_SD: e, "low": e - half, "high": e + half}
        for n, e in zip(names, effects, strict=True)
    ]
    found = Coefficients(("coef", "low", "high"), tuple(rows), more=(PER_SD,))
    X = np.tile(np.arange(3.0)[:, None], p)
    return drivers.drivers(SimpleNamespace(**model), found, X, np.full(p, 1.2345), "rent", names)


def test_the_largest_five_are_told_the_largest_first():
    said = told([1.0, -3.0, 2.0, 6.0, -5.0, 4.0])
    assert [one[:2] for one in said] == ["d:", "e:", "f:", "b:", "c:"]
    assert said[:2] == (
        "d: 1.23 more goes with 6 more rent.",
        "e: 1.23 more goes with 5 less rent.",
    )
    assert told([0.123456], half=0.1) == ("a: 1.23 more goes with 0.123 more rent.",)
    scores = {"classes_": ["no", "yes"]}
    assert told([0.123456], half=0.1, **scores) == (
        "a: 1.23 more moves the score by 0.123 towards 'yes'.",
    )
    assert told([0.0, 3.0]) == ("b: 1.23 more goes with 3 more rent.",)


@pytest.mark.parametrize(
    ("unsure", "listed"),
    [(1, "a."), (5, "a, b, c, d, e."), (6, "a, b, c, d, e and 1 more.")],
)
def test_columns_that_may_have_no_effect_are_listed_up_to_five(unsure, listed):
    said = told([10.0 - j for j in range(unsure)], half=100.0)
    assert said == (f"No column is sure to have an effect of its own, beside the others: {listed}",)


@pytest.mark.parametrize(("sure", "room"), [(4, True), (5, False)])
def test_unsure_columns_are_told_where_there_is_room(sure, room):
    said = told([9.0 - j for j in range(sure)] + [0.25])
    assert len(said) == 5
    name = "abcdefghi"[sure]
    line = f"These may or may not have an effect of their own: {name}."
    assert (said[-1] == line) == room


def test_without_spreads_or_rows_nothing_is_told():
    assert drivers.drivers(None, Coefficients(), None, np.ones(1), None, []) == ()
    found = Coefficients(("coef",), ({"name": "a", "coef": 1.0},))
    assert drivers.drivers(None, found, None, None, None, []) == ()


def of_classes(W, spreads, X=None, covariance=None, effect="odds", classes="abc"):
    W = np.asarray(W, dtype=np.float64)
    information = None if covariance is None else SimpleNamespace(covariance=covariance)
    model = SimpleNamespace(
        coef_=W, classes_=np.array(list(classes)), _effect=effect, _information=information
    )
    found = Coefficients(tuple(classes), ({"name": "intercept"},))
    X = np.tile(np.arange(3.0)[:, None], W.shape[1]) if X is None else X
    names = list("uvwxyz"[: W.shape[1]])
    return drivers.drivers(model, found, X, np.asarray(spreads), None, names)


def test_of_several_classes_the_two_that_a_column_tells_apart_are_named():
    W = [[0.0, 1.0], [np.log(3.0), 0.0], [-np.log(2.0), 0.5]]
    assert of_classes(W, [1.0, 1.0]) == (
        "u: 1 more multiplies the odds of 'b' against 'c' by 6.",
        "v: 1 more multiplies the odds of 'a' against 'b' by 2.72.",
    )
    assert of_classes(W, [0.5, 2.3456])[0] == (
        "v: 2.35 more multiplies the odds of 'a' against 'b' by 10.4."
    )
    scores = of_classes(W, [1.0, 0.0], effect="score")
    assert scores == ("u: 1 more moves the score by 1.79 from 'c' towards 'b'.",)


@pytest.mark.parametrize("thin", [False, True])
def test_a_column_of_zeros_and_ones_is_switched_not_moved(thin):
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
    X = sparse.csr_array(X) if thin else X
    said = of_classes([[0.0, 0.0], [np.log(3.0), 1.0], [-np.log(2.0), 0.0]], [0.5, 0.1], X)
    assert said[0] == "u: 1 instead of 0 multiplies the odds of 'b' against 'c' by 6."
    assert said[1].startswith("v: 0.1 more ")


def test_of_classes_too_five_are_told_and_unclear_differences_are_listed():
    W = np.zeros((3, 6))
    W[1] = np.arange(6.0, 0.0, -1.0)
    assert [one[0] for one in of_classes(W, np.ones(6))] == ["u", "v", "w", "x", "y"]
    C = np.zeros((3, 6, 3, 6))
    C[1, 5, 1, 5] = C[1, 4, 1, 4] = 1.0  # errors of 1: differences of 1 and 2
    said = of_classes(W, np.ones(6), covariance=C)
    assert [one[0] for one in said[:-1]] == ["u", "v", "w", "x", "y"][: len(said) - 1]
    assert len(said) == 5  # five are sure: no room for the last
    C[1, 3, 1, 3] = 4.0
    assert of_classes(W, np.ones(6), covariance=C)[-1] == (
        "These may or may not have an effect of their own: x, z."
    )


@pytest.mark.parametrize(
    ("classes", "W"), [("abcd", np.ones((3, 2))), ("abc", np.ones(3)), ("ab", np.ones((1, 2)))]
)
def test_weights_that_are_not_one_row_a_class_are_not_told(classes, W):
    model = SimpleNamespace(coef_=W, classes_=np.array(list(classes)))
    found = Coefficients(tuple(classes), ({"name": "intercept"},))
    assert drivers.drivers(model, found, np.ones((3, 2)), np.ones(2), None, ["u", "v"]) == ()


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1e6, "1,000,000"),
        (1.0001e6, "more than a million"),
        (1e-6, "1e-06"),
        (0.9999e-6, "less than a millionth"),
        (99.96, "100"),
        (99.4, "99.4"),
        (123.4, "123"),
    ],
)
def test_ratios_for_people(ratio, text):
    # The logarithm of a million itself rounds to one side or the other.
    nudge = -1e-12 if ratio == 1e6 else 1e-12 if ratio == 1e-6 else 0.0
    assert drivers._times(float(np.log(ratio)) + nudge) == text
