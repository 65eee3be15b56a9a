"""Minima of functions on [-1, 1] by the polynomials through their values at Chebyshev's nodes.

All is done with matrices that are made once: numpy.polynomial makes them anew for every call, which
takes longer than the search.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import chebyshev

from adaline.results import Array

_NODES = 16
_PLACES = 65  # where a polynomial through the nodes is looked at, before its minimum is refined
_HALVINGS = 50  # as many steps as end even where each only halves
_SETTLED = 1e-8  # a last step: after one of Newton's the error is its square, and lost in rounding
_NOISE = 1e-13  # coefficients of rounding noise would move the minimum


@cache
def nodes() -> Array:
    """Zeros of the Chebyshev polynomial of degree 16."""
    return np.asarray(chebyshev.chebpts1(_NODES))


def vertices(F: Array) -> Array:
    """Where the polynomial through each column of F, values at `nodes`, is least on [-1, 1]."""
    to_coefficients, places, at_places = _matrices()
    low, size = F.min(axis=0), np.ptp(F, axis=0)
    c = to_coefficients @ ((F - low) / np.where(size > 0, size, 1.0))
    c[np.maximum.accumulate(np.abs(c)[::-1], axis=0)[::-1] <= _NOISE] = 0.0
    i = np.argmin(at_places @ c, axis=0)
    left, right = places[np.maximum(i - 1, 0)], places[np.minimum(i + 1, _PLACES - 1)]
    return np.where(size > 0, _root(c, left, right), 0.0)


def _root(c: Array, left: Array, right: Array) -> Array:
    """Where each slope changes its sign between left and right, or the end that it falls towards.

    By Newton's steps, or halvings where these lead out.
    """
    derive = _derivative()
    slope = derive @ c
    both = np.stack([slope, derive @ slope])
    falls, rises = _values(slope, right) <= 0, _values(slope, left) >= 0
    left, right = np.where(falls, right, left), np.where(rises & ~falls, left, right)
    at = (left + right) / 2
    for _ in range(_HALVINGS):
        height, curvature = _values(both, at)
        rising = height > 0
        left, right = np.where(rising, left, at), np.where(rising, at, right)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = at - height / curvature
        inside = (left < step) & (step < right)
        before, at = at, np.where(inside, step, (left + right) / 2)
        if (np.abs(at - before) <= _SETTLED).all():
            break
    return at


def _values(c: Array, at: Array) -> Array:
    """Of polynomials with coefficients c (..., 16, k), at a place each: T_j(cos v) = cos(j v)."""
    degrees = np.arange(float(_NODES))[:, None]
    return np.asarray((c * np.cos(degrees * np.arccos(at))).sum(axis=-2))


@cache
def _matrices() -> tuple[Array, Array, Array]:
    """From values at the nodes to coefficients; places; from coefficients to values there."""
    to_coefficients = np.array(chebyshev.chebvander(nodes(), _NODES - 1).T * (2.0 / _NODES))
    to_coefficients[0] /= 2.0
    places = np.asarray(-chebyshev.chebpts2(_PLACES)[::-1])
    places[0], places[-1] = -1.0, 1.0
    return to_coefficients, places, np.asarray(chebyshev.chebvander(places, _NODES - 1))


@cache
def _derivative() -> Array:
    """From the coefficients of a polynomial to those of its slope, (16, 16)."""
    derive = np.zeros((_NODES, _NODES))
    derive[:-1] = chebyshev.chebder(np.eye(_NODES))
    return derive
