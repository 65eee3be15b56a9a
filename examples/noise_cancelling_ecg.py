"""A heart under mains hum: two ways to take the hum away, and what each does to the heart.

    python examples/noise_cancelling_ecg.py [seconds]

The electrocardiogram is made here, beat by beat, as a sum of bumps (P, Q, R, S, T) whose distance
varies like a breathing person's. The hum, 50 Hz with two harmonics, is four times as strong as the
heart, wanders a little in frequency and swells in strength, so that no fixed notch stays on it.

1. `cancel`: a second electrode, on the mains cable's side, picks up the hum with another phase and
   no heart. A filter makes it fit and subtracts it; what is left is the heart.
2. `enhance_line`: without a second electrode, what stays predictable over more than a beat's
   features is the hum; the rest is the heart, somewhat blurred.
"""

from __future__ import annotations

import sys

import numpy as np

from adaline.filters import NLMS, cancel, enhance_line, learning_curve

RATE = 500  # samples a second
# Where in a beat of one second, how wide, and how high (millivolt) each bump is.
BUMPS = {
    "P": (0.20, 0.025, 0.15),
    "Q": (0.335, 0.010, -0.12),
    "R": (0.36, 0.011, 1.10),
    "S": (0.385, 0.010, -0.25),
    "T": (0.60, 0.045, 0.30),
}


def heart(seconds: float, rng: np.random.Generator) -> np.ndarray:
    """An electrocardiogram in millivolt."""
    t = np.arange(int(seconds * RATE)) / RATE
    ecg, start = np.zeros_like(t), 0.0
    while start < seconds:
        length = 0.85 + 0.05 * np.sin(2 * np.pi * 0.25 * start) + 0.02 * rng.standard_normal()
        for place, width, height in BUMPS.values():
            ecg += height * np.exp(-0.5 * ((t - start - place) / width) ** 2)
        start += length
    return ecg


def mains(seconds: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The hum in the heart's lead, and in a second electrode: other phases, other strengths."""
    n = int(seconds * RATE)
    wander = np.cumsum(rng.standard_normal(n)) * 2e-3  # of the phase
    phase = 2 * np.pi * 50.0 * np.arange(n) / RATE + wander
    swell = 1.0 + 0.3 * np.sin(2 * np.pi * np.arange(n) / RATE / 7.0)
    lead, electrode = np.zeros(n), np.zeros(n)
    for harmonic, strength in ((1, 1.0), (3, 0.3), (4, 0.1)):
        lead += strength * np.sin(harmonic * phase + harmonic)
        electrode += 2.0 * strength * np.sin(harmonic * phase)
    return swell * lead, swell * electrode + 0.01 * rng.standard_normal(n)


def decibels(noise: np.ndarray, heart_only: np.ndarray) -> float:
    """Power of the heart over that of what does not belong to it, in the second half."""
    half = len(noise) // 2
    return float(10 * np.log10(np.var(heart_only[half:]) / np.mean(noise[half:] ** 2)))


def main(seconds: float = 60.0) -> dict[str, float]:
    rng = np.random.default_rng(0)
    clean = heart(seconds, rng)
    hum, electrode = mains(seconds, rng)
    lead = clean + hum + 0.01 * rng.standard_normal(len(clean))

    # A heart beat is an error that teaches nothing, so steps are small; and the hum may start from
    # zero, so eps says what is quiet: 1 mV^2, where 32 taps of hum have about 70.
    cancelled = cancel(lead, electrode, filter=NLMS(taps=32, eta=0.02, eps=1.0))
    # Half a second's delay: longer than a beat's features, so that only the hum is predicted.
    level = lead - lead.mean()
    enhanced = enhance_line(level, delay=RATE // 2, filter=NLMS(taps=100, eta=0.01, eps=1.0))
    found = {
        "before": decibels(lead - clean, clean),
        "with a second electrode": decibels(cancelled.signal - clean, clean),
        "without": decibels(enhanced.e - (clean - lead.mean()), clean),
    }
    print("heart over disturbance, second half of the record:")
    for words, number in found.items():
        print(f"  {words:24} {number:6.1f} dB")
    curve = learning_curve(cancelled.e - clean, window=RATE, db=True)
    print("disturbance left after 1, 5 and 20 seconds (dB over 1 mV^2):")
    print("  ", *(f"{curve[min(s * RATE, len(curve)) - 1]:.1f}" for s in (1, 5, 20)))
    print(cancelled)
    return found


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
