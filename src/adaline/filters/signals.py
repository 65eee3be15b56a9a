"""Signals as users give them, made ready for a filter: numbers, dtypes, shapes, missing samples.

Called by all modules of filters/: `as_samples` for blocks, which may hold NaN or be empty, and
`as_lines` for whole signals.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import refuse_beyond_memory
from adaline.parameters import NOT_NEGATIVE, number, refuse_masked, shown, words
from adaline.results import Array

Signal = NDArray[Any]
DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
STEP = number(0.0, 2.0, above=True, below=True)  # beyond it a normalised filter is unstable
EPS = words("auto") | NOT_NEGATIVE


def absolute_and_relative(eps: float | str) -> tuple[float, float]:
    """eps as a number, and as a share of the mean of x^H x: "auto" is a hundredth of it."""
    return (0.0, 0.01) if isinstance(eps, str) else (float(eps), 0.0)


def require_memory(sizes: dict[str, int], numbers: int) -> None:
    """Refuse sizes that need more memory than the machine has, before it is allocated."""
    named = " and ".join(f"{name} is {shown(value)}" for name, value in sizes.items())
    refuse_beyond_memory(8 * numbers, f"{named}; the memory for that", "Take less.")


def as_numbers(values: Any, name: str) -> Signal:
    """An array of real or complex numbers; text, objects and masked entries are refused."""
    refuse_masked(name, values)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has parts of different lengths; expected numbers.") from None
    if array.dtype == object:  # lists with None, or numbers of other libraries
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"{name} is {shown(values)}, of dtype {array.dtype}; expected real or complex numbers."
        )
    return array


def as_kind(dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """One of the four dtypes a filter works in."""
    with suppress(Exception):  # numpy refuses in many ways
        if dtype is not None:
            return DTYPES[DTYPES.index(np.dtype(dtype))]
    names = ", ".join(str(k) for k in DTYPES)
    raise ValueError(f"{name} is {shown(dtype)}; a filter works in one of {names}.")


def kind_of(*arrays: Signal) -> np.dtype[Any]:
    """The dtype these signals need: integers count as float64."""
    single = all(a.dtype in (np.float16, np.float32, np.complex64) for a in arrays)
    if any(a.dtype.kind == "c" for a in arrays):
        return np.dtype(np.complex64 if single else np.complex128)
    return np.dtype(np.float32 if single else np.float64)


def converted(x: Signal, kind: np.dtype[Any], name: str) -> Signal:
    """x in the filter's dtype, contiguous and writable, as kernels need it."""
    if x.dtype.kind == "c" and kind.kind != "c":
        raise TypeError(
            f"{name} is complex and this filter works in {kind}. Make a new filter with "
            "dtype='complex128'."
        )
    with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
        ready: Signal = np.require(x, kind, ["C", "A", "W"])
    return ready


def as_samples(values: Any, name: str, channels: int | None = None) -> Signal:
    """Numbers (samples, channels), of which there are so many channels; NaN may be among them."""
    signal = as_numbers(values, name)
    signal = signal[:, None] if signal.ndim == 1 else signal
    if signal.ndim != 2 or not signal.shape[1] or channels not in (None, signal.shape[1]):
        wanted = {None: "(samples,) or (samples, channels)", 1: "one signal (samples,)"}
        raise ValueError(
            f"{name} has shape {np.shape(values)}; expected "
            f"{wanted.get(channels, f'(samples, {channels}), as the weights are')}."
        )
    return signal


def as_weights(weights: Any, taps: int) -> Signal:
    """Finite weights (channels, taps), a copy."""
    W = np.atleast_2d(as_numbers(weights, "weights"))
    if W.ndim != 2 or not len(W) or W.shape[1] != taps or not np.isfinite(W).all():
        raise ValueError(
            f"weights have shape {np.shape(weights)}; expected finite numbers of shape "
            f"({taps},) or (channels, {taps})."
        )
    return np.array(W, dtype=kind_of(W))


def require_finite(signal: Signal, name: str, advice: str) -> None:
    """Raise ValueError about the first sample that is NaN or infinite, with advice."""
    with np.errstate(over="ignore"):  # parts of complex numbers may be finite, and their size not
        bad = ~np.isfinite(np.abs(signal))
    if bad.any():
        at = np.argwhere(bad)[0]
        place = int(at[0]) if signal.ndim == 1 or signal.shape[1] == 1 else tuple(at.tolist())
        raise ValueError(
            f"{name}[{place}] is {signal[tuple(at)]}, one of {int(bad.sum())} such; expected "
            f"finite samples. {advice}"
        )


def fill_gaps(
    x: Signal, d: Signal, hold: bool, taps: int, memory: dict[str, Signal]
) -> tuple[Signal, Signal, NDArray[np.bool_], NDArray[np.bool_] | None]:
    """x (n, channels) and d (n,) with missing samples replaced by the last good ones, or by 0.

    Also: where no filter may learn, and where e is NaN, as d is missing. "last_x", "last_d" and
    "gap", for how long a missing sample stays in the delay line, are updated in the memory.
    """
    bad_x, bad_d = ~np.isfinite(x), ~np.isfinite(d)
    gaps, at = np.asarray(bad_x.any(axis=1)), np.arange(len(d))
    if hold:
        x = hold_last(x, bad_x, memory["last_x"])
        d = hold_last(d[:, None], bad_d[:, None], memory["last_d"])[:, 0].copy()
        return x, d, gaps | bad_d, None
    last = np.maximum.accumulate(np.where(gaps, at, int(memory["gap"][0]) - taps))
    memory["gap"][0] = max(0, int(last[-1]) + taps - len(gaps))
    x, d = np.where(bad_x, 0, x).astype(x.dtype), np.where(bad_d, 0, d).astype(d.dtype)
    return x, d, (at - last < taps) | bad_d, bad_d


def hold_last(x: Signal, bad: NDArray[np.bool_], last: Signal) -> Signal:
    """x (n, c) with bad entries replaced by the last good one of their channel, kept in `last`."""
    padded = np.concatenate([last[None], x])  # row 0 is what came before
    place = np.where(bad, 0, np.arange(1, len(x) + 1)[:, None])
    held = np.take_along_axis(padded, np.maximum.accumulate(place, axis=0), axis=0)
    last[:] = held[-1]
    return np.asarray(held)


def as_lines(values: Any, name: str, channels: int | None = None) -> Signal:
    """One or many whole signals (N, C) of finite numbers, N > 0, in one of the four dtypes."""
    array = as_samples(values, name, channels)
    if not len(array):
        raise ValueError(f"{name} is empty; expected at least one sample.")
    array = array.astype(kind_of(array), copy=False)
    require_finite(array, name, "Repair or cut out these samples first.")
    return array


def as_line(values: Any, name: str) -> Signal:
    """A signal (N,) of finite numbers, N > 0; one column (N, 1) is taken as (N,)."""
    return as_lines(values, name, 1)[:, 0]


def as_pair(x: Any, x_name: str, d: Any, d_name: str) -> tuple[Signal, Signal]:
    """x (N, channels) and d (N,), finite and of equal length."""
    reference, desired = as_lines(x, x_name), as_line(d, d_name)
    require_same_length(reference, x_name, desired, d_name)
    return reference, desired


def require_same_length(a: Signal, a_name: str, b: Signal, b_name: str) -> None:
    """Raise ValueError if two signals differ in length."""
    if len(a) != len(b):
        raise ValueError(
            f"{a_name} has {len(a)} samples and {b_name} has {len(b)}; cut the longer one."
        )


def shifted(x: Signal, samples: int) -> Signal:
    """x that many samples later, or earlier where negative, with zeros, and as long as before."""
    require_memory({"delay": abs(samples)}, 4 * abs(samples))  # a typing error, more likely
    silence = np.zeros_like(x[: min(abs(samples), len(x))])
    if samples < 0:
        return np.concatenate([x[-samples:], silence])
    return np.concatenate([silence, x])[: len(x)]


def squares(signal: Signal) -> Array:
    """|value|^2 in double precision; what does not fit is infinite or zero."""
    with np.errstate(over="ignore", under="ignore"):
        real, imaginary = signal.real.astype(np.float64), signal.imag.astype(np.float64)
        return np.asarray(real**2 + imaginary**2)


def ratio_db(before: Any, after: Any = 1.0) -> Array:
    """10 log10(before/after): inf where nothing is left, -inf or NaN where nothing was."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(10.0 * np.log10(np.divide(before, after)))
