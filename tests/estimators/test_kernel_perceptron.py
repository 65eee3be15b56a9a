"""KernelPerceptron: the lecture in dual variables, and kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaline.estimators.kernel_perceptron import KernelPerceptron

XOR = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
XOR_Y = np.array([-1, 1, 1, -1])
OR_Y = np.array([-1, 1, 1, 1])


def separable(rng, n=80, p=4):
    """Whole numbers, so that sums are exact in any order, with room between the classes."""
    X = rng.integers(-9, 10, (4 * n, p)).astype(float)
    v = X @ [3.0, -2.0, 1.0, 2.0] + 1.0
    X, v = X[np.abs(v) > 3], v[np.abs(v) > 3]
    return X[:n], np.where(v[:n] > 0, 1, -1)


def test_modified_or_gives_the_lecture_s_weights_from_its_dual_variables():
    model = KernelPerceptron(kernel="linear").fit(XOR, OR_Y)
    # The lecture's last component is -1, so its w_0 = -1 is a bias of +1.
    assert model.coef_.tolist() == [[1.0, 1.0]]
    assert model.intercept_.tolist() == [1.0]
    assert model.lambda_.tolist() == [1.0, 1.0, 1.0]
    assert model.support_.tolist() == [0, 1, 2]
    assert model.n_iter_ == 2
    assert model.certificate_.kind == "separable"


def test_xor_is_not_solved_by_the_linear_kernel_and_separability_stays_undecided():
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        model = KernelPerceptron(kernel="linear", max_iter=20).fit(XOR, XOR_Y)
    assert model.certificate_.kind == "undecided"
    assert model.n_iter_ == 20


@given(st.lists(st.integers(1, 79), max_size=5))
def test_any_cutting_of_a_stream_gives_the_same_duals(cuts):
    X, t = separable(np.random.default_rng(5))
    whole = KernelPerceptron(kernel="linear").partial_fit(X, t)
    parts = KernelPerceptron(kernel="linear")
    edges = [0, *sorted(set(cuts)), 80]
    for i, j in pairwise(edges):
        parts.partial_fit(X[i:j], t[i:j], classes=[-1, 1])
    assert np.array_equal(whole.support_, parts.support_)
    assert np.array_equal(whole.dual_coef_, parts.dual_coef_)
    assert np.array_equal(whole.support_vectors_, X[parts.support_])


def test_three_classes_are_told_apart_one_against_the_rest(rng):
    centres = np.array([[0.0, 4.0], [4.0, -3.0], [-4.0, -3.0]])
    y = rng.integers(0, 3, 90)
    X = centres[y] + 0.5 * rng.standard_normal((90, 2))
    names = np.array(["a", "b", "c"])[y]
    model = KernelPerceptron().fit(X, names)
    assert model.score(X, names) == 1.0
    assert model.decision_function(X).shape == (90, 3)
    assert model.lambda_.shape == model.dual_coef_.shape == (3, len(model.support_))
    for k in range(3):
        single = KernelPerceptron().fit(X, y == k)
        np.testing.assert_allclose(
            single.decision_function(X), model.decision_function(X)[:, k], atol=1e-12
        )


def test_a_power_beyond_float64_is_an_error_in_a_sentence():
    with pytest.raises(ValueError, match="not finite"):
        KernelPerceptron(kernel="poly", degree=300, gamma=1.0).fit(100 * XOR, XOR_Y)
