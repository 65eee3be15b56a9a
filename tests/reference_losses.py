"""Slow twins of losses and their minima: by rows, in long doubles, by scipy, and in decimals.

`numpy.longdouble` keeps 19 digits on x86; elsewhere it is float64, and the twins are no better than
what they judge, which the tests' tolerances allow for.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext

import numpy as np
from scipy import optimize, sparse, special

D = Decimal
DIGITS = (150, 1000)  # columns of 1e150 beside a penalty of 1 need the many
_MOST_STEPS = 4000  # of damped Newton, at most, over the unknowns: a count of 0 moves v by 1 a step


def minimum_in_long_doubles(X, codes, K, alpha, weights=None, intercept=True, steps=60):
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
        # A step of float64 is enough: the gradient, which decides where steps end, has all digits.
        square = H.reshape(neurons * q, neurons * q).astype(np.float64)
        d = np.linalg.solve(square, -g.astype(np.float64)).reshape(theta.shape)
        size = one
        while size > 1e-6:
            new, newP = at(theta + size * d)
            if new <= f:
                break
            size /= 2
        theta, f, P = theta + size * d, new, newP
    return theta[:, :-1], theta[:, -1]


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


def wide_minimum(X, y, alpha=1.0, intercept=True):
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


class NoMinimum(ArithmeticError):
    """None was reached in so many steps, or the curvature is singular: there may be none."""


def minimum_near(kind, X, y, omega, offset, alpha, intercept, W, b, near):
    """W (K, p) and b (K,) of least penalised loss in Decimals, from the start W, b.

    kind is "classes" (K > 1 outputs for codes y, one output for codes 0 and 1), "counts" or
    "amounts" (gamma). What is no part of the loss, a shift of all classes together, stays as it is
    in W, b. near (p + 1,) is how accurate they have to be, at least. alpha is one penalty, or a
    list of decimals, one a column.
    """
    for digits in DIGITS:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
            try:
                return _minimum(kind, X, y, omega, offset, alpha, intercept, W, b, near)
            except NoMinimum as error:
                reason = error
    raise reason


def exact_minimum(kind, X, y, alpha=0.0, omega=None, offset=None, intercept=True, digits=100):
    """w and b of one output, from weights of zero, to about thirty digits; else NoMinimum."""
    n, p = X.shape
    omega = np.ones(n) if omega is None else omega
    offset, start = np.zeros(n) if offset is None else offset, 0.0
    if kind == "counts" and intercept:
        start = np.log(omega @ np.asarray(y) / (omega @ np.exp(offset)))
    largest = np.append(np.abs(X).max(axis=0), 1.0)
    near = 1e-30 / np.where(largest > 0, largest, 1.0)
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
        rest = omega, offset, alpha, intercept, np.zeros((1, p)), [start], near
        (w,), (b,) = _minimum(kind, X, y, *rest, steps=400)
    return w, b


def _minimum(kind, X, y, omega, offset, alpha, intercept, W, b, near, steps=None):
    K, p = len(W), len(W[0])
    kept = [i for i in range(len(X)) if omega[i] > 0]
    top = [max((abs(D(float(X[i][j]))) for i in kept), default=D(0)) or D(1) for j in range(p)]
    rows = [[*(D(float(a)) / t for a, t in zip(X[i], top, strict=True)), D(1)] for i in kept]
    weights, targets = [D(float(omega[i])) for i in kept], [y[i] for i in kept]
    more = [D(float(offset[i])) for i in kept]
    free = p + 1 if intercept else p
    enough = [D(float(c)) * t * D("1e-9") for c, t in zip(near, [*top, D(1)], strict=True)]
    rows = [z[:free] for z in rows]
    alphas = alpha if isinstance(alpha, list) else [D(float(alpha))] * p
    penalty = [a / t / t for a, t in zip(alphas, top, strict=True)] + [D(0)] * intercept
    theta = [
        [*(D(float(c)) * t for c, t in zip(w, top, strict=True)), D(float(c0))][:free]
        for w, c0 in zip(W, b, strict=True)
    ]
    if K > 1 and any(alphas):  # at the minimum, the classes' weights sum to zero
        for j in range(p):
            mean = sum(t[j] for t in theta) / K
            for t in theta:
                t[j] -= mean
    problem = kind, rows, targets, weights, more, penalty
    value, g, H = _sums(*problem, theta)
    still = 0
    for _ in range(steps or _MOST_STEPS // (K * free)):
        d = [-c for c in _solved(H, g)]
        size, slope = D(1), sum((a * c for a, c in zip(d, g, strict=True)), D(0))
        while True:
            new = [
                [t + size * s for t, s in zip(row, d[k * free :], strict=False)]
                for k, row in enumerate(theta)
            ]
            there = _sums(*problem, new)
            # Near the minimum f is level to all digits, and steps still double those of theta.
            if there[0] <= value + size * slope / 10000 or still:
                break
            if abs(size * slope) <= abs(value) * D(10) ** -100:
                break
            size /= 2
            if size < D(10) ** -60:
                raise NoMinimum("no step lowers the loss")
        theta, (value, g, H) = new, there
        arrived = all(abs(s) <= enough[i % free] for i, s in enumerate(d))
        still = still + 1 if arrived else 0
        if still == 2:
            break
    else:
        raise NoMinimum("too many steps")
    truth = [[c / t for c, t in zip(row[:p], top, strict=True)] for row in theta]
    return truth, [row[p] if intercept else D(0) for row in theta]


def _sums(kind, rows, targets, weights, more, penalty, theta):
    """Value, gradient (K q,) and curvature (K q, K q), made regular for shifts of all classes."""
    K, q = len(theta), len(penalty)
    f = sum((c * t * t for row in theta for c, t in zip(penalty, row, strict=True)), D(0)) / 2
    g = [c * t for row in theta for c, t in zip(penalty, row, strict=True)]
    H = [[D(0)] * (K * q) for _ in range(K * q)]
    for z, target, omega, o in zip(rows, targets, weights, more, strict=True):
        v = [sum((a * c for a, c in zip(z, row, strict=True)), o) for row in theta]
        if kind == "counts":
            mean, count = v[0].exp(), D(float(target))
            loss, slopes, bent = mean - count * v[0], [mean - count], [[mean]]
        elif kind == "amounts":
            share = D(float(target)) / v[0].exp()
            loss, slopes, bent = share + v[0], [1 - share], [[share]]
        else:
            loss, slopes, bent = _of_classes(v, target)
        f += omega * loss
        for k in range(K):
            for j in range(q):
                g[k * q + j] += omega * slopes[k] * z[j]
            for m in range(k + 1):
                s = omega * bent[k][m]
                for j in range(q):
                    c = s * z[j]
                    for i in range(j + 1 if k == m else q):
                        H[k * q + j][m * q + i] += c * z[i]
    for i in range(K * q):
        H[i][i] += penalty[i % q]
    if K > 1:
        for j in range(q):
            c = sum(H[k * q + j][k * q + j] for k in range(K)) / K or D(1)
            for k in range(K):
                for m in range(k + 1):
                    H[k * q + j][m * q + j] += c
    for i in range(K * q):
        for j in range(i):
            H[j][i] = H[i][j]
    return f, g, H


def _of_classes(v, code):
    """Loss, slopes and curvature in the values of one row."""
    if len(v) == 1:
        m = v[0] if code == 1 else -v[0]
        e = (-abs(m)).exp()
        p = (e if m >= 0 else D(1)) / (1 + e)  # of the other class
        return _log1p(e) + max(-m, D(0)), [-p if code == 1 else p], [[e / (1 + e) ** 2]]
    top = max(v)
    own = v.index(top)
    e = [(c - top).exp() for c in v]
    others = sum((c for k, c in enumerate(e) if k != own), D(0))
    p = [c / (1 + others) for c in e]
    loss = _log1p(others) + top - v[code]
    slopes = list(p)
    # 1 - p of the class with the largest value cancels; the others' sum does not.
    slopes[code] = -sum((c for k, c in enumerate(p) if k != code), D(0))
    bent = [[-a * c for c in p] for a in p]
    for k in range(len(p)):
        bent[k][k] = p[k] * sum((c for m, c in enumerate(p) if m != k), D(0))
    return loss, slopes, bent


def _log1p(e):
    return e - e * e / 2 + e * e * e / 3 if e < D("1e-45") else (1 + e).ln()


def _solved(H, g):
    """H^-1 g of a positive definite H, rows and columns scaled to a diagonal of ones."""
    n = len(g)
    if any(H[i][i] <= 0 for i in range(n)):
        raise NoMinimum("no curvature")
    d = [1 / H[i][i].sqrt() for i in range(n)]
    A = [[H[i][j] * d[i] * d[j] for j in range(n)] for i in range(n)]
    x = [g[i] * d[i] for i in range(n)]
    for k in range(n):
        if A[k][k] < D(10) ** -(2 * getcontext().prec // 3):
            raise NoMinimum("the curvature is singular")
        for i in range(k + 1, n):
            c = A[i][k] / A[k][k]
            if c:
                for j in range(k, n):
                    A[i][j] -= c * A[k][j]
                x[i] -= c * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - sum((A[k][j] * x[j] for j in range(k + 1, n)), D(0))) / A[k][k]
    return [x[i] * d[i] for i in range(n)]
