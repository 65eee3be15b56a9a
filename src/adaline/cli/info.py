"""`adaline info`: what a model file holds."""

from __future__ import annotations

from rich.filesize import decimal

from adaline.cli.models import read_model
from adaline.cli.options import Common, ModelFile
from adaline.cli.printing import Answer, pick
from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.fit_evidence import chosen_penalty
from adaline.evaluation.words import name, number

PLAIN = str | int | float | None  # what a line shows


def info(model: ModelFile, /, *, common: Common | None = None) -> int:
    """What a model file holds: the learner, its columns, its coefficients and its certificate.

    Nothing in the file is run; whether the model is a good one is for adaline evaluate to say.
    """
    answer = Answer("info", common)
    found, about = read_model(model)
    encoding = getattr(found, "encoding", None)
    estimator = found if encoding is None else found.model
    certificate, metadata = getattr(estimator, "certificate_", None), about["metadata"]
    parameters = {k: v if isinstance(v, PLAIN) else repr(v) for k, v in about["params"].items()}
    names = getattr(estimator, "feature_names_in_", None) if encoding is None else encoding.names
    if names is None:
        names = [f"x{j}" for j in range(int(getattr(estimator, "n_features_in_", 0)))]
    weights = coefficients(estimator, [str(column) for column in names])
    target = metadata.get("target") if isinstance(metadata.get("target"), str) else None
    lead = str(about["name"]) if target is None else f"{about['name']} for {name(target)}"
    version = name(about["versions"]["adaline"])
    answer.verdict(f"{name(lead)}, {decimal(about['bytes'])}, written by adaline {version}.")
    answer.say()
    answer.pairs([("kind", about["kind"])])
    if encoding is not None:
        columns = ", ".join(name(entry.name) for entry in encoding.inputs[:12])
        answer.pairs([("columns", columns), ("missing values", encoding.missing)])
    if (classes := getattr(estimator, "classes_", None)) is not None:
        answer.pairs([("classes", ", ".join(map(name, classes.tolist()[:12])))])
    quality = metadata.get("quality") if isinstance(metadata.get("quality"), dict) else {}
    facts = parameters | {"alpha chosen": chosen_penalty(estimator)} | metadata
    facts |= {f"{key} when it was fitted": quality.get(key) for key in ("accuracy", "r2", "rmse")}
    facts["certificate"] = None if certificate is None else certificate.kind
    simple = {key: value for key, value in facts.items() if isinstance(value, PLAIN)}
    answer.pairs((name(key), name(number(value))) for key, value in simple.items())
    answer.coefficients(weights)
    return answer.finish(
        **{key: about[key] for key in ("kind", "name", "bytes", "versions", "metadata")},
        parameters=parameters,
        alpha=getattr(estimator, "alpha_", None),
        target=target,
        classes=classes,
        inputs=None if encoding is None else encoding.to_dict(),
        certificate=certificate and pick(certificate, "kind statement"),
        coefficients=weights.rows,
    )
