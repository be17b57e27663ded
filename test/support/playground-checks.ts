import type { Page } from "playwright-core";
import { expect } from "vitest";
import { SAMPLE_LANGUAGES } from "../../src/web/samples/samples.ts";
import { expectOnScreen, expectReachable, overflowOf } from "./page-checks.ts";
import { boxesIn, type Playground } from "./playground.ts";
import { USER } from "./service.ts";

/** Expects that the photo, the rows and the response give the same numbers to the same faces. Selects the last one. */
export async function expectSameNumbers({ page, slot, result }: Playground, count: number): Promise<void> {
  const text = (await page.locator("#response").textContent())!;
  const boxes = boxesIn(text).map((box, i) => ({ number: i + 1, box }));
  expect(boxes).toHaveLength(count);
  const photo = (await slot(0).locator("img").boundingBox())!;
  const scale = photo.width / 1920;
  for (const { number, box } of boxes) {
    const row = result.getByRole("listitem").nth(number - 1);
    expect(await row.locator("h3").textContent()).toBe(`Face ${number} response.faces[${number - 1}]`);
    const face = slot(0).getByRole("button", { name: new RegExp(`^Face ${number}:`) });
    expect(await face.locator(".number").textContent()).toBe(String(number));
    // The row may be above or below the photo, so the place is measured where the page is scrolled now.
    const [origin, place] = [(await slot(0).locator("img").boundingBox())!, (await face.boundingBox())!];
    expect(Math.abs(place.x - origin.x - scale * box[0]!)).toBeLessThan(3);
    expect(Math.abs(place.y - origin.y - scale * box[1]!)).toBeLessThan(3);
    const select = row.getByRole("button", { name: "Select" });
    await expectReachable(select);
    await select.click();
    expect(await face.getAttribute("aria-pressed")).toBe("true");
  }
}

/** Expects the code in every language, with whole lines in a block that scrolls, and a button that copies it. */
export async function expectCode(page: Page): Promise<void> {
  const code = page.locator("#code");
  const texts = new Set<string>();
  for (const { name } of SAMPLE_LANGUAGES) {
    const tab = page.getByRole("tab", { name, exact: true });
    await expectReachable(tab);
    await tab.click();
    expect(await tab.getAttribute("aria-selected")).toBe("true");
    const text = (await code.textContent())!;
    texts.add(text);
    await expectReachable(code);
    expect(await page.evaluate(`Math.round(${LINES_OF_CODE})`), name).toBe(text.split("\n").length);
    expect(await overflowOf(page), name).toBe(0);
  }
  expect(texts.size).toBe(SAMPLE_LANGUAGES.length);
  const copy = page.getByRole("button", { name: "Copy code" });
  await expectReachable(copy);
  await copy.click();
  await expectOnScreen(page.getByRole("button", { name: "Copied code" }));
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  // The page hides the API key in the code.
  expect(copied.replace(USER, "•".repeat(8))).toBe(await code.textContent());
}

/** The lines as they are displayed. */
const LINES_OF_CODE = `(({ clientHeight }, { paddingTop, lineHeight }) =>
  (clientHeight - 2 * Number.parseFloat(paddingTop)) / Number.parseFloat(lineHeight)
)(document.querySelector("#code"), getComputedStyle(document.querySelector("#code")))`;
