"""Columns of a table to numbers; the work is done in `_encoding`."""

from adaline.data._encoding import MOST_LEVELS, Encoding, Input

__all__ = ["MOST_LEVELS", "Encoding", "Input"]
