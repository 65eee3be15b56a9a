"""Whole signals, as the tasks, the measures and the Wiener filter take them: finite, not empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.filters._signals import Signal, as_numbers, kind_of
from adaline.results import Array


def numbers(values: Any, name: str) -> Signal:
    """An array of float32, float64, complex64 or complex128; integers become float64."""
    array = as_numbers(values, name)
    return array.astype(kind_of(array), copy=False)


def line(values: Any, name: str) -> Signal:
    """A signal (N,) of finite numbers, N > 0; one column (N, 1) is taken as (N,)."""
    array = numbers(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one signal of shape (N,).")
    return _finite(array, name)


def lines(values: Any, name: str) -> Signal:
    """One or many signals (N, C) of finite numbers, N > 0."""
    array = numbers(values, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(
            f"{name} has shape {array.shape}; expected (N,), or (N, channels) for many."
        )
    return _finite(array, name)


def _finite(array: Signal, name: str) -> Signal:
    if not len(array):
        raise ValueError(f"{name} has no samples; expected at least one.")
    bad = ~np.isfinite(array)
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), array.shape)
        raise ValueError(
            f"{name} is {array[where]} at sample {int(where[0])} ({int(bad.sum())} such in all). "
            "Repair or cut out these samples first."
        )
    return array


def same_length(a: Signal, a_name: str, b: Signal, b_name: str) -> None:
    """Refuse two signals of different lengths."""
    if len(a) != len(b):
        raise ValueError(
            f"{a_name} has {len(a)} samples and {b_name} has {len(b)}; they run side by side "
            "and need equal lengths. Cut the longer one."
        )


def squares(signal: Signal) -> Array:
    """|value|^2 in double precision; what does not fit is infinite or zero."""
    with np.errstate(over="ignore", under="ignore"):
        real, imaginary = signal.real.astype(np.float64), signal.imag.astype(np.float64)
        return np.asarray(real**2 + imaginary**2)


def decibels(power: Any) -> Array:
    """10 log10(power), -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(power))


def ratio_db(before: Any, after: Any) -> Array:
    """10 log10(before/after): inf where nothing is left, NaN where nothing was."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return decibels(np.divide(before, after))
