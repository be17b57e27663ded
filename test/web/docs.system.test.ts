import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, openTab, saveScreenshot, startBrowser } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";

describe.runIf(hasBrowser)("the API reference", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  const open = async (options: BrowserContextOptions = {}) => {
    const tab = await openTab(browser, `http://127.0.0.1:${service.port}/docs`, options);
    await tab.page.locator(".opblock").first().waitFor();
    return tab;
  };

  test.each<readonly [name: string, options: BrowserContextOptions]>([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 360, height: 740 } }],
  ])("shows every operation without foreign requests or policy violations: %s", async (name, options) => {
    const { page, consoleErrors, foreignOrigins } = await open(options);
    for (const path of ["/match_faces", "/compare_faces", "/get_image_attr", "/get_face_vec"])
      expect(await page.locator(`.opblock [data-path="${path}"]`).count(), path).toBe(1);
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] });
    await saveScreenshot(page, `docs-${name}`);
  });

  test("lets an operation be tried without foreign requests or policy violations", async () => {
    const { page, consoleErrors, foreignOrigins } = await open();
    for (const path of ["/match_faces", "/compare_faces", "/get_image_attr", "/get_face_vec"])
      await page.locator(`.opblock [data-path="${path}"]`).click();
    await page.getByRole("button", { name: "Try it out" }).first().click();
    await page.getByRole("button", { name: "Execute" }).waitFor();
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".modal-ux").waitFor();
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] });
  });

  test("links to the Protobuf contract", async () => {
    const { page } = await open();
    await page.getByRole("link", { name: "Protobuf contract" }).click();
    expect(await page.textContent("body")).toContain("service FaceService");
  });
});
