"""Whether a proof of separability holds: three claims in integers, and complaints in words.

The claims trust nobody: weights, rows and multipliers may come from anywhere. Called by
`Separability.check`, and by procedures/separability to find a proof, and before it returns what
rests on a prime. A complaint is a sentence; an empty one means that nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.data import Data
from adaline.certificates.separation.rows import BLOCK, Ints, SignedRows
from adaline.integers import combination, in_span, independent, null_space

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability

WIDEST = 2000  # weights up to which a null space is written down: four million integers


class TooLarge(Exception):
    """The sizes are beyond what is decided in integers here; the message says which."""


def sum_to_zero(rows: SignedRows, support: Sequence[int], multipliers: Sequence[int]) -> bool:
    """Whether all multipliers are positive and sum multipliers_i y_i = 0."""
    if not support or len(set(support)) != len(support) or min(multipliers) <= 0:
        return False
    return not any(combination(multipliers, rows.integers(support)[0]))


def span(rows: SignedRows, support: Sequence[int], members: Ints, orthogonal: bool) -> bool:
    """Whether the support's rows span all members' rows (which include them).

    With `orthogonal`, some weights other than zero are known to be orthogonal to all members.
    """
    width = (rows.K - 1) * len(used_columns(rows))
    matrix, _, _ = rows.integers(support)
    rank = len(independent(matrix)[0]) if matrix[0] else 0
    if rank >= width - orthogonal:
        return True
    others = np.setdiff1d(members, np.array(support, dtype=np.int64))
    if len(others) == 0:
        return True
    if len(others) <= min(max(64, width - rank), WIDEST):  # fewer systems than null vectors
        both, _, _ = rows.integers([*support, *others.tolist()])
        return in_span(both[len(support) :], both[: len(support)]) is not None
    return not len(outside(rows, support, others))


def outside(rows: SignedRows, support: Sequence[int], members: Ints) -> Ints:
    """Those members whose rows the support's rows do not span."""
    return members[are_moved(rows, orthogonal_weights(rows, support), members)]


def are_moved(
    rows: SignedRows, basis: Iterable[list[list[int]]], members: Ints
) -> NDArray[np.bool_]:
    """Which members have y'w != 0 for some of these weights."""
    moved = np.zeros(len(members), dtype=bool)
    for W in basis:
        rest = np.flatnonzero(~moved)
        for k in range(0, len(rest), BLOCK):
            part = rest[k : k + BLOCK]
            moved[part] = [value != 0 for value in rows.values(members[part], W)[0]]
    return moved


def orthogonal_weights(rows: SignedRows, support: Sequence[int]) -> list[list[list[int]]]:
    """A basis of the weights W (K - 1, D) with y'w = 0 for the support's rows, in integers.

    Columns that are zero everywhere are left out: they weigh nothing.
    """
    columns = used_columns(rows)
    width = (rows.K - 1) * len(columns)
    if width > WIDEST:
        raise TooLarge(
            f"{width} weights are more than the {WIDEST} for which null spaces are computed"
        )
    matrix, _, q = rows.integers(support, columns=columns)
    return [weights_of(z, columns, q, rows.K, rows.D) for z in null_space(matrix, width)]


def used_columns(rows: SignedRows) -> Ints:
    features = np.flatnonzero(rows.top) + rows.intercept
    return np.concatenate([np.zeros(int(rows.intercept), dtype=np.int64), features])


def weights_of(z: Sequence[int], columns: Ints, q: Ints, K: int, D: int) -> list[list[int]]:
    """Weights W (K - 1, D) for weights z of blocks of columns that were divided by 2^q.

    z_j (x_j / 2^q_j): w_j = z_j / 2^q_j, and all times a power of two that makes them whole.
    """
    shifts = (int(q.max(initial=-(2**30))) - q).tolist()
    W = [[0] * D for _ in range(K - 1)]
    for k in range(K - 1):
        block = z[k * len(shifts) : (k + 1) * len(shifts)]
        for j, a, s in zip(columns.tolist(), block, shifts, strict=True):
            W[k][j] = a << s
    return W


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
        return f"its {proof.boundary} does not have row {i} on the right side."
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
        what = proof.boundary
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
