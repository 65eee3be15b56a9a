"""What is known of a fit, and what it gives reason to doubt: each sentence at its edge."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import adaline
from adaline.dichotomies import cover
from adaline.evaluation import fit_evidence as evidence


def certificate(kind="optimal", **more):
    return SimpleNamespace(kind=kind, statement="it is so.", evidence=more)


def separability(verdict="separable", n=40, d=2, labels=("a", "b"), bias=True):
    return SimpleNamespace(
        verdict=verdict, n_rows=n, n_features=d, labels=labels, fit_intercept=bias
    )


@pytest.mark.parametrize(
    ("model", "converged", "said"),
    [
        ({"n_iter_": 3}, None, "Learning ended after the given passes; whether more would"),
        ({"n_iter_": 3}, False, "Learning has not converged."),
        ({"n_iter_": 3}, True, "Learning converged."),
        ({"n_iter_": 3, "certificate_": certificate()}, True, "Learning converged (proven)."),
        ({"n_iter_": 3, "certificate_": certificate("unproven")}, True, "Learning converged."),
        ({}, True, "Solved in closed form."),
        ({"certificate_": certificate(digits=12.7)}, True, "Solved in closed form (12 digits pr"),
        ({"certificate_": certificate(digits=19)}, True, "Solved in closed form (16 digits proven"),
        ({"certificate_": certificate(digits=math.nan)}, True, "Solved in closed form."),
        ({"certificate_": certificate("unproven", digits=12)}, True, "Solved in closed form."),
        ({"condition_": 1234.5}, True, "Solved in closed form; condition number 1,234."),
        ({"fit_": SimpleNamespace(condition=2.0)}, True, "Solved in closed form; condition numb"),
        ({"condition_": math.inf}, True, "Solved in closed form."),
    ],
)
def test_half_a_line_says_how_learning_ended(model, converged, said):
    found = evidence.short_evidence(SimpleNamespace(**model), converged, None)
    assert found.startswith(said)
    assert found.count(".") == 1


@pytest.mark.parametrize(
    ("verdict", "labels", "said"),
    [
        ("separable", "ab", "a hyperplane separates the 1,234 training rows (proven)"),
        ("separable", "abc", "a linear machine separates the 1,234 training rows (proven)"),
        ("overlapping", "ab", "no hyperplane separates the 1,234 training rows (proven)"),
        (
            "quasi-separable",
            "ab",
            "no hyperplane separates the 1,234 training rows: the classes touch (proven)",
        ),
        (
            "quasi-separable",
            "abc",
            "no linear machine separates the 1,234 training rows (proven)",
        ),
        (
            "undecided",
            "ab",
            "whether a hyperplane separates the 1,234 training rows is undecided",
        ),
    ],
)
def test_separability_is_told_as_it_was_found(verdict, labels, said):
    found = separability(verdict, n=1234, labels=labels)
    assert evidence.describe_separability(found) == said
    assert (
        evidence.short_evidence(SimpleNamespace(), True, found) == f"Solved in closed form; {said}."
    )


def test_the_evidence_at_length_says_what_is_proven_and_how_learning_ended():
    fit = SimpleNamespace(stopped="passes are done.")
    told = evidence.proof_sentences(
        SimpleNamespace(certificate_=certificate(), fit_=fit, n_iter_=4), "they overlap."
    )
    assert told == [
        "Proven, optimal: it is so.",
        "Learning ended: passes are done.",
        "Separability of the training rows: they overlap.",
    ]
    assert evidence.proof_sentences(SimpleNamespace(fit_=fit, condition_=math.inf)) == []
    lines = SimpleNamespace(kind="optimal", statement="it is so:\n  a table\x1b")
    assert evidence.proof_sentences(SimpleNamespace(certificate_=lines)) == [
        "Proven, optimal: it is so:\n  a table\\x1b"
    ]
    unproven = SimpleNamespace(certificate_=certificate("undecided"))
    assert evidence.proof_sentences(unproven) == ["Not proven, undecided: it is so."]


@pytest.mark.parametrize(
    ("alpha", "advice"), [(None, "Leave some out, or use ridge."), (2.0, "Leave some out.")]
)
def test_an_ill_conditioned_fit_is_doubted(alpha, advice):
    said = evidence.fit_warnings(SimpleNamespace(condition_=2.3456e9, alpha_=alpha))
    assert said == [
        f"the condition number is 2.35e+09: some columns are nearly collinear. {advice}"
    ]
    assert evidence.fit_warnings(SimpleNamespace(condition_=0.9e8, alpha_=alpha)) == []


def dependent(*pairs, p=9, alpha=1.0):
    return SimpleNamespace(alpha_=alpha, n_features_in_=p, fit_=SimpleNamespace(dependent=pairs))


NAMES = list("abcdefghi")


def test_dependent_columns_are_not_named_where_the_fit_warned_or_names_are_missing():
    assert evidence.fit_warnings(dependent((1, (0,)), alpha=0.0), names=NAMES) == []
    assert evidence.fit_warnings(dependent((1, (0,))), names=NAMES[:8]) == []
    assert evidence.fit_warnings(dependent((1, (0,)))) == []


@pytest.mark.parametrize(
    ("done", "most", "kind", "doubted"),
    [
        (9, 10, "unproven", False),
        (10, 10, "unproven", True),
        (10, 10, "optimal", False),
        ([3, 10], 10, "unproven", True),
        (10, None, "unproven", False),
        (None, 10, "unproven", False),
    ],
)
def test_learning_that_ended_with_its_passes_is_doubted(done, most, kind, doubted):
    model = SimpleNamespace(n_iter_=done, max_iter=most, certificate_=certificate(kind))
    said = evidence.fit_warnings(model)
    assert bool(said) == doubted
    if doubted:
        assert said[0].startswith("learning ended after max_iter = 10 without having converged.")


@pytest.mark.parametrize(
    ("effect", "alpha", "told"),
    [("odds", 1.0, True), ("odds", 0.0, False), ("score", 1.0, False)],
)
def test_a_penalty_that_alone_keeps_the_weights_finite_is_told(effect, alpha, told):
    model = SimpleNamespace(_effect=effect, alpha_=alpha)
    said = evidence.fit_warnings(model, separability(n=1000))
    assert bool(said) == told
    if told:
        assert said[0].startswith("a hyperplane separates all 1,000 training rows: without its")
    assert evidence.fit_warnings(model, separability("overlapping", n=4)) == []


@pytest.mark.parametrize(
    ("n", "d", "bias", "told"),
    [(4, 2, True, True), (22, 5, True, True), (23, 5, True, False), (20, 5, False, False)],
)
def test_separability_that_most_labellings_have_says_little(n, d, bias, told):
    """Cover: the share of labellings of n points in d dimensions that a hyperplane separates."""
    share = cover(n, d, bias).fraction
    assert (share > 0.01) == told  # 0.0133 of 22 rows, 0.0085 of 23; 0.0096 without a bias
    said = evidence.chance_warnings(separability(n=n, d=d, bias=bias))
    assert bool(said) == told
    if told:
        assert said[0].startswith(
            f"the classes are separable, but so are {100 * share:.3g}% of all labellings of {n} "
            f"points in {d} dimensions"
        )
    three = evidence.chance_warnings(separability(n=4, d=2, labels="abc"))[0]
    assert "% of all labellings with two classes of 4 points" in three


def test_variance_inflation_is_that_of_each_column_regressed_on_the_others(rng):
    X = rng.standard_normal((50, 4)) * [1.0, 10.0, 0.1, 1.0]
    X[:, 1] += 30 * X[:, 0]
    X[:, 3] = 7.0
    found = evidence.inflation(X)
    for j in range(3):
        others = np.delete(X, [j, 3], axis=1)
        r2 = adaline.LeastSquares().fit(others, X[:, j]).score(others, X[:, j])
        assert found[j] == pytest.approx(1 / (1 - r2), rel=1e-8)
    assert found[3] == 1.0
    twice = np.column_stack([X[:, :3], X[:, 0] + X[:, 2]])
    assert np.array_equal(np.isinf(evidence.inflation(twice)), [True, False, True, True])


def test_variance_inflation_needs_rows_and_few_dense_columns(rng):
    X = rng.standard_normal((8, 3))
    assert evidence.inflation(X) is not None  # 2 p + 2 rows
    assert evidence.inflation(X[:7]) is None
    assert evidence.inflation(sparse.csr_array(X)) is None
    assert evidence.inflation(rng.standard_normal((602, 300))) is not None
    assert evidence.inflation(rng.standard_normal((700, 301))) is None
    with np.errstate(over="ignore"):
        assert evidence.inflation(X * [1e200, 1.0, 1.0]) is not None


def inflated(vif, p=3, **more):
    columns = {"VIF": np.asarray(vif)}
    return SimpleNamespace(
        summary=lambda: SimpleNamespace(columns=columns), n_features_in_=p, coef_=1, **more
    )


@pytest.mark.parametrize(
    ("vif", "said"),
    [
        ([math.nan, 10.0, 1.0, 2.0], None),
        ([math.nan, 10.1, 1.0, 2.0], "above 10): a (10.1)."),
        ([11.0, 12.345, 123.4], "above 10): c (123), b (12.3), a (11)."),
        ([1.0, 99.96, math.inf], "above 10): c (inf), b (100)."),
    ],
)
def test_inflated_coefficients_are_named_the_worst_first(vif, said):
    found = evidence.fit_warnings(inflated(vif), names=["a", "b", "c"])
    assert bool(found) == (said is not None)
    if said:
        assert said in found[0]
    assert evidence.fit_warnings(inflated(vif)) == []


def test_without_a_summary_rows_tell_the_inflation(rng):
    X = rng.standard_normal((40, 2))
    X = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 1]])
    bare = SimpleNamespace(coef_=1, n_features_in_=3)
    assert "c (" in evidence.fit_warnings(bare, names=["a", "b", "c"], X=X)[0]
    assert evidence.fit_warnings(bare, names=["a", "b"], X=X) == []
    assert evidence.fit_warnings(bare, names=["a", "b", "c"]) == []
    assert evidence.fit_warnings(SimpleNamespace(coef_=None), names=["a", "b", "c"], X=X) == []
    same = np.column_stack([X[:, :2], X[:, 0]])
    assert "a (inf), c (inf)" in evidence.fit_warnings(bare, names=["a", "b", "c"], X=same)[0]
    told = dependent((2, (0,)), p=3)
    told.coef_ = 1
    assert len(evidence.fit_warnings(told, names=["a", "b", "c"], X=same)) == 1  # named already


def test_a_summary_that_the_fit_refuses_is_none():
    def refuse():
        raise ValueError("dependent columns")

    assert evidence.summary_of(SimpleNamespace(summary=refuse)) is None
    assert evidence.summary_of(SimpleNamespace()) is None
