"""What a worker returns is looked at before it is merged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adaline import (
    ClassMoments,
    DataError,
    LeastSquares,
    LogisticRegression,
    Moments,
    Triangle,
)
from adaline.data.fitting._returned import Part, check_returned
from adaline.sums.losses import Logistic
from adaline.sums.objective import Objective

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
MOMENTS = Moments.of(X, Y)
CLASSES = ClassMoments.of(X, np.array([0, 1, 0, 1, 0, 1]), 2)
TRIANGLE = Triangle.of(X, Y)
SUMS = Objective.of(Logistic(), X, np.sign(Y - 2.5), np.empty(0), 1.0, True).bare_sums(
    np.zeros((1, 3)), "joint"
)

RIGHT = [MOMENTS, CLASSES, TRIANGLE, SUMS, np.eye(3), (MOMENTS, "text")]
WRONG = {
    "not finite": replace(MOMENTS, scatter=MOMENTS.scatter * np.nan),
    "more rows than were read": replace(MOMENTS, rows=7),
    "negative rows": replace(MOMENTS, rows=-1),
    "another shape": replace(MOMENTS, scatter=MOMENTS.scatter[:2]),
    "other columns": replace(MOMENTS, rounding=MOMENTS.rounding[:1]),
    "classes of another shape": replace(CLASSES, scatter=CLASSES.scatter[:1]),
    "infinite means": replace(CLASSES, mean=CLASSES.mean + np.inf),
    "another triangle": replace(TRIANGLE, R=TRIANGLE.R[:2]),
    "another curvature": replace(SUMS, H=np.zeros((2, 2))),
    "more rows of a loss than were read": replace(SUMS, n=7),
    "an array of NaN": np.full(3, np.nan),
    "inside": (replace(MOMENTS, rows=7),),
}


@pytest.mark.parametrize("value", RIGHT)
def test_sums_of_blocks_pass(value):
    check_returned(Part(6, value))


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
def test_anything_else_is_refused_in_a_sentence(value):
    with pytest.raises(DataError, match="a worker returned"):
        check_returned(Part(6, value))


@pytest.mark.parametrize("part", [None, 3, Part(-1, MOMENTS), Part("six", MOMENTS)])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(DataError, match="a worker returned"):
        check_returned(part)


# Answers that are forged on their way ------------------------------------------------------------


class Forger:
    """An executor whose answers are right but for what `forge` does to them."""

    def __init__(self, forge):
        self.forge = forge

    def parts(self, function, descriptors, merge, start):
        for one in descriptors:
            block = one.compute() if hasattr(one, "compute") else one
            yield self.forge(function(block)), 1


@pytest.fixture
def forged(monkeypatch):
    """Let all answers about dask arrays be forged in this way."""
    pytest.importorskip("dask.array")
    from adaline.data.fitting import collections as fits
    from adaline.distributed import collections, predictions

    def by(forge):
        for module in (collections, predictions, fits):
            monkeypatch.setattr(module, "executor", lambda: Forger(forge))

    return by


def arrays(n=40):
    import dask.array as da

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    return da.from_array(X, chunks=(10, 3)), da.from_array(y, chunks=10)


FORGED = {
    "nothing of ours": lambda part: "sums",
    "a dictionary": lambda part: vars(part) if hasattr(part, "__dict__") else {},
    "NaN": lambda part: spoiled(part, np.nan),
    "infinite": lambda part: spoiled(part, np.inf),
    "fewer columns": lambda part: cut_short(part),
}


def spoiled(part, value):
    if isinstance(part, tuple):
        return (value, *part[1:])
    return replace(part, **{arrays_of(part)[0]: getattr(part, arrays_of(part)[0]) * value})


def cut_short(part):
    if isinstance(part, tuple):
        return part[:-1]
    name = arrays_of(part)[-1]
    return replace(part, **{name: getattr(part, name)[:-1]})


def arrays_of(part):
    return [name for name in part.__dataclass_fields__ if is_float_array(getattr(part, name))]


def is_float_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("kind", [Moments, Triangle, ClassMoments])
@pytest.mark.filterwarnings("ignore:invalid value encountered in multiply")
def test_forged_sums_of_dask_arrays_are_refused(forged, forge, kind):
    X, y = arrays()
    forged(forge)
    with pytest.raises(DataError, match="a worker returned"):
        kind.of(X, (y > 0).astype(int), 2) if kind is ClassMoments else kind.of(X, y)


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("learner", [LeastSquares, LogisticRegression])
def test_forged_scores_are_refused(forged, forge, learner):
    X, y = arrays()
    target = y > 0 if learner is LogisticRegression else y
    model = learner().fit(X.compute(), target.compute())
    right = model.score(X, target)
    forged(lambda part: part)
    assert model.score(X, target) == right
    forged(forge)
    with pytest.raises(DataError, match="a worker returned"):
        model.score(X, target)


def test_rows_of_another_count_are_refused(forged):
    X, y = arrays()
    forged(lambda part: replace(part, rows=-3))
    with pytest.raises(DataError, match="a worker returned the count -3"):
        Moments.of(X, y)


@pytest.mark.parametrize("answer", [None, {0: np.nan}, {0: -1.0}, {0: "much"}])
def test_forged_weights_of_classes_are_refused(forged, answer):
    X, y = arrays()
    forged(lambda part: answer if isinstance(part, dict) else part)
    with pytest.raises(DataError, match="a worker returned"):
        LogisticRegression().fit(X, y > 0, sample_weight=abs(y))
