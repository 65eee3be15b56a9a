"""The result of a task, and the numbers that measure it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._signals import Signal, ratio_db, squares


@dataclass(frozen=True, eq=False)
class TaskResult:
    """The result of a task, and the filter to continue with.

    Attributes
    ----------
    signal : ndarray
        The result; the docstring of the task says which signal it is.
    filter : Filter
        As the last sample left it: `filter.process(x, d)` continues in real time.
    y, e : ndarray
        Output and error, e = d - y.
    measures : mapping of str to float
        Numbers over the second half of the samples, when the filter has converged.
    delay : int
        Samples by which `cancel_echo` delayed x before the filter: `filter.process(x[n - delay],
        d[n])` continues. 0 elsewhere.
    """

    signal: Signal
    filter: Filter
    y: Signal
    e: Signal
    measures: Mapping[str, float] = field(default_factory=dict)
    delay: int = 0

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        return f"{len(self.signal)} values by {self.filter!r}: {told}"


def power(signal: Signal) -> float:
    """Mean of |value|^2 over the second half."""
    return float(np.mean(squares(signal[len(signal) // 2 :])))


def gain(before: Signal, after: Signal) -> float:
    """The power of one signal over that of the other, in dB, over the second half."""
    half = len(before) // 2
    return ratio(before[half:], after[half:])


def ratio(before: Signal, after: Signal) -> float:
    """The same over all samples."""
    return float(ratio_db(squares(before).sum(), squares(after).sum()))


def nearest(alphabet: Signal, values: Signal) -> Signal:
    """For each value the symbol that is nearest."""
    return np.asarray(alphabet[np.argmin(np.abs(values[:, None] - alphabet), axis=1)])


def by_decisions(filter: Filter, x: Signal, start: int, alphabet: Signal) -> tuple[Signal, Signal]:
    """y and e from `start` on, where the symbol nearest to y is what is desired."""
    padded = np.concatenate([np.zeros((filter.taps, x.shape[1]), x.dtype), x])
    y, e = np.empty(len(x) - start, x.dtype), np.empty(len(x) - start, x.dtype)
    for n in range(start, len(x)):
        window = padded[n + 1 : n + 1 + filter.taps][::-1].T
        guess = np.vdot(filter.weights, window)
        y[n - start], e[n - start] = filter.step(x[n], nearest(alphabet, guess[None])[0])
    return y, e
