"""The normalised least-mean-square filter."""

from __future__ import annotations

from typing import Any, ClassVar

from adaline.filters._delay_line import LookAhead
from adaline.filters._settings import Setting, absolute_and_relative, as_eps, below_two
from adaline.kernels.filters import lms_steps as places


class NLMS(LookAhead):
    """Normalised LMS: w(n+1) = w(n) + eta conj(e(n)) x(n) / (eps + x(n)^H x(n)).

    LMS whose step knows the level of the reference: stable for 0 < eta < 2, at any level.

    Parameters
    ----------
    taps : int
    eta : float, default=0.5
        Between 0 and 2. At 1 the sample's own error goes to zero.
    eps : float or "auto", default="auto"
        "auto" is a (1 + a/x(n)^H x(n)), where a is a hundredth of the mean of x(n)^H x(n) over some
        32,000 samples, one of which counts at most four times the mean: where the reference goes
        quiet the weights stay, and units do not matter. And the filter starts over, from zero,
        where x(n)^H x(n) is four times above all before it and the errors so far have kept 0.9 of
        the energy of d, unless weights were given: what next to silence taught fits noise. A
        number is used as it is.
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
