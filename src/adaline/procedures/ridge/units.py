"""The units in which a penalty measures the columns: their own, or their standard deviations.

A penalty alpha |w|^2 in the columns' own units depends on what they are measured in. In standard
deviations d it is alpha sum (d_j w_j)^2, which does not. Which of them predicts better, the rule
that chooses alpha says.
"""

from __future__ import annotations

import numpy as np

from adaline.linalg import UNIT, eigen
from adaline.moments import Moments
from adaline.procedures.least_squares.minimum_norm import dependent_columns
from adaline.procedures.least_squares.normal_equations import in_unit_columns
from adaline.procedures.ridge.choice import Choice, choice, is_searchable
from adaline.procedures.ridge.spectrum import Spectrum, spectrum_of_moments, spectrum_of_rows
from adaline.results import Array
from adaline.tiles import Rows, is_sparse

_ALIKE = 2.0  # deviations that differ by less make no choice worth its time
_RANGE = 1e100  # deviations from 1/_RANGE to _RANGE have squares well inside float64


def in_better_units(
    f: Spectrum, rule: str, rows: Rows | None, m: Moments | None
) -> tuple[Choice, Spectrum, Array | None]:
    """Penalties by a rule, the spectrum they belong to, and units (p,) or None for the own ones.

    f is the spectrum of the columns as they are, from rows or from moments.
    """
    units = standard_units(deviations(m, f.intercept) if m else _deviations_of_rows(f))
    own = choice(f, rule, rows) if units is None or is_searchable(f) else None
    if units is None:
        assert own is not None
        return own, f, None
    if f.A is not None and rows is not None:
        g = spectrum_of_rows(rows, f.intercept, units)
    else:
        assert m is not None
        g = spectrum_of_moments(m, f.intercept, units)
    standard = choice(g, rule, rows, units)
    if own is not None and (not np.any(standard.alphas) or _is_better(own, standard, rule, f)):
        return own, f, None
    said = [
        f"{text[:-1]}, with columns in units of their deviations." for text in standard.sentences
    ]
    return Choice(standard.alphas, said, standard.least), g, units


def deviations(m: Moments, intercept: bool) -> Array:
    """Standard deviation of each column, (p,); root mean square without a bias; 0 of constants."""
    p = m.p
    squares = np.diag(m.scatter)[:p] + (0.0 if intercept else m.weight * m.mean[:p] ** 2)
    squares = np.where(squares > m.rounding[:p] ** 2, squares, 0.0)
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.sqrt(squares / m.weight), m.exponent[:p]))


def _deviations_of_rows(f: Spectrum) -> Array:
    """The same from the rows of a spectrum in the columns' own units."""
    assert f.A is not None
    X, p = f.A.X, len(f.A.mean)
    if is_sparse(X):
        about_zero = np.asarray(X.power(2).sum(axis=0)).ravel()
        squares, least = about_zero - f.weight * f.A.mean**2, 1e-12 * about_zero
    else:
        squares, least = np.einsum("ij,ij->j", X, X), 1e-28 * f.weight * f.mean[:p] ** 2
    with np.errstate(over="ignore"):
        found = np.ldexp(np.sqrt(np.maximum(squares, 0.0) / f.weight), f.e)
    return np.where(squares > least, found, 0.0)


def dependence(m: Moments, intercept: bool) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Constant columns, and those that are combinations of others, with these."""
    unit, p = in_unit_columns(m, intercept), m.p
    squares = np.diag(unit.scatter)[:p]
    moving = squares > unit.rounding[:p] ** 2
    inverse = np.where(moving, 1.0 / np.sqrt(np.where(moving, squares, 1.0)), 0.0)
    values, V = eigen(unit.scatter[:p, :p] * np.outer(inverse, inverse))
    keep = values > max(64 * p * UNIT, 1e-12) * values.max(initial=0.0)
    A = np.sqrt(values[keep])[:, None] * V[:, keep].T
    return dependent_columns(A, int(np.count_nonzero(keep)))


def standard_units(deviation: Array) -> Array | None:
    """Standard deviations, and 1 for constants; None where they are alike, or out of range."""
    some = deviation[deviation > 0]
    if not len(some):
        return None
    low, high = float(some.min()), float(some.max())
    if low < 1.0 / _RANGE or high > _RANGE or high <= _ALIKE * low:
        return None
    return np.where(deviation > 0, deviation, 1.0)


def _is_better(one: Choice, other: Choice, rule: str, f: Spectrum) -> bool:
    """Whether one has the smaller criterion, over all targets; f is a spectrum of the data.

    Where both leave nothing of y to explain, neither is better.
    """
    if rule == "evidence":
        return bool(np.sum(one.least) < np.sum(other.least))
    squares = (f.rest + (f.a**2).sum(axis=0)) / f.weight
    floor = 1e-24 * squares + np.finfo(np.float64).tiny
    first, second = (float(np.log(np.maximum(c.least, floor)).sum()) for c in (one, other))
    return first < second
