"""The inside of every filter: its memory, the first block that decides it, and blocks in pieces.

A filter is a recipe for `_advance`: a block in, outputs and errors out, the memory moved on. What
users see of it is in `_base`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from adaline.filters._checks import (
    Setting,
    every_so_many,
    filled,
    fits,
    flag,
    one_of,
    shown,
    whole,
)
from adaline.filters._guards import (
    BAD_D,
    BAD_X,
    RATE_TOO_LARGE,
    Block,
    Frozen,
    cleaned,
    not_finite,
    ran_away,
)
from adaline.filters._signals import Signal, as_kind, as_numbers, converted, kind_of


class Core:
    """Settings and memory of a filter, and the hooks that make one filter differ from another.

    Subclasses write `_allocate`, `_memory`, `_advance`, `_get_weights`, `_set_weights`, and, where
    they can, `_advance_rows`; `_settings` names the parameters of their constructor.
    """

    _settings: ClassVar[tuple[str, ...]] = ("taps", "weights", "dtype", "on_nan", "history")
    _repeated: ClassVar[int] = 0  # numbers at the beginning of `head` that repeat the settings

    taps = Setting()
    on_nan = Setting()

    def __init__(
        self,
        taps: int,
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.taps = whole(taps, "taps", 1)
        self.on_nan = one_of("on_nan", on_nan, ("raise", "hold", "skip"))
        self._check_room(1)
        self._every = every_so_many(history)
        self._wanted = None if dtype is None else as_kind(dtype)
        self._initial = None if weights is None else self._as_weights(weights)
        self._adapting = True
        self._dtype: np.dtype[Any] | None = None
        self._channels: int | None = None
        self._initial_now: Block | None = None
        self._quick: np.dtype[Any] | None = None
        self._restart()

    # What subclasses write.

    def _numbers_of(self, channels: int) -> dict[str, int]:
        """About how many numbers the memory holds, beside the parameter they are for."""
        return {"taps": 8 * channels * self.taps}

    def _allocate(self) -> None:
        """Make the memory for `_dtype` and `channels`, weights zero."""
        raise NotImplementedError

    def _memory(self) -> dict[str, Block]:
        """Every array that the next block depends on; views, so that they can be written to."""
        raise NotImplementedError

    def _advance(self, x: Block, d: Block, frozen: Frozen, out: Block) -> int:
        """Filter x (n channels, sample by sample) and adapt; out (2, n) receives y and e.

        Answers FINE, or 8 * sample + what is wrong there (a sample that is no number counts) with
        the memory as before the block. Where frozen (n,) is given and not zero, no update is made.
        """
        raise NotImplementedError

    def _advance_rows(self, U: Block, d: Block, frozen: Frozen, out: Block) -> int:
        """The same for given rows instead of a delay line."""
        raise TypeError(f"{type(self).__name__} lives on a delay line and takes no rows.")

    def _get_weights(self) -> Block:
        """The weights now, (channels, taps)."""
        raise NotImplementedError

    def _set_weights(self, W: Block) -> None:
        """The other way round."""
        raise NotImplementedError

    def _adapt(self, on: bool) -> None:
        """Told when `adapting` changes; `_advance` is also given frozen samples."""

    def _rate_error(self, x: Block) -> ValueError:
        """What to say where `_advance` found RATE_TOO_LARGE."""
        return ValueError("The step is too large for this signal.")

    # Inside.

    def _setting(self, name: str) -> Any:
        own = {"weights": self._initial, "dtype": self._wanted and str(self._wanted)}
        return (
            own[name] if name in own else self._every if name == "history" else getattr(self, name)
        )

    def _restart(self) -> None:
        self._initial_now = self._initial
        self._channels = None if self._initial is None else len(self._initial)
        self._count = 0
        self._records: list[Block] = []
        self._recorded_at: list[int] = []
        self._look()

    def _look(self) -> None:
        """Whether blocks may take the short way."""
        plain = self._adapting and self.on_nan == "raise" and self._every is None
        self._quick = self._dtype if plain and self._channels == 1 else None

    def _as_weights(self, weights: Any) -> Block:
        W = np.atleast_2d(as_numbers(weights, "weights"))
        if W.ndim != 2 or not len(W) or W.shape[1] != self.taps or not np.isfinite(W).all():
            raise ValueError(
                f"weights have shape {np.shape(weights)}; expected finite numbers of shape "
                f"({self.taps},) or (channels, {self.taps})."
            )
        return np.array(W, dtype=kind_of(W))

    def _first_weights(self) -> Block:
        if self._initial_now is not None:
            return self._initial_now.copy()
        return np.zeros((1, self.taps), self._wanted or np.float64)

    def _fitting(self, W: Block) -> Block:
        assert self._dtype is not None
        if len(W) != self._channels:
            raise ValueError(
                f"weights are for {len(W)} channels; this filter has {self._channels}."
            )
        return converted(W, self._dtype, "weights")

    def _start(self, x: Signal, d: Signal, channels: int) -> None:
        """The first block decides the kind of numbers and the channels."""
        if self._dtype is not None:
            return
        initial = self._initial_now
        others = [] if initial is None or initial.dtype.kind != "c" else [initial]
        kind = self._wanted or kind_of(x, d, *others)
        for signal, name in ((x, "x"), (d, "d")):
            converted(signal[:0], kind, name)
        if initial is not None and len(initial) != channels:
            raise ValueError(f"weights are for {len(initial)} channels; x has {channels}.")
        self._begin(kind, channels)
        if initial is not None:
            self._set_weights(self._fitting(initial))

    @contextmanager
    def _undecided_if_refused(self) -> Iterator[None]:
        """A first block that is refused decides neither the kind of numbers nor the channels."""
        fresh, channels = self._dtype is None, self._channels
        try:
            yield
        except Exception:
            if fresh:
                self._dtype, self._channels = None, channels
                self._look()
            raise

    def _check_room(self, channels: int) -> None:
        for name, numbers in self._numbers_of(channels).items():
            fits(name, getattr(self, name), numbers)

    def _begin(self, kind: np.dtype[Any], channels: int) -> None:
        self._check_room(channels)
        self._dtype, self._channels = kind, channels
        # For on_nan: the last good sample of each channel and of d, and how long to stay frozen.
        self._held = np.zeros(channels + 2, kind)
        self._allocate()
        self._adapt(self._adapting)
        self._look()

    def _resume(self, rest: dict[str, Any]) -> None:
        """The memory of a state, which may come from anywhere."""
        self._adapting = flag("adapting", rest["adapting"])
        if "kind" not in rest:
            self._check_parts(rest, {"adapting"}, {"memory.weights"})
            if "memory.weights" in rest:
                self.weights = rest["memory.weights"]
            self._look()
            return
        for name in ("channels", "count"):
            if name not in rest:
                raise ValueError(f"state has no {name!r}, which goes with its memory.")
        if not isinstance(rest["kind"], str):
            raise ValueError(f"state has kind {shown(rest['kind'])}; expected a word.")
        kept = sum(part.size for part in rest.values() if isinstance(part, np.ndarray))
        channels = whole(rest["channels"], "channels", 1, max(1, kept))
        self._count = whole(rest["count"], "count", 0, 2**62)
        self._begin(as_kind(rest["kind"], "kind"), channels)
        names = {f"memory.{name}" for name in [*self._memory(), "held"]}
        self._check_parts(rest, {"adapting", "kind", "channels", "count"} | names, set())
        # Kernels take sizes from their memory on trust, so they must be those of the settings.
        fresh = self._memory().get("head", np.empty(0))[: self._repeated].copy()
        for name, into in [*self._memory().items(), ("held", self._held)]:
            filled(into, rest.get(f"memory.{name}"), f"memory.{name}")
        if not np.array_equal(fresh, self._memory().get("head", fresh)[: self._repeated]):
            raise ValueError("state has a memory that contradicts its settings.")
        self._look()

    def _check_parts(self, rest: dict[str, Any], needed: set[str], allowed: set[str]) -> None:
        """Refuse a state with parts missing, or with some that this filter does not have."""
        if missing := sorted(needed - rest.keys()):
            raise ValueError(f"state has no {missing[0]!r}, which {type(self).__name__} needs.")
        if strange := sorted(rest.keys() - needed - allowed):
            raise ValueError(f"state has {strange[0]!r}, which {type(self).__name__} has not.")

    def _checked(self, x: Signal, d: Signal, every: int | None) -> tuple[Block, Block]:
        """Outputs and errors of a block whose shapes are right."""
        self._start(x, d, x.shape[1])
        assert self._dtype is not None
        x, d = converted(x, self._dtype, "x"), converted(d, self._dtype, "d")
        block = cleaned(x, d, self.on_nan, self.taps, self._held)
        frozen = block.frozen if self._adapting else np.ones(len(d), np.uint8)
        out = np.empty((2, len(d)), self._dtype)
        self._in_pieces(block.x, block.d, frozen, out, every)
        self._held[:] = block.held
        out[1, block.unknown] = np.nan
        return out[0], out[1]

    def _in_pieces(self, x: Block, d: Block, frozen: Frozen, out: Block, every: int | None) -> None:
        """One piece, or pieces that end where the weights are recorded; all of them or none."""
        n, count = len(d), self._count
        before = {} if every is None else {k: a.copy() for k, a in self._memory().items()}
        ends = [n] if every is None else [*range(every - count % every, n, every), n]
        records, start = [], 0
        for end in ends:
            piece = slice(start, end)
            part = out if len(ends) == 1 else np.empty((2, end - start), out.dtype)
            found = self._advance(x[piece].reshape(-1), d[piece], frozen[piece], part)
            out[:, piece] = part
            if found:
                for name, a in self._memory().items():
                    a[...] = before.get(name, a)
                raise self._complaint(found + 8 * start, x, d)
            if every is not None and (count + end) % every == 0:
                records.append((count + end, self.weights))
            start = end
        self._count += n
        self._recorded_at += [at for at, _ in records]
        self._records += [w for _, w in records]

    def _complaint(self, found: int, x: Block, d: Block) -> Exception:
        at, what = divmod(found, 8)
        if what == BAD_X:
            return ValueError(not_finite("x", x))
        if what == BAD_D:
            return ValueError(not_finite("d", d))
        if what == RATE_TOO_LARGE:
            return self._rate_error(x)
        return ran_away(type(self).__name__, at, self._count)
