"""Rows dealt out by a hash of their places, such that a seed decides for each row by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.parameters import ParameterError, array

Index = NDArray[np.int64]
_GOLDEN, _A, _B = (
    np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def hashed(places: Any, seed: int) -> NDArray[np.uint64]:
    """A number for each place that looks random; the seed decides which."""
    start = mixed(np.uint64(int(seed) % 2**64))
    with np.errstate(over="ignore"):
        return np.asarray(mixed(start + np.asarray(places).astype(np.uint64)))


def mixed(x: Any) -> Any:
    """Vigna's splitmix64: every bit of x moves half of the bits of the answer."""
    with np.errstate(over="ignore"):
        x = x + _GOLDEN
        x = (x ^ (x >> np.uint64(30))) * _A
        x = (x ^ (x >> np.uint64(27))) * _B
        return x ^ (x >> np.uint64(31))


def codes_of(name: str, values: Any, n: int) -> Index:
    """The place of each value among the different ones, sorted."""
    found = array(name, values)
    if found.shape != (n,):
        raise ParameterError(f"{name} has shape {found.shape}; expected one for each of {n} rows.")
    if found.dtype.kind == "O":
        gone = any(v is None or v != v for v in found.tolist())
        found = np.array(found.tolist()) if not gone else found
        found = found.astype(str) if found.dtype.kind == "O" and not gone else found
    if (found.dtype.kind in "OfmM" and np.any(found != found)) or found.dtype.kind == "O":
        raise ParameterError(f"{name} has missing values; fill them in, or leave their rows out.")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def sizes_of(y: NDArray[Any]) -> tuple[Index, bool]:
    """Rows by class or by size, and whether they are few enough different ones to be classes."""
    codes = codes_of("y", y if y.ndim == 1 else y[:, 0], len(y))
    return codes, bool(y.ndim == 1 and 3 * (int(codes.max()) + 1) <= len(y))


def in_hands(y: NDArray[Any], drawn: NDArray[np.uint64], k: int) -> Index:
    """Rows sorted by class or size; the hash decides within a class, or within k neighbours."""
    codes, classes = sizes_of(y)
    order = np.lexsort((drawn, codes))
    if classes:
        return order
    return order[np.lexsort((drawn[order], np.arange(len(y)) // k))]


def share_out(y: Any, share: float, *, places: Any = None, seed: int = 0) -> NDArray[np.bool_]:
    """Which rows to hold out so that each class, or small and large numbers, keep their share.

    Examples
    --------
    >>> y = ["rare"] * 10 + ["common"] * 90
    >>> out = share_out(y, 0.2)
    >>> int(out[:10].sum()), int(out[10:].sum())
    (2, 18)
    """
    truth = array("y", y)
    n = len(truth)
    drawn = hashed(np.arange(n) if places is None else places, seed)
    order = in_hands(truth, drawn, max(math.ceil(1 / share), 1)) if share else np.arange(n)
    # Numbers of rows, rounded as they add up: of every class its share, but for one row.
    steps = np.floor((np.arange(n) + 1) * share + 0.5) - np.floor(np.arange(n) * share + 0.5)
    out = np.zeros(n, dtype=bool)
    out[order] = steps > 0
    return out


def held_out(piece: int, rows: int, seed: int, share: float) -> NDArray[np.bool_]:
    """Which rows of a piece are held out: a hash of the seed, the piece and the row decides.

    So every row is decided by itself, in any order and any process, and the same file gives the
    same rows.

    >>> held_out(0, 10_000, seed=0, share=0.2).mean().round(2)
    np.float64(0.2)
    """
    start = mixed(mixed(np.uint64(seed % 2**64)) ^ np.uint64(piece))
    with np.errstate(over="ignore"):
        drawn = mixed(start + np.arange(rows, dtype=np.uint64))
    return np.asarray((drawn >> np.uint64(11)) * 2.0**-53 < share)
