"""Ridge regression: rules that choose the penalty, from one eigendecomposition.

Generalised cross-validation and the evidence need the spectrum alone, exact leave-one-out a pass
over the rows. Legend in `spectrum`. Leaving out means one of a row's omega copies, or the whole
row where omega <= 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNIT
from adaline.procedures.ridge._minima import nodes, vertices
from adaline.procedures.ridge.leave_one_out import OWN_UNITS, leave_one_out
from adaline.procedures.ridge.spectrum import Spectrum
from adaline.results import Array
from adaline.tiles import Rows

RULES = {
    "loo": "the leave-one-out error",
    "gcv": "the generalised cross-validation error",
    "evidence": "minus the log marginal likelihood",
}
_TIE = 1e-12
_EXACT = 64 * UNIT  # share of y that is left unexplained by rounding alone


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


def minus_evidence(f: Spectrum, lam: Array) -> Array:
    """-ln p(y | lam) for w ~ N(0, sigma^2/lam), flat b, sigma^2 at its maximum Q/n', (L, k)."""
    units = (f.count - f.intercept) * np.log(2.0) * f.e_y
    return np.asarray(_evidence_in_units(f, lam) + units)


def _evidence_in_units(f: Spectrum, lam: Array) -> Array:
    """`minus_evidence` of y/2**e_y: units would hide the last digits of a flat minimum."""
    n = f.count - f.intercept
    s = f.s[:, None, None]
    with np.errstate(divide="ignore"):
        Q = f.rest + (f.a[:, None] ** 2 * f.lost(lam)).sum(axis=0)
        logs = np.log(2 * np.pi * Q / n) + 1
        volume = np.log1p(np.divide(s, lam, where=s > 0, out=np.zeros((len(s), *lam.shape))))
    return np.asarray((n * logs + volume.sum(axis=0) + f.intercept * np.log(f.weight)) / 2)


def choose(f: Spectrum, rule: str, rows: Rows | None) -> tuple[Array, list[str]]:
    """The penalty of each target by a rule among RULES, and a sentence for each."""
    found = choice(f, rule, rows)
    return found.alphas, found.sentences


def choice(f: Spectrum, rule: str, rows: Rows | None, unit: Array = OWN_UNITS) -> Choice:
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
        raise ValueError(
            "the columns of X differ by a factor of more than 1e60 in size, so that no rule finds "
            "one penalty for all. Standardise them, or give alpha a number."
        )

    def criterion(lam: Array) -> Array:
        if rule == "loo" and rows is not None:
            errors = leave_one_out(f, rows, lam, unit)
        else:
            errors = gcv(f, lam) if rule == "gcv" else _evidence_in_units(f, lam)
        return np.where(f.flat, 0.0, errors)

    squares = (f.a**2).sum(axis=0)
    exact = f.full & (f.rest <= _EXACT * squares) & (f.count - f.intercept > len(f.s))
    low = 1e-3 * float(s.min())
    lam, end, least = _search(criterion, low, 1e3 * float(s.max()))
    lowest = (1e-9 if not f.full else 1e-33 if rule == "evidence" else 1e-15) * float(s.min())
    while np.any(falls := (end < 0) & ~exact & ~f.flat) and low > 2.0 * lowest:
        more, turn, value = _search(criterion, 1e-6 * low, 10.0 * low)
        lam, least = np.where(falls, more, lam), np.minimum(least, value)
        end[falls] = np.where(turn[falls] == 0, 0, -1)
        low *= 1e-6
    name, sentences = RULES[rule], [f"alpha minimises {RULES[rule]}."] * len(lam)
    for t in range(len(lam)):
        if f.flat[t] or end[t] > 0:
            lam[t] = 1e12 * s.max()
            sentences[t] = f"{name} is least at infinite penalties: the weights are about zero."
        elif exact[t]:
            lam[t] = 0.0
            sentences[t] = "y is fitted up to rounding without a penalty: this is least squares."
        elif end[t] < 0 and f.full and rule != "evidence":
            lam[t] = 0.0
            sentences[t] = (
                f"{name} is as small at alpha = 0 as anywhere, up to rounding: this is least "
                "squares."
            )
        elif end[t] < 0:
            lam[t] = lowest
            sentences[t] = (
                f"{name} is no larger at the smallest penalty that still filters dependent "
                "directions, which was taken."
            )
        if f.flat[t]:
            sentences[t] = "y is constant: every penalty predicts it, and a large one was taken."
    return Choice(np.asarray(np.ldexp(lam, 2 * f.e)), sentences, least)


def is_searchable(f: Spectrum) -> bool:
    """Whether eigenvalues are near enough to each other for one range of penalties."""
    s = f.s[f.s > 0]
    return not len(s) or bool(s.min() >= 1e-120 * s.max())


def _search(
    criterion: Callable[[Array], Array], low: float, high: float
) -> tuple[Array, NDArray[np.int64], Array]:
    """Where each column is least over ln lam, -1 or +1 where at an end of the range, and its least
    value. A minimum that cannot be told from the low end is there."""
    t = np.linspace(np.log(low), np.log(high), int(np.ceil(3 * np.log10(high / low))) + 1)
    F = criterion(np.exp(t)[:, None])
    # Of penalties as good as the best the largest is taken, so that noise decides nothing.
    least = F.min(axis=0)
    near = least + _TIE * np.abs(least) >= F
    i = len(t) - 1 - np.argmax(near[::-1], axis=0)
    end = np.where(i == len(t) - 1, 1, np.where(near[0], -1, 0))
    centre, half = t[np.clip(i, 1, len(t) - 2)], t[1] - t[0]
    inside = end == 0
    F = criterion(np.exp(centre + half * nodes()[:, None])) if inside.any() else F[:0]
    best = np.where(inside, vertices(F), 0.0) if len(F) else np.zeros(len(end))
    return np.exp(centre + half * best), end, np.minimum(least, F.min(axis=0, initial=np.inf))
