"""The slow twin of logistic regression in passes: scipy's minimiser on the whole matrix at once."""

from __future__ import annotations

import numpy as np
from scipy import optimize, sparse, special


def wide_data(rng, n=240, p=2300, K=2, each=12):
    """Rows of word counts, the first words in nearly all rows, and classes that some words tell."""
    weight = 1.0 / (np.arange(p - 1) + 3.0)
    rows = [rng.choice(p - 1, size=each, p=weight / weight.sum()) for _ in range(n)]
    at = np.repeat(np.arange(n), each), np.concatenate(rows)
    X = sparse.csr_matrix((np.ones(n * each), at), shape=(n, p - 1))
    last = sparse.csr_matrix(rng.standard_normal((n, 1)))  # the last column is there in all rows
    X = sparse.hstack([X, last]).tocsr()
    W = rng.standard_normal((p, K)) * (rng.random((p, 1)) < 0.3)
    y = np.argmax(X @ W + rng.gumbel(size=(n, K)), axis=1)
    return X, y


def penalised_loss(theta, X, y, alpha, intercept):
    """The loss and its gradient at theta (K, p + 1) of classes 0, 1, ...; K = 1 for two classes."""
    v = X @ theta[:, :-1].T + (theta[:, -1] if intercept else 0.0)
    if len(theta) == 1:
        v = np.column_stack([np.zeros(len(y)), v[:, 0]])
    top = special.logsumexp(v, axis=1)
    f = float(np.sum(top - v[np.arange(len(y)), y])) + alpha / 2 * float(np.sum(theta[:, :-1] ** 2))
    R = np.exp(v - top[:, None])
    R[np.arange(len(y)), y] -= 1.0
    R = R[:, 1:] if len(theta) == 1 else R
    g = np.column_stack([(X.T @ R).T + alpha * theta[:, :-1], R.sum(axis=0) * intercept])
    return f, g


def minimum(X, y, alpha=1.0, intercept=True):
    """theta (K, p + 1) with a gradient of about 1e-10, and the loss there."""
    K, p = len(np.unique(y)), X.shape[1]
    shape = (1 if K == 2 else K, p + 1)

    def both(flat):
        f, g = penalised_loss(flat.reshape(shape), X, y, alpha, intercept)
        return f, g.ravel()

    options = {"maxiter": 20000, "maxfun": 50000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 30}
    found = optimize.minimize(
        both, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    return found.x.reshape(shape), found.fun
