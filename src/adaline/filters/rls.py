"""Recursive least squares with exponential forgetting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.filters.filter import Filter, Learns, Shapes
from adaline.filters.signals import Signal
from adaline.kernels.filters import rls as kernels
from adaline.parameters import POSITIVE, number, words

CALM_CONDITION = 1e9  # P is used again if the sum of P_kk (P^-1)_kk is below this


@dataclass(eq=False, repr=False)
class RLS(Filter):
    """Recursive least squares: w has the least weighted sum of all squared errors so far.

    After sample n, w minimises

        sum_i forgetting^(n-i) |d(i) - w^H x(i)|^2 + delta forgetting^(n+1) |w|^2.

    It learns in about 2 `taps` samples, whether the reference is coloured or not, and needs taps^2
    operations a sample. P, the inverse of the sum of x x^H, stays symmetric to the last bit, stays
    bounded while the reference is silent, and is in double precision for float32 signals too. A
    sample much louder than those before it (x^H P x above 1e6), or a loud reference that excites
    few directions (P's condition above 1e11), would cost P its digits: P could turn indefinite, and
    the weights explode. From there the filter updates a triangular factor of P's inverse by Givens
    rotations, which lose no digits and take some ten times as long, until P is well conditioned
    (checked every 32 samples).

    Parameters
    ----------
    taps : int
    forgetting : float, default=0.999
        The factor lambda, 0 < lambda <= 1: the filter remembers about 1/(1 - lambda) samples, and
        all of them with 1. During silence it forgets nothing.
    delta : float or "auto", default="auto"
        The regularisation at the start, P = I/delta. "auto" is a hundredth of the power of the
        first sample that is not silent.
    weights, dtype, on_nan, history
        As in LMS. With initial weights w0 the last term is delta forgetting^(n+1) |w - w0|^2:
        directions that x does not excite stay as given.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import RLS
    >>> x = np.random.default_rng(0).standard_normal(100)
    >>> f = RLS(taps=3)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:100])
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    forgetting: float = 0.999
    delta: float | str = "auto"

    _parameters: ClassVar = {
        "forgetting": number(0.0, 1.0, above=True),
        "delta": words("auto") | POSITIVE,
    }
    _numbers: ClassVar = kernels.Level

    @property
    def inverse(self) -> Signal:
        """P now, a copy (m, m), m = channels * taps: the inverse of the weighted sum of x x^H."""
        if self._kind is None:
            raise ValueError("P is known after the first block.")
        matrix = self._memory["matrix"]
        if self._level.rotating:
            root = np.linalg.inv(matrix)
            P = root @ root.conj().T
        else:
            P = matrix
        return np.asarray((P + P.conj().T) / 2)

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        m, double = channels * self.taps, np.result_type(kind, np.float64)
        return super()._shapes(channels, kind) | {
            "w": (double, (channels, self.taps)),
            "matrix": (double, (m, m)),  # P, or R above its diagonal
            "z": (double, (m,)),  # of R w = z
        }

    def _adapt(self, line: Signal, hop: int, d: Signal, learns: Learns, y: Signal) -> int:
        matrix, z = self._memory["matrix"], self._memory["z"]
        w = self._memory["w"].reshape(-1)
        delta = 0.0 if self.delta == "auto" else float(self.delta)
        mirrors = True if w.dtype.kind == "c" else None
        at, why = 0, kernels.CHECK
        while why in (kernels.LOST, kernels.CHECK):
            if self._level.rotating:
                at, why, level = kernels.rotations(
                    line, hop, at, d, learns, self._count, matrix, z, w, self.forgetting,
                    tuple(self._level), y,
                )  # fmt: skip
            else:
                at, why, level = kernels.recursion(
                    line, hop, at, d, learns, self._count, matrix, w, self.forgetting, delta,
                    mirrors, tuple(self._level), y,
                )  # fmt: skip
            self._level = kernels.Level(*level)
            if why == kernels.LOST:
                self._use_factor()
            elif why == kernels.CHECK:
                self._use_inverse_if_calm()
        return int(at)

    def _use_factor(self) -> None:
        """From P to R with R^H R = P^-1, and z = R w."""
        P = self.inverse
        tiny = np.finfo(np.float64).tiny
        scale = np.sqrt(np.maximum(np.diag(P).real, tiny))  # for parts of very different sizes
        values, vectors = np.linalg.eigh(P / np.outer(scale, scale))
        least = len(P) * np.finfo(np.float64).eps * values[-1]  # what rounding leaves of a zero
        root = (vectors / np.sqrt(np.maximum(values, least))).conj().T / scale
        R = np.linalg.qr(root, mode="r")
        diagonal = np.diag(R)
        R *= (diagonal.conj() / np.abs(diagonal))[:, None]
        self._memory["matrix"][:] = np.triu(R)
        self._memory["z"][:] = self._memory["matrix"] @ self._memory["w"].reshape(-1)
        self._level = self._level._replace(rotating=1.0)

    def _use_inverse_if_calm(self) -> None:
        """From R to P, if the sum of P_kk (P^-1)_kk is small.

        Each term says how much of input k the other inputs explain, in any units: 1/(1 - R_k^2). By
        the inequality of Cauchy and Schwarz the sum is at least sum |x_k|^2 P_kk / x^H P x.
        """
        R = self._memory["matrix"]
        with np.errstate(all="ignore"):
            columns, own = (np.abs(R) ** 2).sum(axis=0), np.abs(np.diag(R)) ** 2
            if not (columns / own).sum() < CALM_CONDITION:  # P_kk is at least 1/R_kk^2
                return
            P = self.inverse
            if not (columns * np.diag(P).real).sum() < CALM_CONDITION:
                return
        R[:] = P
        self._memory["z"][:] = 0.0
        self._level = self._level._replace(rotating=0.0)

    def _check_state(self) -> None:
        diagonal = np.diag(self._memory["matrix"])
        if self._level.rotating and not (diagonal.real > 0.0).all():
            raise ValueError("state has a memory whose factor has no inverse.")

    def _get_weights(self) -> Signal:
        assert self._kind is not None
        return self._memory["w"].astype(self._kind)

    def _set_weights(self, W: Signal) -> None:
        super()._set_weights(W)
        self._memory["w"][:] = W  # unlike elsewhere, the newest sample's weight comes first
        if self._level.rotating:
            self._memory["z"][:] = self._memory["matrix"] @ self._memory["w"].reshape(-1)
