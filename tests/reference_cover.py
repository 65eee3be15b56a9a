"""Slow twins of Cover's count: exact fractions, and sixty digits where numbers get too long."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache

_PRECISE = decimal.Context(prec=80, Emin=-(10**12), Emax=10**12)
_BERNOULLI = [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
_LONG = 10**60  # fixed point


def exact_fraction(N, D):
    """2^(1-N) sum over i < D of binomial(N - 1, i)."""
    return Fraction(sum(math.comb(N - 1, i) for i in range(D)), 2 ** (N - 1))


def labellings_of_a_line(points):
    """How many labellings of points on a line a threshold can produce, by trying every cut."""
    order = sorted(points)
    thresholds = [order[0] - 1.0, *order]
    above = {tuple(x > t for x in points) for t in thresholds}
    return len(above | {tuple(not side for side in sides) for sides in above})


def precise_log_tail(M, D):
    """ln P(fewer than D heads in M tosses) to about fifty digits, for 0 < D <= (M + 1)/2."""
    with decimal.localcontext(_PRECISE):
        k = D - 1
        log = _log_factorial(M) - _log_factorial(k) - _log_factorial(M - k) - M * Decimal(2).ln()
        total = term = _LONG
        while term and k:
            term = term * k // (M - k + 1)
            total += term
            k -= 1
        return log + (Decimal(total) / _LONG).ln()


def relative_error(value, log):
    """|value / exp(log) - 1| of a float."""
    with decimal.localcontext(_PRECISE):
        return float(abs(Decimal(value) / log.exp() - 1))


def _log_factorial(k):
    """Exact below 2000; above, eight terms of Stirling's series leave less than 1e-55."""
    if k < 2000:
        return Decimal(math.factorial(k)).ln()
    n = Decimal(k)
    log = (2 * _pi() * n).ln() / 2 + n * (n.ln() - 1)
    for j, (a, b) in enumerate(_BERNOULLI, 1):
        log += Decimal(a) / Decimal(b) / (2 * j * (2 * j - 1) * n ** (2 * j - 1))
    return log


@cache
def _pi():
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239)."""
    return 16 * _atan_inverse(5) - 4 * _atan_inverse(239)


def _atan_inverse(x):
    total, power, k, sign = Decimal(0), Decimal(1) / x, 1, 1
    while power > Decimal(10) ** -85:
        total += sign * power / k
        power, k, sign = power / (x * x), k + 2, -sign
    return total
