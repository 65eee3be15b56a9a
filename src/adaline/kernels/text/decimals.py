"""Decimal text to the nearest float64, byte by byte.

Digits m and a power of ten q make m 10^q. Up to 2^53 and 10^22 both are exact in float64, and
their product or quotient is rounded once (Clinger 1990). Otherwise the product is computed in
double-double arithmetic, to 2^-103 of itself: its high part is the nearest float64, unless the low
part is so near to half a unit in the last place that the error could cross it. Then the answer is
that somebody else should read the number: one in 2^47 random ones, and those written exactly half
way between two float64.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adaline._jit import kernel
from adaline.kernels.double_double.double_double import two_product

_EXACT, _LARGEST = 22, 2**53  # 10^k and whole numbers are exact in float64 up to here
_FURTHEST = 270  # powers of ten whose products with m neither overflow nor lose their low parts
_ROOM = (92 * 10**17 - 10) // 10  # below this, one more digit keeps m (and m + 1) in int64
_MARGIN = 1.0 + 2.0**-48  # more than the error of the product, as a part of half a unit
_SPACE, _PLUS, _MINUS, _POINT, _ZERO, _E, _SMALL_E = 32, 43, 45, 46, 48, 69, 101


def powers_of_ten():
    """Powers of ten from -_FURTHEST to _FURTHEST as high + low, an array (2, 2 _FURTHEST + 1)."""
    exact = [Fraction(10) ** q for q in range(-_FURTHEST, _FURTHEST + 1)]
    high = [float(power) for power in exact]
    low = [float(power - Fraction(h)) for power, h in zip(exact, high, strict=True)]
    return np.array([high, low])


POWERS = powers_of_ten()


@kernel
def digits(text, i, m):
    """m with the digits from place i on appended while there is room, and the place after them."""
    c = text[i] - _ZERO
    while 0 <= c <= 9 and m <= _ROOM:
        m = 10 * m + c
        i += 1
        c = text[i] - _ZERO
    return m, i


@kernel
def after_digits(text, i):
    """The first place from i on that has no digit."""
    while 0 <= text[i] - _ZERO <= 9:
        i += 1
    return i


@kernel
def nearest(m, q, powers):
    """The float64 nearest to m 10^q, and whether that is certain."""
    if m == 0:
        return 0.0, True
    if q < -_FURTHEST or q > _FURTHEST:
        return 0.0, False
    high = float(m)
    low = float(m - int(high))
    power, rest = powers[0, _FURTHEST + q], powers[1, _FURTHEST + q]
    product, error = two_product(high, power)
    error += high * rest + low * power
    value = product + error
    error -= value - product
    return value, value + error * _MARGIN == value


@kernel
def number(text, i, powers):
    """The number that begins at place i, and the place after it; -1 where it is not plain."""
    sign = 1.0
    if text[i] == _MINUS or text[i] == _PLUS:
        sign = -1.0 if text[i] == _MINUS else 1.0
        i += 1
    start = i
    m, i = digits(text, i, 0)
    if i > start and text[i] <= _SPACE and m <= _LARGEST:  # a whole number, as counts are
        return sign * m, i
    found, q, cut = i > start, 0, False
    if m > _ROOM:
        end = after_digits(text, i)
        q, cut, i = end - i, end > i, end
    if text[i] == _POINT:
        start = i + 1
        m, i = digits(text, start, m)
        found, q = found or i > start, q - (i - start)
        if m > _ROOM:
            end = after_digits(text, i)
            cut, i = cut or end > i, end
    if not found:
        return 0.0, -1
    if text[i] == _E or text[i] == _SMALL_E:
        i += 1
        sunk = text[i] == _MINUS
        if text[i] == _MINUS or text[i] == _PLUS:
            i += 1
        start = i
        exponent, i = digits(text, i, 0)
        if i == start or exponent > 1000:
            return 0.0, -1
        q += -exponent if sunk else exponent
    if m <= _LARGEST and -_EXACT <= q <= _EXACT:
        value = m / powers[0, _FURTHEST - q] if q < 0 else m * powers[0, _FURTHEST + q]
        return sign * value, i
    value, certain = nearest(m, q, powers)
    if certain and cut:  # the number is between m and m + 1 times the power
        above, certain = nearest(m + 1, q, powers)
        certain = certain and above == value
    return sign * value, i if certain else -1
