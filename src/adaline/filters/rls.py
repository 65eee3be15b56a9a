"""Recursive least squares with exponential forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.signals import Signal
from adaline.kernels.filters import rls as kernels
from adaline.parameters import POSITIVE, number, words


@dataclass(eq=False, repr=False)
class RLS(Filter):
    """Recursive least squares: w has the least weighted sum of all squared errors so far.

    After sample n, w minimises

        sum_i forgetting^(n-i) |d(i) - w^H x(i)|^2 + delta forgetting^(n+1) |w|^2.

    It learns in about 2 `taps` samples, whether the reference is coloured or not, and needs taps^2
    operations a sample. P, the inverse of the sum of x x^H, is kept as U D U^H (Bierman 1977): it
    stays positive definite after samples much louder than those before, stays bounded while the
    reference is silent or excites few directions, and is in double precision for float32 signals.

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

    forgetting: float = 0.999
    delta: float | str = "auto"

    _parameters: ClassVar = {
        "forgetting": number(0.0, 1.0, above=True),
        "delta": words("auto") | POSITIVE,
    }
    _numbers: ClassVar = kernels.Level

    @property
    def inverse(self) -> Signal:
        """P now, a copy (m, m), m = channels * taps: the inverse of the weighted sum of x x^H."""
        if self._kind is None:
            raise ValueError("P is known after the first block.")
        U = self._memory["U"].T + np.eye(len(self._memory["D"]))
        P = (U * self._memory["D"]) @ U.conj().T
        return np.asarray((P + P.conj().T) / 2)

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        m, double = channels * self.taps, np.result_type(kind, np.float64)
        return super()._shapes(channels, kind) | {
            "w": (double, (channels, self.taps)),
            "U": (double, (m, m)),  # row j: column j of U above its diagonal of ones
            "D": (np.float64, (m,)),
        }

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        memory, delta = self._memory, 0.0 if self.delta == "auto" else float(self.delta)
        w = memory["w"].reshape(-1)
        settings = float(self.forgetting), delta
        return self._run(kernels.rls, (line, d, learns, y), memory["U"], memory["D"], w, *settings)

    def _resume(self, rest: dict[str, Any]) -> None:
        super()._resume(rest)
        if self._kind is not None and not (self._memory["D"] >= 0.0).all():
            raise ValueError("state has a memory with a negative variance.")

    def _get_weights(self) -> Signal:
        assert self._kind is not None
        return self._memory["w"].astype(self._kind)

    def _set_weights(self, W: Signal) -> None:
        super()._set_weights(W)
        self._memory["w"][:] = W  # unlike elsewhere, the newest sample's weight comes first
