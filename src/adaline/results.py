"""Nouns that flow out of a fit: frozen, and no bolder than the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Kind = Literal[
    "exact",
    "accurate",
    "optimal",
    "separable",
    "overlapping",
    "quasi-separable",
    "unproven",
    "undecided",
]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Evidence anyone can check without trusting the procedure that found the weights.

    Attributes
    ----------
    kind : str
        What is proven of `coef_` and `intercept_` as delivered, in float64 or, for float32
        samples, in float32:

        - "exact": correctly rounded. The exact solution for the given numbers lies less than half
          a step of the floating-point numbers from every coefficient and intercept, so that no
          other number of that dtype is closer to it.
        - "accurate": every coefficient (or all together) agrees with the exact solution to the
          number of digits that the statement says.
        - "optimal": the optimum is as close as the statement says, or these are it.
        - "separable"; "overlapping" (no hyperplane separates the classes); "quasi-separable"
          (none does, but one has no row on its wrong side).
        - "unproven" and "undecided" claim nothing.
    statement : str
        The claim in one sentence, no bolder than the evidence.
    evidence : mapping of str to number or array
        The numbers the statement rests on.
    """

    kind: Kind
    statement: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"


@dataclass(frozen=True, eq=False)
class Fit:
    """K linear neurons v = W x + b side by side, how they were found, and the evidence.

    Attributes
    ----------
    W, b : ndarray of shape (K, p) and (K,)
        Weights and biases.
    stopped : str
        Why learning ended, as a sentence.
    certificate : Certificate
    """

    W: Array
    b: Array
    stopped: str
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class ClosedFit(Fit):
    """A Fit found in closed form, and what the algebra knows of it.

    Attributes
    ----------
    rank : int
        Independent columns among the p (after centring, where there is a bias); the most there
        can be where sparse rows were solved by products alone.
    condition : float
        Condition number of the columns scaled to unit length, an estimate; NaN where unknown.
    W_low, b_low : ndarray
        What rounding W and b to float64 left over; zero where it is not known.
    squares : ndarray of shape (K,)
        Sums of squared residuals.
    root : ndarray of shape (p, p) or (p + 1, p), or None
        root root' is the inverse of the (penalised) scatter of x; None where it has none, and
        where penalties of many columns made a proof without it. A last row is mean'root, for the
        error of the bias, where both are known to their last digits; zeros without a bias.
    dependent : tuple of (int, tuple of int)
        Columns that are combinations of others, and of which.
    """

    rank: int
    condition: float
    W_low: Array
    b_low: Array
    squares: Array
    root: Array | None = None
    dependent: tuple[tuple[int, tuple[int, ...]], ...] = ()


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


@dataclass(frozen=True, eq=False)
class Posterior:
    """w ~ N(mean, covariance) given the data; for several targets the first axis is the target.

    Attributes
    ----------
    mean : ndarray of shape (p,) or (k, p)
        The ridge weights.
    covariance : ndarray of shape (p, p) or (k, p, p)
        sigma^2 (S + alpha I)^-1, or with a penalty for each column in the place of alpha.
    noise, prior : float or ndarray of shape (k,)
        sigma^2 = residual sum of squares / (n - dof), and the prior's variance sigma^2/alpha; where
        each column has its own penalty, a variance for each, (p,) or (k, p).
    """

    mean: Array
    covariance: Array
    noise: Any
    prior: Any


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log marginal likelihood of the targets; numbers, or arrays (k,) for several targets.

    Attributes
    ----------
    value : float
        ln p(y | alpha) at the penalty of the fit, -inf at alpha = 0.
    best_alpha, best_value : float
        The penalty that maximises it, and the maximum.
    """

    value: Any
    best_alpha: Any
    best_value: Any
