/** The plans of a new database. */
export const INITIAL_PLANS = ["trial", "basic", "pro", "unlimited"] as const;
export type InitialPlan = (typeof INITIAL_PLANS)[number];

/** A limit that a plan may have. A plan without it does not limit that. */
interface Limit {
  /** What forms and tables call it. */
  readonly title: string;
  /** What it limits, for the help and the documentation. */
  readonly meaning: string;
  /** The option of `visage plans set`, without dashes. */
  readonly option: string;
  /** A rate is a number of at least MIN_RATE; counts and bytes are integers. */
  readonly kind: "rate" | "count" | "bytes";
  /** Whether a plan may allow none. */
  readonly mayBeZero?: boolean;
  /** Whether every plan has it. */
  readonly isRequired?: boolean;
  /** The values in the plans of a new database. */
  readonly initial: { readonly [Plan in InitialPlan]?: number };
}

/**
 * The lowest rate, in requests per second. It is one request in 17 minutes, a wait that timers and every protocol can
 * express; a quota of requests per month limits a user further.
 */
const MIN_RATE = 0.001;
const MAX_LIMIT = Number.MAX_SAFE_INTEGER;

const LIMITS = {
  requestsPerSecond: {
    title: "Requests per second",
    meaning: `requests per second, such as 0.5 or 10; at least ${MIN_RATE}`,
    option: "per-second",
    kind: "rate",
    initial: { trial: 2, basic: 10, pro: 50 },
  },
  burst: {
    title: "Requests at once",
    meaning: "requests that may exceed the rate at once",
    option: "burst",
    kind: "count",
    isRequired: true,
    initial: { trial: 10, basic: 20, pro: 100, unlimited: 1 },
  },
  requestsPerMonth: {
    title: "Requests per month",
    meaning: "successful requests per calendar month (UTC)",
    option: "per-month",
    kind: "count",
    initial: { trial: 1_000, basic: 50_000, pro: 1_000_000 },
  },
  maxImageBytes: {
    title: "Image size",
    meaning: "bytes of an encoded image, if less than VISAGE_MAX_IMAGE_BYTES",
    option: "max-image-bytes",
    kind: "bytes",
    initial: {},
  },
  maxGalleries: {
    title: "Galleries",
    meaning: "galleries of a user",
    option: "galleries",
    kind: "count",
    mayBeZero: true,
    initial: { trial: 3, basic: 20, pro: 200 },
  },
  maxGalleryFaces: {
    title: "Faces in a gallery",
    meaning: "faces in one gallery",
    option: "gallery-faces",
    kind: "count",
    mayBeZero: true,
    initial: { trial: 1_000, basic: 10_000, pro: 1_000_000 },
  },
  defaultRetentionDays: {
    title: "Default retention",
    meaning: "days for which people are kept in galleries if no time is given",
    option: "retention-days",
    kind: "count",
    initial: {},
  },
  maxRetentionDays: {
    title: "Longest retention",
    meaning: "days for which people can be kept in galleries",
    option: "max-retention-days",
    kind: "count",
    initial: {},
  },
} satisfies Record<string, Limit>;

/** The name of a limit: that of its field in messages, in camel case. */
export type LimitName = keyof typeof LIMITS;

/** The limits of plans. The database, messages, command line, pages and documentation follow from this table. */
export const PLAN_LIMITS: Readonly<Record<LimitName, Limit>> = LIMITS;
export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[];

/** Values of limits. As changes of a plan, a limit that is undefined is removed, and one that is missing stays. */
export type PlanLimits = { readonly [Name in LimitName]?: number | undefined };

/** The name of a limit in snake case, as in the contract and in reports. */
export function fieldOfLimit(name: LimitName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The lowest value of a limit. */
export function minOfLimit(name: LimitName): number {
  const { kind, mayBeZero } = PLAN_LIMITS[name];
  if (mayBeZero) return 0;
  return kind === "rate" ? MIN_RATE : 1;
}

/** Returns what is wrong with the value of a limit, such as `must be 1 to 9`; undefined if it is valid. */
export function findLimitFault(name: LimitName, value: number): string | undefined {
  const isNumber = PLAN_LIMITS[name].kind === "rate" || Number.isInteger(value);
  const isValid = isNumber && value >= minOfLimit(name) && value <= MAX_LIMIT;
  return isValid ? undefined : `must be ${minOfLimit(name)} to ${MAX_LIMIT}`;
}

/** Returns the limits of a plan of a new database. */
export function initialLimits(plan: InitialPlan): PlanLimits {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, PLAN_LIMITS[name].initial[plan]]));
}
