"""Filters for tests: several of each kind; a new filter is among them by its `_example`.

A maker takes further settings by keyword.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import adaline
from adaline import (
    LMS,
    NLMS,
    RLS,
    AffineProjection,
    BlockLMS,
    FilteredXLMS,
    OverK,
    SearchThenConverge,
    WienerFilter,
)
from adaline.filters import FILTERS

TAPS = 5
W0 = np.array([0.5, -0.2, 0.1, 0.0, 0.3])
MAKERS = {
    "LMS": lambda **s: LMS(TAPS, **s),
    "LMS, constant": lambda **s: LMS(TAPS, 0.02, **s),
    "LMS, leak": lambda **s: LMS(TAPS, SearchThenConverge(0.02, 20.0), 0.1, **s),
    "LMS, sign of error": lambda **s: LMS(TAPS, OverK(0.1), sign="error", **s),
    "LMS, sign of data": lambda **s: LMS(TAPS, 0.002, sign="data", **s),
    "NLMS": lambda **s: NLMS(TAPS, **s),
    "NLMS, weights": lambda **s: NLMS(TAPS, 1.0, 0.1, weights=W0, **s),
    "AffineProjection": lambda **s: AffineProjection(TAPS, 3, **s),
    "RLS": lambda **s: RLS(TAPS, 0.98, **s),
    "RLS, loud": lambda **s: RLS(TAPS, 1.0, 1e-12, **s),
    "BlockLMS": lambda **s: BlockLMS(TAPS, 2, **s),
    "BlockLMS, one block": lambda **s: BlockLMS(TAPS, 8, eps=0.1, weights=W0, **s),
    "BlockLMS, many samples": lambda **s: BlockLMS(TAPS, 64, **s),
    "FilteredXLMS": lambda **s: FilteredXLMS(TAPS, [0.0, 0.7, 0.2], **s),
    "FilteredXLMS, estimate": lambda **s: FilteredXLMS(TAPS, [0.7], [0.5, 0.1], 0.1, **s),
    "WienerFilter": lambda **s: WienerFilter(W0, **s),
}

for name in FILTERS:
    if name not in MAKERS:
        kind = getattr(adaline, name)
        MAKERS[name] = partial(kind, **kind._example)
