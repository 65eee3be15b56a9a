"""Sound files: a channel a column, samples as rows."""

from __future__ import annotations

import os
import struct
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaline.data.reading.arrays.numpy_files import MatrixSource
from adaline.data.reading.source import Block, Piece, existing, fingerprint_of_file
from adaline.errors import DataError


class WavSource(MatrixSource):
    """PCM of 8 to 64 bits, scaled to -1..1, or floats as they are; `rate` in samples a second."""

    def __init__(self, path: str, columns: Sequence[str] | None, rows: int | None):
        existing(path)
        _check_chunks(path)
        self.rate, samples = _samples(path)
        names = [f"channel{j}" for j in range(samples.shape[1])]
        super().__init__(samples, names, columns, rows, path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "matrix": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.matrix = _samples(self.name)[1]

    @property
    def fingerprint(self) -> str:
        """Of the file, and of how it is cut."""
        return fingerprint_of_file(self.name, self.size, self.names)

    def read(self, piece: Piece) -> Block:
        """Samples of a range, full scale being 1."""
        block = super().read(piece)
        raw = np.asarray(block.matrix)
        if raw.dtype.kind == "u":  # 8 bits are stored about 128
            scaled = (raw.astype(np.float64) - 128.0) / 128.0
        elif raw.dtype.kind == "i":
            scaled = raw / float(2 ** (8 * raw.dtype.itemsize - 1))
        else:
            scaled = raw.astype(np.float64)
        return Block(block.names, (), scaled, block.place)


def _check_chunks(path: str) -> None:
    """Refuse a file whose chunks claim more bytes than there are: memory is made for the claim."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(12)
        order = ">" if head.startswith(b"RIFX") else "<"
        while len(found := file.read(8)) == 8:
            name, claimed = found[:4], struct.unpack(f"{order}I", found[4:])[0]
            if head.startswith(b"RF64") and claimed == 2**32 - 1:
                return  # its 64-bit size is another chunk's; the samples are mapped, not read
            if claimed > size - file.tell():
                raise DataError(
                    f"{path}: a part of this wav file claims {claimed} bytes, and "
                    f"{size - file.tell()} are left; it is cut short. Save it again whole."
                )
            if name == b"data":
                return
            file.seek(claimed + claimed % 2, os.SEEK_CUR)


def _samples(path: str) -> tuple[int, Any]:
    """Rate and samples (n, channels), mapped where the format allows."""
    from scipy.io import wavfile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)  # chunks that are no sound
        for mapped in (True, False):  # 24 bits cannot be mapped
            try:
                rate, samples = wavfile.read(path, mmap=mapped)
                break
            except Exception as error:
                if not mapped or "mmap" not in str(error):
                    raise DataError(
                        f"{path}: this is no whole wav file of PCM or float samples ({error})."
                    ) from None
    return int(rate), samples.reshape(len(samples), -1)
