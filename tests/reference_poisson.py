"""Slow twin of PoissonRegression: Newton's steps in plain Python, with 50 digits where wanted."""

from __future__ import annotations

from decimal import Decimal, localcontext


def poisson(X, y, alpha=0.0, offset=None, omega=None, intercept=True, steps=60, digits=50):
    """Weights and bias, as Decimals, that minimise sum omega (mu - y v) + alpha/2 |w|^2."""
    with localcontext() as context:
        context.prec = digits
        rows = [[Decimal(float(x)) for x in row] + [Decimal(int(intercept))] for row in X]
        counts = [Decimal(float(c)) for c in y]
        more = [Decimal(0)] * len(y) if offset is None else [Decimal(float(o)) for o in offset]
        weights = [Decimal(1)] * len(y) if omega is None else [Decimal(float(o)) for o in omega]
        q = len(rows[0])
        penalty = [Decimal(float(alpha))] * (q - 1) + [Decimal(0 if intercept else 1)]
        theta = [Decimal(0)] * q
        if intercept:
            total = sum(o * c for o, c in zip(weights, counts, strict=True))
            theta[-1] = (total / sum(o * m.exp() for o, m in zip(weights, more, strict=True))).ln()
        value = _value(rows, counts, more, weights, penalty, theta)
        for _ in range(steps):
            g, H = _sums(rows, counts, more, weights, penalty, theta)
            d = _solved(H, g)
            size = Decimal(1)
            while True:
                there = [t - size * s for t, s in zip(theta, d, strict=True)]
                found = _value(rows, counts, more, weights, penalty, there)
                if found <= value or size < Decimal("1e-30"):
                    break
                size /= 2
            theta, value = there, found
            if max(abs(s) for s in d) < Decimal(10) ** (10 - digits):
                break
        return theta[:-1], theta[-1]


def _means(rows, more, theta):
    values = [
        sum(z * t for z, t in zip(row, theta, strict=True)) + o
        for row, o in zip(rows, more, strict=True)
    ]
    return values, [v.exp() for v in values]


def _value(rows, counts, more, weights, penalty, theta):
    values, means = _means(rows, more, theta)
    own = sum(p * t * t for p, t in zip(penalty, theta, strict=True)) / 2
    each = zip(weights, counts, values, means, strict=True)
    return sum(o * (m - c * v) for o, c, v, m in each) + own


def _sums(rows, counts, more, weights, penalty, theta):
    _, means = _means(rows, more, theta)
    q = len(theta)
    g = [p * t for p, t in zip(penalty, theta, strict=True)]
    H = [[penalty[j] if j == k else Decimal(0) for k in range(q)] for j in range(q)]
    for row, c, o, m in zip(rows, counts, weights, means, strict=True):
        for j in range(q):
            g[j] += o * (m - c) * row[j]
            for k in range(q):
                H[j][k] += o * m * row[j] * row[k]
    return g, H


def _solved(H, g):
    """H^-1 g by Gauss-Jordan elimination with pivots."""
    A, q = [[*row, b] for row, b in zip(H, g, strict=True)], len(g)
    for j in range(q):
        best = max(range(j, q), key=lambda i: abs(A[i][j]))
        A[j], A[best] = A[best], A[j]
        for i in range(q):
            if i != j:
                c = A[i][j] / A[j][j]
                A[i] = [a - c * b for a, b in zip(A[i], A[j], strict=True)]
    return [A[j][-1] / A[j][j] for j in range(q)]
