"""The Wiener filter: the best fixed filter for stationary signals, in closed form."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from adaline.errors import IllConditionedWarning, RankDeficientWarning
from adaline.filters.correlations import Method, correlate, toeplitz
from adaline.filters.filter import Filter, Learns
from adaline.filters.signals import (
    Signal,
    as_numbers,
    kind_of,
    line,
    lines,
    numbers,
    require_memory,
    require_same_length,
)
from adaline.linalg import eigenvalues, levinson, solve_hermitian
from adaline.parameters import FLAG, NOT_NEGATIVE, count

ILL = 1e12  # beyond this condition number fewer than four digits of the weights are sure
ROUNDING = 1e-9  # how far correlations given by hand may miss what they should be


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
        The rank of R they were found with; all weights if not given.
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
            Which samples count. "prewindowed": all N, with zeros before the first: least squares
            over what `process` would see from rest, and the filter that RLS without forgetting
            ends at. "covariance": only those from the taps-th on, which see no zeros.
            "autocorrelation": zeros before and after; R is Toeplitz, solved by Levinson's
            recursion in taps^2 operations.
        **settings
            `dtype` and `on_nan` of the filter.

        Returns
        -------
        WienerFilter
            Where R is singular (silence, a few sinusoids) a RankDeficientWarning tells so, and the
            weights are the shortest of those that are equally good.
        """
        reference, desired = lines(x, "x"), line(d, "d")
        require_same_length(reference, "x", desired, "d")
        taps = count()("taps", taps)
        require_memory({"taps": taps}, (reference.shape[1] * taps) ** 2)
        # Powers of two, so that squares stay in range and nothing is rounded.
        scale_x, scale_d = _unit(reference), _unit(desired)
        u = reference.astype(np.result_type(reference, np.float64)) / scale_x
        v = desired.astype(np.result_type(desired, np.float64)) / scale_d
        found = correlate(u, v, taps, method)
        w, rank = _solved(found.R, found.r)
        W = w.reshape(u.shape[1], taps)
        if method == "autocorrelation":
            error = max(0.0, found.power - float(np.vdot(found.r, w).real))
        else:
            left = v - _filtered(np.pad(u.T, [(0, 0), (taps - 1, 0)]), W)
            left = left[len(v) - found.rows :]
            error = float(np.vdot(left, left).real) / found.rows
        with np.errstate(over="ignore", under="ignore"):
            W = (W * (scale_d / scale_x)).astype(kind_of(reference, desired))
            return cls(W, float(np.float64(error) * scale_d * scale_d), rank, **settings)

    @classmethod
    def from_correlations(cls, R: Any, r: Any, power: float | None = None, **settings: Any) -> Self:
        """The Wiener filter of known correlations.

        Parameters
        ----------
        R : array-like of shape (taps, taps), or (taps,)
            E[x x^H], whole, or its first column where it is Toeplitz. For channels
            (channels × taps) squared, channel after channel.
        r : array-like of shape (taps,) or (channels, taps)
            E[x conj(d)].
        power : float, optional
            E|d|^2, which the least error is counted from.
        **settings
            `dtype` and `on_nan` of the filter.
        """
        matrix, vector = numbers(R, "R"), numbers(r, "r")
        _check_correlations(matrix, vector)
        kind = kind_of(matrix, vector)
        double = np.result_type(kind, np.float64)
        matrix, flat = matrix.astype(double), vector.astype(double).ravel()
        w, rank = _solved(matrix, flat)
        whole_R = toeplitz(matrix) if matrix.ndim == 1 else matrix
        if rank < len(w):
            _check_semidefinite(whole_R, flat, w)
        error = np.nan
        if power is not None:
            power = NOT_NEGATIVE("power", power)
            explained = float(np.vdot(flat, w).real)
            if not power >= explained * (1 - ROUNDING):
                raise ValueError(
                    f"power is {power!r}, and R and r say that {explained:.6g} of it is explained; "
                    "no signals have such correlations."
                )
            error = max(0.0, float(power) - explained)
        return cls(w.reshape(vector.shape).astype(kind), error, rank, **settings)

    @property
    def adapting(self) -> bool:
        """False: the weights are fixed."""
        return False

    @adapting.setter
    def adapting(self, on: bool) -> None:
        if FLAG("adapting", on):
            raise ValueError(
                "adapting: a WienerFilter is fixed; give its weights to LMS, NLMS or RLS."
            )

    def _settings(self) -> dict[str, Any]:
        common = super()._settings()
        given = {name: common[name] for name in ("weights", "dtype", "on_nan")}
        return {"error": self.error, "rank": self.rank} | given

    def _adapt(self, line: Signal, hop: int, d: Signal, learns: Learns, y: Signal) -> int:
        with np.errstate(over="ignore", invalid="ignore"):
            y[:] = _filtered(line, self._get_weights())
        return len(d)


def _filtered(x: Signal, W: Signal) -> Signal:
    """sum_c conj(w_c) * x_c for x (C, taps - 1 + N): N outputs."""
    parts = [np.convolve(u, w.conj(), "valid") for u, w in zip(x, W, strict=True)]
    return np.asarray(sum(parts[1:], parts[0]))


def _unit(signal: Signal) -> float:
    top = float(np.abs(signal).max(initial=0.0))
    return float(2.0 ** np.clip(np.frexp(top)[1], -1000, 1000)) if top else 1.0


def _solved(R: Signal, r: Signal) -> tuple[Signal, int]:
    """w with R w = r, and the rank of R, with a warning where digits or directions are missing."""
    w = levinson(R, r) if R.ndim == 1 and R[0] else None
    if w is not None:
        return w, len(r)
    w, rank, condition = solve_hermitian(toeplitz(R) if R.ndim == 1 else R, r)
    if rank < len(r):
        warnings.warn(
            f"R has rank {rank} of {len(r)}: the input does not excite all taps (silence, a "
            "constant, or few sinusoids). The weights are the shortest of those that are equally "
            "good for this input, and may be wrong for a richer one.",
            RankDeficientWarning,
            stacklevel=3,
        )
    elif condition > ILL:
        warnings.warn(
            f"R has condition number {condition:.1g}: the input hardly excites some directions of "
            "the weights, which are uncertain there; the error is hardly affected.",
            IllConditionedWarning,
            stacklevel=3,
        )
    return w, rank


def _check_correlations(R: Signal, r: Signal) -> None:
    if r.ndim not in (1, 2) or not r.size:
        raise ValueError(f"r has shape {r.shape}; expected (taps,) or (channels, taps).")
    if R.shape not in ((r.size,), (r.size, r.size)) or (R.ndim == 1 and r.ndim == 2 and len(r) > 1):
        raise ValueError(
            f"R has shape {R.shape} and r {r.shape}; expected R of shape ({r.size}, {r.size})"
            + (f", or its first column ({r.size},)." if r.ndim == 1 else ".")
        )
    for name, array in (("R", R), ("r", r)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinite numbers.")
    largest = float(np.abs(R).max())
    skew = np.abs(R - R.conj().T).max() if R.ndim == 2 else abs(R[0].imag)
    if skew > ROUNDING * largest:
        raise ValueError("R is not Hermitian; a correlation matrix is, R[i, j] = conj(R[j, i]).")


def _check_semidefinite(R: Signal, r: Signal, w: Signal) -> None:
    values = eigenvalues(R)
    if values[-1] < -ROUNDING * max(values[0], -values[-1]):
        raise ValueError(
            f"R has the eigenvalue {values[-1]:.4g}; a correlation matrix has none below zero."
        )
    if np.abs(R @ w - r).max() > np.sqrt(ROUNDING) * np.abs(r).max():
        raise ValueError(
            "R is singular and r lies outside its range; no signals have such R and r."
        )
