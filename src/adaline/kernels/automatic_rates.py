"""Learning one sample at a time with rates that are measured on the way, feature by feature.

Called by procedures/sequential/; tests compare with a loop in plain Python. The constants are
justified in docs/adr/0011. Rows, Y, omega, order and s are those of kernels/sequential.py.

now (p + 1, K + 1) holds the weights of a feature, the bias last, and its gain, as long as that is
all that a value must know: it is 0 of features whose first values are not over, or that have an
origin. So a nonzero of a CSR row asks for one place in memory. aside (p + 1, K) is what weights
have more than their late average, times late_weight. features (p + 1,) are records, FEATURE of the
procedure: the gain is one over the mean square of the nonzero values, divided the more, the more
of them were learned; count and squares are the number and the sum of squares of these values; then
come their mean, centre, the sum of squares about it, scatter, and the origin.

A column far from zero, a year or a temperature in kelvin, is nearly a copy of the bias: the two
would be learned as slowly as their difference is small. So a feature that was never zero and whose
mean is more than NEAR deviations from zero is measured from an origin so many deviations from its
mean, towards zero. Weights stay those of the values as they came: with gains g and origins o, a
step d adds d g_j (x_j - o_j) to w_j, and takes sum_j o_j times that from the bias.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import kernel
from adaline.kernels.codes import CROSS_ENTROPY, NUMBERS, SIGNS, SOFTMAX, SQUARED_LOGISTIC, TANH

SEARCH = 32.0  # samples per feature until the rate has halved, once weights are averaged
SETTLED = 2.0  # samples per feature until they are: before, weights still have a way to go
ALONE = 4.0  # values of a feature, per nonzero input of a row, that halve its rate until then
FIRST_ROWS, EVERY_ROW = 1024, 64  # rows that measure features: the first, then one of many
FIRST_VALUES = 3.5  # values of a feature that are measured in any row
NEAR = 2.0  # standard deviations from zero up to which a mean needs no origin
UNCERTAIN = 4.0  # so few values say nothing about a deviation: it may be as large as the mean
FLAT = 1e-12  # a variance below so many squares of the mean is rounding: the column is constant
BEYOND = 1024.0  # squares, in units of a feature, that show that its unit was too small
ZERO = 1e-290  # squares below are zeros


@kernel
def late_weight(n, p):
    """Sum of the weights 1, 2, 3, ... that samples up to the nth have in the late average."""
    late = max(n - SETTLED * (p + 1.0), 0.0)
    return 0.5 * late * (late + 1.0)


@kernel
def choose_origin(mean, scatter, count, before):
    """Where a feature is measured from; UNCERTAIN counts with the fourth power, so that the first
    values move origins little and later ones not at all."""
    square = mean * mean
    # Constants share with the bias: from an origin nearby their weights would be huge, and the bias
    # as huge with another sign.
    if scatter <= FLAT * (count * square):
        return before
    if count * square <= NEAR * NEAR * scatter:
        return 0.0
    reach = NEAR * np.sqrt(scatter / count + square * (UNCERTAIN / count) ** 4)
    if abs(mean) <= reach:
        return 0.0
    return mean - reach if mean > 0.0 else mean + reach


@kernel
def sum_of_squares(f):
    """That of the values of a feature, about its origin if it has one."""
    if f.origin == 0.0:
        return f.squares
    return f.scatter + f.count * (f.centre - f.origin) * (f.centre - f.origin)


@kernel
def measure(f, x, rows, fall):
    """Update a feature by its next value x, and return x^2 in its units.

    Only a feature with a value in each of so many rows may have an origin. A first value near zero
    makes a gain, and with it a weight, that the next values show to be far too large; a feature
    that is seldom met would not get rid of that weight in thousands of rows.
    """
    f.count += 1.0
    f.squares += x * x
    if f.count == rows and f.was_zero == 0.0:
        away = x - f.centre
        f.centre += away / f.count
        f.scatter += away * (x - f.centre)
        f.origin = choose_origin(f.centre, f.scatter, f.count, f.origin)
    square = sum_of_squares(f)
    f.gain = f.count / (square * (1.0 + max(f.count - FIRST_VALUES, 0.0) * fall))
    return (x - f.origin) * (x - f.origin) * (f.count / square)


@kernel
def change_unit(f, x, j, s, now, aside):
    """Feature j has an origin, and its next value x ends that, being zero, or is far BEYOND it.

    Weights of a column that hardly varies, as of a sensor at rest, may be large; the first value
    far away, as when it fails and sends zeros, shows that the unit was too small. Weights, those of
    the average too, become what they would be with the new one; for rows with the mean of the
    feature, predictions stay.
    """
    square, is_far = sum_of_squares(f), (x - f.origin) * (x - f.origin) * f.gain > BEYOND
    f.squares += x * x
    f.scatter += (x - f.centre) * (x - f.centre)
    f.origin = choose_origin(f.centre, f.scatter, f.count, f.origin) if x * x > ZERO else 0.0
    f.was_zero = 1.0 if x * x <= ZERO else f.was_zero
    s.centred -= int(f.origin == 0.0)
    ratio = square / sum_of_squares(f)
    f.gain *= ratio
    if is_far and s.given == 0.0:
        for table in (now, aside):
            for k in range(aside.shape[1]):
                table[-1, k] += (1.0 - ratio) * table[j, k] * f.centre
                table[j, k] *= ratio


@kernel
def meet(f, x, j, is_measured, rows, fall, late, s, now, aside):
    """Feature j has the nonzero value x: returns x^2 in its units, if it is measured."""
    if f.origin != 0.0 and (x - f.origin) * (x - f.origin) * f.gain > BEYOND:
        change_unit(f, x, j, s, now, aside)
    if not (is_measured or f.count < FIRST_VALUES):
        return 0.0
    had_origin, gain = f.origin != 0.0, f.gain
    square = measure(f, x, rows, fall)
    s.centred += int(f.origin != 0.0) - int(had_origin)
    if s.given == 0.0 and 1.0 < f.count < FIRST_VALUES + 1.0:
        # As if the gain had been this from the beginning.
        for k in range(aside.shape[1]):
            w = now[j, k]
            now[j, k] = w * (f.gain / gain)
            if late > 0.0:
                aside[j, k] += late * (now[j, k] - w)
    return square


@kernel
def end_origins(data, indices, lo, hi, s, now, aside, features):
    """Features that are zero in this row, named in it or not, have no origin from now on."""
    for j in range(now.shape[0] - 1):
        if features[j].origin != 0.0:
            x = data[lo + j] if indices is None else 0.0
            if indices is not None:
                for q in range(lo, hi):
                    if indices[q] == j:
                        x = data[q]
            if x * x <= ZERO:
                change_unit(features[j], 0.0, j, s, now, aside)


@kernel
def slopes(criterion, targets, Y, i, v):
    """The local fields v (K,) become -dE/dv. Returns E: -ln p(t), or sum_k (t - phi(v))^2 / 2."""
    K, loss, low = v.shape[0], 0.0, -1.0 if targets == SIGNS else 0.0
    if criterion == SOFTMAX:
        own, top, total = int(Y[i, 0]), v[0], 0.0
        for k in range(K):
            top = max(top, v[k])
        loss = top - v[own]
        for k in range(K):
            v[k] = np.exp(v[k] - top)
            total += v[k]
        for k in range(K):
            v[k] = (1.0 if k == own else 0.0) - v[k] / total
        return loss + np.log(total)
    for k in range(K):
        t, y, slope = Y[i, k] if targets == NUMBERS else low, v[k], 1.0
        if targets != NUMBERS and Y[i, 0] == (1.0 if K == 1 else k):
            t = 1.0
        if criterion == CROSS_ENTROPY:
            q = np.exp(-abs(y))
            loss += max(y, 0.0) - t * y + np.log1p(q)
            v[k] = t - (1.0 if y > 0.0 else q) / (1.0 + q)
            continue
        if criterion == TANH:
            y = np.tanh(y)
            slope = 1.0 - y * y
        elif criterion == SQUARED_LOGISTIC:
            y = 1.0 / (1.0 + np.exp(-y))
            slope = y * (1.0 - y)
        v[k] = (t - y) * slope
        loss += 0.5 * (t - y) * (t - y)
    return loss


@kernel
def learn(data, indices, starts, order, Y, omega, s, now, aside, features):
    """K neurons of any criterion but the perceptron's. NaN, infinities and numbers whose squares
    are infinite make s.inputs NaN."""
    p, K = now.shape[0] - 1, now.shape[1] - 1
    v, c, bias = np.empty(K), np.empty(p), features[p]
    inputs = s.inputs / max(s.measured, 1.0)  # mean of x'x in units of the features
    for i in order:
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        lo, hi = (i * p, i * p + p) if indices is None else (starts[i], starts[i + 1])
        x, columns = data[lo:hi], None if indices is None else indices[lo:hi]
        n, late = s.seen, late_weight(s.seen, p)
        is_measured = n < FIRST_ROWS or int(n) % EVERY_ROW == 0
        rows = fall = 0.0
        if is_measured:
            inputs = max(inputs, 1.0)
            empty = max(1.0 - inputs / (p + 1.0), 0.0)  # 1 for text, 0 where no input is ever zero
            age = empty**4 * min(n, SETTLED * (p + 1.0)) / (ALONE * inputs)
            bias.gain = s.bias / (1.0 + age)
            s.measured += 1.0
            fall, rows = age / s.measured, s.measured * s.bias
        z, lift, squares, centred, first = bias.gain, bias.gain, s.bias, 0.0, 0.0
        for q in range(x.shape[0]):
            j = np.uintp(q if columns is None else columns[q])
            gain, from_origin = now[j, K], x[q]
            if is_measured or gain == 0.0:
                f = features[j]
                if x[q] * x[q] > ZERO:
                    squares += meet(f, x[q], j, is_measured, rows, fall, late, s, now, aside)
                    centred += f.origin != 0.0
                    from_origin = x[q] - f.origin
                    lift -= f.origin * (from_origin * f.gain)
                gain = f.gain
                now[j, K] = gain if f.count > FIRST_VALUES and f.origin == 0.0 else 0.0
            c[q] = from_origin * gain
            z += from_origin * c[q]
            first += now[j, 0] * x[q]
        if centred != s.centred:
            end_origins(data, indices, lo, hi, s, now, aside, features)
        v[0] = first + now[p, 0]
        for k in range(1, K):
            u = now[p, k]
            for q in range(x.shape[0]):
                u += now[np.uintp(q if columns is None else columns[q]), k] * x[q]
            v[k] = u
        s.seen += 1.0
        s.inputs += 0.0 * z
        if is_measured:
            s.inputs += squares
            inputs = s.inputs / s.measured
        # At most 1/z, which brings the sample's own error to zero; once weights are averaged it
        # falls as 1/n, so that in the end all samples count alike.
        settled = max(s.seen / (p + 1.0) - SETTLED, 0.0)
        scale = s.curvature * max(z, inputs * (1.0 + settled / SEARCH))
        eta = weight / scale if scale > 0.0 else 0.0  # a sample of zeros has nothing to tell
        s.loss += weight * slopes(int(s.criterion), int(s.targets), Y, i, v)
        moved = 0.0
        for k in range(K):
            d = eta * v[k]
            if d != 0.0:
                moved += 1.0
                now[p, k] += d * lift
                aside[p, k] += late * (d * lift)
                for q in range(x.shape[0]):
                    j = np.uintp(q if columns is None else columns[q])
                    now[j, k] += d * c[q]
                    if late > 0.0:
                        aside[j, k] += late * (d * c[q])
        s.corrections += 1.0 if s.criterion == SOFTMAX else moved
