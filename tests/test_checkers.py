"""The independent checkers accept every proof of ours, and refuse every forged one."""

import csv
import importlib.util
import json
import shutil
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from adaline import audit, separability

CHECKERS = Path(__file__).parents[1] / "checkers"
PROGRAMS = {
    "python": [sys.executable, "-I", str(CHECKERS / "check.py")],
    "node": [shutil.which("node") or "", str(CHECKERS / "check.mjs")],
}


def write(folder, X, y, proof):
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "kind"])
        writer.writerows([*map(repr, row), label] for row, label in zip(X.tolist(), y, strict=True))
    (folder / "proof.json").write_text(json.dumps(proof))
    return [str(folder / "proof.json"), str(folder / "rows.csv"), "kind"]


def samples(seeds):
    """Rows, labels and our proof: separable, touching, overlapping, infinite coefficients."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(6, 20)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-8, 9)
        y = np.where(X @ rng.standard_normal(p) > 0, "yes", "no")
        y[:2] = "no", "yes"
        kind = seed % 4
        if kind == 1:
            X, y = np.round(rng.standard_normal((n, p))), rng.choice(["no", "yes"], n)
            y[:2] = "no", "yes"
        elif kind == 2:
            X = np.column_stack([rng.standard_normal(n), np.arange(n) % 2])
            y = np.where((X[:, 1] == 1) | (rng.random(n) > 0.5), "yes", "no")
            y[0::4], y[2::4] = "no", "yes"
        if kind < 2:
            yield X, y, json.loads(separability(X, y).to_json())
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = audit(LogisticRegression(C=np.inf).fit(X, y), X, y)
        if answer.direction or answer.proof is not None:
            yield X, y, json.loads(answer.to_json())


def forged(proof):
    """The same proof with another number, or with all signs turned."""
    proof = json.loads(json.dumps(proof))
    if proof.get("direction"):
        proof["direction"] = [str(-Fraction(text)) for text in proof["direction"]]
        return proof
    inner = proof.get("proof") or proof
    if inner["multipliers"]:
        inner["multipliers"][0] = hex(int(inner["multipliers"][0], 16) + 1)
    else:
        inner["weights"][0] = [hex(-int(text, 16)) for text in inner["weights"][0]]
    return proof


def verdict_of(program, arguments):
    run = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return run.returncode == 0, run.stdout


@pytest.mark.parametrize("first", [0, 14, 28, 42])
@pytest.mark.parametrize("name", PROGRAMS)
def test_checkers_accept_proofs_and_refuse_forgeries(name, first, tmp_path):
    if not PROGRAMS[name][0]:
        pytest.skip(f"there is no {name}")
    accepted = 0
    for X, y, proof in samples(range(first, first + 14)):
        if "undecided" in json.dumps(proof):
            continue
        holds, said = verdict_of(PROGRAMS[name], write(tmp_path, X, y, proof))
        assert holds, said
        accepted += 1
        holds, said = verdict_of(PROGRAMS[name], write(tmp_path, X, y, forged(proof)))
        assert not holds, said
        assert said.startswith("refused")
    assert accepted > 10  # of each: more than 40 proofs and as many forgeries


def fits(count):
    """Rows, targets and an audit with a proof of distance: squares, logistic and Poisson losses."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, int(rng.integers(1, 4)))) * 10.0 ** rng.integers(-3, 4)
        v = X @ rng.standard_normal(X.shape[1]) / np.abs(X).max() + 0.5
        if seed % 3 == 0:
            model, y = Ridge(float(seed)), v + rng.standard_normal(30)
        elif seed % 3 == 1:
            model = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-9)
            y = (v + rng.logistic(size=30) > 0).astype(int)
        else:
            model, y = PoissonRegressor(alpha=0.01, tol=1e-9), rng.poisson(np.exp(v)).astype(float)
        yield X, y.tolist(), audit(model.fit(X, y), X, y)


def test_the_checker_of_optimality_accepts_proofs_and_refuses_forgeries(tmp_path, capsys):
    checker = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location("checker", CHECKERS / "check_optimality.py")
    )
    checker.__spec__.loader.exec_module(checker)
    for X, y, answer in fits(24):
        proof = json.loads(answer.to_json())
        arguments = write(tmp_path, X, y, proof)
        assert checker.main(*arguments) == 0, capsys.readouterr().out
        claims = proof["optimality"]
        claims["distance"] = [distance / 1e6 for distance in claims["distance"]]
        assert checker.main(*write(tmp_path, X, y, proof)) == 1
        claims["distance"] = [distance * 1e6 for distance in claims["distance"]]
        claims["weights"][0] += 1e-2 * abs(claims["weights"][0])
        assert checker.main(*write(tmp_path, X, y, proof)) == 1
        claims["weights"][0] = answer.weights[0, 0]
        claims["factor"][0][0] *= 2.0
        assert checker.main(*write(tmp_path, X, y, proof)) == 1
