"""How many mistakes a perceptron can make: the bound, and the hyperplane that makes it smallest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from adaline.certificates import mistakes
from adaline.certificates.mistakes import MistakeBound
from adaline.estimators.separation.two_classes import two_classes
from adaline.parameters import FLAG, is_sparse
from adaline.procedures.max_margin import max_margin


def mistake_bound(
    X: Any,
    y: Any,
    w: ArrayLike | None = None,
    b: float | None = None,
    *,
    fit_intercept: bool = True,
) -> MistakeBound:
    """How often the perceptron can be wrong at most, on classes that a hyperplane separates.

    Lecture 002, convergence of the perceptron: N <= beta/D^2, and sharper N <= (R/gamma)^2, for any
    order of the samples, any constant eta and any number of passes, from w = 0. Any separating
    hyperplane (w, b) gives a bound; without one the smallest is given, from the hyperplane of
    largest margin. The bias is a weight whose input is 1, in the margin as in R: so that it is
    the largest margin of the rows (x, 1) through the origin.

    Parameters
    ----------
    X : array-like or CSR of shape (n, p)
    y : array-like of shape (n,)
        Two labels; the larger one is on the positive side, as in `Perceptron`.
    w : array-like of shape (p,), optional
        Weights of a separating hyperplane; the best are looked for by default.
    b : float, optional
        Its bias; None with a w is for a learner without one (fit_intercept=False).
    fit_intercept : bool, default=True
        Whether the learner has a bias. Asked only where no w is given.

    Returns
    -------
    MistakeBound
        `lecture` and `sharp`, the two bounds, with `D` and `R`.

    Raises
    ------
    ValueError
        Where (w, b) does not separate, or no hyperplane with a margin above rounding was found.

    Examples
    --------
    >>> from adaline import mistake_bound
    >>> X = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]]  # lecture 002: modified OR
    >>> bound = mistake_bound(X, [-1, 1, 1, 1], w=[1, 1, -1])
    >>> round(bound.lecture, 9), round(bound.sharp, 9)
    (36.0, 9.0)
    >>> best = mistake_bound(X, [-1, 1, 1, 1], fit_intercept=False)  # no hyperplane does better
    >>> round(best.sharp, 9)
    9.0
    """
    FLAG("fit_intercept", fit_intercept)
    if w is not None:
        return mistakes.mistake_bound(X, y, w, b)
    if b is not None:
        raise ValueError(f"b is {b!r} without a w; give both, or neither for the best hyperplane.")
    X, t, _, _ = two_classes(X, y)
    if fit_intercept:
        one = np.ones((X.shape[0], 1), dtype=X.dtype)
        sparse_one = sparse.csr_array(one)
        X = sparse.hstack([X, sparse_one]).tocsr() if is_sparse(X) else np.hstack([X, one])
    best = max_margin(X, t, bias=False, tol=1e-9, max_iter=10_000)
    if not best.lower > 0.0:
        raise ValueError(
            "no hyperplane with a margin above rounding was found, so there is no bound: the "
            "classes overlap, touch, or are closer than rounding can tell. Ask `separability`."
        )
    return mistakes.mistake_bound(X, t, best.w)
