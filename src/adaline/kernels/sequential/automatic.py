"""Learning one sample at a time with automatic rates, dense rows and CSR in one code.

Legend: a row is data[lo:hi], with column indices[q] at q, or q - lo where indices are None, as the
compiler knows; head as in `neurons`. theta holds three tables, feature by feature, the bias last.
now (p + 1, K + 1) has K weights and the gain of a feature: one over the mean square of its values
that are not zero, divided the more, the more of them were learned, and with a minus sign while they
are few. aside (p + 1, K + 2) has what the late average of the weights lacks, and the number and the
sum of squares of the values behind the gain. centres (p + 1, 3) has where features lie, as `gains`
says. A nonzero of a CSR row asks for one place of now and seldom for the others: fetching them is
what takes time.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel
from adaline._jit.processor import prefetch
from adaline.kernels.sequential.gains import (
    BEYOND,
    CENTRED,
    FEW,
    ORIGIN,
    TINY,
    forget_zeros,
    is_measured,
    leap,
    measure,
    measured,
)
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

U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
NONE = np.empty(0, dtype=np.int64)


def tables(theta, K):
    """now, aside and centres, as views."""
    rows = theta.shape[0] // (2 * K + 6)
    one, two = rows * (K + 1), rows * (2 * K + 3)
    now, aside = theta[:one].reshape((rows, K + 1)), theta[one:two].reshape((rows, K + 2))
    return now, aside, theta[two:].reshape((rows, 3))


_tables = kernel(tables)  # a call from Python would take longer than the work


@kernel
def late_weight(n, p):
    """Sum of the weights 1, 2, 3, ... that samples up to the nth have in the late average."""
    late = max(n - SETTLED * (p + 1.0), 0.0)
    return 0.5 * late * (late + 1.0)


@kernel
def _mean_inputs(head):
    """Inputs of a sample that are not zero, on average: the mean of x^2 in units of features."""
    return head[SQUARES] / max(measured(head[SEEN]), 1.0)


@kernel
def _begin(head, now):
    """What the next sample needs: the gain up to which gains are measured, by how much each
    measured value has made a gain fall, and of how many rows a feature with an origin must be.

    Sets the gain of the bias, whose input is never zero. Without a bias there are no origins.
    """
    n = head[SEEN]
    if not is_measured(n):
        return 0.0, 0.0, 0.0
    p, K = now.shape[0] - 1, now.shape[1] - 1
    inputs, late = max(_mean_inputs(head), 1.0), SETTLED * (p + 1.0)
    empty = max(1.0 - inputs / (p + 1.0), 0.0)  # one for text, zero where no input is ever zero
    age = empty**4 * min(n, late) / (ALONE * inputs)
    now[p, K] = head[INTERCEPT] / (1.0 + age)
    rows = measured(n + 1.0)
    return np.inf, age / rows, rows * head[INTERCEPT]


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
def _rows_by_one(data, indices, indptr, order, Y, omega, head, now, aside, centres):
    """`learn` for one neuron. One long loop: calls would cost more than the arithmetic."""
    p, W, GAIN, COUNT, inputs = now.shape[0] - 1, U(0), U(1), U(1), _mean_inputs(head)
    own = head[GIVEN] == 0.0
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        late = late_weight(head[SEEN], p)
        unsure, fall, rows = _begin(head, now)
        b, v, z, squares, lift, found = now[p, 0], now[p, 0], now[p, 1], 0.0, now[p, 1], 0
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        lo, hi = U(lo), U(hi)
        if unsure > 0.0 and indices is not None:  # what the row measures by is seldom in a cache
            for q in range(lo, hi):
                prefetch(aside, U(3) * U(indices[q]))
        for q in range(lo, hi):
            x = data[q]
            j = q - lo if indices is None else U(indices[q])
            from_origin, gain = x, now[j, GAIN]
            if gain <= unsure:
                if x * x > TINY:
                    if centres[p, CENTRED] > 0.0 and centres[j, ORIGIN] != 0.0:
                        away = x - centres[j, ORIGIN]
                        if away * away * abs(gain) > BEYOND:
                            leap(x, j, own, now, aside, centres)
                    if unsure > 0.0 or aside[j, COUNT] < FEW:
                        squares += measure(x, j, fall, rows, late, own, now, aside, centres)
                    if centres[p, CENTRED] > 0.0 and centres[j, ORIGIN] != 0.0:
                        found += 1
                        from_origin = x - centres[j, ORIGIN]
                        lift -= centres[j, ORIGIN] * (from_origin * abs(now[j, GAIN]))
                gain = abs(now[j, GAIN])
            z += from_origin * from_origin * gain
            v += now[j, W] * x
        if found != centres[p, CENTRED]:
            forget_zeros(data, indices, lo, hi, own, now, aside, centres)
        v += now[p, 0] - b
        inputs = _count(head, z, squares, unsure, inputs)
        d = weight * _rate(head, z, inputs, p) * _slope(Y, i, v, weight, head)
        if d == 0.0:
            continue
        head[CORRECTIONS] += 1.0
        now[p, 0] += d * lift
        aside[p, 0] += late * (d * lift)
        if centres[p, CENTRED] > 0.0:
            for q in range(lo, hi):
                j = q - lo if indices is None else U(indices[q])
                change = d * ((data[q] - centres[j, ORIGIN]) * abs(now[j, GAIN]))
                now[j, W] += change
                if late > 0.0:
                    aside[j, W] += late * change
        elif late > 0.0:
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
def _measured_row(data, indices, lo, hi, unsure, fall, rows, late, own, now, aside, centres):
    """Sums of x^2 times gains, which are measured on the way, and of x^2 in units, both about
    origins; and what the bias moves by."""
    p, K, first, squares = now.shape[0] - 1, U(now.shape[1] - 1), U(lo), 0.0
    z, lift, found = now[p, K], now[p, K], 0
    for q in range(first, U(hi)):
        x = data[q]
        j = q - first if indices is None else U(indices[q])
        if now[j, K] <= unsure and x * x > TINY:
            if centres[p, CENTRED] > 0.0 and centres[j, ORIGIN] != 0.0:
                away = x - centres[j, ORIGIN]
                if away * away * abs(now[j, K]) > BEYOND:
                    leap(x, j, own, now, aside, centres)
            if unsure > 0.0 or aside[j, K] < FEW:
                squares += measure(x, j, fall, rows, late, own, now, aside, centres)
            if centres[p, CENTRED] > 0.0 and centres[j, ORIGIN] != 0.0:
                found += 1
                x -= centres[j, ORIGIN]
                lift -= centres[j, ORIGIN] * (x * abs(now[j, K]))
        z += x * x * abs(now[j, K])
    return z, squares, lift, found


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
def _move(data, indices, lo, hi, d, late, now, aside, centres):
    """w + d D^-1 x for K steps d and the diagonal D of mean squares; with late, aside too."""
    K, first, centred = U(d.shape[0]), U(lo), centres[now.shape[0] - 1, CENTRED] > 0.0
    for q in range(first, U(hi)):
        j = q - first if indices is None else U(indices[q])
        x = (data[q] - centres[j, ORIGIN] if centred else data[q]) * abs(now[j, K])
        for k in range(K):
            now[j, k] += d[k] * x
            if late > 0.0:
                aside[j, k] += late * (d[k] * x)


@kernel
def _rows_by_many(data, indices, indptr, order, Y, omega, head, now, aside, centres):
    """`learn` for K neurons."""
    p, K, criterion = now.shape[0] - 1, now.shape[1] - 1, head[CRITERION]
    d, inputs, own = head[RUNS : RUNS + K], _mean_inputs(head), head[GIVEN] == 0.0
    for m in range(order.shape[0] if order.shape[0] > 0 else Y.shape[0]):
        i = order[m] if order.shape[0] > 0 else m
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        late, moved = late_weight(head[SEEN], p), 0
        unsure, fall, rows = _begin(head, now)
        lo, hi = (i * p, i * p + p) if indices is None else (indptr[i], indptr[i + 1])
        z, squares, lift, found = _measured_row(
            data, indices, lo, hi, unsure, fall, rows, late, own, now, aside, centres
        )
        if found != centres[p, CENTRED]:
            forget_zeros(data, indices, lo, hi, own, now, aside, centres)
        inputs = _count(head, z, squares, unsure, inputs)
        eta = weight * _rate(head, z, inputs, p)
        _fields(data, indices, lo, hi, now, d)
        head[LOSS] += weight * _slopes(int(criterion), int(head[TARGETS]), Y, i, d)
        for k in range(K):
            d[k] *= eta
            moved += d[k] != 0.0
            now[p, k] += d[k] * lift
            aside[p, k] += late * (d[k] * lift)
        head[CORRECTIONS] += 1.0 if criterion == SOFTMAX else moved
        if moved > 0:
            _move(data, indices, lo, hi, d, late, now, aside, centres)


@kernel
def _rows(data, indices, indptr, order, Y, omega, head, now, aside, centres):
    if now.shape[1] == 2:
        _rows_by_one(data, indices, indptr, order, Y, omega, head, now, aside, centres)
    else:
        _rows_by_many(data, indices, indptr, order, Y, omega, head, now, aside, centres)


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
    now, aside, centres = _tables(theta, int(head[NEURONS]))
    _rows(x, None, NONE, NONE, Y, head[:0], head, now, aside, centres)
    return True


@kernel
def value(x, k, head, theta):
    """v = w'x + b of neuron k for one dense sample, with the weights that are kept."""
    now, aside, _ = _tables(theta, int(head[NEURONS]))
    p = now.shape[0] - 1
    v, other = now[p, k], aside[p, k]
    for j in range(p):
        v += now[j, k] * x[j]
        other += aside[j, k] * x[j]
    weight = late_weight(head[SEEN], p)
    return v - other / weight if weight > 0.0 else v
