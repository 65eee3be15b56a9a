"""How large a step is: learning rates as functions of the samples (or passes) seen so far.

Sequential learners count samples, batch learners passes; the count starts at n = 0 and travels with
the state, so that a stream cut into blocks has the rates of one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.kernels import codes
from adaline.parameters import FLAG, POSITIVE, ParameterError, is_number, is_sparse, shown
from adaline.results import Array, Result
from adaline.sums.rows import as_rows, check_finite

Code = tuple[int, float, float]


class Rate:
    """Base class of schedules, whose fields are positive numbers."""

    kind: ClassVar[int]

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not POSITIVE.takes(value):
                raise ParameterError(
                    f"{name} is {shown(value)}; a rate must be a finite number above zero."
                )

    def __call__(self, start: int, count: int) -> Array:
        """The rates of samples start, start + 1, ..., of which there are count."""
        return self.at(np.arange(start, start + count, dtype=np.float64))

    def at(self, n: Array) -> Array:
        """The rates of these samples."""
        raise NotImplementedError  # pragma: no cover

    def code(self) -> Code:
        """The schedule for kernels: its kind and two numbers."""
        numbers = [float(value) for value in vars(self).values()] or [1.0]
        first, second = [*numbers, 0.0][:2]
        return self.kind, first, second


@dataclass(frozen=True)
class Constant(Rate):
    """The same step always: eta(n) = eta. The perceptron's fixed increment, and plain LMS.

    Parameters
    ----------
    eta : float

    Examples
    --------
    >>> from adaline import Constant
    >>> Constant(0.5)(0, 3)
    array([0.5, 0.5, 0.5])
    """

    eta: float
    kind: ClassVar = codes.CONSTANT

    def at(self, n: Array) -> Array:
        return np.full(len(n), float(self.eta))


@dataclass(frozen=True)
class OverK(Rate):
    """Steps that force convergence: eta(k) = eta1 / k, k = 1, 2, ...

    Lecture: the perceptron criterion and the Widrow-Hoff procedure. k counts samples in sequential
    learning and passes in batch learning.

    Parameters
    ----------
    eta1 : float
        The first step.

    Examples
    --------
    >>> from adaline import OverK
    >>> OverK(1.0)(0, 4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """

    eta1: float
    kind: ClassVar = codes.OVER_K

    def at(self, n: Array) -> Array:
        return np.asarray(self.eta1 / (n + 1.0))


@dataclass(frozen=True)
class SearchThenConverge(Rate):
    """Search with large steps, then settle: eta(n) = eta0 / (1 + n / tau), n = 0, 1, ...

    Lecture: the LMS algorithm in a stationary environment.

    Parameters
    ----------
    eta0, tau : float
        First step, and the number of samples (passes, in batch learning) until it has halved.

    Examples
    --------
    >>> from adaline import SearchThenConverge
    >>> SearchThenConverge(eta0=1.0, tau=100.0)(0, 3).round(3)
    array([1.  , 0.99, 0.98])
    """

    eta0: float
    tau: float
    kind: ClassVar = codes.SEARCH_THEN_CONVERGE

    def at(self, n: Array) -> Array:
        return np.asarray(self.eta0 / (1.0 + n / self.tau))


@dataclass(frozen=True)
class Auto(Rate):
    """Rates estimated while learning, feature by feature; `eta="auto"` is the same.

    One sample at a time: features are measured in units of their running root mean square where
    they are not zero, so that units do not matter; in these units the step is at most 1/|z|^2,
    which brings the sample's own error to zero and no further (so it cannot diverge). It searches
    with 1/mean(|z|^2), half the bound 2/tr[R], then converges: after 34 samples a feature
    it has halved. From 2 samples a feature on, predictions use an average of the weights, later
    ones counting more. Text, whose rows have m of many features, seldom gets there; until then the
    step of a word halves after 4 m samples that have it. All is a recursion, sample by sample.

    Batch: steps of Barzilai and Borwein in the same units, halved until the error does not grow.

    Examples
    --------
    >>> from adaline import Auto
    >>> Auto()
    Auto()
    """

    kind: ClassVar = codes.AUTO


@dataclass(frozen=True)
class Absolute(Rate):
    """Absolute error correction: the smallest whole eta with eta |x|^2 > |w'x|.

    After it the sample is on the correct side. `eta="absolute"` is the same.
    """

    kind: ClassVar = codes.ABSOLUTE


Schedule = Constant | OverK | SearchThenConverge | Auto | Absolute


def as_schedule(eta: Any) -> Schedule:
    """A number, "auto", "absolute" or a schedule, as a schedule.

    >>> as_schedule(0.1)
    Constant(eta=0.1)
    """
    if isinstance(eta, Constant | OverK | SearchThenConverge | Auto | Absolute):
        return eta
    if isinstance(eta, str) and eta in ("auto", "absolute"):
        return Auto() if eta == "auto" else Absolute()
    if is_number(eta):
        return Constant(float(eta))
    raise ParameterError(
        f"eta is {shown(eta)}; expected a positive number (finite and above zero), 'auto', "
        "'absolute' (perceptrons only), or a schedule: Constant, OverK, SearchThenConverge, Auto."
    )


@dataclass(frozen=True)
class StableRates(Result):
    """The lectures' bounds on eta for squared error, with R = X'X/N, the mean of x x'.

    Attributes
    ----------
    one_sample : float
        2/tr[R], for updates after every sample: eta e(n) x(n). It is the lecture's bound, for
        samples of about equal length; a third of it is safe for Gaussian samples of any kind.
    batch : float
        2/lambda_max(R), for updates after every pass by the mean gradient: eta/N sum e(n) x(n).
        It is sharper, and never smaller. For updates by the sum, as (5.19) of lecture 003
        has them, divide it by N: that is what 2/Trace[X'X] in its (5.20) means.
    """

    one_sample: float
    batch: float

    def __str__(self) -> str:
        return (
            f"one sample at a time: 0 < eta < 2/tr[R] = {self.one_sample:.4g}; batch, by the mean "
            f"gradient: 0 < eta < 2/lambda_max(R) = {self.batch:.4g}"
        )


def stable_rate(X: Any, fit_intercept: bool = True) -> StableRates:
    """Up to which learning rate LMS, and batch gradient descent, are stable on these samples.

    Parameters
    ----------
    X : array-like or CSR of shape (n, p)
    fit_intercept : bool, default=True
        Whether a bias, an input that is always 1, is learned too; it counts in R.

    Returns
    -------
    StableRates

    Examples
    --------
    >>> from adaline import stable_rate
    >>> rates = stable_rate([[3.0], [-3.0]], fit_intercept=False)
    >>> rates.one_sample == rates.batch == 2 / 9
    True
    """
    FLAG("fit_intercept", fit_intercept)
    X, _, _ = as_rows(X, None, None)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ParameterError(f"X has shape {X.shape}; the bound is an average over samples.")
    check_finite(X)
    trace = mean_square(X) + fit_intercept
    top = _largest_eigenvalue(X, fit_intercept)
    return StableRates(2.0 / trace if trace else np.inf, 2.0 / top if top else np.inf)


def mean_square(X: Any, omega: Array | None = None) -> float:
    """tr[R] without the bias: the average of x'x.

    >>> mean_square(np.array([[1.0, 1.0], [0.0, 2.0]]))
    3.0
    """
    with np.errstate(over="ignore"):
        if is_sparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        else:
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return float(np.average(squares, weights=omega))


def _largest_eigenvalue(X: Any, bias: bool) -> float:
    """lambda_max(R) by Lanczos' method (ARPACK), from products with X only."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # 0.1 s, for this function only

    n, p = X.shape
    # Powers of a matrix whose entries span decades: scale once so that squares stay in range.
    unit = float(np.abs(X.data if is_sparse(X) else X).max(initial=float(bias))) or 1.0
    one = float(bias) / unit
    if not bias and not (X.data if is_sparse(X) else X).any():
        return 0.0

    def multiply(u: Array) -> Array:
        v = np.asarray(X @ (u[:p] / unit)).ravel() + one * u[p]
        r: Array = np.append(np.asarray(X.T @ v).ravel() / unit, one * v.sum()) / n
        return r

    R = LinearOperator((p + 1, p + 1), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(p + 1)
    (top,) = eigsh(R, k=1, which="LA", v0=start, tol=1e-10, return_eigenvectors=False)
    return float(top) * unit * unit
