import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, keepScreenshot, openTab, startBrowser } from "../support/browser.ts";
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
  ])("shows every operation within its content policy, from our own files: %s", async (name, options) => {
    const { page, complaints, strangers } = await open(options);
    for (const path of ["/match_faces", "/compare_faces", "/get_image_attr", "/get_face_vec"])
      expect(await page.locator(`.opblock [data-path="${path}"]`).count(), path).toBe(1);
    expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] });
    await keepScreenshot(page, `docs-${name}`);
  });

  test("opens an operation to be tried within its content policy", async () => {
    const { page, complaints, strangers } = await open();
    for (const path of ["/match_faces", "/compare_faces", "/get_image_attr", "/get_face_vec"])
      await page.locator(`.opblock [data-path="${path}"]`).click();
    await page.getByRole("button", { name: "Try it out" }).first().click();
    await page.getByRole("button", { name: "Execute" }).waitFor();
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".modal-ux").waitFor();
    expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] });
  });

  test("has the Protobuf contract beside it", async () => {
    const { page } = await open();
    await page.getByRole("link", { name: "Protobuf contract" }).click();
    expect(await page.textContent("body")).toContain("service FaceService");
  });
});
