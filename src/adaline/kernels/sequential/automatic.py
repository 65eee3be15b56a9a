"""Learning one sample at a time with automatic rates, dense rows and CSR in one code.

Legend: a row is data[lo:hi], with column indices[q] at q, or q - lo where indices are None, as the
compiler knows; head as in `neurons`. theta holds two tables, feature by feature, the bias last.
now (p + 1, K + 1) has K weights and the gain of a feature: one over the mean square of its values
that are not zero, divided the more, the more of them were learned, and with a minus sign while they
are few. aside (p + 1, K + 2) has what the late average of the weights lacks, and the number and the
sum of squares of the values behind the gain. A nonzero of a CSR row asks for one place of now and
seldom for aside: fetching them is what takes time.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, sums_kernel
from adaline.kernels.sequential.neurons import (
    CORRECTIONS,
    CRITERION,
    CURVATURE,
    GIVEN,
    INTERCEPT,
    LOSS,
    MODERATE,
    NEURONS,
    RUNS,
    SEEN,
    SOFTMAX,
    SQUARES,
    TARGETS,
    size_of,
    slope_and_loss,
    target,
)

# In samples a feature: after how many more the rate has halved, once weights are averaged, and from
# when on they are. Before, the weights still have a way to go, and an average would lag behind.
SEARCH, SETTLED = 32.0, 2.0
# Text has so many features that its weights are seldom averaged: until then gains must quiet their
# noise alone. In values of a feature, for each input of a row that is not zero: when it has halved.
ALONE = 4.0
# Gains are measured by the first values of a feature, the first rows, and then one row of many.
FEW, FIRST, EVERY = 3.5, 1024, 64
TINY = 1e-290  # squares below are zeros

U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
NONE = np.empty(0, dtype=np.int64)


def tables(theta, K):
    """now and aside, as views."""
    rows = theta.shape[0] // (2 * K + 3)
    cut = rows * (K + 1)
    return theta[:cut].reshape((rows, K + 1)), theta[cut:].reshape((rows, K + 2))


_tables = kernel(tables)  # a call from Python would take longer than the work


@kernel
def late_weight(n, p):
    """Sum of the weights 1, 2, 3, ... that samples up to the nth have in the late average."""
    late = max(n - SETTLED * (p + 1.0), 0.0)
    return 0.5 * late * (late + 1.0)


@kernel
def _is_measured(n):
    """Whether gains are measured by the sample after n others."""
    return n < FIRST or np.int64(n) % EVERY == 0


@kernel
def measured(n):
    """How many of the first n samples measured gains."""
    return n if n <= FIRST else FIRST + np.ceil((n - FIRST) / EVERY)


@kernel
def _mean_inputs(head):
    """Inputs of a sample that are not zero, on average: the mean of x^2 in units of features."""
    return head[SQUARES] / max(measured(head[SEEN]), 1.0)


@kernel
def _in_new_units(j, ratio, late, now, aside):
    """Weights of feature j as if its gain had been so many times as large from the beginning."""
    for k in range(now.shape[1] - 1):
        w = now[j, k]
        now[j, k] = w * ratio
        aside[j, k] += late * (now[j, k] - w)


@inlined
def _measure(x, j, fall, late, own, now, aside):
    """Sets the gain of feature j, whose next value is x. Returns x^2 in units of the feature.

    A first value near zero makes a gain, and with it a weight, that the next values show to be far
    too large. A feature that is seldom met would not get rid of that weight in thousands of rows.
    """
    K = U(now.shape[1] - 1)
    count, square = aside[j, K] + 1.0, aside[j, K + U(1)] + x * x
    gain = count / (square * (1.0 + max(count - FEW, 0.0) * fall))
    if own and 1.0 < count < FEW + 1.0:
        _in_new_units(j, gain / abs(now[j, K]), late, now, aside)
    aside[j, K], aside[j, K + U(1)] = count, square
    now[j, K] = gain if count > FEW else -gain
    return x * x * (count / square)


@kernel
def _begin(head, now):
    """What the next sample needs: the gain up to which gains are measured, and by how much each
    measured value has made a gain fall.

    Sets the gain of the bias, whose input is never zero.
    """
    n = head[SEEN]
    if not _is_measured(n):
        return 0.0, 0.0
    p, K = now.shape[0] - 1, now.shape[1] - 1
    inputs, late = max(_mean_inputs(head), 1.0), SETTLED * (p + 1.0)
    empty = max(1.0 - inputs / (p + 1.0), 0.0)  # one for text, zero where no input is ever zero
    age = empty**4 * min(n, late) / (ALONE * inputs)
    now[p, K] = head[INTERCEPT] / (1.0 + age)
    return np.inf, age / measured(n + 1.0)


@kernel
def _count(head, z, squares, unsure, inputs):
    """Counts the sample. Returns the mean number of inputs, which is new where it was measured."""
    head[SEEN] += 1.0
    head[SQUARES] += 0.0 * z  # NaN where z is not finite
    if unsure == 0.0:
        return inputs
    head[SQUARES] += squares + head[INTERCEPT]
    return _mean_inputs(head)


@kernel
def _rate(head, z, inputs, p):
    """At most 1/z, z the sum of x^2 times gains, which would bring the sample's own error to zero;
    since weights are averaged it falls as 1/n, so that in the end all samples count alike."""
    late = max(head[SEEN] / (p + 1.0) - SETTLED, 0.0)
    scale = head[CURVATURE] * max(z, inputs * (1.0 + late / SEARCH))
    return 1.0 / scale if scale > 0.0 else 0.0  # samples of zeros have nothing to tell


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
    p, W, GAIN, inputs = now.shape[0] - 1, U(0), U(1), _mean_inputs(head)
    own = head[GIVEN] == 0.0
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        late = late_weight(head[SEEN], p)
        unsure, fall = _begin(head, now)
        v, z, squares = now[p, 0], now[p, 1], 0.0
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        lo, hi = U(lo), U(hi)
        for q in range(lo, hi):
            x = data[q]
            j = q - lo if indices is None else U(indices[q])
            gain = now[j, GAIN]
            if gain <= unsure:
                if x * x > TINY:
                    squares += _measure(x, j, fall, late, own, now, aside)
                gain = abs(now[j, GAIN])
            z += x * x * gain
            v += now[j, W] * x
        inputs = _count(head, z, squares, unsure, inputs)
        d = weight * _rate(head, z, inputs, p) * _slope(Y, i, v, weight, head)
        if d == 0.0:
            continue
        head[CORRECTIONS] += 1.0
        now[p, 0] += d * now[p, 1]
        aside[p, 0] += late * (d * now[p, 1])
        if late > 0.0:
            for q in range(lo, hi):
                j = q - lo if indices is None else U(indices[q])
                change = d * (data[q] * abs(now[j, GAIN]))
                now[j, W] += change
                aside[j, W] += late * change
        else:
            for q in range(lo, hi):
                j = q - lo if indices is None else U(indices[q])
                now[j, W] += d * (data[q] * abs(now[j, GAIN]))


@kernel
def _measured_row(data, indices, lo, hi, unsure, fall, late, own, now, aside):
    """Sums of x^2 times gains, which are measured on the way, and of x^2 in units."""
    K, first, z, squares = U(now.shape[1] - 1), U(lo), 0.0, 0.0
    for q in range(first, U(hi)):
        x = data[q]
        j = q - first if indices is None else U(indices[q])
        if now[j, K] <= unsure and x * x > TINY:
            squares += _measure(x, j, fall, late, own, now, aside)
        z += x * x * abs(now[j, K])
    return z, squares


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
    p, K, criterion = now.shape[0] - 1, now.shape[1] - 1, head[CRITERION]
    d, inputs, own = head[RUNS : RUNS + K], _mean_inputs(head), head[GIVEN] == 0.0
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        late, moved = late_weight(head[SEEN], p), 0
        unsure, fall = _begin(head, now)
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        z, squares = _measured_row(data, indices, lo, hi, unsure, fall, late, own, now, aside)
        z += now[p, K]
        inputs = _count(head, z, squares, unsure, inputs)
        eta = weight * _rate(head, z, inputs, p)
        _fields(data, indices, lo, hi, now, d)
        head[LOSS] += weight * _slopes(int(criterion), int(head[TARGETS]), Y, i, d)
        for k in range(K):
            d[k] *= eta
            moved += d[k] != 0.0
            now[p, k] += d[k] * now[p, K]
            aside[p, k] += late * (d[k] * now[p, K])
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
    columns, K = indices if indptr.shape[0] > 0 else None, int(head[NEURONS])
    rest = columns, indptr, order, Y, omega, head, *tables(theta, K)
    if K == 1:
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
    now, aside = _tables(theta, int(head[NEURONS]))
    _rows(x, None, NONE, NONE, Y, head[:0], head, now, aside)
    return True


@kernel
def value(x, k, head, theta):
    """v = w'x + b of neuron k for one dense sample, with the weights that are kept."""
    now, aside = _tables(theta, int(head[NEURONS]))
    p = now.shape[0] - 1
    v, other = now[p, k], aside[p, k]
    for j in range(p):
        v += now[j, k] * x[j]
        other += aside[j, k] * x[j]
    weight = late_weight(head[SEEN], p)
    return v - other / weight if weight > 0.0 else v
