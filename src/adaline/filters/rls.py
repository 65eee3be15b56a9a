"""Recursive least squares with exponential forgetting."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from adaline._jit.little import for_work
from adaline.filters._base import Filter
from adaline.filters._missing import Frozen
from adaline.filters._settings import Setting, positive, positive_or_auto, shown
from adaline.filters._signals import Signal, aligned
from adaline.kernels.filters import rls_factored as factor
from adaline.kernels.filters import rls_head as places
from adaline.kernels.filters import rls_memory as memory
from adaline.kernels.filters import rls_panels as layout
from adaline.kernels.filters.guards import CALM_AGAIN, FINE, TOO_LOUD
from adaline.kernels.filters.rls import rls_block


class RLS(Filter):
    """Recursive least squares: w has the least weighted sum of all squared errors so far.

    After sample n, w minimises

        sum_i forgetting^(n-i) |d(i) - w^H x(i)|^2 + delta forgetting^(n+1) |w|^2.

    It learns in about 2 `taps` samples, whether the reference is coloured or not, and needs taps^2
    operations a sample. P, the inverse of the sum of x x^H, stays symmetric to the last bit, stays
    bounded while the reference is silent, and is in double precision for float32 signals too. A
    sample much louder than those before it (x^H P x above 1e6), or a loud reference that excites
    few directions (P's condition above 1e11), would cost P its digits: P could turn indefinite, and
    the weights explode. From there the filter updates a triangular factor of P's inverse by Givens
    rotations, which lose no digits and take some ten times as long, until P is well conditioned
    (checked every 32 samples).

    Parameters
    ----------
    taps : int
    forgetting : float, default=0.999
        The factor lambda, 0 < lambda <= 1: the filter remembers about 1/(1 - lambda) samples, and
        all of them with 1. During silence it forgets nothing.
    delta : float or "auto", default="auto"
        The regularisation at the start, P = I/delta. "auto" is a hundredth of the power of the
        first sample that is not silent.
    weights, dtype, on_nan, history
        As in LMS. With initial weights w0 the last term is delta forgetting^(n+1) |w - w0|^2:
        directions that x does not excite stay as given.

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
    _remedy: ClassVar[str] = "Give a larger delta"
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
            raise ValueError(f"forgetting is {shown(forgetting)}; expected a factor of at most 1.")
        self.delta = positive_or_auto("delta", delta)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    @property
    def inverse(self) -> Signal:
        """P now, a copy (m, m), m = channels * taps: the inverse of the weighted sum of x x^H."""
        if self._dtype is None:
            raise ValueError("P is known after the first block.")
        real = self.taps * (self._channels or 1)
        P = np.empty((real, real), self._head.dtype)
        if self._factored:
            factor.inverse(self._store, self._m, P)
            return P
        memory.inverse_now(self._store, self._head[places.GROWTH].real, P)
        return P

    def _numbers_of(self, channels: int) -> dict[str, int]:
        return {"taps": 4 * (channels * self.taps) ** 2}

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        double = np.result_type(self._dtype, np.float64)
        self._m = m = for_work(layout.padded, 1)(self._channels * self.taps)
        self._written = np.zeros(
            m * m + 5 * m + self._channels * (self.taps + places.EXTRA), double
        )
        panels = for_work(layout.panels, 1)(m)
        self._P = aligned(2 * panels * m * layout.APART, double)
        self._V = aligned(2 * panels * layout.PANEL, double)
        # The kernel also takes real P and V, and a complex P. What is None is not compiled.
        real = double.kind == "f"
        kinds = (self._P, self._V, None) if real else (None, None, self._P)
        self._kinds: tuple[Any, Any, Any] = kinds
        self._ahead = self._behind = False
        self._head = np.zeros(2 * places.HEAD, double)
        self._head[places.FORGETTING] = self.forgetting
        self._head[places.DELTA] = 0.0 if self.delta == "auto" else self.delta
        self._head[places.GROWTH] = 1.0

    @property
    def _store(self) -> Signal:
        """P, w, G and the last samples in one array, updated from the kernel's P and V."""
        if self._ahead:
            memory.closed(self._written, self._P, self._V, self._m)
            self._ahead = False
        return self._written

    def _resume(self, rest: dict[str, Any]) -> None:
        super()._resume(rest)
        if self._dtype is not None and self._factored:
            real = self.taps * (self._channels or 1)
            diagonal = self._store[: self._m**2 : self._m + 1][:real].real
            started = self._head[places.STARTED].real > 0.0
            if not (diagonal > 0.0).all() if started else diagonal.any():
                raise ValueError("state has a memory whose factor has no inverse.")

    def _catch_up(self) -> None:
        """Update the kernel's P and V, if the memory was written to from outside."""
        if self._behind:
            memory.opened(self._written, self._P, self._V, self._m)
            self._behind = False

    def _memory(self) -> dict[str, Signal]:
        store = self._store
        self._behind = True  # the caller may write to these arrays
        return {"store": store, "head": self._head[: places.HEAD]}

    def _adapt(self, on: bool) -> None:
        self._head[places.ADAPT] = on

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        return self._run(x, d, frozen, out, False)

    def _advance_rows(self, U: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        return self._run(U.reshape(-1), d, frozen, out, True)

    def _run(self, x: Signal, d: Signal, frozen: Frozen, out: Signal, rows: bool) -> int:
        if not self._factored:
            found = self._by_inverse(x, d, frozen, out, rows)
            if found % 8 != TOO_LOUD:
                return found
        before = {name: a.copy() for name, a in self._memory().items()}
        found = self._in_turns(x, d, frozen, out, rows)
        if found:
            for name, a in self._memory().items():
                a[...] = before[name]
        return found

    def _by_inverse(self, x: Signal, d: Signal, frozen: Frozen, out: Signal, rows: bool) -> int:
        """A block by the recursion of P, four samples a pass."""
        self._catch_up()
        room = self._written, self._head, self._P, self._V, *self._kinds
        found: int = rls_block(x, d, frozen, *room, out, self.taps, self._channels, rows)
        self._ahead = True
        return found

    def _by_factor(self, x: Signal, d: Signal, frozen: Frozen, out: Signal, rows: bool) -> int:
        """A block by the factor in the store, until P is well conditioned again."""
        found: int = factor.factored_block(
            x, d, frozen, self._store, self._head, out, self.taps, self._channels, rows
        )
        self._behind = True
        return found

    def _in_turns(self, x: Signal, d: Signal, frozen: Frozen, out: Signal, rows: bool) -> int:
        """A block by P or by its factor, as samples need; invalidates the memory on error."""
        n, at, many = len(d), 0, len(x) // len(d)
        while at < n:
            rest = x[at * many :], d[at:], frozen[at:]
            part = np.empty((2, n - at), out.dtype)
            run = self._by_factor if self._factored else self._by_inverse
            found = run(*rest, part, rows)
            went, what = divmod(found, 8)
            if what == TOO_LOUD:
                if went:  # repeat the block up to the loud sample
                    first = rest[0][: went * many], rest[1][:went], rest[2][:went]
                    part = np.empty((2, went), out.dtype)
                    self._by_inverse(*first, part, rows)
                self._to_factor()
            elif what == CALM_AGAIN:
                self._from_factor()
            elif what:
                return found + 8 * at
            else:
                went = n - at
            out[:, at : at + went] = part[:, :went]
            at += went
        return FINE

    @property
    def _factored(self) -> bool:
        """Whether the memory holds a factor in place of P."""
        return bool(self._head[places.HOLD].real == places.FACTORED)

    def _to_factor(self) -> None:
        P = self.inverse
        factor.factor(self._store, self._head, P, self._m)
        if self._head[places.STARTED].real == 0.0:  # P is made when the first sample is there
            self._written[: self._m**2] = 0.0
        self._head[places.HOLD] = places.FACTORED
        self._behind = True

    def _from_factor(self) -> None:
        P, m = self.inverse, self._m
        whole = self._written[: m * m].reshape(m, m)
        whole[...] = 0.0
        whole[: len(P), : len(P)] = P
        self._written[m * m + m : m * m + 5 * m] = 0.0
        self._head[places.HOLD] = places.FORGETS
        self._behind = True

    def _w(self) -> Signal:
        """w in the kernel's V, one row for each panel."""
        self._catch_up()
        panels = self._V.reshape(-1, layout.PANEL)
        return panels[: len(panels) // 2, : layout.COLUMNS]

    def _get_weights(self) -> Signal:
        assert self._channels is not None
        w = self._w().reshape(-1)[: self._channels * self.taps]
        return w.reshape(-1, self.taps).astype(self._dtype)

    def _set_weights(self, W: Signal) -> None:
        if self._factored:
            self._written[self._m**2 :][: W.size] = W.ravel()
            factor.follow_weights(self._written, self._m, W.size)
            self._behind = True
        else:
            w = np.zeros(self._w().shape, self._V.dtype)
            w.reshape(-1)[: W.size] = W.ravel()
            self._w()[...] = w
            self._ahead = True
        self._head[places.SET_NORM] = math.hypot(*np.abs(W).ravel().tolist())
