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


def info(model: ModelFile, /, *, common: Common = Common()) -> int:
    """Show what a model file contains: the learner, its columns, coefficients and certificate.

    Nothing in the file is run.
    """
    answer, loaded = Answer("info", common), load_model(model, to_predict=False)
    estimator, encoding, about = loaded.estimator, loaded.encoding, loaded.about
    certificate, metadata = getattr(estimator, "certificate_", None), about["metadata"]
    parameters = {k: v if isinstance(v, SHOWN) else repr(v) for k, v in about["params"].items()}
    plain = [f"x{j}" for j in range(int(getattr(estimator, "n_features_in_", 0)))]
    names = encoding.names if encoding else getattr(estimator, "feature_names_in_", plain)
    weights = coefficients(estimator, [str(column) for column in names])
    target, classes = loaded.metadata("target"), getattr(estimator, "classes_", None)
    lead = str(about["name"]) if target is None else f"{about['name']} for {name(target)}"
    version = name(about["versions"]["adaline"])
    answer.verdict(f"{name(lead)}, {decimal(about['bytes'])}, written by adaline {version}.")
    answer.say()
    facts = {"kind": about["kind"]}
    if encoding is not None:
        facts["columns"] = listed([entry.name for entry in encoding.inputs], 12)
        facts["missing values"] = encoding.missing
    if classes is not None:
        facts["classes"] = listed(classes.tolist(), 12)
    quality = metadata.get("quality") if isinstance(metadata.get("quality"), dict) else {}
    facts |= parameters | {"alpha chosen": chosen_penalty(estimator)} | metadata
    facts |= {f"{key} when it was fitted": quality.get(key) for key in ("accuracy", "r2", "rmse")}
    facts["certificate"] = None if certificate is None else certificate.kind
    shown = {key: v for key, v in facts.items() if v is not None and isinstance(v, SHOWN)}
    answer.pairs((name(key), name(number(value))) for key, value in shown.items())
    answer.coefficients(weights)
    more = pick(certificate, "kind statement") if certificate is not None else None
    facts = {key: about[key] for key in ("kind", "name", "bytes", "versions", "metadata")}
    facts |= {"parameters": parameters, "alpha": getattr(estimator, "alpha_", None)}
    facts |= {"target": target, "classes": classes, "inputs": encoding and encoding.to_dict()}
    return answer.finish(**facts, certificate=more, coefficients=weights.rows)
