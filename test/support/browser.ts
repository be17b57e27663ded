import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

// CI must not pass because a tool is missing.
const isCi = process.env.CI === "true";

const program = findProgram();

/** Whether tests can have a browser. Without one they are passed over, except in CI, where they fail. */
export const hasBrowser = program !== undefined || isCi;
if (!hasBrowser) console.warn("No Chromium is on this machine: tests that need one are skipped.");

const ARTIFACTS = join(import.meta.dirname, "../artifacts");

/** Starts Chromium, with a made-up camera that it may use. */
export async function startBrowser(): Promise<Browser> {
  if (!program) throw new Error("No Chromium is on this machine.");
  const camera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
  // Its sandbox refuses to run as root.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: program, args: [...camera, ...sandbox] });
}

/** A tab and what went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** What the console tells as an error, breaches of the content policy among it. */
  readonly complaints: string[];
  /** Origins beside the page's own that were asked for something. */
  readonly strangers: string[];
}

/** Opens an address in a tab of its own, until the test is over. */
export async function openTab(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on("console", (message) => {
    // An operation that fails is told here too, by its status; that is for the page to show.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) strangers.push(origin);
  });
  await page.goto(url);
  return { page, complaints, strangers };
}

/** Keeps a picture of the whole page for people to look at. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
}

function findProgram(): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "chromium"))
    .find((path) => existsSync(path));
}
