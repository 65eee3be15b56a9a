"""What the defaults of other libraries are worth: `audit` of their fits on real tables.

    python bench/bench_audit.py [--out docs/libraries-defaults.md]

22 tables that scikit-learn and statsmodels ship, unscaled. For each fit: the proven digits of the
worst coefficient, relative to it or to its standard error, and whether the library warned. `--out`
replaces the versions and tables of a page between its two comments.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import statsmodels
import statsmodels.api as sm
from sklearn import datasets
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from adaline import audit
from adaline.auditing.result import Audit

Table = tuple[np.ndarray, np.ndarray]
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"


def shipped(name: str, target: str, *left_out: str) -> Table:
    """Numeric columns of a table of statsmodels, without rows that lack a value."""
    frame = getattr(sm.datasets, name).load_pandas().data.drop(columns=list(left_out)).dropna()
    frame = frame.select_dtypes("number")
    return frame.drop(columns=target).to_numpy(float), frame[target].to_numpy(float)


def binary(table: Table, threshold: float) -> Table:
    return table[0], (table[1] > threshold).astype(int)


def classification() -> dict[str, Table]:
    iris, wine = datasets.load_iris(return_X_y=True), datasets.load_wine(return_X_y=True)
    two = iris[1] > 0
    return {
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "iris, two classes": (iris[0][two], iris[1][two] - 1),
        "iris": iris,
        "wine": wine,
        "spector": shipped("spector", "GRADE"),
        "affairs": binary(shipped("fair", "affairs"), 0),
        "election 1996": shipped("anes96", "vote"),
        "heart": shipped("heart", "censors"),
    }


def counts() -> dict[str, Table]:
    return {
        "executions": shipped("cpunish", "EXECUTIONS"),
        "doctor visits": shipped("randhie", "mdvis"),
        "breast cancer by county": shipped("cancer", "cancer"),
        "committees": shipped("committee", "BILLS104"),
        "strikes": shipped("strikes", "duration"),
    }


def regression() -> dict[str, Table]:
    return {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "Longley": shipped("longley", "TOTEMP"),
        "stack loss": shipped("stackloss", "STACKLOSS"),
        "Scottish vote": shipped("scotland", "YES"),
        "state crime": shipped("statecrime", "murder"),
        "credit cards": shipped("ccard", "AVGEXP"),
        "copper": shipped("copper", "WORLDCONSUMPTION"),
        "investment": shipped("grunfeld", "invest"),
        "macro": shipped("macrodata", "realgdp"),
    }


def logistic_fits(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    for solver in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "saga"):
        if solver == "liblinear" and len(np.unique(y)) > 2:
            continue
        name = "LogisticRegression()" if solver == "lbfgs" else f'solver="{solver}"'
        yield name, lambda solver=solver: LogisticRegression(solver=solver).fit(X, y)
    exact = {"solver": "newton-cholesky", "tol": 1e-10}
    yield 'solver="newton-cholesky", tol=1e-10', lambda: LogisticRegression(**exact).fit(X, y)
    yield "C=np.inf", lambda: LogisticRegression(C=np.inf).fit(X, y)
    if len(np.unique(y)) == 2:
        yield "statsmodels Logit", lambda: sm.Logit(y, sm.add_constant(X)).fit(disp=0)
        family = sm.families.Binomial()
        yield "statsmodels GLM", lambda: sm.GLM(y, sm.add_constant(X), family=family).fit()
    else:
        yield "statsmodels MNLogit", lambda: sm.MNLogit(y, sm.add_constant(X)).fit(disp=0)


def count_fits(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "PoissonRegressor()", lambda: PoissonRegressor().fit(X, y)
    yield 'solver="newton-cholesky"', lambda: PoissonRegressor(solver="newton-cholesky").fit(X, y)
    exact = {"solver": "newton-cholesky", "tol": 1e-10}
    yield 'solver="newton-cholesky", tol=1e-10', lambda: PoissonRegressor(**exact).fit(X, y)
    yield "statsmodels Poisson", lambda: sm.Poisson(y, sm.add_constant(X)).fit(disp=0)
    family = sm.families.Poisson()
    yield "statsmodels GLM", lambda: sm.GLM(y, sm.add_constant(X), family=family).fit()


def regression_fits(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "LinearRegression()", lambda: LinearRegression().fit(X, y)
    yield "Ridge()", lambda: Ridge().fit(X, y)
    yield 'Ridge(solver="lsqr")', lambda: Ridge(solver="lsqr").fit(X, y)
    exact = {"solver": "lsqr", "tol": 1e-12, "max_iter": 10**4}
    yield 'Ridge(solver="lsqr", tol=1e-12)', lambda: Ridge(**exact).fit(X, y)
    yield 'Ridge(solver="saga")', lambda: Ridge(solver="saga").fit(X, y)
    yield "statsmodels OLS", lambda: sm.OLS(y, sm.add_constant(X)).fit()


FAMILIES = [
    ("Logistic regression", classification, logistic_fits),
    ("Poisson regression", counts, count_fits),
    ("Least squares and ridge", regression, regression_fits),
]


def judge(fit: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> str:
    """One cell: proven digits of the worst coefficient, or codes; * where the library warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = fit()
        except Exception as error:
            return f"raises {type(error).__name__}"
    mark = "\\*" if caught else ""
    answer = audit(model) if hasattr(model, "llf") else audit(model, X, y)
    codes = [check.code for check in answer.checks]
    if "ADA002" in codes or "ADA003" in codes:
        return f"no minimum{mark}"
    if answer.distance is None or not np.isfinite(answer.distance).all():
        return f"undecided{mark}"
    return f"{worst_digits(answer):.1f}{' (a)' if 'ADA006' in codes else ''}{mark}"


def worst_digits(answer: Audit) -> float:
    """Digits of the worst coefficient, relative to it or, if larger, its standard error."""
    size = np.abs(answer.minimiser)
    if answer.std_errors is not None:
        size = np.maximum(size, np.nan_to_num(answer.std_errors))
    places = slice(None) if answer.intercept else slice(None, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(answer.distance / size)[:, places]
    return float(-np.log10(share.max()))


def table_of(tables: dict[str, Table], fits: Callable[..., Any]) -> list[str]:
    names: list[str] = []
    cells: dict[str, dict[str, str]] = {}
    for name, (X, y) in tables.items():
        label = f"{name}, {X.shape[0]:,} × {X.shape[1]}"
        cells[label] = {}
        for setting, fit in fits(X, y):
            cells[label][setting] = judge(fit, X, y)
            names += [setting] * (setting not in names)
            print(f"{label:40} {setting:28} {cells[label][setting]}", flush=True)
    titles = [name if name.startswith("statsmodels") else f"`{name}`" for name in names]
    lines = ["| | " + " | ".join(titles) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for label, row in cells.items():
        lines.append(f"| {label} | " + " | ".join(row.get(name, "") for name in names) + " |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="page whose tables are replaced")
    arguments = parser.parse_args()
    lines = [
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, "
        f"statsmodels {statsmodels.__version__}, numpy {np.__version__}."
    ]
    for title, tables, fits in FAMILIES:
        lines += ["", f"### {title}", "", *table_of(tables(), fits)]
    if arguments.out:
        page = arguments.out.read_text(encoding="utf-8")
        text = "\n".join([BEGIN, "", *lines, "", END])
        page = re.sub(f"{BEGIN}.*{END}", lambda _: text, page, flags=re.DOTALL)
        arguments.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
