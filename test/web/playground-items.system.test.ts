import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser, saveScreenshot } from "../support/browser.ts";
import { createCrowd, FACES } from "../support/faces.ts";
import { neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { startImageServer } from "../support/image-server.ts";
import { photograph } from "../support/images.ts";
import {
  boxesOf,
  checkPage,
  expectOnScreen,
  expectReachable,
  overflowOf,
  overlap,
  SIZES,
} from "../support/page-checks.ts";
import { openPlayground, sampleFile, savedBy, type UploadFile } from "../support/playground.ts";
import { expectCode, expectSameNumbers } from "../support/playground-checks.ts";
import { useSite } from "../support/site.ts";

const CROWD_SIZE = 112;

/** Side of a photo of 13 MB, which is more than the send and receive buffers of a connection hold together. */
const NOISE_SIDE = 1500;

/** The faces that are found in the crowd; a few of its tiles are too hard. */
const MIN_CROWD_FACES = 90;

/** The distance of content from the edge of its panel, at least. */
const PANEL_PADDING = 12;

describe.runIf(hasBrowser)("every item of the playground", () => {
  const site = useSite({
    VISAGE_MAX_IMAGE_BYTES: "30000000",
    VISAGE_MAX_REQUEST_BYTES: "60000000",
    VISAGE_FETCH_ALLOW: "127.0.0.1",
  });
  let crowd: UploadFile;
  let noise: UploadFile;
  beforeAll(async () => {
    crowd = { name: "crowd.png", mimeType: "image/png", buffer: await createCrowd(CROWD_SIZE) };
    noise = await createNoise();
  });

  test.each(SIZES)("a result, its files and its code at %s", async (name, options) => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const playground = await openPlayground(site.browser, site.service, { ...options, permissions });
    const { page, addPhotos, selectOperation, openOptions, result } = playground;
    await addPhotos(0, sampleFile(4));
    await expectSameNumbers(playground, FACES[4].length);
    await expectReachable(result.getByText(/^Answered in \d+ ms\.$/));
    await expectReachable(result.getByText("Age and gender are estimates from appearance"));
    const download = (label: string) => page.getByRole("button", { name: `Download ${label}`, exact: true });
    for (const [label, file] of [
      ["JSON", "sample4-attributes.json"],
      ["Annotated photo", "sample4-annotated.jpg"],
      ["Face crop", "sample4-face-4.jpg"],
    ] as const) {
      await expectReachable(download(label));
      expect((await savedBy(download(label))).name).toBe(file);
    }
    await selectOperation("Embedding");
    await result.locator(".heat-map").waitFor();
    expect(await result.locator("h3").first().textContent()).toBe("Face 4 response.faces[0]");
    await expectReachable(download("Embeddings"));
    expect((await savedBy(download("Embeddings"))).name).toBe("sample4-embeddings.json");

    await expectCode(page);
    const option = page.locator("label", { hasText: "Scale down large photos" });
    expect(await option.isVisible()).toBe(false);
    await openOptions();
    await expectReachable(option);
    await expectReachable(page.getByText("sent only to this service, which does not store them"));
    await expectReachable(page.locator("footer").getByText(/^Visage \d+\.\d+\.\d+/));
    await expectReachable(page.locator("footer").getByText("Service ready"));
    await checkPage(page, `items result ${name}`);
  });

  test.each(SIZES)("a match and its threshold at %s", async (name, options) => {
    const playground = await openPlayground(site.browser, site.service, options);
    const { page, selectOperation, addPhotos, result } = playground;
    await selectOperation("Match");
    await addPhotos(0, sampleFile(1), sampleFile(3));
    const headline = result.locator(".headline");
    expect(await headline.textContent()).toMatch(/distance 0\.\d\d, confidence (\d|below|above)[\d. ]*%/);
    await expectOnScreen(headline);

    const explanation = result.locator("#threshold-explanation");
    await result.getByLabel("Threshold").focus();
    for (const [key, distance, verdict] of [
      ["Home", "0.40", "Not a match at 0.40"],
      ["ArrowRight", "0.41", "Not a match at 0.41"],
      ["End", "0.60", "Match at 0.60"],
    ] as const) {
      await page.keyboard.press(key);
      await expectOnScreen(explanation.filter({ hasText: `At ${distance}, 1 in ` }));
      await expectOnScreen(result.locator(".threshold-value", { hasText: distance }));
      expect(await headline.textContent()).toContain(verdict);
    }
    await expectReachable(result.getByRole("button", { name: "Reset to 0.5" }));
    const chosen = result.locator(".chosen-face");
    expect(await chosen.textContent()).toContain("The most prominent face of photo 1 was compared");
    await expectReachable(chosen);

    await result.getByRole("button", { name: "Compare every face with every face" }).click();
    const cells = result.getByRole("table").getByRole("button");
    await cells.first().waitFor();
    await expectOnScreen(cells.first());
    expect(await cells.count()).toBe(9);
    for (const cell of [cells.nth(4), cells.last()]) await expectReachable(cell);
    // The table scrolls inside the panel.
    const [panel, last] = [await result.boundingBox(), await cells.last().boundingBox()];
    expect(last!.x + last!.width).toBeLessThan(panel!.x + panel!.width - PANEL_PADDING);
    await checkPage(page, `items match ${name}`);
  });

  test.each(SIZES)("an upload, its end and a URL at %s", async (name, options) => {
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page, slot, result } = await openPlayground(site.browser, proxy, options);
    await page.clock.install();
    await page.evaluate("scrollTo(0, 0)");
    proxy.setFault((incoming) => incoming.pause());
    await slot(0).locator("input[type=file]").setInputFiles(noise);
    const cancel = page.getByRole("button", { name: "Cancel" });
    await expectOnScreen(page.getByText(/^Sending… [1-9]\d?%$/));
    await expectOnScreen(cancel);
    expect(await page.locator("#sent").getAttribute("value")).toMatch(/^0\.\d/);
    await checkPage(page, `items upload ${name}`);
    await page.clock.fastForward(61_000);
    await expectOnScreen(result.getByText("The upload made no progress for 60 seconds."));
    await result.getByRole("button", { name: "Try again" }).click();
    await cancel.click();
    // The outcome before it is back.
    await expectOnScreen(result.getByText("The upload made no progress for 60 seconds."));
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("run");
    expect(await cancel.isVisible()).toBe(false);
    proxy.setFault(undefined);

    const { port } = await startImageServer((_, response) => response.end(photograph(3)));
    const field = page.getByLabel("Or the URL of a photo");
    const use = async (url: string) => {
      await field.fill(url);
      await field.press("Enter");
    };
    await use("photo.jpg");
    await expectOnScreen(page.getByText("Enter a URL that begins with http:// or https://."));
    await use(`http://127.0.0.1:${port}/team.jpg`);
    await expectOnScreen(result.getByText("3 faces"));
    await use("http://10.1.2.3/photo.jpg");
    await expectOnScreen(result.getByRole("heading", { name: "could not be fetched" }));
    expect(await result.textContent()).toMatch(/only from public addresses.*VISAGE_FETCH_ALLOW/);
    await checkPage(page, `items url ${name}`);
  });

  test.each(SIZES)("a batch, its progress and its files at %s", async (name, options) => {
    const proxy = await startFaultyProxy(site.service);
    onTestFinished(() => proxy.close());
    const { page, slot } = await openPlayground(site.browser, proxy, options);
    const batch = page.getByRole("region", { name: "Batch", exact: true });
    const button = (label: string) => batch.getByRole("button", { name: label });
    proxy.setFault(neverAnswer);
    const text = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no photo") };
    const long = { ...sampleFile(3), name: `${"long name ".repeat(9)}.jpg` };
    await slot(0)
      .locator("input[type=file]")
      .setInputFiles([sampleFile(4), text, long]);
    await batch.getByText("1 of 3 photos · 0 faces · 1 failed").waitFor();
    await expectOnScreen(batch.getByRole("progressbar"));
    await expectOnScreen(button("Stop"));
    await button("Stop").click();
    proxy.setFault(undefined);
    await button("Continue").click();
    await expectOnScreen(batch.getByText("3 of 3 photos · 7 faces · 1 failed"));
    for (const [label, file] of [
      ["Download CSV", "faces.csv"],
      ["Download JSON", "faces.json"],
    ] as const) {
      await expectReachable(button(label));
      expect((await savedBy(button(label))).name).toBe(file);
    }
    const table = page.getByRole("region", { name: "Photos of the batch" });
    const hiddenWidth = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)";
    expect(await page.evaluate(`${hiddenWidth}(document.querySelector(".batch-table"))`)).toBe(0);
    // Hundreds of photos scroll inside the table.
    expect((await table.boundingBox())!.height).toBeLessThanOrEqual(560);
    for (const row of await table
      .getByRole("row")
      .filter({ has: page.getByRole("button") })
      .all()) {
      await expectReachable(row.getByRole("button"));
      expect((await row.boundingBox())!.height).toBeLessThan(180);
    }
    await checkPage(page, `items batch ${name}`);
  });

  // The faces of a crowd take seconds, so the sizes share a tab.
  test.each([
    ["desktops", SIZES.filter(([, { isMobile }]) => !isMobile)],
    ["phones", SIZES.filter(([, { isMobile }]) => isMobile)],
  ])(
    "a crowd on %s",
    async (_, sizes) => {
      const playground = await openPlayground(site.browser, site.service, sizes[0]![1]);
      const { page, addPhotos, result } = playground;
      await addPhotos(0, crowd);
      const count = Number.parseInt((await result.locator(".verdict").textContent())!, 10);
      expect(count).toBeGreaterThan(MIN_CROWD_FACES);
      const rows = result.getByRole("listitem");
      const all = result.getByRole("button", { name: `Show all ${count} faces` });
      for (const [name, { viewport }] of sizes) {
        await page.setViewportSize(viewport!);
        await expectReachable(result.locator(".verdict"));
        expect(await rows.count()).toBe(6);
        expect(await page.evaluate("document.documentElement.scrollHeight"), name).toBeLessThan(4500);
        await expectReachable(all);
        expect(await overflowOf(page), name).toBe(0);
        await saveScreenshot(page, `items-crowd-${name.replace(" ", "-")}`);
      }
      await checkPage(page, `items crowd ${sizes.at(-1)![0]}`);
      await all.click();
      expect(await rows.count()).toBe(count);
      await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Select Face 7");
      await expectReachable(rows.last());
      expect(await overflowOf(page)).toBe(0);
      const numbers = await boxesOf(page.locator(".number:visible"));
      for (const [i, one] of numbers.entries())
        for (const other of numbers.slice(i + 1)) expect(overlap(one, other)).toBe(false);
    },
    180_000,
  );
});

/** A photo whose upload stops before its end if nobody reads it. */
async function createNoise(): Promise<UploadFile> {
  const pixels = new Uint16Array(randomBytes(NOISE_SIDE * NOISE_SIDE * 6).buffer);
  const buffer = await sharp(pixels, { raw: { width: NOISE_SIDE, height: NOISE_SIDE, channels: 3 } })
    .toColourspace("rgb16")
    .png({ compressionLevel: 0 })
    .toBuffer();
  return { name: "noise.png", mimeType: "image/png", buffer };
}
