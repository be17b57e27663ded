// Predicts what a service for 10,000 requests per second needs: `npm run bench:scale`. It simulates replicas, workers and
// the database with the costs that `npm run bench:sizing` measured, and writes bench/results/scale.md. With `-- --check`
// it runs two and three replicas on this machine, simulates the same, and writes bench/results/scale-check.md.
import { parseArgs } from "node:util";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { mean } from "../tools/support/statistics.ts";
import { describeRun } from "./machine.ts";
import { writeReport } from "./report.ts";
import { type Comparison, compareWithRuns, type Figures } from "./scale/check.ts";
import { createPlan } from "./scale/plan.ts";
import { readSizing } from "./sizing/costs.ts";

const FIGURES: readonly [string, (figures: Figures) => string][] = [
  ["served/s", ({ perSecond }) => perSecond.toFixed(1)],
  ["p50", ({ p50 }) => formatMs(p50)],
  ["p95", ({ p95 }) => formatMs(p95)],
  ["refused", ({ refused }) => `${(100 * refused).toFixed(0)} %`],
  ["transactions/s", ({ transactionsPerSecond }) => transactionsPerSecond.toFixed(1)],
  ["server CPU", ({ serverMs }) => formatMs(serverMs)],
  ["worker CPU", ({ workersMs }) => formatMs(workersMs)],
  ["in", ({ bytesSent }) => `${(bytesSent / 1e3).toFixed(1)} kB`],
  ["out", ({ bytesReceived }) => `${(bytesReceived / 1e3).toFixed(1)} kB`],
];

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const sizing = readSizing();
const costs = `Costs: bench/results/sizing.json (${sizing.conditions})`;
if (values.check) reportCheck(await compareWithRuns(sizing));
else writeReport("scale.md", ["# 10,000 requests per second", costs, ...createPlan(sizing)]);

function reportCheck(comparisons: readonly Comparison[]): void {
  const error = (name: "perSecond" | "p50" | "p95", isLow: boolean) => {
    const ratios = comparisons
      .filter(({ share }) => share < 1 === isLow)
      .map(({ predicted, measured }) => Math.abs(predicted[name] / measured[name] - 1));
    return `${(100 * mean(ratios)).toFixed(0)} %`;
  };
  const paragraphs = [
    "# The simulation and real replicas",
    `Written by \`npm run bench:scale -- --check\`. ${describeRun()} ${costs}`,
    "get_face_vec on a 640x480 photo over multipart. Replicas with one worker each, PostgreSQL and the load generator share this machine; the generator sends to the replicas in turn, at shares of the throughput of a closed loop before each run. The simulation gets the costs above, the same arrivals, and as many competing tasks of other programs as explain the throughput of the closed loop right before the run. Each cell: predicted / measured.",
    formatTable(
      ["replicas", "load", "offered/s", "cores of others", "their tasks", ...FIGURES.map(([name]) => name)],
      comparisons.map(
        ({ replicas, share, offeredPerSecond, otherCores, competitors, predicted, measured }) => [
          replicas,
          `${(100 * share).toFixed(0)} %`,
          offeredPerSecond.toFixed(1),
          otherCores.toFixed(2),
          competitors.toFixed(1),
          ...FIGURES.map(([, format]) => `${format(predicted)} / ${format(measured)}`),
        ],
      ),
    ),
    "Mean absolute error of the prediction:",
    formatTable(
      ["", "below the capacity", "above the capacity"],
      (["perSecond", "p50", "p95"] as const).map((name) => [
        name === "perSecond" ? "served/s" : name,
        error(name, true),
        error(name, false),
      ]),
    ),
  ];
  writeReport("scale-check.md", paragraphs);
  console.log(`\n${paragraphs.join("\n\n")}`);
}
