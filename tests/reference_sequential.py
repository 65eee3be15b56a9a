"""Slow twins of the learners that correct their errors: the lectures' loops in plain Python."""

from __future__ import annotations

import math


def dot(w, x):
    return sum(a * b for a, b in zip(w, x, strict=True))


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
