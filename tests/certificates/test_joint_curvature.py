"""Softmax near certainty: proven with the curvature of all classes together, and true."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from adaline import LogisticRegression
from adaline.certificates.optimality import JointBound
from adaline.losses.logistic import logistic_loss
from adaline.procedures.newton import _newton_state
from adaline.procedures.newton.newton import newton
from reference import decimals, solve_in_decimals


def minimum_in_decimals(X, codes, K, alpha, W, b):
    """W (K, p) and b (K,) that minimise the softmax loss + alpha/2 |W|^2, from a start near by.

    Newton's steps; the bias is that whose sum over the classes is that of the start.
    """
    Z = [[*decimals(row), Decimal(1)] for row in X]
    q, alpha = len(Z[0]), Decimal(float(alpha))
    theta = [[*decimals(w), Decimal(float(c))] for w, c in zip(W, b, strict=True)]
    places = [(k, j) for k in range(K) for j in range(q)]
    for _ in range(12):
        g = [[alpha * t if j < q - 1 else Decimal(0) for j, t in enumerate(row)] for row in theta]
        H = [[Decimal(int(j == m)) for _, m in places] for _, j in places]  # on what is shared
        for i, (_, j) in enumerate(places):
            H[i][i] += alpha if j < q - 1 else 0
        for z, own in zip(Z, codes, strict=True):
            e = [
                sum((t * a for t, a in zip(row, z, strict=True)), Decimal(0)).exp() for row in theta
            ]
            P = [a / sum(e) for a in e]
            for k in range(K):
                for j in range(q):
                    g[k][j] += (P[k] - int(k == own)) * z[j]
            S = [[P[k] * (int(k == m) - P[m]) for m in range(K)] for k in range(K)]
            for i, (k, j) in enumerate(places):
                row = H[i]
                for c, (m, r) in enumerate(places):
                    row[c] += S[k][m] * z[j] * z[r]
        mean = [sum(row[j] for row in g) / K for j in range(q)]
        step = solve_in_decimals(H, [g[k][j] - mean[j] for k, j in places])
        for i, (k, j) in enumerate(places):
            theta[k][j] -= step[i]
        for j in range(q - 1):
            drift = sum(row[j] for row in theta) / K
            for row in theta:
                row[j] -= drift
    return [row[:-1] for row in theta], [row[-1] for row in theta]


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-6])
def test_weights_of_far_classes_are_as_near_as_is_said(rng, alpha, monkeypatch):
    K, codes = 5, np.repeat(np.arange(5), 3)
    X = np.round(np.column_stack([4.0 * codes + rng.random(15), rng.random(15)]), 3)
    used = []
    joint = _newton_state.joint_bound
    monkeypatch.setattr(_newton_state, "joint_bound", lambda *a: used.append(joint(*a)) or used[-1])
    fit = newton(logistic_loss(X, codes, K, np.empty(0), alpha, True))
    assert fit.certificate.kind == "optimal"
    if alpha == 1e-6:
        assert isinstance(used[-1], JointBound)
    with localcontext() as context:
        context.prec = 50
        W, b = minimum_in_decimals(X, codes, K, alpha, fit.W, fit.b)
        off = [
            [abs(Decimal(float(a)) - c) for a, c in zip(w, exact, strict=True)]
            for w, exact in zip(fit.W, W, strict=True)
        ]
        bias = [abs(Decimal(float(a)) - c) for a, c in zip(fit.b, b, strict=True)]
        evidence = fit.certificate.evidence
        far = sum(d * d for row in off for d in row).sqrt()
        assert far <= Decimal(float(evidence["distance_bound"]))
        assert far > 0
        for row in off:
            assert all(
                d <= Decimal(float(c)) for d, c in zip(row, evidence["coef_bound"], strict=True)
            )
        assert max(bias) <= Decimal(float(evidence["intercept_bound"])) + Decimal("1e-14")


def test_ordered_classes_far_apart_are_proven_at_small_penalties(rng):
    y = np.repeat(np.arange(6), 20)
    X = np.column_stack([y + 0.1 * rng.random(120), rng.random(120)])
    for alpha in (1e-2, 1e-4, 1e-6):
        model = LogisticRegression(alpha).fit(X, y)
        assert model.certificate_.kind == "optimal"
        assert model.score(X, y) == 1.0
