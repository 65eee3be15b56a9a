"""`audit`: whether a fitted linear model of any library is what it says it is.

    |w - w*| <= |w - v| + |v - w*|

with v weights of ours whose distance from the minimiser w* is proven (`minimum`): so every
statement about w is as certain as our own certificate, and nothing of the other library is trusted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.auditing.claims import AUDITED, Claim, claim_numbers, read_claim
from adaline.auditing.minimum import Minimum, Problem, infinite_direction, minimise
from adaline.auditing.proof import prove_distance
from adaline.auditing.result import CODES, Audit, Check
from adaline.estimators.costs import weights_by_class
from adaline.estimators.separation import separability
from adaline.parameters import ParameterError, numbers, shown, weights_of
from adaline.sums.rows import as_rows

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability
    from adaline.evaluation.trial import BaseEstimator

CLOSE = 1e-3  # of a coefficient or its standard error: three digits make a minimiser
ILL_CONDITIONED = 1e8  # half of the digits of float64 are lost


def audit(
    model: BaseEstimator | None = None,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    coef: Any = None,
    intercept: Any = None,
    criterion: str | None = None,
    alpha: float = 0.0,
    names: Any = None,
    ignore: Any = (),
) -> Audit:
    """Whether the weights of a fitted linear model minimise what they are said to minimise.

    Nothing is assumed of the program that found them: their distance from the minimiser is bounded
    by a proof of ours, coefficient by coefficient. Where no minimiser exists, because a hyperplane
    separates the classes, the coefficients that should be infinite are named, with a proof.

    Parameters
    ----------
    model : fitted model, optional
        Of scikit-learn (LinearRegression, Ridge, RidgeClassifier, LogisticRegression,
        PoissonRegressor, SGDClassifier, SGDRegressor, Perceptron, LinearSVC, SVC with a linear
        kernel, their CV versions, a Pipeline or a search that ends in one), statsmodels' results
        (OLS, WLS, Logit, MNLogit, Poisson, GLM), or of adaline.
    X, y : array-like or CSR of shape (n, p), and (n,)
        The rows that the model was fitted to, before any Pipeline. statsmodels' results have them.
    sample_weight : array-like of shape (n,), optional
        As it was given to `fit`.
    coef, intercept, criterion, alpha : optional
        Instead of a model, its numbers: criterion is "least-squares", "logistic", "poisson" or
        "separation", and alpha the penalty alpha/2 |w|² of the summed loss (alpha |w|² for
        squares; scikit-learn's 1/C). An intercept is not penalised.
    names : list of str, optional
        Names of the columns, if X is no table with names.
    ignore : list of str
        Codes of checks to leave out, such as "ADA005".

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import audit
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> answer = audit(coef=[0.8], intercept=-1.2, criterion="logistic", X=X, y=y)
    >>> answer.verdict, [check.code for check in answer.checks]
    ('not the minimiser', ['ADA001'])
    >>> answer.minimiser.round(4)
    array([[ 0.9082, -1.3623]])
    """
    unknown = [code for code in ignore if code not in CODES]
    if unknown:
        raise ParameterError(f"ignore holds {unknown[0]!r}; codes are {', '.join(CODES)}.")
    if (model is None) == (coef is None):
        raise ParameterError(f"give a fitted model, or coef and criterion. {AUDITED}")
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    if model is not None:
        claim, X = read_claim(model, X)
    else:
        claim = claim_numbers(coef, intercept, criterion, alpha, y)
    offset: Any = None
    if X is None and claim.data:
        X, y, sample_weight, offset, known = claim.data
        names = names or known
    elif claim.data and np.shape(X)[1:] != (claim.W.shape[1],):
        raise ParameterError(f"{claim.title} keeps its own rows; leave out X and y.")
    if X is None or y is None:
        raise ParameterError("give X and y, the rows that the model was fitted to.")
    problem = make_problem(claim, X, y, sample_weight, offset)
    p = problem.X.shape[1]
    if claim.W.shape[1] != p:
        raise ParameterError(f"coef has {claim.W.shape[1]} columns, and X has {p}.")
    names = list(names) if names and len(names) == p else [f"x{j}" for j in range(p)]
    if claim.criterion == "separation":
        answer = audit_separation(claim, problem, names)
    else:
        answer = audit_minimum(claim, problem, names)
    return replace(answer, checks=tuple(c for c in answer.checks if c.code not in ignore))


def make_problem(claim: Claim, X: Any, y: Any, sample_weight: Any, offset: Any) -> Problem:
    """Validated rows, targets as the criterion reads them, and weights with those of classes."""
    X, _, _ = as_rows(X, None, None)
    n = X.shape[0]
    y = np.asarray(y)
    if y.shape[:1] != (n,) or (y.ndim > 1 and claim.criterion != "least-squares"):
        raise ParameterError(f"y has shape {y.shape}, and X has {n} rows.")
    weights = weights_of("sample_weight", sample_weight, n)
    omega = np.empty(0) if weights is None else np.asarray(weights)
    outputs, alpha, targets = len(claim.W), claim.alpha, y
    if claim.classes is not None:
        unknown = set(np.unique(y).tolist()) - set(np.asarray(claim.classes).tolist())
        if unknown:
            raise ParameterError(f"y holds {shown(next(iter(unknown)))}, no class of the model.")
        targets = np.searchsorted(claim.classes, y)
        if claim.class_weight is not None:
            own = weights_by_class(claim.class_weight, claim.classes, targets, weights)
            omega = np.asarray(own, dtype=np.float64)
    if claim.signs:
        targets = np.where(targets[:, None] == np.arange(max(outputs, 2)), 1.0, -1.0)
        targets = targets[:, 1] if outputs == 1 else targets
    if claim.criterion in ("least-squares", "poisson"):
        targets = numbers("y", targets)
        if not np.isfinite(targets).all():
            raise ParameterError("y has missing or infinite values.")
    if claim.criterion == "poisson" and (np.any(targets < 0) or not targets.any()):
        raise ParameterError("y holds no counts: expected numbers >= 0, not all of them zero.")
    more = np.empty(0) if offset is None else np.asarray(offset, dtype=np.float64)
    if claim.criterion == "least-squares" and len(more):
        targets, more = targets - more, np.empty(0)
    if claim.per_row:
        alpha = alpha * float(omega.sum() if len(omega) else n)
    return Problem(claim.criterion, X, targets, omega, more, alpha, claim.intercept, outputs)


def audit_separation(claim: Claim, problem: Problem, names: list[str]) -> Audit:
    """A separating hyperplane: on which side each row is, and whether there is a better one."""
    V = problem.X @ claim.W.T + claim.b
    codes = (V[:, 0] > 0).astype(int) if V.shape[1] == 1 else V.argmax(axis=1)
    wrong = int(np.count_nonzero(codes != problem.y))
    proof = separability(problem.X, problem.y, fit_intercept=problem.intercept, pairwise=False)
    n, checks = len(V), []
    if wrong and proof.verdict == "separable":
        sentence = f"{wrong} of {n} rows are misclassified, though a hyperplane separates them all."
        checks.append(Check("ADA001", sentence))
    verdict = "not the minimiser" if checks else "proven" if not wrong else "refused"
    what = "misclassifies no row" if not wrong else f"misclassifies {wrong:,} of {n:,} rows"
    sentence = f"{claim.title} {what}; {proof.explain(names).rstrip('.')}"
    weights = np.column_stack([claim.W, claim.b])
    return Audit(
        verdict, sentence, tuple(names), weights, checks=tuple(checks), proof=proof, rows=n
    )


def audit_minimum(claim: Claim, problem: Problem, names: list[str]) -> Audit:
    found = minimise(problem, claim.W, claim.b)
    endless, proof = found.outcome in ("separated", "quasi"), None
    # Weights that grow may meet every tolerance far out: without a bound, ask the classes.
    unproven = endless or not np.isfinite(found.W_bound).all()
    if unproven and problem.criterion == "logistic" and problem.alpha == 0.0:
        proof = separability(
            problem.X,
            problem.y,
            fit_intercept=problem.intercept,
            sample_weight=problem.omega if len(problem.omega) else None,
            pairwise=False,
        )
        endless = endless or proof.verdict in ("separable", "quasi-separable")
    if endless:
        return refuse_infinite(claim, problem, names, found, proof)
    answer = compare(claim, problem, names, found)
    checks = list(answer.checks)
    if answer.verdict != "proven" and (other := find_other_criterion(claim, problem)):
        checks.append(Check("ADA006", f"These weights minimise another criterion: {other}."))
    if found.dependent:
        some = ", ".join(names[j] for j in found.dependent[:5])
        text = f"Columns are combinations of others ({some}): many weights give the same least sum."
        checks.append(Check("ADA004", text))
    elif found.condition > ILL_CONDITIONED:
        left = max(16.0 - np.log10(found.condition), 0.0)
        text = f"The condition number is {found.condition:.1e}: about {left:.0f} digits of the data"
        checks.append(Check("ADA005", f"{text} survive in the coefficients."))
    return replace(answer, checks=tuple(sorted(checks + compare_reported(claim, found))))


def compare(claim: Claim, problem: Problem, names: list[str], found: Minimum) -> Audit:
    """The verdict on weights whose minimiser is known within bounds."""
    W, b, V, v = claim.W, claim.b, found.W, found.b
    if problem.K > 1 and problem.criterion == "logistic":  # what classes share changes nothing
        b, v = b - b.mean(), v - v.mean()
        if problem.alpha == 0.0:
            W, V = W - W.mean(axis=0), V - V.mean(axis=0)
    theirs, ours = np.column_stack([W, b]), np.column_stack([V, v])
    bound = np.column_stack([found.W_bound, found.b_bound])
    apart = np.abs(theirs - ours)
    # Two roundings: of the difference, and of the means that classes share.
    far = apart + bound + 4 * np.finfo(np.float64).eps * (np.abs(theirs) + np.abs(ours))
    near = np.maximum(apart - (far - apart), 0.0)
    size = np.abs(ours)
    if found.std_errors is not None:
        size = np.maximum(size, np.nan_to_num(found.std_errors))
    counted = np.ones_like(far, dtype=bool)
    counted[:, -1] = problem.intercept
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(far > 0.0, far / size, 0.0)[counted]
        least = np.where(near > 0.0, near / size, 0.0)[counted]
    signs = (np.abs(ours) > bound) & (np.sign(ours) == np.sign(theirs))
    facts = {
        "gain": max(found.gain, 0.0),
        "condition": found.condition,
        "alpha": problem.alpha,
        **found.facts,
    }
    checks: tuple[Check, ...] = ()
    worst_at = int(np.argmax(np.where(counted, np.nan_to_num(far / np.where(size, size, 1)), -1)))
    worst = [*names, "the intercept"][worst_at % (len(names) + 1)]
    what = describe(claim, problem)
    if share.max(initial=0.0) <= CLOSE:
        verdict, sentence = "proven", f"{claim.title} minimises {what}"
    elif least.max(initial=0.0) > CLOSE:
        verdict, sentence = "not the minimiser", f"{claim.title} does not minimise {what}"
        unit = "of its value or standard error"
        text = f"The coefficient of {worst} is {least.max():.2g} {unit} from the minimiser's"
        checks = (Check("ADA001", f"{text}; the criterion can decrease by {facts['gain']:.2g}."),)
    else:
        verdict = "refused"
        sentence = f"it cannot be proven how near {claim.title} is to the minimiser of {what}"
    tables = (theirs, ours, far, bound, found.std_errors, signs)
    answer = Audit(verdict, sentence, tuple(names), *tables, checks, facts)
    proof = None if claim.signs else prove_distance(problem, theirs[0], claim.classes)
    rows, intercept = problem.X.shape[0], problem.intercept
    return replace(answer, optimality=proof, rows=rows, intercept=intercept)


def describe(claim: Claim, problem: Problem) -> str:
    """The criterion in words."""
    loss = {"least-squares": "the squared error", "logistic": "the logistic loss"}
    what = loss.get(claim.criterion, "the Poisson loss")
    weighted = " of weighted rows" if len(problem.omega) else ""
    penalty = f" with the penalty alpha = {problem.alpha:.6g}" if problem.alpha else ""
    return what + weighted + penalty


def refuse_infinite(
    claim: Claim, problem: Problem, names: list[str], found: Minimum, proof: Separability | None
) -> Audit:
    """Weights that have no minimiser: which coefficients are infinite, and the proof."""
    infinite: tuple[tuple[str, int], ...] = ()
    direction: tuple[str, ...] = ()
    if claim.criterion == "logistic":
        columns = [*names, "intercept"]
        d = infinite_direction(problem) if problem.K == 1 else []
        infinite = tuple((columns[j], 1 if v > 0 else -1) for j, v in enumerate(d) if v)
        direction = tuple(map(str, d))
    code = "ADA002" if proof is not None and proof.verdict == "separable" else "ADA003"
    text = "No finite weights minimise the loss"
    if proof is not None and proof.verdict != "undecided":
        text = f"The classes are {proof.verdict} (proven), so that no weights are the likeliest"
    if infinite and code == "ADA003":
        listed = ", ".join(f"{name} ({'+' if s > 0 else '-'})" for name, s in infinite[:8])
        text += f"; coefficients that grow without bound (proven): {listed}"
    void = Check("ADA007", "Standard errors, z and p of such a fit mean nothing: it has no end.")
    answer = Audit(
        "refused",
        f"{claim.title} has no minimiser to be compared with",
        tuple(names),
        np.column_stack([claim.W, claim.b]),
        checks=(Check(code, f"{text}."), void),
        facts={"gain": max(found.gain, 0.0)},
        rows=problem.X.shape[0],
        intercept=problem.intercept,
    )
    return replace(answer, proof=proof, infinite=infinite, direction=direction)


def find_other_criterion(claim: Claim, problem: Problem) -> str:
    """Which known convention these weights follow instead; empty if none is found."""
    n, others = float(problem.X.shape[0]), dict[str, Problem]()
    total = float(problem.omega.sum()) if len(problem.omega) else n
    if problem.intercept and problem.alpha > 0.0:
        others["the intercept is penalised like the other coefficients"] = replace(
            problem, penalised_intercept=True
        )
    if len(problem.omega):
        others["rows are not weighted"] = replace(problem, omega=np.empty(0))
    if problem.alpha > 0.0:
        for text, factor in (
            ("without the penalty", 0.0),
            ("alpha counts once a row (times the number of rows)", total),
            ("alpha is divided by the number of rows", 1.0 / total),
            ("half of the penalty", 0.5),
            ("twice the penalty", 2.0),
        ):
            others[text] = replace(problem, alpha=problem.alpha * factor)
    elif problem.criterion == "logistic":
        others["alpha = 1 (scikit-learn's default, C=1)"] = replace(problem, alpha=1.0)
    if problem.intercept:
        others["without an intercept"] = replace(problem, intercept=False)
    for text, other in others.items():
        if text == "without an intercept" and np.any(claim.b != 0.0):
            continue
        found = minimise(other, claim.W, claim.b)
        if found.outcome == "converged" and compare(claim, other, [], found).verdict == "proven":
            return text
    return ""


def compare_reported(claim: Claim, found: Minimum) -> list[Check]:
    """Standard errors and sums that the model reports, where three digits do not agree."""
    ours: dict[str, Any] = dict(found.facts)
    if found.std_errors is not None:
        ours["std err"] = found.std_errors[0, : claim.W.shape[1]]
    checks = []
    for name, value in claim.reported.items():
        if name in ours:
            own, given = np.asarray(ours[name]), np.asarray(value)
            off = float(np.max(np.abs(own - given) / np.maximum(np.abs(own), 1e-300)))
            if not off <= CLOSE:
                text = f"The reported {name} is off by {off:.1%} from that at the minimum."
                checks.append(Check("ADA008", text))
    return checks
