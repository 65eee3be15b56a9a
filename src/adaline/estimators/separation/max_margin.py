"""The hyperplane farthest from both classes, and the proven interval of its margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.separation.two_classes import two_classes
from adaline.parameters import COUNT, FLAG, number
from adaline.procedures import max_margin as procedure
from adaline.results import Array, Certificate, Result

CLOSE = 1e-6  # relative width up to which the interval counts as one number


@dataclass(frozen=True, eq=False)
class MaxMargin(Result):
    """The hyperplane w'x + b = 0 of largest margin, and where the classes' hulls are nearest.

    Attributes
    ----------
    w, b : ndarray of shape (p,) and float
        w has length one, so that w'x + b is a distance; positive on the side of `classes[1]`.
        w/margin and b/margin are the canonical ones, with the closest samples at ±1.
    margin : float
        Distance of the hyperplane (w, b) from the closest sample.
    lower, upper : float
        The largest margin that any hyperplane has is proven to lie between them, rounding counted.
        Where data are far from the origin, b itself may be rounded by more than this interval.
    positive, negative : ndarray of shape (p,)
        The points of the hulls of `classes[1]` and `classes[0]` nearest to each other, 2 margin
        apart. Without a bias: the two parts of the shortest convex combination of the rows t x.
    support : ndarray of shape (m,)
        Rows of X those points are combinations of.
    weights : ndarray of shape (m,)
        Their weights, with sum one in each class (without a bias: in both together).
    classes : ndarray of shape (2,)
    certificate : Certificate
        "optimal", with lower and upper as evidence; "separable" where rounding keeps them more
        than 1e-6 of the margin apart.
    n_iter : int
        Passes over the samples.
    """

    w: Array
    b: float
    margin: float
    lower: float
    upper: float
    positive: Array
    negative: Array
    support: NDArray[np.int64]
    weights: Array
    classes: NDArray[Any]
    certificate: Certificate
    n_iter: int


def max_margin(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-12,
    max_iter: int = 10_000,
) -> MaxMargin:
    """The hyperplane between two separable classes that is farthest from both.

    It is what a support vector machine with a linear kernel and C = infinity looks for, found
    exactly to rounding by Wolfe's algorithm for the nearest points of the two convex hulls.
    Of all separating hyperplanes it gives the perceptron the smallest `mistake_bound`, apart from
    the bias's share in it. The margin is a length: it depends on the columns' units. Where it is
    below about 1e-7 of the data's extent, rounding may leave a wide interval.

    Parameters
    ----------
    X : array-like or CSR of shape (n, p)
    y : array-like of shape (n,)
        Two labels; the larger one is on the positive side.
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero are left out; other weights change nothing.
    fit_intercept : bool, default=True
        False: the best hyperplane through the origin.
    tol : float, default=1e-12
        Relative width of the interval to stop at; rounding may stop it before.
    max_iter : int, default=10000
        Passes over the samples at most.

    Returns
    -------
    MaxMargin

    Raises
    ------
    ValueError
        Where no hyperplane with a margin above rounding was found: `separability` tells whether
        there is none.

    Examples
    --------
    >>> from adaline import max_margin
    >>> found = max_margin([[6, 9], [5, 7], [5, 9], [0, 10]], [+1, +1, -1, -1])
    >>> found.w.round(4), round(found.b, 4), round(found.margin, 4)
    (array([ 0.8944, -0.4472]), -0.8944, 0.4472)
    >>> found.positive, found.negative, found.support
    (array([5.8, 8.6]), array([5., 9.]), array([0, 1, 2]))
    >>> found.upper - found.lower < 1e-14
    True
    """
    FLAG("fit_intercept", fit_intercept)
    number(0.0, 1.0, below=True)("tol", tol)
    COUNT("max_iter", max_iter)
    X, t, classes, numbers = two_classes(X, y, sample_weight)
    hulls = procedure.max_margin(
        X, t, bias=bool(fit_intercept), tol=float(tol), max_iter=int(max_iter)
    )
    if not hulls.lower > 0.0:  # what is not proven is not said
        known = f"no hyperplane has a margin above {hulls.upper:.3g}, and none with any was found"
        if hulls.stopped == "iterations":
            raise ValueError(f"{known} in {hulls.iterations} passes; give a larger max_iter.")
        raise ValueError(
            f"{known}: the classes overlap, touch, or are closer than rounding can tell. Ask "
            "`separability`, whose verdicts are exact."
        )
    same = {name: getattr(hulls, name) for name in ("w", "b", "margin", "lower", "upper")}
    return MaxMargin(
        **same,
        positive=hulls.positive,
        negative=hulls.negative,
        support=numbers[hulls.support],
        weights=hulls.weights,
        classes=classes,
        certificate=certify(hulls, len(t)),
        n_iter=hulls.iterations,
    )


def certify(hulls: procedure.Hulls, n: int) -> Certificate:
    """How well the margin is known; that the classes are separable, where it is not."""
    lower, upper = hulls.lower, hulls.upper
    gap = (upper - lower) / upper if np.isfinite(upper) else 1.0
    between = (
        f"the largest margin lies between {lower:.9g} and {upper:.9g}, {gap:.1e} of "
        f"it apart; {len(hulls.support)} of {n} samples decide it."
    )
    evidence = {"lower": lower, "upper": upper, "gap": gap, "samples": n}
    if gap <= CLOSE:
        return Certificate("optimal", between, evidence)
    return Certificate("separable", f"the hyperplane separates; {between}", evidence)
