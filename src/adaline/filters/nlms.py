"""The normalised least-mean-square filter."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from adaline.filters.filter import Filter, Learns
from adaline.filters.signals import EPS, STEP, Signal, absolute_and_relative
from adaline.kernels.filters import gradient as kernels


@dataclass(eq=False, repr=False)
class NLMS(Filter):
    """Normalised LMS: w(n+1) = w(n) + eta conj(e(n)) x(n) / (eps + x(n)^H x(n)).

    LMS with a step divided by the energy of the delay line: stable for 0 < eta < 2, whatever the
    level of the reference. To take noise out of a signal that is to stay, use `cancel`: that signal
    disturbs learning, and with the step of 0.5 more noise may be added than removed.

    Parameters
    ----------
    taps : int
    eta : float, default=0.5
        Between 0 and 2. With 1 the new weights have no error at the current sample.
    eps : float or "auto", default="auto"
        A number is used as it is. "auto" is a (1 + a/x(n)^H x(n)), where a is a hundredth of the
        mean of x(n)^H x(n) over some 32,000 samples; in this mean a sample counts at most four
        times the mean. So the weights hardly change while the reference is quiet, and the units of
        x do not matter. With "auto" the filter also restarts from zero weights where x(n)^H x(n) is
        four times above all values before it and the errors so far have more than 0.9 of the energy
        of d: weights learned from a nearly silent reference fit noise. Weights that the user gave
        are kept.
    weights, dtype, on_nan, history
        As in LMS.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import NLMS
    >>> x = np.random.default_rng(0).standard_normal(2000)
    >>> f = NLMS(taps=3)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:2000])
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    eta: float = 0.5
    eps: float | str = "auto"

    _parameters: ClassVar = {"eta": STEP, "eps": EPS}
    _numbers: ClassVar = kernels.Level

    def _adapt(self, line: Signal, hop: int, d: Signal, learns: Learns, y: Signal) -> int:
        eps, relative = absolute_and_relative(self.eps)
        went, level = kernels.lms(
            line, hop, d, learns, self._count, self._memory["w"], line,
            kernels.NORMALISED, self.eta, inf, eps, relative, 0.0, None, tuple(self._level), y,
        )  # fmt: skip
        self._level = kernels.Level(*level)
        return int(went)
