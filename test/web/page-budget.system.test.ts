import type { CDPSession } from "playwright-core";
import { describe, expect, test } from "vitest";
import { PAGES } from "../../src/web/page-table.ts";
import { hasBrowser, openTab } from "../support/browser.ts";
import { ADMIN_KEY } from "../support/service.ts";
import { useSite } from "../support/site.ts";

/** What the first visit may transfer, headers included. `npm run bench:pages` measures the time. */
const MAX_BYTES = 150_000;

describe.runIf(hasBrowser)("the budget of a page", () => {
  const site = useSite({ VISAGE_ADMIN_KEY: ADMIN_KEY });

  test.each(PAGES.map(({ path }) => path))("the first visit of %s transfers little", async (path) => {
    const { page } = await openTab(site.browser, "about:blank");
    const session = await page.context().newCDPSession(page);
    const transferred = await countBytes(session);
    await page.goto(site.url(path), { waitUntil: "networkidle" });
    // The script of a page that has started has filled the footer.
    await page.getByText("Service ready").waitFor();
    expect(transferred()).toBeLessThan(MAX_BYTES);
    expect(transferred()).toBeGreaterThan(1000);
  });
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
