"""Recursive least squares with exponential forgetting."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from adaline.filters._base import Block, Filter, Frozen, Setting
from adaline.filters._checks import positive
from adaline.kernels import rls as kernels


class RLS(Filter):
    """Recursive least squares: after every sample, w minimises

        sum_i forgetting^(n-i) |d(i) - w^H x(i)|^2 + delta forgetting^(n+1) |w|^2.

    Learns in about two times `taps` samples on any reference, coloured or not, at the price of
    taps^2 operations a sample. The inverse P of the sum of x x^H stays symmetric to the last bit,
    is bounded where the reference is silent, and is kept in double precision for float32 signals.

    Parameters
    ----------
    taps : int
    forgetting : float, default=0.999
        The factor lambda, 0 < lambda <= 1; samples count for about 1/(1 - lambda) samples. 1
        forgets nothing. In silence nothing is forgotten either.
    delta : float or "auto", default="auto"
        The regularisation at the start, P = I/delta. "auto" is a hundredth of the power of the
        first sample that is not silent.
    weights, dtype, on_nan, history
        As in LMS. The weights that are given are where the filter starts, not where delta pulls to.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import RLS
    >>> x = np.random.default_rng(0).standard_normal(100)
    >>> f = RLS(taps=3)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:100])
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    _repeated: ClassVar[int] = 3
    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "forgetting", "delta", "weights", "dtype", "on_nan", "history",
    )  # fmt: skip

    forgetting = Setting()
    delta = Setting()

    def __init__(
        self,
        taps: int,
        forgetting: float = 0.999,
        delta: Any = "auto",
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.forgetting = positive("forgetting", forgetting)
        if self.forgetting > 1:
            raise ValueError(f"forgetting is {forgetting!r}; expected a factor of at most 1.")
        automatic = isinstance(delta, str) and delta == "auto"
        self.delta = delta if automatic else positive("delta", delta)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    @property
    def inverse(self) -> Block:
        """P now, a copy: the inverse of the forgetting sum of x x^H, (m, m) with m all weights."""
        if self._dtype is None:
            raise ValueError("P is known after the first block.")
        real = self.taps * (self._channels or 1)
        P = np.empty((real, real), self._head.dtype)
        kernels.inverse_now(self._store, self._head, P)
        return P

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        double = np.result_type(self._dtype, np.float64)
        self._m = m = kernels.padded(self._channels * self.taps)
        self._size = m * m + 5 * m + self._channels * (self.taps + kernels.EXTRA)
        self._store = np.zeros(2 * self._size + 12 * m, double)
        self._head = np.zeros(2 * kernels.HEAD, double)
        self._head[kernels.FORGETTING] = self.forgetting
        self._head[kernels.DELTA] = 0.0 if self.delta == "auto" else self.delta
        self._head[kernels.GROWTH] = 1.0

    def _memory(self) -> dict[str, Block]:
        return {"store": self._store[: self._size], "head": self._head[: kernels.HEAD]}

    def _adapt(self, on: bool) -> None:
        self._head[kernels.ADAPT] = on

    def _advance(self, x: Block, d: Block, frozen: Frozen, out: Block) -> int:
        return self._run(x, d, frozen, out, False)

    def _advance_rows(self, U: Block, d: Block, frozen: Frozen, out: Block) -> int:
        return self._run(U.reshape(-1), d, frozen, out, True)

    def _run(self, x: Block, d: Block, frozen: Frozen, out: Block, rows: bool) -> int:
        found: int = kernels.rls_block(
            x, d, frozen, self._store, self._head, out, self.taps, self._channels, rows
        )
        return found

    def _get_weights(self) -> Block:
        assert self._channels is not None
        start = self._m * self._m
        w = self._store[start : start + self._channels * self.taps]
        return w.reshape(-1, self.taps).astype(self._dtype)

    def _set_weights(self, W: Block) -> None:
        start = self._m * self._m
        self._store[start : start + W.size] = W.ravel()
        self._head[kernels.SET_NORM] = math.hypot(*np.abs(W).ravel().tolist())
