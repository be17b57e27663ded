import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, Download, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { enterKey, hasBrowser, signOut, startBrowser } from "../support/browser.ts";
import { FACES } from "../support/faces.ts";
import { type FaultyProxy, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { photograph } from "../support/images.ts";
import { openPlayground, sampleFile, type UploadFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

const TEXT: UploadFile = { name: "=notes.txt", mimeType: "text/plain", buffer: Buffer.from("no photo") };

describe.runIf(hasBrowser)("a batch of photos", () => {
  let service: RunningService;
  let proxy: FaultyProxy;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
    proxy = await startFaultyProxy(service);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await service?.close();
  });

  async function openBatch(...files: UploadFile[]) {
    const playground = await openPlayground(browser, proxy);
    onTestFinished(() => proxy.setFault(undefined));
    const batch = playground.page.getByRole("region", { name: "Batch", exact: true });
    return { ...playground, batch, addBatch: () => chooseFiles(playground.page, files) };
  }

  test("analyses several photos, each of which fails alone, and exports them", async () => {
    const { page, batch, addBatch } = await openBatch(sampleFile(4), sampleFile(5), TEXT);
    await addBatch();
    await batch.getByText("3 of 3 photos").waitFor();
    expect(await batch.locator(".batch-summary").textContent()).toBe(
      `3 of 3 photos · ${FACES[4].length + FACES[5].length} faces · 1 failed`,
    );
    const row = (name: string) => batch.getByRole("row", { name });
    expect(await batch.getByRole("button", { name: "Retry failed" }).isVisible()).toBe(false);
    expect(await row("sample4.jpg").textContent()).toMatch(/4 faces: \w+ \(\d+%\) \d+–\d+ \(\d+%\), /);
    expect(await row("=notes.txt").textContent()).toContain("is not a JPEG or PNG image");
    expect(await row("sample4.jpg").locator("img").count()).toBe(1);

    const csv = await savedBy(page, "Download CSV");
    const lines = csv.split("\r\n").filter(Boolean);
    expect(lines).toHaveLength(1 + FACES[4].length + FACES[5].length + 1);
    expect(lines.at(-1)).toMatch(/^'=notes\.txt,/);
    const { photos } = JSON.parse(await savedBy(page, "Download JSON"));
    expect(photos.map(({ file }: { file: string }) => file)).toEqual([
      "sample4.jpg",
      "sample5.jpg",
      "=notes.txt",
    ]);
    expect(photos[0].response.faces).toHaveLength(4);

    // The result of a single photo is not that of the batch.
    expect(await page.locator("#result").isVisible()).toBe(false);
    await row("sample5.jpg").getByRole("button", { name: "Open" }).click();
    await page.locator(".about", { hasText: "sample5.jpg" }).waitFor();
    await page.locator("#result .face-rows").waitFor();
    await batch.getByRole("button", { name: "Close" }).click();
    expect(await batch.count()).toBe(0);
  });

  test("returns embeddings if the operation does", async () => {
    const { page, batch, selectOperation, addBatch } = await openBatch(sampleFile(3), sampleFile(3));
    await selectOperation("Embedding");
    await addBatch();
    await batch.getByText("2 of 2 photos").waitFor();
    const { photos } = JSON.parse(await savedBy(page, "Download JSON"));
    expect(photos[1].response.faces[0].embedding.values).toHaveLength(128);
  });

  test("waits as Retry-After says, can be stopped, and continues where it was", async () => {
    const { page, batch, addBatch } = await openBatch(...Array.from({ length: 5 }, () => sampleFile(3)));
    let rejected = 0;
    proxy.setFault((_, response) => {
      rejected++;
      response.writeHead(503, { "retry-after": "30", "content-type": "application/json" });
      response.end(JSON.stringify({ code: 14, message: "Busy.", reason: "OVERLOADED", retryable: true }));
    });
    await addBatch();
    await batch.getByText(/^Busy\. The batch continues in \d+ seconds\.$/).waitFor();
    // The photos that were sent together are rejected one after another.
    await expect.poll(() => rejected).toBe(3);
    await batch.getByRole("button", { name: "Stop" }).click();
    expect(await batch.getByRole("row", { name: /Waiting/ }).count()).toBe(5);
    expect(rejected).toBe(3);
    proxy.setFault(undefined);
    await batch.getByRole("button", { name: "Continue" }).click();
    await batch.getByText("5 of 5 photos").waitFor();
    const announced = page.getByRole("status");
    await expect.poll(() => announced.textContent()).toBe("Batch finished: 5 of 5 photos · 15 faces.");
  });

  test("asks for a missing API key and goes on with it", async () => {
    const { page, batch, addBatch } = await openBatch(sampleFile(3), sampleFile(5));
    await signOut(page);
    await addBatch();
    await batch.getByText(/^Enter an API key\./).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("api-key-input");
    await enterKey(page, USER);
    await batch.getByRole("button", { name: "Continue" }).click();
    await batch.getByText("2 of 2 photos").waitFor();
  });

  test("a dropped folder becomes a batch of the images in it and in its folders", async () => {
    const folder = createFolder({
      "holiday/photo 10.jpg": photograph(4),
      "holiday/photo 9.jpg": photograph(3),
      "holiday/day 2/photo 9.JPG": photograph(5),
      "holiday/day 2/phone.heic": Buffer.from("\0\0\0\u0018ftypheic\0\0\0\0mif1heic", "latin1"),
      "holiday/notes.txt": Buffer.from("no photo"),
      "holiday/._photo 9.jpg": Buffer.from("written by another system"),
    });
    const { page, batch } = await openBatch();
    await dropOnPage(page, join(folder, "holiday"));
    await batch.getByText("4 of 4 photos").waitFor();
    expect(await batch.locator("tbody th").allTextContents()).toEqual([
      "holiday/day 2/phone.heic",
      "holiday/day 2/photo 9.JPG",
      "holiday/photo 9.jpg",
      "holiday/photo 10.jpg",
    ]);
    expect(await batch.locator("tr", { hasText: "phone.heic" }).textContent()).toContain(
      "Export it as JPEG first.",
    );
    const faces = FACES[3].length + FACES[4].length + FACES[5].length;
    await batch.getByText(`${faces} faces · 1 failed`).waitFor();
  });

  test("a folder is listed only until it has too many photos", async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `many/${i}.jpg`);
    const folder = createFolder(Object.fromEntries(names.map((name) => [name, Buffer.from("no photo")])));
    const { page, batch } = await openBatch();
    await watchReads(page);
    await dropOnPage(page, join(folder, "many"));
    await batch.getByText("More than 2000 photos are in many. A batch has at most 2000 photos").waitFor();
    expect(await page.evaluate("foldersReadToTheEnd")).toBe(0);
    expect(await batch.locator("tbody tr").count()).toBe(2000);
  });

  test("a file or folder that cannot be read is named, and the others are analysed", async () => {
    const folder = createFolder({
      "holiday/a.jpg": photograph(3),
      "holiday/b.jpg": photograph(3),
      "holiday/c/d.jpg": photograph(3),
      "holiday/e.jpg": photograph(5),
    });
    const { page, batch } = await openBatch();
    await watchReads(page, ["/holiday/c", "/holiday/b.jpg"], (path) =>
      rmSync(join(folder, path), { recursive: true }),
    );
    await dropOnPage(page, join(folder, "holiday"));
    await batch.getByText("Cannot be read: holiday/b.jpg, holiday/c.").waitFor();
    await batch.getByText("2 of 2 photos").waitFor();
    expect(await page.evaluate("foldersReadToTheEnd")).toBe(1);
    expect(await batch.locator("tbody th").allTextContents()).toEqual(["holiday/a.jpg", "holiday/e.jpg"]);
  });

  test("a folder of which nothing can be read is reported where a photo would be", async () => {
    const folder = createFolder({ "gone/a.jpg": photograph(3) });
    const { page, slot } = await openBatch();
    await watchReads(page, ["/gone"], () => rmSync(join(folder, "gone"), { recursive: true }));
    await dropOnPage(page, join(folder, "gone"));
    await slot(0).getByText("gone has no photos. Cannot be read: gone.").waitFor();
  });

  test.each([1440, 320])("shows the name of a file in a long folder at %i pixels", async (width) => {
    const path = `${"a folder with a long name/".repeat(4)}photo 12.jpg`;
    const folder = createFolder({ [path]: photograph(3) });
    const { page, batch } = await openBatch();
    await page.setViewportSize({ width, height: 800 });
    await dropOnPage(page, join(folder, path.split("/")[0]!));
    await batch.getByText("1 of 1 photo").waitFor();
    expect(await batch.locator("tbody th").getAttribute("title")).toBe(path);
    expect(await batch.locator("tbody th").textContent()).toBe(path);
    const isCut = (part: string) =>
      page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector("${part}"))`,
      );
    expect(await isCut(".batch-folder")).toBe(true);
    expect(await isCut(".batch-file")).toBe(false);
    const name = batch.locator(".batch-file", { hasText: /^photo 12\.jpg$/ });
    const [cell, box] = [await batch.locator("tbody th").boundingBox(), await name.boundingBox()];
    expect(box!.x + box!.width).toBeLessThanOrEqual(cell!.x + cell!.width);
  });

  test("a dropped folder without images is reported where a photo would be", async () => {
    const folder = createFolder({ "papers/notes.txt": Buffer.from("no photo") });
    const { page, slot, result } = await openBatch();
    await dropOnPage(page, join(folder, "papers"));
    await slot(0).getByText("papers has no photos.").waitFor();
    expect(await result.textContent()).toContain("Add a photo to see results.");
    expect(await page.locator(".batch").count()).toBe(0);
  });

  test("more photos than a batch may have are not added", async () => {
    // The photos at the start hold the batch, which would otherwise finish before it can be stopped.
    const held = Array.from({ length: 3 }, () => sampleFile(3));
    const texts = Array.from({ length: 2001 - held.length }, (_, i) => ({ ...TEXT, name: `${i}.txt` }));
    const { batch, addBatch } = await openBatch(...held, ...texts);
    proxy.setFault(neverAnswer);
    await addBatch();
    await batch.getByText("A batch has at most 2000 photos; the others were not added.").waitFor();
    await batch.getByRole("button", { name: "Stop" }).click();
    await batch.getByText("Stopped. The results so far are kept.").waitFor();
    expect(await batch.locator("tbody tr").count()).toBe(2000);
  });

  test("500 photos leave no pixels behind", async () => {
    const buffer = await sharp(photograph(3)).resize(64).jpeg().toBuffer();
    const files = Array.from({ length: 500 }, (_, i) => ({
      name: `photo-${i}.jpg`,
      mimeType: "image/jpeg",
      buffer,
    }));
    const { page, batch, addBatch } = await openBatch(...files);
    await page.evaluate(COUNT_OBJECT_URLS);
    await addBatch();
    await batch.getByText("500 of 500 photos").waitFor({ timeout: 240_000 });
    expect(await batch.locator("tbody tr").count()).toBe(500);
    expect(await page.evaluate("openObjectUrls")).toBe(0);
    expect(
      await page.evaluate(
        "Math.max(...[...document.querySelectorAll('.batch img')].map((image) => image.src.length))",
      ),
    ).toBeLessThan(8000);
  }, 300_000);
});

const COUNT_OBJECT_URLS = `
  globalThis.openObjectUrls = 0;
  const { createObjectURL, revokeObjectURL } = URL;
  URL.createObjectURL = (blob) => (openObjectUrls++, createObjectURL.call(URL, blob));
  URL.revokeObjectURL = (url) => (openObjectUrls--, revokeObjectURL.call(URL, url));
`;

/** Writes files into a new folder, which is removed at the end of the test. */
function createFolder(files: Readonly<Record<string, Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "visage-drop-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Drops a file or folder of this machine, as a user does; events made by a script have no folders. */
async function dropOnPage(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await page.evaluate("scrollTo(0, 0)");
  const { x, y } = (await page.locator('[data-slot="0"]').boundingBox())!;
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: x + 20, y: y + 20, data });
}

/**
 * Counts the dropped folders that the page reads to the end, and calls a function before it reads one of the files or
 * folders with these paths in the drop.
 */
async function watchReads(
  page: Page,
  paths: readonly string[] = [],
  before: (path: string) => void = () => {},
): Promise<void> {
  await page.exposeFunction("beforeRead", before);
  await page.evaluate(`
    globalThis.foldersReadToTheEnd = 0;
    const watched = new Set(${JSON.stringify(paths)});
    const watch = (entry) => {
      const before = () => (watched.has(entry.fullPath) ? beforeRead(entry.fullPath) : Promise.resolve());
      const { createReader, file } = entry;
      entry.createReader = () => {
        const reader = createReader.call(entry);
        const readEntries = (resolve, reject) => {
          const onEntries = (entries) => {
            if (entries.length === 0) foldersReadToTheEnd++;
            resolve(entries.map(watch));
          };
          before().then(() => reader.readEntries(onEntries, reject));
        };
        return { readEntries };
      };
      entry.file = (resolve, reject) => before().then(() => file.call(entry, resolve, reject));
      return entry;
    };
    const { webkitGetAsEntry } = DataTransferItem.prototype;
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      return watch(webkitGetAsEntry.call(this));
    };
  `);
}

async function chooseFiles(page: Page, files: readonly UploadFile[]): Promise<void> {
  await page.locator('[data-slot="0"] input[type=file]').setInputFiles([...files]);
}

async function savedBy(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".batch").getByRole("button", { name: button }).click(),
  ]);
  return readFileSync(await (download as Download).path(), "utf8");
}
