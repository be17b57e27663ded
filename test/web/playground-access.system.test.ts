import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, signOut, startBrowser } from "../support/browser.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

const DESKTOP = { viewport: { width: 1280, height: 900 } };

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
    await signOut(page);
    await result.locator(".stored").waitFor();
    await tabTo(page, /^Attributes/);
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("#run").textContent()).toBe("Match faces");
    await page.keyboard.press("ArrowLeft");
    await tabBackTo(page, /^API key/);
    await page.keyboard.press("Enter");
    await page.keyboard.type(USER);
    await page.keyboard.press("Enter");
    await expect.poll(() => focusedName(page)).toBe("API key set");
    // Before the key press, because the browser must be told not to show its own dialog.
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, /^Choose/);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles(sampleFile(4));
    await result.getByText("4 faces").waitFor();
    expect(await page.getByRole("status").textContent()).toBe("4 faces.");
    await tabTo(page, /^Get attributes/);
    const before = await result.locator(".headline").elementHandle();
    await page.keyboard.press("Enter");
    await before!.waitForElementState("hidden");
    await page.locator("#result[aria-busy=false]").waitFor();
    await expect.poll(() => focusedName(page)).toBe("Get attributes");

    await tabBackTo(page, /^Face 2/);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Space");
    await expect.poll(() => page.locator("#code").textContent()).toContain("boxes=");
    expect(await focusedName(page)).toMatch(/^Face 2/);
  });

  test("lets the keyboard leave the camera dialog and reach the end of the page", async () => {
    const { page } = await openPlayground(browser, service, DESKTOP);
    await tabTo(page, /^Camera/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(() => focusedName(page)).toBe("Camera");
    await tabTo(page, /^Copy response/);
  });

  test("asks for missing input and moves the focus there", async () => {
    const { page, slot, result } = await openPlayground(browser, service);
    await slot(0).getByRole("button", { name: "Remove" }).click();
    expect(await result.textContent()).toContain("Add a photo to see results.");
    await page.locator("#run").click();
    expect(await page.getByRole("alert").first().textContent()).toBe("Add a photo.");
    await expect.poll(() => focusedName(page)).toBe("Choose");
    await signOut(page);
    await result.locator(".stored").waitFor();
    await page.locator("#run").click();
    expect(await result.textContent()).toContain("Enter an API key.");
    await expect.poll(() => focusedName(page)).toBe("API key");
  });
});

/** Presses Tab until the focused element has the name. */
async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press(key);
    if (name.test(await focusedName(page))) return;
  }
  throw new Error(`${key} does not lead to ${name}`);
}

function tabBackTo(page: Page, name: RegExp): Promise<void> {
  return tabTo(page, name, "Shift+Tab");
}

function focusedName(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const focused = document.activeElement;
    return (focused.ariaLabel ?? (focused.labels?.[0] ?? focused).textContent).trim().replaceAll(/\\s+/g, " ");
  })()`);
}
