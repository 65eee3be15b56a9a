"""The few warnings and errors that are ours; bad input raises plain ValueError and TypeError."""


class IllConditionedWarning(UserWarning):
    """The answer depends on the last digits of the data; the message says how strongly."""


class RankDeficientWarning(UserWarning):
    """Some columns are combinations of others; the message names them."""


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
