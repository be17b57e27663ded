import type { Account } from "../accounts/account-store.ts";
import { percent } from "./report.ts";

/** How much of its month an account has used, for people. */
export function quotaOf({ plan, usedThisMonth }: Account): string {
  const { requestsPerMonth } = plan;
  if (requestsPerMonth === undefined) return `${usedThisMonth} used, no limit on plan ${plan.name}`;
  const share = percent(usedThisMonth / requestsPerMonth);
  return `${usedThisMonth} of ${requestsPerMonth} used (${share}) on plan ${plan.name}`;
}
