"""`adaline cover`: Cover's count of separable labellings."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.options import Common, Whole
from adaline.cli.printing import Answer, pick
from adaline.evaluation.words import number, plural

MOST_DIGITS = 4000  # of a count that is written out: what str() of an int converts


def cover(
    n: Annotated[Whole, Parameter(validator=Number(gte=1))],
    d: Annotated[Whole, Parameter(validator=Number(gte=0))],
    /,
    *,
    bias: Annotated[bool, Parameter(negative="--no-bias")] = True,
    common: Common | None = None,
) -> int:
    """Count the labellings of N points in D dimensions that a hyperplane separates, out of 2^N.

    Parameters
    ----------
    n
        Points, in general position.
    d
        Dimensions: inputs of the neuron.
    bias
        Whether the hyperplane may miss the origin.
    """
    answer, found, half = (
        Answer("cover", common),
        adaline.cover(n, d, bias),
        adaline.capacity(d, bias),
    )
    share = f"{100 * found.fraction:.4g}%"
    if found.fraction < 1e-4:  # which may underflow
        share = f"10^{found.log_fraction / math.log(10):.1f}"
    answer.verdict(
        f"A hyperplane {'with' if bias else 'without'} a bias separates {share} of all labellings "
        f"of {plural(n, 'point')} in {plural(d, 'dimension')}."
    )
    digits = (found.log_fraction + n * math.log(2)) / math.log(10)
    count = str(found.count) if digits < MOST_DIGITS else None
    if digits < 60:
        answer.say(f"That is {found.count:,} of 2^{n}.")
    answer.say(
        f"At {number(half)} points, two for each free parameter, it is half of them; with fewer "
        "points, separability is weak evidence."
    )
    facts = {"n": n, "d": d, "bias": bias, "capacity": half, "count": count}
    return answer.finish(**facts, **pick(found, "fraction log_fraction log_complement"))
