"""`adaline info`: what a model file holds."""

from __future__ import annotations

from typing import Any

from adaline.cli.predicting.predictions import read
from adaline.cli.printing.printer import Common, Out, strict
from adaline.cli.printing.words import size
from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.evidence import chosen_penalty
from adaline.evaluation.words import name, number, plain


def info(model: str, /, *, common: Common | None = None) -> int:
    """What a model file holds: the learner, its columns, its coefficients and its certificate.

    Nothing in the file is run; whether the model is a good one is for adaline evaluate to say.

    Parameters
    ----------
    model
        A model file.
    """
    out = Out(common)
    found, about = read(model)
    encoding = getattr(found, "encoding", None)
    inner = found if encoding is None else found.model
    metadata = about["metadata"]
    target = metadata.get("target")
    lead = f"{about['name']} for {name(target)}" if isinstance(target, str) else str(about["name"])
    out.verdict(
        f"{name(lead)}, {size(about['bytes'])}, written by adaline "
        f"{name(about['versions']['adaline'])}."
    )
    out.say()
    out.facts(_rows(inner, about, encoding))
    certificate = getattr(inner, "certificate_", None)
    names = _names(inner, encoding)
    weights = coefficients(inner, names)
    out.coefficients(weights)
    out.json(
        {
            "command": "info",
            "kind": about["kind"],
            "name": about["name"],
            "bytes": about["bytes"],
            "versions": about["versions"],
            "parameters": {k: _plain(v) for k, v in about["params"].items()},
            "alpha": getattr(inner, "alpha_", None),
            "target": target if isinstance(target, str) else None,
            "classes": getattr(inner, "classes_", None),
            "inputs": None if encoding is None else strict(encoding.to_dict()),
            "certificate": None
            if certificate is None
            else {"kind": certificate.kind, "statement": certificate.statement},
            "coefficients": weights.rows,
            "metadata": metadata,
        }
    )
    return 0


def _names(model: Any, encoding: Any) -> list[str]:
    if encoding is not None:
        return list(encoding.names)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(n) for n in names]
    return [f"x{j}" for j in range(int(getattr(model, "n_features_in_", 0)))]


def _rows(model: Any, about: dict[str, Any], encoding: Any) -> list[tuple[str, str]]:
    rows = [("kind", plain(about["kind"]))]
    if encoding is not None:
        rows.append(("columns", ", ".join(name(e.name) for e in encoding.inputs[:12])))
        rows.append(("missing values", plain(encoding.missing)))
    if hasattr(model, "classes_"):
        rows.append(("classes", ", ".join(name(c) for c in model.classes_.tolist()[:12])))
    for key, value in about["params"].items():
        rows.append((plain(key), name(_plain(value))))
    if (alpha := chosen_penalty(model)) is not None:
        rows.append(("alpha chosen", alpha))
    for key, value in about["metadata"].items():
        if isinstance(value, str | int | float) or value is None:
            rows.append((name(key), name("–" if value is None else value)))
    quality = about["metadata"].get("quality")
    if isinstance(quality, dict):
        for key in ("accuracy", "r2", "rmse"):
            if isinstance(quality.get(key), float):
                rows.append((f"{key} when it was fitted", number(quality[key])))
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        rows.append(("certificate", plain(certificate.kind)))
    return rows


def _plain(value: Any) -> Any:
    simple = value is None or isinstance(value, bool | int | float | str)
    return value if simple else repr(value)
