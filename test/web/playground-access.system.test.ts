import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, keepScreenshot, startBrowser } from "../support/browser.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

describe.runIf(hasBrowser)("the playground", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each<readonly [name: string, options: BrowserContextOptions]>([
    ["light", { ...DESK, colorScheme: "light" }],
    ["dark", { ...DESK, colorScheme: "dark" }],
    ["phone", { ...PHONE, colorScheme: "light" }],
  ])("is for everyone, and fits, in each of its states: %s", async (name, options) => {
    const { page, choose, give, run, slot } = await openPlayground(browser, service, options);
    const look = async (state: string) => {
      expect(await faultsOf(page), state).toEqual([]);
      expect(await overflowOf(page), state).toBe(0);
      await keepScreenshot(page, `playground-${name}-${state}`);
    };
    await look("empty");
    await slot(0).getByRole("button", { name: "Camera" }).click();
    await page.locator("#shoot:enabled").waitFor();
    await look("camera");
    await page.keyboard.press("Escape");
    await give(0, sampleFile(4));
    await run();
    await slot(0)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    await look("attributes");
    await choose("Vector");
    await run();
    await look("vector");
    await choose("Match");
    await give(1, sampleFile(5));
    await run();
    await look("match");
    await choose("Compare");
    await run();
    await look("compare");
    await page.getByLabel("User id").fill("nobody");
    await run();
    await look("error");
  });

  test("is dark where people want it dark", async () => {
    const { page } = await openPlayground(browser, service, { colorScheme: "dark" });
    const luma = await page.evaluate<number>(
      "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))",
    );
    expect(luma).toBeLessThan(40);
  });

  test("moves nothing where people want it still", async () => {
    const { page } = await openPlayground(browser, service, { reducedMotion: "reduce" });
    const durations = await page.evaluate<string[]>(
      "[...document.querySelectorAll('*')].map((element) => getComputedStyle(element).transitionDuration)",
    );
    expect(new Set(durations)).toEqual(new Set(["0s"]));
  });

  test("reads the attributes of a photo and chooses a face by the keyboard alone", async () => {
    const { page, result } = await openPlayground(browser, service, DESK);
    await page.reload();
    const reach = (name: RegExp) => tabTo(page, name);
    await reach(/^User id/);
    await page.keyboard.press("Control+A");
    await page.keyboard.type(USER);
    await reach(/^Attributes/);
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("#run").textContent()).toBe("Make vector");
    await page.keyboard.press("ArrowUp");
    // Some time before the key, as the browser has to be told not to show the dialog itself.
    const chooser = page.waitForEvent("filechooser");
    await reach(/^Choose/);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(sampleFile(4));
    await page.locator("[data-slot='0'] img").waitFor();
    await reach(/^Read attributes/);
    await page.keyboard.press("Enter");
    await result.getByText("4 faces").waitFor();
    expect(await page.getByRole("status").textContent()).toBe("4 faces.");
    expect(await focusedName(page)).toBe("Read attributes");

    await page.keyboard.press("Shift+Tab");
    while (!/^Face 2/.test(await focusedName(page))) await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Space");
    expect(await focusedName(page)).toMatch(/^Face 2/);
    expect(await page.locator("#curl").textContent()).toContain("bboxes=");
  });

  test("lets the keyboard through the whole page and out of the camera", async () => {
    const { page } = await openPlayground(browser, service, DESK);
    await tabTo(page, /^Camera/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await focusedName(page)).toBe("Camera");
    await tabTo(page, /^Copy the grpcurl line/);
  });

  test("asks for what is missing, and leads there", async () => {
    const { page, result } = await openPlayground(browser, service);
    await page.locator("#run").click();
    expect(await page.getByRole("alert").first().textContent()).toBe("Give a photo first.");
    expect(await focusedName(page)).toBe("Choose");
    await page.getByLabel("User id").fill("");
    await page.locator("#run").click();
    expect(await result.textContent()).toContain("A user id is needed.");
    expect(await focusedName(page)).toBe("User id");
  });
});

/** What axe finds fault with, from what is serious on. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    );
}

/** By how many pixels the page is wider than the window. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if (name.test(await focusedName(page))) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

function focusedName(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    return (focused.labels?.[0] ?? focused).textContent.trim().replaceAll(/\\s+/g, " ");
  })()`);
}
