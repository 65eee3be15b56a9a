"""The three claims a proof of separability is made of, each decided in integers.

They trust nobody: weights, rows and multipliers may come from anywhere. Called by separation, to
check a proof, and by procedures/separability, to find one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.rows import BLOCK, Ints, SignedRows
from adaline.integers import combination, in_span, independent, null_space

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
    """Columns that are not zero everywhere."""
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
