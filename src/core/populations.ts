/**
 * The groups of people for whom false match rates are known. Faces of one group are mistaken for each other; how often,
 * differs by a factor of more than 500.
 */
export const POPULATIONS = [
  "age0To2",
  "age3To9",
  "age10To19",
  "women20To59",
  "men20To59",
  "women60Up",
  "men60Up",
  /** Adults of 20 to 59 years. */
  "adults",
  /** The worst of those above from 10 years on, for faces of which only the embedding is known. */
  "age10Up",
] as const;

export type Population = (typeof POPULATIONS)[number];

/** The populations of each age that the attributes network tells apart, of women and of men. */
const POPULATIONS_BY_AGE: readonly {
  /** Indices of the network's nine classes. */
  readonly classes: readonly number[];
  readonly female: Population;
  readonly male: Population;
}[] = [
  { classes: [0], female: "age0To2", male: "age0To2" },
  { classes: [1], female: "age3To9", male: "age3To9" },
  { classes: [2], female: "age10To19", male: "age10To19" },
  { classes: [3, 4, 5, 6], female: "women20To59", male: "men20To59" },
  { classes: [7, 8], female: "women60Up", male: "men60Up" },
];

/**
 * An age or a gender of less probability is left out. The lower the limit, the stricter the thresholds: at 0.5, children
 * who look older match ten times as often as stated; at 0.15, children match a fifth as often.
 */
const MIN_PROBABILITY = 0.25;

/** Lists the populations to which a face may belong, given the probabilities of nine age classes and of being male. */
export function plausiblePopulations(ages: Float32Array, male: number): Population[] {
  const probabilities = POPULATIONS_BY_AGE.map(({ classes }) =>
    classes.reduce((sum, index) => sum + ages[index]!, 0),
  );
  const limit = Math.min(MIN_PROBABILITY, Math.max(...probabilities));
  const plausible = POPULATIONS_BY_AGE.filter((_, i) => probabilities[i]! >= limit).flatMap((age) => [
    ...(1 - male >= MIN_PROBABILITY ? [age.female] : []),
    ...(male >= MIN_PROBABILITY ? [age.male] : []),
  ]);
  return [...new Set(plausible)];
}
