"""What Newton's procedure, and Firth's, give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adaline.results import Array, Fit

Outcome = Literal["converged", "max_iter", "rounding", "separated", "quasi", "interrupted"]


@dataclass(frozen=True, eq=False)
class NewtonFit(Fit):
    """A Fit by Newton's procedure.

    Attributes
    ----------
    theta : ndarray of shape (K, p + 1)
        In the units of the procedure.
    outcome : str
    steps : int
    value : float
        The penalised loss.
    rank : int
        Independent columns, the bias included; p + 1 unless columns depend on others.
    """

    theta: Array
    outcome: Outcome
    steps: int
    value: float
    rank: int
