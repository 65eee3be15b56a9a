"""Model files of earlier versions load, and say what they said when they were written.

An archive in tests/data/golden/ holds the files of one version and their answers; it never changes.
`python tests/data/test_golden_files.py` writes the archive of the present version, once, before a
release, and refuses where it is there already.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import adaline
from adaline.data.storing.model_files import packed, unpacked
from model_zoo import MODELS, made, rows_for

GOLDEN = Path(__file__).parent / "golden"
ASKED = ("predict", "predict_proba", "decision_function", "transform")


def said(name: str, model: Any) -> dict[str, Any]:
    """Answers to twelve rows and the weights, as lists that JSON can hold."""
    answers = {
        method: getattr(model, method)(rows_for(name, model))
        for method in ASKED
        if hasattr(model, method)
    }
    answers |= {a: getattr(model, a) for a in ("coef_", "weights") if hasattr(model, a)}
    return {key: np.asarray(value).tolist() for key, value in answers.items()}


def _files() -> list[tuple[str, str]]:
    return [
        (version.stem, name)
        for version in sorted(GOLDEN.glob("*.zip"))
        for name in json.loads(zipfile.ZipFile(version).read("answers.json"))
    ]


@pytest.mark.parametrize(("version", "name"), _files())
def test_a_file_of_an_earlier_version_says_what_it_said(version, name):
    with zipfile.ZipFile(GOLDEN / f"{version}.zip") as files:
        model = unpacked(files.read(f"{name}.adaline"))
        expected = json.loads(files.read("answers.json"))[name]
    found = said(name, model)
    assert found.keys() >= expected.keys()
    for key, value in expected.items():
        value = np.asarray(value)
        if value.dtype.kind == "f":  # another processor may add up in another order
            np.testing.assert_allclose(found[key], value, rtol=1e-9, atol=1e-12)
        else:
            assert np.array_equal(found[key], value)


def write() -> None:
    """The files of the present version, in one archive."""
    path = GOLDEN / f"{adaline.__version__}.zip"
    if path.exists():
        raise SystemExit(f"{path.name} is there already, and golden files are never changed.")
    answers = {}
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as files:
        for name in MODELS:
            model = made(name)
            files.writestr(f"{name}.adaline", packed(model))
            answers[name] = said(name, model)
        files.writestr("answers.json", json.dumps(answers))
    print(f"{path.name}: {len(answers)} models, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    write()
