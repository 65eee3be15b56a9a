"""`max_margin`: what a hard-margin support vector machine looks for, and its manners."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC

from adaline import MaxMargin, max_margin


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 > 0, "yes", "no")
    X += np.where(y == "yes", 0.2, -0.2)[:, None] * [1.0, -2.0, 0.5]
    return X, y


def test_the_lecture_s_outlier_does_not_move_it():
    """(0, 10) pulls minimum squared error to the wrong side of (5, 9); here it is no support."""
    X, y = [[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, -1, -1]
    found = max_margin(X, y)
    without = max_margin(X[:3], y[:3])
    np.testing.assert_allclose(found.w, without.w, atol=1e-15)
    assert found.support.tolist() == [0, 1, 2]
    assert found.margin == pytest.approx(1 / np.sqrt(5), rel=1e-15)


def test_it_is_what_a_hard_support_vector_machine_approaches(data):
    X, y = data
    found = max_margin(X, y)
    machine = SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
    assert found.classes.tolist() == machine.classes_.tolist()
    np.testing.assert_allclose(found.w / found.margin, machine.coef_[0], rtol=1e-5)
    assert found.b / found.margin == pytest.approx(machine.intercept_[0], rel=1e-5)
    assert set(found.support) <= set(machine.support_)
    # Its dual coefficients are lambda / (2 margin^2).
    signed = np.where(y[found.support] == "yes", 1, -1) * found.weights / (2 * found.margin**2)
    at = np.searchsorted(np.sort(machine.support_), found.support)
    order = np.argsort(machine.support_)
    np.testing.assert_allclose(machine.dual_coef_[0][order][at], signed, rtol=1e-4)
    assert 1 / np.linalg.norm(machine.coef_) <= found.upper * (1 + 1e-6)


def test_the_certificate_names_the_interval(data):
    found = max_margin(*data)
    assert isinstance(found, MaxMargin)
    assert found.certificate.kind == "optimal"
    assert found.certificate.evidence["lower"] == found.lower <= found.margin * (1 + 1e-15)
    assert found.margin <= found.upper
    assert (found.upper - found.lower) / found.upper < 1e-12
    assert "the largest margin lies between" in found.certificate.statement


def test_labels_tables_sparse_and_other_kinds_of_numbers_go_in(data):
    X, y = data
    want = max_margin(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    locked = np.asfortranarray(X)
    locked.flags.writeable = False
    for form in (frame, sparse.csr_matrix(X), sparse.csc_array(X), locked, X[:, ::-1][:, ::-1]):
        found = max_margin(form, pd.Series(y))
        np.testing.assert_allclose(found.w, want.w, atol=1e-14)
    narrow = max_margin(X.astype(np.float32), y)
    assert narrow.w.dtype == np.float64
    assert narrow.margin == pytest.approx(want.margin, rel=1e-4)
    whole = np.round(10 * X).astype(np.int16)
    codes = np.where(whole @ [1, -2, 1] > 5, 3, 1).astype(np.uint8)
    kept = np.abs(whole @ [1, -2, 1] - 5) > 2
    assert max_margin(whole[kept], codes[kept]).classes.tolist() == [1, 3]


def test_rows_of_weight_zero_are_not_there(data):
    X, y = data
    weight = np.ones(len(y))
    weight[::3] = 0.0
    used = np.flatnonzero(weight)
    found, want = max_margin(X, y, weight), max_margin(X[used], y[used])
    assert found.margin == want.margin
    assert found.support.tolist() == used[want.support].tolist()


def test_overlapping_classes_are_refused_and_nothing_is_guessed(rng):
    X, y = rng.standard_normal((50, 2)), np.arange(50) % 2
    with pytest.raises(ValueError, match=r"overlap, touch, or are closer.*`separability`"):
        max_margin(X, y)


def test_touching_hulls_are_refused():
    X = [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [2.0, 0.0]]
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin([[1.0], [1.0]], [0, 1])  # the same sample twice
    with pytest.raises(ValueError, match="no hyperplane has a margin above"):
        max_margin([[0.0], [0.0]], [0, 1])


def test_too_few_passes_are_told(rng):
    X = rng.standard_normal((2000, 30))
    y = (X @ rng.standard_normal(30) > 0).astype(int)
    with pytest.raises(ValueError, match="larger max_iter"):
        max_margin(X, y, max_iter=2)


def test_without_a_bias_it_passes_through_the_origin(data):
    X, y = data
    found = max_margin(X, y, fit_intercept=False)
    assert found.b == 0.0
    assert found.margin <= max_margin(X, y).margin
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.positive - found.negative, found.margin * found.w, atol=1e-12)
    with pytest.raises(ValueError, match="no hyperplane"):
        max_margin([[1.0], [2.0]], [0, 1], fit_intercept=False)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_any_scale_will_do(data, scale):
    X, y = data
    found, want = max_margin(X * scale, y), max_margin(X, y)
    np.testing.assert_allclose(found.w, want.w, atol=1e-12)
    assert found.margin / scale == pytest.approx(want.margin, rel=1e-12)
    assert found.lower <= found.margin <= found.upper


def test_large_offsets_cost_nothing_but_the_rounding_of_the_data(rng):
    X = rng.integers(-50, 50, (60, 2)) * 2.0**-20
    y = (X @ [1, 2] > 2.0**-20).astype(int)
    near, far = max_margin(X, y), max_margin(X + 2.0**27, y)
    np.testing.assert_allclose(far.w, near.w, atol=1e-12)
    assert far.lower == pytest.approx(near.lower, rel=1e-10)
    assert (far.upper - far.lower) / far.upper < 1e-10


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[0.0], [np.nan]], [0, 1], "row 1, column 0"),
        ([[np.inf], [1.0]], [0, 1], "row 0, column 0"),
        ([[0.0], [1.0]], [0, 0], "one class"),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], "3 classes"),
        ([[0.0], [1.0]], [0, 1, 1], "2 rows and y has 3"),
        (np.empty((0, 2)), [], "minimum of 1"),
        (np.empty((2, 0)), [0, 1], "minimum of 1"),
        ([0.0, 1.0], [0, 1], "[Rr]eshape"),
        ([["a"], ["b"]], [0, 1], "convert"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(X, y, words):
    with pytest.raises(ValueError, match=words):
        max_margin(X, y)


def test_weights_and_parameters_that_make_no_sense_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        max_margin(X, y, -np.ones(len(y)))
    with pytest.raises(ValueError, match="non-zero"):
        max_margin(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="tol is"):
        max_margin(X, y, tol=-1)
    with pytest.raises(ValueError, match="max_iter is"):
        max_margin(X, y, max_iter=0)


def test_margins_beyond_the_range_of_float64_are_bounded_by_what_it_can_hold():
    """Squares that underflow are no lengths of zero, and an overflow is no error."""
    near = max_margin([[1.0, 1e-200], [1.0, -1e-200]], [1, 0])
    assert 0 < near.lower <= 1e-200 <= near.upper
    with pytest.raises(ValueError, match=r"margin above 1\.01e-06"):
        max_margin([[1e300, 1e-300], [1e300, -1e-300]], [1, 0])
    found = max_margin([[1e308, 1.7e308], [-1.7e308, -1e308]], [1, 0])
    assert found.certificate.kind == "separable"
    assert found.lower < found.upper == np.inf
    tiny = max_margin([[1e-310], [-1e-310]], [1, 0])
    assert 0 < tiny.lower <= 1e-310 <= tiny.upper
