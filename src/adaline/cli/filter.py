"""`adaline filter`: take out of a recording what a reference of the noise explains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from adaline.cli.files.sources import not_the_data
from adaline.cli.files.wav_writer import WavWriter
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Common, Out, Whole
from adaline.cli.printing.progress import Progress
from adaline.data import blocks
from adaline.filters import noise_filter, noise_reduction
from adaline.verdicts.words import name, number

_BLOCK = 65536  # samples that are filtered at a time
_HEARD = 2**20  # samples, the last ones, from which the noise that is left is estimated


def filter(
    recording: str,
    /,
    *,
    reference: Annotated[str, Parameter(name=["--reference", "-r"])],
    out: Annotated[str, Parameter(name=["--out", "-o"])],
    algorithm: Literal["auto", "rls", "block", "nlms", "affine", "lms"] = "auto",
    taps: Whole = 32,
    eta: float | None = None,
    passes: Whole = 2,
    common: Common | None = None,
) -> int:
    """Take noise out of a recording (wav), given a reference of the noise alone.

    What the reference explains is subtracted, and what is left is written. The reference must
    not hold the signal that is to stay, or that goes, too.

    Parameters
    ----------
    recording
        Signal and noise, a wav file; each channel is cleaned by itself.
    reference
        What the noise comes from, a wav file of the same rate; several channels are used together.
    out
        Where to write what is left, a wav file: 16 bits where the recording has 16 or 8, else
        floats.
    algorithm
        auto takes rls, and block where taps and channels of the reference make more than 512
        weights. rls cleans best, and its work grows with taps squared; block suits thousands of
        taps; nlms, affine and lms are for comparison.
    taps
        How many samples of the reference's past are used: as long as the echo of the noise.
    eta
        The step of learning; for rls the share of the past to keep, near 1. If not given, rls
        remembers 30,000 samples (or 1,000 for each weight), or a twentieth of that where the way of
        the noise changes and less noise is left so.
    passes
        How often the recording is gone through; the last time is written. With 1 the beginning is
        as noisy as it would be live.
    """
    printer = Out(common)
    _check_names(out, recording, reference)
    if taps < 1:
        raise Usage(f"--taps {taps}: expected 1 or more.")
    if not 1 <= passes <= 100:
        raise Usage(f"--passes {passes}: expected 1 to 100.")
    primary, noise = _wav(recording), _wav(reference)
    if primary.rate != noise.rate:
        raise ValueError(
            f"{recording} has {primary.rate} samples a second and {reference} {noise.rate}; bring "
            "both to one rate first."
        )
    run = _Run(primary, noise, taps, algorithm, eta)
    channels = len(primary.names)
    floats = primary.matrix.dtype.kind == "f" or primary.matrix.dtype.itemsize > 2
    with (
        WavWriter(out, primary.rate, channels, floats) as wav,
        Progress(printer, run.n * passes) as progress,
    ):
        for k in range(passes):
            if k:
                run.start_again()
            for stop, e in run.blocks(last=k == passes - 1):
                progress(k * run.n + stop)
                if k == passes - 1:
                    wav.write(e)
    gains, found = run.gains(), run.heard.reductions(taps)
    printer.verdict(f"Wrote {out}: {_gain(gains)}")
    chosen = dict.fromkeys(_name(f) for f in run.filters)
    achieved = dict.fromkeys(str(r) for r in found)
    printer.say(f"{' and '.join(chosen)}, {_times(passes)}: {'; '.join(achieved)}.")
    warnings = _doubts(primary, noise, run.n, wav.clipped, gains, found)
    for text in warnings:
        printer.warn(text)
    told = [r.db for r in found if np.isfinite(r.db)]
    printer.json(
        {
            "command": "filter",
            "algorithm": algorithm,
            "filter": repr(run.filters[0]),
            "taps": taps,
            "passes": passes,
            "samples": run.n,
            "channels": channels,
            "rate": primary.rate,
            "removed_db": gains[0],
            "removed_db_second_half": gains[1],
            "noise_reduction_db": min(told) if told else None,
            "worse": any(r.worse for r in found),
            "clipped": wav.clipped,
            "warnings": warnings,
            "out": out,
        }
    )
    return 0


class _Run:
    """A filter for each channel of the recording, and what the last pass has measured."""

    def __init__(
        self, primary: Any, noise: Any, taps: int, algorithm: str, eta: float | None
    ) -> None:
        self.primary, self.noise = primary, noise
        self.n = n = min(len(primary.matrix), len(noise.matrix))
        self.given = (taps, algorithm, eta)
        self.settings: dict[str, Any] = {"channels": len(noise.names), "level": _power(noise)}
        x, d = (_samples(source, max(0, n - _HEARD), n) for source in (noise, primary))
        self.filters = [
            noise_filter(*self.given, **self.settings, heard=(x, d[:, c]))
            for c in range(len(primary.names))
        ]
        # Before and after, in the first and the second half.
        self.power = np.zeros((2, 2, len(primary.names)))
        self.heard = _Heard(n)

    def start_again(self) -> None:
        """Go back to the first sample with what the filters have learned."""
        self.filters = [noise_filter(*self.given, **self.settings, after=f) for f in self.filters]

    def blocks(self, last: bool) -> Iterator[tuple[int, Any]]:
        """Where each block ends, and what is left of it; the last pass is measured."""
        for start in range(0, self.n, _BLOCK):
            stop = min(start + _BLOCK, self.n)
            d, x = _samples(self.primary, start, stop), _samples(self.noise, start, stop)
            e = np.column_stack(
                [f.process(x, np.ascontiguousarray(d[:, c]))[1] for c, f in enumerate(self.filters)]
            )
            if last:
                self._measure(start, x, d, e)
            yield stop, e

    def _measure(self, start: int, x: Any, d: Any, e: Any) -> None:
        cut = np.clip(self.n // 2 - start, 0, len(d))
        for half, rows in enumerate((slice(0, cut), slice(cut, None))):
            self.power[half, 0] += np.sum(d[rows] ** 2, axis=0)
            self.power[half, 1] += np.sum(e[rows] ** 2, axis=0)
        self.heard.add(start, x, d, e)

    def gains(self) -> list[float]:
        """By how many decibels the power fell: over all samples, and in the second half."""
        whole, later = self.power.sum(axis=(0, 2)), self.power[1].sum(axis=1)
        return [_decibel(*whole), _decibel(*later)]


class _Heard:
    """The last samples of the second half: reference, recording and result."""

    def __init__(self, n: int) -> None:
        self.first = max(n // 2, n - _HEARD)
        self.parts: list[tuple[Any, Any, Any]] = []

    def add(self, start: int, x: Any, d: Any, e: Any) -> None:
        skip = max(self.first - start, 0)
        if skip < len(d):
            self.parts.append((x[skip:], d[skip:], e[skip:]))

    def reductions(self, taps: int) -> list[Any]:
        """What was achieved, for each channel of the recording."""
        x, d, e = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return [noise_reduction(d[:, c], x, e[:, c], taps) for c in range(d.shape[1])]


def _check_names(out: str, recording: str, reference: str) -> None:
    """Refuse, before any work, a result that is no wav file or one of the inputs."""
    not_the_data(out, recording, reference)
    ending = os.path.splitext(out)[1].lower()
    if ending not in (".wav", ".wave") and not out.startswith("/dev/"):
        what = f"the ending {ending}" if ending else "no ending"
        raise Usage(
            f"--out {out} has {what}, and sound is written as wav only. Name it "
            f"{os.path.splitext(out)[0]}.wav, and convert it afterwards if need be."
        )


def _name(filter: Any) -> str:
    words = f"{type(filter).__name__} with {number(filter.taps)} taps"
    if not hasattr(filter, "forgetting"):
        return f"{words} and a step of {filter.eta:.3g}"
    if filter.forgetting == 1.0:
        return f"{words} and a memory of all samples"
    return f"{words} and a memory of {number(round(1 / (1 - filter.forgetting)))} samples"


def _times(passes: int) -> str:
    return {1: "once through", 2: "twice through"}.get(passes, f"{number(passes)} times through")


def _wav(path: str) -> Any:
    if path == "-":
        raise Usage("sound is read from files; give the name of a wav file.")
    source = blocks(path, format=".wav")
    if not len(source.matrix):  # type: ignore[attr-defined]
        raise ValueError(f"{path}: there are no samples in it.")
    return source


def _samples(source: Any, start: int, stop: int) -> Any:
    """Samples from start to stop, full scale being 1."""
    piece = next(iter(source.descriptors()))
    return np.asarray(source.read(type(piece)(0, start, stop)).matrix)


def _power(source: Any) -> float:
    """Mean square over the whole file, of all channels together."""
    n = len(source.matrix)
    parts = (_samples(source, a, min(a + _BLOCK, n)) for a in range(0, n, _BLOCK))
    return float(sum(np.sum(part**2) for part in parts)) / n


def _decibel(before: float, after: float) -> float:
    if before <= 0:
        return 0.0
    return float(10 * np.log10(before / after)) if after > 0 else float("inf")


def _gain(gains: list[float]) -> str:
    whole, later = (f"{g:.1f} dB" if np.isfinite(g) else "all of it" for g in gains)
    return f"the power fell by {whole}, and in the second half by {later}."


def _doubts(
    primary: Any, noise: Any, n: int, clipped: int, gains: list[float], found: list[Any]
) -> list[str]:
    said = []
    a, b = len(primary.matrix), len(noise.matrix)
    if a != b:
        said.append(
            f"{name(primary.name)} has {number(a)} samples and {name(noise.name)} {number(b)}; the "
            f"first {number(n)} were used."
        )
    if clipped:
        said.append(f"{number(clipped)} samples were beyond full scale and were cut off.")
    if any(r.worse for r in found):
        said.append(
            "more noise was added than removed: the recording is cleaner than the result. The "
            "filter followed the sound that is to stay, or the way of the noise changed faster "
            "than it learns; take --algorithm auto without --eta, or fewer --taps."
        )
    elif gains[1] < 0.3:
        said.append(
            "little was removed: the reference may not be of this noise, may lag behind it, or may "
            "need more --taps."
        )
    if gains[1] > 30.0:
        said.append("nearly all was removed: does the reference hold the signal itself?")
    return said
