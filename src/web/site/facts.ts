import { make } from "./elements.ts";

/** Draws names and values as a list. */
export function drawFacts(facts: readonly (readonly [name: string, value: Node | string])[]): HTMLElement {
  const entries = facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return make("dl", { class: "facts" }, ...entries);
}
