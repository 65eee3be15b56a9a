"""Learning one sample at a time: w <- w + eta(n) g x with v = w'x + b and g = -dE/dv.

Called by procedures/sequential/ for rates that depend on the number of samples alone, and for
absolute error correction; tests compare with the lectures' loops in plain Python. The loop of one
perceptron is 2 to 4 times faster than the general one.

A row x is data[lo:hi], in the columns indices[lo:hi] of a CSR matrix; indices are None where rows
are dense. Y (n, K) holds targets, or Y (n, 1) class codes; omega (n,) weights of the samples, or
none. order (m,) names the rows to learn. s is what a learner is and has counted: the record LEARNER
of the procedure.

theta (K, p + 1) holds the weights of K neurons, the bias last. With AVERAGE, beside (K, p + 1) is n
times what theta has more than its average over n samples. With POCKET, it has the weights of the
longest run of right answers, whose length is runs[1, k]; runs[0, k] is the present run.
"""

from __future__ import annotations

import numpy as np

from adaline.jit import kernel, sum_kernel
from adaline.kernels import codes


@sum_kernel
def dot(data, indices, lo, hi, w):
    """w'x."""
    x, s = data[lo:hi], 0.0
    if indices is None:
        for j in range(x.shape[0]):
            s += w[j] * x[j]
    else:
        columns = indices[lo:hi]
        for j in range(x.shape[0]):
            s += w[np.uintp(columns[j])] * x[j]  # signed, numba would ask whether it is negative
    return s


@kernel
def add(data, indices, lo, hi, d, w):
    """w <- w + d x."""
    x = data[lo:hi]
    if indices is None:
        for j in range(x.shape[0]):
            w[j] += d * x[j]
    else:
        columns = indices[lo:hi]
        for j in range(x.shape[0]):
            w[np.uintp(columns[j])] += d * x[j]


@kernel
def target(targets, Y, i, K, k):
    """What neuron k should answer to sample i."""
    if targets == codes.NUMBERS:
        return Y[i, k]
    own = Y[i, 0] == 1.0 if K == 1 else Y[i, 0] == k
    low = -1.0 if targets == codes.SIGNS else 0.0
    return 1.0 if own else low


@kernel
def slope_and_loss(criterion, t, v):
    """g = -dE/dv and E: -t v on errors for the perceptron, else (t - phi(v))^2 / 2."""
    if criterion == codes.PERCEPTRON:
        # A tie counts as an error: at w = 0 every sample is a tie, and learning must start.
        return (t, -t * v) if t * v <= 0.0 else (0.0, 0.0)
    y, slope = v, 1.0
    if criterion == codes.TANH:
        y = np.tanh(v)
        slope = 1.0 - y * y
    elif criterion == codes.SQUARED_LOGISTIC:
        y = 1.0 / (1.0 + np.exp(-v))
        slope = y * (1.0 - y)
    return (t - y) * slope, 0.5 * (t - y) * (t - y)


@kernel
def rate(kind, eta, tau, n):
    """eta(n) after n samples."""
    if kind == codes.OVER_K:
        return eta / (n + 1.0)
    if kind == codes.SEARCH_THEN_CONVERGE:
        return eta / (1.0 + n / tau)
    return eta


@kernel
def whole_step(excess, square):
    """The smallest whole eta with eta x'x > excess; 0 where x is zero."""
    return np.floor(excess / square) + 1.0 if square > 0.0 else 0.0


@kernel
def learn_perceptron(data, indices, starts, order, Y, omega, s, theta, beside):
    """One neuron that corrects errors, and predicts with its last weights or their average."""
    p, w = theta.shape[1] - 1, theta[0]
    kind, eta, tau, bias, average = s.rate, s.eta, s.tau, s.bias, s.keep == codes.AVERAGE
    n, corrections, loss = s.seen, 0, 0.0
    for i in order:
        lo, hi = (i * p, i * p + p) if indices is None else (starts[i], starts[i + 1])
        v, t = dot(data, indices, lo, hi, w) + w[p], 1.0 if Y[i, 0] == 1.0 else -1.0
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if t * v <= 0.0 and weight != 0.0:
            corrections += 1
            loss -= weight * t * v
            d = weight * t * rate(kind, eta, tau, n)
            add(data, indices, lo, hi, d, w)
            w[p] += bias * d
            if average:
                add(data, indices, lo, hi, d * n, beside[0])
                beside[0, p] += bias * d * n
        n += weight != 0.0
    s.seen, s.corrections, s.loss = n, s.corrections + corrections, s.loss + loss


@kernel
def correct(data, indices, lo, hi, k, d, s, theta, beside):
    """Neuron k moves by d x, and so does what it has more than its average, n times."""
    p = theta.shape[1] - 1
    add(data, indices, lo, hi, d, theta[k])
    theta[k, p] += s.bias * d
    if s.keep == codes.AVERAGE:
        add(data, indices, lo, hi, d * s.seen, beside[k])
        beside[k, p] += s.bias * d * s.seen


@kernel
def end_run(k, first, last, theta, beside, runs):
    """A run of right answers ends: if it was the longest, keep the weights of these neurons."""
    if runs[0, k] > runs[1, k]:
        runs[1, k] = runs[0, k]
        for row in range(first, last):
            for j in range(theta.shape[1]):
                beside[row, j] = theta[row, j]
    runs[0, k] = 0.0


@kernel
def strongest_rival(data, indices, lo, hi, own, theta):
    """The strongest neuron of another class, and by how much it exceeds that of the own class."""
    p = theta.shape[1] - 1
    mine, most, rival = 0.0, -np.inf, -1
    for k in range(theta.shape[0]):
        v = dot(data, indices, lo, hi, theta[k]) + theta[k, p]
        if k == own:
            mine = v
        elif v > most or rival < 0:
            most, rival = v, k
    return rival, most - mine


@kernel
def learn(data, indices, starts, order, Y, omega, s, theta, beside, runs):
    """K neurons of any criterion, or a linear machine."""
    p, K, criterion = theta.shape[1] - 1, theta.shape[0], int(s.criterion)
    pocket, absolute = s.keep == codes.POCKET, s.rate == codes.ABSOLUTE
    for i in order:
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        if weight == 0.0:
            continue
        lo, hi = (i * p, i * p + p) if indices is None else (starts[i], starts[i + 1])
        eta, square = weight * rate(s.rate, s.eta, s.tau, s.seen), s.bias
        if absolute:
            for q in range(lo, hi):
                square += data[q] * data[q]
        if criterion == codes.MACHINE:  # Kesler: raise the true class, lower the strongest other
            own = int(Y[i, 0])
            rival, excess = strongest_rival(data, indices, lo, hi, own, theta)
            if excess < 0.0:
                runs[0, 0] += 1.0
            else:
                s.corrections += 1.0
                s.loss += weight * excess
                if pocket:
                    end_run(0, 0, K, theta, beside, runs)
                d = whole_step(excess, 2.0 * square) if absolute else eta
                correct(data, indices, lo, hi, own, d, s, theta, beside)
                correct(data, indices, lo, hi, rival, -d, s, theta, beside)
        else:
            for k in range(K):
                v = dot(data, indices, lo, hi, theta[k]) + theta[k, p]
                g, loss = slope_and_loss(criterion, target(int(s.targets), Y, i, K, k), v)
                s.loss += weight * loss
                if g == 0.0:
                    runs[0, k] += 1.0
                    continue
                s.corrections += 1.0
                if pocket:
                    end_run(k, k, k + 1, theta, beside, runs)
                d = g * whole_step(abs(v), square) if absolute else g * eta
                correct(data, indices, lo, hi, k, d, s, theta, beside)
        s.seen += 1.0


@kernel
def correct_block(G, first, T, omega, A, V, seen):
    """The perceptron in dual variables: lambda += omega where t v <= 0. Returns the corrections.

    G (B, c) holds kernel values of B rows with c patterns, row i being pattern first + i; T (K, B)
    targets -1 or +1; omega (B,) weights of the rows, or none; A (K, c) lambda t; V (K, B) outputs.

    seen (2, K, B), if not empty, receives the output and lambda t of each row as it is met.
    """
    K, B = T.shape
    corrections = 0
    for i in range(B):
        j = first + i
        weight = omega[i] if omega.shape[0] > 0 else 1.0
        for k in range(K):
            if seen.shape[0] > 0:
                seen[0, k, i], seen[1, k, i] = V[k, i], A[k, j]
            if T[k, i] * V[k, i] <= 0.0:
                corrections += 1
                A[k, j] += weight * T[k, i]
                for r in range(B):  # kernels are symmetric: a row of G serves as its column
                    V[k, r] += weight * T[k, i] * G[i, first + r]
    return corrections
