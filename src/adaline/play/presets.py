"""Boards to begin with: the lectures' examples, and clouds that learners tell apart well or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaline.play.points import Points, made

_GATE = [[-1, -1], [1, -1], [-1, 1], [1, 1]]


def named(name: str) -> Points:
    """The points of a preset.

    >>> named("and").labels.tolist()
    ['A', 'A', 'A', 'B']
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}.")
    return PRESETS[name][1]()


def _clouds(seed: int, size: int, centres: list[list[float]], spread: float = 0.6) -> Points:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(centre, spread, (size, 2)) for centre in centres])
    return made(X.round(3), np.repeat(np.arange(len(centres)), size))


def _gaussians() -> Points:
    rng = np.random.default_rng(3)
    a = rng.multivariate_normal([-1.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], 80)
    b = rng.multivariate_normal([1.2, 0.4], [[1.0, -0.3], [-0.3, 0.7]], 80)
    return made(np.concatenate([a, b]).round(3), np.repeat([0, 1], 80))


def _outlier() -> Points:
    """Separable, but squared error gives the far point so much weight that it misses the line."""
    X = [[-1.2, 0.2], [-0.9, -0.6], [-1.1, 0.9], [-0.7, 0.3], [-1.4, -0.3]]
    X += [[0.6, 0.1], [0.9, -0.5], [0.7, 0.8], [0.4, 0.5], [14.0, -6.0]]
    return made(X, [0] * 5 + [1] * 5)


def _collinear() -> Points:
    """Almost on one line: the weight along it is well known, the other one hardly."""
    x = np.array([-2.0, -1.6, -1.1, -0.7, -0.2, 0.3, 0.7, 1.2, 1.5, 2.0])
    wave = np.array([0.02, -0.01, 0.015, -0.02, 0.01, -0.015, 0.02, -0.01, 0.005, -0.02])
    return made(np.column_stack([x, x + wave]).round(3), (x > 0).astype(int))


PRESETS: dict[str, tuple[str, Callable[[], Points]]] = {
    "and": ("AND", lambda: made(_GATE, [0, 0, 0, 1])),
    "or": ("OR", lambda: made(_GATE, [0, 1, 1, 1])),
    "xor": ("XOR", lambda: made(_GATE, [0, 1, 1, 0])),
    "four": (
        "The lectures' four points",
        lambda: made([[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, 0, 0]),
    ),
    "separable": ("Separable clouds", lambda: _clouds(1, 20, [[-1.4, -0.6], [1.4, 0.8]])),
    "gaussians": ("Overlapping Gaussians", _gaussians),
    "outlier": ("An outlier that breaks MSE", _outlier),
    "collinear": ("Nearly collinear", _collinear),
    "three": ("Three classes", lambda: _clouds(2, 15, [[-1.6, -1], [1.6, -1], [0, 1.8]], 0.55)),
    "empty": ("Empty", lambda: made([], [])),
}
