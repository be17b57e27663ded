import { make } from "../site/elements.ts";

/** Puts a label above a field, which must have an id. */
export function labelled(label: string, field: HTMLInputElement | HTMLSelectElement): HTMLElement {
  return make("div", { class: "field" }, make("label", { for: field.id }, label), field);
}
