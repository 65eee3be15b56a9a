"""Slow twin for `separability`: a plain simplex in fractions, and the definition of the verdicts.

Nothing is scaled, filtered or warm started, and no float is compared with anything.
"""

from __future__ import annotations

from fractions import Fraction


def signed_rows(X, t, intercept=True):
    """Rows t (1, x) in fractions, or t x without an intercept."""
    one = [Fraction(1)] if intercept else []
    return [
        [int(side) * value for value in [*one, *(Fraction(float(x)) for x in row)]]
        for row, side in zip(X, t, strict=True)
    ]


def kesler_rows(X, codes, K, intercept=True):
    """Rows (e_y - e_j) x (1, x) of K blocks, for every sample and every other class j."""
    rows = []
    for x, y in zip(signed_rows(X, [1] * len(X), intercept), codes, strict=True):
        for j in range(K):
            if j != y:
                blocks = [[0] * len(x) for _ in range(K)]
                blocks[y], blocks[j] = x, [-value for value in x]
                rows.append([Fraction(value) for block in blocks for value in block])
    return rows


def verdict(Y):
    """Separable: some Yw > 0. Overlapping: Yw >= 0 only with Yw = 0. Else quasi-separable."""
    best, strict = most_positive(Y)
    if best == 0:
        return "overlapping"
    return "separable" if len(strict) == len(Y) else "quasi-separable"


def most_positive(Y):
    """max sum s with Yw >= s and 0 <= s <= 1, and the rows that can be positive.

    Yw >= 0 is a cone, so rows that can be positive can all be so at once, and as large as one.
    """
    n, D = len(Y), len(Y[0])
    # Columns w+ (D), w- (D), s (n), slack of s - Yw <= 0 (n), slack of s <= 1 (n).
    width = 2 * D + 3 * n
    table, basis = [], []
    for i, y in enumerate(Y):
        row = [-v for v in y] + list(y) + [Fraction(0)] * (3 * n)
        row[2 * D + i] = row[2 * D + n + i] = Fraction(1)
        table.append([*row, Fraction(0)])
        basis.append(2 * D + n + i)
    for i in range(n):
        row = [Fraction(0)] * width
        row[2 * D + i] = row[2 * D + 2 * n + i] = Fraction(1)
        table.append([*row, Fraction(1)])
        basis.append(2 * D + 2 * n + i)
    cost = [Fraction(int(2 * D <= j < 2 * D + n)) for j in range(width)] + [Fraction(0)]
    simplex(table, basis, cost)
    values = dict(zip(basis, (row[-1] for row in table), strict=True))
    s = [values.get(2 * D + i, Fraction(0)) for i in range(n)]
    return sum(s), [i for i in range(n) if s[i] > 0]


def simplex(table, basis, cost):
    """Maximise by Bland's rule, which cannot cycle."""
    while True:
        column = next((j for j, c in enumerate(cost[:-1]) if c > 0), None)
        if column is None:
            return
        _, _, pivot = min(
            (row[-1] / row[column], basis[i], i) for i, row in enumerate(table) if row[column] > 0
        )
        head = [v / table[pivot][column] for v in table[pivot]]
        table[pivot] = head
        for i, row in enumerate(table):
            if i != pivot and row[column]:
                table[i] = [a - row[column] * b for a, b in zip(row, head, strict=True)]
        cost[:] = [a - cost[column] * b for a, b in zip(cost, head, strict=True)]
        basis[pivot] = column
