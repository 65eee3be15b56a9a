"""Ho and Kashyap: find weights and margins together, or the proof that there are none.

    e = Ya - b,    b <- b + eta (e + |e|),    a <- Y^+ b

Rows of Y are t (1, x), t = -1 or +1. Margins b start positive and never fall. On separable
classes e -> 0, so that Ya -> b > 0. On others e comes to have no positive component while e != 0;
as Y'e = 0, lambda = -e >= 0 is a weighing of the samples that balances every hyperplane, and no
Ya can be positive throughout. Lecture: 001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adaline.kernels.separability.ho_kashyap import iterate
from adaline.linalg import UNIT
from adaline.procedures.ho_kashyap.column_space import ColumnBasis, Dense
from adaline.procedures.steps import Steps, Stepwise
from adaline.results import Array, Fit

Proof = Callable[[Array], bool]
Start = tuple[Array, float, Array]  # w, bias and the values w'x + bias
# The space, coordinates u of a(k) or its start, b, Ya, and roots of the weights of the samples.
Iteration = tuple[ColumnBasis, Array, Start | None, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class HoKashyapFit(Fit):
    """A Fit found with its margins; K neurons, n samples.

    Attributes
    ----------
    margins, errors : ndarray of shape (K, n)
        The last b, and e = Ya - b.
    iterations : tuple of int
        k of the last a(k), for each neuron; the start is a(1).
    ends : tuple of {"separated", "balanced", "iterations"}
        How each ended: all Ya > 0; e <= 0 with e != 0; or after max_iter.
    """

    margins: Array
    errors: Array
    iterations: tuple[int, ...]
    ends: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """The end of one neuron: a(k) = (b, w) apart, margins, errors, k and why."""

    w: Array
    bias: float
    margins: Array
    errors: Array
    k: int
    end: str


def shown(here: Iteration) -> tuple[Array, float, Array, Array]:
    """w, bias, b and Ya of an iteration, the last two without the weights of the samples."""
    space, u, start, b, Ya, root = here
    w, bias = start[:2] if start else space.weights(u)
    return w, bias, b / root, Ya / root


@Stepwise
def ho_kashyap(
    space: ColumnBasis,
    t: Array,
    b: Array,
    root: Array,
    start: Start | None = None,
    *,
    eta: float = 0.9,
    max_iter: int = 1000,
    tol: float = 1e-6,
    proof: Proof = lambda balance: True,
) -> Steps[Run]:
    """Margins and weights of one dichotomy; its steps are for `shown`, before each correction.

    Parameters
    ----------
    space : ColumnBasis
        The columns of (1, X), factorised once.
    t, b, root : ndarray of shape (n,)
        Targets -1 or +1, the first margins b(1) > 0, and square roots of the sample weights, by
        which every row of Y and b is multiplied.
    start : (w, bias, values w'x + bias), optional
        a(1); Y^+ b(1) where none is given.
    eta : float
        0 < eta < 1.
    tol : float
        Corrections e + |e| below tol times the largest |e| count as none.
    proof : callable
        lambda (n,) to bool: whether it proves what it seems to; asked again at a tenth of tol while
        it does not.
    """
    b = root * b
    Ya, raised, spare = np.empty_like(b), np.empty_like(b), np.empty(0)
    u = np.empty(0) if start else space.coordinates(t * b)
    for k in range(1, max_iter + 1):
        if start or not isinstance(space, Dense):
            Ya = root * t * start[2] if start else t * space.values(u)
            raised, ahead, seen = _from_values(space, t, Ya, b, eta)
        else:
            ahead = spare if len(spare) else np.empty_like(u)
            seen = iterate(space.basis, t, u, b, eta, Ya, raised, ahead)
        here = space, u, start, b, Ya, root
        yield k, here
        end, tol = _ended(seen, b, Ya, root, tol, None if start else proof)
        if end or k == max_iter:
            w, bias, margins, _ = shown(here)
            return Run(w, bias, margins, (Ya - b) / root, k, end or "iterations")
        b, raised, u, spare, start = raised, b, ahead, u, None
    raise ValueError(f"max_iter is {max_iter}; expected 1 or more.")


def _ended(
    seen: tuple[float, float, float],
    b: Array,
    Ya: Array,
    root: Array,
    tol: float,
    proof: Proof | None,
) -> tuple[str, float]:
    """How it ended, "" if it goes on; and the tolerance to go on with.

    Ya carries rounding errors of about |b| u: signs below that say nothing. Without a proof to ask,
    at a given a(1), where Y'e = 0 does not hold yet, only separation ends it.
    """
    least, low, high = seen
    noise = 16 * UNIT * float(np.linalg.norm(b))
    if least > noise:
        return "separated", tol
    if proof is None or -low <= noise or high > max(tol * -low, noise):
        return "", tol
    balance = np.maximum(b - Ya, 0.0) * root  # lambda, without what is left of positive e
    if proof(balance) or high <= noise:  # nothing is left to correct
        return "balanced", tol
    return "", tol / 10


def _from_values(
    space: ColumnBasis, t: Array, Ya: Array, b: Array, eta: float
) -> tuple[Array, Array, tuple[float, float, float]]:
    """What the kernel does, from Ya."""
    e = Ya - b
    raised = b + eta * (e + np.abs(e))
    u = space.coordinates(t * raised)
    return raised, u, (float(Ya.min()), float(e.min()), float(e.max()))
