"""The affine projection filter."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from adaline._jit.little import for_work
from adaline.filters._base import Filter
from adaline.filters._missing import Frozen
from adaline.filters._settings import Setting, absolute_and_relative, as_eps, below_two, whole
from adaline.filters._signals import Signal
from adaline.kernels.filters import affine as kernels
from adaline.kernels.filters.guards import FINE


class AffineProjection(Filter):
    """Affine projection: w(n+1) = w(n) + eta X (X^H X + eps I)^-1 conj(e), X the last `order` x(n).

    NLMS reduces the error at the current sample; affine projection reduces those at the last
    `order` samples together, and learns much faster on coloured references such as speech. Order 1
    is NLMS. Stable for 0 < eta < 2.

    Parameters
    ----------
    taps : int
    order : int, default=4
    eta : float, default=0.5
        Between 0 and 2.
    eps : float or "auto", default="auto"
        As in NLMS: "auto" is about a hundredth of the mean of x(n)^H x(n), and allows restarts.
    weights, dtype, on_nan, history
        As in LMS.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import AffineProjection
    >>> x = np.random.default_rng(0).standard_normal(2000).cumsum() / 10
    >>> f = AffineProjection(taps=3, order=2)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:2000])
    >>> f.weights.round(2) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    _repeated: ClassVar[int] = 5
    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "order", "eta", "eps", "weights", "dtype", "on_nan", "history",
    )  # fmt: skip

    order = Setting()
    eta = Setting()
    eps = Setting()

    def __init__(
        self,
        taps: int,
        order: int = 4,
        eta: float = 0.5,
        eps: Any = "auto",
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.order = whole(order, "order", 1)
        self.eta = below_two(eta, "affine projection")
        self.eps = as_eps(eps)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    def _numbers_of(self, channels: int) -> dict[str, int]:
        sizes = super()._numbers_of(channels)
        return sizes | {"order": self.order * (4 * self.order + channels * self.taps)}

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        kept = self.taps + self.order
        self._size = self._channels * (self.taps + kept)
        room = self._channels * (kept + kernels.SEGMENT)
        self._store = np.zeros(2 * self._size + room, self._dtype)
        self._numbers = for_work(kernels.head_size, 1)(self.order)
        self._head = np.zeros(2 * self._numbers, np.result_type(self._dtype, np.float64))
        eps, relative = absolute_and_relative(self.eps)
        # Weights and last rows for `process_rows`; a filter takes either rows or a signal.
        self._rows = np.zeros((self.order + 1, self._channels * self.taps), self._dtype)
        self._head[kernels.ORDER] = self.order
        self._head[kernels.RATE] = self.eta
        self._head[kernels.ROUNDING] = 100 * np.finfo(self._dtype).eps
        self._head[kernels.EPS] = eps
        self._head[kernels.RELATIVE] = relative

    def _memory(self) -> dict[str, Signal]:
        memory = {"store": self._store[: self._size], "head": self._head[: self._numbers]}
        return memory | {"rows": self._rows}

    def _adapt(self, on: bool) -> None:
        self._head[kernels.ADAPT] = on

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        if self._head[kernels.ROWS] == 1.0:
            raise ValueError("This filter has learned from rows; make a new one for a signal.")
        found: int = kernels.affine_block(x, d, frozen, self._store, self._head, out, self.taps)
        if found == FINE:
            self._head[kernels.ROWS] = -1.0
        return found

    def _advance_rows(self, U: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        if self._head[kernels.ROWS] == -1.0:
            raise ValueError("This filter has learned from a signal; make a new one for rows.")
        found: int = kernels.affine_rows(U, d, frozen, self._rows, self._head, out)
        if found == FINE:
            self._head[kernels.ROWS] = 1.0
        return found

    def _get_weights(self) -> Signal:
        assert self._channels is not None
        if self._head[kernels.ROWS] == 1.0:
            own: Signal = self._rows[0].reshape(-1, self.taps)
            return own.copy()
        W = np.empty((self._channels, self.taps), self._dtype)
        kernels.weights_now(self._store, self._head, W)
        return np.ascontiguousarray(W[:, ::-1])

    def _set_weights(self, W: Signal) -> None:
        self._store[: W.size] = W[:, ::-1].ravel()
        self._rows[0] = W.ravel()
        moving = kernels.NUMBERS + self.order
        # The errors at past samples are those of the old weights: forget them.
        self._head[moving : moving + 2 * self.order] = 0.0
        self._head[kernels.SET_NORM] = math.hypot(*np.abs(W).ravel().tolist())
