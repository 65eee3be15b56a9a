"""A sound file that was dropped on the page, read by the reader of the command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.data import blocks
from adaline.play._uploads import Folder

MOST_SAMPLES = 480_000  # that are used: the first ten seconds at 48,000 a second
LARGEST = 50 * 2**20  # bytes
_FEWEST = 200


@dataclass(frozen=True, eq=False)
class Wav:
    """The first samples of a sound file.

    Attributes
    ----------
    name : str
        Of the file, made harmless.
    rate : int
    samples : ndarray of shape (n, channels)
    whole : int
        Samples that the file has.
    """

    name: str
    rate: int
    samples: NDArray[np.float64]
    whole: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "rate": self.rate,
            "channels": self.samples.shape[1],
            "seconds": self.whole / self.rate,
            "used": len(self.samples) / self.rate,
        }


def read(name: str, content: bytes) -> Wav:
    """The sound of a file; ValueError where it is none, or is silent."""
    if len(content) > LARGEST:
        raise ValueError(f"the file has {len(content) / 2**20:.0f} MB; expected at most 50.")
    with Folder() as folder:
        kept = folder.keep(name, content, endings=(".wav", ".wave"), otherwise=".wav")
        try:
            source: Any = blocks(kept, format=".wav")
            parts = [np.array(block.matrix, dtype=np.float64) for block in source]
        except ValueError as error:
            raise ValueError(str(error).replace(str(kept.parent), "").lstrip("/")) from None
    whole = sum(len(part) for part in parts)
    if whole < _FEWEST:
        raise ValueError(f"{kept.name} has {whole} samples; expected {_FEWEST} or more.")
    samples = np.concatenate(parts)[:MOST_SAMPLES]
    if not np.isfinite(samples).all():
        raise ValueError(f"{kept.name} holds samples that are no numbers; save it again.")
    if not 3000 <= source.rate <= 384_000:
        raise ValueError(
            f"{kept.name} has {source.rate} samples a second; expected 3,000 to 384,000."
        )
    if not samples[:, 0].any():
        raise ValueError(f"{kept.name} is silent in the part that is used.")
    return Wav(kept.name, int(source.rate), samples, whole)
