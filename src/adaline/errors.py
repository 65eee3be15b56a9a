"""The few warnings and errors that are ours; bad input raises plain ValueError and TypeError."""

import os
from contextlib import suppress
from functools import cache


class IllConditionedWarning(UserWarning):
    """The answer depends on the last digits of the data; the message says how strongly."""


class RankDeficientWarning(UserWarning):
    """Some columns are combinations of others; the message names them."""


class DataWarning(UserWarning):
    """A column of a table was left out, or read by a guess; the message says which and why."""


class SeparableError(ValueError):
    """A hyperplane separates the classes, so that maximum likelihood has no finite weights."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message says which extra brings it."""


class DivergenceError(ArithmeticError):
    """Learning has run away; the message says at which sample; earlier weights are kept."""


class ModelFileError(ValueError):
    """A file is not what it should be, or a model cannot be a file; the message says why."""


class DataError(ValueError):
    """A file or table that cannot be read as it is; the message says where, and what to do."""


def refuse_beyond_memory(size: float, what: str, advice: str) -> None:
    """Raise ValueError where so many bytes are more than this machine's memory.

    Better than to begin: a system that promises more memory than it has kills the process later.
    """
    if size > _memory():
        raise ValueError(
            f"{what} would take {size / 2**30:.3g} GiB; this machine has "
            f"{_memory() / 2**30:.3g} GiB. {advice}"
        )


@cache
def _memory() -> float:
    """Bytes of memory that this process may have at most; infinity where nobody tells."""
    limits = []
    with suppress(AttributeError, OSError, ValueError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with (
        suppress(OSError, ValueError),
        open("/sys/fs/cgroup/memory.max", encoding="ascii") as told,  # of a container
    ):
        limits.append(int(told.read()))
    return float(min((limit for limit in limits if limit > 0), default=float("inf")))
