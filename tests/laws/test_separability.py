"""The verdict is the truth, and its proof holds, whatever the data: checked against fractions.

`python tests/laws/test_separability.py 5000` searches for longer, from a new seed each time.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import Separability, separability
from reference_classifiers import kesler_rows, signed_rows, verdict
from search import search

TINY = 5e-324


def small_integers(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float), rng.integers(0, 2, n)


def planted(rng, n, d, w=None):
    """Rows on the two sides of a hyperplane through small integers, and on it."""
    X = rng.integers(-3, 4, (n, d)).astype(float)
    w = rng.integers(-2, 3, d) if w is None else w
    v = X @ w
    y = np.where(v == 0, rng.integers(0, 2, n), v > 0).astype(int)
    return X, y


def touching(rng, n, d):
    """All of one class on a hyperplane or on its one side, some of the other on it."""
    X, y = planted(rng, n, d)
    if rng.integers(2):
        X *= 0.1 * rng.integers(1, 9, d)  # tenths are rounded: rows no longer exactly on it
    return X, y


def duplicates(rng, n, d):
    X, y = small_integers(rng, n, d) if rng.integers(2) else planted(rng, n, d)
    i, j = rng.integers(0, n, 2)
    X[i] = X[j]
    y[i] = 1 - y[j]
    return X, y


def one_ulp(rng, n, d):
    """Classes that meet in a plane, moved apart or together by one unit in the last place."""
    X = rng.standard_normal((n, d))
    y = rng.integers(0, 2, n)
    at = float(rng.choice([1.0, 3.0, 0.1, 1e8, 1e-8, 1e300]))
    j = int(rng.integers(d))
    X[:, j] = at
    for i in range(n):
        if rng.integers(3):
            X[i, j] = np.nextafter(at, np.inf if y[i] else -np.inf)
    if rng.integers(3) == 0:
        i = int(rng.integers(n))
        X[i, j] = np.nextafter(at, -np.inf if y[i] else np.inf)
    return X, y


def scaled(rng, n, d):
    """Columns in very different units, by powers of ten that round."""
    X, y = [touching, one_ulp, duplicates][rng.integers(3)](rng, n, d)
    with np.errstate(over="ignore", under="ignore"):
        Z = X * 10.0 ** rng.choice([-300, -100, -8, 0, 8, 100, 300], d)
    return np.where(np.isfinite(Z), Z, X), y


def subnormal(rng, n, d):
    X, y = small_integers(rng, n, d) if rng.integers(2) else planted(rng, n, d)
    X *= TINY * rng.integers(1, 5, d)
    if rng.integers(2):
        X[:, 0] = X[:, 0] / TINY * 1e300
    return X, y


def mixed(rng, n, d):
    """Huge and tiny entries in one column."""
    X, y = small_integers(rng, n, d)
    return X * 10.0 ** rng.choice([-300, -20, 0, 0, 20, 300], (n, d)), y


def offset(rng, n, d):
    X, y = [touching, one_ulp][rng.integers(2)](rng, n, d)
    return X + rng.choice([1e8, 1e15, -3e7], d), y


def collinear(rng, n, d):
    X, y = [small_integers, planted, duplicates][rng.integers(3)](rng, n, d)
    return np.column_stack([X, X @ rng.integers(-2, 3, d), np.full(n, 7.0), np.zeros(n)]), y


def wide(rng, n, d):
    n = min(n, 5)
    X = rng.integers(-1, 2, (n, n + d)).astype(float)
    if rng.integers(2):
        X[-1] = X[0] + X[1 % n] - X[2 % n]
    return X, rng.integers(0, 2, n)


def noise(rng, n, d):
    """Rows at rounding distance from a plane through real numbers, on random sides."""
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    X[:, -1] = -(X[:, :-1] @ w[:-1]) / w[-1] if d > 1 else 0.5
    y = (X @ w > 0).astype(int)
    flip = rng.integers(0, 4, n) == 0
    return X, np.where(flip & (rng.integers(2) == 0), 1 - y, y)


def near(rng, n, d):
    """A tiny gap between the classes, or a tiny overlap."""
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    y = rng.integers(0, 2, n)
    gap = 10.0 ** -rng.integers(1, 18) * rng.choice([1, 1, -1])
    X[:, -1] = (np.where(y, gap, -gap) * rng.random(n) - X[:, :-1] @ w[:-1]) / w[-1]
    return X, y


KINDS = [
    small_integers, planted, touching, duplicates, one_ulp, scaled, subnormal, mixed, offset,
    collinear, wide, noise, near,
]  # fmt: skip


def case(rng):
    """X, codes of K classes that all occur, and whether there is an intercept."""
    kind = KINDS[rng.integers(len(KINDS))]
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    X, y = kind(rng, n, d)
    K = 2
    if rng.integers(6) == 0 and len(y) >= 3:
        K, X, y = 3, X[:6], y[:6] + rng.integers(0, 2, len(y))[:6]
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        codes[0], labels = 1 - codes[-1] if len(codes) > 1 else 0, np.arange(2)
    return kind.__name__, X, codes, min(K, len(np.unique(codes))), bool(rng.integers(4))


def compare(seed):
    """The kind of case, the verdict, and what is wrong with it (empty if nothing is)."""
    rng = np.random.default_rng(seed)
    kind, X, codes, K, intercept = case(rng)
    if len(np.unique(codes)) < 2:
        return kind, "one class", ""
    given = sparse.csr_matrix(X) if rng.integers(4) == 0 else X
    found = separability(given, codes, fit_intercept=intercept)
    Y = signed_rows(X, 2 * codes - 1, intercept) if K == 2 else kesler_rows(X, codes, K, intercept)
    truth = verdict(Y)
    if found.verdict != truth:
        return kind, truth, f"seed {seed}, {kind}: {found.verdict}, but the truth is {truth}"
    checked = Separability.from_json(found.to_json()).check(X, codes)
    if not checked:
        return kind, truth, f"seed {seed}, {kind}: {checked.sentence}"
    return kind, truth, ""


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_the_verdict_is_that_of_exact_linear_programming(start):
    outcomes = [compare(seed) for seed in range(start, start + 50)]
    assert [wrong for _, _, wrong in outcomes if wrong] == []
    assert len({truth for _, truth, _ in outcomes}) >= 3


if __name__ == "__main__":
    search(lambda _, seed: not compare(seed)[2], ["separation"])
