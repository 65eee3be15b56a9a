"""The engine of BlockLMS: a filter cut into partitions, each a block long, kept as spectra.

h (C, taps) impulse responses: y(n) = sum_c sum_k h_c(k) x_c(n - k)    B block    P partitions
W (P, C, F) their spectra, 2 B points each    ring (2 P, C, F) spectra of the last P blocks of x

Each spectrum is written to the ring twice, P rows apart, so that the last P blocks are always
contiguous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from adaline.kernels.filters import frequency

Signal = NDArray[Any]

SMOOTHING = 0.9  # factor of the running average of a bin's power, from block to block
HALF_LIFE = 2.0**14  # of the level below which x counts as quiet, in samples
JUMP = 4.0  # most growth of that level in a block, so that one click does not stop learning
WORSE = 100.0  # the filter restarts if y has so many times the energy of d,
QUIET = 0.1  # unless d is below this share of its usual energy: d may pause while x does not
EVERYWHERE = 0.01  # the part of eps="auto" that is the same in every bin


class Partitions:
    """Overlap-save filtering and the constrained, power-normalised block gradient.

    Weights change at the end of a block only. Samples of an incomplete block are filtered as they
    come: by the first partition in the time domain, and by the others with spectra of earlier
    blocks.
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
        self.x = np.zeros((C, 2 * B), dtype)  # the previous block, and this one so far
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
        """Drop what `_begin` has computed; call it after writing to the memory from outside."""
        self._begun = None

    def take(self, x: Signal, d: Signal, learns: Signal | float) -> bool:
        """Store the next samples of this block, x (m, C); whether the block is complete."""
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
        """h of the first partition (C, B), and the outputs of the others in this block (B,), which
        depend on earlier blocks only."""
        if self._begun is None:
            head = self._lines(self.W[0])[:, : self.block]
            i = int(self.place[0])
            late = (self.W[1:] * self.ring[i : i + self.count - 1]).sum(axis=(0, 1))
            self._begun = head, self._lines(late)[self.block :]
        return self._begun

    def finish(self, eta: float, eps: float, relative: float, most: float) -> Signal | None:
        """y of the complete block, by spectra; then update the weights and begin the next block.

        None, with the weights unchanged, where y is above `most` or the update is not finite.
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
            # eps in proportion to the recent power of each bin, and a little in every bin, for
            # those in which x has no power.
            share = relative * level / usual if usual > 0.0 else 0.0
            fine = self._learn(i * C, lines, eta, 2.0 * eps + EVERYWHERE * relative * level, share)
        self.x[:, :B] = self.x[:, B:]
        self.filled[0] = 0
        self._begun = None
        return lines[0, B:] if fine else None

    def _worse_than_none(self, loud: float, now: float) -> bool:
        """Whether to restart: y has the energy `loud`, d the energy `now`. Weights learned from a
        nearly silent reference fit noise, and make y far too loud once the reference is louder."""
        usual = float(self.usual[0])
        self.usual[0] = usual + (min(now, JUMP * usual) - usual) / 16.0 if usual else now
        return loud > WORSE * now and now >= QUIET * usual

    def _learn(self, at: int, lines: Signal, eta: float, floor: float, share: float) -> bool:
        """W + eta conj(X) E / power, constrained to responses of the length of a partition."""
        # The error is zero for half of the 2 B points. This window leaks each bin into its
        # neighbours, so the power that divides a weak bin includes the leakage of strong ones.
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
        """Copies of all that the next n samples may change before an error."""
        beyond = int(self.filled[0]) + n - self.block
        if beyond >= self.block:
            return {name: getattr(self, name).copy() for name in self.KEPT}
        # At most one block ends: it writes one row of the ring, and W after the last check.
        names = self.KEPT[2:] if beyond <= 0 else ("W", *self.KEPT[2:])
        copies = {name: getattr(self, name).copy() for name in names}
        return copies | {"row": self.ring[(int(self.place[0]) - 1) % self.count].copy()}

    def restore(self, copies: dict[str, Signal]) -> None:
        """Undo all changes since a snapshot."""
        for name in self.KEPT:
            if name in copies:
                getattr(self, name)[...] = copies[name]
        if "row" in copies:
            i = (int(self.place[0]) - 1) % self.count
            self.ring[i] = self.ring[i + self.count] = copies["row"]
        self._begun = None
