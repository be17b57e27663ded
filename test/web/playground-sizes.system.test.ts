import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { enterKey, hasBrowser, openTab, signOut, startBrowser } from "../support/browser.ts";
import { boxesOf, checkPage, overlap, type PageBox, SIZES } from "../support/page-checks.ts";
import { openPlayground, sampleFile } from "../support/playground.ts";
import { startTestService } from "../support/service.ts";

describe.runIf(hasBrowser)("the playground in every size and theme", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test.each(SIZES)("a first visit explains itself at %s", async (name, options) => {
    const { page } = await openTab(browser, `http://127.0.0.1:${service.port}/`, options);
    const result = page.locator("#result");
    await result.locator(".headline").waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
    await expectInView(page, page.locator('[data-slot="0"] img'));
    for (const text of [
      "sent only to this service, which does not store them",
      "both in the public domain",
      "“Same person” is one photo and an edited copy of it",
      "Age and gender are estimates from appearance and can be wrong.",
      "Drop several photos or a folder to analyse them as a batch.",
    ])
      expect(await page.getByText(text).isVisible(), text).toBe(true);
    await page.getByText("Service ready").waitFor();

    await page.getByRole("button", { name: "Same person" }).click();
    await page.getByText("A sample: the other photo, mirrored, tilted and without colour.").waitFor();
    await result.locator(".verdict.match").waitFor();
    await expectInView(page, result.locator(".headline"));
    await expectReadable(page);

    await result.getByRole("button", { name: "Enter an API key" }).click();
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("api-key-input");
    await checkPage(page, `api key ${name}`);
    await enterKey(page, "me");
    await result.getByText("Stored result of a sample. Add your own photo.").waitFor();
    await page.locator(".more summary").click();
    const widths = await boxesOf(page.locator(".options input:visible"));
    expect(new Set(widths.map(({ width }) => width))).toEqual(new Set([18]));
    await checkPage(page, `playground options ${name}`);
  });

  test.each(SIZES)("an error is where the eye is at %s", async (name, options) => {
    const { page, slot, result } = await openPlayground(browser, service, options);
    await page.evaluate("scrollTo(0, 0)");
    const heic = Buffer.from("\0\0\0\u0018ftypheic\0\0\0\0mif1heic", "latin1");
    await slot(0)
      .locator("input[type=file]")
      .setInputFiles({ name: "phone.heic", mimeType: "image/heic", buffer: heic });
    const problem = slot(0).getByText("phone.heic is a HEIC photo");
    await problem.waitFor();
    await expectInView(page, problem);
    expect(await result.textContent()).toContain("Add a photo to see results.");
    await checkPage(page, `playground bad-file ${name}`);

    await signOut(page);
    await slot(0).locator("input[type=file]").setInputFiles(sampleFile(3));
    const failure = result.locator(".failure");
    await failure.waitFor();
    await expectInView(page, failure);
    await failure.getByRole("button", { name: "Enter an API key" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await checkPage(page, `playground no-api-key ${name}`);
  });

  test.each(SIZES)("zooms, and numbers every face of a pair readably at %s", async (name, options) => {
    const { page, addPhotos, selectOperation, slot, result } = await openPlayground(
      browser,
      service,
      options,
    );
    await addPhotos(0, sampleFile(4));
    await expectNumbers(slot(0), 4);
    await slot(0).getByRole("button", { name: "Landmarks" }).click();
    expect(await slot(0).locator(".point:visible").count()).toBe(0);
    await slot(0).getByRole("button", { name: "Zoom in" }).click();
    expect(await slot(0).locator(".zoom").textContent()).toBe("150%");
    await slot(0).getByRole("button", { name: "Zoom out" }).click();
    await selectOperation("Match");
    await addPhotos(1, sampleFile(5));
    await slot(1)
      .getByRole("button", { name: /^Face 5/ })
      .waitFor();
    await expectNumbers(slot(0), 4);
    await expectNumbers(slot(1), 5);
    await expectReadable(page);
    // The button of a face is beside its text, not on it.
    for (const row of await result.locator(".face-row").all()) {
      const [button] = await boxesOf(row.locator("button"));
      for (const text of await boxesOf(row.locator("h3, .face-summary")))
        expect(overlap(button!, text)).toBe(false);
    }
    await checkPage(page, `playground pair ${name}`);
  });
});

/** Expects the numbers of all faces, each beside the others and outside the middle of every face. */
async function expectNumbers(slot: Locator, count: number): Promise<void> {
  expect(await slot.locator(".number").allTextContents()).toEqual(
    Array.from({ length: count }, (_, i) => String(i + 1)),
  );
  const numbers = await boxesOf(slot.locator(".number"));
  const [photo] = await boxesOf(slot.locator("img"));
  const faces = (await boxesOf(slot.locator(".box"))).map(middleOf);
  for (const [i, number] of numbers.entries()) {
    expect(number.height).toBeGreaterThanOrEqual(14);
    expect(number.x + number.width).toBeLessThanOrEqual(photo!.x + photo!.width + 1);
    for (const other of numbers.slice(i + 1)) expect(overlap(number, other)).toBe(false);
    for (const face of faces) expect(overlap(number, face)).toBe(false);
  }
}

/** Expects that no text is cut off and nothing sticks out of its panel, except where it scrolls. */
async function expectReadable(page: Page): Promise<void> {
  const cut = await page.evaluate<string[]>(`[...document.querySelectorAll("main *")]
    .filter((element) => element.offsetWidth > 1 && element.scrollWidth > element.clientWidth + 1)
    .filter((element) => getComputedStyle(element).overflowX === "hidden" || element.matches("button"))
    .map((element) => element.className + ": " + element.textContent)`);
  expect(cut).toEqual([]);
  const outside = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll(".panel :is(button, input, p)")]
    .filter((element) => element.offsetWidth > 1 && !element.closest(".stage, .matrix-box, .json"))
    .filter((element) => element.getBoundingClientRect().right > element.closest(".panel").getBoundingClientRect().right - 8)
    .map((element) => element.id || element.textContent)`);
  expect(outside).toEqual([]);
}

async function expectInView(page: Page, locator: Locator): Promise<void> {
  const { y, height } = (await locator.boundingBox())!;
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y + Math.min(height, 60)).toBeLessThanOrEqual(page.viewportSize()!.height);
}

/** The half of a box in its middle. */
function middleOf({ x, y, width, height }: PageBox): PageBox {
  return { x: x + width / 4, y: y + height / 4, width: width / 2, height: height / 2 };
}
