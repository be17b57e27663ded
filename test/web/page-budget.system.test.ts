import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PAGES } from "../../src/web/page-table.ts";
import { hasBrowser, openTab, startBrowser } from "../support/browser.ts";
import { ADMIN_KEY, startTestService } from "../support/service.ts";

/** What the first visit may transfer, headers included. */
const MAX_BYTES = 150_000;
/** How much slower the CPU is made. */
const SLOWDOWN = 4;
/**
 * The script time of a page, in seconds on the slow CPU. The time is CPU time of the page, so other programs on the
 * machine hardly change it. The limit is far above what a page needs, which is below 0.2.
 */
const MAX_SCRIPT_SECONDS = 1;

describe.runIf(hasBrowser)("the budget of a page", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startTestService({ VISAGE_ADMIN_KEY: ADMIN_KEY }),
      startBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each(PAGES.map(({ path }) => path))(
    "the first visit of %s transfers little and runs little script",
    async (path) => {
      const { page } = await openTab(browser, "about:blank");
      const session = await page.context().newCDPSession(page);
      const transferred = await countBytes(session);
      await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
      await session.send("Performance.enable", { timeDomain: "threadTicks" });
      await page.goto(`http://127.0.0.1:${service.port}${path}`, { waitUntil: "networkidle" });
      const seconds = await scriptSeconds(session);
      expect(transferred()).toBeLessThan(MAX_BYTES);
      expect(transferred()).toBeGreaterThan(1000);
      expect(seconds).toBeLessThan(MAX_SCRIPT_SECONDS);
      expect(await isInteractive(page)).toBe(true);
    },
  );
});

/** Counts the bytes that a page receives. */
async function countBytes(session: CDPSession): Promise<() => number> {
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send("Network.enable");
  return () => bytes;
}

async function scriptSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  const seconds = metrics.find(({ name }) => name === "ScriptDuration");
  if (!seconds) throw new Error("The browser did not measure the script.");
  return seconds.value;
}

/** The script of a page that has started has filled the footer. */
async function isInteractive(page: Page): Promise<boolean> {
  await page.getByText("Service ready").waitFor();
  return true;
}
