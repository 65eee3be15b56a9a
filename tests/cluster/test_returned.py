"""What a worker returns is looked at before it is merged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adaline import ClassMoments, DataError, Moments, Triangle
from adaline.data.fitting._returned import Part, check_returned
from adaline.procedures.newton.pass_sums import Sums

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
MOMENTS = Moments.of(X, Y)
CLASSES = ClassMoments.of(X, np.array([0, 1, 0, 1, 0, 1]), 2)
TRIANGLE = Triangle.of(X, Y)
SUMS = Sums.nothing(1, 3)

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
    "no blocks": replace(SUMS, blocks=0),
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
