import type { PlanLimits } from "../plan-limits.ts";
import type { Plan } from "./account-store.ts";

/** Default burst of a new plan, in seconds of its rate. */
const DEFAULT_BURST_SECONDS = 2;

/** Creates a plan that has only the given limits, and a burst by its rate. */
export function createPlan(name: string, limits: PlanLimits): Plan {
  const { requestsPerSecond = 0 } = limits;
  const burst = limits.burst ?? Math.max(1, Math.ceil(DEFAULT_BURST_SECONDS * requestsPerSecond));
  return { name, ...limits, burst };
}
