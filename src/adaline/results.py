"""Nouns that flow out of a fit: frozen, and no bolder than the evidence.

Procedures are generators of steps, so that fits, traces and Ctrl-C share one loop. A
step is (done, state): how many passes or steps are complete, and what can be read until the
procedure goes on. `done` rises only with a complete step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import update_wrapper
from html import escape
from textwrap import wrap
from typing import Any, Generic, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

Array = NDArray[np.float64]
Steps = Generator[tuple[int, Any], None, R]
Hear = Callable[[int, Any], None]  # gets each step

Kind = Literal[
    "exact",
    "accurate",
    "optimal",
    "separable",
    "overlapping",
    "quasi-separable",
    "unproven",
    "undecided",
]


_LINES, _COLUMNS, _ITEMS = 5, 88, 4  # of a repr, and of an array or a tuple in it


class Result:
    """What a prompt and a notebook show of an object: a few lines, and HTML.

    A class with a text (`__str__`) shows its beginning, others the names and values of fields.

    >>> from adaline import Interval
    >>> Interval(np.zeros(2), np.ones(9), 0.95, "a new value")
    Interval(low=(0, 0), high=array 9, level=0.95, of='a new value')
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__repr__ is Result.__repr__:
            # dataclass() writes its own __repr__ unless the class itself has one.
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        name, more = type(self).__name__, "..."
        if _has_text(self):
            text = f"{name}: {self}" if "\n" not in str(self) else f"{name}:\n{self}"
            more = f"... print() shows all {len(text.splitlines())} lines"
        else:
            text = f"{name}({', '.join(f'{key}={value}' for key, value in _shown_fields(self))})"
        lines = text.splitlines() if "\n" in text else wrap(text, _COLUMNS)
        lines = [_cut(line, 2 * _COLUMNS) for line in lines]
        return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], more])

    def _repr_html_(self) -> str:
        if _has_text(self):
            return f"<pre>{escape(str(self))}</pre>"
        rows = "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>"
            for key, value in _shown_fields(self)
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def _has_text(result: Any) -> bool:
    kind: Any = type(result)
    return kind.__str__ is not object.__str__


def _shown_fields(result: Any) -> list[tuple[str, str]]:
    names = [f.name for f in fields(result)] if is_dataclass(result) else list(vars(result))
    return [(key, _shown(getattr(result, key))) for key in names if not key.startswith("_")]


def _shown(value: Any) -> str:
    """A value in a few words: large arrays by their shape."""
    if isinstance(value, Result):
        return f"{type(value).__name__}(...)"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.6g}"
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        if len(shape) > 1 or shape[0] > _ITEMS or not isinstance(value, np.ndarray):
            noun = "array" if isinstance(value, np.ndarray) else type(value).__name__
            return f"{noun} {' x '.join(map(str, shape))}"
        value = value.tolist()
    if isinstance(value, tuple | list):
        if len(value) > _ITEMS:
            return f"{len(value)} items"
        return f"({', '.join(_shown(item) for item in value)})"
    if isinstance(value, Mapping) and value:
        return f"{len(value)} items: {_cut(', '.join(map(str, value)), 60)}"
    kind: Any = type(value)
    return kind.__name__ if kind.__repr__ is object.__repr__ else _cut(repr(value), 60)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(frozen=True, slots=True)
class Certificate(Result):
    """Evidence anyone can check without trusting the procedure that found the weights.

    Attributes
    ----------
    kind : str
        What is proven of `coef_` and `intercept_` as delivered, in float64 or, for float32
        samples, in float32:

        - "exact": correctly rounded. The exact solution for the given numbers lies less than half
          a step of the floating-point numbers from every coefficient and intercept, so that no
          other number of that dtype is closer to it.
        - "accurate": every coefficient (or all together) agrees with the exact solution to the
          number of digits that the statement says.
        - "optimal": the optimum is as close as the statement says, or these are it.
        - "separable"; "overlapping" (no hyperplane separates the classes); "quasi-separable"
          (none does, but one has no row on its wrong side).
        - "unproven" and "undecided" claim nothing.
    statement : str
        The claim in one sentence, no bolder than the evidence.
    evidence : mapping of str to number or array
        The numbers the statement rests on.
    """

    kind: Kind
    statement: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"


@dataclass(frozen=True, eq=False)
class Fit(Result):
    """K linear neurons v = W x + b side by side, how they were found, and the evidence.

    Attributes
    ----------
    W, b : ndarray of shape (K, p) and (K,)
        Weights and biases.
    stopped : str
        Why learning ended, as a sentence.
    certificate : Certificate
    """

    W: Array
    b: Array
    stopped: str
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class ClosedFit(Fit):
    """A Fit found in closed form, and what the algebra knows of it.

    Attributes
    ----------
    rank : int
        Independent columns among the p (after centring, where there is a bias); the most there
        can be where sparse rows were solved by products alone.
    condition : float
        Condition number of the columns scaled to unit length, an estimate; NaN where unknown.
    W_low, b_low : ndarray
        What rounding W and b to float64 left over; zero where it is not known.
    squares : ndarray of shape (K,)
        Sums of squared residuals.
    root : ndarray of shape (p, p) or (p + 1, p), or None
        root root' is the inverse of the (penalised) scatter of x; None where it has none, and
        where penalties of many columns made a proof without it. A last row is mean'root, for the
        error of the bias, where both are known to their last digits; zeros without a bias.
    dependent : tuple of (int, tuple of int)
        Columns that are combinations of others, and of which.
    """

    rank: int
    condition: float
    W_low: Array
    b_low: Array
    squares: Array
    root: Array | None = None
    dependent: tuple[tuple[int, tuple[int, ...]], ...] = ()


Outcome = Literal["converged", "max_iter", "rounding", "separated", "quasi", "interrupted"]


@dataclass(frozen=True, eq=False)
class NewtonFit(Fit):
    """A Fit by Newton's procedure.

    Attributes
    ----------
    theta : ndarray of shape (K, p + 1)
        In the units of the procedure.
    outcome : str
    steps : int
    value : float
        The penalised loss.
    rank : int
        Independent columns, the bias included; p + 1 unless columns depend on others.
    """

    theta: Array
    outcome: Outcome
    steps: int
    value: float
    rank: int


@dataclass(frozen=True, eq=False)
class Posterior(Result):
    """w ~ N(mean, covariance) given the data; for several targets the first axis is the target.

    Attributes
    ----------
    mean : ndarray of shape (p,) or (k, p)
        The ridge weights.
    covariance : ndarray of shape (p, p) or (k, p, p)
        sigma^2 (S + alpha I)^-1, or with a penalty for each column in the place of alpha.
    noise, prior : float or ndarray of shape (k,)
        sigma^2 = residual sum of squares / (n - dof), and the prior's variance sigma^2/alpha; where
        each column has its own penalty, a variance for each, (p,) or (k, p).
    """

    mean: Array
    covariance: Array
    noise: Any
    prior: Any


@dataclass(frozen=True, eq=False)
class Evidence(Result):
    """Log marginal likelihood of the targets; numbers, or arrays (k,) for several targets.

    Attributes
    ----------
    value : float
        ln p(y | alpha) at the penalty of the fit, -inf at alpha = 0.
    best_alpha, best_value : float
        The penalty that maximises it, and the maximum.
    """

    value: Any
    best_alpha: Any
    best_value: Any


def finished(steps: Steps[R], hear: Hear | None = None) -> R:
    """What the procedure returns after its last step; `hear` gets each step.

    Ctrl-C is passed on to the procedure wherever it comes, which may return the last step.
    """
    try:
        while True:
            try:
                done, state = next(steps)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if hear is not None:
                hear(done, state)
    except KeyboardInterrupt as stop:
        try:
            steps.throw(stop)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        raise
    finally:
        steps.close()


class Stepwise(Generic[P, R]):
    """A procedure: called, it runs to its end; `steps` takes the same and gives the generator."""

    def __init__(self, steps: Callable[P, Steps[R]]):
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return finished(self.steps(*args, **kwargs))
