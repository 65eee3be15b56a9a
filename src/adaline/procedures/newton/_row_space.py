"""Where columns outnumber the rows: a start near the minimum, over n numbers instead of p.

At the minimum, weights are combinations of the rows. With the penalty D and G = Z D^-1 Z' = L L',
values are v = L u + b and the penalty is |u|^2 / 2. Newton's steps then need only n x n matrices:

    (I + L'SL)^-1 = I - L'R (I + R G R)^-1 R L,    S = R^2 the curvature of each row

Nothing is proven of what is found here: `newton` goes on from it with the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from adaline._threads import one_blas_thread
from adaline.linalg import UNIT, cholesky, column_lengths, eigen, solve_cholesky
from adaline.objective import Objective
from adaline.procedures.newton.descent import line_search
from adaline.results import Array, Fit
from adaline.tiles import is_sparse

_STEPS = 50  # at most; Newton's steps double the digits


def wide_start(loss: Objective, goal: float, newton: Callable[[Objective], Fit]) -> Array:
    """theta whose Newton decrement is about a tenth of goal, where the penalty is positive.

    newton minimises a loss of fewer columns: of several outputs, and where Cholesky fails.
    """
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        G = _products(loss)
        R = None
        if loss.K == 1:
            # Rows that depend on others, as centred ones do, need a little more.
            little = 64 * len(G) * UNIT * G.diagonal().max(initial=0.0)
            R = cholesky(G + little * np.eye(len(G)))
        if R is None:
            few, back = row_space(loss, G)
            found = newton(few)
            return back(found.W, found.b)
        L = np.ascontiguousarray(R.T)
        theta = _descended(_of_factor(loss, L), G, 0.1 * goal)
        return _weights(loss, solve_cholesky(R, L @ theta[:, :-1].T), theta[:, -1])


def row_space(
    loss: Objective, G: Array | None = None
) -> tuple[Objective, Callable[[Array, Array], Array]]:
    """The same minimum over at most n numbers: with Z D^-1/2 = U S Q the loss of the rows U S.

    And theta from its weights (K, n) and biases (K,). G may be given where it is known.
    """
    values, U = eigen(_products(loss) if G is None else G)
    keep = values > 1e-13 * len(values) * max(values[-1], 0.0)
    root, U = np.sqrt(values[keep]), U[:, keep]

    def back(u: Array, b: Array) -> Array:
        return _weights(loss, (U / root) @ u.T, b)

    return loss.on(U * root, 1.0), back


def _of_factor(loss: Objective, L: Array) -> Objective:
    """The loss of the rows L (n, n), whose penalty is |u|^2 / 2, in units of their own."""
    n = len(L)
    return replace(
        loss,
        X=L,
        scale=np.ones(n),
        shift=np.zeros(n),
        penalty=np.append(np.ones(n), 0.0),
        top=np.append(np.abs(L).max(axis=0), 1.0),
        length=np.append(column_lengths(L), np.sqrt(loss.weight)),
    )


def _descended(few: Objective, G: Array, goal: float) -> Array:
    """(u, b), (1, n + 1), by Newton's steps from zero until the decrement is below goal."""
    theta, root = few.loss.start(few), few.room()
    here, before = few.at(theta, root), 0.0
    for _ in range(_STEPS):
        d = _step(few, G, root, here.g[0])
        nu = np.sqrt(max(-float((here.g * d).sum()), 0.0))
        found = line_search(lambda u: few.at(u, root), theta, d, here, few.weight)
        if found is None:
            return theta
        _, theta, here = found
        if nu <= goal or nu**3 <= goal * before**2:  # the next is as far below as their ratio^2
            break
        before = nu
    return theta


def _step(few: Objective, G: Array, root: Array, g: Array) -> Array:
    """-H^-1 g for H = L'SL + I, bordered by the bias; root is that of the diagonal of S."""
    L, n = few.X, len(G)
    B = root[:, None] * G * root
    B.flat[:: n + 1] += 1.0
    R = cholesky(B)
    if R is None:
        return -g[None]
    h = (root * root) @ L
    some = np.column_stack([g[:n], h])
    some -= L.T @ (root[:, None] * solve_cholesky(R, root[:, None] * (L @ some)))
    of_g, of_h = some.T
    left = float(root @ root - h @ of_h)
    bias = float(g[n] - h @ of_g) / left if few.intercept and left > 0.0 else 0.0
    return -np.append(of_g - bias * of_h, bias)[None]


def _is_plain(loss: Objective) -> bool:
    """Whether X serves in the place of Z D^-1/2: its scale is the penalty's, and b takes up the
    shift."""
    own = loss.penalty[:-1] / loss.scale**2
    return loss.plain and loss.intercept and bool((own == own[0]).all())


def _products(loss: Objective) -> Array:
    """G, (n, n)."""
    if _is_plain(loss):
        return np.asarray(loss.X @ loss.X.T * (loss.scale[0] ** 2 / loss.penalty[0]))
    G = sum(block @ block.T for block in _columns(loss))
    return np.asarray(G.toarray() if is_sparse(G) else G)


def _weights(loss: Objective, dual: Array, b: Array) -> Array:
    """theta (K, p + 1) from w = D^-1 Z' dual, (n, K) the shares of the rows, and the bias b."""
    if _is_plain(loss):
        w = (loss.X.T @ dual).T * (loss.scale[0] ** 2 / loss.penalty[0]) / loss.scale
        return np.column_stack([w, b + w @ loss.shift])
    w = np.concatenate([np.asarray(block.T @ dual) for block in _columns(loss)])
    return np.column_stack([w.T / np.sqrt(loss.penalty[:-1]), b])


def _columns(loss: Objective) -> Iterator[Any]:
    """Blocks of columns of Z D^-1/2; of sparse rows, which are not centred, all at once."""
    scale, d = loss.scale, np.sqrt(loss.penalty[:-1])
    if is_sparse(loss.X):
        X = loss.X.astype(np.float64).copy()
        X.data *= (scale / d)[X.indices]
        yield X
        return
    for c in (slice(k, k + 1024) for k in range(0, len(scale), 1024)):
        yield (loss.X[:, c] * scale[c] - loss.shift[c]) / d[c]
