import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { saveScreenshot } from "./browser.ts";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const PHONE = { deviceScaleFactor: 2, hasTouch: true, isMobile: true };

/** The windows in which every page must work, for `test.each`. */
export const SIZES: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ["1440x900", { viewport: { width: 1440, height: 900 } }],
  ["1024x768", { viewport: { width: 1024, height: 768 } }],
  ["390x844", { viewport: { width: 390, height: 844 }, ...PHONE }],
  ["320x568", { viewport: { width: 320, height: 568 }, ...PHONE }],
];

/** Expects a page without overflow and, in both themes, without accessibility violations. Leaves it in the light theme. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await saveScreenshot(page, name.replaceAll(" ", "-"));
  expect(await violationsOf(page), name).toEqual([]);
  expect(await overflowOf(page), name).toBe(0);
  await page.emulateMedia({ colorScheme: "dark" });
  await saveScreenshot(page, `${name.replaceAll(" ", "-")}-dark`);
  // The themes differ in colours alone.
  expect(await violationsOf(page, ["color-contrast"]), `${name}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Returns the violations of all rules, or of some, that axe finds, except those of minor impact. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(AXE);
  const options = rules ? { runOnly: rules } : {};
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact !== "minor")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    );
}

/** Returns by how many pixels the page is wider than the window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** Expects that an element can be scrolled to, and then is on the screen. */
export async function expectReachable(element: Locator): Promise<void> {
  await element.scrollIntoViewIfNeeded();
  await expectOnScreen(element);
}

/** Expects that the start of an element is in the window without scrolling, neither cut off nor covered. */
export async function expectOnScreen(element: Locator): Promise<void> {
  expect(await element.evaluate(hiddenPointsOf), `${element} must be on the screen`).toEqual([]);
}

/** The parts of the DOM that `hiddenPointsOf` uses. Tests are compiled without the types of the DOM. */
interface PageElement {
  readonly ownerDocument: { elementFromPoint(x: number, y: number): unknown };
  getBoundingClientRect(): Readonly<Record<"left" | "top" | "right" | "bottom", number>>;
  contains(other: unknown): boolean;
}

/** Lists points at the edges and in the middle of an element that are not visible. Runs in the page. */
function hiddenPointsOf(element: PageElement): string[] {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  // A tall element may continue below the window.
  const end = Math.min(bottom, top + 60);
  const [x, y] = [(left + right) / 2, (top + end) / 2];
  const points = [
    [left + 2, y],
    [right - 2, y],
    [x, top + 1],
    [x, end - 1],
    [x, y],
  ] as const;
  return points
    .filter((point) => !element.contains(element.ownerDocument.elementFromPoint(...point)))
    .map((point) => point.map(Math.round).join(", "));
}

/** A place on the page in pixels. */
export interface PageBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the places of all elements of a locator, which must be displayed. */
export async function boxesOf(elements: Locator): Promise<PageBox[]> {
  return Promise.all((await elements.all()).map(async (one) => (await one.boundingBox())!));
}

/** Whether two places have a pixel in common. */
export function overlap(one: PageBox, other: PageBox): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
