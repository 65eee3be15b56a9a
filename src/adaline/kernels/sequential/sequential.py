"""Learning one sample at a time, dense rows and CSR in one code.

Legend: a row is data[lo:hi], dense with column q - lo at q, or CSR with column indices[q]. theta
(m, p + 1) holds in its first K rows the weights, the bias last; then, where something is kept
beside the last weights, K rows of that. head is laid out as `neurons` says.

Data must be float64 and contiguous: a sum is added up in the order the compiler likes, which
is the same for one row or a million, but not for every kind of storage.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, sums_kernel
from adaline._jit.processor import prefetch
from adaline.kernels.sequential.neurons import (
    ABSOLUTE,
    AVERAGE,
    CORRECTIONS,
    CRITERION,
    INTERCEPT,
    KEEP,
    LAST,
    LOSS,
    MACHINE,
    MODERATE,
    NEURONS,
    OVER_K,
    PERCEPTRON,
    POCKET,
    RATE,
    RATE_A,
    RATE_B,
    RUNS,
    SEARCH_THEN_CONVERGE,
    SEEN,
    TARGETS,
    size_of,
    slope_and_loss,
    target,
)

U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
LINE = U(8)  # numbers that are fetched together
AHEAD = 2  # rows: one takes less time to learn than the next to arrive


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


@inlined
def look_ahead(data, indices, indptr, order, m):
    """Begin to fetch the CSR row two after the mth, where the order is random: no processor guesses
    it, and all of it, since rows of some dozen entries end before a processor sees a pattern.

    Without an order, or at its end, nothing is done.
    """
    if m + AHEAD < order.shape[0]:
        i = order[m + AHEAD]
        for q in range(U(indptr[i]), U(indptr[i + 1]), LINE):
            prefetch(data, q)
            prefetch(indices, q)
        prefetch(indptr, U(order[min(m + 4 * AHEAD, order.shape[0] - 1)]))


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
def _perceptron_dense(data, order, Y, omega, head, theta):
    """`learn` for dense rows and one perceptron that keeps its last weights: the short way."""
    p, made, total, n = theta.shape[1] - 1, 0, 0.0, head[SEEN]
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
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


@sums_kernel
def _perceptron_sparse(data, indices, indptr, order, Y, omega, head, theta):
    """`learn` for CSR rows and one perceptron that keeps its last weights or their average."""
    p, made, total, n = theta.shape[1] - 1, 0, 0.0, head[SEEN]
    average, bias, W, SUM = head[KEEP] == AVERAGE, head[INTERCEPT], U(0), U(1)
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        look_ahead(data, indices, indptr, order, m)
        lo, hi = U(indptr[i]), U(indptr[i + 1])
        v, t = theta[0, p], 1.0 if Y[i, 0] == 1.0 else -1.0
        for q in range(lo, hi):
            v += theta[W, U(indices[q])] * data[q]
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if t * v <= 0.0 and weight != 0.0:
            made += 1
            total -= weight * t * v
            d = weight * _rate(head, n) * t
            theta[0, p] += bias * d
            if average:
                theta[1, p] += bias * d * n
                for q in range(lo, hi):  # sums are not in the cache, as weights are by now
                    prefetch(theta, U(p + 1) + U(indices[q]))
                    theta[W, U(indices[q])] += d * data[q]
                for q in range(lo, hi):
                    theta[SUM, U(indices[q])] += d * n * data[q]
            else:
                for q in range(lo, hi):
                    theta[W, U(indices[q])] += d * data[q]
        n += weight != 0.0
    head[SEEN], head[CORRECTIONS], head[LOSS] = n, head[CORRECTIONS] + made, head[LOSS] + total


def learn(data, indices, indptr, order, Y, omega, head, theta):
    """Learn the rows one by one, in the given order, or as they come where order is empty.

    A weight of zero leaves a row out altogether. Only the loop that the rows and neurons need is
    compiled.
    """
    alone = head[CRITERION] == PERCEPTRON and head[NEURONS] == 1.0 and head[RATE] != ABSOLUTE
    if alone and indptr.shape[0] == 0 and head[KEEP] == LAST:
        _perceptron_dense(data, order, Y, omega, head, theta)
    elif alone and indptr.shape[0] > 0 and head[KEEP] != POCKET:
        _perceptron_sparse(data, indices, indptr, order, Y, omega, head, theta)
    else:
        _learn(data, indices, indptr, order, Y, omega, head, theta)


@kernel
def _learn(data, indices, indptr, order, Y, omega, head, theta):
    """`learn` for all that has no shorter way.

    One long loop: calls that are not inlined would cost more than the arithmetic.
    """
    dense, p = indptr.shape[0] == 0, theta.shape[1] - 1
    criterion, targets, K = int(head[CRITERION]), int(head[TARGETS]), int(head[NEURONS])
    pocket, absolute = head[KEEP] == POCKET, head[RATE] == ABSOLUTE
    n, corrections, total = head[SEEN], head[CORRECTIONS], head[LOSS]
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
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
            t = target(targets, Y, i, K, k)
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
    """Learn one dense sample x (p,) with one target, or one class code, and return True.

    False, and nothing is learned, where the sample is not finite or so large that weights might
    not be: whoever calls looks closer.
    """
    if not (size_of(x) + abs(y) < MODERATE and np.isfinite(head[LOSS])):
        return False
    wanted, none = np.empty((1, 1)), np.empty(0, dtype=np.int64)
    wanted[0, 0] = y
    alone = head[CRITERION] == PERCEPTRON and head[NEURONS] == 1.0 and head[RATE] != ABSOLUTE
    if alone and head[KEEP] == LAST:
        _perceptron_dense(x, none, wanted, wanted[0, 1:], head, theta)
    else:
        _learn(x, none, none, none, wanted, wanted[0, 1:], head, theta)
    return True


@kernel
def value(x, k, head, theta):
    """v = w'x + b of neuron k for one dense sample, with the weights that are kept."""
    p, K, n = theta.shape[1] - 1, int(head[NEURONS]), head[SEEN]
    none = np.empty(0, dtype=np.int64)
    v = _dot(True, x, none, 0, p, theta, k) + theta[k, p]
    keep = int(head[KEEP])
    if keep == LAST or n == 0.0:
        return v
    other = _dot(True, x, none, 0, p, theta, K + k) + theta[K + k, p]
    if keep == POCKET:
        run = RUNS + (0 if head[CRITERION] == MACHINE else k)
        return other if head[run + K] > head[run] else v
    return v - other / n
