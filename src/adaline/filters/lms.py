"""The least-mean-square filter of Widrow and Hoff, its leaky and sign forms, and normalised LMS."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.signals import EPS, STEP, Signal, absolute_and_relative, squares
from adaline.kernels.filters import gradient as kernels
from adaline.parameters import FLAG, NONE, NOT_NEGATIVE, POSITIVE, is_number, words
from adaline.schedules import Auto, Constant, OverK, SearchThenConverge, as_schedule

AUTO_RATE = 0.2  # eta="auto" is a tenth of the bound 2/tr[R]


def as_rate(name: str, value: Any) -> Any:
    """A positive number, "auto" or a schedule that counts samples."""
    if is_number(value):
        return POSITIVE(name, value)
    schedule = as_schedule(value)
    if not isinstance(schedule, Auto | Constant | OverK | SearchThenConverge):
        raise ValueError(f"{name} is {value!r}; filters have no absolute correction.")
    return "auto" if isinstance(schedule, Auto) else value


@dataclass(eq=False, repr=False)
class LMS(Filter):
    """Least mean squares: w(n+1) = w(n) + eta(n) conj(e(n)) x(n), with e(n) = d(n) - w(n)^H x(n).

    Stable in the mean for 0 < eta < 2/tr[R], where tr[R] = taps * power of x.

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

    eta: Any = "auto"
    leak: float = 0.0
    sign: str | None = None
    _: KW_ONLY
    allow_unstable: bool = False

    _parameters: ClassVar = {
        "eta": as_rate,
        "leak": NOT_NEGATIVE,
        "sign": NONE | words("error", "data", "both"),
        "allow_unstable": FLAG,
    }
    _numbers: ClassVar = kernels.Level

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        if self.sign is not None and self.eta == "auto":
            raise ValueError("eta='auto' is for plain LMS; give a number or a schedule with sign=.")
        # All rates are eta / (1 + n/tau), where tau may be infinite.
        match as_schedule(self.eta):
            case OverK(eta):
                tau = 1.0
            case SearchThenConverge(eta, tau):
                pass
            case Constant(eta):
                tau = inf
            case _:
                eta, tau = AUTO_RATE, inf
        self._rate = float(eta), float(tau)
        super().__post_init__(weights, dtype, history)

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        # The energy of x so far, all channels together, for the check of a constant eta.
        return super()._shapes(channels, kind) | {"energy": (np.float64, (1,))}

    def _check_block(self, x: Signal) -> None:
        """Raise ValueError if a constant eta is above the bound 2/tr[R] for x so far."""
        eta, tau = self._rate
        free = self.eta == "auto" or tau < inf or self.sign is not None or self.allow_unstable
        if free or not self._adapting:
            return
        energy = self._memory["energy"][0] + (now := float(squares(x).sum()))
        trace = self.taps * energy / max(self._count + len(x), self.taps)
        if len(x) >= self.taps:  # a passage that is louder than the mean
            trace = max(trace, self.taps * now / len(x))
        if np.isfinite(trace) and eta * trace >= 2.0:  # a sample that is not is refused later
            raise ValueError(
                f"eta is {eta:.4g}, and LMS is stable for 0 < eta < 2/(taps * power) = "
                f"{2 / trace:.4g} on this signal. Nothing was used. Take eta='auto', a smaller "
                "step or NLMS; allow_unstable=True runs it all the same."
            )
        self._memory["energy"][0] = energy

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        along = line
        if self.sign in ("data", "both"):
            size = np.abs(line)
            along = line / np.where(size > 0, size, 1)
        rule = kernels.AUTOMATIC if self.eta == "auto" else kernels.GIVEN
        rate = kernels.Rate(rule, *self._rate, leak=self.leak)
        sign = True if self.sign in ("error", "both") else None
        return self._run(kernels.lms, (line, d, learns, y), self._memory["w"], along, rate, sign)


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

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        rate = normalised_rate(self.eta, self.eps)
        return self._run(kernels.lms, (line, d, learns, y), self._memory["w"], line, rate, None)


def normalised_rate(eta: float, eps: float | str) -> kernels.Rate:
    """eta/(r + eps) for kernels; "auto" is an eps of a hundredth of the mean of r."""
    absolute, relative = absolute_and_relative(eps)
    return kernels.Rate(kernels.NORMALISED, float(eta), inf, absolute, relative)
