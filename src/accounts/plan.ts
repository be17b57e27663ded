import type { Plan, PlanRules } from "./account-store.ts";

/** Default burst of a new plan, in seconds of its rate. */
const DEFAULT_BURST_SECONDS = 2;

/** Creates a plan that has only the given rules, and a burst by its rate. */
export function createPlan(name: string, rules: PlanRules): Plan {
  const { requestsPerSecond = 0 } = rules;
  const burst = rules.burst ?? Math.max(1, Math.ceil(DEFAULT_BURST_SECONDS * requestsPerSecond));
  return { name, ...rules, burst };
}
