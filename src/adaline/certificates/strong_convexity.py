"""How far the penalised logistic loss can be from its least value, by its gradient alone.

    f(W, b) = sum_i omega_i loss_i(W x_i + b) + alpha/2 |W|^2,        alpha > 0

f is strongly convex in W, and not in the bias, which has no penalty. So let F(W) be the least of f
over all biases: F is strongly convex, too, and F(W) - f* <= |F'(W)|^2 / (2 alpha). Its slope is
that of f at the best bias b + t. How far t is, tell the gradient g_b of f in the bias and

    H = sum_i omega_i J_i,    J_i = diag(p_i) - p_i p_i' of K classes, p_i (1 - p_i) of one output.

(Shifts of all K biases together change nothing, and are left out.) Curvature changes by no more
than exp(+-s) where no difference of two values moves by more than s. With nu = |g_b| in the metric
H^-1, h the least eigenvalue of H, and rho = sqrt(2 / h) of K classes, 1 / sqrt(h) of one output,

    |t| in the metric H  <=  delta = -log(1 - rho nu) / rho,        s <= rho delta,

and on the way to b + t the slope in W changes by at most exp(s) delta sqrt(R), as |J t|^2 is at
most |J| t'J t, where R = sum_i omega_i |J_i| |x_i|^2. With G >= |g_W|, roundings included,

    f - f* <= nu delta + slope^2 / (2 alpha),    |W - W*| <= slope / alpha,
    slope = G + exp(s) delta sqrt(R).

No matrix of columns x columns is needed, and nothing is assumed of how W and b were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log1p, sqrt

import numpy as np

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.results import Array, Certificate

_SLACK = 1.01  # the bounds themselves are computed in float64
_FUNCTIONS = 24.0  # units that exponentials, quotients and products of a row are off by, at most
_UNSURE = 1e-3  # values may be off by this much, for curvatures to be right to one percent


@dataclass(frozen=True)
class RowSizes:
    """Sums over all rows that bounds on rounding are made of; they add up.

    m_i is the number of entries of row i, omega_i its weight.

    Attributes
    ----------
    n, blocks : int
        Rows, and blocks that were summed apart.
    weight, lengths : float
        Sums of omega, and of omega |x|.
    terms, terms_lengths, terms_squares : float
        Sums of omega (m + 4), of omega (m + 4) |x|, and of omega (m + 4) |x|^2.
    longest, most : float
        The largest |x|, and the largest m + 4.
    deepest : int
        Rows of the largest block.
    """

    n: int
    blocks: int
    weight: float
    lengths: float
    terms: float
    terms_lengths: float
    terms_squares: float
    longest: float
    most: float
    deepest: int

    @classmethod
    def of(cls, squares: Array, entries: Array, omega: Array) -> RowSizes:
        """Of a block, by the |x|^2, the number of entries, and the weight of each row."""
        omega = omega if len(omega) else np.ones(len(squares))
        lengths, m = np.sqrt(squares), entries + 4.0
        terms = omega * m
        return cls(
            len(squares),
            1,
            float(omega.sum()),
            float(omega @ lengths),
            float(terms.sum()),
            float(terms @ lengths),
            float(terms @ squares),
            float(np.max(lengths, initial=0.0)),
            float(np.max(m, initial=0.0)),
            len(squares),
        )

    def __add__(self, other: RowSizes) -> RowSizes:
        return RowSizes(
            self.n + other.n,
            self.blocks + other.blocks,
            self.weight + other.weight,
            self.lengths + other.lengths,
            self.terms + other.terms,
            self.terms_lengths + other.terms_lengths,
            self.terms_squares + other.terms_squares,
            max(self.longest, other.longest),
            max(self.most, other.most),
            max(self.deepest, other.deepest),
        )

    def rounding(self, W: Array, b: Array, alpha: float) -> tuple[float, float, float]:
        """Bounds on what rounding did to |g_W|, to |g_b|, and to any value v.

        A value is off by at most (m + 4) u (|w||x| + |b|), and the slope of its row by half of that
        and by rounded functions; sums in any order, by their number of terms times u.
        """
        w, c, K = length(W), length(b), len(W)
        sums = sqrt(2.0) * (self.deepest + self.blocks + K + _FUNCTIONS)
        of_W = sums * self.lengths + 0.5 * (w * self.terms_squares + c * self.terms_lengths)
        of_b = sums * self.weight + 0.5 * (w * self.terms_lengths + c * self.terms)
        lost = self.n * UNDERFLOW * sqrt(W.size + K)
        off = self.most * (w * self.longest + c)
        return (
            _SLACK * UNIT * (of_W + 4.0 * alpha * w) + lost,
            _SLACK * UNIT * of_b + lost,
            _SLACK * UNIT * off,
        )


@dataclass(frozen=True)
class Gap:
    """f - f* <= gap and |W - W*| <= distance; rounding is the gap that no step makes smaller."""

    gap: float
    distance: float
    rounding: float


def gap_of(
    g: Array, bias_curvature: Array, reach: float, sizes: RowSizes, theta: Array, alpha: float
) -> Gap:
    """What the gradient g (K, p + 1) of the penalised loss at theta (K, p + 1) proves.

    bias_curvature is the sum (K, K) of omega J, reach is R; an empty one stands for no bias.
    """
    W, b = theta[:, :-1], theta[:, -1]
    off_W, off_b, off_v = sizes.rounding(W, b, alpha)
    found = length(g[:, :-1])
    if not np.isfinite(found) or not alpha > 0.0:
        return Gap(inf, inf, inf)
    if not len(bias_curvature):
        return _bounds(0.0, 0.0, found + off_W, off_W, alpha)
    nu, hidden, h = _bias_slope(g[:, -1], off_b, bias_curvature if off_v < _UNSURE else None)
    rho = _SLACK * sqrt((1.0 if len(W) == 1 else 2.0) / h) if h > 0.0 else inf
    if not rho * nu < 1.0:
        return Gap(inf, inf, inf)
    delta = _SLACK * -log1p(-rho * nu) / rho
    moves = _SLACK * exp(rho * delta) * sqrt(reach)
    return _bounds(nu, delta, found + off_W + delta * moves, off_W + hidden * moves, alpha)


def certificate_of(found: Gap, f: float, wanted: float, passes: int) -> Certificate:
    """The gap relative to f in words; optimal where it is at most `wanted`."""
    gap = relative(found, f)
    evidence = {
        "relative_gap": gap,
        "value": f,
        "passes": passes,
        "distance": found.distance,
    }
    said = (
        f"the penalised loss {f:.8g} is within {gap:.2g} of its least value, relative to it, and "
        f"|w - w*| is at most {found.distance:.2g}"
    )
    if gap <= wanted:
        return Certificate("optimal", f"{said}.", evidence)
    return Certificate("unproven", f"{said}; {wanted:.2g} of the loss was wanted.", evidence)


def relative(found: Gap, f: float) -> float:
    """The gap as a part of f."""
    return found.gap / f * _SLACK if f > 0.0 and np.isfinite(f) else inf


def _bounds(nu: float, delta: float, slope: float, hidden: float, alpha: float) -> Gap:
    slope, hidden = _SLACK * slope, _SLACK * hidden
    # Roots apart, as squares may leave the range of float64.
    lost, least = slope / sqrt(2.0 * alpha), hidden / sqrt(2.0 * alpha)  # ** would raise
    return Gap(
        _SLACK * (nu * delta + lost * lost), _SLACK * slope / alpha + UNDERFLOW, least * least
    )


def _bias_slope(g: Array, off: float, H: Array | None) -> tuple[float, float, float]:
    """nu, the part of it that is rounding, and a lower bound on h; where H is None, h is 0."""
    if H is None or not np.isfinite(H).all():
        return inf, inf, 0.0
    values, vectors = np.linalg.eigh(H)
    if len(H) > 1:  # the first is the shift of all classes, which has no curvature
        values, vectors = values[1:], vectors[:, 1:]
    h = 0.98 * float(values[0]) - 1e-9 * float(values[-1])
    if not h > 0.0:
        return inf, inf, 0.0
    hidden = (off + 1e-9 * length(g)) / sqrt(h) if len(H) > 1 else off / sqrt(h)
    return _SLACK * (length((g @ vectors) / np.sqrt(values)) + hidden), _SLACK * hidden, h
