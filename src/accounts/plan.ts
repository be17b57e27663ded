import type { Plan, PlanChanges } from "./account-store.ts";

/**
 * Rates of a plan, in requests per second. The lowest is one request in 17 minutes, a wait that timers and every protocol
 * can express; a quota of requests per month limits a user further.
 */
export const PLAN_RATES = { min: 0.001, max: Number.MAX_SAFE_INTEGER };

/** Default burst of a new plan, in seconds of its rate. */
const DEFAULT_BURST_SECONDS = 2;

/** Whether a plan may have this rate. */
export function isPlanRate(rate: number): boolean {
  return rate >= PLAN_RATES.min && rate <= PLAN_RATES.max;
}

/** The nearest rate that a plan may have. Databases may contain others. */
export function nearestPlanRate(rate: number): number {
  return rate >= PLAN_RATES.min ? Math.min(rate, PLAN_RATES.max) : PLAN_RATES.min;
}

/** Creates a plan that has only the given limits, and a burst by its rate. */
export function createPlan(name: string, limits: PlanChanges): Plan {
  const { requestsPerSecond, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces } = limits;
  const burst = limits.burst ?? Math.max(1, Math.ceil(DEFAULT_BURST_SECONDS * (requestsPerSecond ?? 0)));
  return { name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces };
}
