"""Law: a model whose arrays nobody may write, as joblib maps them from a file, answers the same."""

from __future__ import annotations

import copy

import joblib
import numpy as np
import pytest

from model_zoo import MODELS, answers, made

ESTIMATORS = [name for name in MODELS if hasattr(made(name), "predict")]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_mapped_read_only_answers_the_same(name, tmp_path):
    model = made(name)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    want, got = answers(name, copy.deepcopy(model)), answers(name, mapped)
    assert want.keys() == got.keys()
    for key in want:
        if isinstance(want[key], np.ndarray):
            np.testing.assert_array_equal(np.asarray(got[key]), want[key], err_msg=key)
        elif key in ("certificate_", "summary"):
            assert str(got[key]) == str(want[key])


def test_arrays_are_mapped_read_only_at_all(tmp_path):
    joblib.dump(made("LeastSquares"), tmp_path / "model")
    fit = joblib.load(tmp_path / "model", mmap_mode="r").fit_
    assert isinstance(fit.W, np.memmap)
    assert not fit.W.flags.writeable
