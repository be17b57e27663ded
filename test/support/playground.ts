import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openTab } from "./browser.ts";
import { photograph } from "./images.ts";
import { USER } from "./service.ts";

/** A file as a person would choose it. */
export interface GivenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** The playground in a tab, by what a person does with it. */
export interface Playground {
  readonly page: Page;
  /** Chooses an operation by the beginning of its name. */
  choose(operation: "Match" | "Attributes" | "Vector" | "Compare"): Promise<void>;
  /** Gives photos by the button of a slot, 0 or 1. */
  give(slot: number, ...files: GivenFile[]): Promise<void>;
  /** Presses the button of the operation, and waits for what comes of it. */
  run(): Promise<void>;
  slot(index: number): Locator;
  /** What the result says. */
  readonly result: Locator;
}

/** A sample photograph as a file. */
export function sampleFile(number: Parameters<typeof photograph>[0]): GivenFile {
  return { name: `sample${number}.jpg`, mimeType: "image/jpeg", buffer: photograph(number) };
}

/**
 * Opens the playground of a service, with the user id of tests. When the test is over it must have kept to its
 * content policy, have thrown nothing and have asked no other origin for anything.
 */
export async function openPlayground(
  browser: Browser,
  { port }: { readonly port: number },
  options: BrowserContextOptions = {},
): Promise<Playground> {
  const { page, complaints, strangers } = await openTab(browser, `http://127.0.0.1:${port}/`, options);
  onTestFinished(() => expect({ complaints, strangers }).toEqual({ complaints: [], strangers: [] }));
  await page.getByLabel("User id").fill(USER);
  const slot = (index: number) => page.locator(`[data-slot="${index}"]`);
  const result = page.locator("#result");
  return {
    page,
    result,
    slot,
    choose: (operation) => page.getByRole("radio", { name: new RegExp(`^${operation}`) }).check(),
    give: async (index, ...files) => {
      const last = slot(index + files.length - 1).locator("img");
      const sourceOf = async () => ((await last.count()) > 0 ? last.getAttribute("src") : null);
      const before = await sourceOf();
      await slot(index).locator("input[type=file]").setInputFiles(files);
      // A photo that was there before does not count.
      await expect.poll(sourceOf, { timeout: 20_000 }).not.toBe(before);
    },
    run: async () => {
      const before = await page.locator("#result-body > *").first().elementHandle();
      await page.locator("#run").click();
      await before?.waitForElementState("hidden");
    },
  };
}
