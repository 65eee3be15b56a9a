"""`adaline info`: what a model file holds."""

from __future__ import annotations

from rich.filesize import decimal

from adaline.cli.models import load_model
from adaline.cli.options import Common, ModelFile
from adaline.cli.printing import Answer, pick
from adaline.evaluation.coefficients import coefficients
from adaline.evaluation.fit_evidence import chosen_penalty
from adaline.evaluation.words import listed, name, number

SHOWN = str | int | float | None


def info(model: ModelFile, /, *, common: Common | None = None) -> int:
    """Show what a model file contains: the learner, its columns, coefficients and certificate.

    Nothing in the file is run.
    """
    answer, found = Answer("info", common), load_model(model, to_predict=False)
    estimator, encoding, about = found.estimator, found.encoding, found.about
    certificate, metadata = getattr(estimator, "certificate_", None), about["metadata"]
    parameters = {k: v if isinstance(v, SHOWN) else repr(v) for k, v in about["params"].items()}
    plain = [f"x{j}" for j in range(int(getattr(estimator, "n_features_in_", 0)))]
    names = encoding.names if encoding else getattr(estimator, "feature_names_in_", plain)
    weights = coefficients(estimator, [str(column) for column in names])
    target, classes = found.metadata("target"), getattr(estimator, "classes_", None)
    lead = str(about["name"]) if target is None else f"{about['name']} for {name(target)}"
    version = name(about["versions"]["adaline"])
    answer.verdict(f"{name(lead)}, {decimal(about['bytes'])}, written by adaline {version}.")
    answer.say()
    answer.pairs([("kind", about["kind"])])
    if encoding is not None:
        columns = listed([entry.name for entry in encoding.inputs], 12)
        answer.pairs([("columns", columns), ("missing values", encoding.missing)])
    if classes is not None:
        answer.pairs([("classes", listed(classes.tolist(), 12))])
    quality = metadata.get("quality") if isinstance(metadata.get("quality"), dict) else {}
    facts = parameters | {"alpha chosen": chosen_penalty(estimator)} | metadata
    facts |= {f"{key} when it was fitted": quality.get(key) for key in ("accuracy", "r2", "rmse")}
    facts["certificate"] = None if certificate is None else certificate.kind
    for key, value in facts.items():
        if value is not None and isinstance(value, SHOWN):
            answer.pairs([(name(key), name(number(value)))])
    answer.coefficients(weights)
    said = {key: about[key] for key in ("kind", "name", "bytes", "versions", "metadata")}
    said |= {"parameters": parameters, "alpha": getattr(estimator, "alpha_", None)}
    said |= {"target": target, "classes": classes, "inputs": encoding and encoding.to_dict()}
    said["certificate"] = certificate and pick(certificate, "kind statement")
    return answer.finish(**said, coefficients=weights.rows)
