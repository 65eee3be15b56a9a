"""How many labellings of N points a hyperplane can produce: Cover's count (Cover 1965).

    C(N, D) = 2 sum over i < D of binomial(N - 1, i),    F(N, D) = C(N, D) / 2^N

D is the number of free parameters: d weights, and the bias if there is one. F is the probability of
fewer than D heads in N - 1 tosses of a coin, which scipy computes; 2^N itself overflows float64 at
N = 1024.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, gammaln, logsumexp

from adaline.parameters import FLAG, count
from adaline.results import Result

MAX_POINTS = 10**9  # beyond, logarithms of factorials have too few digits left of float64
POINTS, INPUTS = count(1, MAX_POINTS), count(0, MAX_POINTS)
MAX_EXACT_POINTS = 2000  # up to which the fraction is a quotient of exact integers
MAX_COUNT_WORK = 10**12  # bits added for an exact count: a matter of minutes
MIN_PROBABILITY = 1e-300  # below, float64 loses digits and only the logarithm is computed


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
        F(N, d), the share of all labellings; 0.0 where it is below about 1e-300.
    log_fraction, log_complement : float
        Natural logarithms of F and of 1 - F; -inf for 0.
    count : int
        C(N, d), exact. Computed on first use, in about min(D, N - D) products of numbers with as
        many digits as the count.
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
        if terms * bits > MAX_COUNT_WORK:
            what = f"C({N}, {self.d}) has about {bits:.2g} binary digits, in {terms} terms"
            raise ValueError(f"{what}; that takes too long. Use log_fraction.")
        if 2 * D > N:  # the labellings that are not separable are fewer
            return (1 << N) - 2 * count_heads(N - 1, N - D)
        return 2 * count_heads(N - 1, D)


def cover(n: int, d: int, bias: bool = True) -> Cover:
    """F(N, d): the fraction of labellings of N points in d dimensions that are linearly separable.

    F = 1 for N <= d + 1, else 2^(1-N) sum over i <= d of binomial(N - 1, i). It holds for points in
    general position (no d + 1 of them on a common hyperplane), wherever they lie. A training set
    that is separable says little where F is near one: any labels would have been.

    Parameters
    ----------
    n : int
        Number of points, from 1 to 10^9.
    d : int
        Number of inputs, 0 or more.
    bias : bool, default=True
        Without a bias all hyperplanes pass through the origin and there are d parameters, not
        d + 1; general position then means that any d points are linearly independent.

    Returns
    -------
    Cover

    Examples
    --------
    >>> from adaline import cover
    >>> cover(4, 2).count, cover(4, 2).fraction  # XOR and its opposite are the two that fail
    (14, 0.875)
    >>> round(cover(100_000, 99).log_fraction, 2)  # the fraction is far below float64's range
    -68533.43
    """
    N, d = int(POINTS("n", n)), int(INPUTS("d", d))
    D = d + bool(FLAG("bias", bias))
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
    a linear neuron can store about two labels per weight (Cover 1965).

    Examples
    --------
    >>> from adaline import capacity, cover
    >>> capacity(2), cover(capacity(2), 2).fraction
    (6, 0.5)
    """
    return 2 * (int(INPUTS("d", d)) + bool(FLAG("bias", bias)))


def lower_tail(M: int, D: int) -> tuple[float, float]:
    """P(fewer than D heads in M tosses) and its logarithm, for D <= (M + 1)/2."""
    if D == 0:
        return 0.0, -math.inf
    if 2 * D == M + 1:
        return 0.5, -math.log(2.0)
    if M < MAX_EXACT_POINTS:
        heads = count_heads(M, D)
        p = heads / (1 << M)
        return p, math.log(p) if p > MIN_PROBABILITY else math.log(heads) - M * math.log(2.0)
    p = float(betainc(M - D + 1, D, 0.5))
    if p > MIN_PROBABILITY:
        return p, math.log(p)
    # So far out, terms fall by more than 1 - 70/sqrt(M) from one to the next: sqrt(M) terms, and
    # some for small M, hold all but 1e-17 of the sum.
    i = np.arange(max(0, D - math.isqrt(M) - 64), D, dtype=np.float64)
    logs = gammaln(M + 1.0) - gammaln(i + 1.0) - gammaln(M - i + 1.0) - M * math.log(2.0)
    log = float(logsumexp(logs))
    return math.exp(log), log


def count_heads(M: int, D: int) -> int:
    """Sum over i < D of binomial(M, i)."""
    total, term = 0, 1
    for i in range(D):
        total += term
        term = term * (M - i) // (i + 1)
    return total
