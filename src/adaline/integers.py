"""Exact linear algebra: float64 rows as Python integers, null vectors, solutions, ranks.

A float64 is a whole number times a power of two, so columns of floats scaled by powers of two are
columns of integers, and nothing is rounded. Solutions come from Dixon's lifting: digits in base p
from one inverse modulo p, fractions from the digits, and every solution is checked by multiplying.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.kernels import exact
from adaline.results import Array

Vector = list[int]
Matrix = list[list[int]]

PRIMES = (67108859, 67108837, 67108819, 67108777)  # the largest below 2^26
LARGEST = 1024  # unknowns: beyond, sums of products of residues leave int64
FIRST_BITS = 256  # of numerators and denominators that are tried first: any small number
LIMB = 26  # bits of a digit of a long integer in a kernel


def dyadic(A: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Odd (or zero) whole numbers m and exponents e with A = m 2^e, exactly."""
    fraction, exponent = np.frexp(A)
    m = np.ldexp(fraction, 53).astype(np.int64)
    e = exponent.astype(np.int64) - 53
    zeros = np.frexp((m & -m).astype(np.float64))[1].astype(np.int64) - 1
    zeros[m == 0] = 0
    return m >> zeros, e + zeros


def least_exponents(A: Array) -> NDArray[np.int64]:
    """Per column the largest q for which every entry is a whole multiple of 2^q; 0 for zeros."""
    q = np.full(A.shape[1], 2000)
    for i in range(0, len(A), 4096):
        m, e = dyadic(A[i : i + 4096])
        np.minimum(q, np.where(m == 0, 2000, e).min(axis=0, initial=2000), out=q)
    return np.where(q == 2000, 0, q).astype(np.int64)


def integer_rows(A: Array, q: NDArray[np.int64]) -> Matrix:
    """Rows of A with column j divided by 2^q[j], as Python integers."""
    m, e = dyadic(A)
    shift = np.where(m == 0, 0, e - q)
    if int(shift.max(initial=0)) <= 8:  # m has 53 bits
        small: Matrix = (m << shift).tolist()
        return small
    rows = zip(m.tolist(), shift.tolist(), strict=True)
    return [[a << s for a, s in zip(row, by, strict=True)] for row, by in rows]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """Sum of products."""
    return sum(map(mul, a, b))


def reduced(v: Sequence[int]) -> Vector:
    """v divided by the greatest common divisor of its entries."""
    g = math.gcd(*v)
    return [a // g for a in v] if g > 1 else list(v)


def combination(weights: Sequence[int], rows: Matrix) -> Vector:
    """Sum of weights[i] rows[i]."""
    return [dot(weights, column) for column in zip(*rows, strict=True)]


def residues(rows: Matrix, p: int) -> NDArray[np.int64]:
    """The matrix modulo p."""
    try:
        return np.array(rows, dtype=np.int64) % p
    except OverflowError:
        return np.array([[a % p for a in row] for row in rows], dtype=np.int64)


def independent(rows: Matrix, p: int = PRIMES[0]) -> tuple[list[int], list[int]]:
    """Rows and columns of a minor that is not zero modulo p, so not zero.

    As large as there is modulo p: the rank is at least its size, and larger only if p divides
    every larger minor.
    """
    if not rows or not rows[0]:
        return [], []
    chosen, columns = exact.eliminate(residues(rows, p), p, len(rows[0]))
    return chosen.tolist(), columns.tolist()


class Minor:
    """An invertible integer matrix, ready to solve A x = b for several b."""

    def __init__(self, A: Matrix, p: int = PRIMES[0]) -> None:
        self.A, self.p, self.m = A, p, len(A)
        if self.m > LARGEST:
            raise OverflowError(f"{self.m} unknowns; exact solutions are for {LARGEST} at most.")
        # Elimination in [A I] leaves A^-1 in the place of I, its rows in the order of the pivots.
        both = np.hstack([residues(A, p).reshape(self.m, self.m), np.eye(self.m, dtype=np.int64)])
        order, _ = exact.eliminate(both, p, self.m)
        if len(order) < self.m:
            raise ArithmeticError(f"the matrix is singular modulo {p}.")
        self.C = np.ascontiguousarray(both[order, self.m :])
        self.limbs = split_limbs(np.array(A, dtype=object).reshape(self.m, self.m), 1)
        # Hadamard: |det| <= product of the rows' lengths.
        squares = (sum(a * a for a in row) for row in A)
        self.bits = sum(square.bit_length() + 1 for square in squares) // 2 + 1

    def solve(self, b: Vector) -> tuple[Vector, int]:
        """Whole numbers x and d > 0 with A x = d b."""
        if not any(b):
            return [0] * self.m, 1
        rest = split_limbs(np.array(b, dtype=object), 0)
        padded = np.zeros((self.m, max(len(self.limbs), rest.shape[1]) + 2), dtype=np.int64)
        padded[:, : rest.shape[1]] = rest
        worst = self.bits + max(a.bit_length() for a in b) + self.m.bit_length()
        digits, bits = np.empty((0, self.m), dtype=np.int64), FIRST_BITS
        while True:  # most numbers are far smaller than Hadamard's bound, so more digits come later
            bits = min(bits, worst)
            numerator, denominator = bits + 8, min(bits, self.bits) + 8
            steps = (numerator + denominator + 2) // 25 + 1
            more = np.empty((steps - len(digits), self.m), dtype=np.int64)
            exact.lift(self.limbs, self.C, padded, more, self.p)
            digits = np.vstack([digits, more])
            residue = join_digits(digits, self.p)
            solution = to_fractions(residue, self.p**steps, numerator, denominator)
            if solution is not None:
                x, d = solution
                if all(dot(row, x) == d * c for row, c in zip(self.A, b, strict=True)):
                    return solution
            if bits == worst:  # p divides det A
                raise ArithmeticError("the lifted digits do not solve the system.")
            bits += bits // 2


def split_limbs(A: NDArray[Any], front: int) -> NDArray[np.int64]:
    """Base 2^26 digits, the last with the sign, along a new first (or last) axis."""
    bits = max((abs(int(a)).bit_length() for a in A.flat), default=0)
    parts = []
    for k in range(bits // LIMB + 1):
        last = (k + 1) * LIMB > bits
        parts.append((A if last else A & ((1 << LIMB) - 1)).astype(np.int64))
        A = A >> LIMB
    return np.stack(parts, axis=0 if front else -1)


def join_digits(digits: NDArray[np.int64], p: int) -> Vector:
    """Sum of digits[s] p^s, by joining neighbours, which keeps factors of equal size."""
    if len(digits) % 2:
        digits = np.vstack([digits, np.zeros((1, digits.shape[1]), dtype=np.int64)])
    numbers = (digits[::2] + digits[1::2] * p).astype(object)
    base = p * p
    while len(numbers) > 1:
        odd = numbers[-1:] if len(numbers) % 2 else numbers[:0]
        half = len(numbers) // 2 * 2
        numbers = np.vstack([numbers[:half:2] + numbers[1:half:2] * base, odd])
        base *= base
    return list(numbers[0])


def to_fractions(
    residue: Vector, modulus: int, numerator: int, denominator: int
) -> tuple[Vector, int] | None:
    """Fractions x = n/d with one d, from x modulo the modulus (rational reconstruction)."""
    d, numerators = 1, list[int]()
    for a in residue:
        n = a * d % modulus
        n = n - modulus if 2 * n > modulus else n
        if abs(n).bit_length() > numerator:
            n, more = to_fraction(n % modulus, modulus, numerator)
            if more == 0 or (d * more).bit_length() > denominator:
                return None
            numerators = [b * more for b in numerators]
            d *= more
        numerators.append(n)
    return numerators, d


def to_fraction(a: int, modulus: int, bits: int) -> tuple[int, int]:
    """n, d with n = d a modulo the modulus, n of so many bits at most, by Euclid's steps."""
    r, s, t, u, limit = modulus, a, 0, 1, 1 << bits
    while s >= limit:
        q, rest = divmod(r, s)
        r, s, t, u = s, rest, u, t - q * u
    return (s, u) if u > 0 else (-s, -u)


def null_vector(rows: Matrix) -> Vector | None:
    """Whole numbers with sum c_i rows_i = 0 where all but one of the rows are independent.

    None where there is no such vector, or more than one direction of them.
    """
    m = len(rows)
    for p in PRIMES:
        kept, columns = independent(rows, p)
        if len(kept) == m:
            return None
        if len(kept) < m - 1:
            continue
        (last,) = set(range(m)) - set(kept)
        transposed = [[rows[i][j] for i in kept] for j in columns]
        x, d = Minor(transposed, p).solve([-rows[last][j] for j in columns])
        c = [0] * m
        for i, value in zip(kept, x, strict=True):
            c[i] = value
        c[last] = d
        if not any(combination(c, rows)):
            return reduced(c)
    return None


def null_space(rows: Matrix, width: int) -> Matrix:
    """Independent whole vectors z, as many as there are, with rows z = 0."""
    for p in PRIMES:
        kept, columns = independent(rows, p)
        free = sorted(set(range(width)) - set(columns))
        minor = Minor([[rows[i][j] for j in columns] for i in kept], p)
        basis = []
        for f in free:
            x, d = minor.solve([-rows[i][f] for i in kept])
            z = [0] * width
            z[f] = d
            for j, value in zip(columns, x, strict=True):
                z[j] = value
            basis.append(reduced(z))
        others = [row for i, row in enumerate(rows) if i not in set(kept)]
        if not any(dot(row, z) for row in others for z in basis):
            return basis
    raise ArithmeticError("four primes divide minors of the rows.")  # never seen


def in_span(targets: Matrix, rows: Matrix) -> list[tuple[Vector, int]] | None:
    """For each target whole c and d > 0 with sum c_i rows_i = d target; None where one has none."""
    for p in PRIMES:
        kept, columns = independent(rows, p)
        chosen = [rows[i] for i in kept]
        minor = Minor([[row[j] for row in chosen] for j in columns], p)
        result: list[tuple[Vector, int]] = []
        for target in targets:
            x, d = minor.solve([target[j] for j in columns])
            if (combination(x, chosen) if kept else [0] * len(target)) != [d * b for b in target]:
                break
            c = [0] * len(rows)
            for i, value in zip(kept, x, strict=True):
                c[i] = value
            result.append((c, d))
        else:
            return result
    return None
