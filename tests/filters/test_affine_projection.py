"""Affine projection: the plain recursion, order by order, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

import reference_filters as slow
from adaline import NLMS, AffineProjection

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def echo(x, h=H):
    return np.convolve(x, h)[: len(x)]


@pytest.mark.parametrize("order", [1, 2, 4, 7])
@pytest.mark.parametrize("taps", [8, 40])
@pytest.mark.parametrize("complex_", [False, True])
def test_the_kernel_is_the_plain_recursion(order, taps, complex_, rng):
    x = rng.standard_normal((400, 2)) + (1j * rng.standard_normal((400, 2)) if complex_ else 0)
    d = rng.standard_normal(400)
    f = AffineProjection(taps, order, 0.6)
    y, _ = f.process(x, d)
    y_slow, _, w_slow = slow.affine_projection(x, d, taps, order, 0.6)
    # At the start R has cond up to x'x/eps, and so have the outputs.
    assert np.allclose(y, y_slow, rtol=0, atol=1e-9)
    assert np.allclose(f.weights.ravel(), w_slow, rtol=0, atol=1e-9)


def test_a_full_step_brings_all_errors_to_zero(rng):
    x, d = rng.standard_normal((2, 60))
    f = AffineProjection(8, order=3, eta=1.0, eps=0.0)
    f.process(x, d)
    rows = slow.delay_line(x, 8)[-3:]
    assert rows @ f.weights == pytest.approx(d[-3:], abs=1e-11)


def test_it_learns_faster_than_nlms_on_a_coloured_reference(rng):
    noise = rng.standard_normal(4000)
    x = np.zeros(4000)
    for n in range(1, 4000):
        x[n] = 0.95 * x[n - 1] + noise[n]
    f, g = AffineProjection(5, 4), NLMS(5)
    f.process(x[:300], echo(x)[:300])
    g.process(x[:300], echo(x)[:300])
    assert np.linalg.norm(f.weights - H) < 0.1 * np.linalg.norm(g.weights - H)


@pytest.mark.parametrize("signal", ["silence", "constant", "tone", "spike", "louder", "quieter"])
def test_signals_that_break_naive_code(signal, rng):
    x = rng.standard_normal(6000)
    special = {
        "silence": np.zeros(2000),
        "constant": np.full(2000, 3.0),
        "tone": np.sin(0.2 * np.arange(2000)),
        "spike": np.where(np.arange(2000) == 700, 1e9, x[2000:4000]),
        "louder": 1e6 * x[2000:4000],
        "quieter": 1e-6 * x[2000:4000],
    }
    x[2000:4000] = special[signal]
    f = AffineProjection(5, 4)
    _, e = f.process(x, echo(x))
    assert np.abs(e[1900:2000]).max() < 1e-9
    assert np.isfinite(e).all()
    assert np.allclose(f.weights, H, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("eps", ["auto", 0.0])
@pytest.mark.parametrize("taps", [1, 2, 8])
def test_more_vectors_than_directions_are_no_trouble(taps, eps, kind, rng):
    x = rng.standard_normal(1500)
    x[500:1000] = 3e4  # constant and loud: one direction
    d = echo(x, H[:taps])
    f = AffineProjection(taps, 5, eps=eps)
    _, e = f.process(x.astype(kind), d.astype(kind))
    assert np.abs(e[600:1000]).max() < 1e-2 * np.abs(d).max()
    assert np.allclose(f.weights[:5], H[:taps], rtol=0, atol=1e-2)


def test_long_streams_do_not_drift(rng):
    x = rng.standard_normal(100_000)
    f = AffineProjection(16, 4)
    f.process(x, echo(x))
    assert np.allclose(f.weights[:5], H, rtol=0, atol=1e-11)


@pytest.mark.parametrize("complex_", [False, True])
def test_rows_are_the_delay_line_spelled_out(complex_, rng):
    x = rng.standard_normal(203) + (1j * rng.standard_normal(203) if complex_ else 0)
    d = echo(x) + rng.standard_normal(203)
    f, g = AffineProjection(8, 3), AffineProjection(8, 3)
    y, _ = f.process(x, d)
    rows = slow.delay_line(x, 8)
    got = [g.process_rows(rows[:77], d[:77])[0], g.process_rows(rows[77:], d[77:])[0]]
    assert np.allclose(np.concatenate(got), y, rtol=0, atol=1e-9)
    assert np.allclose(g.weights, f.weights, rtol=0, atol=1e-9)
    twin = AffineProjection.from_state(g.state())
    assert np.array_equal(twin.weights, g.weights)


def test_rows_start_from_given_weights_and_do_not_mix_with_a_signal(rng):
    rows, d = rng.standard_normal((50, 5)), rng.standard_normal(50)
    f = AffineProjection(5, weights=H)
    y, _ = f.process_rows(rows[:1], d[:1])
    assert y[0] == pytest.approx(rows[0] @ H, abs=1e-13)
    with pytest.raises(ValueError, match="learned from rows"):
        f.process(d, d)
    g = AffineProjection(5)
    g.process(d, d)
    with pytest.raises(ValueError, match="learned from a signal"):
        g.process_rows(rows, d)


@pytest.mark.parametrize("order", [0, -1, 1.5, True, "4"])
def test_order_is_a_whole_number(order):
    with pytest.raises(ValueError, match="order is"):
        AffineProjection(4, order)


@pytest.mark.parametrize("eta", [0.0, 2.0])
def test_eta_is_between_zero_and_two(eta):
    with pytest.raises(ValueError, match="eta is"):
        AffineProjection(4, eta=eta)
