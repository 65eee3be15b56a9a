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
from adaline.cli.printing.printer import Out, Whole, Working
from adaline.cli.printing.progress import Progress
from adaline.data import blocks
from adaline.evaluation.words import name, number, plural
from adaline.filters import WienerFilter, noise_filter, noise_reduction
from adaline.filters.cancelling import reference_delay

_BLOCK = 65536  # samples that are filtered at a time
_HEARD = 2**20  # samples, the last ones, from which the noise that is left is estimated
_COVERED = 0.99  # of the recording, at least, by the reference: the rest may be cut off


def filter(
    recording: str,
    /,
    *,
    reference: Annotated[str, Parameter(name=["--reference", "-r"])],
    out: Annotated[str, Parameter(name=["--out", "-o"])],
    algorithm: Literal["auto", "rls", "block", "nlms", "affine", "lms", "wiener"] = "auto",
    taps: Whole = 32,
    eta: float | None = None,
    delay: int | None = None,
    passes: Whole = 2,
    common: Working | None = None,
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
        taps; nlms, affine and lms are for comparison. wiener is the best fixed filter of the whole
        recording: the cleanest where the path of the noise does not change.
    taps
        How many samples of the reference's past are used: as long as the echo of the noise.
    eta
        The step of learning; for rls the share of the past to keep, near 1. If not given, rls
        remembers 30,000 samples (or 1,000 for each weight), or a twentieth of that if the path of
        the noise varies and the shorter memory does better.
    delay
        Samples by which to delay the reference, negative to advance it. If not given, it is
        estimated: 0 unless a delay helps clearly.
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
    if algorithm == "wiener":
        passes = 1
        if eta is not None:
            raise Usage("--eta is the step of a filter that learns; --algorithm wiener has none.")
    primary, noise = _wav(recording), _wav(reference)
    if primary.rate != noise.rate:
        raise ValueError(
            f"{recording} has {primary.rate} samples a second and {reference} {noise.rate}; bring "
            "both to one rate first."
        )
    if len(noise.matrix) < _COVERED * len(primary.matrix):
        raise ValueError(
            f"{reference} has {number(len(noise.matrix))} samples and {recording} "
            f"{number(len(primary.matrix))}; the reference must last as long as the recording. Cut "
            "the recording to the part that the reference covers."
        )
    run = _Run(primary, noise, taps, algorithm, eta, delay, passes)
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
    gains, found = run.gains(), run.reductions()
    printer.verdict(f"Wrote {out}: {_gain(gains)}")
    chosen = dict.fromkeys(_name(f) for f in run.filters)
    printer.say(f"{' and '.join(chosen)}, {_times(passes)}{_shift(run.delay)}.")
    for c, reduction in enumerate(found):
        channel = f" of channel {c + 1}" if channels > 1 else ""
        printer.say(f"In the second half{channel}, {reduction}.")
    warnings = _doubts(primary, noise, run.n, wav.clipped, gains, found, taps)
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
            "coherence_before": _number(found[0].coherence_before),
            "coherence_after": _number(found[0].coherence_after),
            "delay": run.delay,
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
        self,
        primary: Any,
        noise: Any,
        taps: int,
        algorithm: str,
        eta: float | None,
        delay: int | None,
        passes: int,
    ) -> None:
        self.primary, self.noise = primary, noise
        self.n = n = min(len(primary.matrix), len(noise.matrix))
        self.given, self.taps, self.delay = (taps, algorithm, eta), taps, delay or 0
        if delay is None:
            d = _samples(primary, 0, min(n, _HEARD))
            loudest = int(np.argmax(np.sum(d**2, axis=0)))
            self.delay = reference_delay(_samples(noise, 0, len(d)), d[:, loudest], taps)
        first = 0 if algorithm == "wiener" else max(0, n - _HEARD)
        x, d = self.reference(first, n), _samples(primary, first, n)
        self.settings: dict[str, Any] = {"channels": len(noise.names), "level": self._level()}
        self.filters = [
            noise_filter(*self.given, **self.settings, heard=(x, d[:, c]), passes=passes)
            for c in range(len(primary.names))
        ]
        # Before and after, in the first and the second half.
        self.power = np.zeros((2, 2, len(primary.names)))
        self.first = max(n // 2, n - _HEARD)
        self.answers: list[Any] = []  # from there on, of the last pass

    def reference(self, start: int, stop: int) -> Any:
        """The reference of these samples, delayed; zeros where there is none."""
        a, b = np.clip([start - self.delay, stop - self.delay], 0, self.n)
        x = np.zeros((stop - start, len(self.noise.names)))
        x[a - start + self.delay : b - start + self.delay] = _samples(self.noise, a, b)
        return x

    def _level(self) -> float:
        """Mean power of the reference, all channels together."""
        starts = range(0, self.n, _BLOCK)
        parts = (self.reference(a, min(a + _BLOCK, self.n)) for a in starts)
        return float(sum(np.sum(part**2) for part in parts)) / self.n

    def start_again(self) -> None:
        """Go back to the first sample with what the filters have learned."""
        self.filters = [noise_filter(*self.given, **self.settings, after=f) for f in self.filters]

    def blocks(self, last: bool) -> Iterator[tuple[int, Any]]:
        """Where each block ends, and what is left of it; the last pass is measured."""
        for start in range(0, self.n, _BLOCK):
            stop = min(start + _BLOCK, self.n)
            d, x = _samples(self.primary, start, stop), self.reference(start, stop)
            e = np.column_stack(
                [f.process(x, np.ascontiguousarray(d[:, c]))[1] for c, f in enumerate(self.filters)]
            )
            if last:
                self._measure(start, d, e)
            yield stop, e

    def _measure(self, start: int, d: Any, e: Any) -> None:
        cut = np.clip(self.n // 2 - start, 0, len(d))
        for half, rows in enumerate((slice(0, cut), slice(cut, None))):
            self.power[half, 0] += np.sum(d[rows] ** 2, axis=0)
            self.power[half, 1] += np.sum(e[rows] ** 2, axis=0)
        self.answers.append(e[max(self.first - start, 0) :])

    def gains(self) -> list[float]:
        """By how many decibels the power fell: over all samples, and in the second half."""
        whole, later = self.power.sum(axis=(0, 2)), self.power[1].sum(axis=1)
        return [_decibel(*whole), _decibel(*later)]

    def reductions(self) -> list[Any]:
        """What was achieved in the second half, for each channel of the recording."""
        first = max(0, self.n - _HEARD)
        x, d, e = (
            self.reference(first, self.n),
            _samples(self.primary, first, self.n),
            np.concatenate(self.answers),
        )
        e = np.concatenate([d[: len(d) - len(e)], e])  # the first half is not judged
        start = self.first - first
        return [
            noise_reduction(d[:, c], x, e[:, c], self.taps, start=start) for c in range(d.shape[1])
        ]


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
    if isinstance(filter, WienerFilter):
        return words
    if not hasattr(filter, "forgetting"):
        return f"{words} and a step of {filter.eta:.3g}"
    if filter.forgetting == 1.0:
        return f"{words} and a memory of all samples"
    return f"{words} and a memory of {number(round(1 / (1 - filter.forgetting)))} samples"


def _times(passes: int) -> str:
    return "one pass" if passes == 1 else f"{number(passes)} passes"


def _shift(delay: int) -> str:
    if not delay:
        return ""
    return f", reference {'delayed' if delay > 0 else 'advanced'} by {number(abs(delay))} samples"


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


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


def _decibel(before: float, after: float) -> float:
    if before <= 0:
        return 0.0
    return float(10 * np.log10(before / after)) if after > 0 else float("inf")


def _gain(gains: list[float]) -> str:
    whole, later = (f"{abs(g):.1f} dB" if np.isfinite(g) else "all of it" for g in gains)
    first, second = ("rose" if g < -0.05 else "fell" for g in gains)
    again = "" if first == second else f"{second} "
    return f"the power {first} by {whole}, and in the second half {again}by {later}."


def _doubts(
    primary: Any,
    noise: Any,
    n: int,
    clipped: int,
    gains: list[float],
    found: list[Any],
    taps: int,
) -> list[str]:
    said = []
    a, b = len(primary.matrix), len(noise.matrix)
    if a != b:
        said.append(
            f"{name(primary.name)} has {number(a)} samples and {name(noise.name)} {number(b)}; the "
            f"first {number(n)} were used."
        )
    if clipped:
        said.append(f"{plural(clipped, 'sample', 'were')} beyond full scale and cut off.")
    if any(r.worse for r in found):
        said.append(
            "more noise was added than removed: the recording is cleaner than the result. The "
            "filter followed the sound that is to stay, or the path of the noise changed faster "
            "than it learns; take --algorithm auto without --eta, or fewer --taps."
        )
    elif gains[1] < 0.3:
        said.append(
            "little was removed: the reference may not be of this noise, may hold the sound that "
            "is to stay alone, or may need more --taps."
        )
    said += [
        r.advice(taps) + (f" (Channel {c + 1}.)" if len(found) > 1 else "")
        for c, r in enumerate(found)
        if r.more_taps and not r.worse
    ]
    if gains[1] > 30.0:
        said.append("nearly all was removed: does the reference hold the signal itself?")
    return said
