"""Two-class problems on which automatic rates were not tuned: tables, texts, generated rows.

They were chosen before their results were seen. The rates of `kernels/automatic_rates.py` had
been tuned on generated documents, the standard library, one-hot categories, digits, breast cancer
and wine. Texts are those of installed packages: their numbers differ a little between versions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_extraction.text import HashingVectorizer

Problem = tuple[Any, np.ndarray]  # rows, and labels 0 and 1
Maker = Callable[[int, np.random.Generator], Problem]  # of at most so many rows


def _table(name: str, target: Callable[[Any], Any], without: list[str]) -> Maker:
    """A table that statsmodels brings: the target is a condition on it."""

    def make(n: int, rng: np.random.Generator) -> Problem:
        import statsmodels.datasets

        table = getattr(statsmodels.datasets, name).load_pandas().data.dropna()
        y = np.asarray(target(table), dtype=int)
        X = table.drop(columns=without).to_numpy(dtype=float)
        keep = rng.permutation(len(y))[:n]
        return X[keep], y[keep]

    return make


def _diabetes(n: int, rng: np.random.Generator) -> Problem:
    X, y = load_diabetes(return_X_y=True)
    return X[:n], (y > np.median(y)).astype(int)[:n]


def _modules(package: str) -> Iterator[str]:
    """Source texts of a package, without its tests; nothing is imported."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ImportError(f"{package} is not installed", name=package)
    folder = Path(found.origin).parent
    for path in sorted(folder.rglob("*.py")):
        if "tests" not in path.relative_to(folder).parts:
            yield path.read_text(encoding="utf-8", errors="replace")


def _docstrings(package: str) -> Iterator[str]:
    with_docstrings = ast.Module, ast.ClassDef, ast.FunctionDef
    for source in _modules(package):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, with_docstrings) and (said := ast.get_docstring(node)):
                yield said


@cache
def _lines(package: str) -> list[str]:
    said = (line for text in _docstrings(package) for line in text.splitlines())
    return list(dict.fromkeys(line for line in said if len(line.split()) >= 4))


@cache
def _paragraphs(package: str) -> list[str]:
    said = (part for text in _docstrings(package) for part in text.split("\n\n"))
    return list(dict.fromkeys(part for part in said if len(part.split()) >= 10))


def _of_two(texts: Callable[[str], list[str]], names: tuple[str, str], **settings: Any) -> Maker:
    """Which of two packages a text is from."""

    def make(n: int, rng: np.random.Generator) -> Problem:
        return _hashed([texts(name) for name in names], n, rng, **settings)

    return make


def _comment_or_code(n: int, rng: np.random.Generator) -> Problem:
    """Whether a line of scipy is a comment, by its letters in threes, the number sign removed."""
    lines = list(
        dict.fromkeys(line.strip() for text in _modules("scipy") for line in text.split("\n"))
    )
    comments = [line.lstrip("# ") for line in lines if line.startswith("#")]
    code = [line for line in lines if len(line) > 3 and "#" not in line and '"' not in line]
    settings = {"analyzer": "char", "ngram_range": (3, 3)}
    return _hashed([code, [c for c in comments if len(c) > 3]], n, rng, **settings)


def _hashed(texts: list[list[str]], n: int, rng: np.random.Generator, **settings: Any) -> Problem:
    """At most n texts of two classes, their words hashed."""
    labelled = [(text, k) for k, some in enumerate(texts) for text in some]
    chosen = [labelled[i] for i in rng.permutation(len(labelled))[:n]]
    given = {"n_features": 2**18, "alternate_sign": False, "norm": None} | settings
    X = HashingVectorizer(**given).transform([text for text, _ in chosen])
    return X, np.array([k for _, k in chosen])


def _labels(v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """1 with the probability that the logistic function gives."""
    return (rng.random(len(v)) < 1 / (1 + np.exp(-v))).astype(int)


def _zipf(informative: int, size: float) -> Maker:
    """Documents of 40 words of 20,000, the kth met as often as 1/k; some words tell the class."""

    def make(n: int, rng: np.random.Generator) -> Problem:
        from scipy import sparse

        p, words = 20_000, 40
        often = 1 / np.arange(1, p + 1)
        indices = rng.choice(p, (n, words), p=often / often.sum()).ravel()
        ends = np.arange(0, n * words + 1, words)
        X = sparse.csr_matrix((np.ones(n * words), indices, ends), shape=(n, p))
        X.sum_duplicates()
        w = np.zeros(p)
        told = rng.choice(min(10 * informative, p), informative, replace=False)
        w[told] = size * rng.standard_normal(informative)
        v = X @ w
        return X, _labels(v - v.mean(), rng)

    return make


def _dense(columns: Callable[[int, np.random.Generator], np.ndarray], **changes: float) -> Maker:
    """Labels by a random weight for each column in its own units; some flipped, or seldom 1."""

    def make(n: int, rng: np.random.Generator) -> Problem:
        X = columns(n, rng)
        Z = (X - np.median(X, axis=0)) / np.subtract(*np.percentile(X, [75, 25], axis=0))
        w = rng.standard_normal(X.shape[1])
        y = _labels(Z @ w - changes.get("seldom", 0.0), rng)
        return X, np.where(rng.random(n) < changes.get("flipped", 0.0), 1 - y, y)

    return make


def _normal(n: int, rng: np.random.Generator, p: int = 20) -> np.ndarray:
    return rng.standard_normal((n, p))


def _in_sequence(n: int, rng: np.random.Generator) -> np.ndarray:
    """Neighbouring columns correlate by 0.95."""
    Z = _normal(n, rng, 50)
    for j in range(1, 50):
        Z[:, j] = 0.95 * Z[:, j - 1] + np.sqrt(1 - 0.95**2) * Z[:, j]
    return Z


def _units(n: int, rng: np.random.Generator) -> np.ndarray:
    return _normal(n, rng) * 10.0 ** rng.uniform(-4, 4, 20)


def _drift(n: int, rng: np.random.Generator) -> Problem:
    """Weights turn by 90 degrees from the first row to the last."""
    X, (a, b) = _normal(n, rng), rng.standard_normal((2, 20))
    angle = np.linspace(0, np.pi / 2, n)
    return X, _labels(np.cos(angle) * (X @ a) + np.sin(angle) * (X @ b), rng)


IN_ORDER = {"drifting weights"}  # learned and tested in the order of the rows
PROBLEMS: dict[str, Maker] = {
    "fair: any affairs": _table("fair", lambda t: t["affairs"] > 0, ["affairs"]),
    "randhie: any visit": _table("randhie", lambda t: t["mdvis"] > 0, ["mdvis"]),
    "anes96: vote": _table("anes96", lambda t: t["vote"], ["vote"]),
    "modechoice: choice": _table("modechoice", lambda t: t["choice"], ["choice", "individual"]),
    "diabetes: above the median": _diabetes,
    "lines, numpy or scipy": _of_two(_lines, ("numpy", "scipy")),
    "paragraphs, sklearn or statsmodels": _of_two(
        _paragraphs, ("sklearn", "statsmodels"), norm="l2"
    ),
    "lines of scipy, comment or code": _comment_or_code,
    "Zipf, 50 words tell": _zipf(50, 2.0),
    "Zipf, 20000 words tell": _zipf(20_000, 0.5),
    "heavy tails": _dense(lambda n, rng: rng.standard_t(2, (n, 20))),
    "correlated columns": _dense(_in_sequence),
    "a fifth of labels flipped": _dense(_normal, flipped=0.2),
    "drifting weights": _drift,
    "units 1e-4 to 1e4": _dense(_units),
    "columns far from zero": _dense(lambda n, rng: 10 + _normal(n, rng)),
    "one class is rare": _dense(_normal, seldom=6.0),
}
