"""Signals as users give them, made ready for a filter: numbers, dtypes, shapes, missing samples.

Called by all modules of filters/: blocks of a signal for `Filter.process`, and whole signals,
finite and not empty, for tasks, measures and the Wiener filter.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import refuse_beyond_memory
from adaline.parameters import NOT_NEGATIVE, Expected, is_number, refuse_masked, shown, words
from adaline.results import Array

Signal = NDArray[Any]
DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
STEP = Expected(
    "a number",
    lambda value: is_number(value) and 0 < float(value) < 2,
    says="the filter is stable for 0 < eta < 2",
)
EPS = words("auto") | NOT_NEGATIVE


def absolute_and_relative(eps: float | str) -> tuple[float, float]:
    """eps as a number, and as a share of the mean of x^H x: "auto" is a hundredth of it.

    >>> absolute_and_relative(0.1), absolute_and_relative("auto")
    ((0.1, 0.0), (0.0, 0.01))
    """
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
    """The dtype these signals need: integers count as float64.

    >>> kind_of(np.zeros(3, np.int16)), kind_of(np.zeros(2, np.float32))
    (dtype('float64'), dtype('float32'))
    """
    single = all(a.dtype in (np.float16, np.float32, np.complex64) for a in arrays)
    if any(a.dtype.kind == "c" for a in arrays):
        return np.dtype(np.complex64 if single else np.complex128)
    return np.dtype(np.float32 if single else np.float64)


def converted(x: Signal, kind: np.dtype[Any], name: str) -> Signal:
    """x in the filter's dtype, contiguous and writable, as kernels need it."""
    if x.dtype.kind == "c" and kind.kind != "c":
        raise TypeError(
            f"{name} is complex and this filter works in {kind}. Make a new filter, which takes "
            f"its kind of numbers from the first block, or one with dtype='complex128'."
        )
    with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
        ready: Signal = np.require(x, kind, ["C", "A", "W"])
    return ready


def as_channels(x: Any, channels: int | None) -> Signal:
    """x as (samples, channels), of which the filter has had so many so far, or None."""
    signal = as_numbers(x, "x")
    if signal.ndim not in (1, 2) or signal.shape[1:] == (0,):
        raise ValueError(
            f"x has shape {signal.shape}; expected (samples,) or (samples, channels). "
            "Pass one sample with step()."
        )
    signal = signal[:, None] if signal.ndim == 1 else signal
    if channels is not None and signal.shape[1] != channels:
        raise ValueError(
            f"x has {signal.shape[1]} channels (shape {signal.shape}); this filter has {channels} "
            "since its weights were made. For rows that are no delay line use process_rows()."
        )
    return signal


def as_desired(d: Any, n: int, name: str = "x") -> Signal:
    """d as (n,); one column is a signal too."""
    signal = as_numbers(d, "d")
    if signal.ndim == 2 and signal.shape[1] == 1:
        signal = signal[:, 0]
    if signal.ndim != 1:
        advice = " Samples go down the rows: transpose it, and x alike."
        advice *= signal.shape[:1] == (1,)
        raise ValueError(f"d has shape {signal.shape}; expected one signal ({n},).{advice}")
    if len(signal) != n:
        raise ValueError(
            f"{name} has {n} samples and d has {len(signal)}; they belong together one by one."
        )
    return signal


def as_rows(U: Any, taps: int, channels: int | None) -> Signal:
    """Rows (n, channels * taps), of which the filter has so many channels, or None."""
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


def as_sample(x: Any, d: Any) -> tuple[Signal, Signal]:
    """One sample of x, a number for each channel, and a number d, as blocks of one."""
    sample, desired = as_numbers(x, "x"), as_numbers(d, "d")
    if sample.size == 0 or desired.size != 1 or sample.ndim > 2:
        raise ValueError(
            f"x has shape {np.shape(x)} and d has shape {desired.shape}; step() takes one "
            "sample: a number for each channel of x, and a number d."
        )
    return sample.reshape(1, -1), desired.reshape(1)


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
    if np.isfinite(np.vdot(signal, signal)):  # cheap; not finite for large samples, either
        return
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
        d = hold_last(d[:, None], bad_d[:, None], memory["last_d"])[:, 0]
        memory["last_x"][:], memory["last_d"][:] = x[-1], d[-1]
        return x, np.ascontiguousarray(d), gaps | bad_d, None
    last = np.maximum.accumulate(np.where(gaps, at, int(memory["gap"][0]) - taps))
    memory["gap"][0] = max(0, int(last[-1]) + taps - len(gaps))
    x, d = np.where(bad_x, 0, x).astype(x.dtype), np.where(bad_d, 0, d).astype(d.dtype)
    return x, d, (at - last < taps) | bad_d, bad_d


def hold_last(x: Signal, bad: NDArray[np.bool_], last: Signal) -> Signal:
    """x (n, c) with bad entries replaced by the last good one of their channel.

    >>> hold_last(np.array([[1.0], [np.nan]]), np.array([[False], [True]]), np.array([0.0])).T
    array([[1., 1.]])
    """
    padded = np.concatenate([last[None], x])  # row 0 is what came before
    place = np.where(bad, 0, np.arange(1, len(x) + 1)[:, None])
    return np.asarray(np.take_along_axis(padded, np.maximum.accumulate(place, axis=0), axis=0))


def as_line(values: Any, name: str) -> Signal:
    """A signal (N,) of finite numbers, N > 0; one column (N, 1) is taken as (N,)."""
    array = as_lines(values, name)
    if array.shape[1] != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one signal of shape (N,).")
    return array[:, 0]


def as_lines(values: Any, name: str) -> Signal:
    """One or many signals (N, C) of finite numbers, N > 0, in one of the four dtypes."""
    array = as_numbers(values, name)
    array = array.astype(kind_of(array), copy=False)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size:
        raise ValueError(
            f"{name} has shape {array.shape}; expected one signal of shape (N,), or (N, channels), "
            "with at least one sample."
        )
    require_finite(array, name, "Repair or cut out these samples first.")
    return array


def as_pair(x: Any, x_name: str, d: Any, d_name: str) -> tuple[Signal, Signal]:
    """x (N, channels) and d (N,), finite and of equal length."""
    reference, desired = as_lines(x, x_name), as_line(d, d_name)
    require_same_length(reference, x_name, desired, d_name)
    return reference, desired


def require_same_length(a: Signal, a_name: str, b: Signal, b_name: str) -> None:
    """Refuse two signals of different lengths."""
    if len(a) != len(b):
        raise ValueError(
            f"{a_name} has {len(a)} samples and {b_name} has {len(b)}; they run side by side "
            "and need equal lengths. Cut the longer one."
        )


def shifted(x: Signal, samples: int) -> Signal:
    """x that many samples later, or earlier where negative, with zeros, and as long as before.

    >>> shifted(np.array([1, 2, 3]), 1), shifted(np.array([1, 2, 3]), -9)
    (array([0, 1, 2]), array([0, 0, 0]))
    """
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
