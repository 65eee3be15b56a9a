"""Recursive least squares with exponential forgetting."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from adaline.filters._base import Block, Filter, Frozen, Setting
from adaline.filters._checks import positive
from adaline.kernels import _rls as layout
from adaline.kernels import rls as kernels
from adaline.kernels import rls_memory as memory


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
        memory.inverse_now(self._store, self._head[kernels.GROWTH].real, P)
        return P

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        double = np.result_type(self._dtype, np.float64)
        self._m = m = layout.padded(self._channels * self.taps)
        self._written = np.zeros(
            m * m + 5 * m + self._channels * (self.taps + kernels.EXTRA), double
        )
        panels = layout.panels(m)
        self._P = aligned(2 * panels * m * layout.APART, double)
        self._V = aligned(2 * panels * layout.PANEL, double)
        # Loops over real numbers are compiled for complex signals too, and then left out.
        self._A, self._B = self._P, self._V
        if double.kind == "c":
            self._A = self._B = np.empty(0)
        self._ahead = self._behind = False
        self._head = np.zeros(2 * kernels.HEAD, double)
        self._head[kernels.FORGETTING] = self.forgetting
        self._head[kernels.DELTA] = 0.0 if self.delta == "auto" else self.delta
        self._head[kernels.GROWTH] = 1.0

    @property
    def _store(self) -> Block:
        """P, w, G and the past, written down: the kernel has its own copy, and may be ahead."""
        if self._ahead:
            memory.closed(self._written, self._P, self._V, self._m)
            self._ahead = False
        return self._written

    def _catch_up(self) -> None:
        """The kernel's copy, where the memory was written to from outside."""
        if self._behind:
            memory.opened(self._written, self._P, self._V, self._m)
            self._behind = False

    def _memory(self) -> dict[str, Block]:
        store = self._store
        self._behind = True  # the caller may write
        return {"store": store, "head": self._head[: kernels.HEAD]}

    def _adapt(self, on: bool) -> None:
        self._head[kernels.ADAPT] = on

    def _advance(self, x: Block, d: Block, frozen: Frozen, out: Block) -> int:
        return self._run(x, d, frozen, out, False)

    def _advance_rows(self, U: Block, d: Block, frozen: Frozen, out: Block) -> int:
        return self._run(U.reshape(-1), d, frozen, out, True)

    def _run(self, x: Block, d: Block, frozen: Frozen, out: Block, rows: bool) -> int:
        self._catch_up()
        room = self._written, self._head, self._P, self._V, self._A, self._B
        found: int = kernels.rls_block(x, d, frozen, *room, out, self.taps, self._channels, rows)
        self._ahead = True
        return found

    def _w(self) -> Block:
        """w where the kernel has it, a row a panel."""
        self._catch_up()
        panels = self._V.reshape(-1, layout.PANEL)
        return panels[: len(panels) // 2, : layout.COLUMNS]

    def _get_weights(self) -> Block:
        assert self._channels is not None
        w = self._w().reshape(-1)[: self._channels * self.taps]
        return w.reshape(-1, self.taps).astype(self._dtype)

    def _set_weights(self, W: Block) -> None:
        w = np.zeros(self._w().shape, self._V.dtype)
        w.reshape(-1)[: W.size] = W.ravel()
        self._w()[...] = w
        self._ahead = True
        self._head[kernels.SET_NORM] = math.hypot(*np.abs(W).ravel().tolist())


def aligned(n: int, kind: np.dtype[Any]) -> Block:
    """n zeros from a multiple of 64 bytes on, where cache lines and vector registers begin.

    >>> aligned(5, np.dtype(float)).ctypes.data % 64
    0
    """
    raw = np.zeros(n * kind.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * kind.itemsize].view(kind)
