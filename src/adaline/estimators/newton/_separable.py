"""Whether maximum likelihood exists, and what to say where it does not.

It exists where the classes overlap. Where they are separable, or touch, the likelihood grows for
ever along some direction (Albert and Anderson, 1984). A fit with a proven optimum proves that there
is one; for any other fit `procedures.separability` decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.separation.separation import Separability
from adaline.errors import SeparableError, plural
from adaline.procedures.separability import decide_data
from adaline.results import Array, NewtonFit

_SECONDS = 30.0  # for the verdict
_ADVICE = (
    "Maximum likelihood (alpha=0) has no finite weights here. Give alpha > 0, or alpha='firth' for "
    "Firth's penalty, which is finite on any data."
)


def verdict(
    X: Any, codes: NDArray[np.int64], classes: NDArray[Any], omega: Array, intercept: bool
) -> Separability:
    """Separability of the rows of positive weight; the proof names them by their places in X."""
    numbers = np.flatnonzero(omega) if len(omega) else np.arange(len(codes))
    labels = tuple(classes.tolist())
    return decide_data(
        Data(as_float64(X)[numbers], codes[numbers], labels, numbers), intercept, _SECONDS
    )


def refusal(found: Separability, fit: NewtonFit, names: list[str]) -> SeparableError | None:
    """The error for classes that are separable or touch, or seem to; None where they overlap."""
    if found.verdict == "overlapping" or (
        found.verdict == "undecided" and fit.outcome not in ("separated", "quasi")
    ):
        return None
    strength = np.abs(fit.theta[:, :-1]).max(axis=0)
    if found.weights:  # columns that the proof needs no weight of tell nothing apart
        s = int(found.fit_intercept)
        strength = strength * np.array([any(w) for w in zip(*found.weights, strict=True)][s:])
    along = ", ".join(names[j] for j in np.argsort(-strength)[:3] if strength[j] > 0)
    words = f"{found.explain(names)} They are told apart mostly by {along or 'the intercept'}."
    if found.verdict == "separable":
        return SeparableError(f"the classes are separable: {words} {_ADVICE}")
    if found.verdict == "quasi-separable":
        lead = "the classes touch" if len(found.labels) == 2 else "the classes are quasi-separable"
        return SeparableError(f"{lead}: {words} {_ADVICE}")
    return SeparableError(
        "the classes look separable, at least but for ties: after "
        f"{plural(fit.steps, 'step')} weights still grow; {words} {_ADVICE}"
    )
