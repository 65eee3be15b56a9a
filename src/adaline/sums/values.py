"""Values w'x + b of rows whose products may leave the range of float64.

Called by the estimators, to predict, and by `certificates.margins`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.parameters import is_sparse
from adaline.results import Array
from adaline.sums.rows import check_finite


def linear_values(
    X: Any, W: Any, b: Any, *, comparable: bool, names: Callable[[], list[str]] | None = None
) -> Array:
    """v = W x + b of each row of X, dense or CSR; (n, K) in the dtype of X.

    X that is not finite is refused, as by `check_finite`. Products beyond the range of X's dtype
    may have a sum within it. Where v itself is beyond, it is infinite; if v are to be `comparable`,
    all K of that row are divided by one number instead.

    >>> X, W = np.array([[1e308, 1e308]]), np.array([[3.0, -2.5], [4.0, 5.0]])
    >>> linear_values(X, W, np.zeros(2), comparable=False)
    array([[5.e+307,     inf]])
    """
    if not is_sparse(X) and np.count_nonzero(W) < W.size:
        check_finite(X, names)  # BLAS may leave out a column without weight, NaN and all
    with np.errstate(over="ignore", invalid="ignore"):
        V: Array = np.asarray(X @ W.T)
        V = np.asarray(np.add(V, b, out=V if V.dtype == np.result_type(V, b) else None))
        if isfinite(np.add.reduce(V, axis=None)):  # NaN and infinity would have reached the sum
            return V
        check_finite(X, names)
        finite = np.isfinite(V)
        if finite.all() or not (np.isfinite(W).all() and np.isfinite(b).all()):
            return V
        far = np.flatnonzero(~finite.all(axis=1))
        Z, w, bias, e = in_range(X[far], W, b)
        scaled = np.asarray(Z @ w.T) + bias
        V[far] = np.ldexp(scaled, e[:, None])
        beyond = ~np.isfinite(V[far]).all(axis=1)
        if comparable and beyond.any():
            top = np.frexp(np.abs(scaled[beyond]).max(axis=1, keepdims=True))[1]
            # So that differences are finite.
            V[far[beyond]] = np.ldexp(scaled[beyond], np.finfo(V.dtype).maxexp - 2 - top)
    return V


def in_range(X: Any, W: Any, b: Any) -> tuple[Any, Array, Array, NDArray[np.int64]]:
    """(X, W, b) in powers of two that leave no product above one, and w'x + b = 2^e (W z + b).

    Every row has an e of its own, and b (n, K) as many.
    """
    f = int(np.frexp(np.abs(W).max(initial=0.0))[1])
    top = abs(X).max(axis=1)
    top = np.asarray(top.todense()).ravel() if is_sparse(X) else top
    own = np.frexp(np.asarray(top, dtype=np.float64))[1].astype(np.int64) + f
    e = np.maximum(own, int(np.frexp(np.abs(b).max())[1])) if b.any() else own
    if is_sparse(X):
        Z = X.astype(np.float64)
        Z.data = np.ldexp(Z.data, np.repeat(f - e, np.diff(X.indptr)))
    else:
        Z = np.ldexp(np.asarray(X, dtype=np.float64), (f - e)[:, None])
    return Z, np.ldexp(W.astype(np.float64), -f), np.ldexp(b.astype(np.float64), -e[:, None]), e
