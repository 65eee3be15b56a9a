"""What LMS and NLMS share: the memory of their kernel (weights, last samples, numbers)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._missing import Frozen
from adaline.filters._signals import Signal, aligned
from adaline.kernels.filters import lms_steps as places
from adaline.kernels.filters.guards import FINE
from adaline.kernels.filters.lms import BEYOND, EXTRA, SEGMENT, lms_block, weights_now
from adaline.kernels.filters.lms_rows import lms_rows


class LookAhead(Filter):
    """A filter of the kernel that looks four samples ahead; `_rule` gives its step sizes."""

    _repeated: ClassVar[int] = 10

    def _rule(self) -> dict[int, float]:
        """The settings of the kernel: place in head -> number."""
        raise NotImplementedError

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        kept = self.taps + EXTRA
        self._size = self._channels * (self.taps + kept)
        room = self._channels * (kept + SEGMENT + BEYOND)
        self._store = aligned(2 * self._size + room, self._dtype)
        self._head = np.zeros(places.ROOM, np.result_type(self._dtype, np.float64))
        self._head[places.SCALE] = 1.0
        self._head[places.TAPS] = self.taps
        self._head[places.CHANNELS] = self._channels
        rule = self._rule()
        for place, number in rule.items():
            self._head[place] = number
        self._signs = True if rule.get(places.SIGN, 0) >= places.SIGN_DATA else None
        counts = rule[places.RULE] in (places.OVER_K, places.SEARCH_THEN_CONVERGE)
        self._plain = not counts and self._signs is None

    def _memory(self) -> dict[str, Signal]:
        return {"store": self._store[: self._size], "head": self._head[: places.HEAD]}

    def _adapt(self, on: bool) -> None:
        self._head[places.ADAPT] = on

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        # What is None is not compiled.
        every = None if self._plain and not frozen.size else frozen
        found: int = lms_block(x, d, every, self._signs, self._store, self._head, out)
        return found

    def _advance_rows(self, U: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        W = self._get_weights().reshape(-1)
        found: int = lms_rows(U, d, frozen, W, self._head, out)
        if found == FINE:
            self._write(W.reshape(-1, self.taps))
        return found

    def _get_weights(self) -> Signal:
        assert self._channels is not None
        w = np.empty(self._channels * self.taps, self._dtype)
        weights_now(self._store, self._head, w)
        return np.ascontiguousarray(w.reshape(-1, self.taps)[:, ::-1])

    def _set_weights(self, W: Signal) -> None:
        self._write(W)
        self._head[places.SET_NORM] = math.hypot(*np.abs(W).ravel().tolist())

    def _write(self, W: Signal) -> None:
        self._store[: W.size] = W[:, ::-1].ravel()
        self._head[places.STEPS : places.STEPS + 4] = 0.0
        self._head[places.SCALE] = 1.0

    def _rate_error(self, x: Signal) -> ValueError:
        trace, eta = float(self._head[places.HEAD].real), float(self._head[places.RATE_A].real)
        return ValueError(
            f"eta is {eta:.4g}, and LMS is stable for 0 < eta < 2/(taps * power) = {2 / trace:.4g} "
            "on this signal. Nothing was used. Take eta='auto', a smaller step or NLMS; "
            "allow_unstable=True runs it all the same."
        )
