"""Models as nodes of a file and back: estimators, sums, filters and proofs, checked as a whole.

`model_files` calls `take_apart` and `put_together`. What kernels trust is checked here and in
`schema`; whether a model is a good one is another question.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import decisions
from adaline.data.storing.records import DAMAGE, Reader, encode, same
from adaline.data.storing.schema import ALONE, PROOFS, RECORDS, WRITTEN, Shapes
from adaline.errors import ModelFileError
from adaline.estimators.registry import demand, estimator_named, is_public, public_estimators
from adaline.filters import FILTERS

PASSING = ("_skl_callbacks", "_look")  # held for the length of a fit, or for people who look on


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


def take_apart(model: Any, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The JSON node of a model, whose arrays are added."""
    kind, name = kind_of(model)
    if kind == "record":
        content = encode(model, name, arrays)
    elif kind == "filter":
        content = encode(model.state(), name, arrays)
    elif kind == "proof":
        content = json.loads(model.to_json())
    else:
        is_fitted = getattr(model, "__sklearn_is_fitted__", None)
        if not (is_fitted() if is_fitted else any(key.endswith("_") for key in vars(model))):
            raise ModelFileError(
                f"This {name} has learned nothing yet; call fit first. (Settings alone are one "
                "line of code, and need no file.)"
            )
        params = model.get_params(deep=False)
        model._settled()
        parts = {"params": params, "learned": learned_parts(model, name, params)}
        content = {
            part: {key: encode(value, f"{name}.{key}", arrays) for key, value in values.items()}
            for part, values in parts.items()
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
        return make_estimator(make, content, reader)
    if kind == "record" and name in ALONE:
        record = reader.node(content, name)
        Shapes().check(record, name, name)
        return record
    if kind == "filter" and name in FILTERS:
        state = reader.node(content, name)
        try:  # `from_state` compares the arrays with the settings before it allocates
            filter = getattr(import_module(FILTERS[name]), name).from_state(dict(state))
        except (*DAMAGE, MemoryError) as error:
            raise ModelFileError(f"The file holds no state of a {name}: {error}") from None
        if not same(dict(filter.state()), state):
            raise ModelFileError(f"The state of this {name} has parts that no {name} would have.")
        return filter
    if kind == "proof" and name in PROOFS:
        try:
            proof = getattr(import_module(PROOFS[name]), name).from_json(json.dumps(content))
            again = json.loads(proof.to_json())
        except DAMAGE as error:
            raise ModelFileError(f"The file holds no proof: {error}") from None
        if json.dumps(again, sort_keys=True) != json.dumps(content, sort_keys=True):
            raise ModelFileError("The file holds a proof in other words than ours.")
        return proof
    raise ModelFileError(f"The file holds {kind[:40]!r} {name[:60]!r}, unknown to this adaline.")


def difference(model: Any, back: Any) -> str | None:
    """The first part that came back otherwise than it was; None where all are the same."""
    kind, name = kind_of(model)
    if kind in ("record", "proof"):
        return None if same(model, back) else name
    now, then = (vars(m) if kind == "estimator" else dict(m.state()) for m in (model, back))
    keys = [key for key in sorted({*now, *then}) if key not in PASSING]
    return next((str(key) for key in keys if not same(now.get(key), then.get(key))), None)


def learned_parts(model: Any, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the model knows besides its parameters, without what follows from the rest."""
    described, follows = describe_parts(type(model)), model._derived
    learned: dict[str, Any] = {}
    for key in vars(model):
        if key in params or key in follows or key in PASSING:
            continue
        if key not in described:
            raise ModelFileError(
                f"This {name} has an attribute {key!r} that model files do not know; delete it, "
                "or keep it elsewhere. (For adaline's own: add it to `_stored` of the class.)"
            )
        learned[key] = getattr(model, key)  # which computes what is computed on demand
    if "coef_" in follows:
        learned["dtype"] = model._dtype
        if model._is_written():  # then they do not follow from what was learned
            learned |= {key: getattr(model, key) for key in WRITTEN}
    return learned


def describe_parts(kind: Any) -> dict[str, str]:
    """Descriptions of an estimator's learned parts; the dtype of coef_ where coef_ follows."""
    described = {key.rstrip("?"): text for key, text in kind._stored.items()}
    return described | ({"dtype": "dtype"} | WRITTEN if "coef_" in kind._derived else {})


def make_estimator(make: Any, content: Any, reader: Reader) -> Any:
    """An estimator from its parameters and learned parts."""
    name, described = make.__name__, describe_parts(make)
    params, learned = (content[part] for part in ("params", "learned"))
    if set(params) != set(make().get_params(deep=False)):
        raise ModelFileError(
            f"The file has the parameters {str(sorted(params))[:200]}; {name} has "
            f"{sorted(make().get_params(deep=False))}."
        )
    optional = {key[:-1] for key in make._stored if key[-1] == "?"}
    optional |= set(WRITTEN) if "dtype" in described else set()
    missing, strange = set(described) - optional - set(learned), set(learned) - set(described)
    if missing or strange or set(content) != {"params", "learned"}:
        raise ModelFileError(
            f"The file's {name} lacks {sorted(missing)} and has {str(sorted(strange))[:200]}."
        )
    params = {key: reader.node(part, f"{name}.{key}") for key, part in params.items()}
    parts = {key: reader.node(part, f"{name}.{key}") for key, part in learned.items()}
    shapes = Shapes()
    for key, description in described.items():
        if key in parts:
            shapes.check(parts[key], description, f"{name}.{key}")
    model = make(**params)
    dtype = parts.pop("dtype", None)
    written = {key: parts.pop(key) for key in WRITTEN if key in parts and dtype is not None}
    vars(model).update(parts)
    try:
        if hasattr(model, "_check_parameters"):
            model._check_parameters()
        model._restored(dtype)
        classes: Any = getattr(model, "classes_", None)
        if classes is not None and hasattr(model, "costs"):
            decisions.checked_costs(model.costs, len(classes))
            decisions.checked_reject_cost(model.reject_cost)
        if "classes_" in make._stored:  # else their order is that of the densities given
            demand(same(np.unique(classes), classes), "its labels are not sorted.")
        if written:  # coef_ and intercept_ that were assigned after the fit
            demand(set(written) == set(WRITTEN), "one of coef_ and intercept_.")
            vars(model).update(written)
            demand(model._is_written(), "weights that were written, and are those learned.")
    except DAMAGE as error:
        raise ModelFileError(f"The parts of this {name} contradict each other: {error}") from None
    return model
