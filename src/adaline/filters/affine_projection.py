"""The affine projection filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.lms import normalised_rate
from adaline.filters.signals import EPS, STEP, Signal
from adaline.kernels.filters import gradient as kernels
from adaline.parameters import count


@dataclass(eq=False, repr=False)
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

    order: int = 4
    eta: float = 0.5
    eps: float | str = "auto"

    _parameters: ClassVar = {"order": count(), "eta": STEP, "eps": EPS}
    _numbers: ClassVar = kernels.Level

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        K, double = self.order, np.result_type(kind, np.float64)
        return {
            "w": (kind, (channels, self.taps)),
            "past": (kind, (channels, self.taps - 1 + K - 1)),
            "R": (double, (K, K)),
            "errors": (double, (K,)),
        }

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        memory = self._memory
        # A pivot of fewer than 100 roundings counts as zero: x(n) depends on earlier ones.
        rounding = 100 * float(np.finfo(line.dtype).eps)
        block, rate = (line, d, learns, y), normalised_rate(self.eta, self.eps)
        arrays = memory["w"], memory["R"], memory["errors"]
        return self._run(kernels.affine_projection, block, *arrays, rate, rounding)

    def _set_weights(self, W: Signal) -> None:
        super()._set_weights(W)
        self._memory["errors"][:] = 0.0  # those at earlier samples are of the old weights
