import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { enterKey, openTab } from "./browser.ts";
import { photograph } from "./images.ts";
import { USER } from "./service.ts";

/** A file to upload. */
export interface UploadFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** Drives the playground in a tab like a user. */
export interface Playground {
  readonly page: Page;
  /** Selects an operation by the start of its label. */
  selectOperation(operation: "Match" | "Attributes" | "Embedding"): Promise<void>;
  /** Adds photos through the file input of slot 0 or 1, and waits for the result if they are complete. */
  addPhotos(slot: number, ...files: UploadFile[]): Promise<void>;
  /** Presses the button of the operation and waits for a new result. */
  run(): Promise<void>;
  /** Opens the options. */
  openOptions(): Promise<void>;
  slot(index: number): Locator;
  /** The result panel. */
  readonly result: Locator;
}

/** Returns a sample photograph as a file. */
export function sampleFile(number: Parameters<typeof photograph>[0]): UploadFile {
  return { name: `sample${number}.jpg`, mimeType: "image/jpeg", buffer: photograph(number) };
}

/** The boxes in a displayed response, in its order. */
export function boxesIn(response: string): number[][] {
  return [
    ...response.matchAll(/"box": \{ "x1": ([\d.]+), "y1": ([\d.]+), "x2": ([\d.]+), "y2": ([\d.]+)/g),
  ].map(([, ...corners]) => corners.map(Number));
}

/** The address of an image, or null while there is none. */
async function sourceOf(image: Locator): Promise<string | null> {
  const [source] = await image.evaluateAll((images) => images.map((one) => one.getAttribute("src")));
  return source ?? null;
}

/** Presses a button that saves a file, and returns the file. */
export async function savedBy(button: Locator): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [download] = await Promise.all([button.page().waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/**
 * Opens the playground of a service, waits for its first result and enters the test user's API key. At the end of the test it checks that the page
 * logged no error and requested nothing from another origin.
 */
export async function openPlayground(
  browser: Browser,
  { port }: { readonly port: number },
  options: BrowserContextOptions = {},
): Promise<Playground> {
  const { page, consoleErrors, foreignOrigins } = await openTab(
    browser,
    `http://127.0.0.1:${port}/`,
    options,
  );
  onTestFinished(() =>
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] }),
  );
  await page.locator("#result .headline").waitFor();
  await enterKey(page, USER);
  const slot = (index: number) => page.locator(`[data-slot="${index}"]`);
  const result = page.locator("#result");
  const openOptions = async () => {
    await page.locator("details.more:not([open]) summary").click();
    await page.locator("details.more[open]").waitFor();
  };
  return {
    page,
    result,
    slot,
    openOptions,
    selectOperation: async (operation) => {
      await page.getByRole("radio", { name: new RegExp(`^${operation}`) }).check();
    },
    addPhotos: async (index, ...files) => {
      const images = files.map((_, i) => slot(index + i).locator("img"));
      const sources = () => Promise.all(images.map(sourceOf));
      const before = await sources();
      await slot(index).locator("input[type=file]").setInputFiles(files);
      // The slots may display earlier photos, and the first photo may be opened last.
      const isReplaced = (source: string | null, i: number) => ![null, before[i]].includes(source);
      await expect.poll(async () => (await sources()).every(isReplaced)).toBe(true);
      await page.locator("#result[aria-busy=false]").waitFor();
    },
    run: async () => {
      // Adding photos may have started a request.
      await page.locator("#result[aria-busy=false]").waitFor();
      const before = await page.locator("#result-body > *").first().elementHandle();
      await page.locator("#run").click();
      await before?.waitForElementState("hidden");
      await page.locator("#result-body :is(.headline, .failure)").waitFor();
      await page.locator("#result[aria-busy=false]").waitFor();
    },
  };
}
