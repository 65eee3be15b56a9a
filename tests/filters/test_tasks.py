"""The tasks by name: the right signal goes in the right way round, and filters go on."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import adaline.filters
from adaline import LMS, NLMS, RLS, BlockLMS, WienerFilter
from adaline.filters import (
    TaskResult,
    cancel,
    cancel_echo,
    enhance_line,
    equalise,
    erle,
    identify,
    max_step,
    misalignment,
    noise_reduction,
    predict,
    theory,
)
from adaline.play import scene

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


def test_two_inputs_are_identified_together(rng):
    x = rng.normal(size=(3000, 2))
    h = rng.normal(size=(2, 3))
    found = identify(x, echo(x[:, 0], h[0]) + echo(x[:, 1], h[1]), 3)
    assert found.signal.shape == (2, 3)
    assert misalignment(found.signal, h) < -60


def test_noise_is_cancelled_and_the_signal_stays(noise):
    signal = np.sin(0.05 * np.arange(6000))
    primary = signal + echo(noise, [0.0, 1.0, -0.7, 0.2])
    found = cancel(primary, noise, taps=8)
    assert found.signal is found.e
    # RLS with 8 taps and a memory of 1000: misadjustment 8/2000 of the signal's power 1/2.
    assert np.mean((found.signal - signal)[3000:] ** 2) < 5 * 0.5 * 8 / 2000
    assert found.measures["removed_db"] == pytest.approx(
        erle(primary[3000:], found.signal[3000:]), abs=1e-12
    )


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


def test_decisions_follow_a_channel_that_drifts(rng):
    sent = rng.choice([-1.0, 1.0], 6000)
    drift = np.linspace(0.0, 0.8, 6000)
    received = sent + drift * np.concatenate([[0.0], sent[:-1]]) * np.cos(drift * 4)
    fixed = equalise(received, sent[:300], taps=8, delay=0)
    quick = RLS(8, forgetting=0.98)
    followed = equalise(received, sent[:300], delay=0, alphabet=[-1.0, 1.0], filter=quick)
    wrong = [np.mean(np.abs(f.signal - sent)[4000:] ** 2) for f in (fixed, followed)]
    best = WienerFilter.from_signals(received[4000:], sent[4000:], 8)
    assert wrong[1] < best.error < wrong[0]  # no fixed filter is as good


def test_complex_symbols_are_equalised(rng):
    alphabet = np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j])
    sent = rng.choice(alphabet, 3000)
    received = echo(sent, [1.0, 0.4j, -0.2])
    found = equalise(received, sent[:500], taps=12, delay=0, alphabet=alphabet)
    nearest = alphabet[np.argmin(np.abs(found.signal[:, None] - alphabet), axis=1)]
    assert (nearest[500:] == sent[500:]).all()


@pytest.mark.parametrize("taps", [200, 2048])
def test_an_echo_is_cancelled(rng, taps):
    # With eta = 1/2 the error falls as exp(-0.75 n / taps): 48 dB at the half for 2048 taps.
    # BlockLMS divides by the larger of two powers, some 1.4 times as much: 37 dB.
    far = rng.normal(size=60_000)
    microphone = echo(far, rng.normal(size=150) * 0.95 ** np.arange(150))
    found = cancel_echo(microphone, far, taps)
    assert found.signal is found.e
    assert found.measures["erle_db"] > (40 if taps == 200 else 33)
    assert type(found.filter) is BlockLMS


@pytest.mark.parametrize(
    "make",
    [
        lambda: LMS(4, eta=0.05),
        lambda: NLMS(4),
        lambda: RLS(4),
        lambda: BlockLMS(4, 4),
        lambda: WienerFilter([1.0, 0.5, 0.0, 0.0]),
    ],
    ids=["LMS", "NLMS", "RLS", "BlockLMS", "WienerFilter"],
)
def test_any_filter_is_accepted_and_keeps_its_state(noise, make):
    h = [1.0, 0.5]
    given = make()
    found = identify(noise, echo(noise, h), filter=given)
    assert found.filter is given
    assert given.samples == 6000
    assert misalignment(found.signal, h) < -30
    assert len(predict(noise, filter=make()).signal) == 6001
    assert len(cancel(noise, noise, filter=make()).signal) == 6000


def test_a_result_is_frozen(noise):
    found = identify(noise, noise, 2)
    assert isinstance(found, TaskResult)
    with pytest.raises(AttributeError):
        found.signal = None


def test_every_result_is_short_in_a_notebook(rng, noise):
    fixed = WienerFilter.from_signals(noise, noise, 200)
    results = [
        identify(noise, noise, 100),
        cancel(noise, rng.normal(size=6000), 4),
        cancel(noise, noise, filter=fixed),
        noise_reduction(noise, noise, noise, 4),
        theory(noise, 100, 0.001),
        max_step(noise, 4),
        scene("tone"),
    ]
    for result in results:
        assert len(repr(result)) < 500
        assert repr(result).count("\n") < 5
        if result is not results[-1]:
            page = result._repr_html_()
            assert page.startswith("<")
            assert page.count("<") < 100
    assert "removed_db" in results[1]._repr_html_()


TASKS = {
    "identify": lambda a, b: identify(a, b, 2),
    "cancel": lambda a, b: cancel(b, a),
    "cancel_echo": lambda a, b: cancel_echo(b, a, 4),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_bad_signals_are_told_with_the_names_of_the_task(task):
    good = np.ones(5)
    with pytest.raises(ValueError, match=r"has 5 samples and \w+ has 4"):
        task(good, good[:4])
    with pytest.raises(ValueError, match="is nan"):
        task(good, np.array([0, np.nan, 0, 0, 0]))
    with pytest.raises(ValueError, match="at least one sample"):
        task(good[:0], good[:0])
    with pytest.raises(ValueError, match="expected one signal"):
        task(good, np.ones((5, 2)))
    with pytest.raises(TypeError, match="numbers"):
        task(["a"], ["b"])


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("kind", [np.int16, np.float32, np.float64])
def test_kinds_of_numbers_columns_silence_and_constants_pass(task, kind):
    out = np.float32 if kind is np.float32 else np.float64
    for x in (np.zeros(50, kind), np.full(50, 7, kind)):
        found = task(x, x[:, None])
        assert np.isfinite(found.e).all()
        assert np.abs(found.e).max() <= np.abs(x).max()  # no worse than without a filter
        assert found.e.dtype == out


def test_silence_has_no_gain_to_tell():
    assert np.isnan(predict(np.zeros(20)).measures["gain_db"])
    assert np.isnan(enhance_line(np.zeros(20)).measures["line_share"])
    assert identify(np.zeros(20), np.zeros(20), 2).measures["error_power"] == 0.0


def test_other_bad_arguments_are_told_in_a_sentence(noise):
    with pytest.raises(ValueError, match="taps is missing"):
        identify(noise, noise)
    with pytest.raises(ValueError, match="taps is 3 and the filter has 4"):
        identify(noise, noise, 3, filter=NLMS(4))
    with pytest.raises(TypeError, match="expected a filter object"):
        cancel(noise, noise, filter="NLMS")
    for bad in (0, -1, 1.5):
        with pytest.raises(ValueError, match="ahead"):
            predict(noise, bad)
        with pytest.raises(ValueError, match="delay"):
            enhance_line(noise, bad)
        with pytest.raises(ValueError, match="taps"):
            cancel(noise, noise, taps=bad)
    with pytest.raises(ValueError, match="training has 10 symbols and received has 12 samples"):
        equalise(np.ones(12), np.ones(10), taps=8)
    with pytest.raises(TypeError, match="complex"):
        identify(noise, 1j * noise, filter=NLMS(4, dtype="float64"))


def test_short_signals_are_fine():
    assert len(predict([1.0], ahead=3).signal) == 4
    assert len(enhance_line([1.0, 2.0], delay=5).signal) == 2
    assert identify([1.0], [2.0], 1).signal.shape == (1,)


@pytest.mark.parametrize("name", adaline.filters.__all__)
def test_every_name_of_adaline_filters_resolves(name):
    assert getattr(adaline.filters, name).__name__ == name
    assert set(adaline.filters.__all__) == set(adaline.filters._HOME) == set(dir(adaline.filters))


def test_the_electrocardiogram_comes_out_of_the_hum(capsys):
    found = spec_from_file_location("ecg", EXAMPLE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    decibels = module.main(20.0)
    assert decibels["with a second electrode"] > decibels["before"] + 15
    assert decibels["without"] > decibels["before"] + 10
    assert "removed_db" in capsys.readouterr().out


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Kalman"):
        adaline.filters.Kalman  # noqa: B018


def test_cancelling_does_not_begin_with_a_burst(rng):
    n = np.arange(5000)
    noise, tone = rng.standard_normal(5000), 2 * np.sin(0.06 * n)
    heard = np.convolve(noise, rng.standard_normal(32) * 0.8 ** np.arange(32))[:5000]
    left = cancel(tone + heard, noise, taps=32).signal - tone
    assert np.abs(left).max() < 2 * np.abs(heard).max()
    assert np.mean(left**2) < 0.2 * np.mean(heard**2)
