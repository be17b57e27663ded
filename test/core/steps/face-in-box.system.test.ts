import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Analyzer, Box } from "../../../src/core/index.ts";
import { expectUsable, openRealAnalyzer, SAMPLES } from "../../support/faces.ts";
import { photograph, plainImage } from "../../support/images.ts";
import { createRandom } from "../../support/numbers.ts";

const CASES = 400;
const SIDES = [1, 2, 3, 17, 64, 301];
/** Wide enough to be scaled down while it is decoded. */
const WIDTHS = [...SIDES, 2500];

let analyzer: Analyzer;
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
});
afterAll(() => analyzer.close());

test("without detection, any image and any boxes in it give usable faces", { timeout: 600_000 }, async () => {
  const random = createRandom(20);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const integer = (below: number) => Math.floor(random() * below);

  async function createImage(): Promise<Buffer> {
    const [width, height] = [pick(WIDTHS), pick(SIDES)];
    const kind = integer(4);
    if (kind === 0)
      return plainImage(width, height, `rgb(${integer(256)}, ${integer(256)}, ${integer(256)})`);
    if (kind === 1) {
      const [left, top] = [integer(1800), integer(900)];
      const region = { left, top, width: 1 + integer(1920 - left), height: 1 + integer(1000 - top) };
      return sharp(photograph(pick(SAMPLES)))
        .extract(region)
        .png({ compressionLevel: 0 })
        .toBuffer();
    }
    // Noise, and stripes of a random period.
    const period = 1 + integer(255);
    const pixels = Buffer.alloc(width * height * 3);
    for (let i = 0; i < pixels.length; i++) pixels[i] = kind === 2 ? integer(256) : (i * period) & 255;
    return sharp(pixels, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toBuffer();
  }

  /** A box that overlaps the image, of any size from one pixel to far beyond the edges. */
  function createBox(width: number, height: number): Box {
    const [x, y] = [integer(width), integer(height)];
    const reach = () => pick([0, 1, integer(10), integer(width + height), integer(2 ** 30)]);
    return { x1: x - reach(), y1: y - reach(), x2: x + 1 + reach(), y2: y + 1 + reach() };
  }

  for (let i = 0; i < CASES; i++) {
    const bytes = await createImage();
    const { width = 0, height = 0 } = await sharp(bytes).metadata();
    const boxes = Array.from({ length: integer(3) }, () => createBox(width, height));
    const { faces } = await analyzer.analyze(bytes, { boxes, detect: false, embeddings: true });
    expect(faces).toHaveLength(Math.max(1, boxes.length));
    for (const face of faces) {
      expectUsable(face);
      const { x1, y1, x2, y2 } = face.box;
      expect(x1 >= 0 && y1 >= 0 && x2 <= width && y2 <= height, JSON.stringify(face.box)).toBe(true);
    }
  }
});
