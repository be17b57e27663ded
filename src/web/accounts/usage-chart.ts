import { make, makeSvg } from "../site/elements.ts";
import { capitalize } from "../site/words.ts";
import { formatCount, formatDay, formatMonth } from "./format.ts";
import { drawTable } from "./table.ts";
import { type Breakdown, sumUsageBy, type UsageRow, type UsageSum } from "./usage-rows.ts";

/** Places in the chart from its top, in pixels. */
const TOP = 20;
const BOTTOM = 116;
const LABELS = 134;
const HEIGHT = 140;
/** A few requests are visible beside very many. */
const MIN_BAR_HEIGHT = 2;
const LABELLED_DAYS = 7;

/** Draws the usage of a month as a bar for each day. */
export function drawDays(month: string, rows: readonly UsageRow[]): HTMLElement {
  if (rows.length === 0) return make("p", { class: "hint" }, `No requests in ${formatMonth(month)}.`);
  const days = sumUsageBy(rows, "day");
  return make("figure", { class: "usage" }, drawLegend(days), drawChart(month, days));
}

/** Draws the usage of a month as a table. */
export function drawCounts(month: string, rows: readonly UsageRow[], by: Breakdown): HTMLElement {
  return drawTable<UsageSum>(
    `Requests in ${formatMonth(month)} by ${by}`,
    [
      {
        title: capitalize(by),
        cell: ({ name }) => (by === "day" ? formatDay(name) : make("code", {}, name)),
      },
      { title: "Successful", isNumber: true, cell: ({ ok }) => formatCount(ok) },
      { title: "Failed", isNumber: true, cell: ({ failed }) => formatCount(failed) },
    ],
    sumUsageBy(rows, by),
  );
}

/** Explains the colours by the sums of the month. */
function drawLegend(days: readonly UsageSum[]): HTMLElement {
  const entry = (kind: "ok" | "failed", noun: string) => {
    const count = days.reduce((sum, day) => sum + day[kind], 0);
    return make("span", { class: `swatch ${kind}` }, `${formatCount(count)} ${noun}`);
  };
  return make("figcaption", {}, entry("ok", "successful"), entry("failed", "failed"));
}

/** Widths are shares of the whole, so that text keeps its size on every screen. */
function drawChart(month: string, days: readonly UsageSum[]): SVGElement {
  const max = Math.max(...days.map(totalOf));
  const busiest = days.find((day) => totalOf(day) === max)!;
  const label = `Requests in ${formatMonth(month)} by day. Most on ${describeDay(busiest)}`;
  const [year, number] = month.split("-").map(Number) as [number, number];
  const step = 100 / new Date(Date.UTC(year, number, 0)).getUTCDate();
  const labels = Array.from({ length: 5 }, (_, week) => week * LABELLED_DAYS + 1)
    .filter((day) => day * step <= 100)
    .map((day) => makeSvg("text", { x: `${(day - 0.5) * step}%`, y: LABELS, class: "tick" }, String(day)));
  return makeSvg(
    "svg",
    { class: "chart", role: "img", "aria-label": label, height: HEIGHT },
    makeSvg("text", { x: 0, y: TOP - 6 }, formatCount(max)),
    ...[TOP, BOTTOM].map((y) => makeSvg("line", { x1: 0, x2: "100%", y1: y, y2: y })),
    ...labels,
    ...days.map((day) => drawDay(day, step, max)),
  );
}

function drawDay(day: UsageSum, step: number, max: number): SVGElement {
  const left = (Number(day.name.slice("YYYY-MM-".length)) - 0.9) * step;
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(MIN_BAR_HEIGHT, ((BOTTOM - TOP) * count) / max);
  const [ok, failed] = [heightOf(day.ok), heightOf(day.failed)];
  const bar = { x: `${left}%`, width: `${0.8 * step}%` };
  return makeSvg(
    "g",
    {},
    makeSvg("title", {}, describeDay(day)),
    makeSvg("rect", { ...bar, class: "ok", y: BOTTOM - ok, height: ok }),
    makeSvg("rect", { ...bar, class: "failed", y: BOTTOM - ok - failed, height: failed }),
  );
}

function describeDay({ name, ok, failed }: UsageSum): string {
  return `${formatDay(name)}: ${formatCount(ok)} successful, ${formatCount(failed)} failed.`;
}

function totalOf({ ok, failed }: UsageSum): number {
  return ok + failed;
}
