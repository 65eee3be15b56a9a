"""KernelPerceptron with weights, callbacks, Ctrl-C and its trace: always the primal perceptron."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from adaline import KernelPerceptron, Perceptron, trace
from reference_dual import primal_perceptron

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


def test_any_cutting_of_a_weighted_stream_gives_the_same_duals():
    X, t, omega = whole_numbers(3, n=60)
    whole = KernelPerceptron("linear").partial_fit(X, t, sample_weight=omega)
    parts = KernelPerceptron("linear")
    for i in range(0, 60, 7):
        rows = slice(i, i + 7)
        parts.partial_fit(X[rows], t[rows], classes=[-1, 1], sample_weight=omega[rows])
    assert np.array_equal(whole.support_, parts.support_)
    assert np.array_equal(whole.dual_coef_, parts.dual_coef_)
    one = KernelPerceptron("linear", max_iter=1).fit(X, t, omega)
    assert np.array_equal(whole.dual_coef_, one.dual_coef_)


def test_equal_weights_scale_lambda_and_change_no_decision(rng):
    X, y = rng.standard_normal((50, 3)), rng.integers(0, 3, 50)
    plain = KernelPerceptron(max_iter=20).fit(X, y)
    heavy = KernelPerceptron(max_iter=20).fit(sparse.csr_array(X), y, np.full(50, 4.0))
    assert np.array_equal(heavy.support_, plain.support_)
    np.testing.assert_array_equal(heavy.lambda_, 4.0 * plain.lambda_)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 1, -1, 1], "[Nn]egative"),
        ([0, 0, 0, 0], "zero for every row"),
        ([1, np.nan, 1, 1], "NaN"),
        ([1, 1, 1], "shape"),
    ],
)
def test_bad_weights_are_refused_in_words(weights, words):
    with pytest.raises(ValueError, match=words):
        KernelPerceptron().fit(OR_X, OR_Y, sample_weight=weights)
    with pytest.raises(ValueError, match=words):
        KernelPerceptron().partial_fit(OR_X, OR_Y, sample_weight=weights)


def test_weights_whose_outputs_leave_float64_are_an_error_not_a_wrong_answer():
    with pytest.raises(ValueError, match="leave the range of float64"):
        KernelPerceptron("linear").fit(1e3 * OR_X, OR_Y, sample_weight=np.full(4, 1e306))


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


def test_the_outputs_of_a_trace_are_those_of_its_duals(rng):
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 2
    table = trace(KernelPerceptron("linear", max_iter=3), X, y)
    lam = np.zeros(12)
    signs = np.where(y == 1, 1.0, -1.0)
    lambdas = table.extra["lambda"], table.v, table.extra["change"]
    for i, before, v, change in zip(table.samples, *lambdas, strict=True):
        assert before[0] == pytest.approx(lam[i])
        assert v[0] == pytest.approx((lam * signs) @ (X @ X[i] + 1.0), abs=1e-12)
        lam[i] += change[0]


def test_ctrl_c_in_a_callback_leaves_the_last_complete_pass(rng):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    two = KernelPerceptron("linear", max_iter=2).fit(X, y)

    class Impatient:
        passes = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.passes += context.task_name == "pass"
            if self.passes == 2:
                raise KeyboardInterrupt

        def teardown(self, estimator, context):
            pass

    model = KernelPerceptron("linear").set_callbacks(Impatient())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == 2
    assert np.array_equal(model.dual_coef_, two.dual_coef_)
    assert "2 complete passes" in model.fit_.stopped


def test_the_warning_points_at_the_caller(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        KernelPerceptron("linear", max_iter=1).fit(OR_X, OR_Y)
    assert caught[0].filename == __file__
