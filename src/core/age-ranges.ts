/** The age ranges of the API, youngest first. */
export const AGE_RANGES = ["0-10", "10-20", "20-40", "40-60", "60-100"] as const;

export type AgeRange = (typeof AGE_RANGES)[number];
