"""The Wiener filter: beside least squares, Levinson beside Cholesky, and where R is singular."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import toeplitz

from adaline import LMS, RLS, LeastSquares, RankDeficientWarning, WienerFilter
from adaline.filters.wiener import correlate
from adaline.linalg import levinson, solve_hermitian, unpredicted
from reference_filters2 import delay_lines

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
    N=st.integers(1, 30),
    channels=st.integers(1, 3),
    taps=st.integers(1, 8),
    kind=st.sampled_from([np.float64, np.complex128]),
    method=st.sampled_from(METHODS),
)
def test_correlations_are_those_of_the_explicit_matrix(seed, N, channels, taps, kind, method):
    x, d = signals(np.random.default_rng(seed), N, channels, kind)
    if method == "covariance" and taps > N:
        with pytest.raises(ValueError, match="hold none"):
            correlate(x, d, taps, method)
        return
    U, wanted, mean = rows_of(x, d, taps, method)
    found = correlate(x, d, taps, method)
    # Sums of at most 40 products of normal numbers: a few hundred roundings of numbers below 200.
    assert np.allclose(found.matrix(), U.T @ U.conj() / mean, rtol=0, atol=1e-12)
    assert np.allclose(found.r, U.T @ wanted.conj() / mean, rtol=0, atol=1e-12)
    assert found.power == pytest.approx(float(np.sum(np.abs(wanted) ** 2)) / mean)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("method", ["prewindowed", "covariance"])
def test_it_is_least_squares_on_the_explicit_matrix(rng, method, channels):
    x, d = signals(rng, 300, channels)
    x = np.cumsum(x, axis=0) * 0.3 + x  # coloured
    f = WienerFilter.from_signals(x, d, 6, method)
    U, wanted, mean = rows_of(x, d, 6, method)
    exact = LeastSquares(fit_intercept=False).fit(U, wanted)
    # Normal equations lose the square of U's condition: below 1e4 here, so 1e-16 * 1e8.
    assert np.allclose(f.weights.ravel(), exact.coef_, rtol=1e-8, atol=1e-8)
    left = wanted - U @ exact.coef_
    assert f.error == pytest.approx(float(left @ left) / mean, rel=1e-10)


def test_complex_weights_are_conjugated_because_y_is_w_hermitian_x(rng):
    x, d = signals(rng, 200, 2, np.complex128)
    f = WienerFilter.from_signals(x, d, 4)
    best = np.linalg.lstsq(delay_lines(x, 4), d, rcond=None)[0]
    assert np.allclose(f.weights.ravel(), best.conj(), atol=1e-11)
    y, e = f.process(x, d)
    assert np.allclose(y, delay_lines(x, 4) @ best, atol=1e-11)
    assert np.mean(np.abs(e) ** 2) == pytest.approx(f.error, rel=1e-12)


def test_a_known_response_is_found_to_the_last_digits(rng):
    x, h = rng.normal(size=2000), np.array([1.0, -0.5, 0.25, 0.0])
    f = WienerFilter.from_signals(x, np.convolve(x, h)[:2000], 4)
    assert np.allclose(f.weights, h, rtol=0, atol=1e-14)
    assert f.error < 1e-28


def test_the_least_error_is_power_less_what_r_explains():
    R, r = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    f = WienerFilter.from_correlations(R, r, power=2.0)
    assert np.allclose(f.weights, [0.2, 0.6])  # by hand: R w = r
    assert f.error == pytest.approx(2.0 - 1.4)
    assert np.isnan(WienerFilter.from_correlations(R, r).error)


@given(seed=st.integers(0, 2**32 - 1), taps=st.integers(1, 40), real=st.booleans())
def test_levinson_and_cholesky_agree(seed, taps, real):
    rng = np.random.default_rng(seed)
    x, d = signals(rng, 120, 1, np.float64 if real else np.complex128)
    found = correlate(x, d, taps, "autocorrelation")
    fast = levinson(found.R, found.r)
    slow, rank, condition = solve_hermitian(toeplitz(found.R), found.r)
    assert fast is not None
    assert rank == taps
    assert np.allclose(fast, slow, rtol=0, atol=1e-14 * condition * np.abs(slow).max())


@pytest.mark.parametrize(
    "column", [np.ones(6), np.cos(0.3 * np.arange(30)), np.zeros(4)], ids=["one", "tone", "none"]
)
def test_levinson_is_not_trusted_on_singular_matrices(column):
    assert levinson(column, column) is None
    if column[0]:
        with pytest.warns(RankDeficientWarning, match="rank"):
            f = WienerFilter.from_correlations(column, column, power=1.0)
        best = np.linalg.lstsq(toeplitz(column), column, rcond=1e-10)[0]
        assert np.allclose(f.weights, best, atol=1e-10)  # the shortest solution
        assert f.rank == (1 if np.ptp(column) == 0 else 2)


def test_what_is_not_predicted_is_the_last_pivot_of_cholesky(rng):
    for kind in (np.float64, np.complex128):
        x, d = signals(rng, 50, 1, kind)
        R = correlate(x, d, 12, "autocorrelation").R
        pivot = np.linalg.cholesky(toeplitz(R))[-1, -1].real ** 2
        assert unpredicted(R) == pytest.approx(pivot / R[0].real, rel=1e-12)
    assert unpredicted(np.array([1.0, 2.0])) == 0.0


def test_silence_and_a_constant_give_the_shortest_weights_and_a_sentence():
    with pytest.warns(RankDeficientWarning, match="rank 0 of 3: the input does not excite"):
        silent = WienerFilter.from_signals(np.zeros(20), np.ones(20), 3)
    assert silent.weights.tolist() == [0.0, 0.0, 0.0]
    assert silent.error == 1.0
    with pytest.warns(RankDeficientWarning, match="rank 1 of 3"):
        constant = WienerFilter.from_signals(np.ones(20), 3 * np.ones(20), 3, "covariance")
    assert np.allclose(constant.weights, 1.0)
    assert constant.error == pytest.approx(0.0, abs=1e-25)


def test_units_of_the_channels_do_not_make_r_singular(rng):
    x, d = signals(rng, 400, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = WienerFilter.from_signals(x, d, 3).weights
        scaled = WienerFilter.from_signals(x * [1e9, 1e-9], d, 3).weights
    assert np.allclose(scaled * [[1e9], [1e-9]], plain, rtol=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1e150, 1e150), (1e-150, 1e-150), (1e200, 1e100)])
def test_huge_and_tiny_scales_do_not_leave_the_range(rng, a, b):
    x, d = signals(rng, 100)
    plain = WienerFilter.from_signals(x, d, 3).weights
    assert np.allclose(
        WienerFilter.from_signals(x * a, d * b, 3).weights, plain * (b / a), rtol=1e-12
    )


def test_a_loud_first_or_last_sample_leaves_the_other_taps_their_digits(rng):
    for loud in (0, -1):
        x, d = signals(rng, 200)
        x[loud] = 1e7
        for method in ("prewindowed", "covariance"):
            U, _, _ = rows_of(x, d, 5, method)
            R = correlate(x, d, 5, method).matrix()
            slow = U.T @ U / len(U)
            scale = np.sqrt(np.outer(slow.diagonal(), slow.diagonal()))
            assert np.abs((R - slow) / scale).max() < 1e-13  # entry by entry: nothing was cancelled


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
def test_any_cutting_of_the_signal_gives_the_same_output(rng, kind):
    x, d = (v.astype(kind) for v in signals(rng, 200, 2))
    f, g = (WienerFilter.from_signals(x, d, 7) for _ in range(2))
    y, e = f.process(x, d)
    assert y.dtype == e.dtype == f.weights.dtype == kind
    cuts = [0, 1, 1, 2, 50, 51, 199, 200]
    pieces = [g.process(x[a:b], d[a:b]) for a, b in pairwise(cuts)]
    assert np.array_equal(np.concatenate([p[0] for p in pieces]), y)
    assert np.array_equal(np.concatenate([p[1] for p in pieces]), e)
    assert g.reset().process(x, d)[0].tolist() == y.tolist()


def test_it_goes_on_from_its_state_and_filters_without_d(rng):
    x, d = signals(rng, 100)
    f = WienerFilter.from_signals(x, d, 5)
    f.process(x[:60])
    g = WienerFilter.from_state(f.state())
    y, e = g.process(x[60:])
    assert len(e) == 0
    assert np.array_equal(y, f.process(x[60:])[0])
    assert (g.error, g.rank) == (f.error, f.rank)


def test_it_does_not_adapt(rng):
    f = WienerFilter([1.0, 2.0])
    assert not f.adapting
    with pytest.raises(ValueError, match="is fixed"):
        f.adapting = True
    f.process(rng.normal(size=50), rng.normal(size=50))
    assert f.weights.tolist() == [1.0, 2.0]


def test_lms_and_rls_approach_it(rng):
    x = rng.normal(size=60_000)
    d = np.convolve(x, [0.8, -0.4, 0.2, 0.1])[:60_000] + 0.1 * rng.normal(size=60_000)
    best = WienerFilter.from_signals(x, d, 4)
    rls = RLS(4, forgetting=1.0)
    rls.process(x, d)
    # RLS without forgetting is the same least squares, but for delta/N, 1e-2/6e4 of the weights.
    assert np.allclose(rls.weights, best.weights, atol=1e-6)
    eta = 0.002
    lms = LMS(4, eta=eta)
    lms.process(x, d)
    # Misadjustment: each weight strays by sqrt(eta J / 2) = 0.003; five of these.
    assert np.abs(lms.weights - best.weights).max() < 5 * np.sqrt(eta * best.error / 2)


def test_int16_and_columns_are_taken_and_inputs_are_not_touched(rng):
    x = rng.integers(-30000, 30000, 500).astype(np.int16)
    d = np.convolve(x.astype(float), [0.5, 0.25])[:500]
    x.setflags(write=False)
    f = WienerFilter.from_signals(x, d[:, None], 2)
    assert np.allclose(f.weights, [0.5, 0.25])
    assert f.weights.dtype == np.float64


def test_bad_signals_are_told_in_a_sentence():
    good = np.ones(5)
    with pytest.raises(ValueError, match="x has 5 samples and d has 4"):
        WienerFilter.from_signals(good, good[:4], 2)
    with pytest.raises(ValueError, match="nan"):
        WienerFilter.from_signals(good, [0, 1, np.nan, 0, 0], 2)
    with pytest.raises(ValueError, match="at least one sample"):
        WienerFilter.from_signals([], [], 2)
    with pytest.raises(ValueError, match="method is 'best'"):
        WienerFilter.from_signals(good, good, 2, "best")
    for taps in (0, 1.5, True):
        with pytest.raises(ValueError, match="taps"):
            WienerFilter.from_signals(good, good, taps)
    with pytest.raises(TypeError, match="complex"):
        WienerFilter([1.0], dtype="float64").process([1j], [1.0])


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
