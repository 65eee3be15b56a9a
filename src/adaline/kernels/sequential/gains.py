"""In which units automatic rates measure features, and from which origins.

A column far from zero, a year or a temperature in kelvin, is nearly a copy of the bias: the two
would be learned as slowly as their difference is small. So a feature that was never zero and whose
mean is more than `NEAR` deviations from zero is measured from an origin so many deviations from its
mean, towards zero. Weights stay those of the values as they came: with gains g and origins o, a
step d adds d g_j (x_j - o_j) to the weight of x_j, and takes sum_j o_j times that from the bias.

Legend: now and aside as in `automatic`. centres (p + 1, 3) has for each feature the mean, the sum
of squares about it, or -1 where it must have no origin, and its origin, zero where it has none;
last, in the place of the bias, how many features have one.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import inlined, kernel, seldom

# Gains are measured by the first values of a feature, the first rows, and then one row of many.
FEW, FIRST, EVERY = 3.5, 1024, 64
TINY = 1e-290  # squares below are zeros
NEAR = 2.0  # deviations from zero up to which a mean is no reason for an origin
# So many values say nothing about a deviation: it might be as large as the mean.
UNTOLD = 4.0
# A variance below so many squares of the mean tells nothing new. Constants share with the bias:
# from an origin nearby their weights would be huge, and the bias as huge with another sign.
FLAT = 1e-12
# Squares in units of a feature with an origin. Weights of a column that hardly varies, as of a
# sensor at rest, may be large. The first value so far away, as when it fails and tells zero, shows
# that the unit was too small: weights become what they would be with the new one.
BEYOND = 1024.0

U = np.uintp  # signed counters might be negative, wrap around, and cost a test each
MEAN, SCATTER, ORIGIN = U(0), U(1), U(2)
CENTRED = U(0)  # in the last row of centres


def without_origins(rows):
    """centres of features that have none, and never will."""
    centres = np.zeros((rows, 3))
    centres[:-1, SCATTER] = -1.0
    return centres


@kernel
def is_measured(n):
    """Whether gains are measured by the sample after n others."""
    return n < FIRST or np.int64(n) % EVERY == 0


@kernel
def measured(n):
    """How many of the first n samples measured gains."""
    return n if n <= FIRST else FIRST + np.ceil((n - FIRST) / EVERY)


@kernel
def _in_new_units(j, ratio, late, now, aside):
    """Weights of feature j as if its gain had been so many times as large from the beginning."""
    for k in range(now.shape[1] - 1):
        w = now[j, k]
        now[j, k] = w * ratio
        aside[j, k] += late * (now[j, k] - w)


@kernel
def _origin(mean, scatter, count, before):
    """Where a feature is measured from, by the mean and the sum of squares about it of its values.

    `UNTOLD` counts with the fourth power: first values move origins little, later ones not at all.
    """
    square = mean * mean
    if scatter <= FLAT * (count * square):
        return before
    if count * square <= NEAR * NEAR * scatter:
        return 0.0
    reach = NEAR * np.sqrt(scatter / count + square * (UNTOLD / count) ** 4)
    if abs(mean) <= reach:
        return 0.0
    return mean - reach if mean > 0.0 else mean + reach


@seldom
@kernel
def _shrink(j, ratio, mean, now, aside):
    """Weights of feature j, those of the average too, times the ratio; for rows in which it has
    this mean, predictions stay."""
    last = now.shape[0] - 1
    for k in range(now.shape[1] - 1):
        now[last, k] += (1.0 - ratio) * now[j, k] * mean
        now[j, k] *= ratio
        aside[last, k] += (1.0 - ratio) * aside[j, k] * mean
        aside[j, k] *= ratio


@inlined
def measure(x, j, fall, rows, late, own, now, aside, centres):
    """Sets the gain of feature j, whose next value is x. Returns x^2 in units of the feature.

    Only a feature with a value in each of so many rows may have an origin. A first value near zero
    makes a gain, and with it a weight, that the next values show to be far too large. A feature
    that is seldom met would not get rid of that weight in thousands of rows.
    """
    K = U(now.shape[1] - 1)
    count, total = aside[j, K] + 1.0, aside[j, K + U(1)] + x * x
    square, at, more = total, 0.0, 0.0
    if count == rows and centres[j, SCATTER] >= 0.0:
        mean, before = centres[j, MEAN], centres[j, ORIGIN]
        apart = x - mean
        mean += apart / count
        scatter = centres[j, SCATTER] + apart * (x - mean)
        at = _origin(mean, scatter, count, before)
        centres[j, MEAN], centres[j, SCATTER], centres[j, ORIGIN] = mean, scatter, at
        if at != 0.0:
            square, x = scatter + count * (mean - at) * (mean - at), x - at
        if (at == 0.0) != (before == 0.0):
            more = 1.0 if before == 0.0 else -1.0
    gain = count / (square * (1.0 + max(count - FEW, 0.0) * fall))
    if own and 1.0 < count < FEW + 1.0:
        _in_new_units(j, gain / abs(now[j, K]), late, now, aside)
    aside[j, K], aside[j, K + U(1)] = count, total
    centres[now.shape[0] - 1, CENTRED] += more
    now[j, K] = gain if count > FEW and at == 0.0 else -gain
    return x * x * (count / square)


@seldom
@kernel
def leap(x, j, own, now, aside, centres):
    """Feature j has an origin, and its next value x is zero, which ends that, or `BEYOND`.

    Such a value is measured at once, though not counted.
    """
    K, mean, before = U(now.shape[1] - 1), centres[j, MEAN], centres[j, ORIGIN]
    count, gain, at = aside[j, K], abs(now[j, K]), 0.0
    square = centres[j, SCATTER] + count * (mean - before) * (mean - before)
    scatter, about = centres[j, SCATTER] + (x - mean) * (x - mean), aside[j, K + U(1)] + x * x
    aside[j, K + U(1)] = about
    if x * x > TINY:
        at = _origin(mean, scatter, count, before)
    if at != 0.0:
        about = scatter + count * (mean - at) * (mean - at)
    else:
        centres[now.shape[0] - 1, CENTRED] -= 1.0
    centres[j, SCATTER], centres[j, ORIGIN] = scatter if x * x > TINY else -1.0, at
    now[j, K] = gain * (square / about) * (1.0 if at == 0.0 else -1.0)
    if own and (x - before) * (x - before) * gain > BEYOND:
        _shrink(j, square / about, mean, now, aside)


@seldom
@kernel
def forget_zeros(data, indices, lo, hi, own, now, aside, centres):
    """Features that are zero in this row, named in it or not, have no origin from now on.

    The others are marked by an origin on the other side of zero.
    """
    first = U(lo)
    for q in range(first, U(hi)):
        i = q - first if indices is None else U(indices[q])
        if data[q] * data[q] > TINY and centres[i, ORIGIN] != 0.0:
            centres[i, ORIGIN] = -centres[i, ORIGIN]
    for j in range(U(now.shape[0] - 1)):
        if centres[j, ORIGIN] != 0.0:
            if (centres[j, ORIGIN] > 0.0) == (centres[j, MEAN] > 0.0):
                leap(0.0, j, own, now, aside, centres)
            else:
                centres[j, ORIGIN] = -centres[j, ORIGIN]
