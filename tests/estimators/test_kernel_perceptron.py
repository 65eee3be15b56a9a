"""KernelPerceptron: the lecture in dual variables, and kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from adaline import expected_failed_checks
from adaline.estimators.kernel_perceptron import KernelPerceptron
from adaline.procedures import kernel_perceptron as procedure
from reference_dual import primal_perceptron

XOR = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
XOR_Y = np.array([-1, 1, 1, -1])
OR_Y = np.array([-1, 1, 1, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(kernel="linear", max_iter=50),
        KernelPerceptron(kernel="poly", max_iter=50),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)


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


def test_the_linear_kernel_is_the_primal_perceptron_exactly(rng):
    X, t = separable(rng)
    w, b, corrections = primal_perceptron(X, t)
    model = KernelPerceptron(kernel="linear").fit(X, t)
    counts = np.zeros(len(X))
    counts[model.support_] = model.lambda_
    assert counts.tolist() == corrections.tolist()
    assert model.coef_.tolist() == [w.tolist()]
    assert model.intercept_.tolist() == [b]
    signs = model.dual_coef_[0] / model.lambda_
    assert (model.lambda_ * signs) @ model.support_vectors_ == pytest.approx(w, abs=0)
    new = rng.integers(-9, 10, (200, 4)).astype(float)
    assert np.array_equal(model.predict(new), np.where(new @ w + b > 0, 1, -1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_linear_kernel_is_the_primal_perceptron_on_overlapping_rows_too(seed, passes):
    rng = np.random.default_rng(seed)
    X, t = rng.integers(-3, 4, (12, 2)).astype(float), np.where(rng.random(12) < 0.5, 1, -1)
    t[:2] = 1, -1
    w, b, _ = primal_perceptron(X, t, max_iter=passes)
    model = KernelPerceptron(kernel="linear", max_iter=passes)
    model.fit(X, t)
    assert model.coef_.tolist() == [w.tolist()]
    assert model.intercept_.tolist() == [b]


@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(kernel="poly", degree=2),
        KernelPerceptron(kernel="rbf"),
    ],
    ids=["poly", "rbf"],
)
def test_xor_is_solved(model):
    model.fit(XOR, XOR_Y)
    assert model.predict(XOR).tolist() == XOR_Y.tolist()
    assert model.certificate_.kind == "separable"


def test_xor_is_not_solved_by_the_linear_kernel_and_separability_stays_undecided():
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        model = KernelPerceptron(kernel="linear", max_iter=20).fit(XOR, XOR_Y)
    assert model.certificate_.kind == "undecided"
    assert model.n_iter_ == 20


@pytest.mark.parametrize(("name", "peer"), [("rbf", rbf_kernel), ("poly", polynomial_kernel)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_built_in_kernels_are_scikit_learn_s(rng, name, peer, form):
    X, C = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    ours = procedure.Kernel(name, gamma=0.3)(form(X), form(C))
    np.testing.assert_allclose(ours, peer(X, C, gamma=0.3), rtol=1e-12)


def test_only_patterns_that_were_corrected_are_kept(rng):
    X, t = separable(rng)
    model = KernelPerceptron(kernel="linear").fit(X, t)
    assert 0 < len(model.support_) < len(X)
    assert np.all(model.lambda_ > 0)
    assert np.array_equal(model.support_vectors_, X[model.support_])


def test_dense_sparse_float32_and_read_only_rows_give_the_same(rng):
    X, t = separable(rng)
    X.setflags(write=False)
    dense = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, t)
    csr = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(sparse.csr_matrix(X), t)
    assert np.array_equal(dense.lambda_, csr.lambda_)
    assert sparse.issparse(csr.support_vectors_)
    assert np.array_equal(csr.decision_function(X), dense.decision_function(sparse.csr_array(X)))
    narrow = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X.astype(np.float32), t)
    assert np.array_equal(narrow.lambda_, dense.lambda_)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32


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


def test_one_partial_fit_is_one_pass_of_fit(rng):
    X, t = separable(rng)
    with pytest.warns(ConvergenceWarning):
        one = KernelPerceptron(max_iter=1).fit(X, t)
    stream = KernelPerceptron().partial_fit(X, t)
    assert np.array_equal(one.dual_coef_, stream.dual_coef_)
    assert stream.certificate_.kind == "undecided"


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
    with pytest.raises(ValueError, match="finite numbers"):
        KernelPerceptron(kernel="poly", degree=300, gamma=1.0).fit(100 * XOR, XOR_Y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "cosine"}, "kernel is 'cosine'"),
        ({"gamma": -1.0}, "gamma is -1.0"),
        ({"gamma": "auto"}, "gamma is 'auto'"),
        ({"gamma": np.nan}, "gamma is nan"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"degree": -1}, "degree is -1"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 is -1.0"),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelPerceptron(**parameters).fit(XOR, XOR_Y)


def test_unseen_labels_and_changed_classes_are_told_in_a_sentence():
    model = KernelPerceptron().partial_fit(XOR, XOR_Y)
    with pytest.raises(ValueError, match="label 7"):
        model.partial_fit(XOR, [7, 1, 1, -1])
    with pytest.raises(ValueError, match="cannot change"):
        model.partial_fit(XOR, XOR_Y, classes=[0, 1])
    with pytest.raises(AttributeError, match="linear"):
        _ = model.coef_


def test_an_interrupted_fit_keeps_its_last_complete_pass(rng, monkeypatch):
    X, t = separable(rng)
    with pytest.warns(ConvergenceWarning):
        two = KernelPerceptron(kernel="linear", max_iter=2).fit(X, t)
    passes, correct = [], procedure.correct_block

    def interrupted(*arguments):
        passes.append(1)  # one block is one pass here
        if len(passes) == 3:
            raise KeyboardInterrupt
        return correct(*arguments)

    monkeypatch.setattr(procedure, "correct_block", interrupted)
    model = KernelPerceptron(kernel="linear")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, t)
    assert np.array_equal(model.dual_coef_, two.dual_coef_)
    assert np.array_equal(model.predict(X), two.predict(X))
    assert "2 complete passes" in model.fit_.stopped
