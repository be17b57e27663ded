import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, saveScreenshot, startBrowser } from "../support/browser.ts";
import { overflowOf, violationsOf } from "../support/page-checks.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

const DESKTOP = { viewport: { width: 1280, height: 900 } };
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
    ["light", { ...DESKTOP, colorScheme: "light" }],
    ["dark", { ...DESKTOP, colorScheme: "dark" }],
    ["phone", { ...PHONE, colorScheme: "light" }],
  ])("has no accessibility violation and no overflow in any state: %s", async (name, options) => {
    const { page, selectOperation, addPhotos, run, slot } = await openPlayground(browser, service, options);
    const check = async (state: string) => {
      expect(await violationsOf(page), state).toEqual([]);
      expect(await overflowOf(page), state).toBe(0);
      await saveScreenshot(page, `playground-${name}-${state}`);
    };
    await check("empty");
    await slot(0).getByRole("button", { name: "Camera" }).click();
    await page.locator("#shoot:enabled").waitFor();
    await check("camera");
    await page.keyboard.press("Escape");
    await addPhotos(0, sampleFile(4));
    await run();
    await slot(0)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    await check("attributes");
    await selectOperation("Vector");
    await run();
    await check("vector");
    await selectOperation("Match");
    await addPhotos(1, sampleFile(5));
    await run();
    await check("match");
    await selectOperation("Compare");
    await run();
    await check("compare");
    await page.getByLabel("User id").fill("nobody");
    await run();
    await check("error");
  });

  test("follows the dark color scheme", async () => {
    const { page } = await openPlayground(browser, service, { colorScheme: "dark" });
    const luma = await page.evaluate<number>(
      "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))",
    );
    expect(luma).toBeLessThan(40);
  });

  test("has no transitions when reduced motion is preferred", async () => {
    const { page } = await openPlayground(browser, service, { reducedMotion: "reduce" });
    const durations = await page.evaluate<string[]>(
      "[...document.querySelectorAll('*')].map((element) => getComputedStyle(element).transitionDuration)",
    );
    expect(new Set(durations)).toEqual(new Set(["0s"]));
  });

  test("can be used by keyboard alone", async () => {
    const { page, result } = await openPlayground(browser, service, DESKTOP);
    await page.reload();
    await tabTo(page, /^User id/);
    await page.keyboard.press("Control+A");
    await page.keyboard.type(USER);
    await tabTo(page, /^Attributes/);
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("#run").textContent()).toBe("Get vector");
    await page.keyboard.press("ArrowUp");
    // Before the key press, because the browser must be told not to show its own dialog.
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, /^Choose/);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(sampleFile(4));
    await page.locator("[data-slot='0'] img").waitFor();
    await tabTo(page, /^Get attributes/);
    await page.keyboard.press("Enter");
    await result.getByText("4 faces").waitFor();
    expect(await page.getByRole("status").textContent()).toBe("4 faces.");
    expect(await focusedName(page)).toBe("Get attributes");

    await page.keyboard.press("Shift+Tab");
    while (!/^Face 2/.test(await focusedName(page))) await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Space");
    expect(await focusedName(page)).toMatch(/^Face 2/);
    expect(await page.locator("#curl").textContent()).toContain("bboxes=");
  });

  test("lets the keyboard leave the camera dialog and reach the end of the page", async () => {
    const { page } = await openPlayground(browser, service, DESKTOP);
    await tabTo(page, /^Camera/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await focusedName(page)).toBe("Camera");
    await tabTo(page, /^Copy grpcurl command/);
  });

  test("asks for missing input and moves the focus there", async () => {
    const { page, result } = await openPlayground(browser, service);
    await page.locator("#run").click();
    expect(await page.getByRole("alert").first().textContent()).toBe("Add a photo.");
    expect(await focusedName(page)).toBe("Choose");
    await page.getByLabel("User id").fill("");
    await page.locator("#run").click();
    expect(await result.textContent()).toContain("Enter a user id.");
    expect(await focusedName(page)).toBe("User id");
  });
});

/** Presses Tab until the focused element has the name. */
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
