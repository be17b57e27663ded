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
