"""Block LMS in the frequency domain, for long filters: echoes, rooms, loudspeakers.

B block, P = ceil(taps/B) partitions, C channels, F frequencies of 2 B points
spectra (P, C, F) of the last P blocks of x, the latest first     W (P, C, F) of the weights
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import fft

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.signals import (
    EPS,
    STEP,
    Signal,
    absolute_and_relative,
    squares,
)
from adaline.parameters import NONE, count

MAX_GROWTH = 4.0  # of a level in a block, so that one click does not stop learning


class Level(NamedTuple):
    """What the guards remember."""

    power: float = 0.0  # of x^H x, which falls by half in 2^14 samples at most
    usual: float = 0.0  # energy of a block of d
    x_peak: float = 0.0  # the largest |x|
    d_peak: float = 0.0
    gain: float = 0.0  # sum of the sizes of weights that the user set


@dataclass(eq=False, repr=False)
class BlockLMS(Filter):
    """Partitioned block LMS by FFT: W + eta conj(X) E / power, bin by bin, once a block.

    The filter is cut into partitions of `block` taps. Filtering and the gradient are products of
    spectra (overlap-save), and the gradient is constrained to the length of a partition. Each bin
    is divided by its own power, so the filter learns coloured signals about as fast as white ones.
    With the default block it takes less time than NLMS from about 3000 taps on. Shorter blocks cost
    more: with a block of 256 it has half the speed of NLMS at 2048 taps, and 1.6 of it at 8192.

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
        Samples between two changes of the weights, best a power of two, and not above the number
        of samples of a call. If not given, the power of two next to taps/4, from 64 to 4096.
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
    >>> f = BlockLMS(taps=1000, block=256)
    >>> y, e = f.process(x, np.convolve(x, h)[:50_000])
    >>> bool(np.abs(f.weights - h).max() < 1e-3)
    True
    """

    block: int | None = None
    eta: float = 0.5
    eps: float | str = "auto"

    _parameters: ClassVar = {"block": NONE | count(), "eta": STEP, "eps": EPS}
    _numbers: ClassVar = Level
    _segment: ClassVar = 2**62  # a whole block at a time, if the call has one

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        if self.block is None:
            usual = 2 ** np.clip(np.round(np.log2(self.taps / 4)), 6, 12)
            vars(self)["block"] = int(usual)
        super().__post_init__(weights, dtype, history)

    def reset(self) -> BlockLMS:
        """As of every filter."""
        self._begun: tuple[Signal, Signal] | None = None
        return super().reset()

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        B, P, C = self.block or 1, -(-self.taps // (self.block or 1)), channels
        F = B + 1 if kind.kind == "f" else 2 * B
        spectra, real = np.result_type(kind, np.complex64), np.zeros(0, kind).real.dtype
        return {
            "W": (spectra, (P, C, F)),
            "spectra": (spectra, (P, C, F)),
            "smoothed": (real, (F,)),  # power of each bin, averaged over blocks
            "x": (kind, (C, 2 * B)),  # the block before, and this one so far
            "d": (kind, (B,)),
            "learns": (np.bool_, (B,)),
            "past": (kind, (C, 0)),
        }

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        memory, B, n = self._memory, self.block or 1, 0
        x_peak = max(self._level.x_peak, float(np.abs(line).max()))
        d_peak = max(self._level.d_peak, float(np.abs(d).max()))
        self._level = self._level._replace(x_peak=x_peak, d_peak=d_peak)
        limit = 1e8 * (d_peak + self._level.gain * x_peak)  # a |y| above is divergence
        while n < len(d):
            start = (self._count + n) % B
            stop = min(B, start + len(d) - n)
            part = slice(n, n + stop - start)
            memory["x"][:, B + start : B + stop] = line[:, part]
            memory["d"][start:stop], memory["learns"][start:stop] = d[part], learns[part]
            with np.errstate(over="ignore", invalid="ignore"):
                if stop - start < B:
                    y[part] = self._part_of_block(start, stop)
                block = self._finish_block() if stop == B else None
                if block is not None and start == 0:
                    y[part] = block
                output = y[part] if block is None else block
                if not np.abs(output).max() <= limit or not np.isfinite(memory["W"].sum()):
                    return n
            n = part.stop
        return n

    def _to_spectra(self, lines: Signal) -> Signal:
        real = self._memory["x"].dtype.kind == "f"
        return np.asarray(fft.rfft(lines) if real else fft.fft(lines))

    def _to_lines(self, spectra: Signal) -> Signal:
        real = self._memory["x"].dtype.kind == "f"
        return np.asarray(fft.irfft(spectra) if real else fft.ifft(spectra))

    def _part_of_block(self, start: int, stop: int) -> Signal:
        """y of samples start, ..., stop - 1 of an incomplete block.

        The first partition filters in the time domain; what the others add depends on earlier
        blocks only.
        """
        B, memory = self.block or 1, self._memory
        if self._begun is None:
            late = np.einsum("pcf,pcf->f", memory["W"][1:], memory["spectra"][:-1])
            self._begun = self._to_lines(memory["W"][0])[:, :B], self._to_lines(late)[B:]
        first, late = self._begun
        y = late[start:stop].copy()
        for x, h in zip(memory["x"][:, start + 1 : B + stop], first, strict=True):
            y += np.convolve(x, h, "valid")
        return y

    def _finish_block(self) -> Signal:
        """y of the complete block, by spectra; then update the weights and begin the next block."""
        B, memory, level, self._begun = self.block or 1, self._memory, self._level, None
        W, spectra, d, learns = (memory[name] for name in ("W", "spectra", "d", "learns"))
        spectra[1:] = spectra[:-1].copy()
        spectra[0] = self._to_spectra(memory["x"])
        latest, smoothed = len(W) * sum_squares(spectra[:1]), memory["smoothed"]
        smoothed[:] = 0.9 * smoothed + 0.1 * latest
        power = np.maximum(sum_squares(spectra), smoothed)
        lines = self._to_lines(np.stack([np.einsum("pcf,pcf->f", W, spectra), power]))
        y = lines[0, B:].copy()
        now, before = float(latest.mean()), level.power
        faded = before * 2.0 ** (-B / 2**14)
        x_level = max(min(now, MAX_GROWTH * before) if before else now, faded)
        energy, usual = float(squares(d).sum()), level.usual
        # The weights fit noise if y has a hundred times the energy of d, unless d pauses.
        too_loud = float(squares(y).sum()) > 100.0 * energy >= 10.0 * usual
        usual = usual + (min(energy, MAX_GROWTH * usual) - usual) / 16.0 if usual else energy
        self._level = level._replace(power=x_level, usual=usual)
        if too_loud and learns.all():
            W[:] = 0.0
        elif learns.any():
            # The error is zero for half of the 2 B points. This window leaks each bin into its
            # neighbours, so the power of a weak bin gets what leaks from strong ones.
            lines[1] *= 1.0 - np.minimum(np.arange(2 * B), np.arange(2 * B, 0, -1)) / B
            lines[0, :B], lines[0, B:] = 0.0, np.where(learns, d - y, 0)
            E, leaked = self._to_spectra(lines)
            self._learn(E, np.maximum(power, leaked.real), x_level, float(smoothed.mean()))
        memory["x"][:, :B] = memory["x"][:, B:]
        return y

    def _learn(self, E: Signal, power: Signal, x_level: float, mean: float) -> None:
        """W + eta conj(X) E / power, constrained to responses of the length of a partition."""
        B, W = self.block or 1, self._memory["W"]
        eps, relative = absolute_and_relative(self.eps)
        # eps in proportion to the recent power of each bin, and a hundredth in every bin, for those
        # in which x has no power.
        share = relative * x_level / mean if mean > 0.0 else 0.0
        floor = 2.0 * eps + 0.01 * relative * x_level
        below = power + floor + share * self._memory["smoothed"]
        E *= np.divide(self.eta, below, out=np.zeros_like(below), where=below > 0.0)
        g = self._to_lines(np.conj(self._memory["spectra"]) * E)
        g[:, :, B:] = 0.0
        g[-1, :, self.taps - (len(g) - 1) * B :] = 0.0  # the last partition may be shorter
        W += self._to_spectra(g)

    def _get_weights(self) -> Signal:
        parts = self._to_lines(self._memory["W"])[:, :, : self.block]
        h = parts.transpose(1, 0, 2).reshape(parts.shape[1], -1)[:, : self.taps]
        return np.array(h.conj(), order="C")

    def _set_weights(self, W: Signal) -> None:
        P, C, _ = self._memory["W"].shape
        h = np.pad(W.conj(), [(0, 0), (0, P * (self.block or 1) - self.taps)])
        parts = h.reshape(C, P, -1).transpose(1, 0, 2)
        self._memory["W"][:] = self._to_spectra(np.concatenate([parts, 0 * parts], axis=2))
        self._level = self._level._replace(gain=float(np.abs(W).sum()))
        self._begun = None


def sum_squares(spectra: Signal) -> Signal:
    """The power of each bin, summed over partitions and channels."""
    parts = spectra.real, spectra.imag
    return np.asarray(sum(np.einsum("pcf,pcf->f", part, part) for part in parts))
