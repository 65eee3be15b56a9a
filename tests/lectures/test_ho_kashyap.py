"""The worked example of Ho-Kashyap (lecture 001), and XOR, which it proves inseparable."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adaline import HoKashyap, trace
from reference_classifiers import exact_ho_kashyap, normalised_rows

X = [[6, 9], [5, 7], [5, 9], [0, 10]]
T = [1, 1, -1, -1]
START = {"coef_init": [1, 1], "intercept_init": 1}
XOR, CODES = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


def test_the_first_iteration_is_the_slide_s():
    table = trace(HoKashyap(), X, T, **START)
    assert table.extra["e"][0].tolist() == [15, 12, -16, -12]
    np.testing.assert_allclose(table.extra["b"][1], [28, 22.6, 1, 1], rtol=1e-15)
    a = np.append(table.b_after[1], table.W_after[1])
    np.testing.assert_allclose(a, [34.5942, 2.6759, -3.7883], atol=5e-5)


def test_after_104_iterations_all_samples_are_on_their_right_side():
    model = HoKashyap().fit(X, T, **START)
    assert model.n_iter_ == 104
    np.testing.assert_allclose(
        [*model.intercept_, *model.coef_[0]], [-34.8803, 27.2592, -11.2702], atol=5e-5
    )
    np.testing.assert_allclose(model.margins_, [28, 22.6, 1, 147.4309], atol=5e-5)
    # The slide prints 0.14 and 1.48 for the last two, which are wrong.
    Ya = T * model.decision_function(X)
    np.testing.assert_allclose(Ya, [27.2431, 22.5243, 0.0161, 147.5822], atol=5e-5)
    assert model.certificate_.kind == "separable"
    assert model.fit_.stopped == "every sample is classified correctly at k = 104."


def test_one_iteration_fewer_does_not_separate():
    with pytest.warns(UserWarning, match="max_iter=103"):
        model = HoKashyap(max_iter=103).fit(X, T, **START)
    assert model.certificate_.kind == "undecided"
    assert model.fit_.ends == ("iterations",)


def test_rational_arithmetic_takes_the_same_104_iterations():
    k, a, b, Ya = exact_ho_kashyap(X, T, [1, 1, 1], Fraction(9, 10))
    model = HoKashyap().fit(X, T, **START)
    assert k == model.n_iter_
    # 103 corrections, each with rounding errors of about |b| u times the condition number 30.
    np.testing.assert_allclose(
        [*model.intercept_, *model.coef_[0]], [float(v) for v in a], rtol=1e-11
    )
    np.testing.assert_allclose(model.margins_, [float(v) for v in b], rtol=1e-11)
    np.testing.assert_allclose(
        model.fit_.errors[0] + model.margins_, [float(v) for v in Ya], atol=1e-10
    )


def test_the_pseudoinverse_is_the_better_start():
    model = HoKashyap().fit(X, T)
    assert model.n_iter_ == 3
    assert model.certificate_.kind == "separable"
    table = trace(HoKashyap(), X, T)
    first = np.append(table.b_after[0], table.W_after[0])
    np.testing.assert_allclose(first, [3.2190, 0.1533, -0.4380], atol=5e-5)  # the MSE solution


def test_on_xor_the_errors_prove_that_no_hyperplane_separates():
    model = HoKashyap().fit(XOR, CODES)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.fit_.errors, [[-1, -1, -1, -1]], atol=1e-14)
    Y = np.array(normalised_rows(XOR, [-1, 1, 1, -1]))
    balance = -model.fit_.errors[0] / -model.fit_.errors.sum()
    np.testing.assert_allclose(balance, [0.25] * 4, atol=1e-14)
    np.testing.assert_allclose(Y.T @ balance, 0, atol=1e-14)
    assert model.certificate_.kind == "overlapping"  # proven in whole numbers, not by the above
    assert model.certificate_.evidence["rows"].tolist() == [0, 1, 2, 3]
    assert model.certificate_.evidence["multipliers"] == (1, 1, 1, 1)
