import { make, reporting } from "../site/elements.ts";
import { failureText } from "./failure.ts";
import { formatMonth, lastMonths } from "./format.ts";
import type { UsageCount } from "./messages.ts";
import { drawUsage } from "./usage-chart.ts";

const MONTHS = 12;

let panels = 0;

/** Draws a choice of the month, and the usage of that month. `load` reads the counts of a month (YYYY-MM). */
export function drawUsagePanel(load: (month: string) => Promise<readonly UsageCount[]>): HTMLElement {
  const id = `usage-month-${++panels}`;
  const months = lastMonths(MONTHS).map((month) => make("option", { value: month }, formatMonth(month)));
  const select = make("select", { id }, ...months);
  const view = make("div", { "aria-live": "polite" });
  let newest = 0;
  const show = async () => {
    const turn = ++newest;
    const month = select.value;
    const drawn = await load(month).then(
      (counts) => drawUsage(month, counts),
      (error: unknown) => make("p", { class: "problem" }, failureText(error)),
    );
    // Another month may have been chosen meanwhile.
    if (turn === newest) view.replaceChildren(drawn);
  };
  const showNow = reporting(show);
  select.addEventListener("change", showNow);
  showNow();
  return make(
    "div",
    { class: "form" },
    make("div", { class: "field month" }, make("label", { for: id }, "Month"), select),
    view,
  );
}
