import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { FaceError, type FaceErrorKind } from "../../../src/core/errors.ts";
import { DOWNSCALED_SIDE, decode, MAX_FULL_SIZE_SIDE } from "../../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../../src/core/image/limits.ts";
import type { Photo } from "../../../src/core/types.ts";
import {
  blankDataChunk,
  createPng,
  editSegments,
  jpegSegment,
  photograph,
  pngChunk,
  quadrants,
  twoComponentJpeg,
  withAnnouncedSize,
  withChunks,
  withSegments,
  withZeroedScanHeader,
} from "../../support/images.ts";

const WIDTH = 320;
const HEIGHT = 214;
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);
const small = () => sharp(photograph(1)).resize(WIDTH, HEIGHT);
const truth = await small().raw().toBuffer();
const jpeg = await small().jpeg({ quality: 95 }).toBuffer();
const progressive = await small().jpeg({ quality: 95, progressive: true }).toBuffer();
const png = await small().png().toBuffer();
const interlaced = await small().png({ progressive: true }).toBuffer();

const open = (bytes: Uint8Array) => decode(bytes, DEFAULT_LIMITS);
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
const text = (content: string) => Buffer.from(content, "latin1");
const filled = (length: number) => Buffer.alloc(length, 9);

function difference(a: Uint8Array, b: Uint8Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length;
}

function colourAt({ pixels }: Photo, x: number, y: number): number[] {
  const at = 3 * (Math.floor(y * pixels.height) * pixels.width + Math.floor(x * pixels.width));
  return [...pixels.data.subarray(at, at + 3)];
}

async function catchFaceError(work: Promise<Photo>): Promise<FaceError> {
  const outcome = await work.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(FaceError);
  return outcome as FaceError;
}

async function expectError(bytes: Uint8Array, kind: FaceErrorKind): Promise<FaceError> {
  const error = await catchFaceError(open(bytes));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(/^The image [^\n]*\.$/);
  expect(error.message).not.toMatch(/vips|libpng|buffer/i);
  return error;
}

describe("photographs", () => {
  test.each([1, 2, 3, 4, 5, 6] as const)("sample %i is decoded at full size", async (n) => {
    const { data, info } = await sharp(photograph(n)).raw().toBuffer({ resolveWithObject: true });
    const { width, height, pixels } = await open(photograph(n));

    expect([width, height]).toEqual([info.width, info.height]);
    expect([pixels.width, pixels.height]).toEqual([info.width, info.height]);
    expect(difference(pixels.data, data)).toBe(0);
  });

  // Downscaling in libjpeg may shift the image by up to half a pixel, which shows in fine patterns.
  test.each([
    [2049, 0.1],
    [3072, 0.1],
    [3075, 2],
    [4033, 2],
    [5003, 2],
  ])("an image %i pixels wide is downscaled, and its original size is reported", async (side, tolerance) => {
    const bytes = await sharp(photograph(6)).resize(side).jpeg().toBuffer();
    const full = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const { width, height, pixels } = await open(bytes);

    expect([width, height]).toEqual([full.info.width, full.info.height]);
    expect([pixels.width, pixels.height]).toEqual([
      DOWNSCALED_SIDE,
      Math.round((DOWNSCALED_SIDE * height) / width),
    ]);
    expect(pixels.data.length).toBe(pixels.width * pixels.height * 3);
    const shrunk = sharp(full.data, { raw: { width, height, channels: 3 } });
    const expected = await shrunk.resize(pixels.width, pixels.height, { fit: "fill" }).raw().toBuffer();
    expect(difference(pixels.data, expected)).toBeLessThan(tolerance);
  });

  test.each([2049, 3075, 4033, 5003, 6007])(
    "nothing in an image %i pixels wide moves by a whole pixel",
    async (side) => {
      const stripe = 64;
      const isWhite = (x: number) => Math.floor((x * DOWNSCALED_SIDE) / side / stripe) % 2 === 1;
      const row = Uint8Array.from({ length: side }, (_, x) => (isWhite(x + 0.5) ? 255 : 0));
      const striped = sharp(Buffer.concat(new Array<Uint8Array>(300).fill(row)), {
        raw: { width: side, height: 300, channels: 1 },
      });
      const { data } = (await open(await striped.jpeg({ quality: 95 }).toBuffer())).pixels;
      for (let edge = stripe; edge < DOWNSCALED_SIDE; edge += stripe) {
        const [before, after] = [edge - 2, edge + 1].map((x) => data[3 * x]! > 127);
        expect([before, after], `at ${edge}`).toEqual([edge % 128 === 0, edge % 128 !== 0]);
      }
    },
  );

  test("the same bytes give the same pixels and are not modified", async () => {
    const bytes = withZeroedScanHeader(photograph(2));
    const before = Buffer.from(bytes);
    const [first, second] = await Promise.all([open(bytes), open(bytes)]);
    expect(Buffer.compare(first.pixels.data, second.pixels.data)).toBe(0);
    expect(bytes.equals(before)).toBe(true);
  });

  test("the bytes may be part of a larger buffer", async () => {
    const { buffer } = Uint8Array.from([1, 2, 3, ...jpeg, 4]);
    const { pixels } = await open(new Uint8Array(buffer, 3, jpeg.length));
    expect(difference(pixels.data, (await open(jpeg)).pixels.data)).toBe(0);
  });

  test("memory does not grow over many images", async () => {
    const bytes = createPng(1024, 1024, 8, 0, blankDataChunk(1024, 1024));
    await open(bytes);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 150; i++) await open(bytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(250e6); // the pixels alone come to 470 MB
  });
});

describe("encodings", () => {
  const grey16 = () => small().toColourspace("grey16");
  test.each<[string, number, () => Buffer | Promise<Buffer>]>([
    ["JPEG", 2, () => jpeg],
    ["progressive JPEG", 2, () => progressive],
    [
      "JPEG with a Display P3 profile",
      3,
      () => small().withIccProfile("p3").jpeg({ quality: 95 }).toBuffer(),
    ],
    ["CMYK JPEG", 12, () => small().toColourspace("cmyk").jpeg({ quality: 95 }).toBuffer()],
    ["PNG", 0, () => png],
    ["interlaced PNG", 0, () => interlaced],
    ["PNG with alpha", 0, () => small().ensureAlpha().png().toBuffer()],
    ["palette PNG", 5, () => small().png({ palette: true }).toBuffer()],
    ["16-bit PNG", 1, () => small().toColourspace("rgb16").png().toBuffer()],
    [
      "16-bit PNG with an sRGB profile",
      1,
      () => small().toColourspace("rgb16").withIccProfile("srgb").png().toBuffer(),
    ],
    [
      "animated PNG, by its first frame",
      0,
      () => {
        const frame = (sequence: number) =>
          pngChunk("fcTL", Buffer.from([0, 0, 0, sequence, 0, 0, 1, 64, 0, 0, 0, 214, ...Buffer.alloc(14)]));
        const animated = withChunks(png, pngChunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), frame(0));
        const second = Buffer.concat([
          Buffer.from([0, 0, 0, 2]),
          deflateSync(filled(HEIGHT * (1 + WIDTH * 3))),
        ]);
        return Buffer.concat([
          animated.subarray(0, -12),
          frame(1),
          pngChunk("fdAT", second),
          pngChunk("IEND"),
        ]);
      },
    ],
  ])("%s decodes to the photograph", async (_kind, tolerance, make) => {
    const { width, height, pixels } = await open(await make());
    expect([width, height, pixels.width, pixels.height]).toEqual([WIDTH, HEIGHT, WIDTH, HEIGHT]);
    expect(difference(pixels.data, truth)).toBeLessThanOrEqual(tolerance);
  });

  test.each<[string, () => Promise<Buffer>]>([
    ["grey JPEG", () => small().greyscale().jpeg({ quality: 95 }).toBuffer()],
    ["grey PNG", () => small().toColourspace("b-w").png().toBuffer()],
    ["16-bit grey PNG", () => grey16().png().toBuffer()],
    ["16-bit grey PNG with alpha", () => grey16().ensureAlpha().png().toBuffer()],
    ["two-colour PNG", () => small().toColourspace("b-w").png({ palette: true, colours: 2 }).toBuffer()],
  ])("%s decodes to three equal channels", async (_kind, make) => {
    const { pixels } = await open(await make());
    expect(pixels.data.length).toBe(WIDTH * HEIGHT * 3);
    const grey = pixels.data.filter((_, i) => i % 3 === 0);
    expect(pixels.data.every((value, i) => value === grey[Math.floor(i / 3)])).toBe(true);
    expect(new Set(grey).size).toBeGreaterThan(1);
  });

  test.each(["srgb", "p3"])("red in the ICC profile %s is red in sRGB", async (profile) => {
    const red = sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } });
    expect(colourAt(await open(await red.withIccProfile(profile).png().toBuffer()), 0, 0)).toEqual([
      255, 0, 0,
    ]);
  });

  test.each([
    ["transparent", 0, 255],
    ["translucent", 0.5, 127],
    ["opaque", 1, 0],
  ])("%s black is flattened on white", async (_name, alpha, expected) => {
    const background = { r: 0, g: 0, b: 0, alpha };
    const black = sharp({ create: { width: 2000, height: 10, channels: 4, background } });
    for (const space of ["srgb", "b-w", "rgb16"]) {
      const [r = -1, g, b] = colourAt(
        await open(await black.clone().toColourspace(space).png().toBuffer()),
        0.5,
        0.5,
      );
      expect(Math.abs(r - expected), space).toBeLessThanOrEqual(1);
      expect([g, b]).toEqual([r, r]);
    }
  });
});

describe("EXIF orientation", () => {
  const colours = { r: "#ff0000", g: "#00ff00", b: "#0000ff", w: "#ffffff" } as const;
  const upright = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 255],
  ];
  // How the upright corners (red, green, blue, white) are stored under each value of the tag.
  const stored = ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "gwrb", "wgbr", "brwg"].map((corners, i) => ({
    tag: i + 1,
    corners: [...corners].map((corner) => colours[corner as keyof typeof colours]),
  }));
  const sizes = [
    [80, 48, 80, 48],
    [3072, 2000, 1024, 667],
  ] as const;
  const cases = stored.flatMap((how) =>
    sizes.flatMap((size) => (["jpeg", "png"] as const).map((format) => ({ ...how, size, format }))),
  );

  test.each(cases)(
    "$tag of a $format $size.0 pixels wide is applied",
    async ({ tag, corners, size, format }) => {
      const [width, height, workingWidth, workingHeight] = size;
      const [storedWidth, storedHeight] = tag > 4 ? [height, width] : [width, height];
      const picture = quadrants(corners, storedWidth, storedHeight).withMetadata({ orientation: tag });
      const photo = await open(
        await (format === "jpeg" ? picture.jpeg({ quality: 95 }) : picture.png()).toBuffer(),
      );

      expect([photo.width, photo.height]).toEqual([width, height]);
      expect([photo.pixels.width, photo.pixels.height]).toEqual([workingWidth, workingHeight]);
      const seen = [0.25, 0.75].flatMap((y) => [0.25, 0.75].flatMap((x) => colourAt(photo, x, y)));
      expect(difference(Uint8Array.from(seen), Uint8Array.from(upright.flat()))).toBeLessThan(2);
    },
  );
});

describe("size", () => {
  test.each([
    [1, 1, 1, 1],
    [MAX_FULL_SIZE_SIDE, 10, MAX_FULL_SIZE_SIDE, 10],
    [MAX_FULL_SIZE_SIDE + 1, 10, DOWNSCALED_SIDE, 5],
    [2001, 3000, 683, DOWNSCALED_SIDE],
    [65_535, 1, DOWNSCALED_SIDE, 1],
    [1, 65_535, 1, DOWNSCALED_SIDE],
  ])("%i by %i is decoded to %i by %i", async (width, height, workingWidth, workingHeight) => {
    const photo = await open(createPng(width, height, 8, 0, blankDataChunk(height, width)));
    expect([photo.width, photo.height]).toEqual([width, height]);
    expect([photo.pixels.width, photo.pixels.height]).toEqual([workingWidth, workingHeight]);
  });

  test.each<[string, Buffer, RegExp]>([
    [
      "a valid PNG of 100 megapixels",
      createPng(10_000, 10_000, 1, 0, blankDataChunk(10_000, 1250)),
      /^The image has 100 megapixels and the limit is 40 megapixels\.$/,
    ],
    ["a PNG header of 900 megapixels", createPng(30_000, 30_000, 8, 2), /has 900 megapixels/],
    ["a PNG header of 90,000 megapixels", createPng(300_000, 300_000, 16, 6), /has 90000 megapixels/],
    ["the largest PNG header", createPng(2 ** 32 - 1, 2 ** 32 - 1, 8, 2), /has 18446744065119\.7 megapixels/],
    ["a JPEG header of 65,500 a side", withAnnouncedSize(jpeg, 65_500, 65_500), /has 4290\.3 megapixels/],
    ["the largest JPEG header", withAnnouncedSize(jpeg, 65_535, 65_535), /has 4294\.9 megapixels/],
    [
      "a PNG of one huge row",
      createPng(40_000_000, 1, 16, 6),
      /^The image is 40000000 by 1 pixels and the limit is 65535 on a side\.$/,
    ],
    [
      "too many bytes",
      Buffer.concat([jpeg, Buffer.alloc(DEFAULT_LIMITS.maxBytes)]),
      /^The image is 10\.1 MiB and the limit is 10 MiB\.$/,
    ],
  ])("%s is rejected before decoding", async (_name, bytes, message) => {
    const start = process.cpuUsage();
    expect((await expectError(bytes, "imageTooLarge")).message).toMatch(message);
    // CPU time, because on a busy machine much of the wall time belongs to other processes.
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(250);
  });

  test("the limits are inclusive", async () => {
    const exact = { ...DEFAULT_LIMITS, maxBytes: jpeg.length, maxPixels: WIDTH * HEIGHT };
    await expect(decode(jpeg, exact)).resolves.toBeDefined();
    for (const limit of ["maxBytes", "maxPixels"] as const) {
      const error = await catchFaceError(decode(jpeg, { ...exact, [limit]: exact[limit] - 1 }));
      expect(error.kind).toBe("imageTooLarge");
    }
  });
});

describe("other formats", () => {
  test.each<[string, Buffer | Promise<Buffer>]>([
    ["nothing", Buffer.alloc(0)],
    ["GIF", small().gif().toBuffer()],
    ["WebP", small().webp().toBuffer()],
    ["TIFF", small().tiff().toBuffer()],
    ["AVIF", small().resize(32).avif().toBuffer()],
    ["HEIC", text("\0\0\0\x18ftypheic\0\0\0\0mif1heic")],
    ["BMP", text("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0")],
    ["SVG", text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["PDF", text("%PDF-1.7\n")],
    ["noise", filled(5000)],
    ["half a signature", png.subarray(0, 4)],
    ["a PNG after a space", Buffer.concat([text(" "), png])],
  ])("%s is rejected", async (name, bytes) => {
    const error = await expectError(await bytes, "unsupportedFormat");
    expect(error.message).toMatch(name === "nothing" ? /empty/ : /neither a JPEG nor a PNG/);
  });

  test("no other loader of libvips is available", async () => {
    await expect(sharp(await small().gif().toBuffer()).metadata()).rejects.toThrow(/unsupported/);
  });
});

describe("corrupt data", () => {
  const overwritten = (bytes: Buffer, count: number) =>
    Buffer.from(bytes).fill(0, bytes.length >> 1, (bytes.length >> 1) + count);
  test.each<[string, Buffer | Promise<Buffer>]>([
    ["half a JPEG", half(jpeg)],
    ["half a progressive JPEG", half(progressive)],
    ["a large JPEG without its end", photograph(3).subarray(0, -500)],
    ["a JPEG without its last bytes", jpeg.subarray(0, -20)],
    ["half a JPEG with an end marker", Buffer.concat([half(jpeg), END_OF_IMAGE])],
    ["half a progressive JPEG with an end marker", Buffer.concat([half(progressive), END_OF_IMAGE])],
    [
      "half a Samsung JPEG with an end marker",
      withZeroedScanHeader(Buffer.concat([half(jpeg), END_OF_IMAGE])),
    ],
    ["a JPEG with zeroed data", overwritten(jpeg, 1000)],
    ["a JPEG with less data than announced", withAnnouncedSize(jpeg, WIDTH, 4 * HEIGHT)],
    ["a JPEG of width 0", withAnnouncedSize(jpeg, 0, HEIGHT)],
    ["a JPEG of height 0", withAnnouncedSize(jpeg, WIDTH, 0)],
    ["a JPEG truncated in its header", jpeg.subarray(0, 100)],
    [
      "a JPEG with an empty scan header",
      editSegments(jpeg, (marker, body) => (marker === 0xda ? text("") : body)),
    ],
    ["a JPEG of one marker", Buffer.from([0xff, 0xd8, 0xff])],
    ["a JPEG signature and noise", Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), filled(5000)])],
    [
      "a JPEG header with data where a marker is expected",
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0, 0xc2, 0, 17, 8, 255, 255, 255, 255, ...filled(50)]),
    ],
    ["a JPEG of two components", twoComponentJpeg()],
    ["half a PNG", half(png)],
    ["a PNG without its last bytes", png.subarray(0, -20)],
    ["half an interlaced PNG", half(interlaced)],
    ["a PNG with wrong bytes", overwritten(png, 8)],
    ["an interlaced PNG with wrong bytes", overwritten(interlaced, 8)],
    ["a PNG with less data than announced", createPng(64, 64, 8, 2, blankDataChunk(10, 64 * 3))],
    ["a PNG of width 0", createPng(0, 64, 8, 2, blankDataChunk(64, 0))],
    ["a PNG without pixels", createPng(64, 64, 8, 2)],
    ["a PNG signature", png.subarray(0, 8)],
    ["a PNG signature and noise", Buffer.concat([png.subarray(0, 8), filled(5000)])],
  ])("%s is rejected", async (_name, bytes) => {
    const error = await expectError(await bytes, "unreadableImage");
    expect(error.cause).toBeInstanceOf(Error);
  });
});

describe("irregularities of real files", () => {
  const profile = (body: Uint8Array, part = 1, of = 1) =>
    jpegSegment(0xe2, Buffer.concat([text("ICC_PROFILE\0"), Buffer.from([part, of]), body]));
  const hugeProfile = Array.from({ length: 140 }, (_, i) => profile(filled(65_000), i + 1, 140));
  const bomb = deflateSync(Buffer.alloc(50_000_000));
  const wrongChecksum = Buffer.concat([pngChunk("tEXt", text("Title\0Face")).subarray(0, -4), filled(4)]);

  test.each<[string, Buffer]>([
    ["bytes after a JPEG", Buffer.concat([jpeg, filled(1000)])],
    ["a second JPEG after the first", Buffer.concat([jpeg, jpeg])],
    ["bytes before the end of a JPEG", Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(4), END_OF_IMAGE])],
    ["the scan header of Samsung phones", withZeroedScanHeader(jpeg)],
    ["fill bytes before a marker", withSegments(jpeg, Buffer.from([0xff, 0xff, 0xff]))],
    ["a broken ICC profile in a JPEG", withSegments(jpeg, profile(filled(500)))],
    ["a huge ICC profile in a JPEG", withSegments(jpeg, ...hugeProfile)],
    ["a broken EXIF block", withSegments(jpeg, jpegSegment(0xe1, text(`Exif\0\0${"?".repeat(60)}`)))],
    ["a long comment", withSegments(jpeg, jpegSegment(0xfe, filled(65_000)))],
    ["bytes after a PNG", Buffer.concat([png, filled(1000)])],
    ["a PNG without its last chunk", png.subarray(0, -12)],
    ["a wrong checksum of a text chunk", withChunks(png, wrongChecksum)],
    [
      "a broken ICC profile in a PNG",
      withChunks(png, pngChunk("iCCP", Buffer.concat([text("p\0\0"), filled(500)]))),
    ],
    [
      "a decompression bomb in an ICC profile",
      withChunks(png, pngChunk("iCCP", Buffer.concat([text("p\0\0"), bomb]))),
    ],
    [
      "a decompression bomb in a text chunk",
      withChunks(png, pngChunk("zTXt", Buffer.concat([text("t\0\0"), bomb]))),
    ],
    ["a broken EXIF block in a PNG", withChunks(png, pngChunk("eXIf", filled(40)))],
  ])("%s does not change the pixels", async (_name, bytes) => {
    const plain = bytes[0] === 0xff ? jpeg : png;
    const { pixels } = await open(bytes);
    expect(difference(pixels.data, (await open(plain)).pixels.data)).toBe(0);
  });
});

describe("cancellation", () => {
  test("before the start decodes nothing", async () => {
    await expect(decode(Buffer.alloc(0), DEFAULT_LIMITS, AbortSignal.abort("late"))).rejects.toBe("late");
  });

  test("while decoding rejects with the reason", async () => {
    const controller = new AbortController();
    const work = decode(photograph(1), DEFAULT_LIMITS, controller.signal);
    controller.abort("gone");
    await expect(work).rejects.toBe("gone");
  });
});
