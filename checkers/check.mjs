// Check a proof of separability or of infinite coefficients in whole numbers; needs node only.
//
//     node checkers/check.mjs proof.json rows.csv TARGET
//
// rows.csv has a header row, no quoted commas, and numbers; the column TARGET holds the classes.
// Prints what is proven and exits with 0, or says why the proof fails and exits with 1.

import { readFileSync } from "node:fs";

const SHIFT = 1100n; // every float64 is a whole number of 2^-1074

// A float64 times 2^SHIFT, as a whole number.
function whole(x) {
  if (!Number.isFinite(x)) throw new Error(`${x} is no number`);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & ((1n << 52n) - 1n);
  const mantissa = exponent ? fraction + (1n << 52n) : fraction;
  const size = mantissa << ((exponent || 1n) - 1075n + SHIFT);
  return bits >> 63n ? -size : size;
}

function signedHex(text) {
  return text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
}

function readRows(path, target, labels) {
  const lines = readFileSync(path, "utf8").replace(/^\ufeff/, "").trim().split(/\r?\n/);
  const table = lines.map((line) => line.split(","));
  const place = table[0].indexOf(target);
  if (place < 0) throw new Error(`no column ${target}`);
  const others = [...table[0].keys()].filter((j) => j !== place);
  const classes = labels ?? [...new Set(table.slice(1).map((line) => line[place]))].sort();
  if (classes.length !== 2) throw new Error("this checker is for two classes");
  const rows = table.slice(1).map((line) => {
    const k = classes.indexOf(line[place]);
    if (k < 0) throw new Error(`${line[place]} is none of the classes`);
    const values = [1n << SHIFT, ...others.map((j) => whole(Number(line[j])))];
    return values.map((value) => (k === 1 ? value : -value));
  });
  return { rows, names: others.map((j) => table[0][j]) };
}

function dot(weights, row) {
  return weights.reduce((sum, w, j) => sum + w * row[j], 0n);
}

function checkSeparability(proof, all) {
  if (all.length !== proof.n_rows || all[0].length !== proof.n_features + 1)
    throw new Error("the proof is about rows of another shape");
  const rows = proof.fit_intercept ? all : all.map((row) => row.slice(1));
  let values = null;
  if (proof.weights.length) {
    values = rows.map((row) => dot(proof.weights[0].map(signedHex), row));
    if (values.some((v) => v < 0n) || values.every((v) => v === 0n))
      throw new Error("a row is on the wrong side of the weights, or all rows are on it");
  }
  if (proof.verdict === "separable") {
    if (!values || values.some((v) => v <= 0n)) throw new Error("a row is not strictly on its side");
    return "separable: all rows are on their sides of the hyperplane";
  }
  const members = proof.rows.map(([row]) => row);
  const factors = proof.multipliers.map(signedHex);
  if (!members.length || members.length !== factors.length || factors.some((f) => f <= 0n))
    throw new Error("there are no positive multipliers");
  for (let j = 0; j < rows[0].length; j++) {
    if (members.reduce((sum, i, k) => sum + factors[k] * rows[i][j], 0n) !== 0n)
      throw new Error(`the sum of the rows is not zero in column ${j}`);
  }
  if (proof.verdict === "quasi-separable" && !values)
    throw new Error("there are no weights that show that the classes only touch");
  return `not separable: ${members.length} rows with positive multipliers sum to zero`;
}

function checkDirection(direction, rows, names) {
  const parts = direction.map((text) => text.split("/").map(BigInt));
  const common = parts.reduce((product, [, d]) => product * (d ?? 1n), 1n);
  if (parts.some(([, d]) => (d ?? 1n) <= 0n)) throw new Error("a denominator is not positive");
  const d = parts.map(([n, den]) => (n * common) / (den ?? 1n));
  const weights = [d[d.length - 1], ...d.slice(0, -1)];
  const values = rows.map((row) => dot(weights, row));
  if (values.some((v) => v < 0n) || values.every((v) => v === 0n))
    throw new Error("the loss does not fall along this direction");
  const infinite = names.filter((_, j) => d[j] !== 0n);
  return `no maximum likelihood exists: infinite are ${infinite.join(", ")}`;
}

try {
  const [proofPath, rowsPath, target] = process.argv.slice(2);
  const proof = JSON.parse(readFileSync(proofPath, "utf8"));
  const { rows, names } = readRows(rowsPath, target, proof.labels?.map(String));
  if (proof.direction?.length) console.log(checkDirection(proof.direction, rows, names));
  else console.log(checkSeparability(proof.proof ?? proof, rows));
} catch (error) {
  console.log(`refused: ${error.message}`);
  process.exit(1);
}
