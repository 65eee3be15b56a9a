"""The engine of BlockLMS: a filter cut into partitions, each a block long, kept as spectra.

h (C, taps) impulse responses: y(n) = sum_c sum_k h_c(k) x_c(n - k)    B block    P partitions
W (P, C, F) their spectra, 2 B points each    ring (2 P, C, F) spectra of the last P blocks of x

The ring is written twice, P rows apart, so that the last P blocks always lie in one piece.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from adaline.kernels.filters import frequency

Signal = NDArray[Any]

SMOOTHING = 0.9  # of a bin's power, from block to block
HALF_LIFE = 2.0**14  # samples in which the level that a passage is called quiet by halves
JUMP = 4.0  # how much that level may grow in a block: one click does not stop learning
WORSE = 100.0  # an output of so many times the energy of d is worse than none
EVERYWHERE = 0.01  # the part of eps="auto" that is the same in every bin
QUIET = 0.1  # unless d is below this share of its usual energy: then x may belong to a pause of d


class Partitions:
    """Overlap-save filtering and the constrained, power-normalised block gradient.

    Weights change at the end of a block only, so that y depends on no sample to come: samples of
    a block that is not complete are filtered at once, the first partition in the time domain
    and the others by spectra that are known when the block begins.
    """

    KEPT = ("W", "ring", "place", "smoothed", "level", "usual", "x", "d", "learns", "filled")

    def __init__(self, taps: int, channels: int, block: int, dtype: np.dtype[Any]):
        self.taps, self.channels, self.block = taps, channels, block
        self.count = -(-taps // block)
        self.real = dtype.kind == "f"
        bins = block + 1 if self.real else 2 * block
        spectra = np.result_type(dtype, np.complex64)
        power = np.empty(0, dtype).real.dtype
        P, C, B = self.count, channels, block
        self.W = np.zeros((P, C, bins), spectra)
        self.ring = np.zeros((2 * P, C, bins), spectra)
        self.place = np.zeros(1, np.int64)  # of the latest block in the ring
        self.smoothed = np.zeros(bins, power)
        self.level = np.zeros(1)
        self.usual = np.zeros(1)  # energy of a block of d
        self.x = np.zeros((C, 2 * B), dtype)  # the block before, and this one as far as it came
        self.d = np.zeros(B, dtype)
        self.learns = np.zeros(B, power)  # 1 where a sample of this block may change the weights
        self.filled = np.zeros(1, np.int64)
        self._begun: tuple[Signal, Signal] | None = None
        self._pair, self._power = np.empty((2, bins), spectra), np.empty(bins, power)
        self._G = np.empty((P * C, bins), spectra)
        self._rows, self._flat = self.ring.reshape(-1, bins), self.W.reshape(-1, bins)
        self._two = np.zeros((2, 2 * B), dtype)
        lag = np.minimum(np.arange(2 * B), np.arange(2 * B, 0, -1))
        self._taper = (1.0 - lag / B).astype(power)

    def _spectrum(self, lines: Signal) -> Signal:
        return np.asarray(fft.rfft(lines) if self.real else fft.fft(lines))

    def _lines(self, spectra: Signal) -> Signal:
        return np.asarray(fft.irfft(spectra) if self.real else fft.ifft(spectra))

    @property
    def h(self) -> Signal:
        """Impulse responses (C, taps)."""
        parts = self._lines(self.W)[:, :, : self.block]
        whole = parts.transpose(1, 0, 2).reshape(self.channels, -1)
        return np.ascontiguousarray(whole[:, : self.taps])

    @h.setter
    def h(self, values: Signal) -> None:
        whole = np.zeros((self.channels, self.count * self.block), self.x.dtype)
        whole[:, : self.taps] = values
        parts = whole.reshape(self.channels, self.count, self.block).transpose(1, 0, 2)
        padded = np.zeros((self.count, self.channels, 2 * self.block), self.x.dtype)
        padded[:, :, : self.block] = parts
        self.W[:] = self._spectrum(padded)
        self.forget_begun()

    def forget_begun(self) -> None:
        """To be called where the memory was written to from outside."""
        self._begun = None

    def take(self, x: Signal, d: Signal, learns: Signal | float) -> bool:
        """The next samples, x (m, C), of this block; whether it is complete."""
        start = int(self.filled[0])
        stop = start + len(d)
        self.x[:, self.block + start : self.block + stop] = x.T
        self.d[start:stop] = d
        self.learns[start:stop] = learns
        self.filled[0] = stop
        return stop == self.block

    def output(self, m: int) -> Signal:
        """y of the m latest samples, before their block is finished."""
        head, late = self._begin()
        stop = int(self.filled[0])
        y = late[stop - m : stop].copy()
        for x, h in zip(self.x[:, stop - m + 1 : self.block + stop], head, strict=True):
            y += np.convolve(x, h, "valid")
        return y

    def _begin(self) -> tuple[Signal, Signal]:
        """h of the first partition (C, B), and what the others give to this block's samples (B,):
        they see blocks that are over."""
        if self._begun is None:
            head = self._lines(self.W[0])[:, : self.block]
            i = int(self.place[0])
            late = (self.W[1:] * self.ring[i : i + self.count - 1]).sum(axis=(0, 1))
            self._begun = head, self._lines(late)[self.block :]
        return self._begun

    def finish(self, eta: float, eps: float, relative: float, most: float) -> Signal | None:
        """y of the complete block by spectra alone, then the block and the weights move on.

        None, and the weights as they were, where y is above `most` or the change is not finite.
        """
        B, C = self.block, self.channels
        i = (int(self.place[0]) - 1) % self.count
        self.place[0] = i
        X, room = self._spectrum(self.x), (self.smoothed, self._power, self._pair)
        latest, usual = frequency.heard(X, self._rows, i * C, self._flat, SMOOTHING, *room)
        lines = self._lines(self._pair)
        before = float(self.level[0])
        faded = before * 2.0 ** (-B / HALF_LIFE)
        self.level[0] = level = max(min(latest, JUMP * before) if before else latest, faded)
        top, loud, now, teaching = frequency.judged(lines, self.d, self.learns)
        fine = top <= most
        if fine and self._worse_than_none(loud, now) and teaching == B:
            self.W[:] = 0.0
        elif fine and teaching:
            # A share of the level in each bin, spread over the bins as x has been of late; and a
            # little everywhere, for bins in which x has nothing to tell.
            share = relative * level / usual if usual > 0.0 else 0.0
            fine = self._learn(i * C, lines, eta, 2.0 * eps + EVERYWHERE * relative * level, share)
        self.x[:, :B] = self.x[:, B:]
        self.filled[0] = 0
        self._begun = None
        return lines[0, B:] if fine else None

    def _worse_than_none(self, loud: float, now: float) -> bool:
        """Whether weights whose y has the energy `loud`, where d has `now`, should start over:
        what they learned from a reference that was next to silent fits noise, and is far too loud
        once the reference comes."""
        usual = float(self.usual[0])
        self.usual[0] = usual + (min(now, JUMP * usual) - usual) / 16.0 if usual else now
        return loud > WORSE * now and now >= QUIET * usual

    def _learn(self, at: int, lines: Signal, eta: float, floor: float, share: float) -> bool:
        """W + eta conj(X) E / power, held to impulse responses of the length of a partition."""
        # The error is known for half of the 2 B points, and cutting it off spreads each bin over
        # its neighbours: beside a strong bin, a weak one must be divided by what leaks into it.
        frequency.errors(lines, self.d, self.learns, self._taper, self._two)
        E = self._spectrum(self._two)
        by = self._power, self.smoothed, eta, floor, share
        frequency.gradient(self._rows, at, E, *by, self._G)
        g = self._lines(self._G)
        # The last partition may be shorter.
        short = self.taps - (self.count - 1) * self.block
        if not math.isfinite(frequency.held(g, self.block, self.channels, short)):
            return False
        frequency.added(self._flat, self._spectrum(g))
        return True

    def snapshot(self, n: int) -> dict[str, Signal]:
        """Copies of what the next n samples will change, up to where they may fail."""
        beyond = int(self.filled[0]) + n - self.block
        if beyond >= self.block:
            return {name: getattr(self, name).copy() for name in self.KEPT}
        # One end of a block at most: it writes one row of the ring, and W once nothing can fail.
        names = self.KEPT[2:] if beyond <= 0 else ("W", *self.KEPT[2:])
        copies = {name: getattr(self, name).copy() for name in names}
        return copies | {"row": self.ring[(int(self.place[0]) - 1) % self.count].copy()}

    def restore(self, copies: dict[str, Signal]) -> None:
        """The memory of a snapshot."""
        for name in self.KEPT:
            if name in copies:
                getattr(self, name)[...] = copies[name]
        if "row" in copies:
            i = (int(self.place[0]) - 1) % self.count
            self.ring[i] = self.ring[i + self.count] = copies["row"]
        self._begun = None
