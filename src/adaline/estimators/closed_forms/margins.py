"""The margins b of Ya = b, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.estimators._base import check_finite
from adaline.parameters import ParameterError, numbers
from adaline.results import Array


def checked_margins(margins: Any, n: int) -> Array:
    """Positive and finite, one a sample; ones where none are given."""
    if margins is None:
        return np.ones(n)
    b = numbers("margins", margins, "positive numbers, one a sample")
    if b.shape != (n,):
        raise ParameterError(f"margins have shape {b.shape}; expected ({n},), one a sample.")
    check_finite(b[:, None], what="margins")
    if np.any(b <= 0):
        i = int(np.argmax(b <= 0))
        raise ParameterError(f"margins[{i}] is {b[i]}; margins must be positive.")
    return b
