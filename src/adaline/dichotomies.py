"""How many labellings of N points a hyperplane can produce: Cover's count.

    C(N, D) = 2 sum over i < D of binomial(N - 1, i),    F(N, D) = C(N, D) / 2^N

D is the number of free parameters: d weights, and the bias where there is one. F is the probability
of fewer than D heads in N - 1 tosses of a coin, which is how it is computed: 2^N itself leaves
float64 at N = 1024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from adaline.parameters import ParameterError, shown
from adaline.results import Result

MOST_EXACT = 2000  # points up to which the fraction is a quotient of exact integers
LARGEST = 10**18  # points: beyond, N has more digits than float64
MOST_TERMS = 3 * 10**7  # of a sum: a matter of seconds
MOST_WORDS = 10**10  # of 64 bits that the sum for a count may add up: a matter of minutes
ONE = 1 << 96  # 1.0 in fixed point: what the sum of the tail loses stays far below float64
LN2 = math.log(2.0)


@dataclass(frozen=True)
class Cover(Result):
    """How many of the 2^N labellings of N points in general position a hyperplane separates.

    Attributes
    ----------
    n, d : int
        Points N, and inputs d.
    bias : bool
        Whether the hyperplane may miss the origin.
    fraction : float
        F(N, d), the share of all labellings; 0.0 where it is below about 1e-323.
    log_fraction, log_complement : float
        Natural logarithms of F and of 1 - F, which keep their digits in both tails; -inf for 0.
    count : int
        C(N, d), exact. Computed when first asked for, in about min(D, N - D) products, each of a
        number that has as many digits as the count.
    """

    n: int
    d: int
    bias: bool
    fraction: float
    log_fraction: float
    log_complement: float

    @property
    def parameters(self) -> int:
        """D, the free parameters: d, and one more with a bias."""
        return self.d + self.bias

    @cached_property
    def count(self) -> int:
        """C(N, d) as an exact integer."""
        N, D = self.n, min(self.parameters, self.n)
        terms = min(D, N - D)
        bits = min(N, terms * math.log2(math.e * N / terms)) if terms else 0
        if terms * bits > 64 * MOST_WORDS:
            raise ValueError(
                f"C({N}, {self.d}) has about {bits:.2g} binary digits, and is a sum of {terms} "
                "such numbers; that takes too long. Use log_fraction."
            )
        if 2 * D > N:  # the labellings that are not separable are fewer
            return (1 << N) - 2 * count_heads(N - 1, N - D)
        return 2 * count_heads(N - 1, D)


def cover(n: int, d: int, bias: bool = True) -> Cover:
    """F(N, d): the fraction of labellings of N points in d dimensions that are linearly separable.

    Lecture 004: F = 1 for N <= d + 1, else 2^(1-N) sum over i <= d of binomial(N - 1, i). It holds
    for points in general position (no d + 1 of them on a common hyperplane), wherever they lie. A
    training set that is separable says little where F is near one: any labels would have been.

    Parameters
    ----------
    n : int
        Number of points, 1 or more. One number, not an array; a whole float such as 1e7 will do.
    d : int
        Number of inputs, 0 or more.
    bias : bool, default=True
        Without a bias all hyperplanes pass through the origin and there are d parameters, not
        d + 1; general position then means that any d points are linearly independent.

    Returns
    -------
    Cover
        `fraction`, `log_fraction`, `log_complement`, and `count` when asked for. The fraction is
        right to 4e-13 of itself up to N = 10^7, in both tails; it takes at most 10 sqrt(N) steps.

    Examples
    --------
    >>> from adaline import cover
    >>> cover(4, 2).count, cover(4, 2).fraction  # XOR and its opposite are the two that fail
    (14, 0.875)
    >>> cover(1000, 99).fraction
    1.33867540767991...e-162
    >>> round(cover(100_000, 99).log_fraction, 2)  # far below what float64 can hold
    -68533.43
    """
    N, d = validate_count("n", n, 1), validate_count("d", d, 0)
    D = d + validate_flag(bias)
    if 2 * D <= N:
        p, log_p = lower_tail(N - 1, D)
        return Cover(N, d, bool(bias), p, log_p, math.log1p(-p))
    p, log_p = lower_tail(N - 1, max(N - D, 0))  # those not separable: F(N, D) + F(N, N - D) = 1
    return Cover(N, d, bool(bias), 1.0 - p, math.log1p(-p), log_p)


def capacity(d: int, bias: bool = True) -> int:
    """2(d + 1) points (2d without a bias): where half of all labellings are separable.

    F is the probability of fewer than D heads in N - 1 tosses. At N = 2D these are 2D - 1 tosses,
    and fewer than D heads are as likely as fewer than D tails, while one of the two must happen:
    F(2D, D) = 1/2 for every D. The fall from 1 to 0 is centred there, and for large D sharp:
    a linear neuron can store about two labels a weight (lecture 004, Cover 1965).

    Examples
    --------
    >>> from adaline import capacity, cover
    >>> capacity(2), cover(capacity(2), 2).fraction
    (6, 0.5)
    """
    return 2 * (validate_count("d", d, 0) + validate_flag(bias))


def lower_tail(M: int, D: int) -> tuple[float, float]:
    """P(fewer than D heads in M tosses) and its logarithm, for D <= (M + 1)/2."""
    if D == 0:
        return 0.0, -math.inf
    if 2 * D == M + 1:
        return 0.5, -LN2
    if M < MOST_EXACT:
        heads = count_heads(M, D)
        p = heads / (1 << M)
        return p, math.log(p) if p > 1e-300 else math.log(heads) - M * LN2
    # Terms fall by a factor from one to the next, which is farther below one for each: when they
    # have lost 2^96 in all, they are zero in fixed point. 33.5 is half the logarithm of 2^96.
    gap = M + 2 - 2 * D
    terms = 0.5 * (math.sqrt(gap**2 + 4 * 33.5 * M) - gap)
    if min(terms, D) > MOST_TERMS:
        raise ValueError(
            f"{M + 1} points with {D} or {M + 1 - D} parameters need a sum of about {terms:.0e} "
            "terms, which takes too long. Where n is about twice the parameters, the fraction is "
            "about one half; capacity(d) says where exactly."
        )
    total = term = ONE  # sum over i < D of binomial(M, i) / binomial(M, D - 1)
    for k in range(D - 1, 0, -1):
        term = term * k // (M - k + 1)
        total += term
        if not term:
            break
    log = log_probability(M, D - 1) + math.log(total / ONE)
    return math.exp(log), log


def count_heads(M: int, D: int) -> int:
    """Sum over i < D of binomial(M, i)."""
    total, term = 0, 1
    for i in range(D):
        total += term
        term = term * (M - i) // (i + 1)
    return total


def log_probability(M: int, k: int) -> float:
    """ln of binomial(M, k) / 2^M, by Stirling's series; 2k < M.

    With delta = 1 - 2k/M the exponent is M [delta atanh(delta) + ln(1 - delta^2)/2]: no numbers
    that nearly agree are subtracted, but near delta = 1, where k/M says more.
    """
    if k < 32:
        return math.log(math.comb(M, k)) - M * LN2
    delta = (M - 2 * k) / M
    if delta < 0.5:
        exponent = M * (delta * math.atanh(delta) + 0.5 * math.log1p(-delta * delta))
    else:
        exponent = M * LN2 + k * math.log(k / M) + (M - k) * math.log1p(-k / M)
    rest = stirling_rest(M) - stirling_rest(k) - stirling_rest(M - k)
    return rest - exponent + 0.5 * math.log(M / (2.0 * math.pi * k) / (M - k))


def stirling_rest(k: int) -> float:
    """ln k! - ln(sqrt(2 pi k) (k/e)^k) to 1e-16, for k >= 32."""
    q = 1.0 / k**2
    return (1.0 / 12.0 - q * (1.0 / 360.0 - q * (1.0 / 1260.0 - q / 1680.0))) / k


def validate_count(name: str, value: Any, least: int) -> int:
    """A whole number; a whole float such as 1e7 will do, which NaN and infinity are not."""
    right = isinstance(value, Integral | float) and not isinstance(value, bool | np.timedelta64)
    if isinstance(value, float):
        right = value.is_integer()
    if not right or not least <= int(value) <= LARGEST:
        expected = f"one whole number, {least} or more, at most {LARGEST:.0e}"
        raise ParameterError(f"{name} is {shown(value)}; expected {expected}.")
    return int(value)


def validate_flag(bias: Any) -> bool:
    """True or False."""
    if not isinstance(bias, bool | np.bool_):
        raise TypeError(f"bias is {bias!r}; expected True or False.")
    return bool(bias)
