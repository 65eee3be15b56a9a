"""Model files: what was learned, as data and never as code.

What kernels trust is checked here and in `schema`; whether a model is a good one is another
question.

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

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline import __version__
from adaline.data.columns.encoding import Encoding
from adaline.data.outputs import LIMIT, read_file, refuse_unwritable, write_atomically
from adaline.data.reading.blocks import blocks
from adaline.data.storing.container import DAMAGE, pack, unpack
from adaline.data.storing.records import Arrays, decode, encode
from adaline.data.storing.schema import Shapes, records
from adaline.errors import DataWarning, ModelFileError, plural
from adaline.estimators.registry import (
    demand,
    estimator_named,
    is_public,
)
from adaline.filters import FILTERS
from adaline.parameters import MAPPING, NONE, PATH, count, wrong_type
from adaline.results import Result

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

Storable = Any  # a fitted estimator, a filter, a proof or a record
ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")

# What a file may hold beside public estimators, and where its class is.
RECORDS = ("ClassMoments", "MaxMargin", "Moments", "Triangle")
HOMES: dict[str, dict[str, Any]] = {
    "record": {name: records[name] for name in RECORDS},
    "filter": FILTERS,
    "proof": {"Separability": "adaline.certificates.separation.separation"},
}


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
    model: Learner

    def __getattr__(self, name: str) -> Any:
        if name not in ANSWERS:
            raise AttributeError(f"Prepared has no attribute {name!r}; see .model and .encoding.")
        answer = getattr(self.model, name)

        def answer_to(source: Any) -> Any:
            with warnings.catch_warnings():  # the encoding has seen to the columns' names
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                return np.concatenate([answer(X) for X in self.encoded(source)])

        return answer_to

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in ANSWERS if hasattr(self.model, name))]

    def encoded(self, source: Any) -> Iterator[Any]:
        """Rows of numbers, block by block; ValueError where rows would be left out."""
        rows = blocks(source)
        encoding, odd = self.encoding.forgiving(rows)
        for name, texts in odd.items():
            text = f"{rows.name}: {texts[0]!r} among numbers in {name!r} is taken as missing."
            warnings.warn(text, DataWarning, stacklevel=2)
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
    model: Storable,
    path: str | os.PathLike[str],
    encoding: Any = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file that holds data only, and can be read by anyone safely.

    The bytes are read back and compared before anything is written, and the file appears whole or
    not at all.

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
    PATH("path", path)
    (NONE | MAPPING)("metadata", metadata)
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
    PATH("path", path)
    count(1)("limit", limit)
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
    PATH("path", path)
    count(1)("limit", limit)
    data = read_file(path, limit=limit)
    with refusing_damage():
        header, arrays = read_header(data, limit)
        kind, name, content = (header["model"][key] for key in ("kind", "name", "content"))
        facts = {"kind": kind, "name": name, "encoded": header["encoding"] is not None}
        facts |= {key: header[key] for key in ("metadata", "versions")} | {"bytes": len(data)}
        facts["arrays"] = {key: (array.dtype.name, array.shape) for key, array in arrays.items()}
        parts = decode(content, name, arrays) if kind == "estimator" else {"params": {}}
        return facts | {"params": parts["params"]}


def packed(
    model: Storable, encoding: Any = None, metadata: Mapping[str, Any] | None = None
) -> bytes:
    """The bytes that `save` writes, read back and compared."""
    if isinstance(model, Prepared) and encoding is None:
        model, encoding = model.model, model.encoding
    if hasattr(model, "encoding_"):  # what `data.fit` learned with the model, and belongs beside it
        encoding, model = encoding or model.encoding_, copy(model)
        del model.encoding_
    versions = {"adaline": __version__, "numpy": np.__version__}
    data = write(model, encoding, dict(metadata or {}), versions)
    unpacked(data)
    return data


def write(model: Storable, encoding: Any, metadata: Any, versions: Any) -> bytes:
    """The bytes of a file; the same model has the same bytes."""
    kind, name, content = take_apart(model)
    arrays: Arrays = {}
    header = {
        "content": "model",
        "model": {"kind": kind, "name": name, "content": encode(content, name, arrays)},
        "encoding": encode(encoding, "encoding", arrays),
        "metadata": metadata,
        "versions": versions,
    }
    return pack(header, arrays)


def unpacked(data: bytes, *, limit: int = LIMIT) -> Any:
    """The model of a file's bytes."""
    with refusing_damage():
        header, arrays = read_header(data, limit)
        kind, name, content = (header["model"][key] for key in ("kind", "name", "content"))
        if name not in HOMES.get(kind, ()) and not (kind == "estimator" and estimator_named(name)):
            raise ModelFileError(f"The file has {str((kind, name))[:90]}, unknown to this adaline.")
        model = put_together(kind, name, decode(content, name, arrays))
        encoding = decode(header["encoding"], "encoding", arrays)
        Shapes().check(encoding, "Encoding | None", "encoding")
        # One content has one form, so nothing in a file is overlooked.
        again = write(model, encoding, header["metadata"], header["versions"])
        demand(again == data, "it has parts that are never written")
        if encoding is None:
            return model
        given, expected = len(encoding.names), getattr(model, "n_features_in_", None)
        demand(
            given == expected, f"the encoding gives {given} columns and the model takes {expected}"
        )
        return Prepared(encoding, model)


def read_header(data: bytes, limit: int) -> tuple[dict[str, Any], Arrays]:
    """The header of a model file, and its arrays."""
    header, arrays = unpack(data, limit=limit)
    if header.get("content") != "model":
        raise ModelFileError(f"The file holds a {str(header.get('content'))[:40]!r}, not a model.")
    return header, arrays


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Let whatever fails while a model is put together be a ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except (*DAMAGE, MemoryError) as error:
        raise ModelFileError(f"No model that could have been saved is like this: {error}") from None


def take_apart(model: Storable) -> tuple[str, str, Any]:
    """Kind, name and content of a model; `put_together` makes it of them again."""
    name, module = type(model).__name__, type(model).__module__
    if is_public(model):
        return "estimator", name, take_estimator_apart(model, name)
    for kind, homes in HOMES.items():
        if homes.get(name) == module:
            content = dict(model.state()) if kind == "filter" else model
            return kind, name, json.loads(model.to_json()) if kind == "proof" else content
    raise ModelFileError(
        f"A {module}.{name} cannot be stored; model files hold estimators and filters of adaline, "
        f"Separability, {', '.join(RECORDS)}."
    )


def put_together(kind: str, name: str, content: Any) -> Any:
    """The model of these parts, which may come from anywhere."""
    if kind == "estimator":
        return make_estimator(estimator_named(name), **content)
    if kind == "record":
        Shapes().check(content, name, name)
        return content
    home = getattr(import_module(HOMES[kind][name]), name)
    # `from_state` compares sizes with settings before it allocates.
    return home.from_state(content) if kind == "filter" else home.from_json(json.dumps(content))


def take_estimator_apart(model: Learner, name: str) -> dict[str, dict[str, Any]]:
    """Parameters, and what the model knows besides, without what follows from the rest."""
    is_fitted = getattr(model, "__sklearn_is_fitted__", None)
    if not (is_fitted() if is_fitted else any(key.endswith("_") for key in vars(model))):
        raise ModelFileError(f"This {name} has learned nothing yet; call fit first.")
    params = model.get_params(deep=False)
    model._settled()
    # `getattr` computes what is computed on demand.
    stored = [key.rstrip("?") for key in model._stored]
    learned = {key: getattr(model, key) for key in vars(model) if key in stored}
    # `_look` is of a trace, for the length of a fit.
    for key in vars(model).keys() - {*learned, *params, *model._derived, "_look"}:
        raise ModelFileError(
            f"This {name} has an attribute {key!r} that model files do not know; delete it, or "
            "keep it elsewhere. (For adaline's own: add it to `_stored` of the class.)"
        )
    return {"params": params, "learned": learned}


def make_estimator(make: Any, params: dict[str, Any], learned: dict[str, Any]) -> Any:
    """An estimator from its parameters and learned parts."""
    shapes, name = Shapes(), make.__name__
    for described, text in make._stored.items():
        key = described.rstrip("?")
        if key in learned:
            shapes.check(learned[key], text, f"{name}.{key}")
        else:
            demand(key != described, f"a {name} learns {key!r}, which the file has not")
    demand(learned.keys() <= {key.rstrip("?") for key in make._stored}, f"what no {name} learns")
    model = make(**params)
    vars(model).update(learned)
    if hasattr(model, "_check_parameters"):
        model._check_parameters()
    model._restored()
    return model
