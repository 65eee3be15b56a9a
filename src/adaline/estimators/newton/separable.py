"""Whether maximum likelihood exists, and what to say where it does not.

It exists where the classes overlap. Where they are separable, or touch, the likelihood grows for
ever along some direction (Albert and Anderson, 1984). A fit with a proven optimum proves that there
is one; for any other fit `procedures.separability` decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.separation.separation import Separability
from adaline.errors import SeparableError, plural
from adaline.procedures.separability import decide_data
from adaline.results import Array, NewtonFit

SECONDS = 30.0  # for the verdict
ADVICE = (
    "Maximum likelihood (alpha=0) has no finite weights here. Give alpha > 0, or alpha='firth' for "
    "Firth's penalty, which is finite on any data."
)


def refuse_separable(
    X: Any,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    omega: Array,
    fit: NewtonFit,
    intercept: bool,
    names: list[str],
) -> NewtonFit:
    """The fit, if there is a maximum of the likelihood at all; SeparableError where not.

    Rows of weight zero do not count; the proof names the others by their places in X.
    """
    if fit.certificate.kind == "optimal" or fit.outcome == "interrupted":
        return fit
    numbers = np.flatnonzero(omega) if len(omega) else np.arange(len(codes))
    data = Data(as_float64(X)[numbers], codes[numbers], tuple(classes.tolist()), numbers)
    decision = decide_data(data, intercept, SECONDS)
    if error := separable_error(decision, fit, names):
        raise error
    if fit.outcome in ("separated", "quasi"):
        why = "the classes overlap, so a maximum exists, but so far out that rounding hides it"
        return replace(fit, stopped=f"{why} ({plural(fit.steps, 'step')}).")
    return fit


def separable_error(
    decision: Separability, fit: NewtonFit, names: list[str]
) -> SeparableError | None:
    """The error for classes that are separable or touch, or seem to; None where they overlap."""
    if decision.verdict == "overlapping" or (
        decision.verdict == "undecided" and fit.outcome not in ("separated", "quasi")
    ):
        return None
    strength = np.abs(fit.theta[:, :-1]).max(axis=0)
    if decision.weights:  # columns that the proof needs no weight of tell nothing apart
        s = int(decision.fit_intercept)
        strength = strength * np.array([any(w) for w in zip(*decision.weights, strict=True)][s:])
    along = ", ".join(names[j] for j in np.argsort(-strength)[:3] if strength[j] > 0)
    words = f"{decision.explain(names)} They are told apart mostly by {along or 'the intercept'}."
    if decision.verdict == "separable":
        return SeparableError(f"the classes are separable: {words} {ADVICE}")
    if decision.verdict == "quasi-separable":
        lead = (
            "the classes touch" if len(decision.labels) == 2 else "the classes are quasi-separable"
        )
        return SeparableError(f"{lead}: {words} {ADVICE}")
    return SeparableError(
        "the classes look separable, at least but for ties: after "
        f"{plural(fit.steps, 'step')} weights still grow; {words} {ADVICE}"
    )
