import type { PlanSummary } from "../accounts/messages.ts";
import { make } from "../site/elements.ts";

/** Puts a label above a field, which must have an id. */
export function labelled(label: string, field: HTMLInputElement | HTMLSelectElement): HTMLElement {
  return make("div", { class: "field" }, make("label", { for: field.id }, label), field);
}

/** Creates a choice of plans. */
export function planSelect(id: string, plans: readonly PlanSummary[], selected: string): HTMLSelectElement {
  const options = plans.map(({ plan: { name } }) =>
    make("option", { value: name, selected: name === selected }, name),
  );
  return make("select", { id }, ...options);
}
