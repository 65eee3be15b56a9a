"""`separability`: is there a hyperplane between the classes? A verdict with a proof."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from adaline.certificates.separation.data import Data
from adaline.certificates.separation.separation import Separability
from adaline.parameters import FLAG, NONE, NOT_NEGATIVE
from adaline.procedures.separability import decide_data, start_clock


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    pairwise: bool = True,
    time_limit: float | None = None,
) -> Separability:
    """Whether linear boundaries separate classes, with a proof that anyone can check in integers.

    Lecture: linear discriminants. Two classes are separable where some w, b have t (w'x + b) > 0
    for every row (t = ±1), overlapping where t (w'x + b) >= 0 everywhere leaves only zeros, and
    quasi-separable in between: they touch. More classes: the same for a linear machine, w_own'x +
    b_own > w_j'x + b_j for every other class j; there, quasi-separable classes may overlap in part.

    The verdict is about the float64 numbers as they are. No tolerance is involved, at any scale
    and any margin; what cannot be decided within `time_limit` is "undecided", never guessed.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
        Labels: strings, integers or booleans, two classes or more.
    fit_intercept : bool
        Whether the hyperplane may miss the origin.
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero do not count; other weights make no difference.
    pairwise : bool
        With more than two classes, decide each two of them, too.
    time_limit : float, optional
        Seconds after which to answer "undecided". They are CPU seconds of this thread, without
        compiling, so that the same data get the same answer on a busy machine.

    Returns
    -------
    Separability
        Frozen: `verdict`, `margin`, the proof, `explain()`, `check(X, y)`, `to_json()`.

    Examples
    --------
    >>> from adaline import separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separability(X, ["no", "no", "no", "yes"]).verdict
    'separable'
    >>> xor = separability(X, ["no", "yes", "yes", "no"])
    >>> print(xor)
    overlapping: rows 0, 1, 2 and 3, each times its label's sign and the positive weights
    1, 1, 1, 1, sum to zero, so no hyperplane can have them all on its right side. Even if rows may
    lie on the boundary, no boundary works, except one that every row lies on.
    >>> bool(xor.check(X, ["no", "yes", "yes", "no"]))
    True
    """
    FLAG("fit_intercept", fit_intercept)
    FLAG("pairwise", pairwise)
    (NOT_NEGATIVE | NONE)("time_limit", time_limit)
    end = start_clock(time_limit)
    data = Data.of(X, y, sample_weight)
    proof = decide_data(data, bool(fit_intercept), time_limit, deadline=end)
    if len(data.labels) == 2 or not pairwise:
        return proof
    parts = {
        (a, b): decide_data(data.only(a, b), bool(fit_intercept), time_limit, True, end)
        for a, b in combinations(data.labels, 2)
    }
    return replace(proof, pairwise=parts)
