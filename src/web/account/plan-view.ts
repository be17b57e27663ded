import { LIMIT_NAMES, PLAN_LIMITS } from "../../plan-limits.ts";
import { describeSubscription, formatCount, formatDay, formatLimit } from "../accounts/format.ts";
import { make } from "../site/elements.ts";
import { drawFacts } from "../site/facts.ts";
import type { ReadAccount } from "./api.ts";

/** Draws the plan and the subscription. */
export function drawPlan({ account }: ReadAccount): Node[] {
  const { name, fingerprint, plan, subscription } = account;
  const text = describeSubscription(subscription);
  const isActive = subscription.state === "SUBSCRIPTION_STATE_ACTIVE";
  const advice = isActive ? "" : " Requests are rejected. Ask the operator of this service to renew it.";
  return [
    ...(isActive ? [] : [make("p", { class: "notice bad" }, `Subscription: ${text}${advice}`)]),
    drawFacts([
      ["User", name],
      ["Fingerprint in logs", make("code", {}, fingerprint)],
      ["Plan", plan.name],
      ["Subscription", text],
      ...LIMIT_NAMES.map((name) => [PLAN_LIMITS[name].title, formatLimit(plan, name)] as const),
    ]),
  ];
}

/** Draws how much of the monthly quota is used. */
export function drawQuota({ account, remaining }: ReadAccount): Node[] {
  const { plan, quota } = account;
  const reset = formatDay(quota.resetTime);
  if (remaining === undefined || plan.limits.requestsPerMonth === undefined)
    return [
      make("p", {}, `${formatCount(quota.used)} successful requests this month. There is no monthly quota.`),
    ];
  const limit = Number(plan.limits.requestsPerMonth);
  const used = Math.max(0, limit - remaining);
  const isSpent = remaining === 0;
  const bar = make("progress", {
    class: isSpent && "spent",
    max: Math.max(1, limit),
    value: used,
    "aria-label": "Monthly quota used",
  });
  const advice = `The monthly quota is used up until ${reset}. Ask the operator of this service for a larger plan.`;
  if (isSpent) return [make("p", { class: "notice bad" }, advice), bar];
  const text = `${formatCount(used)} of ${formatCount(limit)} requests used. ${formatCount(remaining)} left until ${reset}.`;
  return [make("p", {}, text), bar];
}
