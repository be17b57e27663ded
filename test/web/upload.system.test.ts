import { crc32 } from "node:zlib";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, startBrowser } from "../support/browser.ts";
import { FACES } from "../support/faces.ts";
import { startImageServer } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";
import { boxesIn, openPlayground, type Playground } from "../support/playground.ts";
import { startTestService } from "../support/service.ts";

/** Smaller than the photos of the tests about scaling. */
const MAX_PIXELS = 4_000_000;

describe.runIf(hasBrowser)("photos before they are sent", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    const env = {
      VISAGE_MAX_IMAGE_PIXELS: String(MAX_PIXELS),
      VISAGE_MAX_IMAGE_BYTES: "30000000",
      VISAGE_MAX_REQUEST_BYTES: "60000000",
      VISAGE_FETCH_ALLOW: "127.0.0.1",
    };
    [service, browser] = await Promise.all([startTestService(env), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test("a large photo is scaled down, and its boxes are those of the original", async () => {
    const playground = await openPlayground(browser, service);
    const { page, addPhotos, openOptions, result, slot } = playground;
    // Twice as large, and turned by its EXIF orientation.
    const buffer = await sharp(photograph(4))
      .resize(3840)
      .rotate(270)
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const large = { name: "large.jpg", mimeType: "image/jpeg", buffer };
    await addPhotos(0, large);
    expect(await slot(0).locator(".about").textContent()).toContain("3840 × 2896");
    await result.getByText("4 faces").waitFor();
    await expectBoxes(playground, 2);
    // The service rejects the original.
    await openOptions();
    await page.getByRole("checkbox", { name: /^Scale down/ }).uncheck();
    await page.locator("#run").click();
    await result.getByText(/Code\s*2005/).waitFor();
    await slot(0).locator("input[type=file]").setInputFiles(large);
    await slot(0).getByText("Turn on “Scale down large photos”").waitFor();
  });

  test("the box of a selected face is sent in pixels of the scaled photo", async () => {
    const playground = await openPlayground(browser, service);
    const { page, addPhotos, selectOperation, result, slot } = playground;
    const buffer = await sharp(photograph(4)).resize(3840).jpeg().toBuffer();
    await addPhotos(0, { name: "large.jpg", mimeType: "image/jpeg", buffer });
    await result.getByText("4 faces").waitFor();
    await slot(0)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    const sent = page.waitForRequest((request) => request.url().includes("boxes="));
    await selectOperation("Embedding");
    const box = new URL((await sent).url()).searchParams.get("boxes")!.split(",").map(Number);
    const shown = /boxes=([\d,]+)/
      .exec((await page.locator("#code").textContent())!)![1]!
      .split(",")
      .map(Number);
    // The height of the sent photo is rounded.
    for (const [i, position] of shown.entries())
      expect(Math.abs(box[i]! - (position * 2048) / 3840)).toBeLessThan(0.5);
    await result.getByText("Face 2 response.faces[0]").waitFor();
  });

  test.each(["webp", "avif"] as const)("%s is converted by the browser", async (format) => {
    const playground = await openPlayground(browser, service);
    const buffer = await sharp(photograph(4)).toFormat(format, { effort: 0 }).toBuffer();
    await playground.addPhotos(0, { name: `photo.${format}`, mimeType: `image/${format}`, buffer });
    await playground.result.getByText("4 faces").waitFor();
    expect(await playground.slot(0).locator(".about").textContent()).toContain(`photo.${format}`);
    expect(await playground.page.locator("#code").textContent()).toContain("photo.jpg");
    await expectBoxes(playground, 1);
  });

  test("a click on the empty area opens the file dialog, one on a photo does not", async () => {
    const { page, slot } = await openPlayground(browser, service);
    let dialogs = 0;
    page.on("filechooser", () => dialogs++);
    await slot(0)
      .locator(".stage")
      .click({ position: { x: 5, y: 5 } });
    await slot(0).getByRole("button", { name: "Remove" }).click();
    expect(dialogs).toBe(0);
    const chooser = page.waitForEvent("filechooser");
    await slot(0).getByText("Drop or paste a photo here").click();
    await (await chooser).setFiles({ name: "a.png", mimeType: "image/png", buffer: await huge("png") });
    expect(dialogs).toBe(1);
  });

  test.each(["png", "jpeg"] as const)(
    "a %s that is too large to be decoded is not damaged",
    async (format) => {
      const { slot } = await openPlayground(browser, service);
      const file = { name: `a.${format}`, mimeType: `image/${format}`, buffer: await huge(format) };
      await slot(0).locator("input[type=file]").setInputFiles(file);
      await slot(0)
        .getByText(/is too large for this browser: 30000 × 30000 pixels\. Make it smaller/)
        .waitFor();
      const damaged = { ...file, buffer: photograph(3).subarray(0, 200) };
      await slot(0).locator("input[type=file]").setInputFiles(damaged);
      await slot(0).getByText("is damaged and cannot be displayed").waitFor();
    },
  );

  test("a format that the browser cannot decode is explained", async () => {
    const { slot } = await openPlayground(browser, service);
    // The start of a HEIC file.
    const buffer = Buffer.from("\0\0\0\u0018ftypheic\0\0\0\0mif1heic", "latin1");
    await slot(0)
      .locator("input[type=file]")
      .setInputFiles({ name: "a.heic", mimeType: "image/heic", buffer });
    await slot(0)
      .getByText("a.heic is a HEIC photo, which this browser cannot convert. Export it as JPEG first.")
      .waitFor();
  });

  test("the service fetches the photo of a URL that is typed or pasted", async () => {
    const { port } = await startImageServer((_, response) => response.end(photograph(3)));
    const { page, selectOperation, result, slot } = await openPlayground(browser, service);
    const url = `http://127.0.0.1:${port}/team%20photo.jpg`;
    const field = page.getByLabel("Or the URL of a photo");
    await field.fill("photo.jpg");
    await field.press("Enter");
    await page.getByText("Enter a URL that begins with http:// or https://.").waitFor();
    await field.fill(url);
    await field.press("Enter");
    await result.getByText("3 faces").waitFor();
    expect(await slot(0).locator(".about").textContent()).toBe("team photo.jpg");
    await selectOperation("Embedding");
    await result.getByText("128 numbers each").waitFor();

    await slot(0).getByRole("button", { name: "Remove" }).click();
    await page.evaluate(`document.dispatchEvent(Object.assign(new ClipboardEvent("paste", {
      clipboardData: (() => { const data = new DataTransfer(); data.setData("text/plain", "${url}"); return data; })(),
    })))`);
    await result.getByText("128 numbers each").waitFor();
  });
});

/** An image whose header says that it has 900 megapixels. */
async function huge(format: "png" | "jpeg"): Promise<Buffer> {
  const small = sharp({ create: { width: 8, height: 8, channels: 3, background: "grey" } });
  const bytes = await small.toFormat(format).toBuffer();
  if (format === "png") {
    bytes.writeUInt32BE(30_000, 16);
    bytes.writeUInt32BE(30_000, 20);
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  } else {
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
    bytes.writeUInt16BE(30_000, frame + 5);
    bytes.writeUInt16BE(30_000, frame + 7);
  }
  return bytes;
}

/** Expects the boxes of photo 4 in the response, in pixels of a photo that is larger by a factor. */
async function expectBoxes({ page }: Playground, factor: number): Promise<void> {
  const text = (await page.locator("#response").textContent())!;
  const boxes = boxesIn(text);
  for (const { x1, y1, x2, y2 } of FACES[4]) {
    const [x, y] = [(factor * (x1 + x2)) / 2, (factor * (y1 + y2)) / 2];
    const distances = boxes.map(([left, top, right, bottom]) =>
      Math.hypot((left! + right!) / 2 - x, (top! + bottom!) / 2 - y),
    );
    expect(Math.min(...distances)).toBeLessThan(0.2 * factor * (x2 - x1));
  }
}
