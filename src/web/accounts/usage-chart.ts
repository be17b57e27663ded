import { make, makeSvg } from "../site/elements.ts";
import { formatCount, formatMonth } from "./format.ts";
import type { UsageCount } from "./messages.ts";
import { drawTable } from "./table.ts";

/** The requests of one operation. */
interface OperationUsage {
  readonly operation: string;
  readonly ok: number;
  readonly failed: number;
}

const SUCCESS = "ok";
const ROW_HEIGHT = 50;
const BAR_HEIGHT = 14;
const BAR_TOP = 24;
const LABEL_BASELINE = 16;

/** Draws the usage of a month: a bar for each operation, and the counts by outcome as a table. */
export function drawUsage(month: string, counts: readonly UsageCount[]): HTMLElement {
  if (counts.length === 0) return make("p", { class: "hint" }, `No requests in ${formatMonth(month)}.`);
  const operations = sumByOperation(counts);
  const label = `Requests in ${formatMonth(month)} by operation: ${operations.map(describe).join("; ")}.`;
  const max = Math.max(...operations.map(({ ok, failed }) => ok + failed));
  const chart = makeSvg(
    "svg",
    { class: "chart", role: "img", "aria-label": label, height: operations.length * ROW_HEIGHT },
    ...operations.flatMap((usage, i) => drawBar(usage, i * ROW_HEIGHT, max)),
  );
  const table = drawTable<UsageCount>(
    `Requests in ${formatMonth(month)}`,
    [
      { title: "Operation", cell: ({ operation }) => make("code", {}, operation) },
      { title: "Outcome", cell: ({ outcome }) => make("code", {}, outcome) },
      { title: "Requests", isNumber: true, cell: ({ count }) => formatCount(count) },
    ],
    counts,
  );
  return make(
    "figure",
    { class: "usage" },
    chart,
    make("details", {}, make("summary", {}, "Show as a table"), table),
  );
}

function sumByOperation(counts: readonly UsageCount[]): OperationUsage[] {
  const sums = new Map<string, OperationUsage>();
  for (const { operation, outcome, count } of counts) {
    const { ok, failed } = sums.get(operation) ?? { ok: 0, failed: 0 };
    const isOk = outcome === SUCCESS;
    sums.set(operation, {
      operation,
      ok: ok + (isOk ? Number(count) : 0),
      failed: failed + (isOk ? 0 : Number(count)),
    });
  }
  return [...sums.values()].sort((a, b) => b.ok + b.failed - (a.ok + a.failed));
}

function describe({ operation, ok, failed }: OperationUsage): string {
  return `${operation} ${countsText(ok, failed)}`;
}

function countsText(ok: number, failed: number): string {
  return failed === 0 ? formatCount(ok) : `${formatCount(ok)} + ${formatCount(failed)} failed`;
}

/** Lengths are shares of the width, so that text keeps its size on every screen. */
function drawBar({ operation, ok, failed }: OperationUsage, top: number, max: number): SVGElement[] {
  const share = (count: number) => `${(100 * count) / max}%`;
  const bar = { y: top + BAR_TOP, height: BAR_HEIGHT };
  const baseline = top + LABEL_BASELINE;
  return [
    makeSvg("text", { x: 0, y: baseline, class: "operation" }, operation.replace("visage.v1.", "v1.")),
    makeSvg("text", { x: "100%", y: baseline, class: "count" }, countsText(ok, failed)),
    makeSvg("rect", { ...bar, x: 0, width: "100%", class: "track", rx: 3 }),
    makeSvg("rect", { ...bar, x: 0, width: share(ok), class: "ok", rx: 3 }),
    makeSvg("rect", { ...bar, x: share(ok), width: share(failed), class: "failed", rx: 3 }),
  ];
}
