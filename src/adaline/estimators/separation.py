"""Separating hyperplanes: whether there is one, the one of largest margin, and the mistake bound.

Public functions; `play` and the command call them too. The proofs are made in
`procedures.separability`, `procedures.max_margin` and `certificates.mistakes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adaline import parameters
from adaline.certificates import mistakes
from adaline.certificates.mistakes import MistakeBound
from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.separation.separation import Separability
from adaline.errors import SeparableError, plural
from adaline.estimators.base import checked_rows
from adaline.estimators.labels import check_labels, encode
from adaline.parameters import COUNT, FLAG, NONE, NOT_NEGATIVE, is_sparse, number
from adaline.procedures.max_margin import Hulls
from adaline.procedures.max_margin import max_margin as find_hulls
from adaline.procedures.separability import decide_data, start_clock
from adaline.results import Array, Certificate, NewtonFit, Result
from adaline.sums.rows import check_finite

SECONDS_TO_SEPARATE = 30.0  # of the decision whether a likelihood has a maximum
ADVICE = (
    "Maximum likelihood (alpha=0) has no finite weights here. Give alpha > 0, or alpha='firth' for "
    "Firth's penalty, which is finite on any data."
)
KNOWN_WIDTH = 1e-6  # relative width of an interval that is read as one number (any small number)


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
    b_own > w_j'x + b_j for every other class j. The verdict is about the float64 numbers as they
    are, without any tolerance; what `time_limit` does not suffice for is "undecided".

    Parameters
    ----------
    X, y : array-like or sparse matrix of shape (n, p), and labels of two classes or more
    fit_intercept : bool
        Whether the hyperplane may miss the origin.
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero do not count; other weights make no difference.
    pairwise : bool
        With more than two classes, decide every pair of them, too.
    time_limit : float, optional
        CPU seconds of this thread, compilation excluded, after which the answer is "undecided".

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


@dataclass(frozen=True, eq=False)
class MaxMargin(Result):
    """The hyperplane w'x + b = 0 of largest margin, and where the classes' hulls are nearest.

    Attributes
    ----------
    w, b : ndarray of shape (p,) and float
        w has length one, so that w'x + b is a distance; positive on the side of `classes[1]`.
    margin : float
        Distance of the hyperplane (w, b) from the closest sample.
    lower, upper : float
        Proven bounds on the largest margin that any hyperplane has, rounding included. Where data
        are far from the origin, b itself may be rounded by more than this interval.
    positive, negative : ndarray of shape (p,)
        The points of the hulls of `classes[1]` and `classes[0]` nearest to each other, 2 margin
        apart. Without a bias: the two parts of the shortest convex combination of the rows t x.
    support : ndarray of shape (m,)
        Rows of X those points are combinations of.
    weights : ndarray of shape (m,)
        Their weights, with sum one in each class (without a bias: in both together).
    classes : ndarray of shape (2,)
    certificate : Certificate
        "optimal", with lower and upper as evidence; "separable" where they are more than 1e-6 of
        the margin apart.
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
    exactly to rounding by Wolfe's algorithm for the nearest points of the two convex hulls. Of all
    separating hyperplanes it gives the perceptron the smallest `mistake_bound`, apart from the
    bias's share in it. ValueError where no margin above rounding was found.

    Parameters
    ----------
    X, y : array-like or CSR of shape (n, p), and two labels, the larger one on the positive side
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero are left out; other weights change nothing.
    fit_intercept : bool, default=True
        False: the best hyperplane through the origin.
    tol : float, default=1e-12
        Relative width of the interval to stop at; rounding may stop it before.
    max_iter : int, default=10000
        Maximum number of passes over the samples.

    Examples
    --------
    >>> from adaline import max_margin
    >>> best = max_margin([[6, 9], [5, 7], [5, 9], [0, 10]], [+1, +1, -1, -1])
    >>> best.w.round(4), round(best.b, 4), round(best.margin, 4)
    (array([ 0.8944, -0.4472]), -0.8944, 0.4472)
    >>> best.positive, best.negative, best.support
    (array([5.8, 8.6]), array([5., 9.]), array([0, 1, 2]))
    >>> best.upper - best.lower < 1e-14
    True
    """
    FLAG("fit_intercept", fit_intercept)
    number(0.0, 1.0, below=True)("tol", tol)
    COUNT("max_iter", max_iter)
    X, t, classes, numbers = two_classes(X, y, sample_weight)
    hulls = find_hulls(X, t, bias=bool(fit_intercept), tol=float(tol), max_iter=int(max_iter))
    if not hulls.lower > 0.0:  # only a proven margin is returned
        bound = f"no hyperplane has a margin above {hulls.upper:.3g}, and none with any was found"
        if hulls.stopped == "iterations":
            raise ValueError(f"{bound} in {hulls.iterations} passes; give a larger max_iter.")
        raise ValueError(
            f"{bound}: the classes overlap, touch, or are closer than rounding can tell. Ask "
            "`separability`, whose verdicts are exact."
        )
    shared = "w", "b", "margin", "lower", "upper", "positive", "negative", "weights"
    return MaxMargin(
        **{name: getattr(hulls, name) for name in shared},
        support=numbers[hulls.support],
        classes=classes,
        certificate=certify_margin(hulls, len(t)),
        n_iter=hulls.iterations,
    )


def certify_margin(hulls: Hulls, n: int) -> Certificate:
    """How well the margin is known; else only that the classes are separable."""
    lower, upper = hulls.lower, hulls.upper
    gap = (upper - lower) / upper if np.isfinite(upper) else 1.0
    interval = (
        f"the largest margin lies between {lower:.9g} and {upper:.9g}, {gap:.1e} of "
        f"it apart; {len(hulls.support)} of {n} samples decide it."
    )
    evidence = {"lower": lower, "upper": upper, "gap": gap, "samples": n}
    if gap <= KNOWN_WIDTH:
        return Certificate("optimal", interval, evidence)
    return Certificate("separable", f"the hyperplane separates; {interval}", evidence)


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
    largest margin. The bias is a weight whose input is 1, in the margin as in R. ValueError where
    (w, b) does not separate, or no hyperplane with a margin above rounding was found.

    Parameters
    ----------
    X, y : array-like or CSR of shape (n, p), and two labels, the larger one on the positive side
    w, b : array-like of shape (p,), and float, optional
        A separating hyperplane; without b, of a learner without bias.
    fit_intercept : bool, default=True
        Whether the learner has a bias. Used only where no w is given.

    Returns
    -------
    MistakeBound
        `lecture` and `sharp`, the two bounds, with `D` and `R`.

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
        ones = np.ones((X.shape[0], 1), dtype=X.dtype)
        with_ones = [X, sparse.csr_array(ones)] if is_sparse(X) else [X, ones]
        X = sparse.hstack(with_ones).tocsr() if is_sparse(X) else np.hstack(with_ones)
    best = find_hulls(X, t, bias=False, tol=1e-9, max_iter=10_000)
    if not best.lower > 0.0:
        raise ValueError(
            "no hyperplane with a margin above rounding was found, so there is no bound: the "
            "classes overlap, touch, or are closer than rounding can tell. Ask `separability`."
        )
    return mistakes.mistake_bound(X, t, best.w)


def two_classes(
    X: Any, y: Any, sample_weight: Any = None
) -> tuple[Any, Array, NDArray[Any], NDArray[np.int64]]:
    """(X, targets -1 or +1, the two labels, row numbers) of the rows of positive weight.

    X becomes dense or CSR of floats, finite; the larger label is +1.
    """
    X = checked_rows(None, X)
    check_finite(X)
    classes, codes = encode(check_labels(y, X.shape[0]), None)
    numbers = np.arange(X.shape[0])
    omega = parameters.weights_of("sample_weight", sample_weight, X.shape[0])
    if omega is not None:
        numbers = np.flatnonzero(omega)
        X, codes = X[numbers], codes[numbers]
    present = np.unique(codes)
    if len(present) != 2:
        raise ValueError(
            f"y has {len(present)} classes {classes[present].tolist()}; a hyperplane lies between "
            "two. Take two of them, or one against the rest."
        )
    return X, np.where(codes == present[1], 1.0, -1.0), classes[present], numbers


def refuse_separable(
    rows: tuple[Any, Any, tuple[Any, ...], Any], fit: NewtonFit, intercept: bool, names: list[str]
) -> NewtonFit:
    """The fit, if the likelihood has a maximum at all; SeparableError where not.

    Rows are X, codes, labels, and places in the rows given. There is a maximum where the classes
    overlap; where they are separable, or touch, the likelihood grows for ever along some direction
    (Albert and Anderson, 1984). A proven optimum proves that there is one.
    """
    if fit.certificate.kind == "optimal" or fit.outcome == "interrupted":
        return fit
    X, codes, labels, places = rows
    data = Data(as_float64(X), codes, labels, places)
    decision = decide_data(data, intercept, SECONDS_TO_SEPARATE)
    if error := separable_error(decision, fit, names):
        raise error
    if fit.outcome in ("separated", "quasi"):
        stopped = (
            "the classes overlap, so a maximum exists, but so far out that rounding hides it "
            f"({plural(fit.steps, 'step')})."
        )
        return replace(fit, stopped=stopped)
    return fit


def separable_error(
    decision: Separability, fit: NewtonFit, names: list[str]
) -> SeparableError | None:
    """The error for classes that are separable or touch, or seem to; None where they overlap."""
    verdict = decision.verdict
    seems_separable = fit.outcome in ("separated", "quasi")
    if verdict == "overlapping" or (verdict == "undecided" and not seems_separable):
        return None
    strength = np.abs(fit.theta[:, :-1]).max(axis=0)
    if decision.weights:  # columns that the proof needs no weight of do not separate
        s = int(decision.fit_intercept)
        strength = strength * np.array([any(w) for w in zip(*decision.weights, strict=True)][s:])
    along = ", ".join(names[j] for j in np.argsort(-strength)[:3] if strength[j] > 0)
    lead = f"are {verdict}"
    if verdict == "undecided":
        steps = plural(fit.steps, "step")
        lead = f"look separable, at least but for ties: after {steps} weights still grow"
    elif verdict == "quasi-separable" and len(decision.labels) == 2:
        lead = "touch"
    mostly = f"They are told apart mostly by {along or 'the intercept'}."
    return SeparableError(f"the classes {lead}: {decision.explain(names)} {mostly} {ADVICE}")
