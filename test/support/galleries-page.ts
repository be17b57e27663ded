import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import type { Sharp } from "sharp";
import { expect, onTestFinished } from "vitest";
import { openTab } from "./browser.ts";
import { cropPhotograph, FACES, growBox, type Sample } from "./faces.ts";
import type { UploadFile } from "./playground.ts";
import { USER } from "./service.ts";

/** Drives the galleries page in a tab like a user. */
export interface GalleriesPage {
  readonly page: Page;
  /** Creates a gallery and waits until it is shown. */
  create(name: string): Promise<void>;
  /** Drops photos of a person and waits until all are through. Returns the summary. */
  enrol(name: string, ...files: UploadFile[]): Promise<string>;
  /** Drops a photo on "Who is this?" and waits for the result. */
  identify(file: UploadFile): Promise<void>;
  readonly result: Locator;
  /** The row of a person. */
  person(name: string): Locator;
}

/** Opens the page for the test user. At the end of the test it expects no error and no request to another origin. */
export async function openGalleries(
  browser: Browser,
  { port }: { readonly port: number },
  options: BrowserContextOptions = {},
): Promise<GalleriesPage> {
  const url = `http://127.0.0.1:${port}/galleries#user_id=${USER}`;
  const { page, consoleErrors, foreignOrigins } = await openTab(browser, url, options);
  onTestFinished(() =>
    expect({ consoleErrors, foreignOrigins }).toEqual({ consoleErrors: [], foreignOrigins: [] }),
  );
  const result = page.locator("#identify-result");
  return {
    page,
    result,
    person: (name) => page.locator(".person", { has: page.getByRole("heading", { name, exact: true }) }),
    create: async (name) => {
      const form = page.locator("#create-form");
      await page.locator("#create").waitFor();
      if (!(await form.isVisible())) await page.getByText("New gallery").click();
      await form.getByLabel("Name").fill(name);
      await form.getByRole("button", { name: "Create gallery" }).click();
      await page.getByRole("heading", { name, exact: true, level: 2 }).waitFor();
      await page.getByText("Nobody is enrolled yet.").waitFor();
    },
    enrol: async (name, ...files) => {
      await page.locator("#person-name").fill(name);
      await dropFiles(page.locator("#enrol-zone .drop-zone"), files);
      const summary = page.getByText(/\d+ photos? enrolled/);
      await summary.waitFor();
      return (await summary.textContent())!;
    },
    identify: async (file) => {
      // The page removes an earlier result at once.
      await dropFiles(page.locator("#identify-zone .drop-zone"), [file]);
      await result.locator("> *").first().waitFor();
    },
  };
}

/** Drops files on an element, as the browser does after a drag. */
export async function dropFiles(target: Locator, files: readonly UploadFile[]): Promise<void> {
  const list = files.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    base64: buffer.toString("base64"),
  }));
  const dataTransfer = await target.page().evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const { name, mimeType, base64 } of ${JSON.stringify(list)}) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: mimeType }));
    }
    return transfer;
  })()`);
  await target.dispatchEvent("drop", { dataTransfer });
}

/** Cuts one labelled face with some surroundings out of a photograph. `side` is that of the picture in pixels. */
export async function portrait(sample: Sample, face: number): Promise<UploadFile> {
  return upload(sample, face, cropPortrait(sample, face));
}

/** The same photo, too blurred to be enrolled. */
export async function blurredPortrait(sample: Sample, face: number): Promise<UploadFile> {
  return upload(sample, face, cropPortrait(sample, face).blur(14));
}

function cropPortrait(sample: Sample, face: number): Sharp {
  return cropPhotograph(sample, growBox(FACES[sample][face]!, 1.8)).resize(400, 400);
}

async function upload(sample: Sample, face: number, photo: Sharp): Promise<UploadFile> {
  const buffer = await photo.jpeg().toBuffer();
  return { name: `portrait-${sample}-${face}.jpg`, mimeType: "image/jpeg", buffer };
}
