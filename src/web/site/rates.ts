const NUMBER = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** Rates below this are easier to read as "1 in N". */
const MIN_PERCENT_RATE = 0.001;

/** Writes a share of something for people: `1 in 33,000 strangers`, or `4.5% of strangers` from 0.1% on. */
export function shareText(rate: number, noun: string): string {
  if (rate <= 0) return `no ${noun}`;
  return rate < MIN_PERCENT_RATE
    ? `1 in ${NUMBER.format(1 / rate)} ${noun}`
    : `${NUMBER.format(100 * rate)}% of ${noun}`;
}

/** Writes a share as `1 in 740`, to compare rates with each other. */
export function oneInText(rate: number): string {
  return `1 in ${NUMBER.format(1 / rate)}`;
}
