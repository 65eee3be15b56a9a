"""`adaline cover`: Cover's count of separable labellings."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter

import adaline
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Common, Out, Whole
from adaline.evaluation.words import number, plural

_DIGITS = 4000  # of a count that is written out


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
    out = Out(common)
    if n < 1 or d < 0:
        raise Usage(f"cover {n} {d}: expected 1 point or more, and 0 dimensions or more.")
    found = adaline.cover(n, d, bias)
    half = adaline.capacity(d, bias)
    log10 = (found.log_fraction + n * math.log(2)) / math.log(10)
    count = str(found.count) if log10 < _DIGITS and n < 1_000_000 else None
    share = found.fraction
    exactly = "every labelling" if share == 1 else f"{_share(found.log_fraction, share)} of all"
    where = f"{plural(n, 'point')} in {plural(d, 'dimension')}"
    out.verdict(
        f"A hyperplane {'with' if bias else 'without'} a bias separates {exactly}"
        f"{'' if share == 1 else ' labellings'} of {where}."
    )
    if count is not None:
        shown = f"{int(count):,}" if len(count) < 60 else f"a number of {len(count)} digits"
        out.say(f"That is {shown} of 2^{n}.")
    out.say(
        f"At {number(half)} points, two for each free parameter, it is half of them; a separable "
        f"training set says {'little' if n <= half else 'something'} here: it has {number(n)} rows."
    )
    out.json(
        {
            "command": "cover",
            "n": n,
            "d": d,
            "bias": bias,
            "fraction": share,
            "log_fraction": found.log_fraction,
            "log_complement": found.log_complement,
            "count": count,
            "capacity": half,
        }
    )
    return 0


def _share(log: float, share: float) -> str:
    if share >= 1e-4:
        return f"{100 * share:.4g} %"
    if share > 0:
        return f"{share:.4g}"
    return f"10^{log / math.log(10):.1f}"
