"""Filtered-x LMS: active control of noise, through a loudspeaker and the air behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.lms import normalised_rate
from adaline.filters.signals import (
    EPS,
    STEP,
    Signal,
    as_line,
    as_numbers,
    as_samples,
    converted,
    require_finite,
)
from adaline.kernels.filters import gradient as kernels
from adaline.parameters import words


def as_path(name: str, values: Any) -> Signal:
    """A read-only copy of an impulse response."""
    path = as_line(values, name).copy()
    path.setflags(write=False)
    if not path.any():
        raise ValueError(f"{name} is zero everywhere; nothing could be controlled.")
    return path


@dataclass(eq=False, repr=False)
class FilteredXLMS(Filter):
    """Noise control: w + eta conj(e) x_f / (eps + x_f^H x_f), where x_f is x through the path s.

    ::

        noise ----> primary path ------------------------> d  +
          |                                                    ( ) ----> e = d - y
          '--> x --> [ w ] --> u --> secondary path s --> y  -

    The controller's output u reaches the microphone through the secondary path s (loudspeaker and
    air), so the gradient needs the reference filtered by s. y is the sound that arrives, and it is
    **subtracted**: e = d - y, as in every filter here. At a real microphone sounds add up,
    e = d + s' * u: give the path with the opposite sign, secondary_path = -s'.

    `process(x, d)` simulates the whole loop. With a loudspeaker in the loop use `drive` and
    `hear`, sample by sample.

    Parameters
    ----------
    taps : int
    secondary_path : array-like of shape (J,)
        Impulse response of s.
    estimate : array-like, optional
        The model of s that filters x; s itself if not given. The loop diverges if the phase of the
        model is wrong by more than 90 degrees at a frequency of the noise.
    eta : float or "auto", default="auto"
        Above 0 and below 2. A path that delays by D samples allows less, about
        2 sin(pi/(4 D + 2)): a rule of thumb, from one weight with a constant input. Sinusoids
        turned unstable between 0.6 and 1.5 times it (16 taps, D up to 20), white noise above 1.5
        (from D = 1 on). "auto" is a quarter of it; D is where 90 % of the estimate's energy
        has passed.
    eps : float or "auto", default="auto"
        As in NLMS, for x_f.
    weights, dtype, on_nan, history
        As in LMS.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import FilteredXLMS
    >>> x = np.sin(0.3 * np.arange(4000))
    >>> d = 2 * np.sin(0.3 * np.arange(4000) - 1)
    >>> f = FilteredXLMS(taps=8, secondary_path=[0.0, 0.0, 0.7, 0.2])
    >>> y, e = f.process(x, d)
    >>> bool(np.abs(e[-100:]).max() < 1e-3)
    True
    """

    secondary_path: Any
    estimate: Any = None
    eta: float | str = "auto"
    eps: float | str = "auto"

    _parameters: ClassVar = {
        "secondary_path": as_path,
        "estimate": lambda name, path: None if path is None else as_path(name, path),
        "eta": words("auto") | STEP,
        "eps": EPS,
    }
    _example: ClassVar = {"taps": 8, "secondary_path": [0.5, 0.2]}
    _numbers: ClassVar = kernels.Level

    def drive(self, x: Any) -> Any:
        """The loudspeaker's next sample u for the next reference sample x (one a channel).

        Then `hear` what the microphone measured.
        """
        values = as_samples(np.atleast_1d(as_numbers(x, "x"))[None], "x", self._channels)
        require_finite(values, "x", "Nothing was driven.")
        return self._all_or_nothing(self._drive, values)

    def _drive(self, values: Signal) -> Any:
        kind, memory = self._start(values, values[:, 0]), self._memory
        line = np.concatenate([memory["past"], converted(values, kind, "x").T], axis=1)
        u = np.vdot(memory["w"], line[:, line.shape[1] - self.taps :])
        memory["u"][:] = np.append(memory["u"], u)[1:]
        memory["past"][:] = line[:, 1:]
        memory["waits"][0] = True
        return u

    def hear(self, e: Any) -> None:
        """Adapt to the error e that was measured after the last `drive`."""
        memory = self._memory
        if self._kind is None or not memory["waits"][0]:
            raise ValueError("hear() follows drive(): no sample has been driven since the last.")
        error = converted(as_numbers(e, "e").reshape(1), self._kind, "e")
        require_finite(error, "e", "Nothing was learned.")
        f = self._through_model(memory["past"])
        _, mu = self._steps(f, np.array([self._adapting]))
        memory["w"] += mu[0] * np.conj(error[0]) * f
        memory["waits"][0] = False
        self._count += 1

    @property
    def _model(self) -> Signal:
        """What x passes before it meets the error: the estimate, or else the path itself."""
        path: Signal = self.secondary_path if self.estimate is None else self.estimate
        return path

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        return {
            "w": (kind, (channels, self.taps)),
            # One sample more than the next ones need: `hear` is about the last one.
            "past": (kind, (channels, self.taps + len(self._model) - 1)),
            "u": (kind, (len(self.secondary_path) - 1,)),
            "waits": (np.bool_, (1,)),  # for an error
        }

    def _through_model(self, line: Signal) -> Signal:
        """x (C, M+J-2+N) through the model: (C, M-1+N)."""
        model = converted(self._model, line.dtype, "estimate")
        return np.array([np.convolve(x, model, "valid") for x in line])

    def _steps(self, f: Signal, learns: Learns) -> tuple[Signal, Signal]:
        """|f(n)|^2 of f (C, M-1+N), and the steps, as those of NLMS."""
        r, P, mu = np.empty((3, len(learns)))
        kernels.energies(f, self.taps, r)
        power, averaged = self._level.power, self._level.averaged
        power, averaged = kernels.mean_powers(r, self._count, power, averaged, P)
        eta = safe_step(self._model) / 4 if isinstance(self.eta, str) else self.eta
        kernels.steps(r, P, learns, normalised_rate(eta, self.eps), 0.0, mu)
        self._level = self._level._replace(power=power, averaged=averaged)
        return r, mu

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        memory, path = self._memory, converted(self.secondary_path[::-1], line.dtype, "path")
        f = self._through_model(line[:, 1:])
        r, mu = self._steps(f, learns)
        loudest_d = max(self._level.loudest_d, float(np.abs(d).max()))
        self._level = self._level._replace(loudest_d=loudest_d)
        # |y| <= |w| |x through the path|; far above that of the user's weights is divergence.
        gain = self._level.gain * float(np.abs(path).sum()) * float(np.abs(line).max())
        u = np.concatenate([memory["u"], np.zeros(len(d), line.dtype)])
        limit = kernels.DIVERGENCE_RATIO * (loudest_d + gain)
        relative = normalised_rate(0.0, self.eps).relative
        block = np.ascontiguousarray(line[:, len(self._model) :]), d, learns, y
        went = self._run(kernels.filtered_x, block, f, path, mu, r, memory["w"], u, limit, relative)
        memory["u"][:] = u[len(d) :]
        memory["waits"][0] = False
        return went


def safe_step(path: Signal) -> float:
    """2 sin(pi/(4 D + 2)), the largest eta for which v(n+1) = v(n) - eta v(n - D) is stable.

    This recursion models a loop with a path of D samples, D where 90 % of its energy has passed.

    >>> round(safe_step(np.array([1.0])), 6), round(safe_step(np.array([0.0, 0.0, 1.0])), 3)
    (2.0, 0.618)
    """
    energy = np.cumsum(np.abs(path / np.abs(path).max()) ** 2)
    delay = int(np.argmax(energy >= 0.9 * energy[-1]))
    return 2.0 * math.sin(math.pi / (4 * delay + 2))
