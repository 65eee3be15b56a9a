"""The normalised least-mean-square filter."""

from __future__ import annotations

from typing import Any, ClassVar

from adaline.filters._delay_line import LookAhead
from adaline.filters._settings import Setting, absolute_and_relative, as_eps, below_two
from adaline.kernels.filters import lms_steps as places


class NLMS(LookAhead):
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

    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "eta", "eps", "weights", "dtype", "on_nan", "history",
    )  # fmt: skip

    eta = Setting()
    eps = Setting()

    def __init__(
        self,
        taps: int,
        eta: float = 0.5,
        eps: Any = "auto",
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.eta = below_two(eta, "NLMS")
        self.eps = as_eps(eps)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    def _rule(self) -> dict[int, float]:
        eps, relative = absolute_and_relative(self.eps)
        return {
            places.RULE: places.NORMALISED,
            places.RATE_A: self.eta,
            places.RATE_B: eps,
            places.RELATIVE: relative,
        }
