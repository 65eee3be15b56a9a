"""Slow twins of logistic regression: the lecture's sums by rows, a minimum in long doubles.

`numpy.longdouble` keeps 19 digits on x86; elsewhere it is float64, and the twins are no better than
what they judge, which the tests' tolerances allow for.
"""

from __future__ import annotations

import math

import numpy as np


def loss_and_gradient(X, codes, K, W, b, weights=None):
    """(5.49): sum of -ln p(c | x), and its slopes by W (K, p) and b (K,); K = 2 has one neuron."""
    n, p = len(X), len(X[0])
    K = 1 if K == 2 else K
    loss, gW, gb = 0.0, [[0.0] * p for _ in range(K)], [0.0] * K
    for i in range(n):
        omega = 1.0 if weights is None else float(weights[i])
        v = [sum(float(X[i][j]) * float(W[k][j]) for j in range(p)) + float(b[k]) for k in range(K)]
        if K == 1:
            v = [0.0, *v]
        top = max(v)
        total = math.fsum(math.exp(value - top) for value in v)
        loss += omega * (math.log(total) + top - v[codes[i]])
        for k in range(K):
            neuron = k + (K == 1)
            r = omega * (math.exp(v[neuron] - top) / total - (codes[i] == neuron))
            gb[k] += r
            for j in range(p):
                gW[k][j] += r * float(X[i][j])
    return loss, np.array(gW), np.array(gb)


def solve(G, c):
    """x with G x = c by elimination with pivots, in the precision of G."""
    G, c = G.copy(), c.copy()
    n = len(c)
    for j in range(n):
        pivot = j + int(np.argmax(np.abs(G[j:, j])))
        G[[j, pivot]], c[[j, pivot]] = G[[pivot, j]], c[[pivot, j]]
        for i in range(j + 1, n):
            f = G[i, j] / G[j, j]
            G[i] -= f * G[j]
            c[i] -= f * c[j]
    x = np.zeros_like(c)
    for j in reversed(range(n)):
        x[j] = (c[j] - G[j, j + 1 :] @ x[j + 1 :]) / G[j, j]
    return x


def minimum(X, codes, K, alpha, weights=None, intercept=True, steps=60):
    """W (K, p) and b (K,) of least penalised loss, by damped Newton in long doubles."""
    one = np.longdouble(1)
    Z = np.asarray(X, dtype=np.longdouble)
    Z = np.column_stack([Z, np.ones(len(Z)) if intercept else np.zeros(len(Z))]).astype(type(one))
    omega = np.ones(len(Z)) if weights is None else weights
    omega = np.asarray(omega, dtype=np.longdouble)
    q = Z.shape[1]
    neurons = 1 if K == 2 else K
    T = np.zeros((len(Z), K), dtype=np.longdouble)
    T[np.arange(len(Z)), codes] = 1
    penalty = np.full(q, np.longdouble(alpha))
    penalty[-1] = 0
    theta = np.zeros((neurons, q), dtype=np.longdouble)

    def at(theta):
        V = Z @ theta.T
        V = np.column_stack([np.zeros(len(Z), dtype=np.longdouble), V]) if K == 2 else V
        top = V.max(axis=1, keepdims=True)
        E = np.exp(V - top)
        P = E / E.sum(axis=1, keepdims=True)
        loss = omega @ (np.log(E.sum(axis=1)) + top[:, 0] - (V * T).sum(axis=1))
        return loss + (penalty * theta**2).sum() / 2, P

    f, P = at(theta)
    for _ in range(steps):
        first = K - neurons
        R = ((P - T) * omega[:, None])[:, first:]
        g = (R.T @ Z + penalty * theta).ravel()
        H = np.zeros((neurons, q, neurons, q), dtype=np.longdouble)
        for k in range(neurons):
            for m in range(neurons):
                s = omega * P[:, first + k] * ((k == m) - P[:, first + m])
                H[k, :, m, :] = (Z * s[:, None]).T @ Z + (k == m) * np.diag(penalty)
                if neurons > 1:  # what all classes share
                    H[k, :, m, :] += np.eye(q)
                if not intercept:
                    H[k, -1, m, -1] += k == m
        d = solve(H.reshape(neurons * q, neurons * q), -g).reshape(theta.shape)
        size = one
        while size > 1e-6:
            new, newP = at(theta + size * d)
            if new <= f:
                break
            size /= 2
        theta, f, P = theta + size * d, new, newP
    return theta[:, :-1], theta[:, -1]


def firth_score(X, y, w, b):
    """Firth's modified score (p + 1,): sum (y - p + h (1/2 - p)) (x, 1), dense algebra."""
    Z = np.column_stack([X, np.ones(len(X))])
    p = 1 / (1 + np.exp(-(X @ w + b)))
    s = p * (1 - p)
    H = (Z * s[:, None]).T @ Z
    h = s * np.einsum("ij,jk,ik->i", Z, np.linalg.inv(H), Z)
    return Z.T @ (y - p + h * (0.5 - p))
