import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, startBrowser } from "../support/browser.ts";
import { checkPage } from "../support/page-checks.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { startTestService } from "../support/service.ts";

describe.runIf(hasBrowser)("the layout of the playground", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each([
    [1280, 720],
    [1366, 768],
    [1920, 1080],
  ])("shows the result beside the photo at %i x %i", async (width, height) => {
    const { page, selectOperation, addPhotos, result, slot } = await openPlayground(browser, service, {
      viewport: { width, height },
    });
    await page.evaluate("scrollTo(0, 0)");
    for (const [operation, ...files] of [
      ["Attributes", sampleFile(4)],
      ["Embedding", sampleFile(3)],
      ["Match", sampleFile(3), sampleFile(5)],
    ] as const) {
      await selectOperation(operation);
      await addPhotos(0, ...files);
      await expectInView(page, result.locator(".headline"), operation);
      await expectInView(page, slot(0).locator("img"), operation);
    }
    expect(await page.evaluate("scrollY")).toBe(0);
  });

  test("writes the number of a face on one line and hides it on faces that are too small for it", async () => {
    const phone = { viewport: { width: 320, height: 568 } };
    const { addPhotos, slot } = await openPlayground(browser, service, phone);
    await addPhotos(0, sampleFile(4));
    for (const number of await slot(0).locator(".number:visible").all())
      expect((await number.boundingBox())!.height).toBeLessThan(24);
  });

  test("zooms into the photo, and shows or hides the landmarks", async () => {
    const { page, addPhotos, slot } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(4));
    const [frame, image] = [slot(0).locator(".frame"), slot(0).locator("img")];
    const [fitted, before] = [(await frame.boundingBox())!, (await image.boundingBox())!];
    await slot(0).getByRole("button", { name: "Zoom in" }).click();
    await slot(0).getByRole("button", { name: "Zoom in" }).click();
    expect(await slot(0).locator(".zoom").textContent()).toBe("200%");
    expect((await image.boundingBox())!.width).toBeCloseTo(2 * before.width, -1);
    expect((await frame.boundingBox())!.width).toBeCloseTo(fitted.width, -1);
    const face = slot(0).getByRole("button", { name: /^Face 1/ });
    await face.click();
    expect(await face.getAttribute("aria-pressed")).toBe("true");
    await checkPage(page, "playground zoomed");
    await slot(0).getByRole("button", { name: "Zoom out" }).click();
    await slot(0).getByRole("button", { name: "Zoom out" }).click();
    expect((await image.boundingBox())!.width).toBeCloseTo(before.width, 0);

    expect(await slot(0).locator(".point").first().isVisible()).toBe(true);
    const landmarks = slot(0).getByRole("button", { name: "Landmarks" });
    await landmarks.click();
    expect(await landmarks.getAttribute("aria-pressed")).toBe("false");
    expect(await slot(0).locator(".point:visible, .contour:visible").count()).toBe(0);
  });
});

async function expectInView(page: Page, locator: Locator, what: string): Promise<void> {
  const { y, height } = (await locator.boundingBox())!;
  expect(y, what).toBeGreaterThanOrEqual(0);
  expect(y + Math.min(height, 60), what).toBeLessThanOrEqual(page.viewportSize()!.height);
}
