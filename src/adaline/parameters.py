"""What a parameter may be, and the sentence for what it may not: name, what came, what is expected.

An `Expected` is called with the name of a parameter and its value, and returns the value or raises.
`A | B` takes what either takes. A whole table of them costs a learner some microseconds a fit.

>>> (POSITIVE | words("auto"))("eta", "auto")
'auto'
>>> FLAG("fit_intercept", "False")
Traceback (most recent call last):
adaline.parameters.ParameterError: fit_intercept is 'False'; expected True or False.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

LONGEST_VALUE = 80  # characters of a value that a message repeats


class ParameterError(ValueError, TypeError):
    """A value of the wrong type or size; both, as scikit-learn's InvalidParameterError is."""


@dataclass(frozen=True)
class Expected:
    """Words for what is expected, and whether a value is that."""

    words: str
    takes: Callable[[Any], bool]
    says: str = ""  # instead of "expected" and the words

    def __call__(self, name: str, value: Any) -> Any:
        if not self.takes(value):
            says = self.says or f"expected {self.words}"
            raise ParameterError(f"{name} is {shown(value)}; {says}.")
        return value

    def __or__(self, other: Expected) -> Expected:
        return Expected(
            f"{self.words}, or {other.words}", lambda value: self.takes(value) or other.takes(value)
        )


def wrong_type(name: str, value: Any, expected: str) -> ParameterError:
    """The error for a parameter of another type."""
    kind = type(value).__name__
    return ParameterError(f"{name} is {shown(value)}, a {kind}; expected {expected}.")


def check(table: Mapping[str, Expected], owner: Any) -> None:
    """Every parameter of the table, as the owner has it under its name."""
    for name, expected in table.items():
        expected(name, getattr(owner, name))


def shown(value: Any) -> str:
    """A value as a message repeats it: in one line, and short.

    >>> shown([1, 2]), shown(np.zeros((2, 3)))
    ('[1, 2]', 'an array of shape (2, 3)')
    """
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of 10^5 digits, or an object that cannot show itself
        return f"of type {type(value).__name__}"
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}... ({type(value).__name__})"


def is_number(value: Any) -> bool:
    """Whether it is a finite real number, and no bool, text or array."""
    real = int | float | Fraction | np.integer | np.floating
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: Any) -> bool:
    """Whether it is an integer that int64 can hold, and no bool."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer):
        return False
    return bool(-(2**63) <= value < 2**63)


def number(
    low: float = -math.inf, high: float = math.inf, *, above: bool = False, below: bool = False
) -> Expected:
    """A finite number from low to high; above low and below high where it is said so."""
    said = "a finite number"
    if low > -math.inf:
        said += f" {'above' if above else 'of at least'} {low:g}"
    if high < math.inf:
        joint = " and" if low > -math.inf else ""
        said += f"{joint} {'below' if below else 'at most'} {high:g}"

    def takes(value: Any) -> bool:
        if not is_number(value) or not low <= value <= high:
            return False
        # A Fraction may be above zero, and zero as a float.
        return not (above and float(value) == low) and not (below and float(value) == high)

    return Expected(said, takes)


def count(least: int = 1, most: int | None = None) -> Expected:
    """A whole number, least or more."""
    said = f"a whole number, {least} or more, below 2**63"
    said = said if most is None else f"a whole number from {least} to {most}"
    top = 2**63 - 1 if most is None else most
    return Expected(said, lambda value: is_whole(value) and least <= value <= top)


def words(*known: str) -> Expected:
    """One of these texts."""
    said = "one of " * (len(known) > 1) + ", ".join(repr(word) for word in known)
    return Expected(said, lambda value: isinstance(value, str) and value in known)


def text(expected: str) -> Expected:
    """A text; the words say what it means."""
    return Expected(expected, lambda value: isinstance(value, str))


def _are_texts(value: Any) -> bool:
    many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    return many and all(isinstance(part, str) for part in value)


def _is_path(value: Any) -> bool:
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else b""
    return isinstance(path, str) and bool(path) and "\0" not in path


FLAG = Expected("True or False", lambda value: isinstance(value, bool | np.bool_))
NONE = Expected("None", lambda value: value is None)
PATH = Expected("the name of a file or directory, such as 'model.adaline'", _is_path)
MAPPING = Expected(
    "a mapping, such as {'title': 'rents'}", lambda value: isinstance(value, Mapping)
)
TEXTS = Expected("a sequence of texts, such as ['age']", _are_texts)
NAMES = Expected(
    "a sequence of column names, such as ['age', 'size']",
    lambda value: _are_texts(value) and len(value) > 0,
)
JOBS = count(1, 4096) | Expected("an Executor", lambda value: hasattr(value, "parts"))
POSITIVE = number(0.0, above=True)
NOT_NEGATIVE = number(0.0)
NUMBER = number()
COUNT = count()
LEVEL = number(0.0, 1.0, above=True, below=True)
SEED = Expected(
    "a whole number from 0 to 2**32 - 1, a numpy RandomState, or None",
    lambda value: (
        value is None
        or isinstance(value, np.random.RandomState)
        or value is np.random
        or (is_whole(value) and 0 <= value < 2**32)
    ),
)


# Arrays.


def named(error: Exception, name: str) -> Exception:
    """An error of a library below, as one that says which parameter it is about."""
    said = str(error)
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) and type(error) in (
        ValueError,
        TypeError,
    ):
        return error
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{name} cannot be used: {said}")


def refuse_masked(name: str, value: Any) -> None:
    """Refuse masked entries, which numpy would take as if they were not."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ParameterError(
            f"{name} is a masked array with masked entries; fill them in, or leave their rows out."
        )


def refuse(name: str, value: Any) -> None:
    """Refuse what numpy would take for numbers, and is none: masked entries, dates and durations.

    Nothing is read but the type, so that it costs nothing.
    """
    refuse_masked(name, value)
    kinds = getattr(value, "dtypes", None)  # of a data frame
    kinds = [getattr(value, "dtype", None)] if kinds is None or isinstance(kinds, str) else kinds
    try:
        kind = next((k for k in kinds if getattr(k, "kind", "") in ("m", "M")), None)
    except TypeError:
        return
    if kind is not None:
        raise ParameterError(
            f"{name} has dtype {kind}, which is no number; convert dates and durations first, for "
            "instance to days since the first of them."
        )


def is_sparse(value: Any) -> bool:
    """Whether a value is a scipy sparse matrix or array, which is told without loading scipy."""
    if type(value) is np.ndarray:
        return False
    sparse = sys.modules.get("scipy.sparse")  # who has such a value has loaded it
    return sparse is not None and bool(sparse.issparse(value))


def array(name: str, value: Any) -> NDArray[Any]:
    """A numpy array of whatever came, but for sparse and masked ones."""
    if is_sparse(value):
        raise ParameterError(f"{name} is sparse; expected a dense array. Use .toarray()?")
    refuse_masked(name, value)
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ParameterError(f"{name} is {shown(value)}, which is no array: {error}") from None


def numbers(name: str, value: Any, expected: str = "numbers") -> NDArray[np.float64]:
    """A float64 array of real numbers; finite or not is not looked at."""
    found = array(name, value)
    if found.dtype.kind in "fiu" or (found.dtype.kind == "b" and found.ndim):
        with np.errstate(over="ignore"):  # beyond float64 is infinite, which is refused elsewhere
            return found.astype(np.float64, copy=False)
    if found.dtype.kind == "c":
        raise ParameterError(f"Complex data not supported: {name} is complex; give real numbers.")
    if found.dtype.kind == "O" and found.ndim:
        try:
            return found.astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            pass
    what = f"has dtype {found.dtype}" if found.ndim else f"is {shown(value)}"
    if found.dtype.kind == "O" and found.size and found.ndim:
        odd = next((a for a in found.flat if not is_number(a) and a is not None), found.flat[0])
        what = f"holds {type(odd).__name__} objects such as {shown(odd)}"
    raise ParameterError(f"{name} {what}; expected {expected}.")


def finite(name: str, value: Any, expected: str = "finite numbers") -> NDArray[np.float64]:
    """The same, without NaN and infinities."""
    found = numbers(name, value, expected)
    if not np.isfinite(found).all():
        raise ParameterError(f"{name} contains NaN or infinity; expected {expected}.")
    return found


def blocks_of(value: Any, block: str) -> Iterator[tuple[int, Any]]:
    """Numbers and blocks of an iterable of them; block says what each should be."""
    try:
        found = iter(value)
    except TypeError:
        raise ParameterError(
            f"blocks is {shown(value)}; expected an iterable of blocks {block}."
        ) from None
    for i, one in enumerate(found):
        if not isinstance(one, tuple | list) or not one:
            raise ParameterError(f"blocks has {shown(one)} in place {i}; expected {block}.")
        yield i, one


def weights_of(name: str, value: Any, n: int) -> NDArray[np.float64] | None:
    """Weights of n rows (n,), not negative and not all zero; one number is for every row."""
    if value is None:
        return None
    omega = numbers(name, value, f"{n} numbers, one a row")
    if omega.ndim == 0:
        omega = np.full(n, float(omega))
    if omega.shape != (n,):
        raise ParameterError(
            f"{name} has shape {omega.shape} and X has {n} rows; expected ({n},), one a row."
        )
    if n and not 0.0 <= omega.min() <= omega.max() < math.inf:  # NaN is not, either
        bad = int(np.argmax(~((omega >= 0.0) & (omega < math.inf))))
        kind = "negative" if omega[bad] < 0 else "NaN" if math.isnan(omega[bad]) else "infinite"
        raise ParameterError(
            f"{name} is {kind} in row {bad} ({omega[bad]:g}); Negative values, NaN and infinity "
            "are no weights."
        )
    if n and not omega.any():
        raise ParameterError(
            f"{name} is zero for every row; give at least one row a non-zero weight."
        )
    with np.errstate(over="ignore"):
        total = omega.sum() if n else 1.0
    if not 2.0**-1022 <= total < math.inf:  # the least float64 that has all its digits
        raise ParameterError(
            f"{name} has a sum of {total:g}, beyond the range of float64; give smaller or larger "
            "weights, for instance all of them divided by the largest."
        )
    return omega


def check_sample(x: Any, y: Any = 0.0) -> None:
    """Raise ValueError that names the first NaN or infinity of one sample and its target."""
    for name, values in (("x", np.atleast_1d(x)), ("y", np.atleast_1d(y))):
        values = np.asarray(values, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            place = f" at column {bad[0]}" if name == "x" else ""
            raise ValueError(
                f"{name} has {values[bad[0]]}{place}; expected finite numbers. The model is "
                "unchanged; leave this sample out, or fill the value in."
            )


def one_sample(x: Any, shape: tuple[int]) -> NDArray[np.float64]:
    """A sample x (p,), contiguous float64; whether it is finite, the caller's sums tell."""
    sample: NDArray[np.float64] = np.ascontiguousarray(numbers("x", x))
    if sample.shape != shape:
        raise ParameterError(f"x has shape {sample.shape}; expected {shape}, one sample.")
    return sample


def one_row(x: Any) -> NDArray[np.float64]:
    """A sample x (p,) as a block of one row."""
    sample = numbers("x", x)
    if sample.ndim != 1 or not sample.size:
        raise ParameterError(f"x has shape {sample.shape}; expected (p,), one sample.")
    check_sample(sample)
    return sample.reshape(1, -1)


# Parameters of other libraries: what to give instead, where a class has the first of it.
PARAMETERS_ELSEWHERE = {
    "C": ("alpha", "alpha=1/C is the same penalty, and alpha='auto' chooses one"),
    "penalty": ("alpha", "the penalty is alpha times the squares of the weights; alpha=0 is none"),
    "l1_ratio": ("alpha", "there is no L1 penalty: weights shrink, but none becomes zero"),
    "lam": ("alpha", "the penalty is called alpha"),
    "alphas": ("alpha", "alpha='auto' searches all penalties; Ridge.path(alphas) shows them"),
    "solver": ("alpha", "the solver is chosen by the size of the data; leave it out"),
    "class_weight": (
        "fit_intercept",
        "LogisticRegression has it; elsewhere give fit(X, y, sample_weight=...), such as "
        "scikit-learn's compute_sample_weight('balanced', y)",
    ),
    "mu": ("eta", "the step is called eta"),
    "eta0": ("eta", "the step is called eta"),
    "learning_rate": ("eta", "the step is called eta: a number or a schedule, such as OverK(0.1)"),
    "n_iter": ("max_iter", "the number of passes is called max_iter"),
    "epochs": ("max_iter", "the number of passes is called max_iter"),
    "n": ("taps", "the number of weights is called taps"),
    "order": ("taps", "the number of weights is called taps"),
}


class Advises:
    """A class whose constructor says what to use for a parameter that other libraries have.

    >>> class Step(Advises):
    ...     def __init__(self, eta=1.0): ...
    >>> Step(mu=0.5)
    Traceback (most recent call last):
    TypeError: Step has no parameter 'mu': the step is called eta.
    """

    def __new__(cls, *args: Any, **options: Any) -> Self:
        for name in options.keys() & PARAMETERS_ELSEWHERE.keys():
            needs, use = PARAMETERS_ELSEWHERE[name]
            own = inspect.signature(cls).parameters
            if name not in own:
                instead = f": {use}." if needs in own else f"; it has {', '.join(own) or 'none'}."
                raise TypeError(f"{cls.__name__} has no parameter {name!r}{instead}")
        return super().__new__(cls)
