"""Copies, pickles and files of a learner go on with the same bits, and share nothing with it."""

from __future__ import annotations

import copy
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import adaline
from adaline.data.storing.model_files import load, save
from bits import same
from model_zoo import MODELS, X, Y, answers, goes_on, made, three, two, y

NAMES = [name for name in MODELS if hasattr(getattr(adaline, name.split(",")[0], None), "fit")]
STREAMS = [name for name in NAMES if hasattr(getattr(adaline, name.split(",")[0]), "partial_fit")]


def by_joblib(model, path, mode=None):
    joblib.dump(model, path / "m.joblib")
    return joblib.load(path / "m.joblib", mmap_mode=mode)


def by_file(model, path):
    save(model, path / "m.adaline")
    return load(path / "m.adaline")


COPIES = {
    "copy": lambda model, path: copy.copy(model),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "joblib": by_joblib,
    "joblib, mapped": lambda model, path: by_joblib(model, path, "r"),
    "save": by_file,
}


def told(name, model):
    """All that a model says; what it cannot say any more, as a sentence."""
    try:
        return answers(name, model)
    except ValueError as error:
        return str(error)


def outcome(name, model):
    try:
        goes_on(name, model)
    except (TypeError, ValueError) as error:  # what cannot go on says why
        return str(error)
    return told(name, model)


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_goes_on_with_the_same_bits_and_alone(name, way, tmp_path):
    model = made(name)
    before = copy.deepcopy(model)
    twin = COPIES[way](model, tmp_path)
    assert same(told(name, twin), told(name, before))
    after = outcome(name, twin)
    assert same(told(name, model), told(name, before)), "the copy's learning moved the original"
    assert same(after, outcome(name, model))
    assert same(after, outcome(name, before))


def test_arrays_are_mapped_read_only_at_all(tmp_path):
    weights = by_joblib(made("LeastSquares"), tmp_path, "r").fit_.W
    assert isinstance(weights, np.memmap)
    assert not weights.flags.writeable


@pytest.mark.parametrize("name", STREAMS)
def test_a_copy_in_the_middle_of_single_samples_goes_on_alone(name, tmp_path):
    model = made(name)
    if not hasattr(model, "learn_one") or "several" in name or "wide" in name:
        return
    labels = getattr(model, "classes_", None)
    targets = y if labels is None else labels[np.arange(len(y)) % len(labels)]
    for i in range(20):
        model.learn_one(X[i], targets[i])
    twins = [make(model, tmp_path) for make in COPIES.values()]
    for learner in (*twins, model):
        for i in range(20, 40):
            learner.learn_one(X[i], targets[i])
    for twin in twins:
        assert same(twin.coef_, model.coef_)
        assert same(twin.intercept_, model.intercept_)
        assert same(vars(twin._state), vars(model._state))


@pytest.mark.parametrize("name", [name for name in STREAMS if "tables" not in name])
def test_a_clone_is_new_and_learns_alone(name):
    model = made(name)
    before = copy.deepcopy(vars(model))
    twin = clone(model)
    learned = set(vars(twin)) - set(type(model)().get_params(deep=False))
    assert learned <= {"_sklearn_output_config"}  # a setting, of scikit-learn's
    known = getattr(model, "classes_", None)
    t = y if known is None else np.array(known)[np.searchsorted(*_labels(len(known)))]
    t = Y if getattr(model, "_one_target", True) is False else t
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, adaline.TfDf):
            twin.partial_fit(np.abs(X))
        elif not isinstance(twin, adaline.Ridge) or twin.alpha != "loo":
            twin.partial_fit(X[:, :2] if "Poly" in name else X, t)
    assert same(vars(model), before)


def _labels(count):
    labels = three if count == 3 else two
    return np.unique(labels), labels
