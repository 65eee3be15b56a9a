"""The first call after an installation: CPU seconds of import, compiling and fit, nothing cached.

    python bench/bench_first_call.py [--only LeastSquares NLMS] [--limit 3] [--warm]

Every call runs in a process of its own, with an empty directory for compiled kernels; user and
system time of the process count, so that other work on the machine does not, from its start to the
end of the call. (To end a process that has compiled something takes Python 0.4 s more.) The peer's
call does the same work on the same data. Rows above the limit come first. With --warm every call
runs twice, and the second, which finds the kernels compiled, is shown.

Tables of 200 rows are what newcomers type; a shape after a name is that of a larger table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5))
y = X @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.standard_normal(200)
t = (y > 0).astype(int)
k = np.digitize(y, [-2.0, 2.0])
far = (X[:, 0] > 0).astype(int)
x = rng.standard_normal(4000)
d = np.convolve(x, [0.5, -0.3, 0.1])[:4000] + 0.01 * rng.standard_normal(4000)
"""
SPARSE = DATA + "from scipy import sparse\nX = sparse.csr_array(np.where(abs(X) > 0.5, X, 0.0))\n"


def larger(n: int, p: int) -> str:
    """A program that makes a table of n rows."""
    return (
        DATA.replace("(200, 5)", f"({n}, {p})")
        .replace("(200)", f"({n})")
        .replace("y = X @", "y = X[:, :5] @")
        + "c = np.digitize(y, np.linspace(-4.0, 4.0, 29))\n"
    )


TEXT = """
import numpy as np
from scipy import sparse
rng = np.random.default_rng(0)
X = sparse.random_array((5000, 20_000), density=0.004, rng=rng, format="csr")
y = X @ rng.standard_normal(20_000) + rng.standard_normal(5000)
t = (y > 0).astype(int)
k = np.digitize(y, [-1.0, 1.0])
"""
STARTS = {
    "CSR": SPARSE,
    "20000x30": larger(20_000, 30),
    "3000x500": larger(3000, 500),
    "200x2000": larger(200, 2000),
    "CSR 5000x20000": TEXT,
}
_LINEAR = "import sklearn.linear_model as m\nm."
_LDA = "import sklearn.discriminant_analysis as m\nm."
_SVM = "import sklearn.svm as m\nm."
# What is called, in the order in which newcomers meet it, and what scikit-learn does instead.
CALLS: dict[str, tuple[str, str]] = {
    "LeastSquares": ("a.LeastSquares().fit(X, y)", f"{_LINEAR}LinearRegression().fit(X, y)"),
    "Ridge": ("a.Ridge().fit(X, y)", f"{_LINEAR}RidgeCV().fit(X, y)"),
    "LogisticRegression": (
        "a.LogisticRegression().fit(X, t)",
        f"{_LINEAR}LogisticRegression().fit(X, t)",
    ),
    "LogisticRegression, 3 classes": (
        "a.LogisticRegression().fit(X, k)",
        f"{_LINEAR}LogisticRegression().fit(X, k)",
    ),
    "LogisticRegression, auto": (
        "a.LogisticRegression('auto').fit(X, t)",
        f"{_LINEAR}LogisticRegressionCV().fit(X, t)",
    ),
    "LeastSquaresClassifier": (
        "a.LeastSquaresClassifier().fit(X, t)",
        f"{_LINEAR}RidgeClassifier().fit(X, t)",
    ),
    "Perceptron": ("a.Perceptron().fit(X, t)", f"{_LINEAR}Perceptron().fit(X, t)"),
    "Perceptron, separable": ("a.Perceptron().fit(X, far)", f"{_LINEAR}Perceptron().fit(X, far)"),
    "Adaline": ("a.Adaline().fit(X, t)", f"{_LINEAR}SGDClassifier().fit(X, t)"),
    "WidrowHoff": ("a.WidrowHoff().fit(X, y)", f"{_LINEAR}SGDRegressor().fit(X, y)"),
    "separability": ("a.separability(X, t)", ""),
    "separability, separable": ("a.separability(X, far)", ""),
    "NLMS": ("a.NLMS(8).process(x, d)", ""),
    "LMS": ("a.LMS(8).process(x, d)", ""),
    "RLS": ("a.RLS(8).process(x, d)", ""),
    "GaussianClassifier": (
        "a.GaussianClassifier().fit(X, t)",
        f"{_LDA}LinearDiscriminantAnalysis().fit(X, t)",
    ),
    "GaussianClassifier, full": (
        "a.GaussianClassifier('full').fit(X, t)",
        f"{_LDA}QuadraticDiscriminantAnalysis().fit(X, t)",
    ),
    "max_margin": ("a.max_margin(X, far)", f"{_SVM}SVC(kernel='linear').fit(X, t)"),
    "BayesClassifier": (
        "a.BayesClassifier().fit(X, t)",
        "import sklearn.naive_bayes as m\nm.GaussianNB().fit(X, t)",
    ),
    "PolynomialLeastSquares": ("a.PolynomialLeastSquares(degree=2).fit(X, y)", ""),
    "PoissonRegression": (
        "a.PoissonRegression().fit(X, abs(y).round())",
        f"{_LINEAR}PoissonRegressor().fit(X, abs(y).round())",
    ),
    "HoKashyap": ("a.HoKashyap().fit(X, t)", ""),
    "SigmoidPerceptron": ("a.SigmoidPerceptron().fit(X, t)", ""),
    "KernelPerceptron": ("a.KernelPerceptron().fit(X, t)", f"{_SVM}SVC().fit(X, t)"),
    "AffineProjection": ("a.AffineProjection(8).process(x, d)", ""),
    "BlockLMS": ("a.BlockLMS(64).process(x, d)", ""),
    "FilteredXLMS": ("a.FilteredXLMS(8, [0.5, 0.2]).process(x, d)", ""),
    "trace": ("a.trace(a.Perceptron(), X, t)", ""),
    "mistake_bound": ("a.mistake_bound(X, far)", ""),
    "LeastSquares, CSR": ("a.LeastSquares().fit(X, y)", f"{_LINEAR}LinearRegression().fit(X, y)"),
    "LogisticRegression, CSR": (
        "a.LogisticRegression().fit(X, t)",
        f"{_LINEAR}LogisticRegression().fit(X, t)",
    ),
    "Perceptron, CSR": ("a.Perceptron().fit(X, t)", f"{_LINEAR}Perceptron().fit(X, t)"),
    "LeastSquares, 20000x30": ("a.LeastSquares().fit(X, y)", ""),
    "Ridge, 20000x30": ("a.Ridge().fit(X, y)", ""),
    "LogisticRegression, 20000x30": ("a.LogisticRegression().fit(X, t).predict_proba(X)", ""),
    "LogisticRegression of 3 classes, 20000x30": ("a.LogisticRegression().fit(X, k)", ""),
    "LeastSquaresClassifier of 30 classes, 20000x30": ("a.LeastSquaresClassifier().fit(X, c)", ""),
    "Perceptron, 20000x30": ("a.Perceptron(max_iter=5).fit(X, t)", ""),
    "WidrowHoff, 20000x30": ("a.WidrowHoff(max_iter=5).fit(X, y)", ""),
    "GaussianClassifier full, 20000x30": ("a.GaussianClassifier('full').fit(X, t).predict(X)", ""),
    "PoissonRegression, 20000x30": ("a.PoissonRegression().fit(X / 9, abs(y).round())", ""),
    "HoKashyap, 20000x30": ("a.HoKashyap().fit(X, t)", ""),
    "separability, 20000x30": ("a.separability(X, t)", ""),
    "max_margin, 20000x30": ("a.max_margin(X, far)", ""),
    "LeastSquares, 3000x500": ("a.LeastSquares().fit(X, y)", ""),
    "Ridge, 3000x500": ("a.Ridge().fit(X, y)", ""),
    "LogisticRegression, 3000x500": ("a.LogisticRegression().fit(X, t)", ""),
    "Ridge(1), 200x2000": ("a.Ridge(1.0).fit(X, y)", ""),
    "LogisticRegression, 200x2000": ("a.LogisticRegression().fit(X, t)", ""),
    "Ridge, CSR 5000x20000": ("a.Ridge().fit(X, y)", ""),
    "LogisticRegression, CSR 5000x20000": ("a.LogisticRegression().fit(X, t)", ""),
    "LogisticRegression of 3 classes, CSR 5000x20000": ("a.LogisticRegression().fit(X, k)", ""),
    "LogisticRegression.partial_fit, CSR 5000x20000": (
        "a.LogisticRegression().partial_fit(X, t, classes=[0, 1])",
        "",
    ),
    "PoissonRegression, CSR 5000x20000": ("a.PoissonRegression().fit(X, abs(y).round())", ""),
}


_CLOCK = "\nimport time\nprint(time.process_time())"


def cpu_seconds(program: str, cache: str) -> float:
    """User and system time of a process, which must succeed, up to the end of its program."""
    own = {"NUMBA_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # Installing writes bytecode. Where this forbids it, every process would translate all sources.
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program + _CLOCK],
        env={**rest, **own},
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1]) if done.returncode == 0 else float("nan")


def first_call(program: str, warm: bool = False) -> float:
    """CPU seconds of a program, with an empty directory for kernels or with one that it filled."""
    with tempfile.TemporaryDirectory() as cache:
        return [cpu_seconds(program, cache) for _ in range(2 if warm else 1)][-1]


def main() -> int:
    """Measure, and print what is above the limit first; 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the first six calls")
    parser.add_argument("--only", nargs="*", default=[], help="calls whose names begin so")
    parser.add_argument("--limit", type=float, default=3.0, help="CPU seconds")
    parser.add_argument("--warm", action="store_true", help="with kernels already compiled")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    names = [one for one in CALLS if not options.only or one.startswith(tuple(options.only))]
    rows = []
    first_call(f"{DATA}import adaline as a\na.LeastSquares().fit(X, y)")  # writes bytecode
    for name in names[:6] if options.quick else names:
        call, other = CALLS[name]
        start = STARTS.get(name.rpartition(", ")[2], DATA)
        ours = first_call(f"{start}import adaline as a\n{call}", options.warm)
        theirs = first_call(start + other) if other and not options.no_peers else float("nan")
        rows.append((ours, theirs, name))
        print(f"{ours:6.2f} s  {name}", file=sys.stderr, flush=True)
    rows.sort(reverse=True)
    for ours, theirs, name in rows:
        verdict = "ok" if ours <= options.limit else "ABOVE THE LIMIT"
        beside = f"scikit-learn {theirs:5.2f} s" if theirs == theirs else ""
        print(f"{name:<48} {ours:6.2f} s   {beside:<20} {verdict}")
    return 0 if all(ours <= options.limit for ours, *_ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
