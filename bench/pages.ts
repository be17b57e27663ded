// Measures the first visit of each web page on a slow CPU: `npm run bench:pages`. Needs Chromium on the PATH. Writes
// bench/results/pages.md.
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findChromium, sandboxArguments } from "../tools/support/chromium.ts";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { startServiceProcess, USER } from "../tools/support/service-process.ts";
import { median } from "../tools/support/statistics.ts";
import { describeRun } from "./machine.ts";
import { type MeasuredPage, type Visit, visitPage } from "./pages/visit-page.ts";
import { formatSummary, writeReport } from "./report.ts";

/** How much slower the CPU is made. */
const SLOWDOWN = 4;
const MAX_RESPONSE_MS = 1000;

const PAGES: readonly MeasuredPage[] = [
  {
    path: "/",
    action: "choose Match: a second place for a photo",
    control: "input[value=match]",
    response: "#photos .slot + .slot",
  },
  {
    path: "/galleries",
    userId: USER,
    action: "create a gallery without a name: a message",
    control: "#create-form [type=submit]",
    response: "#create-problem",
  },
  { path: "/docs", action: "open Try it: a form", control: ".try summary", response: ".try form" },
  {
    path: "/account",
    action: "enter an API key: a dialog",
    control: "#enter-key",
    response: "dialog[open]",
  },
  {
    path: "/admin",
    action: "reveal the admin key",
    control: "#reveal",
    response: "#reveal[aria-pressed=true]",
  },
];

const { values: options } = parseArgs({ options: { rounds: { type: "string", default: "7" } } });
const rounds = Number(options.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a number from 1 on.");
const program = findChromium();
if (!program) throw new Error("Chromium is not on the PATH.");
const service = await startServiceProcess({ VISAGE_ADMIN_KEY: "admin-key-of-the-bench-0123456789" });
const browser = await chromium.launch({ executablePath: program, args: sandboxArguments() });
const origin = `http://127.0.0.1:${service.port}`;
// The pages take turns, so that a slow minute of the machine does not hit one page only.
const turns = Array.from({ length: rounds }, () => PAGES).flat();
const visits = await mapWithProgress("pages", turns, async (page) => ({
  page,
  visit: await visitPage(browser, origin, page, SLOWDOWN),
}));
const version = browser.version();
await browser.close();
await service.stop();
report();

function report(): void {
  const medians = PAGES.map((page) => {
    const ofPage = visits.filter((measured) => measured.page === page).map(({ visit }) => visit);
    const medianOf = (name: keyof Visit) => median(ofPage.map((visit) => visit[name]));
    return { page, name: page.path, medianOf };
  });
  const figures = medians.map(({ name, medianOf }) => ({
    name: `\`${name}\` responds to a click`,
    measured: formatMs(medianOf("responseMs")),
    target: `≤ ${MAX_RESPONSE_MS} ms`,
    isMet: medianOf("responseMs") <= MAX_RESPONSE_MS,
  }));
  const summary = formatSummary([{ title: "", figures, body: "" }]);
  const rows = medians.map(({ page, name, medianOf }) => [
    `\`${name}\``,
    formatMs(medianOf("firstPaintMs")),
    formatMs(medianOf("responseMs")),
    formatMs(medianOf("blockedMs")),
    `${(medianOf("transferredBytes") / 1000).toFixed(1)} kB`,
    page.action,
  ]);
  writeReport("pages.md", [
    "# First visit of the pages",
    `Written by \`npm run bench:pages\`. ${describeRun()} Chromium ${version}. Load average: ${loadavg()[0]!.toFixed(1)}.`,
    summary,
    `Medians of ${rounds} visits, each with an empty cache, on a CPU that is made ${SLOWDOWN} times slower. The service runs on the same machine. Times count from the start of the navigation. The click is repeated in each frame until the page responds; the blocking time is that between the first paint and the response.`,
    formatTable(
      [
        "page",
        "first contentful paint",
        "response to a click",
        "total blocking time",
        "transferred",
        "click",
      ],
      rows,
    ),
  ]);
  console.log(`\n${summary}`);
}
