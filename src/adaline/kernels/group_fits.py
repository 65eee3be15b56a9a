"""Thousands of small fits with proofs: least squares, ridge, logistic and Poisson regression.

Called by `adaline.groups`. Least squares keeps S, the sums of products of a group's columns about
a centre, y being the last column; a rolling window adds rows to S and subtracts others.

**Proof.** Gaussian elimination gives H = L D L'. Let A = D^-1/2 L^-1 as computed, s_j the length of
column j of A (the deviation of w_j), and m_j = sqrt(H_jj) or more. If |E_jk| <= eps m_j m_k for the
error E of H, then |A E A'| <= eps |v|^2 with v = |A| m, so that A H A' >= (1 - eta) I where
eta = (eps + c u) |v|^2; c u covers the elimination (Higham 2002, theorems 9.3 and 14.1). By the
triangle inequality |v| <= sum_j s_j m_j. Where a gradient g is known to within e, theorem (a) is

    |w - w*|_j <= s_j (|A g| + ||A| e|) / (1 - eta),    |A g| <= |v| max_k |g_k| / m_k,

and theorem (b), for losses whose curvature changes, replaces nu = |A g| + ||A| e| by
-log(1 - rho nu) / rho, with rho the largest |A z| of all rows z (see `certificates.bounds`).
Sums of n products, in any order, are off by at most n u times the root of the product of the sums
of squares (Cauchy-Schwarz).
"""

from __future__ import annotations

from math import exp, inf, log1p, sqrt

import numpy as np

from adaline.jit import kernel, sum_kernel

UNIT = 2.0**-53
SLACK = 1.05  # covers eta and the rounding of the bounds themselves
LARGEST_ETA = 0.01  # above, H is too near to singular for a proof here
# Squares outside, or weights outside their roots, may have lost digits to underflow.
TINY, HUGE = 1e-100, 1e100
SOLVED, TOO_FEW, SINGULAR, SEPARABLE, UNSOLVED = 0, 1, 2, 3, 4


@sum_kernel
def eliminate(W, p, squares):
    """Eliminate p columns of W = [H c a; c' f .] in place; squares (p,) become the s_j^2.

    Afterwards row i < p holds row i of L^-1 left of the diagonal, D_ii on it, and (L^-1 a)_i last;
    row p holds -w = -H^-1 c and f - c'w. Returns a'H^-1 a, or -1 where H is singular. W may have
    columns to spare before a: rows of a multiple of four numbers take vector instructions.
    """
    size, last = 0.0, W.shape[1] - 1
    for j in range(p):
        pivot = W[j, j]
        if not pivot > TINY:
            return -1.0
        r = 1.0 / pivot
        for i in range(j + 1, p + 1):
            f = W[i, j] * r
            for k in range(last + 1):
                W[i, k] -= f * W[j, k]
            W[i, j] = -f
        size += r * W[j, last] * W[j, last]
        squares[j] = r
        for k in range(j):
            squares[k] += r * W[j, k] * W[j, k]
    return size


@sum_kernel
def solve(S, s, total, ops, peak, centre, alpha, intercept, W, work, out, at):
    """Least squares from sums about a centre: rows of out[at] become coef, bound and deviation.

    The bias is the last entry of each row. `ops` counts additions to an entry of S, peak (q,) are
    the largest values its diagonal had. Returns a status and the residual sum of squares.
    """
    p, last = len(s) - 1, W.shape[1] - 1
    share = intercept / total
    squares, product, length = work  # s_j^2, of y with the columns, m_j
    for j in range(p + 1):
        if not (peak[j] < HUGE and (j == p or peak[j] + alpha > TINY)):
            return UNSOLVED if peak[j] > 0.0 else SINGULAR, 0.0
        f = share * s[j]
        for k in range(p + 1):
            W[j, k] = S[j, k] - f * s[k]
        W[j, last] = centre[j] + f
    yy, mean_y = W[p, p], W[p, last]
    for j in range(p):
        length[j] = sqrt(peak[j] + alpha)
    for j in range(p):
        product[j] = W[p, j]
        W[j, j] += alpha
    far = eliminate(W, p, squares)
    if far < 0.0:
        return SINGULAR, 0.0
    scale = sqrt(peak[p]) + 1e-150  # underflow takes less than that from sums of m_j >= 1e-50
    size, shift, b, off = 0.0, 0.0, mean_y, abs(centre[p])
    for j in range(p):
        out[at, 2, j] = sqrt(squares[j])
    for j in range(p):
        out[at, 0, j] = -W[p, j]
        size += out[at, 2, j] * length[j]
        scale += length[j] * abs(out[at, 0, j])
        shift += share * s[j] * out[at, 0, j]
    for j in range(p):  # the gradient (S - share s s' + alpha I) w - product
        out[at, 1, j] = alpha * out[at, 0, j] - product[j] - shift * s[j]
    for j in range(p):
        for k in range(p):
            out[at, 1, k] += out[at, 0, j] * S[j, k]
    # S is off by ops + 4 units (deviations, weights), s s' by twice as many, 1 / total by as many.
    eps = (5.0 * ops + 8.0 * p + 40.0) * UNIT
    if not eps * size * size < LARGEST_ETA:
        return SINGULAR, 0.0
    steepest, rest = 0.0, yy
    for j in range(p):
        steepest = max(steepest, abs(out[at, 1, j]) / length[j])
        rest -= out[at, 0, j] * (product[j] + alpha * out[at, 0, j])
    nu = SLACK * size * (steepest + eps * scale)
    out[at, 1, p] = eps * scale / sqrt(total)
    for j in range(p):
        out[at, 1, j] = SLACK * out[at, 2, j] * nu
        mean = centre[j] + share * s[j]
        b -= out[at, 0, j] * mean
        off += abs(out[at, 0, j] * mean)
        out[at, 1, p] += out[at, 1, j] * abs(mean)
    out[at, 0, p] = b * intercept
    out[at, 1, p] = intercept * (out[at, 1, p] + (p + 4) * UNIT * off)
    out[at, 2, p] = intercept * sqrt(1.0 / total + far)
    # Where rounding takes more than 1e-8 of it, the squares are summed row by row.
    return SOLVED, rest if rest > 1e8 * eps * scale * scale else -1.0


@sum_kernel
def change(X, y, weight, start, stop, sign, centre, d, S, s, peak):
    """Add rows start to stop - 1 to the sums, or subtract them (sign -1); returns their weight."""
    total, p = 0.0, X.shape[1]
    for i in range(start, stop):
        omega = sign * (weight[i] if len(weight) else 1.0)
        total += omega
        for j in range(p):
            d[j] = X[i, j] - centre[j]
        d[p] = y[i] - centre[p]
        for j in range(p + 1):
            f = omega * d[j]
            s[j] += f
            for k in range(p + 1):
                S[j, k] += f * d[k]
    for j in range(p + 1):  # additions let the diagonal rise, subtractions let it fall
        peak[j] = max(peak[j], S[j, j])
    return total


@sum_kernel
def find_mean(X, y, weight, start, stop, centre):
    """The weighted mean of rows start to stop - 1, y last."""
    total, p = 0.0, X.shape[1]
    centre[:] = 0.0
    for i in range(start, stop):
        omega = weight[i] if len(weight) else 1.0
        total += omega
        centre[p] += omega * y[i]
        for j in range(p):
            centre[j] += omega * X[i, j]
    centre /= total


@sum_kernel
def is_doubtful(S, s, total, intercept, peak):
    """Whether rounding counts ten times as much as in sums made anew (a digit)."""
    share, doubtful = intercept / total, False
    for j in range(len(s)):
        doubtful |= not 10.0 * (S[j, j] - share * s[j] * s[j]) > peak[j]
    return doubtful


@sum_kernel
def roll(X, y, weight, begins, ends, alpha, intercept, first, last, out, status, squares):
    """`solve` for windows first to last - 1: rows begins[k] to ends[k] - 1, both never falling.

    Groups are windows side by side. Sums are made anew after two windows of changes, so that
    rounding cannot accumulate, and where they are doubtful. Returns how often the latter.
    """
    q, renewed = X.shape[1] + 1, 0
    S, s, peak, centre, d = np.zeros((q, q)), np.zeros(q), np.zeros(q), np.zeros(q), np.zeros(q)
    W = np.zeros((q, (q + 4) // 4 * 4))
    work = np.zeros(q), np.zeros(q), np.zeros(q)
    total, highest, ops, begin, end, watched = 0.0, 0.0, 0, 0, 0, False
    for k in range(first, last):
        rows = ends[k] - begins[k]
        anew, doubtful = end == 0 or begins[k] >= end or ops > 3 * rows + 64, False
        if not anew:
            total += change(X, y, weight, end, ends[k], 1.0, centre, d, S, s, peak)
            highest = max(highest, total)
            total += change(X, y, weight, begin, begins[k], -1.0, centre, d, S, s, peak)
            ops += ends[k] - end + begins[k] - begin
            doubtful = watched and begins[k] > begin and is_doubtful(S, s, total, intercept, peak)
            doubtful = doubtful or highest > 2.0 * total
            renewed += doubtful
        if anew or doubtful:
            S[:], s[:], peak[:] = 0.0, 0.0, 0.0
            if intercept:
                find_mean(X, y, weight, begins[k], ends[k], centre)
            total = change(X, y, weight, begins[k], ends[k], 1.0, centre, d, S, s, peak)
            # A column that is constant here stays doubtful however often it is summed.
            ops, highest, watched = rows, total, not is_doubtful(S, s, total, intercept, peak)
        begin, end = begins[k], ends[k]
        additions = rows if anew or doubtful else 2 * ops
        status[k], squares[k] = solve(
            S, s, total, additions, peak, centre, alpha, intercept, W, work, out, k
        )
        if squares[k] < 0.0:
            squares[k] = 0.0
            for i in range(begins[k], ends[k]):
                v = y[i] - out[k, 0, q - 1]
                for j in range(q - 1):
                    v -= out[k, 0, j] * X[i, j]
                squares[k] += v * v * (weight[i] if len(weight) else 1.0)
    return renewed


@sum_kernel
def sum_losses(Z, t, omega, counts, theta, g, H, doubt):
    """The loss, its gradient g, their Hessian H and |errors of g| <= doubt u, at theta.

    Returns the loss and the least margin: positive where theta separates the classes.
    """
    n, q = Z.shape
    value, margin, farthest = 0.0, inf, 0.0
    g[:], H[:, :], doubt[:] = 0.0, 0.0, 0.0
    for i in range(n):
        v = size = 0.0
        for j in range(q):
            v += Z[i, j] * theta[j]
            size += abs(Z[i, j] * theta[j])
        farthest = max(farthest, size)
        if counts:
            mu = h = exp(v)
            loss = mu - t[i] * v
        else:
            e = exp(-abs(v))
            mu = (1.0 if v > 0.0 else e) / (1.0 + e)
            h = e / ((1.0 + e) * (1.0 + e))
            loss = log1p(e) + max(v, 0.0) - t[i] * v
            # (q + 4) u size is what rounding may have added to v.
            margin = min(margin, (2.0 * t[i] - 1.0) * v - (q + 4) * UNIT * size)
        value += omega[i] * loss
        r = omega[i] * (mu - t[i])
        f = omega[i] * h
        # Errors of mu: v is off, and exp and the quotient are; then n additions.
        a = (2.0 * (q + 4) * size * h + 6.0 * mu + t[i]) * omega[i] + (n + 4) * abs(r)
        for j in range(q):
            g[j] += r * Z[i, j]
            doubt[j] += a * abs(Z[i, j])
            for k in range(j + 1):
                H[j, k] += f * Z[i, j] * Z[i, k]
    return value, margin, farthest


@kernel
def newton(Z, t, omega, counts, alpha, intercept, mean, out):
    """Newton's procedure for a group of centred rows Z, a column of ones last; as `solve`."""
    n, q = Z.shape
    p = q - 1
    d = q if intercept else p  # without a bias its column is left out
    theta, g, step = np.zeros(q), np.zeros(q), np.zeros(q)
    doubt, squares = np.zeros(q), np.zeros(q)
    H, W = np.zeros((q, q)), np.zeros((q + 1, q + 2))
    best, before, nu, far = inf, inf, inf, 0.0
    for _ in range(100):
        value, margin, farthest = sum_losses(Z, t, omega, counts, theta, g, H, doubt)
        if alpha == 0.0 and margin > 0.0 and not counts:
            return SEPARABLE
        for j in range(p):
            value += 0.5 * alpha * theta[j] * theta[j]
            g[j] += alpha * theta[j]
            doubt[j] += 2.0 * alpha * abs(theta[j])
            H[j, j] += alpha
        if not value <= best + 1e-9 * abs(best):  # too far: half the step
            step *= 0.5
            theta += step
            continue
        best = min(best, value)
        for j in range(d):
            for k in range(j + 1):
                W[j, k] = W[k, j] = H[j, k]
            W[d, j] = W[j, d] = g[j]
            W[j, d + 1] = 1.0 if j == p else -mean[j]  # b = theta_p - mean'w
            if not TINY < H[j, j] < HUGE:
                return UNSOLVED
        W[d, d] = 0.0
        far, size = eliminate(W, d, squares), 0.0
        for j in range(d):
            size += sqrt(squares[j] * H[j, j])
        off = (n + 8.0 * d + 40.0 + 2.0 * (q + 4) * farthest) * UNIT
        if far < 0.0 or not off * size * size < LARGEST_ETA:
            return UNSOLVED
        nu = sqrt(max(-W[d, d], 0.0))
        if nu < 1e-10 or (nu < 1e-5 and nu > 0.1 * before):  # or rounding allows no better
            break
        before = nu
        step[:d] = -W[d, :d]
        theta -= step
    else:
        return UNSOLVED
    rho = rounding = away = 0.0
    for j in range(d):
        rho += sqrt(squares[j]) * np.abs(Z[:, j]).max()
        rounding += sqrt(squares[j]) * (abs(g[j]) * d * 40.0 + doubt[j])  # of W[d, d], and of g
    rho, nu = SLACK * rho, SLACK * (nu + UNIT * rounding) + TINY
    if not rho * nu < 0.5:
        return UNSOLVED
    delta = SLACK * -log1p(-rho * nu) / rho
    out[:] = 0.0
    size = abs(theta[p])
    for j in range(d):
        out[2, j] = sqrt(squares[j])
        out[0, j], out[1, j] = theta[j], delta * out[2, j]
        if j < p:
            away += mean[j] * theta[j]
            size += abs(mean[j] * theta[j])
    if intercept:
        out[0, p] -= away
        out[2, p] = sqrt(far)
        out[1, p] = delta * out[2, p] + (q + 3) * UNIT * size
    return SOLVED


@kernel
def newton_groups(X, y, weight, starts, counts, alpha, intercept, first, last, out, status):
    """`newton` for groups first to last - 1, rows starts[g] to starts[g + 1] - 1."""
    q, most = X.shape[1] + 1, np.diff(starts[first : last + 1]).max()
    Z, ones, mean = np.empty((most, q)), np.ones(most), np.zeros(q)
    for g in range(first, last):
        a, b = starts[g], starts[g + 1]
        if intercept:
            find_mean(X, y, weight, a, b, mean)
        for i in range(a, b):
            for j in range(q - 1):
                Z[i - a, j] = X[i, j] - mean[j]
            Z[i - a, q - 1] = intercept
        omega = weight[a:b] if len(weight) else ones[: b - a]
        status[g] = newton(Z[: b - a], y[a:b], omega, counts, alpha, intercept, mean, out[g])
