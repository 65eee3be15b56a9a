"""What is said of classes never contradicts the verdict on them: fit, separable and report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adaline
from adaline.evaluation import fit_evidence
from adaline.evaluation.quality import Decisions


def table(kind, K, n, d, seed):
    """Rows of small integers, so that classes touch and repeat often."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = np.arange(n) % K
    if kind == "apart":
        X[:, 0] += 10 * y
    elif kind == "one apart":
        X[:, 0] += 100 * (y == K - 1)
    elif kind == "level":  # a column that is zero but for one row
        X[:, -1] = 0.0
        X[0, -1] = 1.0
    return X, np.array(["a", "b", "c", "d"])[y]


kinds = st.sampled_from(["random", "apart", "one apart", "level"])


@settings(deadline=None, max_examples=80)
@given(kinds, st.integers(2, 4), st.integers(8, 24), st.integers(1, 3), st.integers(0, 2**32))
def test_sentences_about_separability_say_what_the_verdict_is(kind, K, n, d, seed):
    X, y = table(kind, K, n, d, seed)
    found = adaline.separability(X, y)
    texts = [found.explain(), fit_evidence.describe_separability(found), str(found)]
    for text in texts:
        if K > 2:
            assert "hyperplane" not in text
            assert "the classes touch" not in text
            assert "linear machine" in text
        if found.verdict == "overlapping":
            assert "touch" not in text
        if found.verdict == "separable":
            assert "no hyperplane" not in text
            assert "no linear machine" not in text
        else:
            assert "gives each of" not in text
            assert "separates all" not in text
    assert f"{n} training rows" in texts[1]
    if K > 2 and found.verdict == "quasi-separable":
        parts = {part.verdict for part in found.pairwise.values()}
        if "overlapping" in parts:
            assert "overlap" in found.explain()


@settings(deadline=None, max_examples=25)
@given(kinds, st.integers(2, 3), st.integers(0, 2**32))
def test_the_verdict_the_report_and_the_facts_state_one_quality(kind, K, seed):
    X, y = table(kind, K, 24, 2, seed)
    found = adaline.cross_validated(adaline.GaussianClassifier(), X, y, 4)
    facts = found.quality.facts()
    proof = adaline.separability(X, y)
    report = adaline.Report.of(found.model, X, y, cross_validated=found, separability=proof)
    share = f"{100 * facts['accuracy']:.1f}%"
    assert report.verdict[0] == found.sentence
    assert f"Accuracy {share}" in report.verdict[0]
    assert share in dict(report.quality)["accuracy"]
    confusion = next(p for p in report.pictures if p.key == "confusion")
    assert f"{facts['right']} of {facts['rows']} rows are predicted correctly" in confusion.claim
    words = " ".join((*report.verdict, *report.proofs, *report.warnings))
    assert proof.verdict in words
    if K > 2:
        assert "hyperplane" not in words
        assert "the classes touch" not in words
    if facts["auc"] is not None:
        (roc,) = [p for p in report.pictures if p.key == "roc"]
        assert f"{100 * facts['auc']:.1f}% of the time" in roc.claim


@pytest.mark.parametrize("K", [2, 3])
def test_a_separable_verdict_names_covers_labellings_rightly(rng, K):
    X, y = table("apart", K, 3 * K, 8, 0)
    found = adaline.separability(X, y)
    (text,) = fit_evidence.chance_warnings(found)
    assert ("with two classes" in text) == (K > 2)


def test_doubts_speak_of_no_hyperplane_where_there_are_three_classes():
    found = Decisions(["a", "b", "c"])
    found.add(np.array(list("abc") * 10), np.array(list("acb") * 10))
    assert not any("hyperplane" in text for text in found.warnings())
