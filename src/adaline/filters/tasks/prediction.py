"""Predict a signal from its own past, and keep what can be predicted: its periodic part."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._settings import fits, whole
from adaline.filters._signals import line
from adaline.filters.tasks.filters import given_or_usual, usual_taps
from adaline.filters.tasks.results import TaskResult, gain, power


def predict(
    x: Any, ahead: int = 1, taps: int | None = None, filter: Filter | None = None
) -> TaskResult:
    """Predict a signal from its own past, `ahead` samples before they come.

    Parameters
    ----------
    x : array-like of shape (N,)
    ahead : int, default=1
    taps : int, optional
        16 where no filter is given.
    filter : Filter, optional
        RLS up to 64 taps, else NLMS.

    Returns
    -------
    TaskResult
        `signal` has N + ahead values: signal[n] predicts x[n] from samples up to n - ahead. The
        weights it is made with have learned from samples up to n - 1, or all N for the last
        `ahead` values, which tell of samples that have not come. `gain_db`: the power of x over
        that of the prediction's error. The filter continues with `process(x[n - ahead], x[n])`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import predict
    >>> x = np.sin(0.2 * np.arange(1000))
    >>> future = predict(x, ahead=5, taps=4).signal[-5:]
    >>> bool(np.abs(future - np.sin(0.2 * np.arange(1000, 1005))).max() < 1e-3)
    True
    """
    signal, ahead = line(x, "x"), whole(ahead, "ahead", 1)
    fits("ahead", ahead, 4 * ahead)
    chosen = given_or_usual(filter, usual_taps(taps, filter, 16), 1, eta=0.5)
    past = np.concatenate([np.zeros(ahead, signal.dtype), signal])
    y, e = chosen.process(past[: len(signal)], signal)
    twin = type(chosen).from_state(chosen.state())
    twin.adapting = False
    to_come, _ = twin.process(past[len(signal) :])
    told = np.concatenate([y, to_come])
    return TaskResult(told, chosen, y, e, {"gain_db": gain(signal, e)})


def enhance_line(
    x: Any, delay: int = 1, taps: int | None = None, filter: Filter | None = None
) -> TaskResult:
    """Adaptive line enhancer: keep the part of x that samples `delay` or more ago predict.

    Periodic parts stay correlated with their past. Noise does not, if the delay is longer than its
    correlation; for white noise a delay of 1 is enough.

    Parameters
    ----------
    x : array-like of shape (N,)
    delay : int, default=1
    taps : int, optional
        64 where no filter is given; more separate closer lines.
    filter : Filter, optional
        RLS up to 64 taps, else NLMS with a small step.

    Returns
    -------
    TaskResult
        `signal` is y, the periodic part; e is the rest. `line_share`: power of y over that of x.
        The filter continues with `process(x[n - delay], x[n])`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import enhance_line
    >>> tone = np.sin(0.4 * np.arange(5000))
    >>> noisy = tone + np.random.default_rng(0).standard_normal(5000)
    >>> y = enhance_line(noisy, delay=1, taps=64).signal
    >>> bool(np.mean((y - tone)[2500:] ** 2) < 0.1)
    True
    """
    signal, delay = line(x, "x"), whole(delay, "delay", 1)
    fits("delay", delay, 4 * delay)
    chosen = given_or_usual(filter, usual_taps(taps, filter, 64), 1, eta=0.02)
    past = np.concatenate([np.zeros(delay, signal.dtype), signal])[: len(signal)]
    y, e = chosen.process(past, signal)
    all_of_it = power(signal)
    share = power(y) / all_of_it if all_of_it else np.nan
    return TaskResult(y, chosen, y, e, {"line_share": share})
