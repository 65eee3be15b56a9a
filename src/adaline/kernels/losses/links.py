"""Losses of one output, block by block: value, slope and curvature of each row, by a code.

A new loss is a function like `_logistic`, a code, and a branch in `link`.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, scaled

LOGISTIC, POISSON = range(2)

ROWS = 128  # in a block: their values and exponentials stay in the nearest cache
_MAGIC = 1.5 * 2.0**52  # adding it leaves an integer in the low bits
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


def known(code):
    """What a kernel is given for a code, so that it is compiled for one loss alone."""
    return None if code == LOGISTIC else code


@kernel
def exponentials(a, whole, e):
    """e = exp(-a) for a >= 0, by 2^k times a polynomial; a plain loop, so that it fills registers.

    Below exp(-700) the answer stays exp(-700): nothing here can tell it from zero.
    """
    for i in range(ROWS):
        x = -700.0 if a[i] > 700.0 else -a[i]
        whole[i] = x * _LOG2E + _MAGIC
        k = whole[i] - _MAGIC
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        s = 1.0 / 479001600.0
        s = s * r + 1.0 / 39916800.0
        s = s * r + 1.0 / 3628800.0
        s = s * r + 1.0 / 362880.0
        s = s * r + 1.0 / 40320.0
        s = s * r + 1.0 / 5040.0
        s = s * r + 1.0 / 720.0
        s = s * r + 1.0 / 120.0
        s = s * r + 1.0 / 24.0
        s = s * r + 1.0 / 6.0
        s = s * r + 0.5
        s = s * r + 1.0
        e[i] = s * r + 1.0
    for i in range(ROWS):
        e[i] = scaled(e[i], whole[i])


@kernel
def _logistic(v, t, omega, start, stop, r, root, work):
    """log(1 + exp(-t v)), t = -1 or +1; the least t v too."""
    a, whole, e = work[0], work[1], work[2]
    rows = stop - start
    for i in range(ROWS):
        a[i] = abs(v[i])
    exponentials(a, whole, e)
    loss, least = 0.0, np.inf
    weighted = omega.shape[0] > 0
    # log(1 + e1) + log(1 + e2) + ... = log of the product, which 128 factors <= 2 keep in range.
    product = 1.0
    for i in range(rows):
        m = t[start + i] * v[i]
        o = omega[start + i] if weighted else 1.0
        if o > 0.0 and m < least:
            least = m
        if weighted:
            loss += o * np.log1p(e[i])
        else:
            product *= 1.0 + e[i]
        loss += o * (0.0 if m > 0.0 else -m)
        share = (1.0 if m <= 0.0 else e[i]) / (1.0 + e[i])
        r[i] = -t[start + i] * o * share
    if root.shape[0] > 0:
        for i in range(rows):
            o = omega[start + i] if weighted else 1.0
            root[start + i] = np.sqrt(o * e[i]) / (1.0 + e[i])
    return loss + np.log(product), least


@kernel
def _poisson(v, y, omega, start, stop, r, root, work):
    """exp(v) - y v, for counts y."""
    a, whole, e = work[0], work[1], work[2]
    for i in range(ROWS):
        a[i] = abs(v[i])
    exponentials(a, whole, e)
    loss = 0.0
    weighted = omega.shape[0] > 0
    for i in range(stop - start):
        o = omega[start + i] if weighted else 1.0
        mean = 1.0 / e[i] if v[i] > 0.0 else e[i]
        loss += o * (mean - y[start + i] * v[i])
        r[i] = o * (mean - y[start + i])
        if root.shape[0] > 0:
            root[start + i] = np.sqrt(o * mean)
    return loss, -np.inf


@kernel
def link(code, v, target, omega, start, stop, r, root, work):
    """Slopes r = omega dloss/dv of a block, and sqrt(omega d2loss/dv2) into root if it has room.

    Returns the loss, and the smallest lead of a row's own class: -inf where there are no classes.
    A code of None is the logistic loss: the compiler knows it, and leaves out the other.
    """
    if code is None:
        return _logistic(v, target, omega, start, stop, r, root, work)
    return _poisson(v, target, omega, start, stop, r, root, work)
