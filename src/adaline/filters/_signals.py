"""Signals as they come from users, made ready for a filter: arrays, shapes and kinds of numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.filters._checks import shown

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
        raise ValueError(f"d has shape {signal.shape}; expected one signal of shape ({n},).")
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


def held(x: Signal, bad: NDArray[np.bool_], last: Signal) -> Signal:
    """x (n, c) with bad entries replaced by the last good one of their channel.

    >>> held(np.array([[1.0], [np.nan]]), np.array([[False], [True]]), np.array([0.0])).T
    array([[1., 1.]])
    """
    place = np.where(bad, -1, np.arange(len(x))[:, None])
    place = np.maximum.accumulate(place, axis=0)
    filled = np.take_along_axis(x, np.maximum(place, 0), axis=0)
    return np.where(place < 0, last, filled)
