"""Block LMS in the frequency domain, for long filters: echoes, rooms, loudspeakers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._missing import Frozen
from adaline.filters._partitions import Partitions
from adaline.filters._settings import (
    Setting,
    absolute_and_relative,
    as_eps,
    below_two,
    fits,
    shown,
    whole,
)
from adaline.filters._signals import Signal
from adaline.kernels.filters import frequency
from adaline.kernels.filters.guards import BLOWN, DIVERGED, FINE, not_finite


class BlockLMS(Filter):
    """Partitioned block LMS by FFT: W + eta conj(X) E / power, bin by bin, once a block.

    The filter is cut into partitions of `block` taps. Filtering and the gradient are products of
    spectra (overlap-save), and the gradient is constrained to the length of a partition. Each bin
    is divided by its own power, so the filter learns coloured signals about as fast as white ones.
    With the default block it takes less time than NLMS from about 2048 taps on. Shorter blocks cost
    more: with a block of 256 it has 0.74 of the speed of NLMS at 2048 taps and 1.33 at 8192
    (docs/benchmarks.md).

    `process` takes any number of samples and returns y and e of these samples, without delay:
    within a block it filters the first partition in the time domain. The weights change when a
    block is complete. However the signal is cut, the weights have the same bits, and y and e agree
    to rounding (relative 1e-12 in double precision). Multiples of `block` are the fastest.

    The filter restarts from zero weights after a block in which y has a hundred times the energy of
    d: weights learned from a nearly silent x fit noise.

    Parameters
    ----------
    taps : int
    block : int, optional
        Samples between two changes of the weights, best a power of two. If not given, `latency`
        decides, or else the power of two next to taps/4, within 64 and 4096.
    latency : int, optional
        How many samples `process` gets in a call, as in an audio callback: block is the largest
        power of two that is not above it. Give block or latency, not both.
    eta : float, default=0.5
        Between 0 and 2. An update reduces the error of its own block to about 1 - eta/2, if x
        excites all bins: half of the 2 block points of a spectrum carry no error. For white x the
        error falls, in decibels, about half as fast as with NLMS and the same eta.
    eps : float or "auto", default="auto"
        As in NLMS, added to x(n)^H x(n). "auto" is a hundredth of the level of x(n)^H x(n). This
        level has a half-life of some 16,000 samples, so that the weights hardly change while x is
        quiet. eps is distributed over the bins in proportion to the power of x in recent blocks, so
        that the weak bins of a coloured x learn as fast as the strong ones.
    weights, dtype, on_nan, history
        As in LMS.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import BlockLMS
    >>> rng = np.random.default_rng(0)
    >>> h, x = rng.standard_normal(1000), rng.standard_normal(50_000)
    >>> f = BlockLMS(taps=1000, latency=256)
    >>> y, e = f.process(x, np.convolve(x, h)[:50_000])
    >>> f.block, bool(np.abs(f.weights - h).max() < 1e-3)
    (256, True)
    """

    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "block", "eta", "eps", "weights", "dtype", "on_nan", "history",
    )  # fmt: skip

    block = Setting()
    eta = Setting()
    eps = Setting()

    def __init__(
        self,
        taps: int,
        block: int | None = None,
        latency: int | None = None,
        eta: float = 0.5,
        eps: Any = "auto",
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        if block is not None and latency is not None:
            raise ValueError(
                f"block is {shown(block)} and latency is {shown(latency)}; give one of them, the "
                "other follows."
            )
        taps = whole(taps, "taps", 1)
        self.block = good_block(taps, latency) if block is None else whole(block, "block", 1)
        if block is None and latency is not None:
            fits("latency", latency, 16 * self.block)
        self.eta = below_two(eta, "BlockLMS")
        self.eps = as_eps(eps)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    @property
    def latency(self) -> int:
        """Delay of the output in samples: always 0. The parameter of this name chooses `block`."""
        return 0

    def _numbers_of(self, channels: int) -> dict[str, int]:
        return super()._numbers_of(channels) | {"block": 16 * channels * self.block}

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        self._parts = Partitions(self.taps, self._channels, self.block, self._dtype)
        # Loudest x and d so far, and the gain of weights that were set.
        self._scale = np.zeros(3)

    def _memory(self) -> dict[str, Signal]:
        self._parts.forget_begun()  # the caller may write to these arrays
        memory = {name: getattr(self._parts, name) for name in Partitions.KEPT}
        return memory | {"scale": self._scale}

    def _resume(self, rest: dict[str, Any]) -> None:
        super()._resume(rest)
        if "kind" not in rest:
            return
        filled, place = self._parts.filled[0], self._parts.place[0]
        if not (0 <= filled < self.block and 0 <= place < -(-self.taps // self.block)):
            raise ValueError("state has a memory that points outside of itself.")

    def _get_weights(self) -> Signal:
        return self._parts.h.conj()

    def _set_weights(self, W: Signal) -> None:
        self._parts.h = W.conj()
        self._scale[2] = float(np.abs(W).sum())

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        loud_x, loud_d = frequency.peak(x), frequency.peak(d)
        channels = self._parts.channels
        if not np.isfinite(max(loud_x, loud_d)):
            return not_finite(x, d) or DIVERGED  # finite parts of a complex number may overflow
        before, scale = self._parts.snapshot(len(d)), self._scale.copy()
        self._scale[0], self._scale[1] = max(scale[0], loud_x), max(scale[1], loud_d)
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._through(x.reshape(-1, channels), d, frozen, out[0])
            np.subtract(d, out[0], out=out[1])
        if found != FINE:
            self._parts.restore(before)
            self._scale[:] = scale
        return found

    def _through(self, x: Signal, d: Signal, frozen: Frozen, y: Signal) -> int:
        """Filter and adapt piece by piece; a piece ends with the samples or with a block."""
        parts, at = self._parts, 0
        loud_x, loud_d, gain = self._scale.tolist()
        most = BLOWN * (loud_d + gain * loud_x)
        eps, relative = absolute_and_relative(self.eps)
        while at < len(d):
            m = min(self.block - int(parts.filled[0]), len(d) - at)
            piece = slice(at, at + m)
            learns = 1.0 - frozen[piece] if len(frozen) else 1.0
            complete = parts.take(x[piece], d[piece], learns)
            found = None if m == self.block else parts.output(m)
            if found is not None and not frequency.peak(found) <= most:
                return 8 * at + DIVERGED
            if complete:
                whole_block = parts.finish(self.eta, eps, relative, most)
                if whole_block is None:
                    return 8 * at + DIVERGED
                found = whole_block if found is None else found
            y[piece] = found
            at += m
        return FINE


def good_block(taps: int, latency: int | None) -> int:
    """The largest power of two within the latency, or without one, next to taps/4.

    >>> good_block(2048, None), good_block(2048, 300), good_block(10, None)
    (512, 256, 64)
    """
    if latency is None:
        return int(2 ** np.clip(np.round(np.log2(taps / 4)), 6, 12))
    return 1 << (whole(latency, "latency", 1).bit_length() - 1)
