"""The few warnings and errors that are ours; bad input raises plain ValueError and TypeError."""


class IllConditionedWarning(UserWarning):
    """The answer depends on the last digits of the data; the message says how strongly."""


class RankDeficientWarning(UserWarning):
    """Some columns are combinations of others; the message names them."""


class SeparableError(ValueError):
    """A hyperplane separates the classes, so that maximum likelihood has no finite weights."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message says which extra brings it."""
