import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { FaceError, type FaceErrorKind } from "../../../src/core/errors.ts";
import { decode } from "../../../src/core/image/decode.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "../../../src/core/image/limits.ts";
import { readWebpHeader } from "../../../src/core/image/webp-header.ts";
import { createOrientationExif } from "../../support/crafted-exif.ts";
import {
  createWebp,
  VP8X_FLAGS,
  vp8x,
  webpChunk,
  webpChunks,
  withVp8Size,
} from "../../support/crafted-webp.ts";
import { photograph, quadrants } from "../../support/images.ts";

const WIDTH = 320;
const HEIGHT = 214;
const LIMITS: ImageLimits = { ...DEFAULT_LIMITS, formats: ["jpeg", "png", "webp"] };
const small = () => sharp(photograph(1)).resize(WIDTH, HEIGHT);
const truth = await small().raw().toBuffer();
const lossy = await small().webp({ quality: 95 }).toBuffer();
const lossless = await small().webp({ lossless: true }).toBuffer();
const transparent = await small().ensureAlpha(0.5).webp().toBuffer();
const extended = await small().webp().withIccProfile("p3").toBuffer();
const [vp8] = webpChunks(lossy);

const open = (bytes: Uint8Array, limits = LIMITS) => decode(bytes, limits);

async function errorOf(bytes: Uint8Array, limits = LIMITS): Promise<FaceError> {
  const outcome = await open(bytes, limits).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(FaceError);
  return outcome as FaceError;
}

async function expectError(bytes: Uint8Array, kind: FaceErrorKind, message: RegExp = /./): Promise<void> {
  const error = await errorOf(bytes);
  expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(message)]);
  expect(error.message).toMatch(/^The image [^\n,:;]*\.$/);
  expect(error.message).not.toMatch(/vips|webp2/i);
}

function difference(a: Uint8Array, b: Uint8Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length;
}

describe("a WebP", () => {
  test("is rejected by default, with the accepted formats", async () => {
    const { kind, message } = await errorOf(lossy, DEFAULT_LIMITS);
    expect([kind, message]).toEqual(["unsupportedFormat", "The image is neither a JPEG nor a PNG."]);
    await expectError(Buffer.from("GIF89a"), "unsupportedFormat", /neither a JPEG nor a PNG nor a WebP/);
  });

  test.each<[string, number, () => Buffer | Promise<Buffer>]>([
    ["lossy", 2, () => lossy],
    [
      "with metadata",
      2,
      () =>
        small()
          .webp({ quality: 95 })
          .withExif({ IFD0: { Artist: "a" } })
          .toBuffer(),
    ],
    ["without the last padding", 2, () => unpadded(lossy)],
    ["with bytes after it", 2, () => Buffer.concat([lossy, Buffer.alloc(1000, 7)])],
    [
      "with unknown chunks",
      2,
      () =>
        createWebp(
          vp8x(0, WIDTH, HEIGHT),
          webpChunk("ABCD", Buffer.alloc(7)),
          chunkOf(vp8!),
          webpChunk("XMP ", Buffer.alloc(9)),
        ),
    ],
    [
      "with a broken ICC profile",
      2,
      () =>
        createWebp(
          vp8x(VP8X_FLAGS.icc, WIDTH, HEIGHT),
          webpChunk("ICCP", Buffer.alloc(300, 9)),
          chunkOf(vp8!),
        ),
    ],
    [
      "with broken EXIF",
      2,
      () =>
        createWebp(
          vp8x(VP8X_FLAGS.exif, WIDTH, HEIGHT),
          chunkOf(vp8!),
          webpChunk("EXIF", Buffer.alloc(60, 63)),
        ),
    ],
  ])("%s decodes to the photograph", async (_, tolerance, make) => {
    const { width, height, pixels } = await open(await make());
    expect([width, height, pixels.width, pixels.height]).toEqual([WIDTH, HEIGHT, WIDTH, HEIGHT]);
    expect(difference(pixels.data, truth)).toBeLessThanOrEqual(tolerance);
  });

  test("an ICC profile is applied", async () => {
    const red = sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } });
    const webp = await red.withIccProfile("p3").webp({ quality: 100 }).toBuffer();
    const { pixels } = await open(webp);
    expect(difference(pixels.data.subarray(0, 3), Uint8Array.from([255, 0, 0]))).toBeLessThan(3);
  });

  test("above the limit is downscaled, and its original size is reported", async () => {
    const webp = await sharp(photograph(6)).resize(3000).webp({ effort: 0 }).toBuffer();
    const { width, pixels } = await open(webp);
    expect([width, pixels.width]).toEqual([3000, 1024]);
  });
});

describe("EXIF orientation", () => {
  const colours = { r: "#ff0000", g: "#00ff00", b: "#0000ff", w: "#ffffff" } as const;
  const stored = ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "gwrb", "wgbr", "brwg"];
  const upright = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];

  test.each(stored.flatMap((corners, i) => [48, 1500].map((height) => [i + 1, height, corners] as const)))(
    "%i of an image %i pixels high is applied",
    async (tag, height, corners) => {
      const width = (height * 5) / 3;
      const [storedWidth, storedHeight] = tag > 4 ? [height, width] : [width, height];
      const picture = quadrants(
        [...corners].map((corner) => colours[corner as keyof typeof colours]),
        storedWidth,
        storedHeight,
      );
      const chunks = webpChunks(await picture.webp({ quality: 100 }).toBuffer());
      const exif = webpChunk("EXIF", createOrientationExif(tag));
      const photo = await open(
        createWebp(vp8x(VP8X_FLAGS.exif, storedWidth, storedHeight), chunkOf(chunks[0]!), exif),
      );
      expect([photo.width, photo.height]).toEqual([Math.floor(width), height]);
      const { pixels } = photo;
      const seen = [0.25, 0.75].flatMap((y) =>
        [0.25, 0.75].flatMap((x) => {
          const at = 3 * (Math.floor(y * pixels.height) * pixels.width + Math.floor(x * pixels.width));
          return [...pixels.data.subarray(at, at + 3)];
        }),
      );
      expect(difference(Uint8Array.from(seen), Uint8Array.from(upright))).toBeLessThan(3);
    },
  );
});

describe("a WebP that is too large is rejected before decoding:", () => {
  test.each<[string, () => Buffer, RegExp]>([
    [
      "a canvas of 281 terapixels",
      () => createWebp(vp8x(0, 2 ** 24, 2 ** 24), chunkOf(vp8!)),
      /has 281474976\.8 megapixels/,
    ],
    ["a huge canvas without an image", () => createWebp(vp8x(0, 20_000, 20_000)), /has 400 megapixels/],
    ["a canvas of one row", () => createWebp(vp8x(0, 2 ** 24, 1), chunkOf(vp8!)), /has 3590\.4 megapixels/],
    [
      "a lossy frame",
      () => createWebp(webpChunk("VP8 ", withVp8Size(vp8!.content, 16_383, 16_383))),
      /has 268\.5/,
    ],
    [
      "a large lossy frame in a small canvas",
      () => createWebp(vp8x(0, 10, 10), webpChunk("VP8 ", withVp8Size(vp8!.content, 16_383, 16_383))),
      /has 268\.5/,
    ],
  ])("%s", async (_, make, message) => expectError(make(), "imageTooLarge", message));

  test("too many bytes", async () => {
    const huge = Buffer.concat([lossy, Buffer.alloc(LIMITS.maxBytes)]);
    await expectError(huge, "imageTooLarge", /MiB and the limit is 10 MiB/);
  });

  test("the limits are inclusive", async () => {
    const exact = { ...LIMITS, maxBytes: lossy.length, maxPixels: WIDTH * HEIGHT };
    await expect(open(lossy, exact)).resolves.toBeDefined();
    expect((await errorOf(lossy, { ...exact, maxPixels: exact.maxPixels - 1 })).kind).toBe("imageTooLarge");
    expect((await errorOf(lossy, { ...exact, maxBytes: exact.maxBytes - 1 })).kind).toBe("imageTooLarge");
  });
});

test.each([
  ["lossless", lossless],
  ["transparent", transparent],
])("a %s WebP is rejected", async (_, webp) =>
  expectError(webp, "unsupportedFormat", /a lossless or transparent WebP and only lossy opaque ones/),
);

describe("an animated WebP is rejected:", () => {
  const frames = sharp({ create: { width: 16, height: 32, channels: 3, background: "red" } });
  test.each<[string, () => Buffer | Promise<Buffer>]>([
    ["by its frames", async () => animate(await frames.png().toBuffer())],
    ["by its flag", () => createWebp(vp8x(VP8X_FLAGS.animation, WIDTH, HEIGHT), chunkOf(vp8!))],
    [
      "by a frame without the flag",
      () => createWebp(vp8x(0, WIDTH, HEIGHT), webpChunk("ANMF", Buffer.alloc(24))),
    ],
  ])("%s", async (_, make) =>
    expectError(await make(), "unsupportedFormat", /animated WebP and only still images/),
  );
});

describe("a corrupt WebP is rejected:", () => {
  const riffSize = (bytes: Buffer, size: number) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt32LE(size, 4);
    return copy;
  };
  test.each<[string, () => Buffer]>([
    ["its signature alone", () => lossy.subarray(0, 12)],
    ["half of a lossy one", () => lossy.subarray(0, lossy.length >> 1)],
    ["a lossy one without its last bytes", () => lossy.subarray(0, -20)],
    [
      "half of the bitstream in a whole file",
      () => createWebp(webpChunk("VP8 ", vp8!.content.subarray(0, 2000))),
    ],
    ["a file size of 0", () => riffSize(lossy, 0)],
    ["a file size of 4 GiB", () => riffSize(lossy, 2 ** 32 - 1)],
    ["a file size less than that of the chunk", () => riffSize(lossy, 100)],
    ["a chunk of 4 GiB", () => createWebp(webpChunk("VP8 ", vp8!.content, 2 ** 32 - 1))],
    [
      "a chunk that exceeds the file by a byte",
      () => createWebp(webpChunk("VP8 ", vp8!.content, vp8!.content.length + 2)),
    ],
    ["an empty chunk", () => createWebp(webpChunk("VP8 ", Buffer.alloc(0)))],
    ["a frame of no size", () => createWebp(webpChunk("VP8 ", withVp8Size(vp8!.content, 0, 0)))],
    [
      "a frame that is no key frame",
      () => createWebp(webpChunk("VP8 ", Buffer.from([1, ...vp8!.content.subarray(1)]))),
    ],
    [
      "a frame larger than its data",
      () => createWebp(webpChunk("VP8 ", withVp8Size(vp8!.content, 4000, 4000))),
    ],
    ["a canvas larger than the frame", () => createWebp(vp8x(0, WIDTH + 1, HEIGHT), chunkOf(vp8!))],
    ["a canvas smaller than the frame", () => createWebp(vp8x(0, WIDTH - 1, HEIGHT), chunkOf(vp8!))],
    ["a canvas without a frame", () => createWebp(vp8x(0, WIDTH, HEIGHT))],
    ["a truncated extended header", () => createWebp(webpChunk("VP8X", Buffer.alloc(4)), chunkOf(vp8!))],
    ["an unknown first chunk", () => createWebp(webpChunk("ABCD", Buffer.alloc(8)), chunkOf(vp8!))],
  ])("%s", async (_, make) => expectError(make(), "unreadableImage"));

  test.each<[string, Buffer]>([
    ["lossy", lossy],
    ["extended", extended],
  ])("a %s one that is truncated at any byte of its header", (_, webp) => {
    for (let length = 0; length < Math.min(webp.length - 1, 400); length++)
      expect(() => readWebpHeader(webp.subarray(0, length)), String(length)).toThrow(RangeError);
  });

  const places = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);
  test("a bitstream that is truncated anywhere, in a whole file", async () => {
    for (const place of [...places, 0.999]) {
      const part = vp8!.content.subarray(0, Math.floor(place * vp8!.content.length));
      await expectError(createWebp(webpChunk("VP8 ", part)), "unreadableImage");
    }
  });

  test("a bitstream with zeroed bytes is decoded or rejected", async () => {
    for (const webp of [lossy, extended]) {
      for (const place of places) {
        const start = Math.floor(place * webp.length);
        const outcome = await open(Buffer.from(webp).fill(0, start, start + 40)).catch(
          (error: unknown) => error,
        );
        if (outcome instanceof Error) expect(outcome).toMatchObject({ kind: "unreadableImage" });
        else expect(outcome).toMatchObject({ width: WIDTH, height: HEIGHT });
      }
    }
  });

  test("a header with any changed byte is read or rejected", async () => {
    for (const webp of [lossy, extended]) {
      for (let at = 0; at < 64; at++) {
        for (const value of [0x00, 0x7f, 0xff]) {
          const changed = Buffer.from(webp);
          changed[at] = value;
          try {
            const { width, height, sanitized } = readWebpHeader(changed);
            expect(width * height).toBeGreaterThanOrEqual(0);
            expect(sanitized.length).toBeLessThanOrEqual(changed.length + 100);
          } catch (error) {
            if (!(error instanceof FaceError)) expect(error).toBeInstanceOf(RangeError);
          }
        }
      }
    }
  });
});

test("the memory does not depend on the number of unknown chunks", () => {
  const many = Array.from({ length: 20_000 }, (_, i) =>
    webpChunk(i.toString(36).padStart(4), Buffer.alloc(0)),
  );
  const webp = createWebp(vp8x(0, WIDTH, HEIGHT), ...many, chunkOf(vp8!));
  expect(readWebpHeader(webp).sanitized.length).toBeLessThan(vp8!.content.length + 100);
});

function chunkOf({ type, content }: { readonly type: string; readonly content: Buffer }): Buffer {
  return webpChunk(type, content);
}

/** Removes the padding of the last chunk, and shortens the chunk to an odd length if it has none. */
function unpadded(webp: Buffer): Buffer {
  const { type, content } = webpChunks(webp)[0]!;
  const odd = content.length & 1 ? content : Buffer.concat([content, Buffer.alloc(1)]);
  return createWebp(webpChunk(type, odd)).subarray(0, -1);
}

/** Makes an animation of two frames by hand; the loaders of animations are blocked. */
async function animate(png: Buffer): Promise<Buffer> {
  const still = webpChunks(await sharp(png).webp().toBuffer())[0]!;
  const frame = Buffer.alloc(16);
  frame.writeUIntLE(15, 6, 3);
  frame.writeUIntLE(31, 9, 3);
  const anmf = webpChunk("ANMF", Buffer.concat([frame, chunkOf(still)]));
  return createWebp(vp8x(VP8X_FLAGS.animation, 16, 32), webpChunk("ANIM", Buffer.alloc(6)), anmf, anmf);
}
