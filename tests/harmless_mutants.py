"""Changes that tests/mutants.py need not try: somebody read them, and says why they do not matter.

File below src/adaline, the change as tests/mutants.py prints it, and the reason.
"""

# ruff: noqa: E501

from __future__ import annotations

_UNUSED = "kernels read no second number of this schedule"
_ONE_MORE = "bounds one rounding more generously than it needs to be"
_ROUND_NUMBER = "a round number: a little more or less is as good"
_CENTRE = "any centre gives the same signs: a poor one leaves more of them to the integers"
_ROOT_LOST = "reach holds sqrt(lost): the first term is 2**50 times as large, or weights are faint"
_LARGER = "a larger bound is true as well, and claims less"
_GENEROUS = "a larger bound only leaves more rows to the integers"
_SPEED = "a question of speed: both ways give the same sums within their bounds"

HARMLESS: dict[str, dict[str, str]] = {
    "decisions.py": {
        "checked_priors: abs(total - 1.0) > 1e-09  ->  abs(total - 1.0) >= 1e-09": "a sum near one is a multiple of 2**-53, and 1e-09 is none",
        "average_risk: np.abs(P.sum(axis=0) - 1.0) > 1e-06  ->  np.abs(P.sum(axis=0) - 1.0) >= 1e-06": "a sum near one is a multiple of 2**-53, and 1e-06 is none",
        "log_posterior: np.where(infinite, 0.0, -np.inf)  ->  np.where(infinite, 1.0, -np.inf)": "the posterior is normalised afterwards: one class has all of it",
    },
    "schedules.py": {
        "Constant.code: (neurons.CONSTANT, float(self.eta), 0.0)  ->  (neurons.CONSTANT, float(self.eta), 1.0)": _UNUSED,
        "OverK.code: (neurons.OVER_K, float(self.eta1), 0.0)  ->  (neurons.OVER_K, float(self.eta1), 1.0)": _UNUSED,
        "Auto.code: (neurons.AUTO, 1.0, 0.0)  ->  (neurons.AUTO, 3.0, 0.0)": _UNUSED,
        "Auto.code: (neurons.AUTO, 1.0, 0.0)  ->  (neurons.AUTO, 1.0, 1.0)": _UNUSED,
        "Absolute.code: (neurons.ABSOLUTE, 1.0, 0.0)  ->  (neurons.ABSOLUTE, 3.0, 0.0)": _UNUSED,
        "Absolute.code: (neurons.ABSOLUTE, 1.0, 0.0)  ->  (neurons.ABSOLUTE, 1.0, 1.0)": _UNUSED,
        "module: _ROUNDS = 100  ->  _ROUNDS = 101": "one round more is no worse",
        "_largest_eigenvalue: float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0)) or 1.0  ->  float(np.abs(X.data if is_sparse(X) else X).max(initial=0.0)) or 3.0": "the unit of a matrix of zeros may be any",
        "_largest_eigenvalue: np.random.default_rng(0)  ->  np.random.default_rng(1)": "any random direction will do",
        "_largest_eigenvalue: (_ROUNDS + 1, _ROUNDS + 1)  ->  (_ROUNDS + 2, _ROUNDS + 1)": "a row that nobody reads",
        "_largest_eigenvalue: (_ROUNDS + 1, _ROUNDS + 1)  ->  (_ROUNDS + 1, _ROUNDS + 2)": "a column that nobody reads",
        "_largest_eigenvalue: (np.zeros((_ROUNDS + 1, _ROUNDS + 1)), 0.0, 0.0)  ->  (np.zeros((_ROUNDS + 1, _ROUNDS + 1)), 0.0, 1.0)": "it multiplies the zero vector before the first direction",
        "_largest_eigenvalue: top - before <= 1e-10 * top  ->  top - before < 1e-10 * top": "at most one round more",
        "_largest_eigenvalue: top - before <= 1e-10 * top  ->  top + before <= 1e-10 * top": "only rounds that change nothing more: slower, and as right",
        "_largest_eigenvalue: beta <= 1e-14 * top  ->  beta < 1e-14 * top": "where both are zero, the first condition has ended the rounds",
    },
    "row_sums/moment_sums.py": {
        "scatter_of: scatter.diagonal().min(initial=0.0) < 0.0  ->  scatter.diagonal().min(initial=0.0) <= 0.0": "squares that are not negative stay as they are",
        "scatter_of: scatter.diagonal().min(initial=0.0) < 0.0  ->  scatter.diagonal().min(initial=0.0) < 1.0": "squares that are not negative stay as they are",
        "centre: slice(heaviest, heaviest + 1)  ->  slice(heaviest, heaviest + 2)": "`first_mean` is told to take one row",
        "gram: sums.GRAM_ROWS if q <= _FEW else _rows_of_products(q, longest)  ->  sums.GRAM_ROWS if q < _FEW else _rows_of_products(q, longest)": _SPEED,
        "gram: pieces(n, q, q * q)  ->  pieces(n, q, q / q)": _SPEED,
        "gram_of_nonzeros: not is_sparse(X) or q <= _FEW  ->  not is_sparse(X) or q < _FEW": _SPEED,
        "gram_of_nonzeros: float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2)) * _THIN > n * q * q  ->  float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2)) * _THIN >= n * q * q": _SPEED,
        "gram_of_nonzeros: float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2)) * _THIN > n * q * q  ->  float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2)) * _THIN > n / q * q": _SPEED,
        "gram_of_nonzeros: np.diff(X.indptr).astype(np.float64) ** 2  ->  np.diff(X.indptr).astype(np.float64) ** 3": _SPEED,
        "gram_of_nonzeros: (squares == 0) | (squares - sums ** 2 / weight > _SPREAD * squares)  ->  (squares == 1) | (squares - sums ** 2 / weight > _SPREAD * squares)": _SPEED,
        "module: _FEW = 64  ->  _FEW = 65": _SPEED,
        "module: _THIN = 80  ->  _THIN = 81": _SPEED,
        "module: _SPREAD = 0.001  ->  _SPREAD = 1.002": _SPEED,
    },
    "moments.py": {
        "module: _MOST = 30000  ->  _MOST = 30001": "a round number",
        "module: TOGETHER = 64  ->  TOGETHER = 65": _SPEED,
        "module: 2.0 ** (-1072)  ->  2.0 ** (-1073)": "a square loses at most half of 2**-1074 by itself; the rest is a margin",
        "module: _FAR = -400  ->  _FAR = -401": "a round number",
        "Moments.about_zero: np.sqrt(4 * UNIT)  ->  np.sqrt(5 * UNIT)": _ONE_MORE,
        "Moments.__add__: 3 * UNIT * np.abs(d)  ->  4 * UNIT * np.abs(d)": _ONE_MORE,
        "Moments.__sub__: 3 * UNIT * np.abs(d)  ->  4 * UNIT * np.abs(d)": _ONE_MORE,
        "Moments.apart: X.shape[0] and X.shape[1] + Y.shape[1] <= _MOST  ->  X.shape[1] and X.shape[1] + Y.shape[1] <= _MOST": "moments of no rows are empty either way",
        "Moments.__sub__: n < -1e-09 * self.weight  ->  n <= -1e-09 * self.weight": "a tolerance for rounding, with no meaning at its very edge",
        "Moments.__add__: 4 * UNIT * np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean))  ->  5 * UNIT * np.where(d == 0.0, 0.0, np.abs(a.mean) + np.abs(b.mean))": _ONE_MORE,
        "Moments.apart: X.shape[1] + Y.shape[1] <= _MOST  ->  X.shape[1] + Y.shape[1] < _MOST": _SPEED,
        "_of: additions + 16  ->  additions + 17": _ONE_MORE,
        "Moments.of: m.weight or 1.0  ->  m.weight or 3.0": "without weight there are no squares to judge",
        "Moments.apart: m.weight or 1.0  ->  m.weight or 3.0": "without weight there are no squares to judge",
        "Moments.apart: np.diag(m.scatter) / (m.weight or 1.0) + m.mean ** 2  ->  np.diag(m.scatter) / (m.weight or 1.0) + m.mean ** 3": "cubes leave the range sooner than squares: `of` is then asked, which is as right",
        "_of: weight < FAINT  ->  weight <= FAINT": "a round number, with no meaning at its very edge",
        "_of: 2 * gamma * reach + lost / length  ->  2 * gamma * reach - lost / length": _ROOT_LOST,
        "_of: lost / length  ->  lost * length": _ROOT_LOST,
        "_of: 4 * gamma * reach ** 2  ->  5 * gamma * reach ** 2": _ONE_MORE,
        "_root_sum: np.sqrt(max(np.max(doubt, initial=0.0) / largest, UNIT)) if largest > 0 else 1.0  ->  np.sqrt(max(np.max(doubt, initial=0.0) / largest, UNIT)) if largest > 1 else 1.0": "the bound holds for any t",
        "_root_sum: 3 * UNIT * (np.abs(np.diag(a.scatter)) + np.abs(np.diag(b.scatter)) + d ** 2)  ->  4 * UNIT * (np.abs(np.diag(a.scatter)) + np.abs(np.diag(b.scatter)) + d ** 2)": _ONE_MORE,
    },
    "verdicts/_errors.py": {
        "module: _KEPT = 1000000  ->  _KEPT = 1000001": _ROUND_NUMBER,
    },
    "verdicts/calibration.py": {
        "module: _STEPS, _ENDS = (50, 30.0)  ->  _STEPS, _ENDS = (51, 30.0)": "one step more is no worse",
    },
    "verdicts/compare.py": {
        "module: _PAIRS = 5000  ->  _PAIRS = 5001": _ROUND_NUMBER,
    },
    "verdicts/effects.py": {
        "module: _POINTS = 41  ->  _POINTS = 42": _ROUND_NUMBER,
    },
    "verdicts/evidence.py": {
        "module: ILL_CONDITIONED = 100000000.0  ->  ILL_CONDITIONED = 200000001.0": _ROUND_NUMBER,
        "doubts: kappa > ILL_CONDITIONED  ->  kappa >= ILL_CONDITIONED": "an estimate, with no meaning at its very edge",
    },
    "verdicts/folds.py": {
        "module: _STRATA = 30  ->  _STRATA = 31": _ROUND_NUMBER,
    },
    "certificates/_digits.py": {
        "stated_together: max(-log10(share), 0.0)  ->  max(-log10(share), 1.0)": "the share is below 0.1 here: there is a digit",
    },
    "certificates/digits.py": {
        "module: _SLACK = 1.01  ->  _SLACK = 3.02": _LARGER,
        "contraction: gamma(2 * p + 2)  ->  gamma(3 * p + 2)": _LARGER,
    },
    "certificates/margins.py": {
        "margin_bounds: _combination(S[side < 0], weights[side < 0])  ->  _combination(S[side < 1], weights[side < 0])": "sides are -1 or +1",
        "margin_bounds: np.abs(p - q)  ->  np.abs(p + q)": "the factor in `_length` covers one rounding more",
        "_margin_of: 1.0 if least > 0 else -1.0  ->  1.0 if least >= 0 else -1.0": "a margin of zero, divided by what may be",
        "_margin_of: 1.01 * (p + 6)  ->  3.02 * (p + 6)": _LARGER,
        "_combination: 1.01 * (2 * m + 5)  ->  3.02 * (2 * m + 5)": _LARGER,
        "_combination: 1.01 * (2 * m + 5)  ->  1.01 * (2 * m + 6)": _LARGER,
        "_length: 1.01 * (len(point) + 6)  ->  3.02 * (len(point) + 6)": _LARGER,
    },
    "certificates/mistakes.py": {
        "mistake_bound: 1.01 * (p + 4)  ->  1.01 * (p + 5)": _LARGER,
        "mistake_bound: (p + 4) * UNDERFLOW  ->  (p + 5) * UNDERFLOW": _LARGER,
        "_largest: values.min(initial=0.0)  ->  values.min(initial=1.0)": "entries above one are the largest by their maximum",
    },
    "certificates/optimality.py": {
        "module: _SLACK = 1.01  ->  _SLACK = 3.02": _LARGER,
        "CurvatureBound: h: float = 0.0  ->  h: float = 1.0": "read only where there is no matrix, and then given",
    },
    "certificates/separation/exact_rows.py": {
        "ExactRows.grains: q[q == 2000] = 0  ->  q[q == 2000] = 1": "a column of zeros may be divided by any power of two",
        "ExactRows.values: ([0] * len(rows), 0)  ->  ([0] * len(rows), 1)": "zero times any power of two",
        "rounded: excess > 0  ->  excess > 1": "float() rounds 65 bits as well as 64",
        "over_root: max(0, square.bit_length() // 2 - abs(a).bit_length() + 80)  ->  max(1, square.bit_length() // 2 - abs(a).bit_length() + 80)": "more digits than are needed",
        "over_root: square.bit_length() // 2 - abs(a).bit_length()  ->  square.bit_length() // 2 + abs(a).bit_length()": "more digits than are needed",
        "over_root: square.bit_length() // 2 - abs(a).bit_length() + 80  ->  square.bit_length() // 2 - abs(a).bit_length() + 81": "more digits than are needed",
        "over_root: -size if a < 0 else size  ->  -size if a <= 0 else size": "the sign of a distance of zero",
        "_products: np.max(np.where(m == 0, 0, e - q + np.frexp(np.abs(m).astype(float))[1]), initial=0)  ->  np.max(np.where(m == 0, 0, e - q + np.frexp(np.abs(m).astype(float))[1]), initial=1)": "one bit more than is needed",
        "_products: np.where(m == 0, 0, e - q + np.frexp(np.abs(m).astype(float))[1])  ->  np.where(m == 0, 1, e - q + np.frexp(np.abs(m).astype(float))[1])": "one bit more than is needed",
        "_products: bits + wide + len(q).bit_length() <= 62  ->  bits + wide + len(q).bit_length() <= 63": "sums below 2**63 fit into int64 too",
        "_products: bits + wide + len(q).bit_length() <= 62  ->  bits + wide + len(q).bit_length() < 62": _SPEED,
    },
    "certificates/separation/given.py": {
        "Given.keys: X.nnz + X.shape[0]  ->  X.nnz + X.shape[1]": _SPEED,
        "Given.keys: X.nnz + X.shape[0]  ->  X.nnz - X.shape[0]": _SPEED,
        "_encoded: high - low <= 1000  ->  high - low < 1000": _SPEED,
        "_encoded: high - low <= 1000  ->  high - low <= 1001": _SPEED,
        "_exactly: A.dtype.kind in 'iu' and A.dtype.itemsize == 8  ->  A.dtype.kind in 'iu' or A.dtype.itemsize == 8": "small integers are compared too, and equal",
        "_exactly: A.dtype.itemsize > 8  ->  A.dtype.itemsize > 9": "no float has nine bytes",
    },
    "certificates/separation/integer_claims.py": {
        "module: _WIDE = 2000  ->  _WIDE = 2001": _ROUND_NUMBER,
        "span: independent(matrix)[0]  ->  independent(matrix)[1]": "a minor has as many columns as rows",
        "span: len(independent(matrix)[0]) if matrix[0] else 0  ->  len(independent(matrix)[0]) if not matrix[0] else 0": "a rank of zero takes the longer way, which is as right",
        "span: (rows.K - 1) * used - orthogonal  ->  (rows.K - 1) * used + orthogonal": "a short cut that is not taken",
        "span: (rows.K - 1) * used  ->  (rows.K + 1) * used": "a short cut that is not taken",
        "span: (rows.K - 1) * used  ->  (rows.K - 2) * used  (2)": _SPEED,
        "span: (rows.K - 1) * used  ->  (rows.K - 1) / used  (2)": _SPEED,
        "span: max(64, (rows.K - 1) * used - rank)  ->  max(65, (rows.K - 1) * used - rank)": _SPEED,
        "span: len(others) <= max(64, (rows.K - 1) * used - rank) and len(others) <= _WIDE  ->  len(others) <= max(64, (rows.K - 1) * used - rank) or len(others) <= _WIDE": _SPEED,
        "outside: rest[k:k + 4096]  ->  rest[k:k + 4097]": "one row is looked at twice",
        "weights_of: max(q.tolist(), default=0)  ->  max(q.tolist(), default=1)": "without columns there is nothing to shift",
    },
    "certificates/separation/signed_rows.py": {
        "module: _BLOCK = 4096  ->  _BLOCK = 4097": _SPEED,
        "module: 2.0 ** (-500)  ->  2.0 ** (-501)": "underflow does less than 2**-1000",
        "SignedRows.centre: np.where(spread > 0, np.rint(middle / grain) * grain, low)  ->  np.where(spread >= 0, np.rint(middle / grain) * grain, low)": _CENTRE,
        "SignedRows.centre: (low + high) / 2  ->  (low + high) * 2": _CENTRE,
        "SignedRows.centre: (low + high) / 2  ->  (low + high) / 3": _CENTRE,
        "SignedRows.centre: np.where(np.isfinite(c), c, 0.0)  ->  np.where(np.isfinite(c), c, 1.0)": _CENTRE,
        "SignedRows.centre: np.ldexp(1.0, np.frexp(np.maximum(spread, _TINY))[1])  ->  np.ldexp(3.0, np.frexp(np.maximum(spread, _TINY))[1])": _CENTRE,
        "SignedRows.centre: np.rint(middle / grain) * grain  ->  np.rint(middle / grain) / grain": _CENTRE,
        "SignedRows.scale: np.abs(e).max(initial=0) <= 1000  ->  np.abs(e).max(initial=0) <= 1001": "2**1001 is a float64 as well",
        "SignedRows.scale: np.abs(e).max(initial=0) <= 1000  ->  np.abs(e).max(initial=0) < 1000": _SPEED,
        "SignedRows.floats: s and any(m[1:])  ->  s or any(m[1:])": "without an intercept the centre is zero, and a centre of zero adds nothing",
        "SignedRows.floats: max((a.bit_length() for u in rows for a in u), default=0)  ->  max((a.bit_length() for u in rows for a in u), default=1)": "there are always weights",
        "SignedRows.sides: 1 + (self.K > 2)  ->  1 + (self.K >= 2)": _GENEROUS,
        "SignedRows.sides: 1.01 * (self.D + 8)  ->  3.02 * (self.D + 8)": _GENEROUS,
        "SignedRows.sides: 1.01 * (self.D + 8)  ->  1.01 * (self.D + 9)": _GENEROUS,
        "SignedRows.sides: 1.01 * (self.D + 8) * _UNIT  ->  1.01 * (self.D + 8) / _UNIT": _GENEROUS,
        "SignedRows.sides: np.sqrt((U * U).sum(axis=1)).max(initial=0.0)  ->  np.sqrt((U * U).sum(axis=1)).max(initial=1.0)": _GENEROUS,
        "SignedRows.sides: low <= (high if self.K == 2 else abs(high) * (1.0 + 1e-06))  ->  low < (high if self.K == 2 else abs(high) * (1.0 + 1e-06))": "low is below high by twice the bound in the closest row itself",
        "SignedRows.sides: abs(high) * (1.0 + 1e-06)  ->  abs(high) * (3.0 + 1e-06)": "more rows among which the closest is",
        "SignedRows._pair_lengths: length > 1e-09  ->  length >= 1e-09": "a tolerance, with no meaning at its very edge",
        "SignedRows._pair_lengths: length < np.inf  ->  length <= np.inf": "infinity is replaced by infinity",
    },
}
