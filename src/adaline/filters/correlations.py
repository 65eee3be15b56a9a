"""Correlations of a delay line with itself and with the wanted signal, without its data matrix.

x (N, C) references    d (N,) wanted    M taps    row n of the delay line: x_c(n - i), i = 0 .. M-1
R[(c,i), (c',j)] = mean of x_c(n-i) conj x_c'(n-j)        r[(c,i)] = mean of x_c(n-i) conj d(n)

The method says over which n the mean runs, as the literature names it:

prewindowed      n = 0 .. N-1, with zeros before the signal: what a filter started at rest sees.
covariance       n = M-1 .. N-1: only rows that lie wholly inside the signal.
autocorrelation  all n, with zeros before and after: R is Toeplitz, and never indefinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adaline.parameters import words

Method = Literal["prewindowed", "covariance", "autocorrelation"]


@dataclass(frozen=True, eq=False)
class Correlations:
    """Second-order statistics: R whole or, where it is Toeplitz, by its first column."""

    R: NDArray[Any]
    r: NDArray[Any]
    power: float
    rows: int

    @property
    def toeplitz(self) -> bool:
        """Whether R holds a first column only."""
        return self.R.ndim == 1

    def matrix(self) -> NDArray[Any]:
        """R whole."""
        return toeplitz(self.R) if self.toeplitz else self.R


def toeplitz(column: NDArray[Any]) -> NDArray[Any]:
    """The Hermitian Toeplitz matrix of a first column."""
    line = np.concatenate([column[:0:-1].conj(), column])
    M = len(column)
    windows = np.lib.stride_tricks.sliding_window_view(line, M)
    return np.ascontiguousarray(windows[::-1].T)


def correlate(x: NDArray[Any], d: NDArray[Any], taps: int, method: Method) -> Correlations:
    """Correlations of x (N, C) and d (N,), in double precision."""
    words(*get_args(Method))("method", method)
    N, C = x.shape
    before = taps - 1 if method != "covariance" else 0
    after = taps - 1 if method == "autocorrelation" else 0
    dtype = np.result_type(x, d, np.float64)
    z = np.zeros((C, before + N + after), dtype=dtype)  # one contiguous line a channel
    z[:, before : before + N] = x.T
    wanted = np.zeros(z.shape[1], dtype=dtype)
    wanted[before : before + N] = d
    wanted = wanted[taps - 1 :]
    rows = len(wanted)
    if rows < 1:
        raise ValueError(
            f"the covariance method uses rows wholly inside the signal, and {N} samples hold none "
            f"of {taps} taps. Give more samples, or use method='prewindowed'."
        )
    mean = rows - after
    r = np.array(
        [np.vdot(wanted, z[c, taps - 1 - i :][:rows]) for c in range(C) for i in range(taps)]
    )
    power = float(np.vdot(wanted, wanted).real) / mean
    if method == "autocorrelation" and C == 1:
        column = np.array([np.vdot(z[0, i:], z[0, : z.shape[1] - i]) for i in range(taps)])
        return Correlations(column / mean, r / mean, power, mean)
    return Correlations(_gram(z, taps, rows) / mean, r / mean, power, mean)


def _gram(z: NDArray[Any], taps: int, rows: int) -> NDArray[Any]:
    """The sum of u u^H over rows u = (z_c(n - i)) that lie wholly inside the lines z (C, L)."""
    C = len(z)
    if rows <= taps:  # fewer rows than taps: the data matrix is smaller than R
        windows = np.lib.stride_tricks.sliding_window_view(z, taps, axis=1)[:, :, ::-1]
        U = np.ascontiguousarray(windows.transpose(1, 0, 2)).reshape(rows, C * taps)
        return np.asarray(U.T @ U.conj())
    R = np.zeros((C, taps, C, taps), dtype=z.dtype)
    for a in range(C):
        for b in range(C):
            for lag in range(taps):
                j = np.arange(taps - lag)
                sums = _sliding(z[a], z[b], lag, taps, rows)
                R[a, j + lag, b, j] = sums
                R[b, j, a, j + lag] = sums.conj()
    return R.reshape(C * taps, C * taps)


def _sliding(p: NDArray[Any], q: NDArray[Any], lag: int, taps: int, rows: int) -> NDArray[Any]:
    """Sums of p(n - lag - j) conj q(n - j) over the rows n, for j = 0 .. taps-1-lag.

    From one j to the next one product enters the sum and one leaves. The sums are made by additions
    only: a subtraction would keep the rounding error of a loud sample for good.
    """
    m = taps - lag
    # Products start at n - j = lag, the earliest, for j = m - 1; n - j = taps - 1 + rows ends them.
    common = np.vdot(q[taps - 1 : lag + rows], p[m - 1 : rows])
    early = p[: m - 1] * q[lag : taps - 1].conj()
    late = p[rows : rows + m - 1] * q[lag + rows : lag + rows + m - 1].conj()
    sums = np.full(m, common)
    sums[1:] += np.cumsum(early[::-1])
    sums[:-1] += np.cumsum(late)[::-1]
    return sums
