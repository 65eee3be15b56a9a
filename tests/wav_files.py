"""Sound files for tests, as bytes."""

from __future__ import annotations

import io
import wave

import numpy as np


def wav(samples: np.ndarray, rate: int = 8000) -> bytes:
    """16-bit PCM of samples (n,) or (n, channels), full scale being 1."""
    lines = np.asarray(samples).reshape(len(samples), -1)
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(lines.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(np.rint(np.clip(lines, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def tones(n: int = 4000, rate: int = 8000) -> np.ndarray:
    """A sound that is easy to know again."""
    t = np.arange(n) / rate
    return 0.3 * np.sin(2 * np.pi * 440 * t) + 0.1 * np.sin(2 * np.pi * 1234 * t)
