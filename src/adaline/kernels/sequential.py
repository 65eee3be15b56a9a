"""Learning one sample at a time, dense rows and CSR in one code.

Legend: a row is data[lo:hi], dense with column q - lo at q, or CSR with column indices[q]. theta
(m, p + 1) holds in its first K rows the weights, the bias last; then, where something is kept
beside the last weights, K rows of that; then, with automatic rates, a row of sums of squares and
one of how many were not zero: in that case the numbers of a feature lie side by side in memory,
since they are used together. head holds the recipe as numbers, the counters that travel with the
state, and from `RUNS` on the current and the longest run of right answers of each neuron.

Data must be float64 and contiguous: a sum is added up in the order the compiler likes, which
is the same for one row or a million, but not for every kind of storage.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

# Places in head.
CRITERION, TARGETS, RATE, RATE_A, RATE_B, INTERCEPT, KEEP, NEURONS = range(8)
SEEN, CORRECTIONS, LOSS, SQUARES, CURVATURE, FEWEST = range(8, 14)
RUNS = 14

# Criteria.
PERCEPTRON, MACHINE, SQUARED, TANH, LOGISTIC, CROSS_ENTROPY, SOFTMAX = range(7)
# Targets: numbers, or codes of classes that become +1 and -1, or 1 and 0.
NUMBERS, SIGNS, BITS = range(3)
# Rates.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, ABSOLUTE = range(5)
# What is kept.
LAST, AVERAGE, POCKET, LATE_AVERAGE = range(4)

# Automatic rates, in samples a feature: when the rate has halved, and from when on weights are
# averaged. Before, the weights still have a way to go, and an average would lag behind.
SEARCH, SETTLED = 32.0, 2.0


@sums_kernel
def _dense_dot(data, lo, theta, k):
    """w'x of neuron k, for the dense row from lo on."""
    w, p = theta[k], theta.shape[1] - 1
    x = data[lo : lo + p]
    s = 0.0
    for j in range(p):
        s += w[j] * x[j]
    return s


@sums_kernel
def _sparse_dot(data, indices, lo, hi, theta, k):
    """w'x of neuron k, for a CSR row."""
    w, x, columns = theta[k], data[lo:hi], indices[lo:hi]
    s = 0.0
    for q in range(x.shape[0]):
        s += w[columns[q]] * x[q]
    return s


@kernel
def _dot(dense, data, indices, lo, hi, theta, k):
    """w'x of neuron k."""
    if dense:
        return _dense_dot(data, lo, theta, k)
    return _sparse_dot(data, indices, lo, hi, theta, k)


@kernel
def _square(data, lo, hi):
    """x'x."""
    s = 0.0
    for q in range(lo, hi):
        s += data[q] * data[q]
    return s


@kernel
def _add_dense(data, lo, d, theta, k):
    """w + d x for row k of theta and a dense row, in place."""
    w, x = theta[k], data[lo : lo + theta.shape[1] - 1]
    for j in range(x.shape[0]):
        w[j] += d * x[j]


@kernel
def _add_sparse(data, indices, lo, hi, d, theta, k):
    """w + d x for row k of theta and a CSR row, in place."""
    w, x, columns = theta[k], data[lo:hi], indices[lo:hi]
    for q in range(x.shape[0]):
        w[columns[q]] += d * x[q]


@kernel
def _add(dense, data, indices, lo, hi, d, theta, k):
    """w + d x for row k of theta, in place."""
    if dense:
        _add_dense(data, lo, d, theta, k)
    else:
        _add_sparse(data, indices, lo, hi, d, theta, k)


@kernel
def _target(targets, Y, i, K, k):
    if targets == NUMBERS:
        return Y[i, k]
    own = Y[i, 0] == 1.0 if K == 1 else Y[i, 0] == k
    low = -1.0 if targets == SIGNS else 0.0
    return 1.0 if own else low


@kernel
def phi(criterion, v):
    """The output of a neuron: tanh, logistic or linear."""
    if criterion == TANH:
        return np.tanh(v)
    if criterion in (LOGISTIC, CROSS_ENTROPY):
        return 1.0 / (1.0 + np.exp(-v))
    return v


@kernel
def slope_and_loss(criterion, t, v):
    """-dE/dv and E: -t v on errors for the perceptron, -ln p(t) for the cross entropy, else
    (t - phi(v))^2 / 2."""
    if criterion == PERCEPTRON:
        return (t, -t * v) if t * v <= 0.0 else (0.0, 0.0)
    y = phi(criterion, v)
    e = t - y
    if criterion == CROSS_ENTROPY:
        return e, max(v, 0.0) - t * v + np.log1p(np.exp(-abs(v)))
    loss = 0.5 * e * e
    if criterion == TANH:
        return e * (1.0 - y * y), loss
    if criterion == LOGISTIC:
        return e * (y * (1.0 - y)), loss
    return e, loss


@kernel
def _rate(head, n):
    """The rate after n samples, where it does not depend on the sample."""
    kind = head[RATE]
    if kind == OVER_K:
        return head[RATE_A] / (n + 1.0)
    if kind == SEARCH_THEN_CONVERGE:
        return head[RATE_A] / (1.0 + n / head[RATE_B])
    return head[RATE_A]


@kernel
def _correct(dense, data, indices, lo, hi, k, d, n, head, theta):
    """Neuron k moves by d x; an average kept beside it learns of that. n samples came before."""
    p, K, bias = theta.shape[1] - 1, int(head[NEURONS]), head[INTERCEPT]
    _add(dense, data, indices, lo, hi, d, theta, k)
    theta[k, p] += bias * d
    if head[KEEP] == AVERAGE:
        _add(dense, data, indices, lo, hi, d * n, theta, K + k)
        theta[K + k, p] += bias * d * n


@kernel
def _into_pocket(k, first, last, head, theta):
    """A run of right answers ends: keep its weights, rows first..last, if it was the longest."""
    K = int(head[NEURONS])
    run, best = RUNS + k, RUNS + K + k
    if head[run] > head[best]:
        head[best] = head[run]
        for row in range(first, last):
            for j in range(theta.shape[1]):
                theta[K + row, j] = theta[row, j]
    head[run] = 0.0


@kernel
def _whole(excess, square):
    """Smallest whole eta with eta square > excess; 0 where none can be."""
    return np.floor(excess / square) + 1.0 if square > 0.0 else 0.0


@kernel
def rival(dense, data, indices, lo, hi, own, K, theta):
    """The strongest other neuron, and by how much it exceeds the own one."""
    p = theta.shape[1] - 1
    mine, most, other = 0.0, -np.inf, -1
    for k in range(K):
        v = _dot(dense, data, indices, lo, hi, theta, k) + theta[k, p]
        if k == own:
            mine = v
        elif v > most or other < 0:
            most, other = v, k
    return other, most - mine


@kernel
def _machine(dense, data, indices, lo, hi, own, omega, eta, square, n, head, theta):
    """Kesler's rule: raise the neuron of the true class, lower the strongest other.

    Returns by how much the other exceeded the own before.
    """
    K = int(head[NEURONS])
    other, excess = rival(dense, data, indices, lo, hi, own, K, theta)
    if excess < 0.0:
        head[RUNS] += 1.0
        return excess
    if head[KEEP] == POCKET:
        _into_pocket(0, 0, K, head, theta)
    d = omega * eta
    if head[RATE] == ABSOLUTE:
        d = _whole(excess, 2.0 * square)
    _correct(dense, data, indices, lo, hi, own, d, n, head, theta)
    _correct(dense, data, indices, lo, hi, other, -d, n, head, theta)
    return excess


@kernel
def late_weight(n, p):
    """Sum of the weights 1, 2, 3, ... that samples up to the nth have in the late average."""
    late = max(n - SETTLED * (p + 1.0), 0.0)
    return 0.5 * late * (late + 1.0)


@kernel
def _observed(dense, data, indices, lo, scaled, theta):
    """scaled becomes x/s, with s the mean square of each feature where it is not zero.

    Returns sum x^2/s, and w'x of neuron 0: one visit to the numbers of a feature, for that is what
    takes time.
    """
    z, v, first = 0.0, 0.0, np.uintp(lo)
    squares, counts = np.uintp(theta.shape[0] - 2), np.uintp(theta.shape[0] - 1)
    for q in range(np.uintp(scaled.shape[0])):
        x = data[first + q]
        j = q if dense else np.uintp(indices[first + q])
        if x * x == 0.0:
            scaled[q] = 0.0
            continue
        square, count = theta[squares, j] + x * x, theta[counts, j] + 1.0
        theta[squares, j], theta[counts, j] = square, count
        r = x * (count / square)
        scaled[q] = r
        z += x * r
        v += theta[np.uintp(0), j] * x
    return z, v


@kernel
def _automatic(head, n, z, p):
    """Rate of sample n = 1, 2, ... whose scaled square is z; adds z to the sum of them.

    At most 1/z, which would bring the error of this very sample to zero, and falling as 1/n from
    1/mean(z), so that in the end all samples count alike.
    """
    head[SQUARES] += z
    mean = head[SQUARES] / n
    return 1.0 / (head[CURVATURE] * max(z, mean * (1.0 + n / (SEARCH * (p + 1.0)))))


@kernel
def _slopes(criterion, targets, Y, i, v):
    """v (K,), the local fields, become -dE/dv. Returns E."""
    K, loss = v.shape[0], 0.0
    if criterion == SOFTMAX:
        own, top, total = int(Y[i, 0]), v.max(), 0.0
        mine = v[own] - top
        for k in range(K):
            v[k] = np.exp(v[k] - top)
            total += v[k]
        for k in range(K):
            v[k] = (1.0 if k == own else 0.0) - v[k] / total
        return np.log(total) - mine
    for k in range(K):
        v[k], part = slope_and_loss(criterion, _target(targets, Y, i, K, k), v[k])
        loss += part
    return loss


@kernel
def _move(dense, indices, lo, scaled, d, late, k, kept, theta):
    """w + d D^-1 x, for neuron k and the diagonal D of mean squares; with late, kept too."""
    first = np.uintp(lo)
    for q in range(np.uintp(scaled.shape[0])):
        j, change = q if dense else np.uintp(indices[first + q]), d * scaled[q]
        theta[k, j] += change
        if late > 0.0:
            theta[kept, j] += late * change


@kernel
def _longest(dense, indptr, p):
    """Numbers in the longest row."""
    most = p if dense else 0
    for i in range(indptr.shape[0] - 1):
        most = max(most, indptr[i + 1] - indptr[i])
    return most


@kernel
def _learn_automatically(data, indices, indptr, order, Y, omega, head, theta):
    """`learn` with automatic rates."""
    dense, p, K = indptr.shape[0] == 0, theta.shape[1] - 1, int(head[NEURONS])
    criterion, targets, bias = int(head[CRITERION]), int(head[TARGETS]), head[INTERCEPT]
    n, corrections, total = head[SEEN], head[CORRECTIONS], head[LOSS]
    room, v, averages = np.empty(_longest(dense, indptr, p)), np.empty(K), head[KEEP] != LAST
    for m in range(Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        lo, hi = (i * p, i * p + p) if dense else (indptr[i], indptr[i + 1])
        scaled = room[: hi - lo]
        z, v[0] = _observed(dense, data, indices, lo, scaled, theta)
        v[0] += theta[0, p]
        for k in range(1, K):
            v[k] = _dot(dense, data, indices, lo, hi, theta, k) + theta[k, p]
        late = late_weight(n, p) if averages else 0.0
        n += 1.0
        eta = _automatic(head, n, z + bias, p)
        total += weight * _slopes(criterion, targets, Y, i, v)
        for k in range(K):
            d = weight * eta * v[k]
            if d == 0.0:
                continue
            corrections += criterion != SOFTMAX
            theta[k, p] += bias * d
            if late > 0.0:
                theta[K + k, p] += bias * d * late
            neuron, kept = np.uintp(k), np.uintp(K + k)
            _move(dense, indices, lo, scaled, d, late, neuron, kept, theta)
        corrections += criterion == SOFTMAX
    head[SEEN], head[CORRECTIONS], head[LOSS] = n, corrections, total


@kernel
def _perceptron_dense(data, order, Y, omega, head, theta):
    """`learn` for dense rows and one perceptron that keeps its last weights: the short way."""
    p, made, total, n = theta.shape[1] - 1, 0, 0.0, head[SEEN]
    for m in range(Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        lo = i * p
        v = _dense_dot(data, lo, theta, 0) + theta[0, p]
        t = 1.0 if Y[i, 0] == 1.0 else -1.0
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if t * v <= 0.0 and weight != 0.0:
            made += 1
            total -= weight * t * v
            d = weight * _rate(head, n) * t
            _add_dense(data, lo, d, theta, 0)
            theta[0, p] += head[INTERCEPT] * d
        n += weight != 0.0
    head[SEEN], head[CORRECTIONS], head[LOSS] = n, head[CORRECTIONS] + made, head[LOSS] + total


@kernel
def _perceptron_sparse(data, indices, indptr, order, Y, omega, head, theta):
    """`learn` for CSR rows and one perceptron that keeps its last weights or their average."""
    p, made, total, n = theta.shape[1] - 1, 0, 0.0, head[SEEN]
    average, bias = head[KEEP] == AVERAGE, head[INTERCEPT]
    for m in range(Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        lo, hi = indptr[i], indptr[i + 1]
        v = _sparse_dot(data, indices, lo, hi, theta, 0) + theta[0, p]
        t = 1.0 if Y[i, 0] == 1.0 else -1.0
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if t * v <= 0.0 and weight != 0.0:
            made += 1
            total -= weight * t * v
            d = weight * _rate(head, n) * t
            _add_sparse(data, indices, lo, hi, d, theta, 0)
            theta[0, p] += bias * d
            if average:
                _add_sparse(data, indices, lo, hi, d * n, theta, 1)
                theta[1, p] += bias * d * n
        n += weight != 0.0
    head[SEEN], head[CORRECTIONS], head[LOSS] = n, head[CORRECTIONS] + made, head[LOSS] + total


@kernel
def learn(data, indices, indptr, order, Y, omega, head, theta):
    """Learn the rows one by one, in the given order, or as they come where order is empty.

    A weight of zero leaves a row out altogether. One long loop: calls that are not inlined would
    cost more than the arithmetic.
    """
    if head[RATE] == AUTO:
        _learn_automatically(data, indices, indptr, order, Y, omega, head, theta)
        return
    dense, p = indptr.shape[0] == 0, theta.shape[1] - 1
    alone = head[CRITERION] == PERCEPTRON and head[NEURONS] == 1.0 and head[RATE] != ABSOLUTE
    if alone and dense and head[KEEP] == LAST:
        _perceptron_dense(data, order, Y, omega, head, theta)
        return
    if alone and not dense and head[KEEP] != POCKET:
        _perceptron_sparse(data, indices, indptr, order, Y, omega, head, theta)
        return
    criterion, targets, K = int(head[CRITERION]), int(head[TARGETS]), int(head[NEURONS])
    pocket, absolute = head[KEEP] == POCKET, head[RATE] == ABSOLUTE
    n, corrections, total = head[SEEN], head[CORRECTIONS], head[LOSS]
    for m in range(Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        lo, hi = (i * p, i * p + p) if dense else (indptr[i], indptr[i + 1])
        eta, square = _rate(head, n), _square(data, lo, hi) + head[INTERCEPT] if absolute else 0.0
        if criterion == MACHINE:
            own = int(Y[i, 0])
            excess = _machine(
                dense, data, indices, lo, hi, own, weight, eta, square, n, head, theta
            )
            corrections += excess >= 0.0
            total += weight * max(excess, 0.0)
            n += 1.0
            continue
        for k in range(K):
            v = _dot(dense, data, indices, lo, hi, theta, k) + theta[k, p]
            t = _target(targets, Y, i, K, k)
            g, loss = slope_and_loss(criterion, t, v)
            total += weight * loss
            if g == 0.0:
                if pocket:
                    head[RUNS + k] += 1.0
                continue
            corrections += 1.0
            if pocket:
                _into_pocket(k, k, k + 1, head, theta)
            d = weight * eta * g
            if absolute:
                d = g * _whole(abs(v), square)
            _correct(dense, data, indices, lo, hi, k, d, n, head, theta)
        n += 1.0
    head[SEEN], head[CORRECTIONS], head[LOSS] = n, corrections, total


@kernel
def learn_one(x, y, head, theta):
    """Learn one dense sample x (p,) with one target, or one class code."""
    target, none = np.empty((1, 1)), np.empty(0, dtype=np.int64)
    target[0, 0] = y
    learn(x, none, none, none, target, target[0, 1:], head, theta)


@kernel
def value(x, k, head, theta):
    """v = w'x + b of neuron k for one dense sample, with the weights that are kept."""
    p, K, n = theta.shape[1] - 1, int(head[NEURONS]), head[SEEN]
    none = np.empty(0, dtype=np.int64)
    v = _dot(True, x, none, 0, p, theta, k) + theta[k, p]
    keep = int(head[KEEP])
    if keep == LAST or n == 0.0:
        return v
    weight = late_weight(n, p) if keep == LATE_AVERAGE else n
    if weight == 0.0:
        return v
    other = _dot(True, x, none, 0, p, theta, K + k) + theta[K + k, p]
    if keep == POCKET:
        run = RUNS + (0 if head[CRITERION] == MACHINE else k)
        return other if head[run + K] > head[run] else v
    return v - other / weight
