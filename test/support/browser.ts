import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { findChromium, sandboxArguments } from "../../tools/support/chromium.ts";

// In CI a missing tool must fail the tests.
const isCi = process.env.CI === "true";

const program = findChromium();

/** Whether browser tests run. Without Chromium they are skipped, except in CI, where they fail. */
export const hasBrowser = program !== undefined || isCi;
if (!hasBrowser) console.warn("Chromium is not installed: browser tests are skipped.");

const ARTIFACTS = join(import.meta.dirname, "../artifacts");

/** Starts Chromium with a fake camera that pages may use. */
export async function startBrowser(): Promise<Browser> {
  if (!program) throw new Error("Chromium is not installed.");
  const camera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
  return chromium.launch({ executablePath: program, args: [...camera, ...sandboxArguments()] });
}

/** A browser tab, and what must not happen in it. */
export interface Tab {
  readonly page: Page;
  /** Errors on the console, which include violations of the content security policy. */
  readonly consoleErrors: string[];
  /** Origins other than the page's own that the page requested. */
  readonly foreignOrigins: string[];
}

/** Agrees to use the API key of the link that was opened. */
export function agreeToLink(page: Page): Promise<void> {
  return page.getByRole("dialog").getByRole("button", { name: "Use it" }).click();
}

/** Opens a URL in a new tab, which is closed at the end of the test. Agrees to use the API key of the URL, if any. */
export async function openTab(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const consoleErrors: string[] = [];
  const foreignOrigins: string[] = [];
  page.on("console", (message) => {
    // Chromium also reports HTTP error statuses here, which the page handles itself.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      consoleErrors.push(message.text());
  });
  page.on("pageerror", ({ message }) => consoleErrors.push(message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) foreignOrigins.push(origin);
  });
  await page.goto(url);
  if (url.includes("#user_id=")) await agreeToLink(page);
  return { page, consoleErrors, foreignOrigins };
}

/** Enters an API key in the dialog of the header, which must be open or closed. */
export async function enterKey(page: Page, key: string): Promise<void> {
  const field = page.getByLabel("API key", { exact: true });
  if (!(await field.isVisible())) await page.locator("#api-key").click();
  await field.fill(key);
  await page.getByRole("button", { name: "Use key" }).click();
  await field.waitFor({ state: "hidden" });
}

/** Forgets the API key, and waits for the page that is loaded again. */
export async function signOut(page: Page): Promise<void> {
  await page.locator("#api-key").click();
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Sign out" }).click()]);
  await page.getByText("API key not set").waitFor();
}

/** Saves a screenshot of the whole page for review, if `SCREENSHOTS` is set. It takes a second. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}
