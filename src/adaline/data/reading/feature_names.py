"""Names of numbered columns: there may be millions, so that only their number is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, eq=False)
class FeatureNames(Sequence[str]):
    """The names before, and then x{first}, x{first + 1}, ..., so many.

    >>> names = FeatureNames(3, 1, ("y",))
    >>> list(names), names[-1], len(names), names == ("y", "x1", "x2", "x3")
    (['y', 'x1', 'x2', 'x3'], 'x3', 4, True)
    """

    size: int
    first: int = 0
    before: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.before) + self.size

    @overload
    def __getitem__(self, k: int) -> str: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...
    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        i = range(len(self))[k]
        return self.before[i] if i < len(self.before) else f"x{self.first + i - len(self.before)}"

    def __iter__(self) -> Iterator[str]:
        yield from self.before
        yield from map("x%d".__mod__, range(self.first, self.first + self.size))

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        """Where a name is, computed from its number."""
        if name in self.before:
            place = self.before.index(name)
        elif isinstance(name, str) and name[:1] == "x" and name[1:].isdecimal():
            place = len(self.before) + int(name[1:]) - self.first
        else:
            place = len(self)
        end = len(self) if stop is None else min(stop, len(self))
        if not start <= place < end or self[place] != name:  # x01 is not x1
            raise ValueError(f"{name!r} is not among the names")
        return place

    def __contains__(self, name: object) -> bool:
        try:
            self.index(name)
        except ValueError:
            return False
        return True

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, FeatureNames):
            mine, theirs = (self.size, self.first), (other.size, other.first)
            return (*mine, self.before) == (*theirs, other.before)
        if not isinstance(other, list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.size, self.first, self.before))

    def features(self) -> FeatureNames:
        """Without the names before."""
        return FeatureNames(self.size, self.first)
