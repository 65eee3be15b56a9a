"""Logistic regression for sparse text, by coordinate descent on the dual variables.

Letters: minimise P(w, b) = sum omega_i log(1 + exp(-t_i v_i)) + alpha/2 |w|^2 with v = w'x + b.
Its dual is to maximise

    D(lambda) = sum omega_i H(lambda_i / omega_i) - |sum lambda_i t_i x_i|^2 / (2 alpha),

H(a) = -a ln a - (1 - a) ln(1 - a), over 0 <= lambda_i <= omega_i; the bias, which is not
penalised, adds the constraint sum lambda_i t_i = 0. For any such lambda and any (w, b)
P(w, b) >= P* >= D(lambda): the gap P - D bounds how far from the optimum (w, b) is.

Method: one dual variable at a time (Yu, Huang and Lin, 2011), in its log-odds. The constraint
is met by a proximal term on the bias, whose centre follows the bias after each pass. Rows of
text share few features and need 5-30 passes. A few features that all rows share, or raw counts,
with |x|^2 / alpha in the thousands, need thousands of passes, and no scaling of rows or columns
changes that, as the dual is the same in all units. So when a hundred passes more are to be
expected, Newton's steps in units of the curvature's diagonal take over (`_newton_cg`); the gap is
the same kind of proof for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.errors import plural
from adaline.linalg import UNDERFLOW
from adaline.procedures.sparse_logistic._dual_descent import Descent
from adaline.procedures.sparse_logistic._dual_proof import EPS, DualRows, Proof
from adaline.procedures.sparse_logistic._newton_cg import TruncatedNewton
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array, Certificate, Fit

_TRIAL = 20  # passes after which it is judged how many more are to be expected
_PATIENCE = 100  # passes that cost about as much as Newton's steps from there
_LAST, _ROUNDING = "max_iter={max_iter} passes were made", "rounding allows no more"
_ASKED, _SLOW = "a callback asked to stop", "slow"


@dataclass(frozen=True, eq=False)
class DualFit(Fit):
    """A Fit with its dual variables.

    Attributes
    ----------
    passes : int
        How often every row was visited, by Newton's steps too.
    gap : float
        At least (P - P*) / P, the relative distance of P from its minimum; roundings included.
    value : float
        P(w, b).
    dual : ndarray of shape (n,)
        lambda, with w = sum lambda_i t_i x_i / alpha; after Newton's steps about so.
    """

    passes: int
    gap: float
    value: float
    dual: Array


@Stepwise
def dual_logistic(
    X: Any,
    t: Array,
    omega: Array,
    alpha: float,
    intercept: bool,
    gap: float = 1e-8,
    max_iter: int = 1000,
) -> Steps[DualFit]:
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
    rows = DualRows(X, np.asarray(t, dtype=np.float64), weights, float(alpha), intercept)
    descent = Descent(rows)
    walk: Descent | TruncatedNewton = descent
    passes, proof = 0, None
    try:
        why, proof = yield from _descended(descent, gap, max_iter)
        if why == _SLOW:
            walk = newton = TruncatedNewton(rows, descent.best(), max_iter - descent.passes)
            passes = descent.passes
            why, proof = yield from _stepped(newton, gap, passes)
    except KeyboardInterrupt:  # w is that of the last complete pass or step
        why = "interrupted"
    proof = walk.proof() if proof is None else proof
    return _fit(proof, rows.alpha, passes + walk.passes, gap, why, max_iter)


def _descended(state: Descent, gap: float, max_iter: int) -> Steps[tuple[str, Proof | None]]:
    """Passes until the gap is proven; why they ended, and the proof where it is at hand."""
    factor, before, tried, seen = 1.0, 0.0, 0, [np.inf]
    while True:
        found = state.descend(0.01 * gap)
        seen.append(found)
        # The gap was as found while the pass went by, and is less by now, as it was before.
        expected = factor * found * min(1.0, found / before if before else 1.0)
        before, since = found, state.passes - tried
        if (yield state.passes, None):
            return _ASKED, None
        last, done = state.passes >= max_iter, found <= EPS * state.value
        likely = expected <= gap * state.value and since > tried // 16
        if likely or done or since > 16 + tried // 2:  # a proof costs about three passes
            proof, tried = state.proof(), state.passes
            if proof.gap <= gap:
                return "", proof
            if done or proof.gap < 2.0 * proof.rounding:
                return _ROUNDING, proof
            factor *= max(proof.gap * proof.value / max(expected, 1e-300), 0.1)
        if last:
            return _LAST, None
        if _slow(seen, gap * max(state.value, 0.0)):
            return _SLOW, None


def _slow(seen: list[float], goal: float) -> bool:
    """Whether a hundred passes more are to be expected, judged by the gaps of the last five."""
    if not np.isfinite(seen[-1]) or len(seen) > _PATIENCE + _TRIAL:
        return True
    if len(seen) <= _TRIAL:
        return False
    rate = np.log(max(seen[-6] / seen[-1], 1.0)) / 5.0 if seen[-1] > 0.0 else np.inf
    return bool(np.log(max(seen[-1] / goal, 1.0)) > _PATIENCE * rate) if goal > 0.0 else True


def _stepped(walk: TruncatedNewton, gap: float, before: int) -> Steps[tuple[str, Proof | None]]:
    """Newton's steps, after the passes before, until the gap is proven; the same is returned."""
    goal = gap
    while True:
        if walk.gap <= goal * walk.value:
            proof = walk.proof()
            if proof.gap <= gap:
                return "", proof
            if proof.gap < 2.0 * proof.rounding:
                return _ROUNDING, proof
            goal *= 0.25
        if walk.tired:
            return _ROUNDING, None
        if walk.passes + 3 > walk.most:  # what the shortest step takes
            return _LAST, None
        walk.step(goal * walk.value)
        if (yield before + walk.passes, None):
            return _ASKED, None


def _fit(
    proof: Proof, alpha: float, passes: int, wanted: float, why: str, max_iter: int
) -> DualFit:
    """The proof as a Fit, in words."""
    # Roots apart, as products may underflow; and so may the weights, and the distance itself.
    distance = 1.01 * float(np.sqrt(2.0 * proof.gap) * np.sqrt(proof.value) / np.sqrt(alpha))
    distance += len(proof.w) * UNDERFLOW
    evidence = {
        "relative_gap": proof.gap,
        "value": proof.value,
        "passes": passes,
        "distance": distance,
    }
    proven = proof.gap <= wanted
    claim = (
        f"the duality gap is {proof.gap:.2g} of the criterion {proof.value:.8g}, so |w - w*| is "
        f"at most {distance:.2g}"
    )
    certificate = Certificate(
        "optimal" if proven else "unproven",
        f"{claim}." if proven else f"{claim}; a gap of {wanted:.2g} was wanted.",
        evidence,
    )
    reached = f"the duality gap reached {proof.gap:.2g} after {plural(passes, 'pass')}."
    why = why.format(max_iter=max_iter)
    stopped = reached if proven and why not in ("interrupted", _ASKED) else f"{why}; {reached}"
    W, b = proof.w[None, :], np.array([proof.b])
    return DualFit(W, b, stopped, certificate, passes, proof.gap, proof.value, proof.lam)
