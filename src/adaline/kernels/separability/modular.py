"""Linear algebra modulo a prime below 2^26, so that 1024 products of residues fit an int64.

Legend: A residues 0 <= a < p. Ranks modulo p are never larger than ranks in the integers.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel


@kernel
def power(a, e, p):
    """a^e modulo p."""
    result = np.int64(1)
    a %= p
    while e > 0:
        if e & 1:
            result = result * a % p
        a = a * a % p
        e >>= 1
    return result


@kernel
def eliminate(A, p):
    """Independent rows and columns of A, as many of each as its rank; A is overwritten.

    Columns are tried from left to right, rows from the top, so earlier ones are preferred.
    """
    m, q = A.shape
    rows = np.arange(m)
    columns = np.empty(min(m, q), dtype=np.int64)
    r = 0
    for j in range(q):
        if r == m:
            break
        pivot = -1
        for i in range(r, m):
            if A[rows[i], j] != 0:
                pivot = i
                break
        if pivot < 0:
            continue
        found = rows[pivot]
        for i in range(pivot, r, -1):  # the order of the others stays
            rows[i] = rows[i - 1]
        rows[r] = found
        inverse = power(A[found, j], p - 2, p)
        for i in range(r + 1, m):
            row = rows[i]
            if A[row, j] != 0:
                factor = p - A[row, j] * inverse % p
                for k in range(j, q):
                    A[row, k] = (A[row, k] + factor * A[found, k]) % p
        columns[r] = j
        r += 1
    return rows[:r].copy(), columns[:r].copy()


@kernel
def inverse(A, p):
    """A^-1 modulo p for a square A that is invertible, which is overwritten."""
    m = A.shape[0]
    C = np.zeros((m, m), dtype=np.int64)
    for i in range(m):
        C[i, i] = 1
    for j in range(m):
        pivot = j
        while A[pivot, j] == 0:
            pivot += 1
        if pivot != j:
            for k in range(m):
                A[j, k], A[pivot, k] = A[pivot, k], A[j, k]
                C[j, k], C[pivot, k] = C[pivot, k], C[j, k]
        factor = power(A[j, j], p - 2, p)
        for k in range(m):
            A[j, k] = A[j, k] * factor % p
            C[j, k] = C[j, k] * factor % p
        for i in range(m):
            factor = A[i, j]
            if i != j and factor != 0:
                factor = p - factor
                for k in range(j, m):
                    A[i, k] = (A[i, k] + factor * A[j, k]) % p
                for k in range(m):
                    C[i, k] = (C[i, k] + factor * C[j, k]) % p
    return C


@kernel
def lift(limbs, C, rest, digits, p):
    """Digits of x = A^-1 b in base p: x = sum digits[s] p^s modulo p^steps (Dixon).

    A (m, m) is the sum of limbs[k] 2^(26 k), and b, overwritten, that of rest[:, k] 2^(26 k): limbs
    0 <= limb < 2^26 but for the last ones, which carry the sign. C is A^-1 modulo p. Each step
    takes c = C b modulo p and leaves (b - A c) / p, which is a whole number.
    """
    steps, m = digits.shape
    parts, width = limbs.shape[0], rest.shape[1]
    mask, base = (1 << 26) - 1, (1 << 26) % p
    low = np.empty(m, dtype=np.int64)
    for s in range(steps):
        for i in range(m):
            a = np.int64(0)
            for k in range(width - 1, -1, -1):
                a = (a * base + rest[i, k]) % p
            low[i] = a
        for i in range(m):
            total = np.int64(0)
            for j in range(m):
                total += C[i, j] * low[j]
            digits[s, i] = total % p
        for i in range(m):
            for k in range(parts):
                total = np.int64(0)
                for j in range(m):
                    total += limbs[k, i, j] * digits[s, j]
                rest[i, k] -= total & mask
                rest[i, k + 1] -= total >> 26
            for k in range(width - 1):
                carry = rest[i, k] >> 26
                rest[i, k] -= carry << 26
                rest[i, k + 1] += carry
            left = np.int64(0)
            for k in range(width - 1, -1, -1):
                value = (left << 26) + rest[i, k]
                rest[i, k] = value // p
                left = value - rest[i, k] * p
