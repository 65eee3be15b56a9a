"""What to say where maximum likelihood does not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.sides import separation
from adaline.errors import SeparableError
from adaline.objective import LogisticLoss
from adaline.procedures._newton_fit import NewtonFit
from adaline.procedures._rows import projected

_CERTAIN = 12.0  # log-odds of a sample whose probability is one for all we can tell
_ADVICE = (
    "Maximum likelihood (alpha=0) has no finite weights here. Give alpha > 0, or alpha='firth' for "
    "Firth's penalty, which is finite on any data of two classes."
)


def refusal(
    fit: NewtonFit, loss: LogisticLoss, X: Any, codes: NDArray[np.int64], names: list[str]
) -> SeparableError:
    """The error for a fit that found a separating hyperplane, or weights that grow for ever."""
    strength = np.abs(fit.theta[:, :-1]).max(axis=0)
    along = ", ".join(names[j] for j in np.argsort(-strength)[:3] if strength[j] > 0)
    if fit.outcome == "separated":
        counted = loss.omega > 0 if len(loss.omega) else np.ones(len(codes), dtype=bool)
        proof = separation(fit.W, fit.b, X[counted], codes[counted])
        sure = "" if proof.kind == "separable" else " to rounding:"
        return SeparableError(
            f"a hyperplane separates the classes{sure or ':'} {proof.statement} It is told apart "
            f"mostly by {along or 'the intercept'}. {_ADVICE}"
        )
    m = _leads(fit, loss)
    certain = np.flatnonzero(m > _CERTAIN)
    some = ", ".join(str(i) for i in certain[:5]) + (", ..." if len(certain) > 5 else "")
    return SeparableError(
        f"the classes look separable but for ties (quasi-separation): after {fit.steps} steps "
        f"weights still grow, mostly along {along or 'the intercept'}; {len(certain)} of {len(m)} "
        f"samples (rows {some}) have probability 1 to rounding, while the others are not "
        f"separated. {_ADVICE}"
    )


def _leads(fit: NewtonFit, loss: LogisticLoss) -> NDArray[np.float64]:
    """By how much each row's own class leads, in log-odds."""
    V = projected(loss, fit.theta.T)
    if loss.K == 1:
        return np.asarray(loss.target * V[:, 0])
    own = np.arange(len(V)), loss.target
    lead = V[own].copy()
    V[own] = -np.inf
    return np.asarray(lead - V.max(axis=1))
