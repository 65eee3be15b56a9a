"""The minimum of logistic, softmax, Poisson and gamma losses in decimals, near claimed weights.

Legend: rows z = (x, 1) in decimals; theta (K, q), the bias last; omega weights; alpha penalty.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext

D = Decimal
DIGITS = (150, 1000)  # columns of 1e150 beside a penalty of 1 need the many
_STEPS = 4000  # of damped Newton, at most, over the unknowns: a count of 0 moves v by 1 a step


class NoMinimum(Exception):
    """None was reached in so many steps, or the curvature is singular: there may be none."""


def minimum_near(kind, X, y, omega, offset, alpha, intercept, W, b, near):
    """W (K, p) and b (K,) of least penalised loss in Decimals, from the start W, b.

    kind is "classes" (K > 1 outputs for codes y, one output for codes 0 and 1), "counts" or
    "amounts" (gamma). What is no part of the loss, a shift of all classes together, stays as it is
    in W, b. near (p + 1,) is how accurate they have to be, at least.
    """
    for digits in DIGITS:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
            try:
                return _minimum(kind, X, y, omega, offset, alpha, intercept, W, b, near)
            except NoMinimum as error:
                reason = error
    raise reason


def _minimum(kind, X, y, omega, offset, alpha, intercept, W, b, near):
    K, p = len(W), len(W[0])
    kept = [i for i in range(len(X)) if omega[i] > 0]
    top = [max((abs(D(float(X[i][j]))) for i in kept), default=D(0)) or D(1) for j in range(p)]
    rows = [[*(D(float(a)) / t for a, t in zip(X[i], top, strict=True)), D(1)] for i in kept]
    weights, targets = [D(float(omega[i])) for i in kept], [y[i] for i in kept]
    more = [D(float(offset[i])) for i in kept]
    free = p + 1 if intercept else p
    enough = [D(float(c)) * t * D("1e-9") for c, t in zip(near, [*top, D(1)], strict=True)]
    rows = [z[:free] for z in rows]
    penalty = [D(float(alpha)) / t / t for t in top] + [D(0)] * intercept
    theta = [
        [*(D(float(c)) * t for c, t in zip(w, top, strict=True)), D(float(c0))][:free]
        for w, c0 in zip(W, b, strict=True)
    ]
    if K > 1 and alpha > 0:  # at the minimum, the classes' weights sum to zero
        for j in range(p):
            mean = sum(t[j] for t in theta) / K
            for t in theta:
                t[j] -= mean
    problem = kind, rows, targets, weights, more, penalty
    value, g, H = _sums(*problem, theta)
    still = 0
    for _ in range(_STEPS // (K * free)):
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
