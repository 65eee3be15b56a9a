"""Copies of filters: however a filter is copied, and wherever in the stream, it goes on with the
same bits and shares nothing with the original; and a block that is refused changes nothing."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adaline
from adaline import (
    LMS,
    NLMS,
    RLS,
    AffineProjection,
    BlockLMS,
    DivergenceError,
    FilteredXLMS,
)
from filter_zoo import MAKERS, TAPS, W0

each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def by_joblib(f, folder):
    joblib.dump(f, folder / "filter.joblib")
    return joblib.load(folder / "filter.joblib")


def by_file(f, folder):
    adaline.save(f, folder / "filter.adaline")
    return adaline.load(folder / "filter.adaline")


WAYS = {
    "copy": lambda f, folder: copy.copy(f),
    "deepcopy": lambda f, folder: copy.deepcopy(f),
    "pickle": lambda f, folder: pickle.loads(pickle.dumps(f)),
    "old pickle": lambda f, folder: pickle.loads(pickle.dumps(f, protocol=2)),
    "joblib": by_joblib,
    "state": lambda f, folder: type(f).from_state(f.state()),
    "file": by_file,
}


def signals(seed, n=150, kind="float64", channels=1):
    """Noise, and a noisy linear function of it."""
    rng = np.random.default_rng(seed)
    x, noise = rng.standard_normal((n, channels)), 0.1 * rng.standard_normal(n)
    if kind.startswith("complex"):
        x = x + 1j * rng.standard_normal((n, channels))
    d = np.convolve(x.sum(axis=1), [0.6, -0.4, 0.3])[:n] + noise
    return x.astype(kind), d.astype(kind)


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def bits(f):
    """All that a filter is, as bytes."""
    return {
        name: (value.dtype.str, value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else repr(value)
        for name, value in f.state().items()
    } | {"history": f.history.tobytes(), "samples": f.samples, "dtype": f.dtype}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("copies")


@each
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    cut=st.integers(0, 150),
    way=st.sampled_from(sorted(WAYS)),
    kind=st.sampled_from(["float64", "float32", "complex128", "complex64"]),
    dtype=st.booleans(),
    on_nan=st.sampled_from(["raise", "skip"]),
    again=st.integers(0, 150),
)
def test_a_copy_goes_on_with_the_same_bits_and_shares_nothing(
    make, folder, seed, cut, way, kind, dtype, on_nan, again
):
    x, d = signals(seed, kind=kind)
    f = make(on_nan=on_nan, **({"dtype": kind} if dtype else {}))
    whole = make(on_nan=on_nan, **({"dtype": kind} if dtype else {}))
    f.process(x[:cut], d[:cut])
    whole.process(x[:cut], d[:cut])
    twin = WAYS[way](f, folder)
    assert np.array_equal(twin.weights, f.weights)
    assert bits(twin) == bits(f)
    before = bits(twin)
    f.process(-0.5 * x[cut:], d[cut:])  # the original goes its own way
    assert bits(twin) == before
    middle = max(cut, again)
    got = [twin.process(x[cut:middle], d[cut:middle])]
    third = WAYS[way](twin, folder)  # and a copy of a copy
    got.append(third.process(x[middle:], d[middle:]))
    twin.reset()
    expected = [whole.process(x[a:b], d[a:b]) for a, b in ((cut, middle), (middle, len(d)))]
    for one, other in zip(got, expected, strict=True):
        assert same(one, other)
    assert np.array_equal(third.weights, whole.weights)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "WienerFilter"])
def test_copies_keep_what_is_no_state_too(name, folder):
    """Of filters that learn: fixed weights have no history."""
    make = MAKERS[name]
    x, d = signals(3)
    f = make(history=20)
    f.label = "left ear"
    f.process(x, d)
    for twin in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert np.array_equal(twin.history, f.history)
        assert np.array_equal(twin.history_at, f.history_at)
        assert twin.label == "left ear"


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_copy_of_two_channels_and_a_filter_at_rest(way, folder):
    x, d = signals(5, channels=2)
    for make in (BlockLMS, NLMS, RLS, AffineProjection):
        f = make(TAPS)
        f.process(x[:77], d[:77])
        f.adapting = False
        twin = WAYS[way](f, folder)
        assert not twin.adapting
        assert same(twin.process(x[77:]), f.process(x[77:]))
        twin.adapting = f.adapting = True
        assert same(twin.process(x, d), f.process(x, d))


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_copy_between_drive_and_hear_still_hears(way, folder):
    x, d = signals(7, 40)
    f, plain = (FilteredXLMS(TAPS, [0.0, 0.7]) for _ in range(2))
    for n in range(40):
        assert f.drive(x[n]) == plain.drive(x[n])
        f = WAYS[way](f, folder)
        f.hear(d[n])
        plain.hear(d[n])
    assert np.array_equal(f.weights, plain.weights)


def test_a_state_is_the_callers_own():
    f = FilteredXLMS(TAPS, [0.7, 0.2], weights=W0)
    state = f.state()
    for value in state.values():
        if isinstance(value, np.ndarray):
            value[...] = 9.0
    assert np.array_equal(f.weights, W0)
    assert np.array_equal(f.secondary_path, [0.7, 0.2])
    with pytest.raises(ValueError, match="read-only"):
        f.secondary_path[0] = 1.0


REFUSED = {
    "NaN in x": lambda x, d: (np.append(x, np.nan), np.append(d, 0.0)),
    "inf in d": lambda x, d: (np.append(x, 0.0), np.append(d, np.inf)),
    "lengths": lambda x, d: (x, d[1:]),
    "text": lambda x, d: (["a", "b"], [0.0, 1.0]),
    "complex": lambda x, d: (x * 1j, d),
    "complex d": lambda x, d: (x, d * 1j),
    "channels": lambda x, d: (np.column_stack([x, x, x]), d),
    "overflow": lambda x, d: (np.append(x, 1e300), np.append(d, 0.0)),
}


@each
@pytest.mark.parametrize("started", [0, 1, 50, 51, 66])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_refused_block_changes_nothing(make, started, kind):
    x, d = (v.reshape(len(v)) for v in signals(11, kind=kind))
    f = make(dtype=kind)
    f.process(x[:started], d[:started])
    before, memory = bits(f), pickle.dumps(f)
    for name, spoil in REFUSED.items():
        for history in (None, 7):
            with np.errstate(all="ignore"):
                try:
                    f.process(*spoil(x[:70], d[:70]), history=history)
                except (ValueError, TypeError, DivergenceError):
                    assert bits(f) == before, name
                    assert pickle.dumps(f) == memory, name
                else:
                    f = pickle.loads(memory)


@pytest.mark.parametrize("length", [1, 3, 8, 9, 12, 100])
@pytest.mark.parametrize("started", [0, 80, 83])
def test_divergence_anywhere_leaves_every_bit(length, started):
    x, d = (v.reshape(len(v)) for v in signals(13, 400))
    for make in (
        lambda: BlockLMS(4, 8, eps=0.0),
        lambda: NLMS(4),
        lambda: AffineProjection(4),
        lambda: LMS(4),
        lambda: RLS(4),
        lambda: FilteredXLMS(4, [0.5]),
        lambda: LMS(4, 0.1),
    ):
        f = make()
        f.process(x[:started], d[:started])
        if not started:
            f.weights = np.ones(4)
        before = bits(f)
        loud = np.append(x[80 : 80 + length - 1], 1e153)
        try:
            f.process(loud, d[80 : 80 + length])
        except (DivergenceError, ValueError):
            assert bits(f) == before
