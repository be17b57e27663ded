import { join } from "node:path";
import type { Browser } from "playwright-core";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { sum } from "../../tools/support/statistics.ts";

/** Work of the main thread beyond this in one piece blocks the user: the definition of total blocking time. */
const LONG_TASK_MS = 50;
const VISIT_TIMEOUT_MS = 120_000;

/** A page to measure. */
export interface MeasuredPage {
  readonly path: string;
  /** The user id that the tab remembers. */
  readonly userId?: string;
  /** What the click is, in words. */
  readonly action: string;
  /** Selector of the control to click. It must not submit a form: that stops the loading of the page. */
  readonly control: string;
  /** Selector of what is visible and not empty once the page has responded. */
  readonly response: string;
}

/** What one first visit of a page measured. Times count from the start of the navigation. */
export interface Visit {
  readonly firstPaintMs: number;
  readonly responseMs: number;
  /** Total blocking time from the first contentful paint until the response. */
  readonly blockedMs: number;
  /** Headers and bodies, as they were transferred. */
  readonly transferredBytes: number;
}

interface Measured {
  readonly firstPaintMs: number;
  readonly responseMs: number;
  readonly longTasks: readonly { readonly startMs: number; readonly durationMs: number }[];
}

/** Visits a page for the first time, in a new browser profile and on a CPU that is slowed down. */
export async function visitPage(
  browser: Browser,
  origin: string,
  { path, userId, control, response }: MeasuredPage,
  slowdown: number,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    let transferredBytes = 0;
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      transferredBytes += encodedDataLength;
    });
    await session.send("Network.enable");
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    const probe = { control, response };
    await page.addInitScript({ content: `globalThis.visageProbe = ${JSON.stringify(probe)};` });
    if (userId) await page.addInitScript(`sessionStorage.user_id = ${JSON.stringify(userId)}`);
    await page.addInitScript({ path: join(PACKAGE_ROOT, "bench/pages/probe.js") });
    await page.goto(origin + path, { waitUntil: "load", timeout: VISIT_TIMEOUT_MS });
    const measured = await page.evaluate<Measured>("visageProbe.done");
    await page.waitForLoadState("networkidle", { timeout: VISIT_TIMEOUT_MS });
    return { ...measured, blockedMs: blockingMs(measured), transferredBytes };
  } finally {
    await context.close();
  }
}

function blockingMs({ firstPaintMs, responseMs, longTasks }: Measured): number {
  const pieces = longTasks
    .filter(({ startMs }) => startMs < responseMs)
    .map(({ startMs, durationMs }) => {
      const from = Math.max(firstPaintMs, startMs + LONG_TASK_MS);
      return Math.max(0, startMs + durationMs - from);
    });
  return sum(pieces);
}
