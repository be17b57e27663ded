import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import type { SampleBox, SampleRequest } from "../../src/web/samples/sample-request.ts";
import { SAMPLE_LANGUAGES, type SampleLanguage } from "../../src/web/samples/samples.ts";
import { hasBrowser, startBrowser } from "../support/browser.ts";
import { FACES } from "../support/faces.ts";
import { openPlayground, sampleFile, savedBy } from "../support/playground.ts";
import { SAMPLE_RUNNERS } from "../support/sample-programs.ts";
import { PHOTOS, runProgram, SDK_TIMEOUT_MS } from "../support/sdk.ts";
import { startTestService, USER } from "../support/service.ts";

/** A name with characters that are special in a shell, in curl or in a string. */
const HOSTILE_NAME = 'Ada\'s "best", photo; 1.jpg';

describe.runIf(hasBrowser)("the result as files and as code", () => {
  let service: RunningService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  test("downloads the response, the annotated photo and the crop of a face", async () => {
    const { page, addPhotos, result, slot } = await openPlayground(browser, service);
    await addPhotos(0, sampleFile(4));
    await result.getByText("4 faces").waitFor();
    const json = await saved(page, "JSON");
    expect(json.name).toBe("sample4-attributes.json");
    expect(JSON.parse(json.bytes.toString()).faces).toHaveLength(4);

    const annotated = await saved(page, "Annotated photo");
    expect(annotated.name).toBe("sample4-annotated.jpg");
    expect(await sharp(annotated.bytes).metadata()).toMatchObject({
      format: "jpeg",
      width: 1920,
      height: 1448,
    });
    // The box of a face is drawn where the face is.
    expect(await differenceOf(annotated.bytes, 4)).toBeGreaterThan(0);

    await slot(0)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    const crop = await saved(page, "Face crop");
    expect(crop.name).toBe("sample4-face-2.jpg");
    const { width, height } = await sharp(crop.bytes).metadata();
    const widths = FACES[4].map(({ x1, x2 }) => x2 - x1);
    expect(width).toBeGreaterThan(Math.min(...widths));
    expect(Math.max(width, height)).toBeLessThan(2.2 * Math.max(...widths));
  });

  test("downloads embeddings with their model, and the photos of a pair", async () => {
    const { page, addPhotos, selectOperation, result } = await openPlayground(browser, service);
    await selectOperation("Embedding");
    await addPhotos(0, sampleFile(3));
    await result.getByText("128 numbers each").waitFor();
    const { bytes } = await saved(page, "Embeddings");
    const embeddings = JSON.parse(bytes.toString());
    expect(embeddings).toHaveLength(3);
    expect(embeddings[2].model).toMatch(/^sface-/);
    expect(embeddings[2].values).toHaveLength(128);
    await selectOperation("Match");
    await addPhotos(0, sampleFile(3), sampleFile(4));
    await result.locator(".scale").waitFor();
    expect((await saved(page, "Annotated photo 2")).name).toBe("sample4-annotated.jpg");
  });

  /** Opens the form with everything that code can contain, and returns the code in a language. */
  async function codeIn(language: string): Promise<{ readonly code: string; readonly box: SampleBox }> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const playground = await openPlayground(browser, service, { permissions });
    const { page, addPhotos, selectOperation, result, slot } = playground;
    await addPhotos(0, { ...sampleFile(4), name: HOSTILE_NAME });
    await result.getByText("4 faces").waitFor();
    await slot(0)
      .getByRole("button", { name: /^Face 2/ })
      .click();
    await selectOperation("Embedding");
    const curl = (await page.locator("#code").textContent())!;
    const box = /\bboxes=([\d,]+)/.exec(curl)![1]!.split(",").map(Number);
    await page.getByRole("tab", { name: languageOf(language).name, exact: true }).click();
    expect(await page.locator("#code").textContent()).not.toContain(USER);
    return { code: await copyCode(page), box: box as unknown as SampleBox };
  }

  // The tests of the samples compile those in Go and Java, which takes long.
  const isScript = ({ language }: { readonly language: string }) => !["go", "java"].includes(language);

  describe.each(SAMPLE_RUNNERS.filter((runner) => runner.wanted && isScript(runner)))(
    "the code in $language",
    ({ language, prepare }) => {
      test("follows the form and runs", { timeout: SDK_TIMEOUT_MS }, async () => {
        const { code } = await codeIn(language);
        expect(code).toContain(USER);
        const folder = mkdtempSync(join(tmpdir(), "visage-code-"));
        onTestFinished(() => rmSync(folder, { recursive: true }));
        copyFileSync(join(PHOTOS, "sample4.jpg"), join(folder, HOSTILE_NAME));
        const sources = join(folder, "sources");
        mkdirSync(sources);
        const sample = { name: "sample", request: { operation: "v1AnalyzeImage" as const }, code };
        const env = { PYTHONPATH: join(PACKAGE_ROOT, "sdks/python/src") };
        const execute = await prepare(sources, [sample], (program, args) =>
          runProgram(folder, program, args, env),
        );
        expect(await execute(sample)).toMatch(/sface-\w+/);
      });
    },
  );

  test.each(["go", "java"])("the code in %s follows the form", async (language) => {
    const { code, box } = await codeIn(language);
    const request: SampleRequest = {
      operation: "v1AnalyzeImage",
      images: [{ field: "image", file: HOSTILE_NAME, boxes: [box] }],
      fields: { features: ["FEATURE_EMBEDDING", "FEATURE_QUALITY"] },
    };
    const address = `http://127.0.0.1:${service.port}`;
    expect(code).toBe(languageOf(language).write(request, { address, key: USER })!.trimEnd());
  });

  test("the arrow keys choose a language, which the next page remembers", async () => {
    const { page } = await openPlayground(browser, service);
    await page.getByRole("tab", { name: "curl", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await page.locator("#code").textContent()).toContain("from visage import");
    await page.reload();
    expect(await page.getByRole("tab", { selected: true }).textContent()).toBe("Python");
  });
});

function languageOf(id: string): SampleLanguage {
  return SAMPLE_LANGUAGES.find((language) => language.id === id)!;
}

function saved(page: Page, label: string): ReturnType<typeof savedBy> {
  return savedBy(page.getByRole("button", { name: `Download ${label}`, exact: true }));
}

async function copyCode(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy code" }).click();
  await page.getByRole("button", { name: "Copied code" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}

/** The mean difference between the upper edge of the first face's box and the original photo. */
async function differenceOf(annotated: Buffer, sample: 4): Promise<number> {
  const { x1, y1, x2 } = FACES[sample][0]!;
  const edge = { left: x1 + 20, top: y1 - 30, width: x2 - x1 - 40, height: 60 };
  const pixels = (image: Buffer) => sharp(image).extract(edge).greyscale().raw().toBuffer();
  const [one, other] = await Promise.all([pixels(annotated), pixels(sampleFile(sample).buffer)]);
  return one.filter((value, i) => Math.abs(value - other[i]!) > 60).length;
}
