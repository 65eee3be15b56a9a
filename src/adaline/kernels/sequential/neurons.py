"""Neurons one sample at a time: outputs, losses and slopes, and how a learner's memory is laid out.

Legend: head holds the recipe of a learner as numbers, the counters that travel with its state,
and from `RUNS` on 2 K places: the current and the longest run of right answers of each neuron, or,
with automatic rates, room for the local fields of a sample and, last, for its target.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel

# Places in head.
CRITERION, TARGETS, RATE, RATE_A, RATE_B, INTERCEPT, KEEP, NEURONS = range(8)
SEEN, CORRECTIONS, LOSS, SQUARES, CURVATURE, FEWEST = range(8, 14)
GIVEN = FEWEST  # with automatic rates: whether weights were given, and not all learned from zero
RUNS = 14

# Criteria.
PERCEPTRON, MACHINE, SQUARED, TANH, SQUARED_LOGISTIC, CROSS_ENTROPY, SOFTMAX = range(7)
# Targets: numbers, or codes of classes that become +1 and -1, or 1 and 0.
NUMBERS, SIGNS, BITS = range(3)
# Rates.
CONSTANT, OVER_K, SEARCH_THEN_CONVERGE, AUTO, ABSOLUTE = range(5)
# What is kept.
LAST, AVERAGE, POCKET, LATE_AVERAGE = range(4)

# Samples of a size below this move finite weights to finite weights.
MODERATE = 1e50


@sums_kernel
def size_of(x):
    """Sum of |x_j|: NaN or infinite where any of them is."""
    s = 0.0
    for j in range(x.shape[0]):
        s += abs(x[j])
    return s


@kernel
def target(targets, Y, i, K, k):
    """What neuron k should answer to sample i."""
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
    if criterion in (SQUARED_LOGISTIC, CROSS_ENTROPY):
        return 1.0 / (1.0 + np.exp(-v))
    return v


@kernel
def slope_and_loss(criterion, t, v):
    """-dE/dv and E: -t v on errors for the perceptron, -ln p(t) for the cross entropy, else
    (t - phi(v))^2 / 2."""
    if criterion == PERCEPTRON:
        return (t, -t * v) if t * v <= 0.0 else (0.0, 0.0)
    if criterion == CROSS_ENTROPY:
        q = np.exp(-abs(v))
        u = 1.0 + q
        # log1p(q) by a logarithm and what rounding took from u: that of the C library branches by
        # the size of q, which no processor foresees, and what it has begun of the next row is lost.
        lost = np.log(u) + (q - (u - 1.0)) / u
        return t - (1.0 if v > 0.0 else q) / u, max(v, 0.0) - t * v + lost
    y = phi(criterion, v)
    e = t - y
    loss = 0.5 * e * e
    if criterion == TANH:
        return e * (1.0 - y * y), loss
    if criterion == SQUARED_LOGISTIC:
        return e * (y * (1.0 - y)), loss
    return e, loss
