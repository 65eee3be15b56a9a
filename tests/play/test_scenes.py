"""Scenes: what a filter sees is made as the docstring says, and of a seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.filters import identify
from adaline.play.scenes import KINDS, recorded, scene

MADE = [kind for kind in KINDS if kind != "noise"]


@pytest.mark.parametrize("kind", MADE)
def test_a_scene_follows_from_its_seed(kind):
    first, again, other = scene(kind, seed=1), scene(kind, seed=1), scene(kind, seed=2)
    assert np.array_equal(first.d, again.d)
    assert np.array_equal(first.x, again.x)
    assert not np.array_equal(first.d, other.d)


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("change", [False, True])
def test_the_paths_carry_x_to_what_is_not_wanted(kind, change):
    s = scene(kind, change=change)
    half = len(s.d) // 2
    ends = [half, len(s.d)] if change else [len(s.d)]
    assert s.starts == ((0, half) if change else (0,))
    for h, start, end in zip(s.paths, s.starts, ends, strict=True):
        through = np.convolve(s.x, h)[: len(s.x)]
        assert np.allclose(through[start:end], (s.d - s.wanted)[start:end], atol=1e-12)


@pytest.mark.parametrize("level", [-20.0, 6.0])
def test_the_level_is_in_decibels_over_the_voice(level):
    s = scene("engine", level=level)
    noise, voice = np.mean((s.d - s.wanted) ** 2), np.mean(s.wanted**2)
    assert 10 * np.log10(noise / voice) == pytest.approx(level, abs=1e-9)


def test_the_level_of_a_system_is_that_of_its_own_noise():
    s = scene("system", level=-30.0)
    noise, output = np.mean(s.wanted**2), np.mean((s.d - s.wanted) ** 2)
    assert 10 * np.log10(noise / output) == pytest.approx(-30.0, abs=1e-9)


def test_colour_is_the_correlation_of_neighbours():
    x = scene("system", colour=0.9).x
    assert np.corrcoef(x[1:], x[:-1])[0, 1] == pytest.approx(0.9, abs=0.03)


def test_sounds_of_a_user_are_taken_as_they_are():
    sound = np.sin(0.1 * np.arange(3000))
    assert np.array_equal(scene("engine", voice=sound).wanted, sound)
    assert np.array_equal(scene("noise", noise=sound).x, sound)
    assert len(scene("noise", noise=sound, voice=sound[:1000]).d) == 1000
    assert recorded(sound, sound[::-1], 8000).wanted is None


def test_a_system_without_noise_is_found():
    s = scene("system", level=-100.0)
    assert np.abs(identify(s.x, s.d, taps=16).signal - s.paths[0]).max() < 1e-4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "street"}, "street"),
        ({"kind": "engine", "level": 1e9}, "level"),
        ({"kind": "engine", "level": float("nan")}, "level"),
        ({"kind": "system", "colour": 1.0}, "colour"),
        ({"kind": "noise"}, "noise"),
        ({"kind": "engine", "noise": [1.0]}, "noise"),
        ({"kind": "engine", "voice": []}, "one channel"),
        ({"kind": "engine", "voice": [[1.0, 2.0]]}, "one channel"),
    ],
)
def test_what_no_scene_has_is_refused_with_a_sentence(given, words):
    with pytest.raises(ValueError, match=words):
        scene(**given)
