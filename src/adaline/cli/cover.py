"""`adaline cover`: Cover's count of separable labellings."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter

import adaline
from adaline.cli.errors import UsageError
from adaline.cli.options import Common, Whole
from adaline.cli.printing import Answer, pick
from adaline.evaluation.words import number, plural

MOST_DIGITS = 4000  # of a count that is written out: what str() of an int converts
MOST_POINTS = 1_000_000  # whose count is computed: a second


def cover(
    n: Whole,
    d: Whole,
    /,
    *,
    bias: Annotated[bool, Parameter(negative="--no-bias")] = True,
    common: Common | None = None,
) -> int:
    """How many of the 2^N labellings of N points in D dimensions a hyperplane separates.

    Parameters
    ----------
    n
        Points, in general position.
    d
        Dimensions: inputs of the neuron.
    bias
        Whether the hyperplane may miss the origin.
    """
    answer = Answer("cover", common)
    if n < 1 or d < 0:
        raise UsageError(f"cover {n} {d}: expected 1 point or more, and 0 dimensions or more.")
    found = adaline.cover(n, d, bias)
    half = adaline.capacity(d, bias)
    digits = (found.log_fraction + n * math.log(2)) / math.log(10)
    count = str(found.count) if digits < MOST_DIGITS and n < MOST_POINTS else None
    share = f"{100 * found.fraction:.4g}%" if found.fraction >= 1e-4 else f"{found.fraction:.4g}"
    if found.fraction == 0:  # underflow
        share = f"10^{found.log_fraction / math.log(10):.1f}"
    answer.verdict(
        f"A hyperplane {'with' if bias else 'without'} a bias separates {share} of all labellings "
        f"of {plural(n, 'point')} in {plural(d, 'dimension')}."
    )
    if count is not None:
        shown = f"{int(count):,}" if len(count) < 60 else f"a number of {len(count)} digits"
        answer.say(f"That is {shown} of 2^{n}.")
    answer.say(
        f"At {number(half)} points, two for each free parameter, it is half of them: below, a "
        "separable training set says little."
    )
    shares = pick(found, "fraction log_fraction log_complement")
    return answer.finish(n=n, d=d, bias=bias, count=count, capacity=half, **shares)
