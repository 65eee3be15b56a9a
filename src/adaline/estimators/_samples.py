"""One sample at a time: what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np


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
