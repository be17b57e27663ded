import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceAnalysisService, Feature } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { confidenceOf, distanceOf } from "../../src/core/index.ts";
import type { RunningService } from "../../src/main.ts";
import { hasBrowser, startBrowser } from "../support/browser.ts";
import { createCrowd } from "../support/faces.ts";
import { answerWithPage, neverAnswer, startFaultyProxy } from "../support/faulty-proxy.ts";
import { quadrants } from "../support/images.ts";
import { overflowOf } from "../support/page-checks.ts";
import { openPlayground, sampleFile, type UploadFile } from "../support/playground.ts";
import { startTestService, USER } from "../support/service.ts";

const SOURCE = sampleFile(1);
const TARGET = sampleFile(3);
const byValue = (one: number, other: number) => one - other;

describe.runIf(hasBrowser)("a match in the playground", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });
  const open = async (options = {}, address: { readonly port: number } = service) => {
    const playground = await openPlayground(browser, address, options);
    await playground.selectOperation("Match");
    await playground.addPhotos(0, SOURCE, TARGET);
    await playground.result.locator("#threshold").waitFor();
    const compareAll = playground.result.getByRole("button", { name: "Compare every face with every face" });
    return { ...playground, compareAll, matrix: playground.result.getByRole("table") };
  };

  /** The comparisons of every face of the source with every face of the target, which the service rounds. */
  const compareAllFaces = async () => {
    const client = createClient(
      FaceAnalysisService,
      createGrpcTransport({
        baseUrl: `http://127.0.0.1:${service.port}`,
        interceptors: [
          (next) => (request) => {
            request.header.set("x-api-key", USER);
            return next(request);
          },
        ],
      }),
    );
    const features = [Feature.EMBEDDING];
    const [sources, targets] = await Promise.all(
      [SOURCE, TARGET].map(async (photo) => {
        const { faces } = await client.analyzeImage({ image: imageOf(photo).value, features });
        return faces.map(({ embedding }) => Float32Array.from(embedding!.values));
      }),
    );
    const distances = sources!.flatMap((one) => targets!.map((other) => distanceOf(one, other)));
    return distances.map((distance) => ({ distance, confidence: confidenceOf(distance) }));
  };

  test("the verdict, its confidence and both rates of errors follow the threshold", async () => {
    const { page, result } = await open();
    const headline = result.locator(".headline");
    const before = (await headline.textContent())!;
    const [, distance] = /distance (0\.\d\d), confidence/.exec(before)!;
    const matches = await compareAllFaces();
    const expected = matches.find((match) => match.distance.toFixed(2) === distance)!;
    const percent = Number(/confidence (?:below )?([\d.]+)%/.exec(before)![1]);
    expect(Math.abs(percent - 100 * expected.confidence)).toBeLessThan(3);
    const explanation = result.locator("#threshold-explanation");
    expect(await explanation.textContent()).toMatch(
      /^At 0\.50, 1 in [\d,]+ pairs of different .* match by mistake \(measured\), and 1 in 71 pairs of one person is missed/,
    );
    const slider = result.getByLabel("Threshold");
    await slider.focus();
    await page.keyboard.press("Home");
    expect(await headline.textContent()).toMatch(/^Not a match at 0\.40.*the service’s default is 0\.5/);
    expect(await explanation.textContent()).toContain("(estimated)");
    await page.keyboard.press("End");
    expect(await headline.textContent()).toMatch(/^Match at 0\.60/);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^0\.60: Match at 0\.60/);
    expect(await result.locator(".scale svg").getAttribute("aria-label")).toContain("below 0.6 is a match");
    await result.getByText("It is 60% at a distance of 0.5.").waitFor();
    await result.getByRole("button", { name: "Reset to 0.5" }).click();
    expect(await slider.inputValue()).toBe("0.5");
    expect(await headline.textContent()).toBe(before);
  });

  test("compares the selected face, and says which it is", async () => {
    const { page, result, slot } = await open();
    const chosen = result.locator(".chosen-face");
    expect(await chosen.textContent()).toContain("The most prominent face of photo 1 was compared");
    await chosen.getByRole("button", { name: "Choose another face" }).click();
    await chosen.getByText("Click another one in the photo").waitFor();
    expect(await slot(0).locator(".face-button").count()).toBe(3);
    const before = await result.locator(".headline").textContent();
    const compared = page.waitForRequest((request) => request.url().endsWith("/v1/faces:compare"));
    await slot(0).locator(".face-button[aria-pressed=false]").last().click();
    const { source, target } = (await compared).postDataJSON();
    expect([Object.keys(source), Object.keys(target)]).toEqual([["image", "box"], ["image"]]);
    await chosen.getByText("the selected face").waitFor();
    expect(await result.locator(".headline").textContent()).not.toBe(before);
    expect(await page.locator("#code").textContent()).toMatch(
      /"source":\{"image":\{"content":"%s"\},"box":\{"x1":\d+/,
    );
    // The quality of a face is known since all were searched.
    await result.getByText("recognition").first().waitFor();
  });

  test("a second photo without a face is no error", async () => {
    const { addPhotos, result } = await open();
    const buffer = await quadrants(["#ff0000", "#008000", "#0000ff", "#808080"], 400, 300).png().toBuffer();
    await addPhotos(1, { name: "blank.png", mimeType: "image/png", buffer });
    expect(await result.locator(".headline").textContent()).toContain("No face found in photo 2");
  });

  test("compares every face with every face, as the service does", async () => {
    const { result, slot, compareAll, matrix } = await open();
    await compareAll.click();
    await matrix.waitFor();
    expect(await matrix.locator("thead th").count()).toBe(3);
    expect(await matrix.locator("tbody th").count()).toBe(3);
    expect(await slot(0).locator(".face-button").count()).toBe(3);
    const cells = matrix.getByRole("button");
    const shown = (await cells.allTextContents()).map((text) => Number.parseFloat(text));
    const expected = (await compareAllFaces()).map(({ distance }) => Number(distance.toFixed(3)));
    expect(shown).toHaveLength(9);
    expect(shown.toSorted(byValue)).toEqual(expected.toSorted(byValue));

    const marked = await matrix.locator("td.match").allTextContents();
    expect(marked).toEqual(
      shown.filter((distance) => distance < 0.5).map((distance) => `${distance.toFixed(3)} ✓`),
    );
    expect(marked.length).toBeGreaterThan(0);
    expect(await matrix.locator("[aria-pressed=true]").count()).toBe(1);

    const nearest = matrix.locator("td.match button").first();
    const label = await nearest.getAttribute("aria-label");
    expect(label).toMatch(/^Photo 1, face \d and Photo 2, face \d: distance [\d.]+, match$/);
    await nearest.click();
    const score = async () =>
      Number(/distance ([\d.]+),/.exec((await result.locator(".headline").textContent())!)![1]);
    await expect.poll(score).toBeCloseTo(Math.min(...shown), 2);
    // The matrix stays, with the pair marked that was compared.
    expect(await matrix.locator("[aria-pressed=true]").getAttribute("aria-label")).toBe(label);
    await expect.poll(() => result.locator("[aria-pressed=true]:focus").count()).toBe(1);
    await result.getByLabel("Threshold").press("End");
    const isBelow = shown.filter((distance) => distance < 0.6);
    expect(isBelow.length).toBeGreaterThan(marked.length);
    expect(await matrix.locator("td.match").count()).toBe(isBelow.length);
  });

  test("shows the 20 most prominent faces of a crowd", async () => {
    const { page, addPhotos, result, compareAll, matrix } = await open({
      viewport: { width: 320, height: 568 },
    });
    await addPhotos(1, { name: "crowd.png", mimeType: "image/png", buffer: await createCrowd(25) });
    await compareAll.click();
    await matrix.waitFor();
    expect(await matrix.locator("thead th").count()).toBe(20);
    expect(await result.textContent()).toMatch(/Photo 2 has 2\d faces; the 20 most prominent are shown/);
    expect(await overflowOf(page)).toBe(0);
    const hiddenWidth = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)";
    expect(await page.evaluate(`${hiddenWidth}(document.querySelector(".matrix-box"))`)).toBeGreaterThan(0);
  });

  test("a matrix that fails can be tried again, and can be cancelled", async () => {
    const proxy = await startFaultyProxy(service);
    onTestFinished(() => proxy.close());
    const { result, compareAll, matrix } = await open({}, proxy);
    proxy.setFault(answerWithPage(502, "Bad Gateway"));
    await compareAll.click();
    await result.getByText("The proxy answered 502 Bad Gateway.").waitFor();
    proxy.setFault(neverAnswer);
    await compareAll.click();
    await result.getByRole("button", { name: "Cancel" }).click();
    proxy.setFault(undefined);
    await compareAll.click();
    await matrix.waitFor();
  });
});

/** A photo as a part of a request. */
function imageOf({ buffer }: UploadFile) {
  return { case: "image", value: { source: { case: "content", value: buffer } } } as const;
}
