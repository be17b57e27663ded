import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, openTab, saveScreenshot, startBrowser } from "../support/browser.ts";
import { startTestService, USER } from "../support/service.ts";

const PHOTO = fileURLToPath(
  new URL("../../node_modules/@vladmandic/face-api/demo/sample3.jpg", import.meta.url),
);

const STREAM = "/v1/images:analyzeStream";
const UNARY = [
  "/match_faces",
  "/compare_faces",
  "/get_image_attr",
  "/get_face_vec",
  "/v1/images:analyze",
  "/v1/faces:compare",
];
const PATHS = [...UNARY, STREAM];

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
    for (const path of PATHS)
      expect(await page.locator(`.opblock [data-path="${path}"]`).count(), path).toBe(1);
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] });
    await saveScreenshot(page, `docs-${name}`);
  });

  test("lets an operation be tried without foreign requests or policy violations", async () => {
    const { page, consoleErrors, foreignOrigins } = await open();
    for (const path of PATHS) await page.locator(`.opblock [data-path="${path}"]`).click();
    await page.getByRole("button", { name: "Try it out" }).first().click();
    await page.getByRole("button", { name: "Execute" }).waitFor();
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".modal-ux").waitFor();
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] });
  });

  const openAuthorized = async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".modal-ux input").first().fill(USER);
    await page.locator(".modal-ux .authorize").first().click();
    await page.locator(".modal-ux .btn-done").first().click();
    return page;
  };

  test("executes every operation with the example and with files", async () => {
    const page = await openAuthorized();
    for (const path of UNARY) {
      const operation = page.locator(".opblock", { has: page.locator(`[data-path="${path}"]`) });
      await operation.locator(".opblock-summary-control").click();
      await operation.getByRole("button", { name: "Try it out" }).click();
      const execute = async () => {
        const [response] = await Promise.all([
          page.waitForResponse((answer) => new URL(answer.url()).pathname === path),
          operation.getByRole("button", { name: "Execute" }).click(),
        ]);
        return [path, new URL(response.url()).search, response.status()];
      };
      for (const input of await operation.locator("input[type=file]").all()) await input.setInputFiles(PHOTO);
      expect(await execute()).toEqual([path, "", 200]);
      await operation.getByLabel("Request content type").selectOption("application/json");
      expect(await execute()).toEqual([path, "", 200]);
      // Swagger UI renders all open operations after each change.
      await operation.locator(".opblock-summary-control").click();
    }
  }, 120_000);

  test("sends the example of a stream as one line", async () => {
    const page = await openAuthorized();
    const operation = page.locator(".opblock", { has: page.locator(`[data-path="${STREAM}"]`) });
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    const [response] = await Promise.all([
      page.waitForResponse((answer) => new URL(answer.url()).pathname === STREAM),
      operation.getByRole("button", { name: "Execute" }).click(),
    ]);
    expect(await response.json()).toMatchObject({ key: "one.png", response: { facesFound: 1 } });
  });

  test.each([
    ["Protobuf contract", "service FaceService"],
    ["Typed contract", "service FaceAnalysisService"],
  ])("links to the %s", async (name, text) => {
    const { page } = await open();
    await page.getByRole("link", { name }).click();
    expect(await page.textContent("body")).toContain(text);
  });
});
