"""Learning one sample at a time with automatic rates, dense rows and CSR in one code.

Legend: a row is data[lo:hi], with column indices[q] at q, or q - lo where indices are None, as the
compiler knows; head as in `neurons`. theta (2, p + 1, K + 1) goes feature by feature, the bias
last. now = theta[0] holds K weights and the unit of the feature, one over the mean square of its
values that are not zero, with a minus sign while they are few. aside = theta[1] holds what the late
average of the weights lacks, and the sum of squares behind the unit. A nonzero of a CSR row asks
for one place of now and seldom for aside: fetching them is what takes time.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline.kernels.sequential.neurons import (
    CORRECTIONS,
    CRITERION,
    CURVATURE,
    INTERCEPT,
    LOSS,
    MODERATE,
    RUNS,
    SEEN,
    SOFTMAX,
    SQUARES,
    TARGETS,
    size_of,
    slope_and_loss,
    target,
)

# In samples a feature: when the rate has halved, and from when on weights are averaged. Before,
# the weights still have a way to go, and an average would lag behind.
SEARCH, SETTLED = 32.0, 2.0
# Units are measured by the first values of a feature, the first rows, and then one row of many.
FEW, FIRST, EVERY = 3.5, 1024, 256
TINY = 1e-290  # squares below are zeros

U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
NONE = np.empty(0, dtype=np.int64)


@kernel
def late_weight(n, p):
    """Sum of the weights 1, 2, 3, ... that samples up to the nth have in the late average."""
    late = max(n - SETTLED * (p + 1.0), 0.0)
    return 0.5 * late * (late + 1.0)


@kernel
def _rate(head, z, p):
    """Rate of this sample, whose square in units is z; counts the sample, and adds up z.

    At most 1/z, which would bring the error of this very sample to zero, and falling as 1/n from
    1/mean(z), so that in the end all samples count alike.
    """
    head[SEEN] += 1.0
    head[SQUARES] += z
    n = head[SEEN]
    mean = head[SQUARES] / n
    scale = head[CURVATURE] * max(z, mean * (1.0 + n / (SEARCH * (p + 1.0))))
    return 1.0 / scale if scale > 0.0 else 0.0  # samples of zeros have nothing to tell


@kernel
def _is_measured(n):
    """Whether units are measured by the sample after n others."""
    return n < FIRST or np.int64(n) % EVERY == 0


@kernel
def _slope(Y, i, v, weight, head):
    """-dE/dv of one neuron; adds up E."""
    t = target(int(head[TARGETS]), Y, i, 1, 0)
    slope, loss = slope_and_loss(int(head[CRITERION]), t, v)
    head[LOSS] += weight * loss
    return slope


@sums_kernel
def _rows_by_one(data, indices, indptr, order, Y, omega, head, now, aside):
    """`learn` for one neuron. One long loop: calls would cost more than the arithmetic."""
    p, bias, W, SCALE = now.shape[0] - 1, head[INTERCEPT], U(0), U(1)
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        n = head[SEEN]
        unsure = np.inf if _is_measured(n) else 0.0
        z = v = 0.0
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        lo, hi = U(lo), U(hi)
        for q in range(lo, hi):
            x = data[q]
            j = q - lo if indices is None else U(indices[q])
            u = now[j, SCALE]
            if u <= unsure:
                u = abs(u)
                if x * x > TINY:
                    count, square = u * aside[j, SCALE] + 1.0, aside[j, SCALE] + x * x
                    u = count / square
                    aside[j, SCALE], now[j, SCALE] = square, u if count > FEW else -u
            z += x * x * u
            v += now[j, W] * x
        d = weight * _rate(head, z + bias, p) * _slope(Y, i, v + now[p, 0], weight, head)
        late = late_weight(n, p)
        if d == 0.0:
            continue
        head[CORRECTIONS] += 1.0
        now[p, 0] += bias * d
        aside[p, 0] += bias * d * late
        if late > 0.0:
            for q in range(lo, hi):
                j = q - lo if indices is None else U(indices[q])
                change = d * (data[q] * abs(now[j, SCALE]))
                now[j, W] += change
                aside[j, W] += late * change
        else:
            for q in range(lo, hi):
                j = q - lo if indices is None else U(indices[q])
                now[j, W] += d * (data[q] * abs(now[j, SCALE]))


@kernel
def _measured(data, indices, lo, hi, measure, now, aside):
    """Sum of x^2 in units, which are measured on the way; as `_rows_by_one` does it."""
    K, first, unsure, z = U(now.shape[1] - 1), U(lo), np.inf if measure else 0.0, 0.0
    for q in range(first, U(hi)):
        x = data[q]
        j = q - first if indices is None else U(indices[q])
        u = now[j, K]
        if u <= unsure:
            u = abs(u)
            if x * x > TINY:
                count, square = u * aside[j, K] + 1.0, aside[j, K] + x * x
                u = count / square
                aside[j, K], now[j, K] = square, u if count > FEW else -u
        z += x * x * u
    return z


@kernel
def _fields(data, indices, lo, hi, now, v):
    """v = w'x + b of all neurons: one visit to the numbers of a feature."""
    p, first = now.shape[0] - 1, U(lo)
    for k in range(v.shape[0]):
        v[k] = now[p, k]
    for q in range(first, U(hi)):
        j = q - first if indices is None else U(indices[q])
        for k in range(U(v.shape[0])):
            v[k] += now[j, k] * data[q]


@kernel
def _slopes(criterion, targets, Y, i, v):
    """v (K,), the local fields, become -dE/dv. Returns E."""
    K, loss = v.shape[0], 0.0
    if criterion == SOFTMAX:
        own, top, total = int(Y[i, 0]), v[0], 0.0
        for k in range(1, K):
            top = max(top, v[k])
        mine = v[own] - top
        for k in range(K):
            v[k] = np.exp(v[k] - top)
            total += v[k]
        for k in range(K):
            v[k] = (1.0 if k == own else 0.0) - v[k] / total
        return np.log(total) - mine
    for k in range(K):
        v[k], part = slope_and_loss(criterion, target(targets, Y, i, K, k), v[k])
        loss += part
    return loss


@kernel
def _move(data, indices, lo, hi, d, late, now, aside):
    """w + d D^-1 x for K steps d and the diagonal D of mean squares; with late, aside too."""
    K, first = U(d.shape[0]), U(lo)
    for q in range(first, U(hi)):
        j = q - first if indices is None else U(indices[q])
        x = data[q] * abs(now[j, K])
        for k in range(K):
            now[j, k] += d[k] * x
            if late > 0.0:
                aside[j, k] += late * (d[k] * x)


@kernel
def _rows_by_many(data, indices, indptr, order, Y, omega, head, now, aside):
    """`learn` for K neurons."""
    p, K, bias, criterion = now.shape[0] - 1, now.shape[1] - 1, head[INTERCEPT], head[CRITERION]
    d = head[RUNS : RUNS + K]
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        n = head[SEEN]
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        z = _measured(data, indices, lo, hi, _is_measured(n), now, aside)
        eta, late, moved = _rate(head, z + bias, p), late_weight(n, p), 0
        _fields(data, indices, lo, hi, now, d)
        head[LOSS] += weight * _slopes(int(criterion), int(head[TARGETS]), Y, i, d)
        for k in range(K):
            d[k] *= weight * eta
            moved += d[k] != 0.0
            now[p, k] += bias * d[k]
            aside[p, k] += bias * d[k] * late
        head[CORRECTIONS] += 1.0 if criterion == SOFTMAX else moved
        if moved > 0:
            _move(data, indices, lo, hi, d, late, now, aside)


@kernel
def _rows(data, indices, indptr, order, Y, omega, head, now, aside):
    if now.shape[1] == 2:
        _rows_by_one(data, indices, indptr, order, Y, omega, head, now, aside)
    else:
        _rows_by_many(data, indices, indptr, order, Y, omega, head, now, aside)


def learn(data, indices, indptr, order, Y, omega, head, theta):
    """Learn the rows one by one, in the given order, or as they come where order is empty.

    A weight of zero leaves a row out altogether. A NaN, an infinity or a number whose square is one
    shows in head[SQUARES]. Only the loop that the rows and neurons need is compiled.
    """
    columns = indices if indptr.shape[0] > 0 else None
    rest = columns, indptr, order, Y, omega, head, theta[0], theta[1]
    if theta.shape[2] == 2:
        _rows_by_one(data, *rest)
    else:
        _rows_by_many(data, *rest)


@kernel
def learn_one(x, y, head, theta):
    """Learn one dense sample x (p,) with one target, or one class code, and return True.

    False, and nothing is learned, where the sample is not finite or so large that weights might
    not be: whoever calls looks closer.
    """
    if not (size_of(x) + abs(y) < MODERATE and np.isfinite(head[LOSS])):
        return False
    head[-1] = y  # rather than in new memory, which takes time to get
    Y = head[-1:].reshape((1, 1))
    _rows(x, None, NONE, NONE, Y, head[:0], head, theta[0], theta[1])
    return True


@kernel
def value(x, k, head, theta):
    """v = w'x + b of neuron k for one dense sample, with the weights that are kept."""
    now, aside, p = theta[0], theta[1], theta.shape[1] - 1
    v, other = now[p, k], aside[p, k]
    for j in range(p):
        v += now[j, k] * x[j]
        other += aside[j, k] * x[j]
    weight = late_weight(head[SEEN], p)
    return v - other / weight if weight > 0.0 else v
