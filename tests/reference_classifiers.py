"""Slow twins of classifiers: verdicts, margins, Ho-Kashyap, and learners that correct errors.

Verdicts and margins are exact: nothing is scaled, filtered or warm started, and no float is
compared with anything.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from reference import dot, rationals, solve_exactly


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


def normalised_rows(X, t, intercept=True):
    """Rows t (1, x) of Y."""
    one = [1.0] if intercept else []
    return [[float(s) * v for v in [*one, *map(float, x)]] for s, x in zip(t, X, strict=True)]


def ho_kashyap(X, t, a=None, b=None, eta=0.9, max_iter=1000, tol=1e-6, intercept=True):
    """(k, a, b, e, end) of the lecture's loop; a None starts at the pseudoinverse."""
    Y = np.array(normalised_rows(X, t, intercept))
    b = np.ones(len(Y)) if b is None else np.array(b, dtype=float)
    pseudoinverse = np.linalg.pinv(Y)
    given = a is not None
    a = np.array(a, dtype=float) if given else pseudoinverse @ b
    for k in range(1, max_iter + 1):
        e = Y @ a - b
        if min(Y @ a) > 1e-12:
            return k, a, b, e, "separated"
        if max(e) <= tol * max(-e) and not (given and k == 1):
            return k, a, b, e, "balanced"
        if k < max_iter:
            b = b + eta * (e + abs(e))
            a = pseudoinverse @ b
    return max_iter, a, b, e, "iterations"


def exact_ho_kashyap(X, t, a, eta, max_iter=1000):
    """(k, a, b, Ya) as fractions from a(1) = a and b(1) = 1, until all Ya > 0; Y of full rank."""
    Y = [rationals(row) for row in normalised_rows(X, t)]
    q = range(len(Y[0]))
    G = [[sum(y[i] * y[j] for y in Y) for j in q] for i in q]
    a, b = [Fraction(v) for v in a], [Fraction(1)] * len(Y)
    for k in range(1, max_iter + 1):
        Ya = [sum(v * w for v, w in zip(y, a, strict=True)) for y in Y]
        if min(Ya) > 0:
            return k, a, b, Ya
        e = [v - m for v, m in zip(Ya, b, strict=True)]
        b = [m + eta * (v + abs(v)) for m, v in zip(b, e, strict=True)]
        a = solve_exactly(G, [sum(y[i] * m for y, m in zip(Y, b, strict=True)) for i in q])
    return max_iter, a, b, Ya


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


def primal_perceptron(X, t, max_iter=1000, weights=None):
    """Lecture 002, incremental, epsilon = 1, start at zero, the bias an input of 1.

    Returns w, b, and how often each pattern was corrected, times its weight; none for ones.
    """
    omega = np.ones(len(X)) if weights is None else weights
    w, b, corrections = np.zeros(len(X[0])), 0.0, np.zeros(len(X))
    for _ in range(max_iter):
        wrong = 0
        for i, x in enumerate(X):
            if omega[i] > 0 and t[i] * (sum(w[j] * x[j] for j in range(len(x))) + b) <= 0:
                w = w + omega[i] * t[i] * np.asarray(x)
                b = b + omega[i] * t[i]
                corrections[i] += omega[i]
                wrong += 1
        if wrong == 0:
            break
    return w, b, corrections


def perceptron(X, t, eta=1.0, max_iter=100, absolute=False, rate=None, rng=None):
    """(w, corrections, passes) of the incremental perceptron; give the bias as an input of 1.

    With rng, every pass takes the rows in the order of a new random permutation of all of them.
    """
    w, corrections, n = [0.0] * len(X[0]), 0, 0
    for k in range(1, max_iter + 1):
        made = 0
        order = range(len(X)) if rng is None else rng.permutation(len(X)).tolist()
        for i in order:
            x, target = X[i], t[i]
            v = dot(w, x)
            step = eta if rate is None else rate(n)
            n += 1
            if target * v > 0:
                continue
            if absolute:
                step = 1
                while step * dot(x, x) <= abs(v):
                    step += 1
            w = [a + step * target * b for a, b in zip(w, x, strict=True)]
            made += 1
        corrections += made
        if made == 0:
            return w, corrections, k
    return w, corrections, max_iter


def error_correction(X, d, eta=1.0, max_iter=100):
    """w + eta [d - y] x of lecture 000, with y = sgn(w'x) and sgn(0) = +1."""
    w = [0.0] * len(X[0])
    for _ in range(max_iter):
        before = w
        for x, target in zip(X, d, strict=True):
            y = 1 if dot(w, x) >= 0 else -1
            w = [a + eta * (target - y) * b for a, b in zip(w, x, strict=True)]
        if w == before:
            return w
    return w


def batch_perceptron(X, t, eta=1.0, max_iter=100):
    """(w, updates) of the batch perceptron."""
    w, updates = [0.0] * len(X[0]), 0
    for _ in range(max_iter):
        wrong = [(x, s) for x, s in zip(X, t, strict=True) if s * dot(w, x) <= 0]
        if not wrong:
            return w, updates
        updates += 1
        for j in range(len(w)):
            w[j] += eta * sum(s * x[j] for x, s in wrong)
    return w, updates


def kesler(X, codes, K, max_iter=100):
    """Rows of weights of the linear machine; of equal rivals, the first is lowered."""
    W = [[0.0] * len(X[0]) for _ in range(K)]
    for _ in range(max_iter):
        made = 0
        for x, c in zip(X, codes, strict=True):
            v = [dot(w, x) for w in W]
            rival = max((k for k in range(K) if k != c), key=lambda k: v[k])
            if v[c] <= v[rival]:
                made += 1
                W[c] = [a + b for a, b in zip(W[c], x, strict=True)]
                W[rival] = [a - b for a, b in zip(W[rival], x, strict=True)]
        if made == 0:
            break
    return W


def lms(X, y, rate, passes=1, phi=None):
    """w + eta(n) e phi' x; phi None, "tanh" or "logistic"."""
    w, n = [0.0] * len(X[0]), 0
    for _ in range(passes):
        for x, target in zip(X, y, strict=True):
            v = dot(w, x)
            out, slope = v, 1.0
            if phi == "tanh":
                out = math.tanh(v)
                slope = 1 - out**2
            elif phi == "logistic":
                out = 1 / (1 + math.exp(-v))
                slope = out * (1 - out)
            w = [a + rate(n) * (target - out) * slope * b for a, b in zip(w, x, strict=True)]
            n += 1
    return w


def origin(mean, scatter, count, before):
    """Two deviations from the mean, towards zero, or zero where that is nearer to the mean.

    The deviation is larger for few values; values that hardly differ leave it where it was.
    """
    variance = scatter / count
    reach = 2.0 * math.sqrt(variance + mean**2 * (4.0 / count) ** 4)
    if variance <= 1e-12 * mean**2:
        return before
    if abs(mean) <= reach:
        return 0.0
    return mean - math.copysign(reach, mean)


def square_about(at, mean, scatter, count, squares):
    """Sum of squares about an origin, if it is one."""
    return scatter + count * (mean - at) ** 2 if at != 0 else squares


def shrink(j, ratio, mean, *weights):
    """Weight j times the ratio; the last, the bias, takes up the difference at the mean."""
    for w in weights:
        w[-1] += (1.0 - ratio) * w[j] * mean
        w[j] *= ratio


def automatic(X, y):
    """The weights of automatic rates after one pass, averaged; the last input is the bias's 1.

    A gain, one over the mean square of what is not zero in a feature, is measured in the first
    1024 samples and in one of 64 after, and in the first four values of a feature. With m inputs
    of q that are not zero in the average row, a sample counts (1 - m/q)^4 / 4m until weights are
    averaged; one plus the count of those in which a feature was not zero divides its gain. Its
    first four values measure weights anew, as if the gain had always been so.

    A feature that was never zero in rows that measured is learned as x - o: see `origin`. The bias
    is then that of these inputs, and moves back to that of the x after each step. A zero ends it.
    A value more than 32 units from the origin is measured in every row, before all else. Weights,
    all that were averaged too, become what they had been with the new unit, about the mean.
    """
    q = len(X[0])
    origins, never_zero, about = [0.0] * q, [True] * q, [0.0] * q
    means, scatters = [0.0] * q, [0.0] * q
    w, squares, counts, gains = [0.0] * q, [0.0] * q, [0] * q, [0.0] * q
    weighted, weight, rows, total_inputs = [0.0] * q, 0.0, 0, 0.0
    for n, (x, target) in enumerate(zip(X, y, strict=True)):
        is_measured, age = n < 1024 or n % 64 == 0, 0.0
        if is_measured:
            m = max(total_inputs / rows, 1.0) if rows else 1.0
            age = max(1.0 - m / q, 0.0) ** 4 * min(n, 2 * q) / (4 * m)
            gains[-1] = 1.0 / (1.0 + age)
            rows, total_inputs = rows + 1, total_inputs + 1.0
        for j, a in enumerate(x[:-1]):
            before, square = origins[j], about[j]
            if a == 0:
                never_zero[j] = never_zero[j] and not is_measured and before == 0
            if before != 0 and (a == 0 or (a - before) ** 2 * gains[j] > 1024):
                squares[j] += a * a
                scatters[j] += (a - means[j]) ** 2
                at = 0.0 if a == 0 else origin(means[j], scatters[j], counts[j], before)
                about[j] = square_about(at, means[j], scatters[j], counts[j], squares[j])
                if (a - before) ** 2 * gains[j] > 1024:
                    shrink(j, square / about[j], means[j], w, weighted)
                origins[j], gains[j] = at, gains[j] * square / about[j]
            if a != 0 and (is_measured or counts[j] < 4):
                squares[j] += a * a
                counts[j] += 1
                if never_zero[j] and is_measured:
                    mean = means[j]
                    means[j] += (a - mean) / counts[j]
                    scatters[j] += (a - mean) * (a - means[j])
                    origins[j] = origin(means[j], scatters[j], counts[j], origins[j])
                about[j] = square_about(origins[j], means[j], scatters[j], counts[j], squares[j])
                share = max(counts[j] - 3.5, 0.0) / rows
                before, gains[j] = gains[j], counts[j] / about[j] / (1.0 + share * age)
                w[j] *= gains[j] / before if 2 <= counts[j] <= 4 else 1.0
                total_inputs += is_measured * (a - origins[j]) ** 2 * counts[j] / about[j]
        c = [a - o for a, o in zip(x, origins, strict=True)]
        z = sum(a * a * g for a, g in zip(c, gains, strict=True))
        slower = 1.0 + max((n + 1) / q - 2.0, 0.0) / 32.0
        e = (target - dot(w, x)) / max(z, total_inputs / rows * slower)
        steps = [e * b * g for b, g in zip(c, gains, strict=True)]
        w = [a + b for a, b in zip(w, steps, strict=True)]
        w[-1] -= dot(steps, origins)
        late = max(n + 1 - 2 * q, 0)
        weighted = [s + late * a for s, a in zip(weighted, w, strict=True)]
        weight += late
    return [s / weight for s in weighted] if weight else w
