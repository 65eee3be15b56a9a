"""What all filters promise: any input, any cutting, any failure, and the state survives."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline import (
    LMS,
    NLMS,
    RLS,
    AffineProjection,
    BlockLMS,
    DivergenceError,
    FilteredXLMS,
    OverK,
    SearchThenConverge,
)

FILTERS = [
    LMS(5),
    LMS(5, eta=0.02),
    LMS(5, eta=SearchThenConverge(0.02, 50.0), leak=0.1),
    LMS(5, eta=0.01, sign="error"),
    LMS(5, eta=OverK(0.1), sign="data"),
    NLMS(5),
    NLMS(5, eps=1e-3),
    AffineProjection(5, order=3),
    RLS(5, forgetting=0.99),
    RLS(5, forgetting=1.0, delta=0.1),
]
each = pytest.mark.parametrize("like", FILTERS, ids=repr)
PLAIN = [LMS(5), NLMS(5), AffineProjection(5), RLS(5)]
each_plain = pytest.mark.parametrize("like", PLAIN, ids=lambda f: type(f).__name__)

H = np.array([0.6, -0.4, 0.3, 0.0, 0.2])


def new(like, **settings):
    """A fresh filter of the same settings, some of them changed."""
    return type(like)(**(like._settings() | settings))


def signals(rng, n=300):
    x = rng.standard_normal(n)
    return x, np.convolve(x, H)[:n] + 0.01 * rng.standard_normal(n)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@each
def test_blocks_of_one_of_none_and_of_any_size_equal_one_shot_bit_for_bit(like, rng):
    x, d = signals(rng)
    whole, parts = new(like), new(like)
    y, e = whole.process(x, d)
    sizes = [0, 1, 1, 2, 3, 5, 128, 0, 7, 153]
    cut = np.split(np.arange(300), np.cumsum(sizes)[:-1])
    got = [parts.process(x[part], d[part]) for part in cut]
    assert same([np.concatenate(z) for z in zip(*got, strict=True)], (y, e))
    assert np.array_equal(parts.weights, whole.weights)
    assert parts.samples == whole.samples == 300


@each
def test_the_error_is_what_was_desired_less_the_output(like, rng):
    x, d = signals(rng)
    y, e = new(like).process(x, d)
    assert np.array_equal(e, d - y)


@each
def test_a_state_goes_on_bit_for_bit_and_is_plain_data(like, rng):
    x, d = signals(rng)
    f = new(like)
    f.process(x[:101], d[:101])
    state = f.state()
    plain = (np.ndarray, int, float, str, bool)
    assert all(isinstance(k, str) and isinstance(v, plain) for k, v in state.items())
    twin = type(f).from_state(dict(state))
    assert same(twin.process(x[101:], d[101:]), f.process(x[101:], d[101:]))
    assert twin.samples == f.samples
    assert repr(twin) == repr(f)


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
        assert same(NLMS.from_state(state).process(x[50:], d[50:]), expected)


def test_a_state_that_is_wrong_is_refused(rng):
    x, d = signals(rng)
    f = NLMS(5)
    f.process(x, d)
    good = f.state()
    with pytest.raises(ValueError, match="'NLMS'"):
        LMS.from_state(good)
    with pytest.raises(ValueError, match="format 7"):
        NLMS.from_state(good | {"format": 7})
    with pytest.raises(ValueError, match="strange"):
        NLMS.from_state(good | {"strange": 1})
    with pytest.raises(ValueError, match="shape"):
        NLMS.from_state(good | {"memory.w": np.zeros(3)})
    with pytest.raises(ValueError, match="not finite"):
        NLMS.from_state(good | {"memory.w": good["memory.w"] * np.nan})
    with pytest.raises(ValueError, match="expected a dict"):
        NLMS.from_state([1, 2])


@each
def test_reset_forgets_everything(like, rng):
    x, d = signals(rng)
    f = new(like)
    first = f.process(x, d)
    f.reset()
    assert f.samples == 0
    assert not f.weights.any()
    assert same(f.process(x, d), first)


@each
def test_without_adapting_the_weights_stay_and_filter(like, rng):
    x, d = signals(rng)
    f = new(like, weights=H)
    f.adapting = False
    y, e = f.process(x[:200])
    assert len(e) == 0
    assert np.allclose(y, np.convolve(x, H)[:200], rtol=0, atol=1e-13)  # sums of five products
    assert np.array_equal(f.weights, H)
    more, e = f.process(x[200:], d[200:])
    assert np.array_equal(e, d[200:] - more)
    f.adapting = True
    f.process(x, d)
    assert not np.array_equal(f.weights, H)


def test_without_desired_signal_an_adapting_filter_says_so(rng):
    with pytest.raises(ValueError, match="d is missing"):
        NLMS(3).process([1.0, 2.0])


@each_plain
def test_weights_can_be_read_and_set_at_any_sample(like, rng):
    x, d = signals(rng)
    for stop in (0, 1, 2, 3, 4, 101):
        f = new(like)
        f.process(x[:stop], d[:stop])
        f.weights = H
        assert np.array_equal(f.weights, H)
        y, _ = f.process(x[stop : stop + 1], d[stop : stop + 1])
        line = np.append(np.zeros(5), x[: stop + 1])[:-6:-1]
        assert y[0] == pytest.approx(H @ line, abs=1e-13)


@each_plain
def test_reading_weights_changes_nothing(like, rng):
    x, d = signals(rng, 50)
    watched, other = new(like), new(like)
    for n in range(50):
        watched.process(x[n : n + 1], d[n : n + 1])
        watched.weights[:] = 7.0  # a copy
    other.process(x, d)
    assert np.array_equal(watched.weights, other.weights)


@each_plain
def test_step_is_a_block_of_one(like, rng):
    x, d = signals(rng, 20)
    one, other = new(like), new(like)
    steps = [one.step(a, b) for a, b in zip(x, d, strict=True)]
    assert same(np.array(steps).T, other.process(x, d))


@each_plain
def test_history_records_weights_and_changes_nothing_else(like, rng):
    x, d = signals(rng)
    f, plain = new(like, history=64), new(like)
    got = [f.process(x[:100], d[:100]), f.process(x[100:], d[100:])]
    assert same([np.concatenate(z) for z in zip(*got, strict=True)], plain.process(x, d))
    assert f.history_at.tolist() == [64, 128, 192, 256]
    assert f.history.shape == (4, 5)
    for at, w in zip(f.history_at, f.history, strict=True):
        g = new(like)
        g.process(x[:at], d[:at])
        assert np.array_equal(g.weights, w)
    assert plain.history.shape == (0, 5)


def test_history_can_be_asked_for_one_block(rng):
    x, d = signals(rng)
    f = NLMS(5)
    f.process(x, d, history=100)
    f.process(x, d)
    assert f.history_at.tolist() == [100, 200, 300]
    with pytest.raises(ValueError, match="history is 0"):
        f.process(x, d, history=0)


@each_plain
def test_two_channels_are_one_filter(like, rng):
    x = rng.standard_normal((4000, 2))
    W = np.array([[1.0, 0.5, 0, 0, 0], [0, -1.0, 0.2, 0, 0]])
    d = sum(np.convolve(x[:, c], W[c])[:4000] for c in range(2))
    f = new(like)
    f.process(x, d)
    assert f.channels == 2
    assert np.allclose(f.weights, W, rtol=0, atol=1e-3)  # noise-free: what is left of the start
    with pytest.raises(ValueError, match="2 since its weights"):
        f.process(x[:, 0], d)


@each_plain
@pytest.mark.parametrize("kind", ["float32", "complex64", "complex128"])
def test_the_first_block_decides_the_kind_of_numbers(like, kind, rng):
    x, d = signals(rng, 1000)
    h = H.astype(kind)
    if "complex" in kind:
        x, h = x + 1j * rng.standard_normal(1000), h * (1 + 0.5j)
        d = np.convolve(x, h.conj())[:1000]  # y = w^H x
    f = new(like)
    y, e = f.process(x.astype(kind), d.astype(kind))
    assert y.dtype == e.dtype == f.weights.dtype == f.dtype == kind
    assert np.allclose(f.weights, h, rtol=0, atol=0.02)


def test_integers_are_samples_and_do_not_wrap(rng):
    x = (rng.standard_normal(500) * 8000).astype(np.int16)
    d = np.convolve(x.astype(float), [2.0, 1.0])[:500]
    f, g = NLMS(2), NLMS(2)
    assert same(f.process(x, d), g.process(x.astype(float), d))
    assert f.dtype == np.float64


@each_plain
def test_any_array_like_will_do_and_is_left_alone(like, rng):
    x, d = signals(rng)
    expected = new(like).process(x, d)
    locked_x, locked_d = x.copy(), d.copy()
    locked_x.flags.writeable = locked_d.flags.writeable = False
    strided = np.repeat(x, 2)[::2]
    swapped = x.astype(">f8")
    for a, b in [
        (locked_x, locked_d),
        (strided, d),
        (swapped, d),
        (x[:, None], d[:, None]),
        (x.tolist(), d.tolist()),
        (np.asfortranarray(x[:, None]), d),
    ]:
        f = new(like)
        got = [f.process(a[:150], b[:150]), f.process(a[150:], b[150:])]
        assert same([np.concatenate(z) for z in zip(*got, strict=True)], expected)
    assert np.array_equal(x, locked_x)


def test_signals_that_do_not_fit_are_refused_with_a_sentence(rng):
    f = NLMS(3)
    for x, d, words in [
        (np.zeros(5), np.zeros(4), "x has 5 samples and d has 4"),
        (np.zeros((2, 2, 2)), np.zeros(2), r"shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), np.zeros(2), "expected"),
        (np.zeros(3), np.zeros((3, 2)), "one signal"),
        (3.0, 2.0, "step()"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), np.zeros(2), "masked"),
    ]:
        with pytest.raises(ValueError, match=words):
            f.process(x, d)
    with pytest.raises(TypeError, match="real or complex"):
        f.process(["a", "b"], [1.0, 2.0])
    assert f.dtype is None  # none of these decided anything


@each_plain
def test_complex_into_a_real_filter_is_an_error_that_names_the_way_out(like, rng):
    f = new(like)
    f.process([1.0, 2.0], [0.0, 1.0])
    before = f.state()
    for x, d in [([1j], [1.0]), ([1.0], [1j])]:
        with pytest.raises(TypeError, match="complex128"):
            f.process(x, d)
    with pytest.raises(TypeError, match="complex128"):
        f.weights = np.ones(5) * 1j
    assert all(np.array_equal(v, before[k]) for k, v in f.state().items())
    with pytest.raises(TypeError, match="complex"):
        new(like, dtype="float64").process([1j], [1.0])


@each_plain
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("started", [False, True])
def test_a_sample_that_is_no_number_is_named_and_nothing_is_used(like, bad, started, rng):
    x, d = signals(rng)
    f = new(like)
    if started:
        f.process(x, d)
    before = f.state()
    for name in ("x", "d"):
        spoiled = {"x": x.copy(), "d": d.copy()}
        spoiled[name][123] = bad
        with pytest.raises(ValueError, match=rf"{name}\[123\] is -?(nan|inf)"):
            f.process(spoiled["x"], spoiled["d"])
    assert before.keys() == f.state().keys()
    assert all(np.array_equal(v, before[k]) for k, v in f.state().items())


def test_a_bad_channel_is_named(rng):
    x = rng.standard_normal((50, 3))
    x[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"x\[\(7, 2\)\] is nan"):
        NLMS(4).process(x, x[:, 0])


def test_what_overflows_float32_is_told_as_infinite():
    with pytest.raises(ValueError, match=r"x\[1\] is inf"):
        NLMS(2, dtype="float32").process([1.0, 1e300], [0.0, 0.0])


@each_plain
@pytest.mark.parametrize("on_nan", ["hold", "skip"])
def test_bad_samples_are_lived_with_in_any_cutting(like, on_nan, rng):
    x, d = signals(rng, 2000)
    x[rng.random(2000) < 0.01] = np.nan
    d[rng.random(2000) < 0.01] = np.inf
    whole, parts = new(like, on_nan=on_nan), new(like, on_nan=on_nan)
    y, e = whole.process(x, d)
    cut = np.split(np.arange(2000), np.sort(rng.integers(0, 2000, 300)))
    got = [parts.process(x[part], d[part]) for part in cut]
    both = [np.concatenate(z) for z in zip(*got, strict=True)]
    assert np.array_equal(both[0], y)
    assert np.array_equal(both[1], e, equal_nan=True)
    assert np.isfinite(y).all()
    assert np.array_equal(np.isnan(e), np.isinf(d) if on_nan == "skip" else np.zeros(2000, bool))
    assert np.linalg.norm(whole.weights - H) < 0.2


def test_hold_repeats_the_last_good_sample_and_learns_nothing_there(rng):
    x, d = signals(rng)
    repeated = x.copy()
    repeated[100] = repeated[99]
    bad_x = x.copy()
    bad_x[100] = np.nan
    held, plain = NLMS(5, on_nan="hold"), NLMS(5)
    y, _ = held.process(bad_x[:101], d[:101])
    y_plain, _ = plain.process(repeated[:100], d[:100])
    w = plain.weights
    assert np.array_equal(y[:100], y_plain)
    assert np.array_equal(held.weights, w)  # sample 100 was not learned from
    assert y[100] == pytest.approx(w @ repeated[100:95:-1], abs=1e-13)


def test_skip_learns_nothing_while_the_gap_is_in_the_delay_line(rng):
    x, d = signals(rng)
    x[100] = np.nan
    f = NLMS(5, on_nan="skip")
    f.process(x[:100], d[:100])
    w = f.weights
    for n in range(100, 105):
        f.process(x[n : n + 1], d[n : n + 1])
        assert np.array_equal(f.weights, w)
    f.process(x[105:106], d[105:106])
    assert not np.array_equal(f.weights, w)


@each_plain
def test_blocks_shorter_than_the_filter_fill_it(like, rng):
    x, d = signals(rng, 40)
    f, g = new(like, taps=200), new(like, taps=200)
    got = [f.process(x[n : n + 3], d[n : n + 3]) for n in range(0, 40, 3)]
    assert same([np.concatenate(z) for z in zip(*got, strict=True)], g.process(x, d))
    assert not f.weights[40:].any()


@each_plain
def test_an_empty_block_decides_and_changes_nothing(like):
    f = new(like)
    y, e = f.process([], [])
    assert y.shape == e.shape == (0,)
    assert f.dtype is None
    f.process([1.0, 2.0], [1.0, 1.0])
    before = f.weights
    y, e = f.process(np.empty(0, np.float32), np.empty(0))
    assert y.dtype == np.float64
    assert np.array_equal(f.weights, before)


@pytest.mark.parametrize("taps", [0, -1, 2.5, True, "8", None])
def test_taps_must_be_a_whole_number(taps):
    with pytest.raises(ValueError, match="taps"):
        NLMS(taps)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"on_nan": "ignore"}, "'raise', 'hold', 'skip'"),
        ({"dtype": "int16"}, "float32, float64"),
        ({"weights": [1.0, 2.0]}, r"\(5,\)"),
        ({"weights": [1.0, 2.0, np.nan, 0.0, 0.0]}, "finite"),
        ({"history": 0}, "history"),
        ({"history": 1.5}, "history"),
    ],
)
@each_plain
def test_settings_that_make_no_sense_are_refused_at_once(like, settings, words):
    with pytest.raises(ValueError, match=words):
        new(like, **settings)


def test_settings_are_read_only():
    f = NLMS(4, eta=0.3)
    assert (f.taps, f.eta, f.eps, f.on_nan) == (4, 0.3, "auto", "raise")
    with pytest.raises(AttributeError, match="make a new one"):
        f.eta = 0.5


def test_initial_weights_are_where_a_filter_starts_again(rng):
    x, d = signals(rng)
    f = NLMS(5, weights=H)
    assert np.array_equal(f.weights, H)
    f.process(x, d)
    f.reset()
    assert np.array_equal(f.weights, H)
    twin = NLMS.from_state(f.state())
    assert np.array_equal(twin.weights, H)
    assert same(twin.process(x, d), f.process(x, d))


def test_weights_set_before_the_first_block_count(rng):
    x, d = signals(rng)
    f, g = NLMS(5), NLMS(5, weights=H)
    f.weights = H
    twin = NLMS.from_state(f.state())
    assert same(f.process(x, d), g.process(x, d))
    assert np.array_equal(twin.process(x, d)[0], g.reset().process(x, d)[0])


def test_rows_that_do_not_fit_are_refused(rng):
    f = NLMS(4)
    with pytest.raises(ValueError, match=r"shape \(5, 3\)"):
        f.process_rows(np.zeros((5, 3)), np.zeros(5))
    with pytest.raises(ValueError, match="U has 5 samples and d has 4"):
        f.process_rows(np.zeros((5, 4)), np.zeros(4))
    with pytest.raises(ValueError, match=r"U\[\(1, 0\)\] is nan"):
        f.process_rows([[1.0, 0, 0, 0], [np.nan, 0, 0, 0]], [0.0, 0.0])
    y, e = f.process_rows(np.zeros((0, 4)), [])
    assert y.shape == e.shape == (0,)


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


def test_divergence_is_found_told_and_undone(rng):
    x, d = signals(rng, 4000)
    f = LMS(5, eta=1.5, allow_unstable=True)
    f.process(x[:8], d[:8])
    before = f.state()
    with pytest.raises(DivergenceError, match=r"sample \d+ of this block"):
        f.process(x[8:], d[8:])
    assert all(np.array_equal(v, before[k]) for k, v in f.state().items())
    assert np.isfinite(f.weights).all()


def test_divergence_with_history_undoes_all_pieces(rng):
    x, d = signals(rng, 4000)
    f = LMS(5, eta=1.5, allow_unstable=True, history=3)
    f.process(x[:8], d[:8])
    before, records = f.state(), len(f.history)
    with pytest.raises(DivergenceError):
        f.process(x[8:], d[8:])
    assert all(np.array_equal(v, before[k]) for k, v in f.state().items())
    assert (len(f.history), f.samples) == (records, 8)


@pytest.mark.parametrize(
    "f",
    [*(new(like) for like in PLAIN), BlockLMS(5, 4), FilteredXLMS(5, [1.0])],
    ids=lambda f: type(f).__name__,
)
def test_complex_samples_whose_size_overflows_are_refused_and_change_nothing(f, rng):
    x = rng.standard_normal(32) + 1j * rng.standard_normal(32)
    f.process(x, x)
    before, loud = f.state(), np.full(32, 1.5e308 * (1 + 1j))
    with pytest.raises(ValueError, match="finite samples"):
        f.process(loud, loud)
    after = f.state()
    assert all(np.array_equal(after[name], part) for name, part in before.items())
