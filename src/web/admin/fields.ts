import type { PlanSummary } from "../accounts/messages.ts";
import { make } from "../site/elements.ts";

/** Creates a choice of plans. */
export function planSelect(id: string, plans: readonly PlanSummary[], selected: string): HTMLSelectElement {
  const options = plans.map(({ plan: { name } }) =>
    make("option", { value: name, selected: name === selected }, name),
  );
  return make("select", { id }, ...options);
}
