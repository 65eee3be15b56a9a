"""Check how far weights are from the minimiser of their criterion; imports only Python's own.

    python checkers/check_optimality.py proof.json rows.csv TARGET [WEIGHT]

With z the row (x, 1) in columns scaled by d, the criterion has the gradient g = sum r z and the
Hessian H = sum h z z', both with the penalty. If H - lambda I = L L' + E, then H >= lambda - |E|,
and the weights are within d |g| / (lambda - |E|) (1 - u) of the minimiser: u = 0 for squares; the
curvature of the other losses changes by at most e^s over a change s of a score, which gives
u = max |z| |g| / (lambda - |E|) < 1. Norms are sums of absolute values, which are larger.
All sums are exact: numbers are whole multiples of powers of two, and exp has 60 digits.
"""

import csv
import json
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

BITS = 160  # of residuals and curvatures, rounded down to multiples of 2^-BITS
SLACK = Fraction(8, 2**BITS) + Fraction(1, 10**45)  # more than that and exp lose of each


def residual_and_curvature(criterion, v, y):
    """The first two derivatives of the loss at the score v."""
    if criterion == "least-squares":
        return v - y, Fraction(1)
    if abs(v) > 300:
        raise ValueError("a score is beyond 300, where this checker has too few digits")
    with localcontext() as context:
        context.prec = 60
        e = Fraction((Decimal(v.numerator) / Decimal(v.denominator)).exp())
    e, share = (Fraction(int(a * 2**BITS), 2**BITS) for a in (e, e / (1 + e)))
    return (e - y, e) if criterion == "poisson" else (share - y, share * (1 - share))


def check(proof, rows, targets, weights):
    """The proven distance of each weight from the minimiser, at most as claimed."""
    theta, d = ([Fraction(a) for a in proof[name]] for name in ("weights", "scale"))
    alpha = Fraction(proof["alpha"])
    q, criterion, intercept = len(theta), proof["criterion"], proof["fit_intercept"]
    if criterion not in ("least-squares", "logistic", "poisson") or min(alpha, *d, *weights) < 0:
        raise ValueError("the criterion, the penalty or a scale is not what it should be")
    penalties = [alpha * s * s for s in d[: q - intercept]] + [Fraction(0)] * intercept
    Z = [[a * s for a, s in zip(row + [1] * intercept, d, strict=True)] for row in rows]
    unit = 2 ** max(a.denominator.bit_length() - 1 for z in Z for a in z)
    g = [p * w / s for p, w, s in zip(penalties, theta, d, strict=True)]
    H, slack, widest = [[0] * q for _ in range(q)], Fraction(0), Fraction(0)
    for row, z, y, omega in zip(rows, Z, targets, weights, strict=True):
        v = sum(a * w for a, w in zip(row + [1] * intercept, theta, strict=True))
        r, h = residual_and_curvature(criterion, v, y)
        size = sum(map(abs, z))
        slack += SLACK * (1 + omega) * (1 + h) * (size + size * size)
        widest = max(widest, size)
        whole, h = [int(a * unit) for a in z], int(omega * h * 2**BITS)
        for j in range(q):
            g[j] += omega * r * z[j]
            for k in range(j + 1):
                H[j][k] += h * whole[j] * whole[k]
    L, least = [[Fraction(a) for a in row] for row in proof["factor"]], Fraction(proof["lambda"])
    lost = slack
    for j in range(q):
        for k in range(j + 1):
            error = Fraction(H[j][k], unit * unit * 2**BITS) + (penalties[j] - least) * (j == k)
            error -= sum(L[j][i] * L[k][i] for i in range(k + 1))
            lost += abs(error) * (1 + (j != k))
    least -= lost
    if least <= 0:
        raise ValueError("the factor does not prove that the Hessian is positive")
    gradient = sum(map(abs, g)) + slack
    u = 0 if criterion == "least-squares" else widest * gradient / least
    if u >= 1:
        raise ValueError("the weights are too far from a minimum for the theorem")
    proven = [s * gradient / least / (1 - u) for s in d]
    if any(a > Fraction(b) for a, b in zip(proven, proof["distance"], strict=True)):
        raise ValueError(f"the distance of a weight is {float(max(proven)):.3g}, not as claimed")
    return proven


def main(proof_path, rows_path, target, weight=None):
    try:
        with open(proof_path, encoding="utf-8") as file, open(rows_path, newline="") as lines:
            proof, table = json.load(file), list(csv.DictReader(lines))
        proof = proof.get("optimality", proof)
        names = [name for name in table[0] if name not in (target, weight)]
        rows = [[Fraction(float(line[name])) for name in names] for line in table]
        omega = [Fraction(float(line[weight]) if weight else 1) for line in table]
        labels = {text: Fraction(code) for code, text in enumerate(proof["labels"] or [])}
        y = [labels[line[target]] if labels else Fraction(float(line[target])) for line in table]
        proven = check(proof, rows, y, omega)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        print(f"refused: {error}")
        return 1
    for name, distance in zip([*names, "intercept"], proven, strict=False):
        print(f"{name}: within {float(distance):.2g} of the minimiser")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
