import { saveText } from "../site/download.ts";
import { make, makeButton, reporting } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import { failureText } from "./failure.ts";
import { formatMonth, lastMonths } from "./format.ts";
import { labelled } from "./labelled.ts";
import type { Key, UsageCount } from "./messages.ts";
import { drawCounts, drawDays } from "./usage-chart.ts";
import { type Breakdown, sumUsageBy, type UsageRow, usageCsv, usageRows } from "./usage-rows.ts";

const MONTHS = 12;

let panels = 0;

/**
 * Draws the usage of a month, with a choice of the month, of one operation or key, and of what the table counts by.
 * `load` reads the counts of a month (YYYY-MM). `keys` returns the keys of the user, for their names; usage of all users
 * has no keys.
 */
export function drawUsagePanel(
  load: (month: string) => Promise<readonly UsageCount[]>,
  keys?: () => readonly Key[],
): HTMLElement {
  const id = `usage-${++panels}`;
  const fields: readonly Breakdown[] = keys ? ["operation", "key"] : ["operation"];
  const months = lastMonths(MONTHS).map((name) => option(name, formatMonth(name)));
  const month = make("select", { id: `${id}-month` }, ...months);
  const filter = make("select", { id: `${id}-filter` });
  const breakdowns = [...fields, "outcome", "day"].map((by) => option(by, capitalize(by)));
  const breakdown = make("select", { id: `${id}-by` }, ...breakdowns);
  const chart = make("div", { "aria-live": "polite" });
  const table = make("div");
  let rows: readonly UsageRow[] = [];
  let newest = 0;

  function draw(): void {
    const shown = rows.filter(
      (row) => !filter.value || fields.some((by) => filter.value === `${by} ${row[by]}`),
    );
    chart.replaceChildren(drawDays(month.value, shown));
    table.replaceChildren(drawCounts(month.value, shown, breakdown.value as Breakdown));
  }

  async function show(): Promise<void> {
    const turn = ++newest;
    const loaded = await load(month.value).catch(failureText);
    // Another month may have been chosen meanwhile.
    if (turn !== newest) return;
    const isFailed = typeof loaded === "string";
    rows = isFailed ? [] : usageRows(loaded, keys?.() ?? []);
    details.hidden = rows.length === 0;
    replaceOptions(filter, filterOptions(rows, fields));
    draw();
    if (isFailed) chart.replaceChildren(make("p", { class: "problem" }, loaded));
  }

  const save = makeButton("Download CSV", () =>
    saveText(usageCsv(rows, keys !== undefined), `visage-usage-${month.value}.csv`, "text/csv"),
  );
  const details = make(
    "div",
    { class: "form" },
    make(
      "div",
      { class: "fields" },
      labelled("Count by", breakdown),
      make("div", { class: "actions end" }, save),
    ),
    table,
  );
  details.hidden = true;
  const showNow = reporting(show);
  month.addEventListener("change", showNow);
  for (const select of [filter, breakdown]) select.addEventListener("change", draw);
  showNow();
  return make(
    "div",
    { class: "form" },
    make("div", { class: "fields" }, labelled("Month", month), labelled("Show", filter)),
    chart,
    details,
  );
}

/** Lists all operations and keys that have requests. */
function filterOptions(rows: readonly UsageRow[], fields: readonly Breakdown[]): HTMLElement[] {
  const groups = fields.map((field) => {
    const options = sumUsageBy(rows, field).map(({ name }) => option(`${field} ${name}`, name));
    return make("optgroup", { label: capitalize(field) }, ...options);
  });
  return [option("", "All requests"), ...groups];
}

/** Replaces the options of a choice, and keeps what was chosen as far as it still exists. */
function replaceOptions(select: HTMLSelectElement, options: readonly HTMLElement[]): void {
  const chosen = select.value;
  select.replaceChildren(...options);
  select.value = chosen;
  if (select.selectedIndex === -1) select.selectedIndex = 0;
}

function option(value: string, text: string): HTMLOptionElement {
  return make("option", { value }, text);
}
