"""`adaline info`: what a model file holds."""

from __future__ import annotations

from typing import Any

from adaline.cli.models import read_model
from adaline.cli.options import Common
from adaline.cli.printing import Answer, size
from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.fit_evidence import chosen_penalty
from adaline.evaluation.words import name, number


def info(model: str, /, *, common: Common | None = None) -> int:
    """What a model file holds: the learner, its columns, its coefficients and its certificate.

    Nothing in the file is run; whether the model is a good one is for adaline evaluate to say.

    Parameters
    ----------
    model
        A model file.
    """
    answer = Answer("info", common)
    found, about = read_model(model)
    encoding = getattr(found, "encoding", None)
    estimator = found if encoding is None else found.model
    target = about["metadata"].get("target")
    target = target if isinstance(target, str) else None
    lead = str(about["name"]) if target is None else f"{about['name']} for {name(target)}"
    version = name(about["versions"]["adaline"])
    answer.verdict(f"{name(lead)}, {size(about['bytes'])}, written by adaline {version}.")
    answer.say()
    parameters = {key: _shorten(value) for key, value in about["params"].items()}
    answer.pairs(_rows(estimator, about, encoding, parameters))
    names = getattr(estimator, "feature_names_in_", None) if encoding is None else encoding.names
    if names is None:
        names = [f"x{j}" for j in range(int(getattr(estimator, "n_features_in_", 0)))]
    weights = coefficients(estimator, [str(column) for column in names])
    answer.coefficients(weights)
    certificate = getattr(estimator, "certificate_", None)
    return answer.finish(
        kind=about["kind"],
        name=about["name"],
        bytes=about["bytes"],
        versions=about["versions"],
        parameters=parameters,
        alpha=getattr(estimator, "alpha_", None),
        target=target,
        classes=getattr(estimator, "classes_", None),
        inputs=None if encoding is None else encoding.to_dict(),
        certificate=certificate and {"kind": certificate.kind, "statement": certificate.statement},
        coefficients=weights.rows,
        metadata=about["metadata"],
    )


def _rows(
    estimator: Any, about: dict[str, Any], encoding: Any, parameters: dict[str, Any]
) -> list[tuple[str, str]]:
    rows = [("kind", about["kind"])]
    if encoding is not None:
        rows.append(("columns", ", ".join(name(e.name) for e in encoding.inputs[:12])))
        rows.append(("missing values", encoding.missing))
    if hasattr(estimator, "classes_"):
        rows.append(("classes", ", ".join(map(name, estimator.classes_.tolist()[:12]))))
    rows += [(key, name(value)) for key, value in parameters.items()]
    if (alpha := chosen_penalty(estimator)) is not None:
        rows.append(("alpha chosen", alpha))
    for key, value in about["metadata"].items():
        if isinstance(value, str | int | float) or value is None:
            rows.append((name(key), name("–" if value is None else value)))
    quality = about["metadata"].get("quality")
    for key in ("accuracy", "r2", "rmse") if isinstance(quality, dict) else ():
        if isinstance(quality.get(key), float):
            rows.append((f"{key} when it was fitted", number(quality[key])))
    if (certificate := getattr(estimator, "certificate_", None)) is not None:
        rows.append(("certificate", certificate.kind))
    return rows


def _shorten(value: Any) -> Any:
    is_simple = value is None or isinstance(value, bool | int | float | str)
    return value if is_simple else repr(value)
