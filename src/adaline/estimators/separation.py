"""Separating hyperplanes: whether there is one, the one of largest margin, and the mistake bound.

Public functions; `play` and the command call them too. The proofs are made in
`procedures.separability`, `procedures.max_margin` and `certificates.margins`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adaline.certificates import margins
from adaline.certificates.margins import MistakeBound
from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.separation.separation import Separability
from adaline.errors import SeparableError, plural
from adaline.parameters import COUNT, FLAG, NONE, NOT_NEGATIVE, is_sparse, number
from adaline.procedures.max_margin import max_margin as find_hulls
from adaline.procedures.separability import decide_data, start_clock
from adaline.results import Array, Certificate, Kind, NewtonFit, Result

ADVICE = (
    "Maximum likelihood (alpha=0) has no finite weights here. Give alpha > 0, or alpha='firth' for "
    "Firth's penalty, which is finite on any data."
)
UNKNOWN = ": the classes overlap, touch, or are closer than rounding can tell. Ask `separability`."


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
    quasi-separable in between. More classes: the same for a linear machine. The verdict is about
    the float64 numbers as they are, without any tolerance.

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

    Examples
    --------
    >>> from adaline import separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separability(X, ["no", "no", "no", "yes"]).verdict
    'separable'
    >>> xor = separability(X, ["no", "yes", "yes", "no"])
    >>> xor.verdict, bool(xor.check(X, ["no", "yes", "yes", "no"]))
    ('overlapping', True)
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
        Proven bounds on the largest margin that any hyperplane has, rounding included.
    positive, negative : ndarray of shape (p,)
        The nearest points of the hulls of `classes[1]` and `classes[0]`. Without a bias: the two
        parts of the shortest convex combination of the rows t x.
    support, weights : ndarray of shape (m,)
        Rows of X those points are combinations of, and their weights, with sum one in each class
        (without a bias: in both together).
    classes : ndarray of shape (2,)
    certificate : Certificate
        "optimal"; "separable" where lower and upper are more than 1e-6 of the margin apart.
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

    It is that of a support vector machine with C = infinity, found by Wolfe's algorithm for the
    nearest points of two convex hulls. ValueError where no margin above rounding was found.

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
    >>> best.w.round(4), round(best.b, 4), round(best.margin, 4), best.support
    (array([ 0.8944, -0.4472]), -0.8944, 0.4472, array([0, 1, 2]))
    """
    FLAG("fit_intercept", fit_intercept)
    number(0.0, 1.0, below=True)("tol", tol)
    COUNT("max_iter", max_iter)
    data, t = two_classes(X, y, sample_weight)
    hulls = find_hulls(data.X, t, bias=bool(fit_intercept), tol=float(tol), max_iter=int(max_iter))
    lower, upper, n = hulls.lower, hulls.upper, len(t)
    if not lower > 0.0:  # only a proven margin is returned
        bound = f"no hyperplane has a margin above {upper:.3g}, and none with any was found"
        if hulls.stopped == "iterations":
            raise ValueError(f"{bound} in {hulls.iterations} passes; give a larger max_iter.")
        raise ValueError(f"{bound}{UNKNOWN}")
    gap = (upper - lower) / upper if np.isfinite(upper) else 1.0
    interval = (
        f"the largest margin lies between {lower:.9g} and {upper:.9g}, {gap:.1e} of it apart; "
        f"{len(hulls.support)} of {n} samples decide it."
    )
    # An interval of less than a millionth is read as one number (any small number).
    kind: Kind = "separable" if gap > 1e-6 else "optimal"
    statement = f"the hyperplane separates; {interval}" if gap > 1e-6 else interval
    evidence = {"lower": lower, "upper": upper, "gap": gap, "samples": n}
    shared = "w", "b", "margin", "lower", "upper", "positive", "negative", "weights"
    more: Any = {name: getattr(hulls, name) for name in shared}
    more |= {"support": data.numbers[hulls.support], "classes": np.array(data.labels)}
    certificate = Certificate(kind, statement, evidence)
    return MaxMargin(**more, certificate=certificate, n_iter=hulls.iterations)


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
    order of the samples, any constant eta and any number of passes, from w = 0. The bias is a
    weight whose input is 1. ValueError where (w, b) does not separate, or no hyperplane was found.

    Parameters
    ----------
    X, y : array-like or CSR of shape (n, p), and two labels, the larger one on the positive side
    w, b : array-like of shape (p,), and float, optional
        A separating hyperplane; without b, of a learner without bias. By default that of largest
        margin, which gives the smallest bound.
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
    """
    FLAG("fit_intercept", fit_intercept)
    if w is not None:
        return margins.mistake_bound(X, y, w, b)
    if b is not None:
        raise ValueError(f"b is {b!r} without a w; give both, or neither for the best hyperplane.")
    data, t = two_classes(X, y)
    X, ones = data.X, np.ones((len(t), int(fit_intercept)))
    X = sparse.hstack([X, sparse.csr_array(ones)]).tocsr() if is_sparse(X) else np.hstack([X, ones])
    best = find_hulls(X, t, bias=False, tol=1e-9, max_iter=10_000)
    if not best.lower > 0.0:
        raise ValueError(f"no hyperplane was found, so there is no bound{UNKNOWN}")
    return margins.mistake_bound(X, t, best.w)


def two_classes(X: Any, y: Any, sample_weight: Any = None) -> tuple[Data, Array]:
    data = Data.of(X, y, sample_weight)
    if len(data.labels) != 2:
        known = list(data.labels)
        raise ValueError(f"y has {len(known)} classes {known}; a hyperplane lies between two.")
    return data, np.where(data.codes == 1, 1.0, -1.0)


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
    X, *labels_and_places = rows
    data = Data(as_float64(X), *labels_and_places)
    decision = decide_data(data, intercept, time_limit=30.0)
    verdict, lead = decision.verdict, f"are {decision.verdict}"
    grows = fit.outcome in ("separated", "quasi")  # weights, in Newton's steps
    if verdict == "overlapping" and grows:
        stopped = (
            "the classes overlap, so a maximum exists, but so far out that rounding hides it "
            f"({plural(fit.steps, 'step')})."
        )
        return replace(fit, stopped=stopped)
    if verdict == "overlapping" or (verdict == "undecided" and not grows):
        return fit
    if verdict == "undecided":
        steps = plural(fit.steps, "step")
        lead = f"look separable, at least but for ties: after {steps} weights still grow"
    elif verdict == "quasi-separable" and len(decision.labels) == 2:
        lead = "touch"
    strength = np.abs(fit.theta[:, :-1]).max(axis=0)
    if decision.weights:  # columns that the proof needs no weight of do not separate
        s = int(decision.fit_intercept)
        strength = strength * np.array([any(w) for w in zip(*decision.weights, strict=True)][s:])
    along = ", ".join(names[j] for j in np.argsort(-strength)[:3] if strength[j] > 0)
    mostly = f"Columns with the largest weights: {along or 'none, but the intercept'}."
    raise SeparableError(f"the classes {lead}: {decision.explain(names)} {mostly} {ADVICE}")
