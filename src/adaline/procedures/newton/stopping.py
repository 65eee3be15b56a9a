"""When Newton's steps end, and what is said then: for rows in memory and in passes over a file."""

from __future__ import annotations

from adaline.certificates.optimality import CurvatureBound, optimality
from adaline.linalg import UNIT
from adaline.objective import Objective
from adaline.results import Array, Certificate, NewtonFit, Outcome

_SAID = {
    "converged": "the gradient is within the tolerance",
    "max_iter": "max_iter steps were made",
    "rounding": "rounding allows no further step",
    "separated": "a hyperplane separates the classes, and without a penalty no minimum exists",
    "interrupted": "interrupted; these are the weights after the last complete step",
}


def lowers(there: float, here: float, slope: float, size: float, weight: float) -> bool:
    """Whether f fell by 1e-4 of what the slope promised (Armijo), up to the rounding of f.

    size is the sum of the sizes of the terms of f, weight the sum of the sample weights.
    """
    return there <= here + 1e-4 * slope + 64 * UNIT * (size + weight * UNIT)


def is_noise(nu: float, size: float, weight: float) -> bool:
    """Whether the decrease still possible, nu^2 / 2, drowns in the rounding of f."""
    return nu * nu < 1e3 * UNIT * (size + weight * UNIT)


def proof(
    rows: Objective,
    bound: CurvatureBound,
    theta: Array,
    f: float,
    g: Array,
    rounding: Array,
    top: Array,
    rank: int,
) -> Certificate:
    """How near the minimum is; of rows, only the units are used."""
    found = optimality(bound, g, rounding, top, rows.scale, rows.shift, theta, f)
    if rank < theta.size and found.kind == "optimal":
        said = (
            "columns depend on others, so many weights give the same least loss; these are one "
            "choice."
        )
        return Certificate("unproven", said, found.evidence)
    return found


def concluded(
    rows: Objective,
    theta: Array,
    f: float,
    certificate: Certificate,
    rank: int,
    outcome: Outcome,
    steps: int,
    passes: int = 0,
) -> NewtonFit:
    """The fit, its weights in the units of X; passes are told where rows were read from a file."""
    W, b = rows.original(theta)
    why = rows.loss.endless if outcome == "quasi" else _SAID[outcome]
    read = f", {passes} passes over the rows" if passes else ""
    stopped = f"{why} ({steps} steps{read})."
    return NewtonFit(W, b, stopped, certificate, theta, outcome, steps, f, rank)
