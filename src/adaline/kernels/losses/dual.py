"""Dual coordinate descent for logistic regression on CSR rows.

Legend: data, indices, indptr the rows x_i; t (n,) targets -1 or +1; omega (n,) weights; z = sum of
lambda_i t_i x_i, so that w = z / alpha; u (n,) log-odds of the dual variables,
lambda_i = omega_i / (1 + exp(-u_i)), which keeps them strictly inside 0..omega_i. At the optimum
u_i = -t_i v_i.
"""

from __future__ import annotations

import numpy as np

from adaline._jit import kernel, sums_kernel


@kernel
def share(u):
    """1 / (1 + exp(-u)), without overflow and with exact tails."""
    e = np.exp(-abs(u))
    return 1.0 / (1.0 + e) if u >= 0.0 else e / (1.0 + e)


@kernel
def log_odds(c, a, u, p):
    """The root u of u + c + a share(u) = 0 for a >= 0, from a guess and its share p; and share(u).

    The left side rises with slope 1 to 1 + a/4, so the root lies in [-c - a, -c]; a Newton step
    that leaves the bracket is halved instead. A hundredth of the first error is good enough: the
    other coordinates will move it again.
    """
    low, high = -c - a, -c
    if not low <= u <= high:
        u = min(max(u, low), high)
        p = share(u)
    f = u + c + a * p
    enough = 0.01 * abs(f)
    for _ in range(60):
        if f > 0.0:
            high = u
        else:
            low = u
        step = u - f / (1.0 + a * p * (1.0 - p))
        if not low < step < high:
            step = 0.5 * (low + high)
        if step == u:
            break
        u = step
        p = share(u)
        f = u + c + a * p
        if abs(f) <= enough:
            break
    return u, p


@kernel
def dual_pass(data, indices, indptr, t, omega, squares, order, alpha, pull, idle, b, u, lam, z):
    """Raise the dual by one coordinate after the other; u, lam and z are changed.

    The bias is b[0] + pull b[1], where b[1] = sum of lambda_i t_i: a proximal term
    (bias - b[0])^2 / (2 pull), whose centre the caller moves. Coordinates that could gain less
    than `idle` stay. Returns about what the duality gap was: half the sum of |u + t v| times
    |lambda - omega share(-t v)|, the mean of the two divergences, over the rows as they were met.
    """
    gap = 0.0
    s = b[1]
    for k in range(order.shape[0]):
        i = order[k]
        if omega[i] == 0.0:
            continue
        start, stop = indptr[i], indptr[i + 1]
        v = 0.0
        for q in range(start, stop):
            v += data[q] * z[indices[q]]
        v = v / alpha + b[0] + pull * s
        r = u[i] + t[i] * v
        gain = 0.5 * abs(r * (lam[i] - omega[i] * share(-t[i] * v)))
        gap += gain
        if gain <= idle:
            continue
        curvature = squares[i] / alpha + pull
        c = t[i] * v - curvature * lam[i]
        u[i], p = log_odds(c, curvature * omega[i], u[i], lam[i] / omega[i])
        change = t[i] * (omega[i] * p - lam[i])
        lam[i] = omega[i] * p
        s += change
        for q in range(start, stop):
            z[indices[q]] += change * data[q]
    b[1] = s
    return gap


@sums_kernel
def row_squares(data, indptr):
    """|x_i|^2 of each row."""
    squares = np.zeros(indptr.shape[0] - 1)
    for i in range(squares.shape[0]):
        for q in range(indptr[i], indptr[i + 1]):
            squares[i] += np.float64(data[q]) * data[q]
    return squares


@kernel
def combination(data, indices, indptr, c, p):
    """The sum (p,) of c_i x_i."""
    z = np.zeros(p)
    for i in range(c.shape[0]):
        for q in range(indptr[i], indptr[i + 1]):
            z[indices[q]] += c[i] * data[q]
    return z


@kernel
def square_combination(data, indices, indptr, c, p):
    """The sum (p,) of c_i x_i^2, entry by entry."""
    z = np.zeros(p)
    for i in range(c.shape[0]):
        for q in range(indptr[i], indptr[i + 1]):
            z[indices[q]] += c[i] * data[q] * data[q]
    return z


@kernel
def products(data, indices, indptr, w):
    """w'x_i of each row."""
    v = np.empty(indptr.shape[0] - 1)
    for i in range(v.shape[0]):
        total = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            total += data[q] * w[indices[q]]
        v[i] = total
    return v


@kernel
def balance(t, omega, u):
    """The d with sum of t_i omega_i share(u_i + d t_i) = 0, to rounding.

    Shifting log-odds by d t makes dual variables feasible for a bias without penalty. With
    u = -t w'x, -d is the best bias for w. Both signs of t must have weight.
    """
    most, plus, minus = 0.0, 0.0, 0.0
    for i in range(t.shape[0]):
        if omega[i] > 0.0:
            most = max(most, abs(u[i]))
            if t[i] > 0.0:
                plus += omega[i]
            else:
                minus += omega[i]
    high = most + abs(np.log(plus / minus)) + 1.0
    low = -high
    d = 0.0
    for _ in range(100):
        s, slope = 0.0, 0.0
        for i in range(t.shape[0]):
            p = share(u[i] + d * t[i])
            s += t[i] * omega[i] * p
            slope += omega[i] * p * (1.0 - p)
        if s > 0.0:
            high = d
        else:
            low = d
        step = d - s / slope if slope > 0.0 else high
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - d) <= 4e-16 * (1.0 + abs(d)):
            break
        d = step
    return d


@kernel
def entropy(omega, u):
    """Sum of omega_i times the entropy of the coin share(u_i): the dual's first term."""
    total = 0.0
    for i in range(u.shape[0]):
        a = abs(u[i])
        e = np.exp(-a)
        total += omega[i] * (np.log1p(e) + a * e / (1.0 + e))
    return total


@kernel
def logistic_loss(t, omega, v):
    """Sum of omega_i log(1 + exp(-t_i v_i))."""
    total = 0.0
    for i in range(t.shape[0]):
        m = t[i] * v[i]
        total += omega[i] * (np.log1p(np.exp(-abs(m))) + max(-m, 0.0))
    return total
