"""`adaline filter`: take out of a recording what a reference of the noise explains."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import adaline
from adaline.cli._errors import Usage
from adaline.cli._output import Common, Out, Whole
from adaline.cli._progress import Progress
from adaline.cli._source import not_the_data
from adaline.cli._wav import WavWriter
from adaline.data import blocks
from adaline.verdicts.words import name, number

_BLOCK = 65536  # samples that are filtered at a time
# A small step for rules of gradients: the signal that is to stay disturbs learning.
_ETA = {"nlms": 0.05, "lms": 0.05, "affine": 0.01, "block": 0.1}


def filter(
    recording: str,
    /,
    *,
    reference: Annotated[str, Parameter(name=["--reference", "-r"])],
    out: Annotated[str, Parameter(name=["--out", "-o"])],
    algorithm: Literal["nlms", "lms", "rls", "affine", "block"] = "nlms",
    taps: Whole = 32,
    eta: float | None = None,
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
        Where to write what is left: 16 bits where the recording has 16 or 8, else floats.
    algorithm
        nlms, lms, rls (learns fastest, work grows with taps squared), affine or block (spectra, for
        thousands of taps).
    taps
        How many samples of the reference's past are used: as long as the echo of the noise.
    eta
        The step of learning; for rls the share of the past to keep, near 1.
    """
    printer = Out(common)
    primary, noise = _wav(recording), _wav(reference)
    not_the_data(out, recording, reference)
    if primary.rate != noise.rate:
        raise ValueError(
            f"{recording} has {primary.rate} samples a second and {reference} {noise.rate}; bring "
            "both to one rate first."
        )
    if taps < 1:
        raise Usage(f"--taps {taps}: expected 1 or more.")
    n, channels = min(len(primary.matrix), len(noise.matrix)), len(primary.names)
    filters = [_made(algorithm, taps, eta, noise) for _ in range(channels)]
    floats = primary.matrix.dtype.kind == "f" or primary.matrix.dtype.itemsize > 2
    power = np.zeros((2, 2, channels))  # before and after, in the first and the second half
    with (
        WavWriter(out, primary.rate, channels, floats) as wav,
        Progress(printer, n) as progress,
    ):
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            d, x = _samples(primary, start, stop), _samples(noise, start, stop)
            e = np.column_stack(
                [f.process(x, np.ascontiguousarray(d[:, c]))[1] for c, f in enumerate(filters)]
            )
            cut = np.clip(n // 2 - start, 0, stop - start)
            for half, rows in enumerate((slice(0, cut), slice(cut, None))):
                power[half, 0] += np.sum(d[rows] ** 2, axis=0)
                power[half, 1] += np.sum(e[rows] ** 2, axis=0)
            wav.write(e)
            progress(stop)
    gains = [_decibel(power[:, 0].sum(), power[:, 1].sum()), _decibel(*power[1].sum(axis=1))]
    printer.verdict(f"Wrote {out}: {_gain(gains)}")
    warnings = _doubts(primary, noise, n, wav.clipped, gains)
    for text in warnings:
        printer.warn(text)
    printer.json(
        {
            "command": "filter",
            "algorithm": algorithm,
            "taps": taps,
            "samples": n,
            "channels": channels,
            "rate": primary.rate,
            "removed_db": gains[0],
            "removed_db_second_half": gains[1],
            "clipped": wav.clipped,
            "warnings": warnings,
            "out": out,
        }
    )
    return 0


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


def _made(algorithm: str, taps: int, eta: float | None, noise: Any) -> Any:
    if algorithm == "rls":
        # A soft start: from the first samples alone the signal would be taken for noise.
        start = 10 * taps * max(_power(noise), 1e-12)
        return adaline.RLS(taps, forgetting=0.9998 if eta is None else eta, delta=start)
    step = _ETA[algorithm] if eta is None else eta
    if algorithm == "lms" and eta is None:
        # The same step as NLMS takes, in units of the reference's power: far below 2/tr[R].
        step /= max(taps * _power(noise), 1e-12)
    kinds: dict[str, Any] = {
        "nlms": adaline.NLMS,
        "lms": adaline.LMS,
        "affine": adaline.AffineProjection,
        "block": adaline.BlockLMS,
    }
    return kinds[algorithm](taps, eta=step)


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


def _doubts(primary: Any, noise: Any, n: int, clipped: int, gains: list[float]) -> list[str]:
    said = []
    a, b = len(primary.matrix), len(noise.matrix)
    if a != b:
        said.append(
            f"{name(primary.name)} has {number(a)} samples and {name(noise.name)} {number(b)}; the "
            f"first {number(n)} were used."
        )
    if clipped:
        said.append(f"{number(clipped)} samples were beyond full scale and were cut off.")
    if gains[1] < 0.3:
        said.append(
            "little was removed: the reference may not be of this noise, may lag behind it, or may "
            "need more --taps."
        )
    if gains[1] > 30.0:
        said.append("nearly all was removed: does the reference hold the signal itself?")
    return said
