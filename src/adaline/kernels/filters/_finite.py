"""Where a signal is no number."""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


@kernel
def first_bad(x):
    """Index of the first NaN or infinity, or the length."""
    for i in range(x.shape[0]):
        if not np.isfinite(x[i]):
            return i
    return x.shape[0]
