"""The Wiener filter: the best fixed filter for stationary signals, in closed form.

x (N, C) references    d (N,) wanted    M taps    row n of the delay line: x_c(n - i), i = 0 .. M-1
R[(c,i), (c',j)] = mean of x_c(n-i) conj x_c'(n-j)        r[(c,i)] = mean of x_c(n-i) conj d(n)

The method says over which rows the mean runs; see `WienerFilter.from_signals`.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np

from adaline.errors import IllConditionedWarning, RankDeficientWarning
from adaline.filters.filter import Filter, Learns
from adaline.filters.signals import Signal, as_numbers, as_pair, kind_of, require_memory
from adaline.linalg import eigenvalues, levinson, solve_hermitian
from adaline.parameters import FLAG, NOT_NEGATIVE, count, words

Method = Literal["prewindowed", "covariance", "autocorrelation"]
MAX_CONDITION = 1e12  # beyond this fewer than four digits of the weights are sure
INPUT_TOLERANCE = 1e-9  # relative: how far correlations given by hand may miss what they should be


class WienerFilter(Filter):
    """The filter with the least mean square error: w = R^-1 r, with R = E[x x^H], r = E[x conj(d)].

    Lecture: the linear least-squares filter and the Wiener filter. Make it with `from_signals` or
    `from_correlations`; then `process` filters blocks of any length with these weights. LMS and RLS
    approach them on stationary signals.

    Parameters
    ----------
    weights : array-like of shape (taps,) or (channels, taps)
        Fixed weights w; y(n) = w^H x(n).
    error : float, default=NaN
        Their mean square error, where it is known.
    rank : int, optional
        The rank of R they were computed with; all weights if not given.
    dtype, on_nan
        As in LMS.

    Attributes
    ----------
    weights : ndarray of shape (taps,) or (channels, taps)
    error : float
        Least mean square error J = E|d|^2 - r^H R^-1 r; NaN where it is not known.
    rank : int
        Below channels × taps the weights are the shortest of many that are equally good.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import WienerFilter
    >>> f = WienerFilter.from_correlations(R=[2.0, 0.0], r=[1.0, 0.5], power=1.0)
    >>> f.weights, f.error
    (array([0.5 , 0.25]), 0.375)
    >>> y, e = f.process([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> y
    array([0.5 , 1.25, 2.  ])
    """

    _example: ClassVar = {"weights": [0.5, -0.2]}
    _takes_rows: ClassVar = False

    def __init__(
        self,
        weights: Any,
        error: float = np.nan,
        rank: int | None = None,
        *,
        dtype: Any = None,
        on_nan: str = "raise",
    ) -> None:
        shape = as_numbers(weights, "weights").shape
        if not shape or not shape[-1] or len(shape) > 2:
            raise ValueError(f"weights have shape {shape}; expected (taps,) or (channels, taps).")
        unknown = isinstance(error, float | np.floating) and np.isnan(error)
        self.error = np.nan if unknown else float(NOT_NEGATIVE("error", error))
        size = int(np.prod(shape))
        self.rank = size if rank is None else count(0, size)("rank", rank)
        super().__init__(shape[-1], weights=weights, dtype=dtype, on_nan=on_nan)
        self._adapting = False

    @classmethod
    def from_signals(
        cls, x: Any, d: Any, taps: int, method: Method = "prewindowed", **settings: Any
    ) -> Self:
        """The Wiener filter of given signals; means over the samples estimate the correlations.

        Parameters
        ----------
        x : array-like of shape (N,) or (N, channels)
            The reference, what will be filtered.
        d : array-like of shape (N,)
            The desired signal.
        taps : int
        method : {"prewindowed", "covariance", "autocorrelation"}, default="prewindowed"
            Which samples count. "prewindowed": all N, with zeros before the first, as `process`
            sees them; RLS without forgetting ends there. "covariance": only those from the taps-th
            on, which see no zeros. "autocorrelation": zeros before and after; R is Toeplitz and
            solved in taps^2 operations (Levinson).
        **settings
            `dtype` and `on_nan` of the filter.

        Returns
        -------
        WienerFilter
            Of least length where R is singular (silence, few sinusoids), with a
            RankDeficientWarning.
        """
        reference, desired = as_pair(x, "x", d, "d")
        taps = count()("taps", taps)
        require_memory({"taps": taps}, (reference.shape[1] * taps) ** 2)
        # Powers of two, so that squares stay in range and nothing is rounded.
        scale_x, scale_d = _unit(reference), _unit(desired)
        u = reference.astype(np.result_type(reference, np.float64)) / scale_x
        v = desired.astype(np.result_type(desired, np.float64)) / scale_d
        means = correlate(u, v, taps, method)
        w, rank = _solve(means.R, means.r)
        W = w.reshape(u.shape[1], taps)
        if method == "autocorrelation":
            error = max(0.0, means.power - float(np.vdot(means.r, w).real))
        else:
            rest = (v - _convolve(np.pad(u.T, [(0, 0), (taps - 1, 0)]), W))[-means.rows :]
            error = float(np.vdot(rest, rest).real) / means.rows
        with np.errstate(over="ignore", under="ignore"):
            W = (W * (scale_d / scale_x)).astype(kind_of(reference, desired))
            return cls(W, float(np.float64(error) * scale_d * scale_d), rank, **settings)

    @classmethod
    def from_correlations(cls, R: Any, r: Any, power: float | None = None, **settings: Any) -> Self:
        """The Wiener filter of known correlations.

        Parameters
        ----------
        R : array-like of shape (taps, taps), or (taps,)
            E[x x^H], or its first column where it is Toeplitz; of several channels one after the
            other.
        r : array-like of shape (taps,) or (channels, taps)
            E[x conj(d)].
        power : float, optional
            E|d|^2, which the least error is counted from.
        **settings
            `dtype` and `on_nan` of the filter.
        """
        matrix, vector = as_numbers(R, "R"), as_numbers(r, "r")
        kind = kind_of(matrix, vector)
        double = np.result_type(kind, np.float64)
        matrix, vector = matrix.astype(double), vector.astype(double)
        _check_correlations(matrix, vector)
        flat = vector.ravel()
        w, rank = _solve(matrix, flat)
        if rank < len(w):
            _check_semidefinite(whole_matrix(matrix), flat, w)
        error = np.nan
        if power is not None:
            power = float(NOT_NEGATIVE("power", power))
            explained = float(np.vdot(flat, w).real)
            if not power >= explained * (1 - INPUT_TOLERANCE):
                raise ValueError(f"power is {power!r}, less than r^H R^-1 r = {explained:.6g}.")
            error = max(0.0, power - explained)
        return cls(w.reshape(vector.shape).astype(kind), error, rank, **settings)

    @property
    def adapting(self) -> bool:
        """False: the weights are fixed."""
        return False

    @adapting.setter
    def adapting(self, on: bool) -> None:
        if FLAG("adapting", on):
            raise ValueError("adapting: a WienerFilter is fixed; give its weights to NLMS or RLS.")

    def _settings(self) -> dict[str, Any]:
        common = super()._settings()
        given = {name: common[name] for name in ("weights", "dtype", "on_nan")}
        return {"error": self.error, "rank": self.rank} | given

    def _adapt(self, line: Signal, hop: int, d: Signal, learns: Learns, y: Signal) -> int:
        with np.errstate(over="ignore", invalid="ignore"):
            y[:] = _convolve(line, self._get_weights())
        return len(d)


class Correlations(NamedTuple):
    """Second-order statistics: R whole or, where it is Toeplitz, its first column."""

    R: Signal
    r: Signal
    power: float
    rows: int

    def matrix(self) -> Signal:
        """R whole."""
        return whole_matrix(self.R)


def correlate(x: Signal, d: Signal, taps: int, method: Method) -> Correlations:
    """Correlations of x (N, C) and d (N,), in double precision, without the data matrix."""
    words(*get_args(Method))("method", method)
    N, C = x.shape
    before = taps - 1 if method != "covariance" else 0
    after = taps - 1 if method == "autocorrelation" else 0
    dtype = np.result_type(x, d, np.float64)
    z = np.pad(x.T.astype(dtype), [(0, 0), (before, after)])  # one line a channel
    wanted = np.pad(d.astype(dtype), (before, after))[taps - 1 :]
    rows = len(wanted)
    if rows < 1:
        raise ValueError(
            f"{N} samples hold none of {taps} taps without zeros; use method='prewindowed'."
        )
    mean = rows - after
    r = [np.vdot(wanted, z[c, taps - 1 - i :][:rows]) for c in range(C) for i in range(taps)]
    if method == "autocorrelation" and C == 1:
        R = np.array([np.vdot(z[0, i:], z[0, : z.shape[1] - i]) for i in range(taps)])
    else:
        R = _gram(z, taps, rows)
    return Correlations(R / mean, np.array(r) / mean, np.vdot(wanted, wanted).real / mean, mean)


def _gram(z: Signal, taps: int, rows: int) -> Signal:
    """The sum of u u^H over rows u = (z_c(n - i)) that lie wholly inside the lines z (C, L)."""
    C = len(z)
    if rows <= taps:  # fewer rows than taps: the data matrix is smaller than R
        windows = np.lib.stride_tricks.sliding_window_view(z, taps, axis=1)[:, :, ::-1]
        U = windows.transpose(1, 0, 2).reshape(rows, C * taps)
        return np.asarray(U.T @ U.conj())
    R = np.zeros((C, taps, C, taps), dtype=z.dtype)
    for a in range(C):
        for b in range(C):
            for lag in range(taps):
                j = np.arange(taps - lag)
                sums = _sum_products(z[a], z[b], lag, taps, rows)
                R[a, j + lag, b, j], R[b, j, a, j + lag] = sums, sums.conj()
    return R.reshape(C * taps, C * taps)


def _sum_products(p: Signal, q: Signal, lag: int, taps: int, rows: int) -> Signal:
    """Sums of p(n - lag - j) conj q(n - j) over the rows n, for j = 0 .. taps-1-lag.

    From one j to the next one product enters the sum and one leaves. The sums are made by additions
    only: a subtraction would keep the rounding error of a loud sample for good.
    """
    m = taps - lag
    # Products start at n - j = lag, the earliest, for j = m - 1; n - j = taps - 1 + rows ends them.
    sums = np.full(m, np.vdot(q[taps - 1 : lag + rows], p[m - 1 : rows]))
    sums[1:] += np.cumsum((p[: m - 1] * q[lag : taps - 1].conj())[::-1])
    late = p[rows : rows + m - 1] * q[lag + rows : lag + rows + m - 1].conj()
    sums[:-1] += np.cumsum(late)[::-1]
    return sums


def _convolve(x: Signal, W: Signal) -> Signal:
    """sum_c conj(w_c) * x_c for x (C, taps - 1 + N): N outputs."""
    return np.asarray(sum(np.convolve(u, w.conj(), "valid") for u, w in zip(x, W, strict=True)))


def _unit(signal: Signal) -> float:
    """A power of two near the largest sample."""
    top = float(np.abs(signal).max(initial=0.0))
    return float(2.0 ** np.clip(np.frexp(top)[1], -1000, 1000)) if top else 1.0


def whole_matrix(R: Signal) -> Signal:
    """R, also where its first column is given."""
    if R.ndim == 2:
        return R
    lag = np.subtract.outer(np.arange(len(R)), np.arange(len(R)))
    return np.asarray(np.where(lag < 0, R[abs(lag)].conj(), R[abs(lag)]))


def _solve(R: Signal, r: Signal) -> tuple[Signal, int]:
    """w with R w = r, and the rank of R, with a warning where digits or directions are missing."""
    w = levinson(R, r) if R.ndim == 1 and R[0] else None
    if w is not None:
        return w, len(r)
    w, rank, condition = solve_hermitian(whole_matrix(R), r)
    if rank < len(r):
        message = (
            f"R has rank {rank} of {len(r)}: the input does not excite all taps (silence, a "
            "constant, or few sinusoids). The weights are the shortest of those that are equally "
            "good for this input, and may be wrong for a richer one."
        )
        warnings.warn(message, RankDeficientWarning, stacklevel=3)
    elif condition > MAX_CONDITION:
        message = (
            f"R has condition number {condition:.1g}: the input hardly excites some directions of "
            "the weights, which are uncertain there; the error is hardly affected."
        )
        warnings.warn(message, IllConditionedWarning, stacklevel=3)
    return w, rank


def _check_correlations(R: Signal, r: Signal) -> None:
    if r.ndim not in (1, 2) or not r.size:
        raise ValueError(f"r has shape {r.shape}; expected (taps,) or (channels, taps).")
    if R.shape not in ((r.size,), (r.size, r.size)) or (R.ndim == 1 and r.ndim == 2 and len(r) > 1):
        raise ValueError(
            f"R has shape {R.shape} and r {r.shape}; expected R of shape ({r.size}, {r.size}), or "
            "of one channel its first column."
        )
    if not np.isfinite(R).all() or not np.isfinite(r).all():
        raise ValueError("R or r holds NaN or infinite numbers.")
    skew = np.abs(R - R.conj().T).max() if R.ndim == 2 else abs(R[0].imag)
    if skew > INPUT_TOLERANCE * np.abs(R).max():
        raise ValueError("R is not Hermitian; a correlation matrix is, R[i, j] = conj(R[j, i]).")


def _check_semidefinite(R: Signal, r: Signal, w: Signal) -> None:
    values = eigenvalues(R)
    if values[-1] < -INPUT_TOLERANCE * max(values[0], -values[-1]):
        raise ValueError(f"R has the eigenvalue {values[-1]:.4g}; expected none below zero.")
    if np.abs(R @ w - r).max() > np.sqrt(INPUT_TOLERANCE) * np.abs(r).max():
        raise ValueError("R is singular and r lies outside its range: of no signals.")
