"""`adaline warm-up`: compile the kernels of learners and filters, so that nobody waits later."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
from scipy import sparse

import adaline
from adaline.cli.options import Common
from adaline.cli.printing import Answer


def warm_up(*, common: Common = Common()) -> int:
    """Compile the loops of learners and filters now, for containers and class rooms.

    The machine code is cached in NUMBA_CACHE_DIR, or else next to the sources of adaline or in your
    cache folder.
    """
    X, x = np.random.default_rng(0).standard_normal((2000, 5)), np.arange(3000.0) % 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (getattr(adaline, name) for name in adaline.__all__):
            for rows in (X, sparse.csr_array(X)) if hasattr(kind, "fit") else ():
                with suppress(TypeError, ValueError):  # not every learner takes such rows
                    kind().fit(rows, 1 + (X[:, 0] > 0))
            for signal in (x, x + 1j * x) if hasattr(kind, "_example") else ():
                with suppress(TypeError, ValueError):  # or complex signals
                    kind(**kind._example).process(signal, signal)
    answer = Answer("warm-up", common)
    answer.verdict("Ready: the compiled code is cached.")
    return answer.finish()
