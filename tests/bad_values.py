"""Values that a parameter should not get, what they mean if anything, and how a call took them.

A `Kind` says what a parameter expects. Its `meaning` of a value is the plain value that says the
same, such as True for np.True_, or `Illegal` where there is none. `judged` makes the call with
the value, compares it with the same call with the plain value, and names the outcome.
"""

from __future__ import annotations

import dataclasses
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

OUTCOMES = ("right", "clear", "unnamed", "obscure", "silent", "hang")
_SECONDS = 30  # after which a call counts as hanging


class Illegal(Exception):
    """There is no plain value that means the same."""


class Raiser:
    """Looks like an array, and breaks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("this object cannot become an array")


class Hang(BaseException):
    """A call took too long."""


def scalars() -> Iterator[tuple[str, Any]]:
    """Values that are no arrays, or not the array that was meant."""
    yield "None", None
    yield "text", "text"
    yield "empty text", ""
    yield "'False'", "False"
    yield "'1'", "1"
    yield "bytes", b"bytes"
    yield "True", True
    yield "False", False
    yield "np.True_", np.True_
    yield "nan", float("nan")
    yield "inf", float("inf")
    yield "-inf", -float("inf")
    yield "-1", -1
    yield "-0.5", -0.5
    yield "0", 0
    yield "1", 1
    yield "2.5", 2.5
    yield "3.0", 3.0
    yield "np.float32", np.float32(0.5)
    yield "np.int8", np.int8(2)
    yield "Fraction", Fraction(1, 2)
    yield "Decimal", Decimal("0.5")
    yield "2**63", 2**63
    yield "-2**63", -(2**63)
    yield "10**400", 10**400
    yield "1e308", 1e308
    yield "5e-324", 5e-324
    yield "complex", 1j
    yield "0-d array", np.array(0.5)
    yield "array of one", np.array([0.5])
    yield "[]", []
    yield "[1, 2]", [1, 2]
    yield "()", ()
    yield "{}", {}
    yield "{'a': 1}", {"a": 1}
    yield "set", {1, 2}
    yield "object()", object()
    yield "NotImplemented", NotImplemented
    yield "pd.NA", pd.NA
    yield "pd.NaT", pd.NaT
    yield "datetime64", np.datetime64("2020-01-01")
    yield "timedelta64", np.timedelta64(1, "D")
    yield "function", len
    yield "lambda", lambda *_: 1.0
    yield "class", int
    yield "Raiser", Raiser()
    yield "generator", (i for i in range(8))
    yield "range", range(8)
    yield "nothing", np.empty(0)
    yield "no rows", np.empty((0, 2))
    yield "no columns", np.empty((8, 0))
    yield "3-D", np.zeros((2, 2, 2))
    yield "texts", np.array(["a", "b"])
    yield "ragged", [[1.0, 2.0], [3.0]]
    yield "structured", np.zeros(8, dtype=[("a", float), ("b", int)])
    yield "DataFrame with text", pd.DataFrame({"a": [1.0] * 8, "b": list("abcdefgh")})
    yield "DataFrame of dates", pd.DataFrame({"a": pd.date_range("2020", periods=8)})
    yield "itself", _itself()


def _itself() -> list[Any]:
    itself: list[Any] = []
    itself.append(itself)
    return itself


def variants(legal: Any) -> Iterator[tuple[str, Any]]:
    """A legal array spoiled in one way each, and the same array in other clothes."""
    if not isinstance(legal, np.ndarray) or not legal.size:
        return
    yield "list", legal.tolist()
    yield "tuple", tuple(legal.tolist())
    yield "one less", legal[:-1]
    yield "one more", np.concatenate([legal, legal[:1]])
    yield "one axis more", legal[..., None]
    yield "flat", legal.ravel()
    yield "transposed", legal.T
    yield "read only", _read_only(legal)
    yield "objects", legal.astype(object)
    yield "Series", pd.Series(legal.ravel())
    yield "DataFrame", pd.DataFrame(legal)
    yield "masked", np.ma.masked_array(legal, mask=np.arange(legal.size).reshape(legal.shape) == 1)
    yield "masked nowhere", np.ma.masked_array(legal)
    yield "with None", _with(legal.astype(object), None)
    yield "with a text", _with(legal.astype(object), "text")
    yield "with an object", _with(legal.astype(object), object())
    yield "with a list", _with(legal.astype(object), [1, 2])
    yield "with pd.NA", _with(legal.astype(object), pd.NA)
    yield "with a huge int", _with(legal.astype(object), 10**400)
    if legal.dtype.kind not in "fiub":
        return
    numbers = legal.astype(float)
    for name, number in [("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf)]:
        yield f"with {name}", _with(numbers, number)
    yield "with -1", _with(numbers, -1.0)
    yield "all zero", numbers * 0
    yield "all 1e308", numbers * 0 + 1e308
    yield "all 5e-324", numbers * 0 + 5e-324
    yield "times 1e300", numbers * 1e300
    yield "times 1e-300", numbers * 1e-300
    yield "complex array", legal + 1j
    yield "float32", legal.astype(np.float32)
    yield "float16", legal.astype(np.float16)
    yield "longdouble", legal.astype(np.longdouble)
    yield "int8", legal.astype(np.int8)
    yield "uint64", np.abs(legal).astype(np.uint64)
    yield "bool", legal.astype(bool)
    yield "digits", legal.astype(str)
    yield "digits as bytes", legal.astype("S")
    yield "dates", np.abs(legal).astype("datetime64[s]")
    yield "durations", legal.astype("timedelta64[s]")
    if legal.ndim == 2:
        yield "CSR", sparse.csr_matrix(legal)
        yield "COO", sparse.coo_array(legal)
        yield "matrix", np.asmatrix(legal)
        yield "CSR with nan", sparse.csr_matrix(_with(numbers, np.nan))
    else:
        yield "sparse column", sparse.csr_matrix(numbers.reshape(-1, 1))


def _read_only(array: Any) -> Any:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _with(array: Any, value: Any) -> Any:
    array = array.copy()
    array.flat[array.size // 2] = value
    return array


# Kinds: what a parameter expects.


class Kind:
    """A parameter that takes anything, and does not look at it."""

    def meaning(self, value: Any) -> Any:
        return None


@dataclasses.dataclass
class Either(Kind):
    kinds: tuple[Kind, ...]

    def meaning(self, value: Any) -> Any:
        for kind in self.kinds:
            try:
                return kind.meaning(value)
            except Illegal:
                continue
        raise Illegal


@dataclasses.dataclass
class Word(Kind):
    """One of these texts, or None where it is among them."""

    words: tuple[Any, ...]

    def meaning(self, value: Any) -> Any:
        if (isinstance(value, str) or value is None) and value in self.words:
            return value
        raise Illegal


class Flag(Kind):
    def meaning(self, value: Any) -> Any:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise Illegal


@dataclasses.dataclass
class Number(Kind):
    """A finite real number from low to high, both included unless they are `without`."""

    low: float = -np.inf
    high: float = np.inf
    without: tuple[float, ...] = ()
    whole: bool = False
    whole_floats: bool = False

    def meaning(self, value: Any) -> Any:
        kinds: Any = (int, np.integer) if self.whole else (int, float, Fraction, np.integer)
        kinds += (float,) if self.whole_floats else () if self.whole else (np.floating,)
        if isinstance(value, bool | np.timedelta64) or not isinstance(value, kinds):
            raise Illegal
        try:
            number = float(value)
        except OverflowError:
            raise Illegal from None
        good = np.isfinite(number) and self.low <= number <= self.high
        if not good or number in self.without or (self.whole and number != int(number)):
            raise Illegal
        return int(value) if self.whole else number


class Exact(Kind):
    """An object of this class, not looked at further."""

    def __init__(self, *classes: type) -> None:
        self.classes = classes

    def meaning(self, value: Any) -> Any:
        if isinstance(value, self.classes):
            return value
        raise Illegal


@dataclasses.dataclass
class Numbers(Kind):
    """An array of finite real numbers of one of these shapes, each number from low to high.

    A shape holds sizes, None for any; `sparse` rows count as well.
    """

    shapes: tuple[tuple[int | None, ...], ...]
    low: float = -np.inf
    without: tuple[float, ...] = ()
    sparse: bool = False
    not_all_zero: bool = False
    most: float = np.inf  # beyond, a call may say that it cannot, or be right
    total: float | None = None
    empty: bool = False  # may have no rows or columns
    infinite: bool = False  # may hold infinities
    valid: Callable[[Any], bool] = lambda array: True

    def meaning(self, value: Any) -> Any:
        if sparse.issparse(value):
            if not self.sparse:
                raise Illegal
            value = value.toarray()
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise Illegal
        array = self._array(value)
        fits = any(
            len(shape) == array.ndim
            and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
            for shape in self.shapes
        )
        if not fits or (0 in array.shape and not self.empty):
            raise Illegal
        if np.isnan(array).any() or (np.isinf(array).any() and not self.infinite):
            raise Illegal
        if np.any(array < self.low) or np.isin(array, self.without).any():
            raise Illegal
        if self.not_all_zero and not array.any():
            raise Illegal
        if self.total is not None and abs(array.sum() - self.total) > 1e-9:
            raise Illegal
        if not self.valid(array):
            raise Illegal
        return array

    def _array(self, value: Any) -> Any:
        if isinstance(value, str | bytes | dict | set | np.datetime64 | np.timedelta64):
            raise Illegal
        try:
            array = np.asarray(value)
            if array.dtype.kind == "O":
                if any(isinstance(entry, str | bytes | type(pd.NaT)) for entry in array.flat):
                    raise Illegal
            elif array.dtype.kind not in "fiubUS":
                raise Illegal
            return array.astype(np.float64)
        except Illegal:
            raise
        except Exception:
            raise Illegal from None


@dataclasses.dataclass
class Labels(Kind):
    """A label a row, `least` different ones at least, of one type with an order."""

    n: int
    least: int = 2
    among: tuple[Any, ...] | None = None  # classes that are known already
    most: int | None = None
    as_they_are: bool = False  # the labels themselves matter, not which are equal

    def meaning(self, value: Any) -> Any:
        if sparse.issparse(value) or isinstance(value, str | bytes | dict | set):
            raise Illegal
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise Illegal
        try:
            labels = np.asarray(value)
        except Exception:
            raise Illegal from None
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.shape != (self.n,) or labels.dtype.kind not in "fiubUSOmM":
            raise Illegal
        if labels.dtype.kind in "mM":
            labels = labels.astype(np.int64)
        return labels.tolist() if self.as_they_are else self._codes(labels.tolist())

    def _codes(self, labels: list[Any]) -> Any:
        labels = [float(a) if isinstance(a, np.floating) else a for a in labels]
        kinds = {type(label) for label in labels}
        if not kinds <= {int, float, bool} and len(kinds) != 1:
            raise Illegal
        if not kinds <= {int, float, bool, str, bytes}:
            raise Illegal
        if any(isinstance(a, float) and not (np.isfinite(a) and a == int(a)) for a in labels):
            raise Illegal
        found = sorted(set(labels)) if self.among is None else list(self.among)
        if len(found) < self.least or (self.most and len(found) > self.most):
            raise Illegal
        if not set(labels) <= set(found):
            raise Illegal
        # Floats that scikit-learn calls continuous, or labels beyond int64, may be refused.
        return np.array([found.index(label) for label in labels])


@dataclasses.dataclass
class Classes(Kind):
    """All labels of a stream: these, and others unless it says no_others."""

    those: tuple[Any, ...]
    no_others: bool = False
    many: int | None = None

    def meaning(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | pd.DataFrame | pd.Series) and value.ndim != 1:
            raise Illegal
        if isinstance(value, str | bytes | dict | set):
            raise Illegal
        try:
            codes = Labels(len(value), least=1, as_they_are=True).meaning(value)
            codes = [float(a) if isinstance(a, np.floating) else a for a in codes]
            found = set(codes)
            np.unique(np.array(codes))
        except Exception:
            raise Illegal from None
        numbers = all(isinstance(a, int | float) and -np.inf < a < np.inf for a in found)
        good = found >= set(self.those) and (numbers or all(isinstance(a, str) for a in found))
        good = good and self.many in (None, len(found))
        if not good or (self.no_others and found != set(self.those)):
            raise Illegal
        return sorted(found)


# Judging a call.


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hang in the block when it takes longer; compiled code is not interrupted.

    Without alarms (on Windows) the block takes as long as it takes.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclasses.dataclass
class Verdict:
    outcome: str
    why: str


def judged(call: Callable[[Any], Any], name: str, value: Any, kind: Kind) -> Verdict:
    """How the call took the value of the parameter of this name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = kind.meaning(value)
        except Illegal:
            plain = Illegal
        try:
            with limited(_SECONDS):
                came = essence(call(value))
        except Hang:
            return Verdict("hang", f"more than {_SECONDS} seconds")
        except Exception as error:
            return _of_error(error, name, value, plain is not Illegal)
        if plain is Illegal:
            return Verdict("silent", f"accepted, and gave {str(came)[:80]}")
        try:
            with limited(_SECONDS):
                expected = essence(call(plain))
        except Exception as error:
            return Verdict("silent", f"gave a result, but {plain!r:.60} raises {error!r:.80}")
    if not _same(came, expected):
        return Verdict("silent", f"{str(came)[:70]} instead of {str(expected)[:70]}")
    return Verdict("right", "")


def _of_error(error: Exception, name: str, value: Any, legal: bool) -> Verdict:
    said = f"{type(error).__name__}: {str(error)[:150]}"
    if isinstance(value, Raiser) and "cannot become an array" in str(error):
        return Verdict("clear", said)
    # scikit-learn's convergence of a procedure is no error of ours; NotFittedError is clear.
    if not isinstance(error, ValueError | TypeError) or isinstance(error, _OBSCURE_TYPES):
        return Verdict("obscure", said)
    # An operator has no name for its argument. A legal value may be refused together with others.
    if (name == "other" or legal) and not _is_obscure(error):
        return Verdict("clear", said)
    ours = rf"^{re.escape(name)}\S* (is|are|has|have|holds|contains|cannot|makes?|mixes) "
    if re.search(ours, str(error)):  # our own sentence, whatever it repeats of numpy's
        return Verdict("clear", said)
    if _is_obscure(error):
        return Verdict("obscure", said)
    if not re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", str(error)):
        return Verdict("unnamed", said)
    return Verdict("clear", said)


def _is_obscure(error: Exception) -> bool:
    return any(re.search(pattern, str(error)) for pattern in _OBSCURE_WORDS)


_OBSCURE_TYPES = (np.linalg.LinAlgError, UnicodeError, np.exceptions.AxisError)
_OBSCURE_WORDS = (
    r"operands could not be broadcast",
    r"not supported between instances",
    r"unsupported operand",
    r"truth value of",
    r"not supported for the input types",
    r"has no len",
    r"object is not (iterable|subscriptable|callable)",
    r"takes \d+ positional",
    r"unexpected keyword",
    r"matmul: ",
    r"cannot unpack|values to unpack",
    r"did not contain a loop",
    r"No matching definition|Cannot determine Numba type",
    r"is ambiguous",
    r"unhashable",
    r"^bad operand|bad operand type",
    r"must be real number, not",
    r"cannot be interpreted as an integer",
    r"negative dimensions",
    r"slice indices",
    r"shapes .* not aligned",
    r"Cannot cast",
    r"array is too big|Maximum allowed",
    r"A has a NaN entry|must not contain infs or NaNs",
)


def essence(result: Any) -> Any:
    """What of a result must not depend on how its arguments were written: numbers and texts."""
    if hasattr(result, "fit_") and hasattr(result.fit_, "W"):
        return [essence(result.fit_.W), essence(result.fit_.b)]
    if hasattr(result, "model_") and hasattr(result, "priors_"):
        return essence(result.priors_)
    if hasattr(result, "df_"):
        return essence(result.df_)
    if sparse.issparse(result):
        return essence(result.toarray())
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        fields = [f.name for f in dataclasses.fields(result)]
        return [essence(getattr(result, f)) for f in fields if f not in _ASIDE]
    if isinstance(result, list | tuple):
        return [essence(part) for part in result]
    if isinstance(result, np.ndarray) and result.dtype.kind in "fiub":
        return result.astype(float)
    if isinstance(result, bool | int | float | Fraction | np.number):
        return float(result) if abs(result) < 1e300 else str(result)
    return str(result) if isinstance(result, str) else type(result).__name__


_ASIDE = {"labels", "classes", "fingerprint", "sentence", "stopped", "certificate", "rows"}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(c, d) for c, d in zip(a, b, strict=True))
    if isinstance(a, np.ndarray | float) and isinstance(b, np.ndarray | float):
        if np.shape(a) != np.shape(b):
            return False
        with np.errstate(all="ignore"):
            # float32 in, float32 out: so much may differ.
            return bool(np.allclose(a, b, rtol=2e-5, atol=1e-30, equal_nan=True))
    return bool(a == b)
