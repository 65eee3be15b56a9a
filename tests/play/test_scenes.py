"""Scenes: what a filter sees is made as the docstring says, and of a seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.play.scenes import SECONDS, scene

MADE = list(SECONDS)


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


def test_colour_is_the_correlation_of_neighbours():
    x = scene("system", colour=0.9).x
    assert np.corrcoef(x[1:], x[:-1])[0, 1] == pytest.approx(0.9, abs=0.03)


def test_what_no_scene_has_is_refused_with_a_sentence():
    for given in ({"kind": "street"}, {"level": float("nan")}, {"colour": 1.0}):
        with pytest.raises(ValueError, match=next(iter(given))):
            scene(**({"kind": "system"} | given))
