import type { Plan, PlanChanges } from "./account-store.ts";

/** Default burst of a new plan, in seconds of its rate. */
const DEFAULT_BURST_SECONDS = 2;

/** Creates a plan that has only the given limits, and a burst by its rate. */
export function createPlan(name: string, limits: PlanChanges): Plan {
  const { requestsPerSecond, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces } = limits;
  const burst = limits.burst ?? Math.max(1, Math.ceil(DEFAULT_BURST_SECONDS * (requestsPerSecond ?? 0)));
  return { name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces };
}
