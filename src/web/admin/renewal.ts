import { labelled } from "../accounts/labelled.ts";
import { make, makeButton } from "../site/elements.ts";
import type { UserChanges } from "./api.ts";

const CHOICES: readonly (readonly [value: string, label: string])[] = [
  ["30", "by 30 days"],
  ["90", "by 90 days"],
  ["365", "by a year"],
  ["date", "until a date"],
  ["never", "without end"],
];

/** Draws the choice how to renew a subscription. `renew` gets the button and the changes. */
export function drawRenewal(renew: (button: HTMLButtonElement, changes: UserChanges) => void): HTMLElement {
  const options = CHOICES.map(([value, label]) => make("option", { value }, label));
  const choice = make("select", { id: "renew-by" }, ...options);
  const date = make("input", { id: "renew-until", type: "date" });
  const dateField = labelled("End of the subscription", date);
  dateField.hidden = true;
  choice.addEventListener("change", () => {
    dateField.hidden = choice.value !== "date";
  });
  const button = makeButton("Renew", () => {
    if (choice.value === "date" && !date.value) date.focus();
    else renew(button, changesFrom(choice.value, date.value));
  });
  return make(
    "div",
    { class: "fields" },
    labelled("Renew the subscription", choice),
    dateField,
    make("div", { class: "actions end" }, button),
  );
}

function changesFrom(choice: string, date: string): UserChanges {
  if (choice === "never") return { withoutEnd: true };
  return choice === "date" ? { endTime: `${date}T00:00:00Z` } : { extendDays: Number(choice) };
}
