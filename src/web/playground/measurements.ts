/** Writes a value that must not be too small with one decimal, rounded down: 69.96 must not look like 70.0. */
export function roundDown(value: number): string {
  return (Math.floor(10 * value) / 10).toFixed(1);
}

/** Writes a value that must not be too large with one decimal, rounded up: 50.04 must not look like 50.0. */
export function roundUp(value: number): string {
  return (Math.ceil(10 * value) / 10).toFixed(1);
}
