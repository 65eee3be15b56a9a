"""Functions of blocks that take their time, so that a test can kill who works on them.

In a file of its own, which the processes of a cluster can import.
"""

from __future__ import annotations

import time

import numpy as np

from adaline import Moments


def slow_moments(seed: int) -> Moments:
    """Moments of some rows, after a moment."""
    time.sleep(0.05)
    rng = np.random.default_rng(seed)
    return Moments.of(rng.standard_normal((200, 5)) + seed, rng.standard_normal(200))


def plain_moments(seed: int) -> Moments:
    """The same at once."""
    rng = np.random.default_rng(seed)
    return Moments.of(rng.standard_normal((200, 5)) + seed, rng.standard_normal(200))


def slow_sum(a: Moments, b: Moments) -> Moments:
    """Both together, after a moment."""
    time.sleep(0.03)
    return a + b


def bits(m: Moments) -> bytes:
    """All bits of moments."""
    return m.mean.tobytes() + m.scatter.tobytes() + m.rounding.tobytes()
