"""Logistic regression for sparse text, by coordinate descent on the dual variables.

Letters: minimise P(w, b) = sum omega_i log(1 + exp(-t_i v_i)) + alpha/2 |w|^2 with v = w'x + b.
Its dual is to maximise

    D(lambda) = sum omega_i H(lambda_i / omega_i) - |sum lambda_i t_i x_i|^2 / (2 alpha),

H(a) = -a ln a - (1 - a) ln(1 - a), over 0 <= lambda_i <= omega_i; the bias, which is not
penalised, adds the constraint sum lambda_i t_i = 0. For any such lambda and any (w, b)
P(w, b) >= P* >= D(lambda): the gap P - D bounds how far from the optimum (w, b) is.

Method: one dual variable at a time (Yu, Huang and Lin, 2011), in its log-odds. The constraint
is met by a proximal term on the bias, whose centre follows the bias after each pass. Rows of
text share few features and need 5-30 passes; a few dense features that all rows share, with
|x|^2 / alpha in the thousands, need thousands: there Newton's method is the better one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.kernels import dual as kernels
from adaline.results import Array, Certificate, Fit

_BLOCK = 8  # neighbours that are shuffled together, for the sake of memory; 512 slow learning
_FOLLOWED = 100  # rows whose curvature holds the bias back
_START = -7.0  # log-odds of the first dual variables: about 0.001 omega
_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class DualFit(Fit):
    """A Fit with its dual variables.

    Attributes
    ----------
    passes : int
        How often every row was visited.
    gap : float
        (P - D) / P, at least the relative distance of P from its minimum.
    value : float
        P(w, b).
    dual : ndarray of shape (n,)
        lambda, with w = sum lambda_i t_i x_i / alpha.
    """

    passes: int
    gap: float
    value: float
    dual: Array


def dual_logistic(
    X: Any,
    t: Array,
    omega: Array,
    alpha: float,
    intercept: bool,
    gap: float = 1e-8,
    max_iter: int = 1000,
) -> DualFit:
    """(w, b) minimising sum omega log(1 + exp(-t v)) + alpha/2 |w|^2, with a bound on the error.

    Parameters
    ----------
    X : CSR of shape (n, p), float64 or float32
        Without duplicate entries.
    t : ndarray of shape (n,)
        -1 or +1.
    omega : ndarray of shape (n,) or (0,)
        Weights of the rows; none for ones.
    alpha : float
        Penalty, positive: without one the dual has no coordinates to move along.
    intercept : bool
        Whether there is a bias, which is not penalised.
    gap : float
        Stop when the duality gap is at most this part of P.
    max_iter : int
        Passes at most.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 2.0]]))
    >>> fit = dual_logistic(X, np.array([1.0, 1.0, -1.0, -1.0]), np.empty(0), 1.0, True)
    >>> fit.W.round(3), fit.b.round(3), fit.certificate.kind
    (array([[ 0.84 , -0.553]]), array([-0.083]), 'optimal')
    """
    if not max_iter >= 1:
        raise ValueError(f"max_iter is {max_iter}; at least one pass has to be made.")
    if not alpha > 0.0:
        raise ValueError(f"alpha is {alpha}; the dual needs a positive penalty. Use Newton's.")
    weights = np.asarray(omega, dtype=np.float64) if len(omega) else np.ones(X.shape[0])
    signs = np.unique(t[weights > 0.0])
    if len(signs) == 0 or (intercept and len(signs) < 2):
        raise ValueError(
            f"the targets with weight are {signs.tolist()}; a bias without penalty needs both -1 "
            "and +1, else it grows without bound."
        )
    state = _Descent(X, np.asarray(t, dtype=np.float64), weights, float(alpha), intercept)
    try:
        return _descended(state, gap, max_iter)
    except KeyboardInterrupt:  # a pass is one call of a kernel, so the last one is complete
        return state.proof().fit(state.passes, gap, "interrupted")


def _descended(state: _Descent, gap: float, max_iter: int) -> DualFit:
    factor, before = 1.0, 0.0
    while True:
        found = state.descend(0.01 * gap)
        # The gap was as found while the pass went by, and is less by now, as it was before.
        expected = factor * found * min(1.0, found / before if before else 1.0)
        before = found
        last, done = state.passes >= max_iter, found <= _UNIT * state.value
        if expected <= gap * state.value or last or done:
            proof = state.proof()
            if proof.gap <= gap or last or done:
                why = "rounding allows no more" if done else f"max_iter={max_iter} passes were made"
                return proof.fit(state.passes, gap, why)
            factor *= max(proof.gap * proof.value / max(expected, 1e-300), 0.1)


@dataclass(frozen=True, eq=False)
class _Proof:
    """A primal point, a feasible dual point, and what lies between them."""

    w: Array
    b: float
    lam: Array
    value: float
    gap: float
    alpha: float

    def fit(self, passes: int, wanted: float, why: str) -> DualFit:
        distance = float(np.sqrt(2.0 * self.gap * self.value / self.alpha))
        evidence = {
            "relative_gap": self.gap,
            "value": self.value,
            "passes": passes,
            "distance": distance,
        }
        proven = self.gap <= wanted
        claim = (
            f"the duality gap is {self.gap:.2g} of the criterion {self.value:.8g}, so |w - w*| is "
            f"at most {distance:.2g}"
        )
        certificate = Certificate(
            "optimal" if proven else "unproven",
            f"{claim}." if proven else f"{claim}; a gap of {wanted:.2g} was wanted.",
            evidence,
        )
        reached = f"the duality gap reached {self.gap:.2g} after {passes} passes."
        stopped = reached if proven else f"{why}; {reached}"
        W, b = self.w[None, :], np.array([self.b])
        return DualFit(W, b, stopped, certificate, passes, self.gap, self.value, self.lam)


class _Descent:
    """Where the descent is: log-odds u and dual variables lam of the rows, z, and the bias."""

    def __init__(self, X: Any, t: Array, omega: Array, alpha: float, intercept: bool) -> None:
        self.rows = X.data, X.indices, X.indptr
        self.p = X.shape[1]
        self.t, self.omega, self.alpha, self.intercept = t, omega, alpha, intercept
        self.squares = kernels.row_squares(X.data, X.indptr)
        if not np.isfinite(self.squares).all():
            raise ValueError("a row of X is so long that |x|^2 leaves float64; scale the features.")
        self.u = np.full(len(t), _START)
        self.lam = omega * kernels.share(_START)
        self.z = kernels.combination(*self.rows, self.lam * t, self.p)
        plus, minus = omega[t > 0.0].sum(), omega[t < 0.0].sum()
        self.b = np.array([np.log(plus / minus) if intercept else 0.0, 0.0])
        self.pull, self.passes = 0.0, 0
        self.random = np.random.default_rng(0)
        self.value = np.log(2.0) * omega.sum()

    def descend(self, idle: float) -> float:
        """One pass; returns about what the gap was while it went by."""
        if self.intercept:
            self.b[1] = self.lam @ self.t
            self.pull = self._pull()
        idle = idle * self.value / len(self.t)
        state = self.b, self.u, self.lam, self.z
        order = _shuffled(len(self.t), self.random)
        target = self.t, self.omega, self.squares, order
        gap = kernels.dual_pass(*self.rows, *target, self.alpha, self.pull, idle, *state)
        if self.intercept:
            self.b[0] += self.pull * self.b[1]
        self.value = kernels.entropy(self.omega, self.u) - self.z @ self.z / (2.0 * self.alpha)
        self.passes += 1
        return float(gap)

    def _pull(self) -> float:
        """1 / the curvature of some hundred rows: the bias follows what they ask for.

        Rows by the hundred agree well enough on the bias, whatever their number; with fewer it
        jumps about, with all of them it would need many passes to arrive.
        """
        rows = np.count_nonzero(self.omega)
        if self.passes == 0:  # the first dual variables say nothing
            return float(rows / (_FOLLOWED * 0.25 * self.omega.sum()))
        curvature = self.lam @ (1.0 - self.lam / np.where(self.omega > 0.0, self.omega, 1.0))
        return float(rows / (_FOLLOWED * max(curvature, _UNIT * self.omega.sum())))

    def proof(self) -> _Proof:
        """The dual point made feasible, its primal, the best bias for it, and the gap."""
        t, omega, alpha, u = self.t, self.omega, self.alpha, self.u
        if self.intercept:
            u = u + kernels.balance(t, omega, u) * t
        lam = omega * np.exp(-np.logaddexp(0.0, -u))
        w = kernels.combination(*self.rows, lam * t, self.p) / alpha
        v = kernels.products(*self.rows, w)
        b = -kernels.balance(t, omega, -t * v) if self.intercept else 0.0
        penalty = 0.5 * alpha * float(w @ w)
        P = kernels.logistic_loss(t, omega, v + b) + penalty
        D = kernels.entropy(omega, u) - penalty
        # Sums of n terms are off by n units of rounding at worst, and so is their difference.
        gap = max(P - D, 0.0) + len(t) * _UNIT * (P + penalty)
        return _Proof(w, b, lam, P, gap / P, alpha)


def _shuffled(n: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A random order of the rows that stays inside blocks of neighbours."""
    shift = int(random.integers(_BLOCK))  # so that neighbours are not always the same
    blocks = random.permutation(-(-(n + shift) // _BLOCK))
    places = blocks[:, None] * _BLOCK + np.arange(_BLOCK) - shift
    order: NDArray[np.int64] = random.permuted(places, axis=1).ravel()
    return order[(order >= 0) & (order < n)]
