"""Model files: what was learned, as data and never as code.

>>> import tempfile, os
>>> from adaline import LeastSquares, load, save
>>> model = LeastSquares().fit([[1.0], [2.0], [4.0]], [3.0, 5.0, 9.0])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "line.adaline")
...     save(model, path)
...     load(path).predict([[10.0]]).round(12)
array([21.])
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adaline import __version__
from adaline.data.columns.encoding import Encoding
from adaline.data.outputs import refuse_unwritable
from adaline.data.reading.blocks import blocks
from adaline.data.reading.checks import check_mapping, check_path, check_whole, wrong_type
from adaline.data.storing.container import LIMIT, pack, read_file, unpack, write_atomically
from adaline.data.storing.models import difference, kind_of, put_together, take_apart
from adaline.data.storing.records import DAMAGE, Reader, encode, same
from adaline.errors import DataWarning, ModelFileError, plural
from adaline.results import Result

HEADER_KEYS = {"content", "model", "encoding", "metadata", "versions"}
ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class Prepared(Result):
    """A model and the preparation of its columns, which belong together.

    Attributes
    ----------
    encoding : Encoding
        How a table becomes the numbers that the model has learned from.
    model : estimator

    Notes
    -----
    `predict`, `predict_proba`, `predict_log_proba` and `decision_function` take what
    `adaline.data.blocks` takes (a table, or the path of a file), prepare it and ask the model, as
    far as the model has them.
    """

    encoding: Any
    model: Any

    def __getattr__(self, name: str) -> Any:
        if name not in ANSWERS:
            raise AttributeError(f"Prepared has no attribute {name!r}; see .model and .encoding.")
        return partial(self._answers, getattr(self.model, name))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in ANSWERS if hasattr(self.model, name))]

    def _answers(self, method: Any, source: Any) -> Any:
        """What the model's method says to the rows of a source, one after the other."""
        with warnings.catch_warnings():  # the encoding has seen to the columns' names
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return np.concatenate([method(X) for X in self.encoded(source)])

    def encoded(self, source: Any) -> Iterator[Any]:
        """Rows of numbers, block by block; ValueError where rows would be left out."""
        rows = blocks(source)
        encoding, odd = self.encoding.forgiving(rows)
        for name, texts in odd.items():
            told = f"{rows.name}: {texts[0]!r} among numbers in {name!r} is taken as missing."
            warnings.warn(told, DataWarning, stacklevel=2)
        for block in encoding.prepare(rows):
            keep = encoding.kept(block)
            if keep is not None:
                raise ValueError(
                    f"{plural(int((~keep).sum()), 'row', 'have')} missing values, which this "
                    "encoding leaves out: answers would not line up with rows. Drop these rows "
                    "first."
                )
            yield encoding.encode(block)


def save(
    model: Any,
    path: str | os.PathLike[str],
    encoding: Any = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file that holds data only, and can be read by anyone safely.

    What was read back is compared with the model, to the last bit, before anything is written;
    and the file appears whole or not at all.

    Parameters
    ----------
    model : fitted estimator, filter, Separability, Moments, ClassMoments, Triangle or MaxMargin
    path : str or path
        Customarily with the suffix .adaline. A file that is there is replaced.
    encoding : Encoding, optional
        How tables become the model's columns; `load` then gives both, as `Prepared`. A model that
        `adaline.data.fit` learned brings its own.
    metadata : mapping, optional
        Anything that strict JSON can hold: a title, a date, where the data came from.

    Raises
    ------
    ModelFileError
        Where something cannot be stored: functions, random generators, nothing learned.
    """
    check_path("path", path)
    check_mapping("metadata", metadata)
    if encoding is not None and not isinstance(encoding, Encoding):
        raise wrong_type("encoding", encoding, "an Encoding, such as Encoding.learn(source) gives")
    refuse_unwritable(path)
    write_atomically(path, packed(model, encoding, metadata))


def load(path: str | os.PathLike[str], *, limit: int = LIMIT) -> Any:
    """The model of a file that `save` wrote; it predicts, and learns on, with the same bits.

    Nothing in a file is run or imported: names are looked up in a fixed table, and sizes, types
    and shapes are checked before they are believed. Load files of any origin; whether a model is
    a good one is another question, which no file format answers.

    Parameters
    ----------
    path : str or path
    limit : int, default=2**32
        Bytes of the largest file to accept.

    Returns
    -------
    model
        As it was saved; `Prepared` where an encoding was saved with it.

    Raises
    ------
    ModelFileError
        Where the file is damaged, cut short, too large, newer than this adaline, or no model.
    """
    check_path("path", path)
    check_whole("limit", limit, 1)
    return unpacked(read_file(path, limit=limit), limit=limit)


def describe(path: str | os.PathLike[str], *, limit: int = LIMIT) -> dict[str, Any]:
    """What a model file says of itself: kind, name, versions, metadata, parameters and sizes.

    The model is not built, and the digest is checked as in `load`.

    Parameters
    ----------
    path : str or path
    limit : int, default=2**32
        Bytes of the largest file to accept.

    Returns
    -------
    dict
        "kind", "name", "params", "metadata" (what was given to `save`), versions and sizes.
    """
    check_path("path", path)
    check_whole("limit", limit, 1)
    data = read_file(path, limit=limit)
    header, reader = read_header(data, limit)
    with refusing():
        kind, name, content = (header["model"][key] for key in ("kind", "name", "content"))
        params = content.get("params", {}) if kind == "estimator" else {}
        params = {k: reader.node(part, f"{name}.{k}") for k, part in params.items()}
    return {
        "kind": kind,
        "name": name,
        "params": params,
        "encoded": header["encoding"] is not None,
        "metadata": header["metadata"],
        "versions": header["versions"],
        "bytes": len(data),
        "arrays": {name: (array.dtype.name, array.shape) for name, array in reader.arrays.items()},
    }


def packed(model: Any, encoding: Any = None, metadata: Mapping[str, Any] | None = None) -> bytes:
    """The bytes that `save` writes, read back and compared."""
    if isinstance(model, Prepared) and encoding is None:
        model, encoding = model.model, model.encoding
    if hasattr(model, "encoding_"):  # what `data.fit` learned with the model, and belongs beside it
        encoding, model = encoding or model.encoding_, copy(model)
        del model.encoding_
    arrays: dict[str, Any] = {}
    header = {
        "content": "model",
        "model": take_apart(model, arrays),
        "encoding": None if encoding is None else encode(encoding.to_dict(), "encoding", arrays),
        "metadata": dict(metadata or {}),
        "versions": {"adaline": __version__, "numpy": np.__version__},
    }
    data = pack(header, arrays)
    back = unpacked(data)
    back = back.model if isinstance(back, Prepared) else back
    if (part := difference(model, back)) is not None:
        raise ModelFileError(
            f"{part!r} of this {kind_of(model)[1]} would not come back as it is: it was changed "
            "after learning. Fit again, or undo the change."
        )
    return data


def unpacked(data: bytes, *, limit: int = LIMIT) -> Any:
    """The model of a file's bytes."""
    header, reader = read_header(data, limit)
    with refusing():
        model = put_together(header["model"], reader)
        encoding = None
        if header["encoding"] is not None:
            plain = reader.node(header["encoding"], "encoding")
            encoding = Encoding.from_dict(plain)
            if not same(encoding.to_dict(), plain):
                raise ModelFileError("The file holds an encoding of columns that is none of ours.")
            expected = getattr(model, "n_features_in_", None)
            if len(encoding.names) != expected:
                raise ModelFileError(
                    f"The encoding gives {len(encoding.names)} columns and the model takes "
                    f"{expected}."
                )
        reader.done()
    return model if encoding is None else Prepared(encoding, model)


@contextmanager
def refusing() -> Iterator[None]:
    """Let whatever fails while a model is put together be a ModelFileError."""
    try:
        yield
    except DAMAGE as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"The file holds no model that could have been saved: {error}"
        ) from error


def read_header(data: bytes, limit: int) -> tuple[dict[str, Any], Reader]:
    """The header of a model file, and a reader of its arrays."""
    header, arrays = unpack(data, limit=limit)
    if header.get("content") != "model":
        raise ModelFileError(f"The file holds a {str(header.get('content'))[:40]!r}, not a model.")
    versions = header.get("versions")
    good = isinstance(versions, dict) and all(type(text) is str for text in versions.values())
    if not good or set(header) != HEADER_KEYS or not isinstance(header["metadata"], dict):
        raise ModelFileError(
            f"The header has {str(sorted(header))[:200]}; expected {sorted(HEADER_KEYS)}."
        )
    return header, Reader(arrays)
