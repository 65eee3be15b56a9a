"""One sample at a time: its shape, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.parameters import ParameterError, numbers
from adaline.results import Array

_FLOAT64 = np.dtype(np.float64)


def check_sample(x: Any, y: Any = 0.0) -> None:
    """Raise ValueError that names the first NaN or infinity of one sample and its target."""
    for name, values in (("x", np.atleast_1d(x)), ("y", np.atleast_1d(y))):
        values = np.asarray(values, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            place = f" at column {bad[0]}" if name == "x" else ""
            raise ValueError(
                f"{name} has {values[bad[0]]}{place}; expected finite numbers. The model is "
                "unchanged; leave this sample out, or fill the value in."
            )


def one_sample(x: Any, shape: tuple[int]) -> Array:
    """A sample x (p,), contiguous float64; whether it is finite, the caller's sums tell."""
    if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == shape and x.strides == (8,):
        return x  # as nearly always: a call takes about a microsecond in all
    sample: Array = np.ascontiguousarray(numbers("x", x))
    if sample.shape != shape:
        raise ParameterError(f"x has shape {sample.shape}; expected {shape}, one sample.")
    return sample


def one_row(x: Any) -> Array:
    """A sample x (p,) as a block of one row."""
    sample = numbers("x", x)
    if sample.ndim != 1 or not sample.size:
        raise ParameterError(f"x has shape {sample.shape}; expected (p,), one sample.")
    check_sample(sample)
    return sample.reshape(1, -1)
