import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { saveScreenshot } from "./browser.ts";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const PHONE = { deviceScaleFactor: 2, hasTouch: true, isMobile: true };

/** The windows in which every page must work. */
const SIZES: Readonly<Record<string, BrowserContextOptions>> = {
  "1440x900": { viewport: { width: 1440, height: 900 } },
  "1024x768": { viewport: { width: 1024, height: 768 } },
  "390x844": { viewport: { width: 390, height: 844 }, ...PHONE },
  "320x568": { viewport: { width: 320, height: 568 }, ...PHONE },
};

/** Every size in both themes, for `test.each`. */
export const SIZES_AND_THEMES: readonly (readonly [name: string, options: BrowserContextOptions])[] =
  Object.entries(SIZES).flatMap(([size, options]) =>
    (["light", "dark"] as const).map(
      (colorScheme) => [`${size} ${colorScheme}`, { ...options, colorScheme }] as const,
    ),
  );

/** Expects a page without accessibility violations and without overflow, and saves a screenshot for review. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await saveScreenshot(page, name.replaceAll(" ", "-"));
  expect(await violationsOf(page), name).toEqual([]);
  expect(await overflowOf(page), name).toBe(0);
}

/** Returns the violations that axe finds, except those of minor impact. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
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
