/** Arithmetic mean; 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The quantile by the nearest-rank method; `q` is between 0 and 1. NaN for an empty list. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** The median by the nearest-rank method; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The 95 % Wilson interval of a share that was observed in `n` independent trials. */
export function wilsonInterval(share: number, n: number): [number, number] {
  const z = 1.96;
  const center = share + z ** 2 / (2 * n);
  const margin = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  return [(center - margin) / (1 + z ** 2 / n), (center + margin) / (1 + z ** 2 / n)];
}

/** Coefficients of a Chebyshev series for the complementary error function, with a relative error below 1.2e-7. */
const ERFC = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
  -0.82215223, 0.17087277,
];

/** The share of the standard normal distribution below `z`; precise for very small shares, too. */
export function normalShareBelow(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const polynomial = ERFC.reduceRight((sum, coefficient) => sum * t + coefficient, 0);
  const tail = (t * Math.exp(polynomial - x * x)) / 2;
  return z < 0 ? tail : 1 - tail;
}

/** The `z` below which the standard normal distribution has a share between 0 and 1, by bisection. */
export function normalQuantile(share: number): number {
  let [low, high] = [-20, 20];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalShareBelow(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Fits y = offset + slope x by least squares. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): {
  readonly offset: number;
  readonly slope: number;
} {
  const x = mean(points.map(([one]) => one));
  const y = mean(points.map(([, one]) => one));
  const slope =
    sum(points.map(([one, other]) => (one - x) * (other - y))) / sum(points.map(([one]) => (one - x) ** 2));
  return { offset: y - slope * x, slope };
}
