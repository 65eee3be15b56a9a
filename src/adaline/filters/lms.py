"""The least-mean-square filter of Widrow and Hoff, with its leaky and its sign forms."""

from __future__ import annotations

from numbers import Rational
from typing import Any, ClassVar

from adaline.filters._delay_line import LookAhead
from adaline.filters._settings import Setting, flag, one_of, positive
from adaline.kernels.filters import lms_steps as places
from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, as_schedule

SIGNS = {None: 0, "error": 1, "data": 2, "both": 3}


class LMS(LookAhead):
    """Least mean squares: w(n+1) = w(n) + eta(n) conj(e(n)) x(n), with e(n) = d(n) - w(n)^H x(n).

    Lectures: the LMS algorithm (000), linear adaptive filters (003). Stable in the mean for
    0 < eta < 2/tr[R], where tr[R] = taps * power of x.

    Parameters
    ----------
    taps : int
        Length of the delay line: y(n) is made of the last `taps` samples of each channel of x.
    eta : float, schedule or "auto", default="auto"
        "auto" is a tenth of the bound, with the power measured sample by sample, and never above
        0.2/x(n)^H x(n), so that no step overshoots; the filter restarts as NLMS does. The schedules
        Constant, OverK and SearchThenConverge count the samples that made an update.
    leak : float, default=0.0
        w(n+1) = (1 - eta leak) w(n) + ...: weights that x does not excite go to zero.
    sign : {None, "error", "data", "both"}, default=None
        Put e/|e| for e, x/|x| for x (tap by tap), or both. Needs a number or a schedule as eta.
    weights : array-like of shape (taps,) or (channels, taps), optional
        Initial weights; zero if not given.
    dtype : optional
        float32, float64, complex64 or complex128; if not given the first block decides.
    on_nan : {"raise", "hold", "skip"}, default="raise"
        What to do with a missing sample (NaN or infinite). "raise": refuse the block. "hold":
        repeat the last good sample (of x and of d), and make no update at that instant. "skip": put
        0 into the delay line, make no update while it is there, and let e be NaN where d is
        missing.
    history : int, optional
        Record the weights every so many samples.
    allow_unstable : bool, default=False
        Accept a number eta above the bound; divergence still raises DivergenceError.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LMS
    >>> x = np.random.default_rng(0).standard_normal(2000)
    >>> d = np.convolve(x, [1.0, -0.5])[:2000]
    >>> f = LMS(taps=3, eta=0.05)
    >>> y, e = f.process(x, d)
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "eta", "leak", "sign", "weights", "dtype", "on_nan", "history", "allow_unstable",
    )  # fmt: skip

    eta = Setting()
    leak = Setting()
    sign = Setting()
    allow_unstable = Setting()

    def __init__(
        self,
        taps: int,
        eta: Any = "auto",
        leak: float = 0.0,
        sign: str | None = None,
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
        allow_unstable: bool = False,
    ) -> None:
        # A number is checked as in all filters; as_schedule checks anything else.
        self._schedule = as_schedule(positive("eta", eta) if _is_number(eta) else eta)
        if not isinstance(self._schedule, Auto | Constant | OverK | SearchThenConverge):
            raise ValueError(f"eta is {eta!r}; filters have no absolute correction.")
        one_of("sign", sign, tuple(SIGNS))
        if sign is not None and isinstance(self._schedule, Auto):
            raise ValueError("eta='auto' is for plain LMS; give a number or a schedule with sign=.")
        self.eta = "auto" if isinstance(eta, Auto) else eta
        self.leak = positive("leak", leak, zero=True)
        self.sign = sign
        self.allow_unstable = flag("allow_unstable", allow_unstable)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    def _rule(self) -> dict[int, float]:
        rule, a, b = self._schedule.code()
        automatic = isinstance(self._schedule, Auto)
        return {
            places.RULE: rule,
            places.RATE_A: places.AUTO_RATE if automatic else a,
            places.RATE_B: b,
            places.LEAK: self.leak,
            places.SIGN: SIGNS[self.sign],
            places.ANY_RATE: self.allow_unstable or self.sign is not None,
        }


def _is_number(eta: Any) -> bool:
    return isinstance(eta, Rational) and not isinstance(eta, bool)
