import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { enterKey, hasBrowser, startBrowser } from "../support/browser.ts";
import { FACES } from "../support/faces.ts";
import { photograph, quadrants } from "../support/images.ts";
import { boxesIn, openPlayground, sampleFile, type UploadFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

describe.runIf(hasBrowser)("the playground", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-playground-"));
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ VISAGE_DATA_DIR: dataDir }), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("matches two photos", async () => {
    const { selectOperation, addPhotos, run, result, slot } = await openPlayground(browser, service);
    await selectOperation("Match");
    await addPhotos(0, sampleFile(3), sampleFile(5));
    await run();
    expect(await result.textContent()).toMatch(/Not a match.*distance 0\.[5-9]\d, confidence/);
    expect(await result.getByRole("img", { name: /^Distance 0\.\d\d on a scale/ }).count()).toBe(1);
    const [same, other] = await result.locator(".scale rect").all();
    const [left, right] = [(await same!.boundingBox())!, (await other!.boundingBox())!];
    expect([right.y, right.height]).toEqual([left.y, left.height]);
    await addPhotos(1, sampleFile(3));
    await run();
    expect(await result.textContent()).toMatch(/Matchdistance 0\.00/);
    expect(await slot(1).locator(".box").count()).toBe(3);
  });

  test("draws boxes and landmarks on every face, and shows attributes and quality", async () => {
    const { addPhotos, run, result, slot } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(4));
    await run();
    expect(await slot(0).locator(".point").count()).toBe(4 * 68);
    await expectButtonsOnFaces(slot(0).locator("img"), slot(0).locator(".face-button"), FACES[4]);
    const [card] = await result.getByRole("listitem").allTextContents();
    expect(card).toMatch(/Female \(\d+% confidence\), 20–40 years.*Good for recognition/);
    expect(await result.locator(".numbers td").first().isVisible()).toBe(false);
    await result.getByText("Numbers").first().click();
    expect(await result.locator("tr", { hasText: "Sharpness" }).first().textContent()).toMatch(
      /\d\.\d\d\d+%$/,
    );
    await result.getByText(/^Answered in \d+ ms\.$/).waitFor();
  });

  test("draws on the upright photo when EXIF rotates it", async () => {
    const { addPhotos, run, slot } = await openPlayground(browser, service);
    const rotated = await sharp(photograph(4)).rotate(270).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    await addPhotos(0, { name: "rotated.jpg", mimeType: "image/jpeg", buffer: rotated });
    expect(await slot(0).locator(".about").textContent()).toContain("1920 × 1448");
    await run();
    await expectButtonsOnFaces(slot(0).locator("img"), slot(0).locator(".face-button"), FACES[4]);
  });

  test("keeps the number of a face inside the photo even if the face fills it", async () => {
    const { selectOperation, addPhotos, run, slot } = await openPlayground(browser, service);
    await selectOperation("Embedding");
    const { x1, y1, x2, y2 } = FACES[3][0]!;
    const close = { left: x1, top: y1, width: x2 - x1, height: y2 - y1 };
    const buffer = await sharp(photograph(3)).extract(close).jpeg().toBuffer();
    const numberIsWithin = async () => {
      await run();
      const photo = (await slot(0).locator("img").boundingBox())!;
      const numbers = await Promise.all(
        (await slot(0).locator(".number").all()).map(async (number) => (await number.boundingBox())!),
      );
      return numbers.every(({ y, height }) => y >= photo.y && y + height <= photo.y + photo.height);
    };
    for (const file of [sampleFile(3), { name: "close.jpg", mimeType: "image/jpeg", buffer }]) {
      await addPhotos(0, file);
      expect(await numberIsWithin(), file.name).toBe(true);
    }
  });

  test("shows the embedding of every face, collapsed in the response", async () => {
    const { page, selectOperation, addPhotos, run, result } = await openPlayground(browser, service);
    await selectOperation("Embedding");
    await addPhotos(0, sampleFile(3));
    await run();
    expect(await result.locator(".heat-map rect").count()).toBe(3 * 128);
    expect(await result.textContent()).toContain("128 numbers each");
    const collapsed = page.getByRole("button", { name: "[ 128 items ]" }).first();
    expect(await page.locator("#response").textContent()).not.toMatch(/"values": \[\d/);
    await collapsed.click();
    expect(await page.locator("#response").textContent()).toMatch(/"values": Collapse \[\s+-?0\.\d+,/);
  });

  test("uses the clicked face in the next operation", async () => {
    const { page, selectOperation, addPhotos, run, result, slot } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(4));
    await run();
    const third = slot(0).getByRole("button", { name: /^Face 3/ });
    await third.click();
    expect(await third.getAttribute("aria-pressed")).toBe("true");
    await selectOperation("Embedding");
    const curl = await page.locator("#code").textContent();
    const box = /\bboxes=([\d,]+)/
      .exec(curl ?? "")![1]!
      .split(",")
      .map(Number);
    await run();
    expect(await result.locator("h3").allTextContents()).toEqual(["Face 3 response.faces[0]"]);
    const response = await page.locator("#response").textContent();
    const used = boxesIn(response ?? "")[0]!;
    for (const [i, value] of used.entries()) expect(Math.abs(value - box[i]!)).toBeLessThan(10);
    await third.click();
    expect(await page.locator("#code").textContent()).not.toContain("boxes=");
  });

  test("finds the faces of the second photo for selection", async () => {
    const { page, selectOperation, addPhotos, run, slot } = await openPlayground(browser, service);
    await selectOperation("Match");
    await addPhotos(0, sampleFile(4), sampleFile(4));
    await slot(1).getByRole("button", { name: "Find faces" }).click();
    await slot(1)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    expect(await page.locator("#code").textContent()).toMatch(
      /"target":\{"image":\{"content":"%s"\},"box":\{"x1":\d+/,
    );
    await run();
    expect(await page.getByRole("status").textContent()).toMatch(/^Not a match.*, distance/);
  });

  test("accepts pasted and dropped photos", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page, selectOperation, slot } = await openPlayground(browser, service, { permissions });
    await selectOperation("Match");
    const png = await sharp(photograph(3)).resize(600).png().toBuffer();
    await page.evaluate(`navigator.clipboard.write([new ClipboardItem({ "image/png": ${blobText(png)} })])`);
    await page.keyboard.press("Control+V");
    await slot(0).locator(".about", { hasText: "photo-1.png" }).waitFor();

    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${blobText(png)}], "dropped.png"));
      return transfer;
    })()`);
    await slot(1).dispatchEvent("drop", { dataTransfer });
    await slot(1).locator(".about", { hasText: "dropped.png" }).waitFor();
  });

  test("takes a photo with the camera, and another one if that is better", async () => {
    const { page, run, slot, result } = await openPlayground(browser, service);
    await slot(0).getByRole("button", { name: "Camera" }).click();
    await page.getByRole("button", { name: "Take photo" }).click();
    expect(await page.evaluate("document.querySelector('#viewfinder').paused")).toBe(true);
    await page.getByRole("button", { name: "Retake" }).click();
    await page.getByRole("button", { name: "Take photo" }).click();
    await page.getByRole("button", { name: "Use photo" }).click();
    // Until the camera's photo is there, the slot displays a sample.
    await slot(0).locator(".about", { hasText: "camera.jpg" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await run();
    expect(await result.textContent()).toContain("No face found");
  });

  test("reports which photo has no face, the error code and advice", async () => {
    const { selectOperation, addPhotos, run, result } = await openPlayground(browser, service);
    await selectOperation("Match");
    await addPhotos(0, await blank(), sampleFile(3));
    await run();
    const text = await result.textContent();
    expect(text).toContain("No face was found in the image.");
    expect(text).toContain("Photo1 (blank.png)");
    expect(text).toContain("Code3001");
    expect(text).toContain("Use a photo in which the face is larger");
    expect(text).toContain("Sending the same request again will not help.");
  });

  test("says in words what is wrong with a face, and how it is turned", async () => {
    const { addPhotos, result, slot } = await openPlayground(browser, service);
    const blurred = await sharp(photograph(3)).blur(12).rotate(180).jpeg().toBuffer();
    await addPhotos(0, { name: "blurred.jpg", mimeType: "image/jpeg", buffer: blurred });
    expect(await result.textContent()).toMatch(
      /Not good for recognition: blurred.*Upside down: was turned upright/,
    );
    expect(await slot(0).locator(".about").textContent()).toContain("blurred.jpg");
  });

  test("gives advice instead of a caveat if there is no face", async () => {
    const { addPhotos, result } = await openPlayground(browser, service);
    await addPhotos(0, await blank());
    expect(await result.textContent()).toMatch(/No face found.*Use a photo in which a face is larger/);
    expect(await result.textContent()).not.toContain("Age and gender are estimates");
  });

  test("reports an unknown API key", async () => {
    const { page, addPhotos, run, result } = await openPlayground(browser, service);
    await enterKey(page, "nobody");
    await addPhotos(0, sampleFile(3));
    await run();
    expect(await result.locator("h3").textContent()).toBe("This API key is not accepted.");
    expect(await result.textContent()).toMatch(/unknown or expired or disabled.*Code4002HTTP401/);
    await result.getByRole("button", { name: "Enter another API key" }).click();
    await page.keyboard.type(USER);
    await page.keyboard.press("Enter");
    await result.getByText("3 faces").waitFor();
  });

  test("tells a user over the rate limit how long to wait", async () => {
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    onTestFinished(() => store.close());
    await addTestUser(store, "hasty", { requestsPerSecond: 0.01, burst: 1 });
    const { page, addPhotos, run, result } = await openPlayground(browser, service);
    await enterKey(page, "hasty");
    await addPhotos(0, sampleFile(3));
    await run();
    await run();
    expect(await result.textContent()).toMatch(/Code4005HTTP429.*Try againavailable in \d+ seconds/);
    expect(await page.getByRole("status").textContent()).toMatch(/Try again in \d+ seconds\./);
  });

  test("says when a monthly quota that is used up resets", async () => {
    const store = await openAccountStore({ databaseUrl: undefined, dataDir });
    onTestFinished(() => store.close());
    await addTestUser(store, "thrifty", { requestsPerMonth: 1, burst: 1 });
    const { page, addPhotos, run, result } = await openPlayground(browser, service);
    await enterKey(page, "thrifty");
    await addPhotos(0, sampleFile(3));
    await run();
    const now = new Date();
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toLocaleDateString(
      "en-GB",
      {
        month: "long",
        timeZone: "UTC",
      },
    );
    expect(await result.textContent()).toContain(`Monthly quota used up; resets on 1 ${month}.`);
  });

  test("numbers a face the same on the photo and in every result", async () => {
    const { selectOperation, addPhotos, slot, result } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(4));
    const titles = await result.locator("h3").allTextContents();
    expect(titles.slice(0, 4)).toEqual(
      [1, 2, 3, 4].map((number) => `Face ${number} response.faces[${number - 1}]`),
    );
    await slot(0)
      .getByRole("button", { name: /^Face 3/ })
      .click();
    await selectOperation("Embedding");
    await result.locator(".heat-map").waitFor();
    expect(await result.locator("h3").allTextContents()).toEqual(["Face 3 response.faces[0]"]);
  });

  test("shows no result or error of an earlier input", async () => {
    const { page, selectOperation, openOptions, addPhotos, run, slot, result } = await openPlayground(
      browser,
      service,
    );
    await addPhotos(0, sampleFile(4));
    expect(await result.textContent()).toContain("4 faces");
    await openOptions();
    await page.getByRole("checkbox", { name: /^Scale down/ }).uncheck();
    expect(await result.textContent()).toContain("Press “Get attributes” to see results.");
    await page.getByRole("checkbox", { name: /^Scale down/ }).check();
    await run();
    await selectOperation("Match");
    expect(await result.textContent()).toContain("Add two photos to see results.");
    expect(await page.locator("#response").textContent()).toBe("No response yet.");
    await slot(0).getByRole("button", { name: "Remove" }).click();
    expect(await result.textContent()).toContain("Add two photos to see results.");
  });

  test("a photo that is dropped while a request is in progress replaces it", async () => {
    const { slot, result, addPhotos } = await openPlayground(browser, service);
    const input = slot(0).locator("input[type=file]");
    await input.setInputFiles(sampleFile(3));
    await slot(0).locator(".about", { hasText: "sample3.jpg" }).waitFor();
    await addPhotos(0, sampleFile(4));
    expect(await result.textContent()).toContain("4 faces");
  });

  test("retries after the service could not be reached", async () => {
    const { page, addPhotos, run, result } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(3));
    await page.context().setOffline(true);
    await run();
    expect(await result.textContent()).toContain("The service could not be reached.");
    await page.context().setOffline(false);
    await result.getByRole("button", { name: "Try again" }).click();
    await result.getByText("3 faces").waitFor();
  });

  test("rejects a file that is too large or not a photo before sending it", async () => {
    const limits = { VISAGE_MAX_IMAGE_BYTES: "200000", VISAGE_MAX_IMAGE_PIXELS: "1000000" };
    const strict = await startTestService(limits);
    onTestFinished(() => strict.close());
    const { page, openOptions, slot } = await openPlayground(browser, strict);
    await openOptions();
    await page.getByRole("checkbox", { name: /^Scale down/ }).uncheck();
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    const problemOf = async (file: UploadFile) => {
      await slot(0).locator("input[type=file]").setInputFiles(file);
      const problem = slot(0).locator(".problem", { hasText: file.name });
      await problem.waitFor();
      await page.locator("#run").click();
      return problem.textContent();
    };
    expect(await problemOf(sampleFile(4))).toMatch(/is 20\d KiB; the limit is 196 KiB/);
    expect(await problemOf(sampleFile(5))).toContain("1920 × 1398 pixels; the limit is 1 megapixels");
    const text = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no photo") };
    expect(await problemOf(text)).toContain("is not a JPEG or PNG image");
    expect(sent).toEqual([]);
  });
});

/** Checks that the face buttons lie on the faces of the displayed photo, in any order. */
async function expectButtonsOnFaces(
  image: ReturnType<Page["locator"]>,
  buttons: ReturnType<Page["locator"]>,
  faces: (typeof FACES)[4],
): Promise<void> {
  const photo = (await image.boundingBox())!;
  const scale = photo.width / 1920;
  const boxes = await Promise.all((await buttons.all()).map(async (button) => (await button.boundingBox())!));
  expect(boxes).toHaveLength(faces.length);
  for (const { x1, y1, x2, y2 } of faces) {
    const [x, y] = [photo.x + (scale * (x1 + x2)) / 2, photo.y + (scale * (y1 + y2)) / 2];
    const distances = boxes.map((box) => Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y));
    expect(Math.min(...distances)).toBeLessThan(0.2 * scale * (x2 - x1));
  }
}

async function blank(): Promise<UploadFile> {
  const buffer = await quadrants(["#ff0000", "#008000", "#0000ff", "#808080"], 400, 300).png().toBuffer();
  return { name: "blank.png", mimeType: "image/png", buffer };
}

/** Writes a PNG as a JavaScript expression that the page can evaluate. */
function blobText(png: Buffer): string {
  const bytes = `Uint8Array.from(atob("${png.toString("base64")}"), (letter) => letter.charCodeAt(0))`;
  return `new Blob([${bytes}], { type: "image/png" })`;
}
