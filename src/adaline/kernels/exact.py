"""Linear algebra modulo a prime below 2^26, for exact separability.

Called by integers.py. Residues 0 <= a < p are so small that
sums of 1024 products fit an int64.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import kernel


@kernel
def eliminate(A, p, width):
    """Independent rows and columns among the first `width` columns, as many of each as the rank.

    Gauss and Jordan: the residues A are overwritten, so that A[rows[r], columns[r]] = 1 is the only
    entry that is not zero in its column. Earlier rows and columns are preferred. A rank modulo p is
    never larger than the rank in the integers.
    """
    m, q = A.shape
    rows, columns = np.arange(m), np.empty(min(m, width), dtype=np.int64)
    r = 0
    for j in range(width):
        k = r
        while k < m and A[rows[k], j] == 0:
            k += 1
        if k == m:
            continue
        pivot = rows[k]
        for i in range(k, r, -1):  # the order of the others stays
            rows[i] = rows[i - 1]
        rows[r], columns[r] = pivot, j
        r += 1
        inverse, power, e = 1, A[pivot, j], p - 2  # a^(p - 2) = 1/a (Fermat)
        while e > 0:
            if e & 1:
                inverse = inverse * power % p
            power = power * power % p
            e >>= 1
        for k in range(j, q):
            A[pivot, k] = A[pivot, k] * inverse % p
        for i in range(m):
            if i != pivot and A[i, j] != 0:
                factor = p - A[i, j]
                for k in range(j, q):
                    A[i, k] = (A[i, k] + factor * A[pivot, k]) % p
    return rows[:r], columns[:r]


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
            a = 0
            for k in range(width - 1, -1, -1):
                a = (a * base + rest[i, k]) % p
            low[i] = a
        for i in range(m):
            total = 0
            for j in range(m):
                total += C[i, j] * low[j]
            digits[s, i] = total % p
        for i in range(m):
            for k in range(parts):
                total = 0
                for j in range(m):
                    total += limbs[k, i, j] * digits[s, j]
                rest[i, k] -= total & mask
                rest[i, k + 1] -= total >> 26
            for k in range(width - 1):
                carry = rest[i, k] >> 26
                rest[i, k] -= carry << 26
                rest[i, k + 1] += carry
            left = 0
            for k in range(width - 1, -1, -1):
                value = (left << 26) + rest[i, k]
                rest[i, k] = value // p
                left = value - rest[i, k] * p
