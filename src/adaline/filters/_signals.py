"""Signals as users give them, made ready for a filter: numbers, kinds and shapes.

First blocks of a signal, as `Filter.process` takes them; then whole signals, finite and not empty,
as the tasks, the measures and the Wiener filter take them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.filters._settings import shown
from adaline.results import Array

Signal = NDArray[Any]
KINDS = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))


def as_numbers(x: Any, name: str) -> Signal:
    """x as an array of numbers; text, objects and masked entries are refused.

    >>> as_numbers([1, 2], "x")
    array([1, 2])
    """
    if np.ma.isMaskedArray(x) and np.ma.getmaskarray(x).any():
        raise ValueError(
            f"{name} has masked samples; a filter needs a number at every instant. "
            "Fill them with NaN and choose on_nan='hold' or on_nan='skip'."
        )
    try:
        array = np.asarray(x)
    except ValueError:  # lists of different lengths
        raise ValueError(
            f"{name} has parts of different lengths; expected numbers in a line, or in rows of "
            "equal length."
        ) from None
    if array.dtype == object:  # lists with None, or numbers of other libraries
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"{name} is {shown(x)}, of dtype {array.dtype}; expected real or complex numbers."
        )
    return array


def as_kind(dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """One of the four kinds of numbers a filter works in.

    >>> as_kind("float32")
    dtype('float32')
    """
    names = ", ".join(str(k) for k in KINDS)
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except Exception:  # numpy refuses in many ways
        raise ValueError(
            f"{name} is {shown(dtype)}, which is no dtype; a filter works in one of {names}."
        ) from None
    if dtype is None or kind not in KINDS:
        raise ValueError(f"{name} is {shown(dtype)}; a filter works in one of {names}.")
    return kind


def kind_of(*arrays: Signal) -> np.dtype[Any]:
    """The kind of numbers these signals ask for: integers count as float64.

    >>> kind_of(np.zeros(3, np.int16)), kind_of(np.zeros(2, np.float32))
    (dtype('float64'), dtype('float32'))
    """
    double = any(a.dtype.kind in "biu" or a.dtype.itemsize > 4 * (1 + (a.dtype.kind == "c"))
                 for a in arrays)  # fmt: skip
    if any(a.dtype.kind == "c" for a in arrays):
        return np.dtype(np.complex128 if double else np.complex64)
    return np.dtype(np.float64 if double else np.float32)


def as_channels(x: Signal, channels: int | None) -> Signal:
    """x as (samples, channels); channels is what the filter has had so far, if anything.

    >>> as_channels(np.zeros(5), None).shape
    (5, 1)
    """
    if x.ndim not in (1, 2):
        raise ValueError(
            f"x has shape {x.shape}; expected (samples,) or (samples, channels). "
            "Pass one sample with step()."
        )
    x = x[:, None] if x.ndim == 1 else x
    if x.shape[1] == 0:
        raise ValueError(f"x has shape {x.shape}: no channel.")
    if channels is not None and x.shape[1] != channels:
        raise ValueError(
            f"x has {x.shape[1]} channels (shape {x.shape}); this filter has {channels} since its "
            "weights were made. For rows that are no delay line use process_rows()."
        )
    return x


def as_desired(d: Any, n: int, name: str = "x") -> Signal:
    """d as (n,); one column is a signal too.

    >>> as_desired([[1.0], [2.0]], 2)
    array([1., 2.])
    """
    signal = as_numbers(d, "d")
    if signal.ndim == 2 and signal.shape[1] == 1:
        signal = signal[:, 0]
    if signal.ndim != 1:
        advice = " Samples go down the rows: transpose it, and x alike."
        raise ValueError(
            f"d has shape {signal.shape}; expected one signal of shape ({n},)."
            f"{advice if signal.shape[:1] == (1,) else ''}"
        )
    if len(signal) != n:
        raise ValueError(
            f"{name} has {n} samples and d has {len(signal)}; they belong together one by one."
        )
    return signal


def converted(x: Signal, kind: np.dtype[Any], name: str) -> Signal:
    """x in the filter's kind of numbers, contiguous and writable, as the kernels want it."""
    if x.dtype.kind == "c" and kind.kind != "c":
        raise TypeError(
            f"{name} is complex and this filter works in {kind}. Make a new filter, which takes "
            f"its kind of numbers from the first block, or one with dtype='complex128'."
        )
    with np.errstate(over="ignore"):  # what does not fit is infinite, and told as such
        ready: Signal = np.require(x, kind, ["C", "A", "W"])
    return ready


def as_weights(weights: Any, taps: int) -> Signal:
    """Finite weights (channels, taps), a copy."""
    W = np.atleast_2d(as_numbers(weights, "weights"))
    if W.ndim != 2 or not len(W) or W.shape[1] != taps or not np.isfinite(W).all():
        raise ValueError(
            f"weights have shape {np.shape(weights)}; expected finite numbers of shape "
            f"({taps},) or (channels, {taps})."
        )
    return np.array(W, dtype=kind_of(W))


def as_sample(x: Any, d: Any) -> tuple[Signal, Signal]:
    """One sample of x, a number for each channel, and a number d, as blocks of one."""
    sample, desired = as_numbers(x, "x"), as_numbers(d, "d")
    # A vector for one channel: `process` takes it without further checks.
    sample = sample.reshape(1) if sample.size == 1 else np.atleast_1d(sample)[None, :]
    if sample.size == 0 or desired.size != 1 or sample.ndim > 2:
        raise ValueError(
            f"x has shape {np.shape(x)} and d has shape {desired.shape}; step() takes one "
            "sample: a number for each channel of x, and a number d."
        )
    return sample, desired.reshape(1)


def as_rows(U: Any, taps: int, channels: int | None) -> Signal:
    """Rows (n, channels * taps); channels is the number that the filter has, if it has one."""
    rows = as_numbers(U, "U")
    if rows.ndim != 2 or rows.shape[1] % taps or rows.shape[1] == 0:
        raise ValueError(
            f"U has shape {rows.shape}; expected rows of {taps} taps (times the channels)."
        )
    if channels not in (None, rows.shape[1] // taps):
        raise ValueError(
            f"U has rows of {rows.shape[1]}; this filter has {channels} channels of {taps} taps."
        )
    return rows


def aligned(n: int, kind: np.dtype[Any]) -> Signal:
    """n zeros from a multiple of 64 bytes on, where cache lines and vector registers begin.

    >>> aligned(5, np.dtype(float)).__array_interface__["data"][0] % 64
    0
    """
    raw = np.zeros(n * kind.itemsize + 64, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    return raw[start : start + n * kind.itemsize].view(kind)


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
