"""Models taken apart into plain parts and put together again, by the tables of `_schema`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from adaline import decisions
from adaline.data.storing._filter_states import resumed
from adaline.data.storing._nodes import resolved, same
from adaline.data.storing._reader import Reader
from adaline.data.storing._schema import ALONE, PROOFS, RECORDS, WRITTEN
from adaline.data.storing._shapes import Shapes
from adaline.data.storing._writer import Writer
from adaline.errors import ModelFileError
from adaline.estimators.registry import (
    demand,
    estimator_named,
    is_public,
    public_estimators,
)
from adaline.filters import FILTERS

# Held for the length of a fit, or for people who look on.
_PASSING = ("_skl_callbacks", "_look")


def kind_of(model: Any) -> tuple[str, str]:
    """ "estimator", "record", "filter" or "proof", and the name; or ModelFileError."""
    name = type(model).__name__
    if is_public(model):
        return "estimator", name
    records = {key: RECORDS[key][0] for key in ALONE}
    for kind, homes in (("record", records), ("filter", FILTERS), ("proof", PROOFS)):
        if homes.get(name) == type(model).__module__:
            return kind, name
    estimators = [kind.__name__ for kind in public_estimators()]
    raise ModelFileError(
        f"A {type(model).__module__}.{name} cannot be stored; model files hold "
        f"{', '.join(sorted([*estimators, *ALONE, *FILTERS, *PROOFS]))}."
    )


def taken_apart(model: Any, writer: Writer) -> dict[str, Any]:
    """The JSON node of a model; its arrays are in the writer."""
    kind, name = kind_of(model)
    if kind == "record":
        return {"kind": kind, "name": name, "content": writer.node(model, name)}
    if kind == "filter":
        return {"kind": kind, "name": name, "content": writer.node(model.state(), name)}
    if kind == "proof":
        return {"kind": kind, "name": name, "content": json.loads(model.to_json())}
    _check_fitted(model, name)
    params = model.get_params(deep=False)
    model._settled()
    learned = _learned(model, name, params)
    content = {
        "params": {key: writer.node(value, f"{name}.{key}") for key, value in params.items()},
        "learned": {key: writer.node(value, f"{name}.{key}") for key, value in learned.items()},
    }
    return {"kind": kind, "name": name, "content": content}


def put_together(node: Any, reader: Reader) -> Any:
    """The model of a JSON node, checked."""
    if not isinstance(node, dict) or set(node) != {"kind", "name", "content"}:
        raise ModelFileError("The file does not say what it holds.")
    kind, name, content = node["kind"], node["name"], node["content"]
    if not isinstance(name, str) or not isinstance(kind, str):
        raise ModelFileError("The file does not name what it holds.")
    if kind == "estimator" and (make := estimator_named(name)) is not None:
        return _estimator(make, content, reader)
    if kind == "record" and name in ALONE:
        record = reader.node(content, name)
        Shapes().check(record, name, name)
        return record
    if kind == "filter" and name in FILTERS:
        return resumed(name, reader.node(content, name))
    if kind == "proof" and name in PROOFS:
        return _proof(name, content)
    raise ModelFileError(f"The file holds {kind[:40]!r} {name[:60]!r}, unknown to this adaline.")


def _proof(name: str, content: Any) -> Any:
    try:
        found = resolved(PROOFS[name], name).from_json(json.dumps(content))
        again = json.loads(found.to_json())
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ModelFileError(f"The file holds no proof: {error}") from None
    if json.dumps(again, sort_keys=True) != json.dumps(content, sort_keys=True):
        raise ModelFileError("The file holds a proof in other words than ours.")
    return found


def difference(model: Any, back: Any) -> str | None:
    """The first part that came back otherwise than it was; None where all are the same."""
    kind, name = kind_of(model)
    if kind == "filter":
        now, then = dict(model.state()), dict(back.state())
        changed = [key for key in now if not same(now[key], then.get(key))]
        return str(changed[0]) if changed else None
    if kind != "estimator":
        return None if same(model, back) else name
    for key in sorted(set(vars(model)) | set(vars(back))):
        if key not in _PASSING and not same(vars(model).get(key), vars(back).get(key)):
            return str(key)
    return None


def _check_fitted(model: Any, name: str) -> None:
    asked = getattr(model, "__sklearn_is_fitted__", None)
    if not (asked() if asked else any(key.endswith("_") for key in vars(model))):
        raise ModelFileError(
            f"This {name} has learned nothing yet; call fit first. (Settings alone are one line of "
            "code, and need no file.)"
        )


def _learned(model: Any, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the model knows besides its parameters, without what follows from the rest."""
    described, follows = _described(type(model)), model._derived
    learned: dict[str, Any] = {}
    for key in vars(model):
        if key in params or key in follows or key in _PASSING:
            continue
        if key not in described:
            raise ModelFileError(
                f"This {name} has an attribute {key!r} that model files do not know; delete it, "
                "or keep it elsewhere. (For adaline's own: add it to `_stored` of the class.)"
            )
        learned[key] = getattr(model, key)  # which makes what was to be made when someone asks
    if "coef_" in follows:
        learned["dtype"] = model._dtype
        if model._is_written():  # then they do not follow from what was learned
            learned |= {key: getattr(model, key) for key in WRITTEN}
    return learned


def _described(kind: Any) -> dict[str, str]:
    """Descriptions of an estimator's learned parts; the dtype of coef_ where coef_ follows."""
    described = {key.rstrip("?"): text for key, text in kind._stored.items()}
    return described | ({"dtype": "dtype"} | WRITTEN if "coef_" in kind._derived else {})


def _estimator(make: Any, content: Any, reader: Reader) -> Any:
    name = make.__name__
    if not isinstance(content, dict) or set(content) != {"params", "learned"}:
        raise ModelFileError(f"The file has no parameters and learned parts of a {name}.")
    if not all(isinstance(part, dict) for part in content.values()):
        raise ModelFileError(f"The file has no parameters and learned parts of a {name}.")
    if set(content["params"]) != set(make().get_params(deep=False)):
        raise ModelFileError(
            f"The file has the parameters {str(sorted(content['params']))[:200]}; {name} has "
            f"{sorted(make().get_params(deep=False))}."
        )
    described = _described(make)
    optional = {k[:-1] for k in make._stored if k[-1] == "?"}
    optional |= set(WRITTEN) if "dtype" in described else set()
    missing = set(described) - optional - set(content["learned"])
    strange = set(content["learned"]) - set(described)
    if missing or strange:
        raise ModelFileError(
            f"The file's {name} lacks {sorted(missing)} and has {str(sorted(strange))[:200]}."
        )
    params = {key: reader.node(part, f"{name}.{key}") for key, part in content["params"].items()}
    parts = {key: reader.node(part, f"{name}.{key}") for key, part in content["learned"].items()}
    shapes = Shapes()
    for key, description in described.items():
        if key in parts:
            shapes.check(parts[key], description, f"{name}.{key}")
    model = make(**params)
    dtype = parts.pop("dtype", None)
    weights = {key: parts.pop(key) for key in WRITTEN if key in parts and dtype is not None}
    vars(model).update(parts)
    try:
        _complete(model, dtype)
        if weights:
            _write(model, weights)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ModelFileError(f"The parts of this {name} contradict each other: {error}") from None
    return model


def _complete(model: Any, dtype: Any) -> None:
    """Make what follows from the stored parts; ValueError where they contradict each other."""
    if hasattr(model, "_check_parameters"):
        model._check_parameters()
    model._restored(dtype)
    classes: Any = getattr(model, "classes_", None)
    if classes is not None and hasattr(model, "costs"):
        decisions.checked_costs(model.costs, len(classes))
        decisions.checked_reject_cost(model.reject_cost)
    if "classes_" in model._stored:  # else their order is that of the densities given
        demand(same(np.unique(classes), classes), "its labels are not sorted.")


def _write(model: Any, weights: dict[str, Any]) -> None:
    """Put back coef_ and intercept_ that were written after the fit."""
    demand(set(weights) == set(WRITTEN), "one of coef_ and intercept_.")
    vars(model).update(weights)
    demand(model._is_written(), "weights that were written, and are those learned.")
