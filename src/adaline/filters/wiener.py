"""The Wiener filter: the best fixed filter for stationary signals, in closed form.

x (N, C) references    d (N,) wanted    M taps    row n of the delay line: x_c(n - i), i = 0 .. M-1
R[(c,i), (c',j)] = mean of x_c(n-i) conj x_c'(n-j)        r[(c,i)] = mean of x_c(n-i) conj d(n)

The method says over which rows the mean runs; see `WienerFilter.from_signals`.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from adaline.errors import IllConditionedWarning, RankDeficientWarning
from adaline.filters.filter import Filter, Learns
from adaline.filters.signals import Signal, as_numbers, as_pair, kind_of, require_memory
from adaline.linalg import eigenvalues, solve_hermitian, toeplitz
from adaline.parameters import FLAG, NOT_NEGATIVE, count, words

Method = Literal["prewindowed", "covariance", "autocorrelation"]
MAX_CONDITION = 1e12  # beyond this fewer than four digits of the weights are sure
INPUT_TOLERANCE = 1e-9  # relative: how far correlations given by hand may miss what they should be
GRAM_ROWS = 4096  # rows of delay lines that are written out at a time; any round number


class WienerFilter(Filter):
    """The filter with the least mean square error: w = R^-1 r, with R = E[x x^H], r = E[x conj(d)].

    Make it with `from_signals` or `from_correlations`; then `process` filters blocks of any length
    with these weights. LMS and RLS approach them on stationary signals.

    Parameters
    ----------
    weights : array-like of shape (taps,) or (channels, taps)
        Fixed weights w; y(n) = w^H x(n).
    error : float, default=NaN
        Their mean square error J = E|d|^2 - r^H R^-1 r, where it is known.
    rank : int, optional
        The rank of R they were computed with: below channels × taps, the default, the weights are
        the shortest of many that are equally good.
    dtype, on_nan
        As in LMS.

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

    def __init__(
        self,
        weights: Any,
        error: float = np.nan,
        rank: int | None = None,
        *,
        dtype: Any = None,
        on_nan: str = "raise",
    ) -> None:
        W = as_numbers(weights, "weights")
        if not W.size or W.ndim not in (1, 2):
            raise ValueError(f"weights have shape {W.shape}; expected (taps,) or (channels, taps).")
        unknown = isinstance(error, float | np.floating) and np.isnan(error)
        self.error = np.nan if unknown else float(NOT_NEGATIVE("error", error))
        self.rank = W.size if rank is None else count(0, W.size)("rank", rank)
        super().__init__(W.shape[-1], weights=weights, dtype=dtype, on_nan=on_nan)
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
            on, which see no zeros. "autocorrelation": zeros before and after, so that R is
            Toeplitz.
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
        # Powers of two near the largest samples: squares stay in range, and no bit is lost.
        scale_x, scale_d = (
            float(2.0 ** np.clip(np.frexp(np.abs(v).max())[1], -1000, 1000))
            for v in (reference, desired)
        )
        u = reference.astype(np.result_type(reference, np.float64)) / scale_x
        v = desired.astype(np.result_type(desired, np.float64)) / scale_d
        R, r, power, rows = correlate(u, v, taps, method)
        w, rank = _solve(R, r)
        W = w.reshape(u.shape[1], taps)
        error = max(0.0, power - float(np.vdot(r, w).real))
        if method != "autocorrelation":  # those of the rows themselves, which lose fewer digits
            left = (v - _convolve(np.pad(u.T, [(0, 0), (taps - 1, 0)]), W))[-rows:]
            error = float(np.vdot(left, left).real) / rows
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
        matrix, flat = matrix.astype(double), vector.astype(double).ravel()
        _check_correlations(matrix, vector)
        w, rank = _solve(matrix, flat)
        if rank < len(w):
            _check_semidefinite(whole_matrix(matrix), flat, w)
        error, explained = np.nan, float(np.vdot(flat, w).real)
        if power is not None:
            error = float(NOT_NEGATIVE("power", power)) - explained
            if not error >= -INPUT_TOLERANCE * explained:
                raise ValueError(f"power is {power!r}, less than r^H R^-1 r = {explained:.6g}.")
            error = max(0.0, error)
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

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        with np.errstate(over="ignore", invalid="ignore"):
            y[:] = _convolve(line, self._get_weights())
        return len(d)


def correlate(x: Signal, d: Signal, taps: int, method: Method) -> tuple[Signal, Signal, float, int]:
    """R, r, the mean power of d, and the number of rows, of x (N, C) and d (N,).

    R is a matrix, or its first column where it is Toeplitz.
    """
    words(*get_args(Method))("method", method)
    N, C = x.shape
    before = taps - 1 if method != "covariance" else 0
    after = taps - 1 if method == "autocorrelation" else 0
    rows = N + before - taps + 1
    if rows < 1:
        raise ValueError(
            f"{N} samples hold none of {taps} taps without zeros; use method='prewindowed'."
        )
    dtype = np.result_type(x, d, np.float64)
    z = np.pad(x.T.astype(dtype), [(0, 0), (before, after)])  # one line a channel
    wanted = np.pad(d.astype(dtype), (before, after))[taps - 1 :]
    n = len(wanted)
    r = [np.vdot(wanted, z[c, taps - 1 - i :][:n]) for c in range(C) for i in range(taps)]
    if method == "autocorrelation" and C == 1:
        R = np.array([np.vdot(z[0, i:], z[0, : z.shape[1] - i]) for i in range(taps)])
    else:
        R = _gram(z, taps, n)
    return R / rows, np.array(r) / rows, np.vdot(wanted, wanted).real / rows, rows


def _gram(z: Signal, taps: int, rows: int) -> Signal:
    """The sum of u u^H over rows u = (z_c(n - i)) that lie wholly inside the lines z (C, L)."""
    C = len(z)
    windows = np.lib.stride_tricks.sliding_window_view(z, taps, axis=1)[:, :, ::-1]
    R = np.zeros((C * taps, C * taps), dtype=z.dtype)
    # By additions only: to update a sum from tap to tap would keep the rounding of a loud sample.
    for first in range(0, rows, GRAM_ROWS):
        U = windows[:, first : first + GRAM_ROWS].transpose(1, 0, 2).reshape(-1, C * taps)
        R += U.T @ U.conj()
    return R


def _convolve(x: Signal, W: Signal) -> Signal:
    """sum_c conj(w_c) * x_c for x (C, taps - 1 + N): N outputs."""
    return np.asarray(sum(np.convolve(u, w.conj(), "valid") for u, w in zip(x, W, strict=True)))


def whole_matrix(R: Signal) -> Signal:
    """R, also where its first column is given."""
    return R if R.ndim == 2 else np.asarray(toeplitz(R))


def _solve(R: Signal, r: Signal) -> tuple[Signal, int]:
    """w with R w = r, and the rank of R, with a warning where digits or directions are missing."""
    w, rank, condition = solve_hermitian(whole_matrix(R), r)
    if rank < len(r):
        message: Warning = RankDeficientWarning(
            f"R has rank {rank} of {len(r)}: the input does not excite all taps (silence, a "
            "constant, or few sinusoids). The weights are the shortest of those that are equally "
            "good for this input, and may be wrong for a richer one."
        )
        warnings.warn(message, stacklevel=3)
    elif condition > MAX_CONDITION:
        message = IllConditionedWarning(
            f"R has condition number {condition:.1g}: the input hardly excites some directions of "
            "the weights, which are uncertain there; the error is hardly affected."
        )
        warnings.warn(message, stacklevel=3)
    return w, rank


def _check_correlations(R: Signal, r: Signal) -> None:
    fits = r.ndim in (1, 2) and r.size and R.shape in ((r.size,), (r.size, r.size))
    if not fits or (R.ndim == 1 and r.ndim == 2 and len(r) > 1):
        raise ValueError(
            f"R has shape {R.shape} and r has shape {r.shape}; expected r (taps,) or (channels, "
            "taps), and R square with as many rows, or of one channel its first column."
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
