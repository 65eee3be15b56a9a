"""Values that a parameter should not get, calls to try them on, and how a call took them.

A call may refuse a value by an error that names the parameter, or take it as the plain value that
says the same: True for np.True_, an array for a list of lists. What a constructor takes is what
`_parameters` of its class declares.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import adaline
from adaline import decisions
from adaline.estimators.registry import public_estimators

SECONDS = 30  # after which a call counts as hanging
X = np.array([[1, 2], [2, 1], [0, 3], [4, 1], [5, 5], [4, 6], [6, 4], [3, 3]], dtype=float)
Y = np.array([1.0, 2.0, 0.5, 3.0, 6.0, 5.0, 7.0, 3.5])
APART = np.array([0, 0, 0, 0, 1, 1, 1, 1])  # a hyperplane separates them
MIXED = np.array([0, 0, 1, 1, 1, 0, 1, 0])  # and these it does not
LABELS = {"y", "classes", "codes"}  # parameters whose values may be texts
ONES = np.ones(len(X))


class Raiser:
    """Looks like an array, and breaks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("this object cannot become an array")


itself: list[Any] = []
itself.append(itself)
ODD = {
    **{repr(v): v for v in (None, "text", "", "False", "1", b"bytes", True, False, -1, -0.5, 0, 1)},
    **{repr(v): v for v in (2.5, 3.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324)},
    **{repr(v): v for v in (2**63, -(2**63), 1j, [], [1, 2], (), {}, {"a": 1}, {1, 2}, range(8))},
    **{repr(v): v for v in (np.True_, np.float32(0.5), np.int8(2), Fraction(1, 2), Decimal("0.5"))},
    **{repr(v): v for v in (pd.NA, pd.NaT, np.datetime64("2020-01-01"), np.timedelta64(1, "D"))},
    **{repr(v): v for v in (np.array(0.5), np.array([0.5]), np.empty((0, 2)), np.empty((8, 0)))},
    **{repr(v): v for v in (np.array(["a", "b"]), [[1.0, 2.0], [3.0]], NotImplemented, len, int)},
    "10**400": 10**400,
    "object": object(),
    "raiser": Raiser(),
    "3-D": np.zeros((2, 2, 2)),
    "structured": np.zeros(8, dtype=[("a", float), ("b", int)]),
    "table with text": pd.DataFrame({"a": [1.0] * 8, "b": list("abcdefgh")}),
    "table of dates": pd.DataFrame({k: pd.date_range("2020", periods=8) for k in "ab"}),
    "itself": itself,
}


def variants(legal: Any) -> Iterator[tuple[str, Any]]:
    """A legal array spoiled in one way each, and the same array in other clothes."""
    if not isinstance(legal, np.ndarray) or not legal.size:
        return
    number, middle = legal.astype(float), legal.size // 2

    def put(value: Any, dtype: Any = float) -> Any:
        spoiled = legal.astype(dtype)
        spoiled.flat[middle] = value
        return spoiled

    for odd in (None, "text", object(), [1, 2], pd.NA, 10**30):
        yield f"with {odd!s:.20}", put(odd, object)
    for odd in (np.nan, np.inf, -np.inf, -1.0):
        yield f"with {odd}", put(odd)
    for factor in (0.0, 1e300, 1e-300):
        yield f"times {factor}", number * factor
    for dtype in ("f4", "f2", "g", "i1", "u8", "?", "U", "S", "O", "M8[s]", "m8[s]"):
        yield dtype, np.abs(legal).astype("i8").astype(dtype)
    mask = np.arange(legal.size).reshape(legal.shape) == 1
    yield "list", legal.tolist()
    yield "one less", legal[:-1]
    yield "one more", np.concatenate([legal, legal[:1]])
    yield "one axis more", legal[..., None]
    yield "flat", legal.ravel()
    yield "transposed", legal.T
    yield "series", pd.Series(legal.ravel())
    yield "table", pd.DataFrame(legal)
    yield "masked", np.ma.masked_array(legal, mask=mask)
    yield "complex", legal + 1j
    yield "sparse", sparse.csr_matrix(np.atleast_2d(number))
    yield "sparse with nan", sparse.coo_array(np.atleast_2d(put(np.nan)))


class Illegal(Exception):
    """There is no plain value that means the same."""


POSITIVE = lambda v: np.all(v > 0)  # noqa: E731
DOMAINS: dict[str, Callable[[Any], Any]] = {  # what else numbers must be
    "sample_weight": lambda v: np.all(v >= 0) and np.any(v),
    "weights": lambda v: np.all(v >= 0),
    "margins": POSITIVE,
    "exposure": POSITIVE,
    "priors": lambda v: np.all(v >= 0) and abs(np.sum(v) - 1) < 1e-9,
    "level": lambda v: np.ndim(v) == 0 and 0 < v < 1,
    "alphas": lambda v: np.all(v >= 0),
    **dict.fromkeys(("eta", "eta1", "eta0", "tau"), POSITIVE),
}


def plain(name: str, value: Any) -> Any:
    """A bool, a number, a text, None, or an array of finite numbers or labels."""
    if value is None or isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, bytes | dict | set | np.datetime64 | np.timedelta64 | complex | Decimal):
        raise Illegal
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise Illegal
    value = value.toarray() if sparse.issparse(value) else value
    try:
        array = np.asarray(value)
        texts = [isinstance(a, str | bytes | type(pd.NaT)) for a in array.flat]
        if name in LABELS and texts and (all(texts) or array.dtype.kind in "US"):
            return array.astype(str)
        if name in LABELS and array.ndim and array.dtype.kind in "mMiub":
            return array.astype(np.int64)
        if (any(texts) and array.dtype.kind not in "US") or array.dtype.kind not in "fiubOUS":
            raise Illegal
        numbers = array.astype(np.float64)
    except Illegal:
        raise
    except Exception:
        raise Illegal from None
    logs = name.startswith("log_density")
    if np.isnan(numbers).any() or (np.isinf(numbers).any() and not logs):
        raise Illegal
    if not DOMAINS.get(name, lambda v: True)(numbers):
        raise Illegal
    if np.ndim(numbers):
        return numbers
    return int(numbers) if isinstance(value, int | np.integer) else float(numbers)


@dataclasses.dataclass
class Subject:
    """A call, legal arguments of its parameters, and for some what they take."""

    name: str
    call: Callable[..., Any]
    legal: dict[str, Any]
    takes: dict[str, Callable[[Any], bool]] = dataclasses.field(default_factory=dict)

    def judge(self, parameter: str, value: Any) -> str:
        """Why the answer to this value is wrong; "" if it is right, or a clear error."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                meant = plain(parameter, value)
            except Illegal:
                meant = Illegal
            try:
                came = essence(limited(self.call, **{**self.legal, parameter: value}))
            except Exception as error:
                return complaint(error, parameter, value, meant is not Illegal)
            if parameter in self.takes:
                return "" if self.takes[parameter](value) else f"accepted, and gave {came!s:.80}"
            if meant is Illegal:
                return f"accepted, and gave {came!s:.80}"
            try:
                expected = essence(limited(self.call, **{**self.legal, parameter: meant}))
            except Exception as error:
                return f"gave a result, but {meant!r:.60} raises {error!r:.80}"
        return "" if same(came, expected) else f"{came!s:.70} instead of {expected!s:.70}"


def limited(call: Callable[..., Any], **arguments: Any) -> Any:
    """The result of a call, or TimeoutError; without alarms (on Windows) it has all the time."""
    if not hasattr(signal, "setitimer"):
        return call(**arguments)

    def ring(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return call(**arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def complaint(error: Exception, name: str, value: Any, legal: bool) -> str:
    said = f"{type(error).__name__}: {str(error)[:150]}"
    if isinstance(value, Raiser) and "cannot become an array" in str(error):
        return ""
    if not isinstance(error, ValueError | TypeError) or isinstance(error, OBSCURE_TYPES):
        return f"obscure, {said}"
    # A legal value may be refused together with others, whose names the error then has.
    ours = rf"^{re.escape(name)}\S* (is|are|has|have|holds|contains|cannot|makes?|mixes) "
    if (legal and not is_obscure(error)) or re.search(ours, str(error)):
        return ""
    named = re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", str(error))
    return "" if named and not is_obscure(error) else f"unnamed or obscure, {said}"


def is_obscure(error: Exception) -> bool:
    """Whether a message is one of numpy's or Python's own that helps nobody."""
    return re.search(OBSCURE_WORDS, str(error)) is not None


OBSCURE_TYPES = (np.linalg.LinAlgError, UnicodeError, np.exceptions.AxisError)
OBSCURE_WORDS = (
    r"operands could not be broadcast|not supported between instances|unsupported operand"
    r"|truth value of|not supported for the input types|has no len|is ambiguous|unhashable"
    r"|object is not (iterable|subscriptable|callable)|takes \d+ positional|matmul: "
    r"|unexpected keyword|cannot unpack|values to unpack|did not contain a loop|bad operand"
    r"|No matching definition|Cannot determine Numba type|must be real number, not|Cannot cast"
    r"|cannot be interpreted as an integer|negative dimensions|slice indices|not aligned"
    r"|array is too big|Maximum allowed|A has a NaN entry|must not contain infs or NaNs"
)
ASIDE = {"labels", "classes", "fingerprint", "sentence", "stopped", "certificate", "rows", "names"}


def essence(result: Any) -> Any:
    """What of a result must not depend on how its arguments were written: numbers and texts."""
    if hasattr(result, "fit_") and hasattr(result.fit_, "W"):
        return [essence(result.fit_.W), essence(result.fit_.b)]
    for attribute in ("priors_", "df_"):
        if hasattr(result, attribute):
            return essence(getattr(result, attribute))
    if sparse.issparse(result):
        return essence(result.toarray())
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        fields = [f.name for f in dataclasses.fields(result)]
        return [essence(getattr(result, f)) for f in fields if f not in ASIDE]
    if isinstance(result, list | tuple):
        return [essence(part) for part in result]
    if isinstance(result, np.ndarray) and result.dtype.kind in "fiub":
        return result.astype(float)
    if isinstance(result, bool | int | float | Fraction | np.number):
        return float(result) if abs(result) < 1e300 else str(result)
    return str(result) if isinstance(result, str) else type(result).__name__


def same(a: Any, b: Any) -> bool:
    """Whether two essences agree to the digits of float32."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray | float) and isinstance(b, np.ndarray | float):
        with np.errstate(all="ignore"):
            return np.shape(a) == np.shape(b) and bool(
                np.allclose(a, b, rtol=2e-5, atol=1e-30, equal_nan=True)
            )
    return bool(a == b)


# What each public name is called with.

TARGETS = {"numbers": Y, "counts": Y.round(), "positive": Y, "classes": MIXED}
SHARED: dict[str, Any] = {  # of methods; None where a parameter is left out
    **{"X": X, "x": X[0], "sample_weight": ONES, "level": 0.9, "target": 0, "margins": ONES},
    **{"classes": [0, 1], "coef_init": np.zeros((1, 2)), "intercept_init": np.zeros(1)},
    **{"offset": None, "exposure": None, "return_std": True, "intervals": "wald"},
    **{"draws": 1000, "random_state": 0, "alphas": np.array([0.0, 1.0])},
}
SMALL = {"max_iter": 20}  # where passes need not end


def parameters_of(function: Any) -> list[str]:
    return [p for p in inspect.signature(function).parameters if p not in ("self", "options")]


def apply_method(model: Any, method: str, **arguments: Any) -> Any:
    """The result of a method of a copy of the model."""
    return getattr(copy.deepcopy(model), method)(**arguments)


def of_estimator(kind: Any) -> Iterator[Subject]:
    """The constructor of an estimator, and each of its methods, new and fitted."""
    y = TARGETS.get(kind._learns, Y)
    signature = inspect.signature(kind).parameters
    small = {k: v for k, v in SMALL.items() if k in signature}
    takes = {name: expected.takes for name, expected in kind._parameters.items()}
    make = lambda **given: kind(**{**small, **given}).fit(X, y)  # noqa: E731
    yield Subject(kind.__name__, make, {k: p.default for k, p in signature.items()} | small, takes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kind(**small).fit(X, y)
    for method, function in inspect.getmembers(kind, callable):
        ours = (getattr(function, "__module__", None) or "").startswith("adaline")
        if not ours or method.startswith("_") or method == "from_counts":
            continue
        legal = {p: SHARED.get(p, y if p == "y" else None) for p in parameters_of(function)}
        if kind._learns is None:
            legal.pop("y", None)
        if "x" in legal and "y" in legal:
            legal["y"] = y[0]
        if "m" in legal:
            continue  # sums have tests of their own
        new = [kind(**small)] if method in ("fit", "partial_fit", "learn_one") else []
        for model in (*new, fitted):
            yield Subject(f"{kind.__name__}.{method}", partial(apply_method, model, method), legal)


def of_functions() -> Iterator[Subject]:
    two = {"X": X, "y": APART, "fit_intercept": True}
    best, half = adaline.max_margin(X, APART), np.array([0.5, 0.5])
    P, costs = np.array([[0.75, 0.25], [0.2, 0.8]]), np.array([[0.0, 2.0], [1.0, 0.0]])
    logs, ridge = {"log_density": np.log(P), "priors": half}, adaline.Ridge().fit(X, Y)
    ratio = {"log_density_1": np.log(P[:, 0]), "log_density_2": np.log(P[:, 1])}
    block = {"X": X, "y": Y, "weights": ONES}
    coded = {"X": X, "codes": MIXED, "K": 2, "weights": ONES}
    more = {"sample_weight": ONES}
    table: dict[Any, dict[str, Any]] = {
        adaline.separability: two | more | {"pairwise": True, "time_limit": None},
        adaline.max_margin: two | more | {"tol": 1e-9, "max_iter": 100},
        adaline.mistake_bound: two | {"w": best.w, "b": best.b},
        adaline.stable_rate: {"X": X, "fit_intercept": True},
        adaline.cover: {"n": 10, "d": 3, "bias": True},
        adaline.capacity: {"d": 3, "bias": True},
        adaline.Constant: {"eta": 1.5},
        adaline.OverK: {"eta1": 1.5},
        adaline.SearchThenConverge: {"eta0": 1.5, "tau": 1.5},
        adaline.Moments.of: block,
        adaline.Triangle.of: block,
        adaline.ClassMoments.of: coded,
        decisions.checked_priors: {"priors": half, "K": 2},
        decisions.checked_costs: {"costs": costs, "K": 2},
        decisions.checked_reject_cost: {"reject_cost": 0.5},
        decisions.log_posterior: logs,
        decisions.posterior: logs,
        decisions.expected_costs: {"posterior": P, "costs": costs},
        decisions.decide: {"posterior": P, "costs": costs, "reject_cost": 0.3},
        decisions.likelihood_ratio: ratio,
        decisions.threshold: {"priors": half, "costs": costs},
        partial(adaline.trace, adaline.Perceptron(max_iter=3)): {"X": X, "y": MIXED} | more,
        partial(adaline.verdict, ridge): {"X": X, "y": Y, "held_out": True},
        partial(adaline.interval, ridge): {"X": X, "level": 0.9},
        partial(adaline.explain, ridge): {"X": X},
        partial(adaline.cross_validated, adaline.Ridge(1.0)): {"X": X, "y": Y, "cv": 4} | more,
    }  # fmt: skip
    for function, legal in table.items():
        name = getattr(function, "__qualname__", None) or function.func.__qualname__
        yield Subject(name, function, legal)


SUBJECTS = [*of_functions(), *(s for kind in public_estimators() for s in of_estimator(kind))]
