"""One check of a model: what was looked at, whether it is fine, and the sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adaline.results import Result


@dataclass(frozen=True)
class Check(Result):
    """A check and its verdict.

    Attributes
    ----------
    key : str
        A stable name.
    title : str
        A name for people.
    fine : bool or None
        Whether there is no reason to doubt; None where nobody can tell.
    sentence : str
        The verdict in words, with its numbers.
    numbers : mapping
        The same by stable names.
    grave : bool
        Whether a doubt belongs among the warnings.
    """

    key: str
    title: str
    fine: bool | None
    sentence: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    grave: bool = False

    @property
    def word(self) -> str:
        """fine, look at it, or not known."""
        return {True: "fine", False: "look", None: "not known"}[self.fine]
