"""The tasks by name: the right signal goes in the right way round, and filters go on."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from adaline import NLMS, RLS, WienerFilter
from adaline.filters import (
    cancel,
    cancel_echo,
    enhance_line,
    equalise,
    identify,
    misalignment,
    predict,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "noise_cancelling_ecg.py"


def echo(x, h):
    return np.convolve(x, h)[: len(x)]


@pytest.fixture
def noise(rng):
    return rng.normal(size=6000)


@pytest.mark.parametrize("taps", [8, 100])
def test_a_system_is_identified(rng, noise, taps):
    h = rng.normal(size=8)
    found = identify(noise, echo(noise, h), taps)
    assert misalignment(found.signal, h) < -60
    assert found.measures["explained_db"] > 60
    assert type(found.filter) is (RLS if taps == 8 else NLMS)
    assert "explained_db" in str(found)


def test_a_complex_system_is_answered_as_its_response_not_its_conjugate(rng):
    x = rng.normal(size=2000) + 1j * rng.normal(size=2000)
    h = np.array([1.0 + 1j, -0.5j])
    found = identify(x, echo(x, h), 2)
    # RLS starts from a small delta, which 2000 samples have nearly outweighed.
    assert np.allclose(found.signal, h, atol=1e-4)
    assert np.allclose(found.filter.weights, h.conj(), atol=1e-4)


def test_a_signal_is_predicted_ahead_and_beyond_its_end():
    n = np.arange(2010)
    x = np.sin(0.2 * n) + 0.5 * np.cos(0.71 * n)
    for ahead in (1, 7):
        found = predict(x[:2000], ahead, taps=8)
        assert len(found.signal) == 2000 + ahead
        assert np.allclose(found.signal[1000:], x[1000 : 2000 + ahead], atol=0.02)
        assert np.array_equal(found.signal[:2000], found.y)
        assert found.measures["gain_db"] > 30


def test_a_prediction_uses_no_sample_it_should_not_know(rng):
    x = rng.normal(size=200)
    changed = x.copy()
    changed[150:] = 9.0
    fixed = WienerFilter([0.5, 0.2])
    for ahead in (1, 5):
        one, two = (predict(v, ahead, filter=fixed.reset()).signal for v in (x, changed))
        assert np.array_equal(one[: 150 + ahead], two[: 150 + ahead])
        assert one[150 + ahead] != two[150 + ahead]
        # Weights that learn have seen x[n - 1] when they predict x[n].
        one, two = (predict(v, ahead, taps=4).signal for v in (x, changed))
        assert np.array_equal(one[:151], two[:151])
        # What lies beyond the end knows all samples and no other.
        assert np.array_equal(predict(x[:150], ahead, taps=4).signal[:151], one[:151])


def test_the_filter_of_a_task_goes_on_where_the_task_ended(rng):
    x = np.sin(0.3 * np.arange(1000)) + 0.1 * rng.normal(size=1000)
    part, whole = predict(x[:600], 3, taps=8), predict(x, 3, taps=8)
    y, _ = part.filter.process(x[597:997], x[600:])
    assert np.array_equal(y, whole.y[600:])
    h = np.array([1.0, 0.5])
    known = identify(x[:600], echo(x, h)[:600], 2)
    y, _ = known.filter.process(x[600:], echo(x, h)[600:])
    assert np.array_equal(y, identify(x, echo(x, h), 2).y[600:])


@pytest.mark.parametrize("filter", [None, NLMS(64, eta=0.02)], ids=["default", "NLMS"])
def test_a_line_is_enhanced(rng, filter):
    tone = np.sin(0.4 * np.arange(12_000))
    found = enhance_line(tone + rng.normal(size=12_000), delay=1, taps=64, filter=filter)
    # Noise of power 1 comes in; most of it must be gone while the tone stays.
    assert np.mean((found.signal - tone)[6000:] ** 2) < 0.1
    assert 0.3 < found.measures["line_share"] < 0.45  # 0.5 of 1.5 is the tone


def test_a_channel_is_equalised_and_followed_by_decisions(rng):
    sent = rng.choice([-1.0, 1.0], 4000)
    received = echo(sent, [0.3, 1.0, 0.3]) + 0.05 * rng.normal(size=4000)
    fixed = equalise(received, sent[:400], taps=11)
    followed = equalise(received, sent[:400], taps=11, alphabet=[-1.0, 1.0])
    for found in (fixed, followed):
        assert len(found.signal) == 4000 - 5  # the delay is half of the taps
        assert (np.sign(found.signal[400:]) == sent[400 : len(found.signal)]).all()
        assert found.measures["error_db"] < -10
        assert found.filter.adapting
    assert np.isnan(fixed.e[:5]).all()
    assert np.isnan(fixed.e[405:]).all()
    assert not np.isnan(followed.e[5:]).any()
    assert followed.measures["symbol_errors"] == 0.0


TASKS = {
    "identify": lambda a, b: identify(a, b, 2),
    "cancel": lambda a, b: cancel(b, a),
    "cancel_echo": lambda a, b: cancel_echo(b, a, 4),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("kind", [np.int16, np.float32, np.float64])
def test_kinds_of_numbers_columns_silence_and_constants_pass(task, kind):
    out = np.float32 if kind is np.float32 else np.float64
    for x in (np.zeros(50, kind), np.full(50, 7, kind)):
        found = task(x, x[:, None])
        assert np.isfinite(found.e).all()
        assert np.abs(found.e).max() <= np.abs(x).max()  # no worse than without a filter
        assert found.e.dtype == out


def test_tasks_name_what_does_not_fit(noise):
    with pytest.raises(ValueError, match="reference has 6000 samples and primary has 5"):
        cancel(noise[:5], noise)
    with pytest.raises(ValueError, match="taps is missing"):
        identify(noise, noise)
    with pytest.raises(ValueError, match="taps is 3 and the filter has 4"):
        identify(noise, noise, 3, filter=NLMS(4))
    with pytest.raises(ValueError, match="algorithm"):
        cancel(noise, noise, algorithm="rls", filter=RLS(8))
    with pytest.raises(ValueError, match="training has 10 symbols"):
        equalise(np.ones(12), np.ones(10), taps=8)


def test_short_signals_are_fine():
    assert len(predict([1.0], ahead=3).signal) == 4
    assert len(enhance_line([1.0, 2.0], delay=5).signal) == 2
    assert identify([1.0], [2.0], 1).signal.shape == (1,)


def test_the_electrocardiogram_comes_out_of_the_hum(capsys):
    found = spec_from_file_location("ecg", EXAMPLE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    decibels = module.main(20.0)
    assert decibels["with a second electrode"] > decibels["before"] + 15
    assert decibels["without"] > decibels["before"] + 10
    assert "removed_db" in capsys.readouterr().out
