"""Check a proof of separability or of infinite coefficients; imports nothing but Python's own.

    python checkers/check.py proof.json rows.csv TARGET

rows.csv has a header row and numbers; the column TARGET holds the classes. Prints what is proven
and exits with 0, or says why the proof fails and exits with 1.
"""

import csv
import json
import sys
from fractions import Fraction


def read_rows(path, target, labels):
    """Signed rows t (1, x), t = -1 for the first class and +1 for the second, as fractions."""
    with open(path, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    names = [name for name in table[0] if name != target]
    rows = []
    for line in table:
        if line[target] not in labels:
            raise ValueError(f"{line[target]!r} is none of the classes {labels}")
        sign = 1 if line[target] == labels[1] else -1
        # float() rounds as every program does that reads the table; fractions are then exact.
        values = [1, *(Fraction(float(line[name])) for name in names)]
        rows.append([sign * value for value in values])
    return names, rows


def label_text(label):
    return label if isinstance(label, str) else format(label, "g")


def values_of(rows, weights):
    return [sum(w * a for w, a in zip(weights, row, strict=True)) for row in rows]


def check_separability(proof, rows):
    """What a proof in the format "adaline separability proof" proves of two classes."""
    if len(rows) != proof["n_rows"] or len(rows[0]) != proof["n_features"] + 1:
        raise ValueError("the proof is about rows of another shape")
    if not proof["fit_intercept"]:
        rows = [row[1:] for row in rows]
    values = None
    if proof["weights"]:
        weights = [int(text, 16) for text in proof["weights"][0]]
        values = values_of(rows, weights)
        if min(values) < 0 or not any(values):
            raise ValueError("a row is on the wrong side of the weights, or all rows are on it")
    if proof["verdict"] == "separable":
        if values is None or min(values) <= 0:
            raise ValueError("a row is not strictly on its side")
        return "separable: all rows are on their sides of the hyperplane"
    members = [row for row, _ in proof["rows"]]
    factors = [int(text, 16) for text in proof["multipliers"]]
    if not members or len(members) != len(factors) or min(factors) <= 0:
        raise ValueError("there are no positive multipliers")
    for j in range(len(rows[0])):
        if sum(f * rows[i][j] for i, f in zip(members, factors, strict=True)) != 0:
            raise ValueError(f"the sum of the rows is not zero in column {j}")
    if proof["verdict"] == "quasi-separable" and values is None:
        raise ValueError("there are no weights that show that the classes only touch")
    return f"not separable: {len(members)} rows with positive multipliers sum to zero"


def check_direction(proof, names, rows):
    """What the direction of an audit proves: coefficients that grow without bound."""
    *slopes, bias = (Fraction(text) for text in proof["direction"])
    values = values_of(rows, [bias, *slopes])
    if min(values) < 0 or max(values) <= 0:
        raise ValueError("the loss does not fall along this direction")
    infinite = [name for name, slope in zip(names, slopes, strict=True) if slope]
    return f"no maximum likelihood exists: infinite are {', '.join(infinite)}"


def main(proof_path, rows_path, target):
    with open(proof_path, encoding="utf-8") as file:
        proof = json.load(file)
    if "labels" in proof:
        labels = [label_text(label) for label in proof["labels"]]
    else:
        with open(rows_path, newline="", encoding="utf-8") as file:
            labels = sorted({line[target] for line in csv.DictReader(file)})
    try:
        if len(labels) != 2:
            raise ValueError(f"this checker is for two classes, and there are {len(labels)}")
        names, rows = read_rows(rows_path, target, labels)
        if proof.get("direction"):
            print(check_direction(proof, names, rows))
        else:
            print(check_separability(proof.get("proof") or proof, rows))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        print(f"refused: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
