"""Whether a proof of separability holds: claims in integers, and complaints in words.

Called by `Separability.check`, and by procedures/separability before it returns what rests on a
prime. A complaint is a sentence; an empty one means that nothing is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaline.certificates.separation import wording
from adaline.certificates.separation.claims import TooLarge, span, sum_to_zero
from adaline.certificates.separation.data import Data
from adaline.certificates.separation.rows import SignedRows

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability


@dataclass(frozen=True)
class Checked:
    """Whether a proof holds for some data, and a sentence that says why; true where it holds."""

    holds: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.holds


def check(proof: Separability, data: Data) -> Checked:
    """Verify a proof on validated data, trusting nothing but the data."""
    if proof.is_part:
        if not set(proof.labels) <= set(data.labels):
            return Checked(False, f"the proof is about {proof.labels}, not {data.labels}.")
        data = data.only(*proof.labels)
    if complaint := compare(proof, data) or find_gap(proof, data):
        return Checked(False, complaint)
    for (a, b), part in proof.pairwise.items():
        checked = check(part, data) if part.is_part else Checked(False, "it is no part.")
        if not checked:
            return Checked(False, f"classes {a!r} and {b!r}: {checked.sentence}")
    return Checked(True, f"the proof holds: {proof.explain()}")


def compare(proof: Separability, data: Data) -> str:
    """How the data differ from those the proof was made for; empty where they do not."""
    n, p = data.X.shape
    if (n, p) != (proof.n_rows, proof.n_features):
        return (
            f"the proof is about {proof.n_rows} rows and {proof.n_features} columns; these data "
            f"have {n} rows and {p} columns."
        )
    if data.labels != proof.labels:
        return f"the proof is about the labels {proof.labels}; these data have {data.labels}."
    if data.fingerprint != proof.fingerprint:
        return "these are not the numbers and labels the proof was made for."
    return ""


def find_gap(proof: Separability, data: Data) -> str:
    """What the proof does not prove; empty where it proves its verdict."""
    rows = SignedRows(data.X, data.codes, len(proof.labels), proof.fit_intercept)
    for pair in proof.duplicates:
        i, j = data.places(pair)
        if i is None or j is None or not data.are_equal(i, j):
            return f"rows {pair[0]} and {pair[1]} are not equal with different labels."
    try:
        if proof.verdict == "separable":
            return find_gap_of_weights(proof, rows)
        return find_gap_of_multipliers(proof, rows, data)
    except TooLarge as error:
        return f"it is too large to check: {error}."


def find_gap_of_weights(proof: Separability, rows: SignedRows) -> str:
    """Of weights that should have y'w > 0 on every row."""
    if not weights_fit(proof):
        return "its weights do not have one number a column."
    signs, closest = rows.sides(proof.weights)
    if signs.min() <= 0:
        i, _ = rows.pair(int(np.argmin(signs)))
        return f"its {wording.boundary(proof)} does not have row {i} on the right side."
    distance = rows.distance(closest, proof.weights)
    # Equal to ten digits, or both beyond what float64 holds.
    if proof.margin is None or not (
        proof.margin == distance or abs(proof.margin - distance) <= 1e-10 * distance + 1e-300
    ):
        return f"the closest row is at {distance:.6g}, not {proof.margin}."
    if proof.margin_is_maximum:
        return "that the margin is the largest is not proven here."
    return ""


def find_gap_of_multipliers(proof: Separability, rows: SignedRows, data: Data) -> str:
    """Of multipliers, with weights where the rows without multipliers can be separated."""
    if not proof.multipliers:
        return "" if proof.verdict == "undecided" else "it has no multipliers."
    codes = {label: code for code, label in enumerate(data.labels)}
    support = []
    for i, (_, label) in zip(data.places([i for i, _ in proof.rows]), proof.rows, strict=True):
        if i is None or codes.get(label) in (None, int(data.codes[i])):
            return "its rows are not rows of these data."
        support.append(rows.row_of(i, codes[label]))
    if len(support) != len(proof.multipliers):
        return "its rows are not rows of these data."
    if not sum_to_zero(rows, support, proof.multipliers):
        return "its rows with their multipliers do not sum to zero."
    if proof.verdict == "undecided":
        return ""
    members = np.arange(rows.count)
    if proof.verdict == "quasi-separable":
        if not weights_fit(proof):
            return "its weights do not have one number a column."
        signs, _ = rows.sides(proof.weights)
        what = wording.boundary(proof)
        if signs.min() < 0 or signs.max() <= 0:
            return f"its {what} does not have the rows on the right side, or on it."
        if signs[support].any():
            return f"rows with multipliers are not on its {what}."
        members = np.flatnonzero(signs == 0)
    if not span(rows, support, members, proof.verdict == "quasi-separable"):
        return "the rows with multipliers do not span the others."
    return ""


def weights_fit(proof: Separability) -> bool:
    """Whether there is one weight for each column and class but the first."""
    shape = [proof.n_features + proof.fit_intercept] * (len(proof.labels) - 1)
    return [len(w) for w in proof.weights] == shape
