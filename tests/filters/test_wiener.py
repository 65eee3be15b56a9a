"""The Wiener filter: beside least squares, and where R is singular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

from adaline import RankDeficientWarning, WienerFilter
from reference_filters import delay_line as delay_lines

METHODS = ["prewindowed", "covariance", "autocorrelation"]


def signals(rng, N=300, channels=1, kind=np.float64):
    shape = (N, channels)
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind is np.complex128 else 0)
    d = rng.normal(size=N) + (1j * rng.normal(size=N) if kind is np.complex128 else 0)
    return x.astype(kind), d.astype(kind)


def rows_of(x, d, taps, method):
    """The explicit data matrix, what is wanted of each row, and by how many the means divide."""
    if method == "autocorrelation":
        x = np.concatenate([x, np.zeros((taps - 1, x.shape[1]))])
        d = np.concatenate([d, np.zeros(taps - 1)])
        return delay_lines(x, taps), d, len(d) - taps + 1
    first = taps - 1 if method == "covariance" else 0
    return delay_lines(x, taps)[first:], d[first:], len(d) - first


@given(
    seed=st.integers(0, 2**32 - 1),
    channels=st.integers(1, 3),
    taps=st.integers(1, 6),
    kind=st.sampled_from([np.float64, np.complex128]),
    method=st.sampled_from(METHODS),
)
def test_it_is_least_squares_on_the_explicit_matrix(seed, channels, taps, kind, method):
    x, d = signals(np.random.default_rng(seed), 90, channels, kind)
    f = WienerFilter.from_signals(x, d, taps, method)
    U, wanted, mean = rows_of(x, d, taps, method)
    exact = np.linalg.lstsq(U, wanted, rcond=None)[0]
    # y = w^H x. Normal equations lose the square of U's condition, which is below 100 here.
    assert np.allclose(f.weights.ravel(), exact.conj(), rtol=0, atol=1e-10)
    assert f.error == pytest.approx(float(np.sum(np.abs(wanted - U @ exact) ** 2)) / mean)
    y, e = f.process(x, d)
    if method == "prewindowed":
        assert np.allclose(y, U @ exact, atol=1e-10)
        assert np.mean(np.abs(e) ** 2) == pytest.approx(f.error)


def test_the_least_error_is_power_less_what_r_explains():
    R, r = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    f = WienerFilter.from_correlations(R, r, power=2.0)
    assert np.allclose(f.weights, [0.2, 0.6])  # by hand: R w = r
    assert f.error == pytest.approx(2.0 - 1.4)
    assert np.isnan(WienerFilter.from_correlations(R, r).error)


@pytest.mark.parametrize(
    "column", [np.ones(6), np.cos(0.3 * np.arange(30)), np.zeros(4)], ids=["one", "tone", "none"]
)
def test_correlations_of_few_sinusoids_give_the_shortest_weights(column):
    if column[0]:
        with pytest.warns(RankDeficientWarning, match="rank"):
            f = WienerFilter.from_correlations(column, column, power=1.0)
        best = np.linalg.lstsq(toeplitz(column), column, rcond=1e-10)[0]
        assert np.allclose(f.weights, best, atol=1e-10)  # the shortest solution
        assert f.rank == (1 if np.ptp(column) == 0 else 2)


def test_silence_and_a_constant_give_the_shortest_weights_and_a_sentence():
    with pytest.warns(RankDeficientWarning, match="rank 0 of 3: the input does not excite"):
        silent = WienerFilter.from_signals(np.zeros(20), np.ones(20), 3)
    assert silent.weights.tolist() == [0.0, 0.0, 0.0]
    assert silent.error == 1.0
    with pytest.warns(RankDeficientWarning, match="rank 1 of 3"):
        constant = WienerFilter.from_signals(np.ones(20), 3 * np.ones(20), 3, "covariance")
    assert np.allclose(constant.weights, 1.0)
    assert constant.error == pytest.approx(0.0, abs=1e-25)


@pytest.mark.parametrize(("a", "b"), [(1e150, 1e150), (1e-150, 1e-150), (1e200, 1e100)])
def test_huge_and_tiny_scales_do_not_leave_the_range(rng, a, b):
    x, d = signals(rng, 100)
    plain = WienerFilter.from_signals(x, d, 3).weights
    assert np.allclose(
        WienerFilter.from_signals(x * a, d * b, 3).weights, plain * (b / a), rtol=1e-12
    )


def test_it_does_not_adapt(rng):
    f = WienerFilter([1.0, 2.0])
    assert not f.adapting
    with pytest.raises(ValueError, match="is fixed"):
        f.adapting = True
    f.process(rng.normal(size=50), rng.normal(size=50))
    assert f.weights.tolist() == [1.0, 2.0]


BAD = {
    "shapes": (np.eye(3), [1.0, 2.0], "R has shape"),
    "NaN": ([[np.nan]], [1.0], "NaN"),
    "not Hermitian": ([[1.0, 2.0], [0.0, 1.0]], [1.0, 1.0], "not Hermitian"),
    "indefinite": ([[1.0, 2.0], [2.0, 1.0]], [1.0, 1.0], "eigenvalue -1"),
    "indefinite column": ([1.0, 2.0], [1.0, 1.0], "eigenvalue -1"),
    "indefinite longer": ([1.0, 0.9, -0.9, 0.5], [1.0, 1.0, 1.0, 1.0], "eigenvalue -"),
    "outside": ([[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0], "outside its range"),
    "empty": (np.empty((0, 0)), [], "r has shape"),
}


@pytest.mark.filterwarnings("ignore::adaline.errors.RankDeficientWarning")
@pytest.mark.parametrize(("R", "r", "words"), BAD.values(), ids=BAD)
def test_impossible_correlations_are_told_in_a_sentence(R, r, words):
    with pytest.raises(ValueError, match=words):
        WienerFilter.from_correlations(R, r)


def test_more_explained_than_there_is_power_is_refused():
    with pytest.raises(ValueError, match="power is"):
        WienerFilter.from_correlations([1.0, 0.0], [1.0, 0.0], power=0.5)
