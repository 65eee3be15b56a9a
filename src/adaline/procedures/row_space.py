"""Where columns outnumber the rows: minimise over n numbers for each output instead of p.

At the minimum, weights are combinations of the rows. With the penalty D and G = Z D^-1 Z' = L L',
values are v = L u + b and the penalty is |u|^2 / 2: the loss of the rows L of n columns.

Called by `newton` for a start, and by `penalty_search`, whose penalties are multiples of D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adaline.linalg import UNIT, cholesky, eigen, solve_cholesky
from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.objective import Objective
from adaline.sums.scaled_rows import ScaledRows

COLUMNS = 1024  # of Z at a time, in dense rows


def row_space(objective: Objective) -> tuple[Objective, Callable[[Array], Array]]:
    """The same minimum over n numbers, and the function that gives theta back from theirs."""
    rows, root = objective.rows, np.sqrt(objective.penalty[:-1])
    G = np.zeros((rows.n, rows.n))
    for _, part in _columns(rows, root):
        product = part @ part.T
        G += product.toarray() if is_sparse(product) else product
    # Rows that depend on others, as centred ones do, need a little more.
    little = 64 * rows.n * UNIT * G.diagonal().max(initial=0.0)
    R = cholesky(G + little * np.eye(rows.n))
    if R is None:
        values, U = eigen(G)
        keep = values > 1e-13 * len(values) * max(values[-1], 0.0)
        roots, U = np.sqrt(values[keep]), U[:, keep]
    L = U * roots if R is None else np.ascontiguousarray(R.T)

    def dual(u: Array) -> Array:
        return np.asarray((U / roots) @ u if R is None else solve_cholesky(R, L @ u))

    def back(theta: Array) -> Array:
        shares, w = dual(theta[:, :-1].T), np.empty((len(theta), rows.q - 1))
        for some, part in _columns(rows, root):
            w[:, some] = np.asarray(part.T @ shares).T
        return np.column_stack([w / root, theta[:, -1]])

    k = L.shape[1]
    few = ScaledRows(
        L,
        rows.y,
        rows.omega,
        rows.offset,
        rows.intercept,
        scale=np.ones(k),
        shift=np.zeros(k),
        top=np.append(np.abs(L).max(axis=0), 1.0),
        deviation=L.std(axis=0),
        unit=rows.unit,
    )
    return replace(objective, rows=few, penalty=np.append(np.ones(k), 0.0)), back


def _columns(rows: ScaledRows, root: Array) -> list[tuple[slice, Any]]:
    """Blocks of columns of Z D^-1/2; of sparse rows that are not centred, all at once."""
    if is_sparse(rows.X) and not rows.shift.any():
        X = rows.X.astype(np.float64).copy()
        X.data *= (rows.scale / root)[X.indices]
        return [(slice(0, len(root)), X)]
    X = rows.X.toarray() if is_sparse(rows.X) else rows.X
    places = [slice(k, min(k + COLUMNS, len(root))) for k in range(0, len(root), COLUMNS)]
    return [(c, (X[:, c] * rows.scale[c] - rows.shift[c]) / root[c]) for c in places]
