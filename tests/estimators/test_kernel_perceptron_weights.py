"""KernelPerceptron with weights, callbacks, Ctrl-C and its trace: always the primal perceptron."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import KernelPerceptron, Perceptron, trace
from reference_classifiers import primal_perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OR_X = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
OR_Y = np.array([-1, 1, 1, 1])
HALVES = [0.0, 0.5, 1.0, 2.0, 3.25]  # sums of these times whole numbers are exact


def whole_numbers(seed, n=14):
    rng = np.random.default_rng(seed)
    X, t = rng.integers(-3, 4, (n, 2)).astype(float), np.where(rng.random(n) < 0.5, 1, -1)
    t[:2] = 1, -1
    omega = rng.choice(HALVES, n)
    omega[:2] = 1.0
    return X, t, omega


@given(seed=st.integers(0, 10**6), passes=st.integers(1, 6))
def test_the_linear_kernel_with_weights_is_the_primal_perceptron_exactly(seed, passes):
    X, t, omega = whole_numbers(seed)
    w, b, lam = primal_perceptron(X, t, passes, omega)
    dual = KernelPerceptron("linear", max_iter=passes)
    dual.fit(X, t, sample_weight=omega)
    counts = np.zeros(len(X))
    counts[dual.support_] = dual.lambda_
    assert counts.tolist() == lam.tolist()
    assert dual.coef_.tolist() == [w.tolist()]
    assert dual.intercept_.tolist() == [b]
    assert dual.coef_[0].tolist() == ((lam * t) @ X).tolist()
    primal = Perceptron(max_iter=passes).fit(X, t, sample_weight=omega)
    assert np.array_equal(primal.coef_, dual.coef_)
    assert np.array_equal(primal.predict(X), dual.predict(X))


@given(seed=st.integers(0, 10**6), kernel=st.sampled_from(["linear", "poly", "rbf"]))
def test_a_row_of_weight_zero_is_as_good_as_absent(seed, kernel):
    X, t, omega = whole_numbers(seed)
    X[omega == 0] *= 1e3  # would change gamma="scale"
    kept = np.flatnonzero(omega)
    model = KernelPerceptron(kernel, max_iter=5).fit(X, t, omega)
    other = KernelPerceptron(kernel, max_iter=5).fit(X[kept], t[kept], omega[kept])
    assert np.array_equal(model.support_, kept[other.support_])
    assert np.array_equal(model.dual_coef_, other.dual_coef_)
    assert model.gamma_ == other.gamma_
    assert model.certificate_.evidence == other.certificate_.evidence


def test_the_trace_of_modified_or_is_the_lecture_s_run_in_dual_variables():
    table = trace(KernelPerceptron("linear"), OR_X, OR_Y)
    assert str(table).splitlines() == [
        "pass  sample  lambda   t   v  update  dlambda",
        "   1       0       0  -1   0     YES        1",
        "   1       1       0   1  -1     YES        1",
        "   1       2       0   1  -2     YES        1",
        "   1       3       0   1   3      NO        0",
        "   2       0       1  -1  -1      NO        0",
        "   2       1       1   1   1      NO        0",
        "   2       2       1   1   1      NO        0",
        "   2       3       0   1   3      NO        0",
        "pass 2 made no correction.",
    ]
    assert (table.extra["lambda"] + table.extra["change"])[4:].tolist() == [[1], [1], [1], [0]]
    assert list(table.to_frame()["update"]).count("YES") == 3
    assert table.to_html().startswith("<table>")


@given(
    seed=st.integers(0, 10**6),
    K=st.sampled_from([2, 3]),
    kernel=st.sampled_from(["linear", "rbf"]),
    weighted=st.booleans(),
)
def test_the_end_of_a_trace_is_what_fit_gives(seed, K, kernel, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((15, 2)), np.arange(15) % K
    omega = rng.choice([0.0, 1.0, 0.3], 15) if weighted else None
    if weighted:  # two classes need rows that count
        omega[[np.argmax(y == k) for k in np.unique(y)]] = 1.0
    model = KernelPerceptron(kernel, max_iter=4)
    table = trace(model, X, y, omega)
    fit = model.fit(X, y, omega)
    assert np.array_equal(table.fit.W, fit.fit_.W)
    assert table.passes[-1] == fit.n_iter_
    shown = len(table) // fit.n_iter_
    assert shown == (15 if omega is None else np.count_nonzero(omega))
    total = np.zeros((15, table.t.shape[1]))  # lambda is the sum of its changes
    np.add.at(total, table.samples, table.extra["change"])
    np.testing.assert_allclose(total[fit.support_].T, np.abs(fit.fit_.W), rtol=1e-14)
    assert np.array_equal(table.updated, (table.t * table.v <= 0).any(axis=1))
