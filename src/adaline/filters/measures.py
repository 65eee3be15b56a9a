"""Measures of a filter: learning curve, misalignment, echo loss, step bounds and theory of LMS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.filters.signals import (
    as_line,
    as_lines,
    as_numbers,
    ratio_db,
    require_memory,
    require_same_length,
    squares,
)
from adaline.filters.wiener import correlate, whole_matrix
from adaline.linalg import eigenvalues
from adaline.parameters import FLAG, NOT_NEGATIVE, POSITIVE, count
from adaline.results import Array, Result


def learning_curve(e: Any, window: int = 100, db: bool = False) -> Array:
    """The error's power against time: the mean of |e|^2 over the last `window` samples.

    The first samples are averaged over as many as there are.

    Parameters
    ----------
    e : array-like of shape (N,), or (runs, N)
        Errors, real or complex; the curves of several runs are averaged.
    window : int, default=100
    db : bool, default=False
        In decibels, 10 log10; an error of zero is -inf.

    Examples
    --------
    >>> from adaline.filters import learning_curve
    >>> learning_curve([2.0, 0.0, 1.0, 1.0], window=2)
    array([4. , 2. , 0.5, 1. ])
    """
    window = count()("window", window)
    errors = as_numbers(e, "e")
    # One column is one run; otherwise a row is a run.
    runs = as_lines(errors if errors.shape[1:] == (1,) else errors.T, "e")
    powers = squares(runs).mean(axis=1)
    curve = _sum_window(powers, window) / np.minimum(np.arange(1, len(powers) + 1), window)
    return ratio_db(curve) if FLAG("db", db) else curve


def misalignment(w: Any, h: Any) -> float:
    """How far weights w are from the response h: 20 log10(|w - h| / |h|), in dB.

    0 dB is a filter that knows nothing, -20 dB is one tenth off. Both have the shape (taps,) or
    (channels, taps), and the shorter one is extended by zeros. For complex signals compare the
    response conj(w), because y = w^H x.

    Examples
    --------
    >>> from adaline.filters import misalignment
    >>> round(misalignment([0.9, 0.0, 0.0], [1.0]), 6)
    -20.0
    """
    a, b = (as_lines(as_numbers(v, name).T, name) for v, name in ((w, "w"), (h, "h")))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"w has shape {np.shape(w)} and h {np.shape(h)}; their channels differ.")
    taps = max(len(a), len(b))
    a, b = (np.pad(v.astype(complex), [(0, taps - len(v)), (0, 0)]) for v in (a, b))
    if not (length := float(np.linalg.norm(b))):
        raise ValueError("h is zero; the misalignment is relative to its length.")
    return float(2 * ratio_db(np.linalg.norm(a - b), length))


def erle(d: Any, e: Any, window: int | None = None) -> float | Array:
    """Echo return loss enhancement: 10 log10(power of d / power of e), in dB.

    How much of the microphone's signal d the canceller removed: inf where nothing is left, NaN
    where d is silent too. Speech of the near end stays in e and lowers the number: measure while
    only the far end talks.

    Parameters
    ----------
    d, e : array-like of shape (N,)
        The microphone, and what is left of it.
    window : int or None, default=None
        None for one number over all samples; else a curve over the last `window` samples.

    Examples
    --------
    >>> from adaline.filters import erle
    >>> round(erle([1.0, -1.0], [0.1, 0.1]), 6)
    20.0
    """
    before, after = as_line(d, "d"), as_line(e, "e")
    require_same_length(before, "d", after, "e")
    if window is None:
        return float(ratio_db(squares(before).sum(), squares(after).sum()))
    count()("window", window)
    return ratio_db(_sum_window(squares(before), window), _sum_window(squares(after), window))


def _sum_window(powers: Array, window: int) -> Array:
    """Sums over the last `window` numbers, or as many as there are.

    By additions only: a running sum would keep the rounding error of a loud sample for good.
    """
    return np.convolve(powers, np.ones(min(window, len(powers))))[: len(powers)]


@dataclass(frozen=True, slots=True)
class StepBounds(Result):
    """Bounds on the step eta of LMS, w + eta e x, for an input with correlation matrix R."""

    #: 2/tr[R] = 2/(taps × power): the lecture's bound, for inputs whose x'x hardly varies from
    #: sample to sample. White Gaussian inputs of m taps allow m/(m + 2) of it, and a third of it is
    #: safe for Gaussian inputs of any colour (Feuer and Weinstein, 1985).
    mean_square: float
    #: 2/lambda_max(R), never smaller: up to here the average weights converge, while single runs
    #: may already blow up.
    mean: float

    def __str__(self) -> str:
        return (
            f"0 < eta < 2/tr[R] = {self.mean_square:.4g} for the mean square; "
            f"2/lambda_max(R) = {self.mean:.4g} for the mean of the weights"
        )


def max_step(x: Any, taps: int) -> StepBounds:
    """The largest steps for which LMS is stable on this input, taken as stationary.

    Parameters
    ----------
    x : array-like of shape (N,) or (N, channels)
        Silence bounds nothing: inf.
    taps : int

    Examples
    --------
    >>> from adaline.filters import max_step
    >>> print(max_step([1.0, -1.0, 1.0, -1.0], taps=1))
    0 < eta < 2/tr[R] = 2 for the mean square; 2/lambda_max(R) = 2 for the mean of the weights
    """
    return _step_bounds(_spectrum(x, taps))


@dataclass(frozen=True, eq=False)
class Theory(Result):
    """Predictions of small-step theory for LMS, w + eta e x, on a stationary input.

    With the convention w + 2 mu e x of some books, eta = 2 mu.
    """

    eta: float
    bounds: StepBounds
    eigenvalues: Array  #: Of R, the largest first.
    spread: float  #: lambda_max/lambda_min: how many times slower the slowest mode learns.
    #: 1/(eta lambda_i): samples in which mode i of the weights falls by e. In the learning curve,
    #: which is quadratic, modes fall twice as fast.
    time_constants: Array
    #: eta tr[R]/(2 - eta tr[R]), about eta tr[R]/2: excess error over the least error.
    misadjustment: float
    least_error: float  #: The power that no filter removes, ...
    final_error: float  #: ... and that times 1 + misadjustment.

    def __str__(self) -> str:
        fastest, slowest = self.time_constants[[0, -1]]
        return (
            f"eta = {self.eta:.4g} of at most {self.bounds.mean_square:.4g}; eigenvalue spread "
            f"{self.spread:.4g}; weights settle in {fastest:.4g} (fastest) to {slowest:.4g} "
            f"samples (slowest mode); misadjustment {100 * self.misadjustment:.3g} %"
        )


def theory(x: Any, taps: int, eta: float, noise: float = 0.0) -> Theory:
    """Predict LMS with step eta on this input: stability, speed, and final error.

    Parameters
    ----------
    x : array-like of shape (N,) or (N, channels)
        Input, taken as stationary.
    taps : int
    eta : float
    noise : float, default=0.0
        Power of what the best filter leaves: `WienerFilter.from_signals(x, d, taps).error`.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import theory
    >>> x = np.random.default_rng(0).normal(size=100_000)
    >>> t = theory(x, taps=10, eta=0.01, noise=1.0)
    >>> round(t.misadjustment, 2), round(t.spread, 1)
    (0.05, 1.0)
    """
    eta, noise = float(POSITIVE("eta", eta)), float(NOT_NEGATIVE("noise", noise))
    values = _spectrum(x, taps)
    with np.errstate(divide="ignore"):
        # Rounding may leave a tiny negative eigenvalue; such a mode never learns.
        constants = 1.0 / np.maximum(eta * values, 0.0)
    spread = float(values[0] / values[-1]) if values[-1] > 0 else np.inf
    load = float((eta * values).sum())
    excess = load / (2.0 - load) if load < 2.0 else np.inf
    final = noise * (1.0 + excess) if load < 2.0 else np.inf
    return Theory(eta, _step_bounds(values), values, spread, constants, excess, noise, final)


def _spectrum(x: Any, taps: int) -> Array:
    """Eigenvalues of R, the largest first."""
    signals, taps = as_lines(x, "x"), count()("taps", taps)
    require_memory({"taps": taps}, (signals.shape[1] * taps) ** 2)
    R, *_ = correlate(signals, np.zeros(len(signals)), taps, "autocorrelation")
    return eigenvalues(whole_matrix(R))


def _step_bounds(values: Array) -> StepBounds:
    with np.errstate(divide="ignore"):
        return StepBounds(*(float(2.0 / max(v, 0.0)) for v in (values.sum(), values[0])))
