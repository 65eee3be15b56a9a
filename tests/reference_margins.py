"""Slow twin of the largest margin: every face of the hulls is tried, in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from reference import rationals, solve_exactly


def squared_margin(X, t, intercept=True):
    """(2 margin)^2 with a bias, margin^2 without, exactly; zero where the hulls meet.

    The nearest points lie inside faces with affinely independent corners. For each set of such
    corners the least |sum lambda_i t_i x_i|^2 with sum lambda = 1 in each class (in all, without a
    bias) comes from linear equations, and counts where no lambda is negative.
    """
    V = [[Fraction(int(s)) * v for v in rationals(x)] for x, s in zip(X, t, strict=True)]
    best = None
    groups = [[s > 0 for s in t], [s < 0 for s in t]] if intercept else [[True] * len(t)]
    for size in range(len(groups), len(X[0]) + len(groups) + 1):
        for rows in combinations(range(len(V)), size):
            if not all(any(group[i] for i in rows) for group in groups):
                continue
            square = _least([V[i] for i in rows], [[group[i] for i in rows] for group in groups])
            if square is not None and (best is None or square < best):
                best = square
    return best


def _least(V, groups):
    """min |lambda'V|^2 with 1'lambda = 1 in each group, or None: dependent, or not convex."""
    m, g = len(V), len(groups)
    G = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in V] for u in V]
    K = [G[i] + [Fraction(groups[k][i]) for k in range(g)] for i in range(m)]
    K += [[Fraction(groups[k][j]) for j in range(m)] + [Fraction(0)] * g for k in range(g)]
    try:
        weights = solve_exactly(K, [Fraction(0)] * m + [Fraction(1)] * g)[:m]
    except StopIteration:
        return None
    if min(weights) < 0:
        return None
    point = [sum(w * v[j] for w, v in zip(weights, V, strict=True)) for j in range(len(V[0]))]
    return sum(v * v for v in point)
