"""Echo cancelling: double talk does no harm, the bulk delay is found, changes are followed."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import BlockLMS
from adaline.filters import cancel_echo
from sound_scenes import RATE, decibels, room, speech, through

N, TAPS = 8 * RATE, 256
FAR, NEAR = speech(N, 0), speech(N, 5)
TALK = slice(4 * RATE, 6 * RATE)  # when the near end talks
FLOOR = 3e-3 * np.random.default_rng(9).standard_normal(N)


def scene(delay=0, talk=True, paths=1, floor=1.0):
    """The echo, and what else the microphone hears."""
    rooms = [np.concatenate([np.zeros(delay), room(TAPS, k)]) for k in range(paths)]
    near = floor * FLOOR
    if talk:
        near[TALK] += NEAR[TALK]
    return through(FAR, *rooms), near


def removed(echo, near, found, part):
    """Echo over what is left of it, or was added, while the near end may talk."""
    return decibels(echo[part], (found.signal - near)[part])


@pytest.mark.parametrize("floor", [0.3, 1.0, 10.0])
def test_double_talk_does_no_harm(floor):
    echo, near = scene(floor=floor)
    found = cancel_echo(echo + near, FAR, TAPS)
    assert type(found.filter) is BlockLMS
    parts = [slice(2 * RATE, 4 * RATE), TALK, slice(6 * RATE, None)]
    least = 12 if floor > 1 else 20
    for part in parts:
        assert removed(echo, near, found, part) > least
    _, e = BlockLMS(TAPS).process(FAR, echo + near)  # a filter alone follows the near end
    assert removed(echo, near, found, TALK) > decibels(echo[TALK], (e - near)[TALK])


def test_no_second_of_this_scene_gets_noisier():
    echo, near = scene(floor=10.0)
    found = cancel_echo(echo + near, FAR, TAPS)
    second = [slice(k, k + RATE) for k in range(0, N, RATE)]
    assert min(removed(echo, near, found, part) for part in second) > 0
    unrelated = cancel_echo(NEAR, FAR, TAPS)
    assert np.sum((unrelated.signal - NEAR) ** 2) < 0.1 * np.sum(NEAR**2)


def test_a_path_that_changes_is_learned_again():
    echo, near = scene(talk=False, paths=2)
    found = cancel_echo(echo + near, FAR, TAPS)
    assert removed(echo, near, found, slice(3 * RATE, 4 * RATE)) > 20
    assert removed(echo, near, found, slice(7 * RATE, 8 * RATE)) > 20


@pytest.mark.parametrize("delay", [0, 100, 700, 2000, 5000])
def test_the_bulk_delay_is_found(delay):
    echo, near = scene(delay)
    found = cancel_echo(echo + near, FAR, TAPS)
    assert max(0, delay - 32 - TAPS // 8) <= found.delay <= delay
    assert removed(echo, near, found, slice(6 * RATE, None)) > 15
    assert len(found.signal) == N


def test_a_delay_may_be_given():
    echo, near = scene(700, talk=False)
    found = cancel_echo(echo + near, FAR, TAPS, delay=690)
    assert found.delay == 690
    assert cancel_echo(echo + near, FAR, TAPS, delay=0).measures["erle_db"] < 10
