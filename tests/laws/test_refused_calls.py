"""What is refused changes nothing: after a call that raises, a model has the same bits."""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import adaline
from bits import same
from model_zoo import MODELS, X, Y, made, three, two, y

NAMES = [
    name
    for name in MODELS
    if not any(part in name for part in ("wide", "kde", "table", "Prepared", "MaxMargin"))
    and hasattr(getattr(adaline, name.split(",")[0], None), "get_params")
]
METHODS = (
    "fit", "partial_fit", "learn_one", "forget", "fit_moments", "predict", "predict_one",
    "decision_function", "score", "summary", "path",
)  # fmt: skip


def unlike(model: Any, before: dict[str, Any]) -> list[str]:
    """Names of the parts that are not what they were; the order of parts counts too."""
    now = vars(model)
    changed = [key for key in before if key not in now or not same(now[key], before[key])]
    return changed + [key for key in now if key not in before]


def good_rows(name: str, model: Any) -> tuple[Any, Any]:
    rows = X[:24, : getattr(model, "n_features_in_", 2 if "Poly" in name else 3)]
    if "TfDf" in name:
        return np.abs(rows).round(), None
    if not hasattr(type(model), "decision_function") and not hasattr(model, "classes_"):
        several = getattr(model, "_one_target", True) is False
        return rows, (Y if several else y)[:24]
    known = getattr(model, "classes_", None)
    if known is not None and known.dtype == bool:
        return rows, two[:24] == "yes"
    many = (known is not None and len(known) == 3) or ", 3" in name
    return rows, three[:24] if many else two[:24]


def spoiled(array: Any, value: float) -> Any:
    """A copy with one value changed, in the last row: what is checked late is refused late."""
    array = np.array(array, dtype=np.float64)
    array[-1, ..., -1] = value
    return array


def bad_calls(rows: Any, labels: Any) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """(X, y, sample_weight and the like) that no learner can take, each for one reason."""
    import pandas as pd

    n, p = rows.shape
    ones = np.ones(n)
    strange = np.array(["stranger"] * n)
    dates = np.array(["2020-01-01"] * n, dtype="datetime64[D]")
    frame = pd.DataFrame(rows, columns=[f"other {j}" for j in range(p)])
    calls: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "NaN": (spoiled(rows, np.nan), labels, {}),
        "inf": (spoiled(rows, np.inf), labels, {}),
        "NaN in CSR": (sparse.csr_array(spoiled(rows, np.nan)), labels, {}),
        "too large": (spoiled(rows, 1e300), labels, {}),
        "a column more": (np.hstack([rows, rows[:, :1]]), labels, {}),
        "a column less": (rows[:, :-1], labels, {}),
        "no column": (rows[:, :0], labels, {}),
        "no row": (rows[:0], None if labels is None else labels[:0], {}),
        "other names": (frame, labels, {}),
        "complex": (rows * 1j, labels, {}),
        "words": (np.full(rows.shape, "word"), labels, {}),
        "one dimension": (rows[0], labels, {}),
        "three dimensions": (rows[None], labels, {}),
        "nothing": (None, labels, {}),
        "negative weights": (rows, labels, {"sample_weight": -ones}),
        "NaN weights": (rows, labels, {"sample_weight": ones * np.nan}),
        "infinite weights": (rows, labels, {"sample_weight": ones * np.inf}),
        "zero weights": (rows, labels, {"sample_weight": 0 * ones}),
        "few weights": (rows, labels, {"sample_weight": ones[:3]}),
        "words as weights": (rows, labels, {"sample_weight": strange}),
        "weights and NaN": (spoiled(rows, np.nan), labels, {"sample_weight": ones}),
        "wrong margins": (rows, labels, {"margins": -ones}),
        "wrong start": (rows, labels, {"coef_init": [1.0, 2.0]}),
        "infinite start": (rows, labels, {"coef_init": np.full((1, p), np.inf)}),
        "wrong classes": (rows, labels, {"classes": ["a", "b"]}),
    }
    if labels is None:
        return calls
    return calls | {
        "short y": (rows, labels[:-2], {}),
        "no y": (rows, None, {}),
        "one class": (rows, np.full(n, labels[0]) if labels.ndim == 1 else labels[:, 0], {}),
        "strangers": (rows, strange, {}),
        "dates": (rows, dates, {}),
        "NaN in y": (rows, np.full(n, np.nan), {}),
        "inf in y": (rows, np.full(n, np.inf), {}),
        "complex y": (rows, np.full(n, 1j), {}),
        "objects as y": (rows, np.array([object()] * n), {}),
        "more targets": (rows, np.ones((n, 5)), {}),
        "deep y": (rows, np.ones((n, 1, 1)), {}),
    }


def called(model: Any, method: str, call: tuple[Any, Any, dict[str, Any]]) -> Any:
    rows, labels, options = call
    do = getattr(model, method)
    known = inspect.signature(do).parameters
    options = {key: value for key, value in options.items() if key in known}
    if method in ("predict", "decision_function"):
        return do(rows)
    if method in ("learn_one", "predict_one"):
        x = rows if rows is None or rows.shape[0] == 0 or rows.ndim == 1 else rows[-1:]
        x = x.toarray()[0] if sparse.issparse(x) else np.asarray(x)
        x = x[0] if x.ndim == 2 and len(x) else x
        one = None if labels is None or not len(labels) else labels[-1]
        return do(x) if method == "predict_one" else do(x, one, **options)
    if method == "fit_moments":
        return do(adaline.Moments.of(np.asarray(rows, float), labels))
    if method == "path":
        return do([1.0], rows, labels, **options)
    if method == "summary":
        return do(X=rows, y=labels, **options) if "X" in known else do(level=7.0)
    return do(rows, **options) if "y" not in known else do(rows, labels, **options)


def refusals(name: str, model: Any) -> tuple[int, list[str]]:
    """How many calls were refused, and what they changed."""
    rows, labels = good_rows(name, model)
    count, found = 0, []
    for method in METHODS:
        if not hasattr(model, method):
            continue
        for kind, call in bad_calls(rows, labels).items():
            trial = copy.deepcopy(model)
            before = copy.deepcopy(vars(trial))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    called(trial, method, call)
                except Exception:
                    count += 1
                    if changed := unlike(trial, before):
                        found.append(f"{method}, {kind}: {changed}")
    return count, found


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_call_changes_nothing(name):
    count, found = refusals(name, made(name))
    assert found == []
    assert count > 20


@pytest.mark.parametrize("name", sorted({name.split(",")[0] for name in NAMES}))
def test_a_refused_call_of_a_new_model_leaves_it_new(name):
    _, found = refusals(name, type(made(name))())
    assert found == []


WRONG: list[Any] = ["nonsense", -1, np.nan, np.inf, None, object(), []]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_that_are_refused_change_nothing(name):
    """Set after the fit, to nonsense: learning on and asking may be refused, and change nothing."""
    model = made(name)
    rows, labels = good_rows(name, model)
    found = []
    for parameter in model.get_params(deep=False):
        for value in WRONG:
            for method in ("fit", "partial_fit", "forget", "predict", "score"):
                if not hasattr(model, method):
                    continue
                trial = copy.deepcopy(model).set_params(**{parameter: value})
                before = copy.deepcopy(vars(trial))
                before[parameter] = value  # an object() is like itself only
                if not hasattr(trial, method):  # in batch mode there is no stream
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        called(trial, method, (rows, labels, {}))
                    except Exception:
                        if changed := unlike(trial, before):
                            found.append(f"{method}, {parameter}={value!r}: {changed}")
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_a_warning_that_is_made_an_error_changes_nothing(name):
    model = made(name)
    rows, labels = good_rows(name, model)
    rows = np.tile(rows[:, :1], rows.shape[1])  # dependent columns, or overlapping classes
    for method in ("fit", "partial_fit"):
        trial = copy.deepcopy(model)
        before = copy.deepcopy(vars(trial))
        if hasattr(trial, method):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    called(trial, method, (rows, labels, {}))
                except Exception:
                    assert unlike(trial, before) == []
