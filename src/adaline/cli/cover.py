"""`adaline cover`: Cover's count of separable labellings."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

import adaline
from adaline.cli.options import Common, Count, Whole
from adaline.cli.printing import Answer, pick
from adaline.evaluation.words import number, plural


def cover(
    n: Count,
    d: Annotated[Whole, Parameter(validator=Number(gte=0))],
    /,
    *,
    common: Common = Common(),
) -> int:
    """Count the labellings of N points in D dimensions that a hyperplane separates, out of 2^N.

    Parameters
    ----------
    n
        Points, in general position.
    d
        Dimensions: inputs of the neuron, which has a bias.
    """
    answer, result, half = Answer("cover", common), adaline.cover(n, d), adaline.capacity(d)
    share = f"{100 * result.fraction:.4g}%"
    if result.fraction < 1e-4:  # which may underflow
        share = f"10^{result.log_fraction / math.log(10):.1f}"
    answer.verdict(
        f"A hyperplane separates {share} of all labellings of {plural(n, 'point')} in "
        f"{plural(d, 'dimension')}."
    )
    digits = (result.log_fraction + n * math.log(2)) / math.log(10)
    count = str(result.count) if digits < 4000 else None  # str() converts no more
    if digits < 60:
        answer.say(f"That is {result.count:,} of 2^{n}.")
    answer.say(
        f"At {number(half)} points, two for each free parameter, it is half of them; with fewer "
        "points, separability is weak evidence."
    )
    facts = {"n": n, "d": d, "capacity": half, "count": count}
    return answer.finish(**facts, **pick(result, "fraction log_fraction log_complement"))
