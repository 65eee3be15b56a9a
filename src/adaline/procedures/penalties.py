"""Ridge regression: rules that choose the penalty, and the units it measures columns in.

Generalised cross-validation and the evidence need the spectrum alone, exact leave-one-out a pass
over the rows:

    error = sum (r_i / (1 - h_i))^2 / n,    r = y - yhat,    h_i = the leverage of row i

Leaving out means one of a row's omega copies, or the whole row where omega <= 1. A penalty
alpha |w|^2 in the columns' own units depends on what they are measured in. In standard deviations d
it is alpha sum (d_j w_j)^2, which does not. Which of them predicts better, the rule says.

Called by `Ridge`. Legend in `procedures.ridge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from adaline.linalg import UNIT, eigen
from adaline.procedures.krylov import CentredRows, standard_units
from adaline.procedures.least_squares import unit_columns
from adaline.procedures.minimum_norm import dependent_columns
from adaline.procedures.ridge import CUT, RULES, Spectrum, spectrum_of_moments, spectrum_of_rows
from adaline.results import Array
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows, block_rows

OWN_UNITS = np.ones(1)
TIE = 1e-12  # relative difference of criteria, and the least 1 - h, that is told from zero
EXACT = 64 * UNIT  # share of y that is left unexplained by rounding alone
NODES = 16  # Chebyshev nodes around the best of three penalties a decade
NOISE = 1e-13  # coefficients of rounding noise would move the minimum
RESIDUALS = 2**18  # numbers of the residuals of a block at all penalties: two megabytes
FEWEST_ROWS = 64  # in a block, for which products of matrices pay
SAMPLE = 1024  # rows of large sparse tables that a penalty is chosen by: half a second's work
LEAST_SHARE = 1e-9  # of the largest eigenvalue: below, conjugate gradients take very many steps


@dataclass(frozen=True)
class Choice:
    """Penalties (k,) in the user's units, a sentence for each, and their criterion (k,)."""

    alphas: Array
    sentences: list[str]
    least: Array


def gcv(f: Spectrum, lam: Array) -> Array:
    """Mean squared residual over (1 - dof/n)^2, (L, k)."""
    squares, free = f.residual(lam)
    return np.asarray(squares / f.weight * (f.count / free) ** 2)


def minus_evidence(f: Spectrum, lam: Array, e_y: Any = 0) -> Array:
    """-ln p(y | lam) for w ~ N(0, sigma^2/lam), flat b, sigma^2 at its maximum Q/n', (L, k).

    It is of y/2**f.e_y, unless e_y is given: units would hide the last digits of a flat minimum.
    """
    n, s = f.count - f.intercept, f.s[:, None, None]
    with np.errstate(divide="ignore"):
        Q = f.rest + (f.a[:, None] ** 2 * f.lost(lam)).sum(axis=0)
        logs = np.log(2 * np.pi * Q / n) + 1
        volume = np.log1p(np.divide(s, lam, where=s > 0, out=np.zeros((len(s), *lam.shape))))
    own = (n * logs + volume.sum(axis=0) + f.intercept * np.log(f.weight)) / 2
    return np.asarray(own + n * np.log(2.0) * e_y)


def choose(f: Spectrum, rule: str, rows: Rows | None, unit: Array = OWN_UNITS) -> Choice:
    """The penalty of each target by a rule among RULES; f is of columns divided by unit (p,).

    Between 1/1000 of the least eigenvalue and 1000 times the largest, three penalties a decade
    bracket the minimum, and a polynomial through 16 more finds it; the flatter the minimum, the
    less sure its place. Above that range the criteria only rise or only fall. Below it they may
    turn as far down as the noise of y is small, so that the search goes on until they do, or until
    float64 cannot tell them from their limit. Minus the evidence rises to infinity at alpha = 0
    unless y is fitted up to rounding.
    """
    s = f.s[f.s > 0]
    if not len(s):
        said = ["no column of X varies: every penalty gives weights of zero."]
        return Choice(np.ones(len(f.flat)), said, np.zeros(len(f.flat)))
    if rule == "loo" and rows is None:
        raise ValueError('alpha="loo" needs the rows; use "gcv", "evidence" or "auto" on moments.')
    if not is_searchable(f):
        why = "the columns of X differ by a factor of more than 1e60 in size"
        raise ValueError(f"{why}: no rule finds one penalty for all. Standardise them first.")

    def criterion(lam: Array) -> Array:
        if rule == "loo" and rows is not None:
            errors = leave_one_out(f, rows, lam, unit)
        else:
            errors = gcv(f, lam) if rule == "gcv" else minus_evidence(f, lam)
        return np.where(f.flat, 0.0, errors)

    squares = (f.a**2).sum(axis=0)
    exact = f.full & (f.rest <= EXACT * squares) & (f.count - f.intercept > len(f.s))
    low, top = 1e-3 * float(s.min()), float(s.max())
    lam, end, least = search(criterion, low, 1e3 * top)
    lowest = (1e-9 if not f.full else 1e-33 if rule == "evidence" else 1e-15) * float(s.min())
    while np.any(falls := (end < 0) & ~exact & ~f.flat) and low > 2.0 * lowest:
        more, turn, value = search(criterion, 1e-6 * low, 10.0 * low)
        lam, least = np.where(falls, more, lam), np.minimum(least, value)
        end[falls] = np.where(turn[falls] == 0, 0, -1)
        low *= 1e-6
    name, free = RULES[rule], f.full and rule != "evidence"
    sentences = [f"alpha minimises {name}."] * len(lam)
    least_squares, smallest = "up to rounding: this is least squares", "the smallest penalty that"
    cases = [  # the first that holds for a target
        (f.flat, 1e12 * top, "y is constant: every penalty predicts it, and a large one was taken"),
        (end > 0, 1e12 * top, f"{name} is least at infinite penalties: the weights are about zero"),
        (exact, 0.0, f"y is fitted without a penalty, {least_squares}"),
        ((end < 0) & free, 0.0, f"{name} is as small at alpha = 0 as anywhere, {least_squares}"),
        (end < 0, lowest, f"{name} is least at {smallest} still filters dependent directions"),
    ]
    for holds, value, text in reversed(cases):
        lam = np.where(holds, value, lam)
        sentences = [f"{text}." if h else t for h, t in zip(holds, sentences, strict=True)]
    return Choice(np.asarray(np.ldexp(lam, 2 * f.e)), sentences, least)


def choose_by_sample(rows: Rows, rule: str, intercept: bool) -> Choice:
    """Penalties for more sparse rows than an n x n matrix is made for, by some of them.

    The best penalty, the variance of the noise over that of the weights, does not depend on n.
    """
    k = slice(None, None, -(-rows.n // SAMPLE))
    some = Rows(rows.X[k], rows.Y[k], rows.omega[k])
    f = spectrum_of_rows(CentredRows.of(some, intercept))
    choice = choose(f, rule, some)
    least = np.ldexp(LEAST_SHARE * f.s.max(initial=0.0), 2 * f.e)
    said = [f"on {some.n} of {rows.n} rows, {text}" for text in choice.sentences]
    return Choice(np.maximum(choice.alphas, least), said, choice.least)


def is_searchable(f: Spectrum) -> bool:
    """Whether eigenvalues are near enough to each other for one range of penalties."""
    s = f.s[f.s > 0]
    return not len(s) or bool(s.min() >= 1e-120 * s.max())


def search(
    criterion: Callable[[Array], Array], low: float, high: float
) -> tuple[Array, NDArray[np.int64], Array]:
    """Where each column is least over ln lam, -1 or +1 where at an end of the range, and its least
    value. A minimum that cannot be told from the low end is there."""
    t = np.linspace(np.log(low), np.log(high), int(np.ceil(3 * np.log10(high / low))) + 1)
    F = criterion(np.exp(t)[:, None])
    # Of penalties as good as the best the largest is taken, so that noise decides nothing.
    least = F.min(axis=0)
    near = least + TIE * np.abs(least) >= F
    i = len(t) - 1 - np.argmax(near[::-1], axis=0)
    end = np.where(i == len(t) - 1, 1, np.where(near[0], -1, 0))
    centre, half = t[np.clip(i, 1, len(t) - 2)], t[1] - t[0]
    if end.all():
        return np.exp(centre), end, least
    F = criterion(np.exp(centre + half * chebyshev.chebpts1(NODES)[:, None]))
    best = np.where(end == 0, vertices(F), 0.0)
    return np.exp(centre + half * best), end, np.minimum(least, F.min(axis=0))


def vertices(F: Array) -> Array:
    """Where the polynomial through each column of F, values at Chebyshev's nodes, is least on
    [-1, 1]."""
    low, size, best = F.min(axis=0), np.ptp(F, axis=0), []
    scaled = (F - low) / np.where(size > 0, size, 1.0)
    for c in chebyshev.chebfit(chebyshev.chebpts1(NODES), scaled, NODES - 1).T:
        turns = chebyshev.chebroots(chebyshev.chebder(chebyshev.chebtrim(c, NOISE)))
        # A double root, where rounding has made a pair of complex ones, is no minimum.
        x = np.clip(np.append(turns[turns.imag == 0.0].real, [0.0, -1.0, 1.0]), -1.0, 1.0)
        best.append(x[np.argmin(chebyshev.chebval(x, c))])
    return np.where(size > 0, best, 0.0)


def leave_one_out(f: Spectrum, rows: Rows, lam: Array, unit: Array = OWN_UNITS) -> Array:
    """Mean squared error of each row predicted without it, r/(1 - h), exactly, (L, k).

    f is of columns that were divided by unit (p,), or by 1.
    """
    (r, k), L = f.a.shape, len(lam)
    total, lost = np.zeros((L, k)), f.lost(lam)
    part = f.a[:, None] * (lost if f.A is not None else 1 - lost)
    most = max(RESIDUALS // (FEWEST_ROWS * L), 1)
    for some in (slice(i, i + most) for i in range(0, k, most)):
        own = lost if lam.shape[1] == 1 else lost[:, :, some]
        for where, U, y, left in directions(f, rows, some, own, unit):
            block = part[:, :, some]
            e = (U @ block.reshape(r, L * block.shape[2])).reshape(len(U), *block.shape[1:])
            if f.A is None:  # what the directions leave of y; of wide rows, what is lost of it
                np.subtract(y[:, None], e, out=e)
            if len(rows.omega):  # 1 - h of one of a row's omega copies, or of the whole row
                heavy = np.maximum(rows.omega[where], 1.0)[:, None, None]
                left = (left + (heavy - 1)) / heavy
            with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 without a penalty
                e /= left
            total[:, some] += np.einsum("nlk,nlk->lk", e, e)
    return total / f.weight


def directions(
    f: Spectrum, rows: Rows, some: slice, lost: Array, unit: Array
) -> Iterator[tuple[slice, Array, Array, Array]]:
    """Blocks of rows: their unit vectors U along the directions, y, and 1 - omega h (n, L, k)."""
    size = min(max(RESIDUALS // (lost.shape[1] * lost.shape[2]), FEWEST_ROWS), block_rows(rows.p))
    if f.A is not None:
        for i in range(0, len(f.U), size):
            part = slice(i, i + size)
            # A sum of positive numbers, without cancellation, however small.
            yield part, f.U[part], f.U[:0], np.tensordot(f.U[part] ** 2, lost, axes=1)
        return
    p = len(f.V)
    scale = np.append(np.full(p, np.ldexp(1.0, -f.e)) / unit, np.ldexp(1.0, -f.e_y[some]))
    shift = np.append(f.mean[:p], f.mean[p:][some])
    for part, z, y in rows.targets(some).blocks(scale, shift, size):
        U = (z[:, :p] @ f.V) / np.sqrt(f.s)
        left = (1 - f.intercept / f.weight * z[:, -1:] ** 2)[:, :, None]
        left = left - np.tensordot(U * U, 1 - lost, axes=1)
        yield part, U, y, np.maximum(left, TIE)


def in_better_units(
    f: Spectrum, rule: str, rows: Rows | None, m: Moments | None
) -> tuple[Choice, Spectrum, Array | None]:
    """Penalties by a rule, the spectrum they belong to, and units (p,) or None for the own ones.

    f is the spectrum of the columns as they are, from rows or from moments.
    """
    units = standard_units(deviations(m, f.intercept) if m else deviations_of_rows(f))
    if units is None:
        return choose(f, rule, rows), f, None
    own = choose(f, rule, rows) if is_searchable(f) else None
    if f.A is not None and rows is not None:
        g = spectrum_of_rows(CentredRows.of(rows, f.intercept, units))
    else:
        assert m is not None
        g = spectrum_of_moments(m, f.intercept, units)
    standard = choose(g, rule, rows, units)
    if own is not None and (not np.any(standard.alphas) or is_better(own, standard, rule, f)):
        return own, f, None
    more = ", with columns in units of their deviations."
    said = [f"{text[:-1]}{more}" for text in standard.sentences]
    return Choice(standard.alphas, said, standard.least), g, units


def deviations(m: Moments, intercept: bool) -> Array:
    """Standard deviation of each column, (p,); root mean square without a bias; 0 of constants."""
    p = m.p
    squares = np.diag(m.scatter)[:p] + (0.0 if intercept else m.weight * m.mean[:p] ** 2)
    squares = np.where(squares > m.rounding[:p] ** 2, squares, 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.sqrt(squares / m.weight), m.exponent[:p]))


def deviations_of_rows(f: Spectrum) -> Array:
    """The same from the rows of a spectrum in the columns' own units."""
    assert f.A is not None
    squares, least = f.A.squares, 1e-28 * f.weight * f.mean[: f.A.p] ** 2
    if f.A.sparse:
        least = 1e-12 * f.A.raw_squares
    with np.errstate(over="ignore"):
        return np.ldexp(np.sqrt(np.where(squares > least, squares, 0.0) / f.weight), f.e)


def dependence(m: Moments, intercept: bool) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Constant columns, and those that are combinations of others, with these."""
    (unit, _), p = unit_columns(m, intercept), m.p
    squares = np.diag(unit.scatter)[:p]
    moving = squares > unit.rounding[:p] ** 2
    inverse = np.where(moving, 1.0 / np.sqrt(np.where(moving, squares, 1.0)), 0.0)
    values, V = eigen(unit.scatter[:p, :p] * np.outer(inverse, inverse))
    keep = values > max(64 * p * UNIT, CUT) * values.max(initial=0.0)
    A = np.sqrt(values[keep])[:, None] * V[:, keep].T
    return dependent_columns(A, int(np.count_nonzero(keep)))


def is_better(one: Choice, other: Choice, rule: str, f: Spectrum) -> bool:
    """Whether one has the smaller criterion, over all targets; f is a spectrum of the data.

    Where both leave nothing of y to explain, neither is better.
    """
    if rule == "evidence":
        return bool(np.sum(one.least) < np.sum(other.least))
    squares = (f.rest + (f.a**2).sum(axis=0)) / f.weight
    floor = 1e-24 * squares + np.finfo(np.float64).tiny
    first, second = (float(np.log(np.maximum(c.least, floor)).sum()) for c in (one, other))
    return first < second
