"""A Hessian without a matrix of columns x columns: a diagonal, and a few directions beside it.

    H = S (mu I + U diag(l - mu) U') S,    S the root of the diagonal of H

Columns that share a cause (the size of an animal, the brightness of a picture) make a few
eigenvalues l of H much larger than the others, mu on average. Along those directions U a step by
the diagonal alone would be much too long. A small sample of m rows tells them: an eigenvalue of
the sample above all that chance gives, mu (1 + sqrt(q / m))^2 (Marchenko & Pastur 1967), belongs
to one of H, and how much of it is chance is known (Baik & Silverstein 2006, Paul 2007).

Letters: n rows, q columns, m rows of the sample, Z (m, q) these rows in units of S.
"""

from __future__ import annotations

import numpy as np

from adaline._threads import one_blas_thread
from adaline.linalg import eigen
from adaline.objective import Objective
from adaline.procedures.newton.curvature import Curvature
from adaline.results import Array
from adaline.tiles import is_sparse

_FEWEST, _MOST = 32, 256  # rows of the sample
_NUMBERS = 2**21  # in the sample, at most
_LARGEST = 1.1  # times the limit of what chance gives: samples are finite
_LEAST = 1e-3  # mu, at least: along other directions steps are at most so much longer
_TINY = float(np.finfo(np.float64).tiny)
_ROUNDS = 5  # of finding mu and the number of directions, which depend on each other


def sketch(loss: Objective, root: Array, theta: Array) -> Curvature:
    """About the Hessian at theta, where the rows have these slopes (see `Objective.at`).

    Where theta is a start that someone has found, few steps are left: then the diagonal will do.
    """
    slopes = _slopes(loss, root)
    own = float(slopes.sum()) / loss.weight * loss.length**2
    S = np.sqrt(np.where(own + loss.penalty > 0, own + loss.penalty, 1.0))
    # Gradients lie in the span of the rows: on its few directions falls all the curvature.
    crowd = max(len(S) / max(loss.n, 1), 1.0)
    Z = None if theta.any() else _sample(loss, slopes, S)
    if Z is None:
        diagonal = crowd * own + loss.penalty
        return Curvature((), False, diagonal=np.where(diagonal > 0, diagonal, 1.0))
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        mu, above, U = _spikes(Z)
    held = float(np.mean(loss.penalty / S**2))  # the penalty's share of the diagonal
    above, mu = np.maximum(above, crowd * mu) + held, crowd * mu + held
    along = U / S[:, None], 1.0 / mu - 1.0 / above
    return Curvature((), False, diagonal=S**2 * mu, along=along)


def _slopes(loss: Objective, root: Array) -> Array:
    """Curvature of each row; of K classes, the mean of theirs."""
    if loss.K == 1:
        return np.asarray(root**2)
    own = np.mean(root * (1.0 - root), axis=1)
    return np.asarray(own * loss.omega if len(loss.omega) else own)


def _sample(loss: Objective, slopes: Array, S: Array) -> Array | None:
    """Z of rows spread over all, enlarged to stand for all; None where they would be too few.

    So many that their eigenvectors cost about as much as a pass over the rows.
    """
    q, X = len(S), loss.X
    numbers = X.nnz if is_sparse(X) else X.size
    m = min(int(numbers ** (1 / 3)), _MOST, _NUMBERS // q, loss.n)
    if m < _FEWEST:
        return None
    some = np.linspace(0, loss.n - 1, m).astype(np.int64)
    Z = np.ones((m, q))
    np.multiply(X[some].toarray() if is_sparse(X) else X[some], loss.scale, out=Z[:, :-1])
    Z[:, :-1] -= loss.shift
    Z[:, -1] *= loss.intercept
    stands = float(slopes.sum()) / max(float(slopes[some].sum()), _TINY)
    Z *= np.sqrt(stands * slopes[some])[:, None]
    Z /= S
    return Z


def _spikes(Z: Array) -> tuple[float, Array, Array]:
    """mu, and the curvature l (k,) along the directions U (q, k) that stand out of chance."""
    m, q = Z.shape
    values, vectors = eigen(Z @ Z.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    few, total, mu = q / m, float(values.sum()), 1.0
    for _ in range(_ROUNDS):
        seen = values[values > _LARGEST * mu * (1.0 + np.sqrt(few)) ** 2]
        b = seen + mu - few * mu
        true = 0.5 * (b + np.sqrt(np.maximum(b * b - 4.0 * seen * mu, 0.0)))
        mu = min(max((total - float(true.sum())) / max(q - len(seen), 1), _LEAST), 1.0)
    k, above = len(seen), np.maximum(true / mu - 1.0, np.sqrt(few))
    # A direction that was found is partly chance: its squared cosine with the true one.
    cosine = (1.0 - few / above**2) / (1.0 + few / above)
    return mu, mu * (1.0 + above * cosine), (Z.T @ vectors[:, :k]) / np.sqrt(values[:k])
