"""The minimum of a logistic, softmax or Poisson loss in decimals, by damped Newton from any start.

Columns are divided by their largest entry or the root of their penalty, whichever is larger, so
that units from 1e-150 to 1e150 need no more digits.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

DIGITS = 100
ONE = Decimal(1)


def newton_claim_holds(model, X, y, omega=None, offset=None):
    """Of "optimal": whether the minimum is as near the weights as the certificate says.

    False, too, where Newton's steps do not end at one minimum.
    """
    evidence = model.certificate_.evidence
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    classes = getattr(model, "classes_", None)
    T = np.asarray(y)[:, None] if classes is None else np.asarray(y)[:, None] == classes
    T = T[:, 1:] if T.shape[1] == 2 else T
    alpha = getattr(model, "alpha_", model.alpha)
    scale = getattr(model, "column_scale_", None)
    with localcontext() as context:
        context.prec = DIGITS
        try:
            penalty = [Decimal(float(alpha)) * decimal(s) ** 2 for s in _ones(scale, W.shape[1])]
            problem = Loss(X, T, omega, offset, penalty, classes is None, model.fit_intercept)
            w, bias = problem.minimum(W, b)
        except ArithmeticError:
            return False
        off = [
            [abs(decimal(a) - c) for a, c in zip(*r, strict=True)] for r in zip(W, w, strict=True)
        ]
        far = sum(d * d for row in off for d in row).sqrt()
        apart = max(abs(decimal(a) - c) for a, c in zip(b, bias, strict=True))
        if "distance" in evidence:  # of a duality gap
            return far <= Decimal(float(evidence["distance"]))
        bounds = np.broadcast_to(evidence["coef_bound"], W.shape)
        each = all(
            d <= decimal(c) for r in zip(off, bounds, strict=True) for d, c in zip(*r, strict=True)
        )
        near = far <= Decimal(float(evidence["distance_bound"]))
        return near and each and apart <= Decimal(float(evidence["intercept_bound"]))


def decimal(number):
    return Decimal(float(number))


def _ones(values, n):
    return np.ones(n) if values is None else values


class Loss:
    """sum omega loss(v, t) + sum penalty w^2 / 2 of K neurons; K = 1 for two classes and counts."""

    def __init__(self, X, T, omega, offset, penalty, counts, intercept):
        n, p = X.shape
        largest = [max(abs(decimal(x)) for x in column) for column in X.T]
        self.units = [max(x, a.sqrt()) or ONE for x, a in zip(largest, penalty, strict=True)]
        self.Z = [
            [*(decimal(x) / s for x, s in zip(row, self.units, strict=True)), ONE] for row in X
        ]
        self.T = [[decimal(t) for t in row] for row in T]
        self.omega = [decimal(o) for o in _ones(omega, n)]
        self.offset = [decimal(o) for o in (np.zeros(n) if offset is None else offset)]
        self.penalty = [a / s**2 for a, s in zip(penalty, self.units, strict=True)] + [Decimal(0)]
        self.counts, self.intercept = counts, intercept
        self.K, self.q = T.shape[1], p + 1

    def minimum(self, W, b, steps=200):
        """W (K, p) and b (K,) as decimals; ArithmeticError where there is no single one."""
        theta = [
            [*(decimal(a) * s for a, s in zip(w, self.units, strict=True)), decimal(c)]
            for w, c in zip(W, b, strict=False)
        ]
        if self.K > 1:  # what all classes share is zero
            means = [sum(column) / self.K for column in zip(*theta, strict=True)]
            theta = [[a - m for a, m in zip(row, means, strict=True)] for row in theta]
        value = self.value(theta)
        for _ in range(steps):
            d = self.step(theta)
            size = ONE
            while size > Decimal("1e-30"):
                new = [
                    [a + size * c for a, c in zip(*rows, strict=True)]
                    for rows in zip(theta, d, strict=False)
                ]
                if (there := self.value(new)) <= value:
                    break
                size /= 2
            theta, value = new, there
            largest = max(abs(a) for row in theta for a in row)
            if max(abs(c) for row in d for c in row) <= Decimal("1e-45") * largest:
                break
        else:
            raise ArithmeticError("no minimum was reached")
        return [[a / s for a, s in zip(row[:-1], self.units, strict=True)] for row in theta], [
            r[-1] for r in theta
        ]

    def outputs(self, theta):
        for z, more in zip(self.Z, self.offset, strict=True):
            yield [sum(a * c for a, c in zip(z, row, strict=True)) + more for row in theta]

    def value(self, theta):
        total = sum(a * c * c for row in theta for a, c in zip(self.penalty, row, strict=True)) / 2
        for v, t, o in zip(self.outputs(theta), self.T, self.omega, strict=True):
            own = sum(a * c for a, c in zip(v, t, strict=True))
            if self.counts:
                total += o * (v[0].exp() - own)
                continue
            everyone = [Decimal(0), *v] if self.K == 1 else v
            top = max(everyone)
            rest = sum((a - top).exp() for a in everyone)
            total += o * (top + rest.ln() - own)
        return total

    def step(self, theta):
        """-H^-1 g, where what all classes share costs something, too."""
        K, q = self.K, self.q
        g = [[a * c for a, c in zip(self.penalty, row, strict=True)] for row in theta]
        H = [[Decimal(0)] * (K * q) for _ in range(K * q)]
        for k in range(K):
            for j in range(q):
                H[k * q + j][k * q + j] += self.penalty[j]
                if K > 1:
                    for m in range(K):
                        H[k * q + j][m * q + j] += 1
            if not self.intercept:
                H[k * q + q - 1][k * q + q - 1] += 1
        for z, v, t, o in zip(self.Z, self.outputs(theta), self.T, self.omega, strict=True):
            z = z if self.intercept else [*z[:-1], Decimal(0)]
            if self.counts:
                P = [v[0].exp()]
                curvature = [[P[0]]]
            else:
                everyone = [Decimal(0), *v] if K == 1 else v
                top = max(everyone)
                E = [(a - top).exp() for a in everyone]
                P = [e / sum(E) for e in E][-K:]
                curvature = [[P[k] * ((k == m) - P[m]) for m in range(K)] for k in range(K)]
            for k in range(K):
                for j in range(q):
                    g[k][j] += o * (P[k] - t[k]) * z[j]
                for m in range(K):
                    c = o * curvature[k][m]
                    for i in range(q):
                        row, cz = H[k * q + i], c * z[i]
                        if cz:
                            for j in range(q):
                                row[m * q + j] += cz * z[j]
        d = solved(H, [-a for row in g for a in row])
        return [d[k * q : (k + 1) * q] for k in range(K)]


def solved(H, c):
    """Elimination with pivots, in place; ArithmeticError where H is singular."""
    n = len(c)
    size = max(abs(h) for row in H for h in row)
    for j in range(n):
        pivot = max(range(j, n), key=lambda i: abs(H[i][j]))
        H[j], H[pivot], c[j], c[pivot] = H[pivot], H[j], c[pivot], c[j]
        if abs(H[j][j]) <= size * Decimal(10) ** (10 - DIGITS):
            raise ArithmeticError("singular")
        for i in range(j + 1, n):
            if H[i][j]:
                f = H[i][j] / H[j][j]
                H[i][j:] = [a - f * b for a, b in zip(H[i][j:], H[j][j:], strict=True)]
                c[i] -= f * c[j]
    x = [Decimal(0)] * n
    for j in reversed(range(n)):
        x[j] = (c[j] - sum(H[j][k] * x[k] for k in range(j + 1, n))) / H[j][j]
    return x
