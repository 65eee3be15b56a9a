"""Input of the displays: what is taken, and the sentence for what is not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.plot import _given as given

MODEL = SimpleNamespace(predict=len, n_features_in_=2, classes_=np.array(["a", "b", "c"]))


@pytest.mark.parametrize(
    ("ask", "kind", "sentence"),
    [
        (lambda: given.rows([1.0, 2.0]), ValueError, r"X has shape \(2,\); expected rows and col"),
        (lambda: given.rows(np.ones((0, 2))), ValueError, r"X has shape \(0, 2\)"),
        (lambda: given.rows([["a"]]), ValueError, "X holds things that are no numbers"),
        (lambda: given.rows([[1.0], [np.inf]]), ValueError, "first at row 1, column 0"),
        (lambda: given.numbers(["a"], "y"), ValueError, "y holds things that are no numbers"),
        (lambda: given.numbers([], "y"), ValueError, r"y has shape \(0,\); expected a vector"),
        (lambda: given.numbers([1, 2, np.nan], "y"), ValueError, "infinity, first at 2"),
        (lambda: given.signal([1j, np.nan], "x"), ValueError, "expected finite numbers"),
        (lambda: given.signal([[1j]], "x"), ValueError, r"x has shape \(1, 1\)"),
        (lambda: given.signal([np.nan], "x"), ValueError, "first at 0"),
        (lambda: given.same_length(3, [1, 2], "y"), ValueError, r"y has shape \(2,\); X has 3"),
        (lambda: given.codes([["a"]], ["a"], 1), ValueError, r"y has shape \(1, 1\); expected lab"),
        (lambda: given.codes(["z"], ["a"], 1), ValueError, "the label 'z'; the model knows"),
        (lambda: given.fitted(MODEL, "coef_"), TypeError, "has no coef_; this picture needs it"),
        (lambda: given.fitted(adaline.Ridge()), ValueError, "not fitted yet; call fit first"),
        (lambda: given.width(MODEL, np.ones((2, 3))), ValueError, "X has 3 columns"),
        (
            lambda: given.labelled(adaline.Ridge().fit([[1.0], [2.0]], [1, 2]), [[1.0]], [1]),
            TypeError,
            "Ridge is no classifier; see PredictionDisplay",
        ),
        (
            lambda: given.labelled(MODEL, [[1.0, 2.0]], ["a"], two=True),
            ValueError,
            "there are 3 classes; this picture is for two",
        ),
        (lambda: given.column_names(MODEL, None, 2, ["a"]), ValueError, "1 names for 2 columns"),
        (lambda: given.two_of(None, ["a", "b", "c"]), ValueError, "name two"),
        (lambda: given.two_of("ab", ["a", "b"]), ValueError, "expected two columns"),
        (lambda: given.two_of(["a"], ["a", "b"]), ValueError, "expected two columns"),
        (lambda: given.two_of([0, 0], ["a", "b"]), ValueError, "the column 'a' twice"),
        (lambda: given.place(2, ["a", "b"]), ValueError, "features has 2; there are 2 columns"),
        (lambda: given.place(True, ["a", "b"]), ValueError, "no column True"),
    ],
)
def test_what_no_picture_can_show_is_refused_with_a_sentence(ask, kind, sentence):
    with pytest.raises(kind, match=sentence):
        ask()


def test_what_is_taken():
    assert given.rows(sparse.csr_array(np.eye(2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert given.signal([1j, 2], "x").dtype == np.complex128
    assert given.signal([1, 2], "x").dtype == np.float64
    assert given.two_of(["b", 0], ["a", "b"]) == (1, 0)
    assert given.two_of(None, ["a", "b"]) == (0, 1)
    assert given.column_names(object(), None, 2) == ["x0", "x1"]
    assert given.listed(("a", 1)) == ["a", 1]


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.0, 100.0], -8.0, 108.0), ([2.0, 2.0], 1.5, 2.5), ([-50.0, -50.0], -55.0, -45.0)],
)
def test_a_frame_has_a_margin(values, low, high):
    assert given.frame(np.array(values)) == pytest.approx((low, high))
