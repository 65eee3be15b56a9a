"""LIBSVM text to numbers, byte by byte: about ten times as fast as splitting it into words.

Called by data/reading/libsvm.py. Only plain text is read here, `label index:value index:value` with
decimal numbers. For all other text (comments, infinities, undecided numbers) the answer is that
somebody else should read it.

Digits m and a power of ten q make m 10^q. Up to 2^53 and 10^22 both are exact in float64, and
their product or quotient is rounded once (Clinger 1990). Otherwise the product is computed in
double-double arithmetic, to 2^-103 of itself: its high part is the nearest float64, unless the low
part is so near to half a unit in the last place that the error could cross it. Then the number is
undecided: one in 2^47 random ones, and those written exactly half way between two float64.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adaline.jit import fma, kernel

EXACT_POWER, EXACT_INTEGER = 22, 2**53  # 10^k and integers are exact in float64 up to here
LARGEST_POWER = 270  # powers of ten whose products with m neither overflow nor lose low parts
LARGEST_M = (92 * 10**17 - 10) // 10  # below this, one more digit keeps m (and m + 1) in int64
MARGIN = 1.0 + 2.0**-48  # more than the error of the product, as a part of half a unit
TAB, NEWLINE, RETURN, SPACE, PLUS, MINUS, POINT, ZERO, COLON, E, SMALL_E = b"\t\n\r +-.0:Ee"


def powers_of_ten():
    """10^q for |q| <= LARGEST_POWER as high + low, an array (2, 2 LARGEST_POWER + 1)."""
    exact = [Fraction(10) ** q for q in range(-LARGEST_POWER, LARGEST_POWER + 1)]
    high = [float(power) for power in exact]
    low = [float(power - Fraction(h)) for power, h in zip(exact, high, strict=True)]
    return np.array([high, low])


POWERS = powers_of_ten()


@kernel
def digits(text, i, m):
    """m with the digits from place i on appended while there is room, and the place after them."""
    c = int(text[i]) - ZERO
    while 0 <= c <= 9 and m <= LARGEST_M:
        m = 10 * m + c
        i += 1
        c = int(text[i]) - ZERO
    return m, i


@kernel
def after_digits(text, i):
    """The first place from i on that has no digit."""
    while 0 <= int(text[i]) - ZERO <= 9:
        i += 1
    return i


@kernel
def nearest(m, q, powers):
    """The float64 nearest to m 10^q, and whether that is certain."""
    if m == 0:
        return 0.0, True
    if q < -LARGEST_POWER or q > LARGEST_POWER:
        return 0.0, False
    high = float(m)
    low = float(m - int(high))
    power, rest = powers[0, LARGEST_POWER + q], powers[1, LARGEST_POWER + q]
    product = high * power
    error = fma(high, power, -product) + high * rest + low * power
    value = product + error
    error -= value - product
    return value, value + error * MARGIN == value


@kernel
def number(text, i, powers):
    """The number that begins at place i, and the place after it; -1 where it is not plain."""
    sign = 1.0
    if text[i] == MINUS or text[i] == PLUS:
        sign = -1.0 if text[i] == MINUS else 1.0
        i += 1
    start = i
    m, i = digits(text, i, 0)
    if i > start and text[i] <= SPACE and m <= EXACT_INTEGER:  # an integer, as counts are
        return sign * m, i
    has_digits, q, is_cut = i > start, 0, False
    if m > LARGEST_M:
        end = after_digits(text, i)
        q, is_cut, i = end - i, end > i, end
    if text[i] == POINT:
        start = i + 1
        m, i = digits(text, start, m)
        has_digits, q = has_digits or i > start, q - (i - start)
        if m > LARGEST_M:
            end = after_digits(text, i)
            is_cut, i = is_cut or end > i, end
    if not has_digits:
        return 0.0, -1
    if text[i] == E or text[i] == SMALL_E:
        i += 1
        is_negative = text[i] == MINUS
        if text[i] == MINUS or text[i] == PLUS:
            i += 1
        start = i
        exponent, i = digits(text, i, 0)
        if i == start or exponent > 1000:
            return 0.0, -1
        q += -exponent if is_negative else exponent
    if m <= EXACT_INTEGER and -EXACT_POWER <= q <= EXACT_POWER:
        value = m / powers[0, LARGEST_POWER - q] if q < 0 else m * powers[0, LARGEST_POWER + q]
        return sign * value, i
    value, is_certain = nearest(m, q, powers)
    if is_certain and is_cut:  # the number is between m and m + 1 times the power
        above, is_certain = nearest(m + 1, q, powers)
        is_certain = is_certain and above == value
    return sign * value, i if is_certain else -1


@kernel
def is_blank(c):
    return c in (SPACE, NEWLINE, TAB, RETURN)


@kernel
def parse(text, powers, labels, indices, values, counts):
    """Fill labels and counts (rows), indices and values (entries) from text that ends in newline.

    Returns the number of rows, or -1 where the text is not plain. The newline at the end stops
    every loop, so that none has to ask whether the text is over.
    """
    n, i, row, entry = text.shape[0], 0, 0, 0
    while True:
        while i < n and is_blank(text[i]):
            i += 1
        if i >= n:
            return row
        labels[row], i = number(text, i, powers)
        if i < 0:
            return -1
        first = entry
        while text[i] != NEWLINE:
            if not is_blank(text[i]):
                return -1
            while text[i] != NEWLINE and is_blank(text[i]):
                i += 1
            if text[i] == NEWLINE:
                break
            start = i
            index, i = digits(text, i, 0)
            if i == start or index >= 2**31 or text[i] != COLON:
                return -1
            indices[entry] = index
            values[entry], i = number(text, i + 1, powers)
            if i < 0:
                return -1
            entry += 1
        counts[row] = entry - first
        row += 1
