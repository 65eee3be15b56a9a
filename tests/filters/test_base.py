"""What all filters promise: any input, blocks of any size, any failure, and a state that is data.

tests/laws/test_filters.py has the laws for all settings of all filters.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline import (
    LMS,
    NLMS,
    RLS,
    AffineProjection,
)

FILTERS = {
    "LMS": lambda **s: LMS(5, **s),
    "NLMS": lambda **s: NLMS(5, **s),
    "AffineProjection": lambda **s: AffineProjection(5, 3, **s),
    "RLS": lambda **s: RLS(5, **s),
}
each = pytest.mark.parametrize("new", FILTERS.values(), ids=FILTERS)

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def signals(rng, n=300):
    x = rng.standard_normal(n)
    return x, np.convolve(x, H)[:n] + 0.01 * rng.standard_normal(n)


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def in_pieces(f, x, d, pieces):
    """y and e of a filter that gets these samples one piece after another."""
    got = [f.process(x[piece], d[piece]) for piece in pieces]
    return [np.concatenate(z) for z in zip(*got, strict=True)]


def unchanged(f, before):
    after = f.state()
    return before.keys() == after.keys() and all(
        np.array_equal(v, after[k]) for k, v in before.items()
    )


def test_a_state_survives_npz_and_json(rng, tmp_path):
    x, d = signals(rng)
    f = NLMS(5, eta=0.3)
    f.process(x[:50], d[:50])
    np.savez(tmp_path / "f.npz", **f.state())
    with np.load(tmp_path / "f.npz") as file:
        loaded = {k: v if v.ndim else v.item() for k, v in file.items()}
    text = json.dumps(
        {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in f.state().items()}
    )
    listed = {k: np.array(v) if isinstance(v, list) else v for k, v in json.loads(text).items()}
    expected = f.process(x[50:], d[50:])
    for state in (loaded, listed):
        assert equal(NLMS.from_state(state).process(x[50:], d[50:]), expected)


@each
def test_without_adapting_the_weights_stay_and_filter(new, rng):
    x, d = signals(rng)
    f = new(weights=H)
    f.adapting = False
    y, e = f.process(x[:200])
    assert len(e) == 0
    assert np.allclose(y, np.convolve(x, H)[:200], rtol=0, atol=1e-13)  # sums of five products
    assert np.array_equal(f.weights, H)
    more, e = f.process(x[200:], d[200:])
    assert np.array_equal(e, d[200:] - more)
    f.adapting = True
    with pytest.raises(ValueError, match="d is missing"):
        f.process(x)
    f.process(x, d)
    assert not np.array_equal(f.weights, H)


@each
@pytest.mark.parametrize("stop", [0, 1, 4, 101])
def test_weights_can_be_set_at_any_sample_and_read_as_a_copy(new, stop, rng):
    x, d = signals(rng)
    f = new()
    f.process(x[:stop], d[:stop])
    f.weights[:] = 7.0  # of a copy
    f.weights = H
    assert np.array_equal(f.weights, H)
    y, _ = f.process(x[stop : stop + 1], d[stop : stop + 1])
    line = np.append(np.zeros(5), x[: stop + 1])[:-6:-1]
    assert y[0] == pytest.approx(H @ line, abs=1e-13)


def test_initial_weights_are_where_a_filter_starts_again(rng):
    x, d = signals(rng)
    f, late = NLMS(5, weights=H), NLMS(5)
    late.weights = H
    twin = NLMS.from_state(late.state())
    expected = f.process(x, d)
    assert equal(late.process(x, d), expected)
    assert equal(twin.process(x, d), expected)
    assert np.array_equal(f.reset().weights, H)
    assert equal(NLMS.from_state(f.state()).process(x, d), expected)


@each
def test_step_is_a_block_of_one(new, rng):
    x, d = signals(rng, 20)
    steps = [one.step(a, b) for one in [new()] for a, b in zip(x, d, strict=True)]
    assert equal(np.array(steps).T, new().process(x, d))


@each
def test_history_records_weights_and_changes_nothing_else(new, rng):
    x, d = signals(rng)
    f, plain = new(history=64), new()
    pieces = [np.arange(100), np.arange(100, 300)]
    assert equal(in_pieces(f, x, d, pieces), plain.process(x, d))
    assert f.history_at.tolist() == [64, 128, 192, 256]
    assert f.history.shape == (4, 5)
    assert plain.history.shape == (0, 5)
    for at, w in zip(f.history_at, f.history, strict=True):
        g = new()
        g.process(x[:at], d[:at])
        assert np.array_equal(g.weights, w)
    plain.process(x, d, history=100)
    plain.process(x, d)
    assert plain.history_at.tolist() == [400, 500, 600]


@each
@pytest.mark.parametrize("kind", ["float32", "complex64", "complex128"])
def test_the_first_block_decides_the_kind_of_numbers(new, kind, rng):
    x, d = signals(rng, 1000)
    h = H.astype(kind)
    if "complex" in kind:
        x, h = x + 1j * rng.standard_normal(1000), h * (1 + 0.5j)
        d = np.convolve(x, h.conj())[:1000]  # y = w^H x
    f = new()
    y, e = f.process(x.astype(kind), d.astype(kind))
    assert y.dtype == e.dtype == f.weights.dtype == f.dtype == kind
    assert np.allclose(f.weights, h, rtol=0, atol=0.02)


def test_a_bad_channel_and_an_overflow_are_named(rng):
    x = rng.standard_normal((50, 3))
    x[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"x\[\(7, 2\)\] is nan"):
        NLMS(4).process(x, x[:, 0])
    with pytest.raises(ValueError, match=r"x\[1\] is inf"):
        NLMS(2, dtype="float32").process([1.0, 1e300], [0.0, 0.0])


@each
@pytest.mark.parametrize("on_nan", ["hold", "skip"])
def test_missing_samples_are_passed_over_in_blocks_of_any_size(new, on_nan, rng):
    x, d = signals(rng, 2000)
    x[rng.random(2000) < 0.01] = np.nan
    d[rng.random(2000) < 0.01] = np.inf
    whole = new(on_nan=on_nan)
    y, e = whole.process(x, d)
    pieces = np.split(np.arange(2000), np.sort(rng.integers(0, 2000, 300)))
    parts = in_pieces(new(on_nan=on_nan), x, d, pieces)
    assert np.array_equal(parts[0], y)
    assert np.array_equal(parts[1], e, equal_nan=True)
    assert np.isfinite(y).all()
    assert np.array_equal(np.isnan(e), np.isinf(d) if on_nan == "skip" else np.zeros(2000, bool))
    assert np.linalg.norm(whole.weights - H) < 0.2


def test_hold_repeats_the_last_good_sample_and_learns_nothing_there(rng):
    x, d = signals(rng)
    repeated, bad = x.copy(), x.copy()
    repeated[100], bad[100] = x[99], np.nan
    held, plain = NLMS(5, on_nan="hold"), NLMS(5)
    y, _ = held.process(bad[:101], d[:101])
    y_plain, _ = plain.process(repeated[:100], d[:100])
    assert np.array_equal(y[:100], y_plain)
    assert np.array_equal(held.weights, plain.weights)  # sample 100 was not learned from
    assert y[100] == pytest.approx(plain.weights @ repeated[100:95:-1], abs=1e-13)


@each
def test_an_empty_block_decides_and_changes_nothing(new):
    f = new()
    y, e = f.process([], [])
    assert y.shape == e.shape == (0,)
    assert f.dtype is None
    f.process([1.0, 2.0], [1.0, 1.0])
    before = f.state()
    y, e = f.process(np.empty(0, np.float32), np.empty(0))
    assert y.dtype == np.float64
    assert unchanged(f, before)


def test_memory_does_not_grow_with_the_signal(rng):
    import tracemalloc

    x = rng.standard_normal(50_000)
    f = NLMS(256)
    f.process(x[:10], x[:10])
    tracemalloc.start()
    try:
        f.process(x, x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # y, e, which samples teach, and the buffers of a segment of 8192 samples
    assert peak < 50_000 * (2 * 8 + 1) + 500_000
