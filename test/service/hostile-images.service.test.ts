import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";
import { boxOf, cut } from "../support/faces.ts";
import { endlessExif, exifBlock, orientationBlock, withExif } from "../support/hand-made-exif.ts";
import {
  ARITHMETIC,
  greyJpeg,
  lateHeightJpeg,
  manyScanJpeg,
  restartJpeg,
} from "../support/hand-made-jpeg.ts";
import {
  bitPng,
  latin,
  SWELLING,
  widePng,
  withProfile,
  withSwelling,
  withTinySegments,
} from "../support/hostile-images.ts";
import {
  blankRows,
  chunk,
  editSegments,
  pngOf,
  twoComponentJpeg,
  withAnnouncedSize,
  withChunks,
} from "../support/images.ts";
import { postImage } from "../support/post-image.ts";

/** The longest that any answer may take. */
const MOST_MS = 5000;
const WIDTH = 300;
const HEIGHT = 320;

const face = () => cut(1, boxOf(360, 330, 660, 650));
const jpeg = await face().jpeg({ quality: 90 }).toBuffer();
const progressive = await face().jpeg({ quality: 90, progressive: true }).toBuffer();
const png = await face().png().toBuffer();
const interlaced = await face().png({ progressive: true }).toBuffer();
const MEBIBYTE = 2 ** 20;

type Make = () => Buffer | Promise<Buffer>;

let service: ServiceProcess;
let workers: readonly number[];
beforeAll(async () => {
  service = await startServiceProcess({ VISAGE_WORKERS: "1" });
  workers = service.workers;
});
afterAll(() => service.stop());

afterEach(async () => {
  const { body } = await ask(jpeg);
  expect(Object.keys(body.data.attributes)).toEqual(["face_id_0", "image_size"]);
  expect(service.workers).toEqual(workers);
});

async function ask(image: Uint8Array, fileName?: string) {
  const start = performance.now();
  const answer = await postImage(service.port, image, fileName);
  expect(performance.now() - start).toBeLessThan(MOST_MS);
  return answer;
}

async function expectError(kind: ErrorKind, image: Uint8Array): Promise<void> {
  const { status, body } = await ask(image);
  const { code, http, retryable } = ERRORS[kind];
  expect(body).toEqual({
    status: "error",
    code,
    success: false,
    message: expect.any(String),
    data: { reason: reasonFromKind(kind), retryable },
  });
  expect(status).toBe(http);
}

async function expectSize(width: number, height: number, image: Uint8Array): Promise<void> {
  const { status, body } = await ask(image);
  expect(body).toMatchObject({ code: "1000", data: { attributes: { image_size: [height, width] } } });
  expect(status).toBe(200);
}

async function expectFace(image: Uint8Array, fileName?: string): Promise<void> {
  const { body } = await ask(image, fileName);
  expect(Object.keys(body.data.attributes)).toEqual(["face_id_0", "image_size"]);
  expect(body.data.attributes.image_size).toEqual([HEIGHT, WIDTH]);
}

describe("images that are too large", () => {
  test.each<[string, Make]>([
    ["a sound PNG of 100 megapixels in 12 kB", () => bitPng(10_000)],
    ["a sound PNG of 900 megapixels", () => bitPng(30_000)],
    ["a PNG header of 90,000 megapixels", () => pngOf(300_000, 300_000, 16, 6, blankRows(1, 1000))],
    ["a sound JPEG of 100 megapixels", () => greyJpeg({ width: 10_000, height: 10_000 })],
    ["a JPEG header of 4,294 megapixels", () => withAnnouncedSize(jpeg, 65_535, 65_535)],
    ["a JPEG of 65,501 in a row", () => greyJpeg({ width: 65_501, height: 1 })],
    ["a PNG of one endless row", () => pngOf(40_000_000, 1, 8, 0, blankRows(1, 1000))],
    ["11 MiB of zeros", () => Buffer.alloc(11 * MEBIBYTE)],
    ["a JPEG with 11 MiB behind it", () => Buffer.concat([jpeg, Buffer.alloc(11 * MEBIBYTE)])],
    [
      "a progressive JPEG that fills the memory",
      () => manyScanJpeg({ width: 6300, height: 6300, isColour: true }, 4),
    ],
    ["a wide PNG that fills the memory", () => widePng()],
  ])("%s", async (_name, make) => expectError("imageTooLarge", await make()));

  test("a request beyond its own limit", async () => {
    await expectError("requestTooLarge", Buffer.alloc(33 * MEBIBYTE));
  });
});

describe("other formats", () => {
  test.each<[string, Make]>([
    ["nothing named as a picture", () => Buffer.from([0])],
    [
      "GIF",
      () => latin("GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"),
    ],
    [
      "a GIF bomb",
      () => latin("GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\xff\xff\xff\xff\0\x02\0;"),
    ],
    ["BMP", () => latin("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0")],
    ["WebP", () => face().webp().toBuffer()],
    ["TIFF", () => face().tiff().toBuffer()],
    ["SVG", () => latin('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["PDF", () => latin("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n")],
    ["HEIC", () => latin("\0\0\0\x18ftypheic\0\0\0\0mif1heic")],
    ["AVIF", () => latin("\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf")],
    ["ICO", () => latin("\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0\x68\x04\0\0\x16\0\0\0")],
    ["JPEG 2000", () => latin("\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 ")],
    ["JPEG XL", () => latin("\xff\x0a\xfa\x1f\x41\x91\x08\x06\x01\0")],
    ["9 MiB of zeros", () => Buffer.alloc(9 * MEBIBYTE)],
    ["a PNG behind one byte", () => Buffer.concat([Buffer.alloc(1), png])],
  ])("%s is not taken, whatever its name", async (_name, make) =>
    expectError("unsupportedFormat", await make()),
  );

  test.each([
    ["PNG", "photo.jpg", png],
    ["JPEG", "photo.png", jpeg],
    ["JPEG", "photo.exe", jpeg],
  ])("a %s named %s is taken for what it is", (_format, fileName, image) => expectFace(image, fileName));

  test("no bytes at all are a missing image", async () => {
    const { status, body } = await ask(Buffer.alloc(0));
    expect([ERRORS.badRequest.code, ERRORS.unsupportedFormat.code]).toContain(body.code);
    expect([400, 415]).toContain(status);
  });
});

describe("damage", () => {
  const places = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);
  test.each<[string, Buffer]>([
    ["JPEG", jpeg],
    ["progressive JPEG", progressive],
    ["PNG", png],
    ["interlaced PNG", interlaced],
  ])("%s is refused wherever it is cut", async (_format, image) => {
    for (const place of places) {
      await expectError("unreadableImage", image.subarray(0, Math.ceil(place * image.length)));
    }
  });

  test.each<[string, Buffer]>([
    ["JPEG", jpeg],
    ["PNG", png],
  ])("%s is refused or read as it is, wherever bytes are blank", async (_format, image) => {
    for (const place of places) {
      const start = Math.floor(place * image.length);
      const { status, body } = await ask(Buffer.from(image).fill(0, start, start + 40));
      expect([`${ERRORS.unreadableImage.code} 400`, "1000 200"]).toContain(`${body.code} ${status}`);
    }
  });

  const wrongChecksum = (at: number) => {
    const broken = Buffer.from(png);
    broken.writeUInt8(broken.readUInt8(at) ^ 1, at);
    return broken;
  };
  const firstData = png.indexOf("IDAT");
  test.each<[string, Make]>([
    ["a PNG with a wrong checksum on its header", () => wrongChecksum(29)],
    ["a PNG with another size than its checksum is for", () => wrongChecksum(19)],
    [
      "a PNG with a wrong checksum on its data",
      () => wrongChecksum(firstData + 4 + png.readUInt32BE(firstData - 4)),
    ],
    ["a PNG with less than its header says", () => pngOf(64, 64, 8, 2, blankRows(10, 64 * 3))],
    ["a PNG of no height", () => pngOf(64, 0, 8, 2, blankRows(1, 64 * 3))],
    ["a PNG of an unknown colour type", () => pngOf(64, 64, 8, 5, blankRows(64, 64 * 3))],
    ["a PNG of an unknown depth", () => pngOf(64, 64, 7, 2, blankRows(64, 64 * 3))],
    ["a palette PNG without its palette", () => pngOf(64, 64, 8, 3, blankRows(64, 64))],
    ["a PNG with an unknown chunk that it cannot do without", () => withChunks(png, chunk("FACE"))],
    ["a PNG with a chunk longer than itself", () => withChunks(png, Buffer.from("7fffffff74455874", "hex"))],
    ["a JPEG with less than its header says", () => withAnnouncedSize(jpeg, WIDTH, 4 * HEIGHT)],
    ["a JPEG of no width", () => withAnnouncedSize(jpeg, 0, HEIGHT)],
    ["a JPEG that tells its height late", () => lateHeightJpeg({ width: 100, height: 60 })],
    ["a JPEG with restarts out of order", () => restartJpeg({ width: 100, height: 60 }, (i) => (3 * i) % 8)],
    [
      "a JPEG without its tables",
      () => editSegments(jpeg, (marker, body) => (marker === 0xdb ? latin("") : body)),
    ],
    ["a JPEG of two components", () => twoComponentJpeg()],
    ["a JPEG in a thousand scans", () => manyScanJpeg({ width: 100, height: 60, isColour: true }, 1000)],
    ["a large JPEG in a thousand scans", () => manyScanJpeg({ width: 6300, height: 6300 }, 880)],
    [
      "a JPEG of 500,000 empty profiles",
      () => withTinySegments(jpeg, 0xe2, latin("ICC_PROFILE\0\x01\x01"), 500_000),
    ],
  ])("%s is refused", async (_name, make) => expectError("unreadableImage", await make()));

  test.each<[string, number, number, Make]>([
    ["a PNG with more than its header says", 64, 64, () => pngOf(64, 64, 8, 2, chunk("IDAT", SWELLING))],
    ["a JPEG with more than its header says", WIDTH, 160, () => withAnnouncedSize(jpeg, WIDTH, 160)],
  ])("%s is read as far as it says", async (_name, width, height, make) =>
    expectSize(width, height, await make()),
  );
});

describe("sizes", () => {
  test.each([
    [1, 1],
    [1, 65_535],
    [65_535, 1],
  ])("%i by %i pixels are an image without faces", async (width, height) => {
    await expectSize(width, height, pngOf(width, height, 8, 0, blankRows(height, width)));
  });

  test.each([
    [1, 65_500],
    [65_500, 1],
  ])("%i by %i pixels may be a JPEG", async (width, height) => {
    await expectSize(width, height, greyJpeg({ width, height }));
  });

  test.each<[string, number, number, Make]>([
    ["39 megapixels in 150 kB", 6300, 6300, () => greyJpeg({ width: 6300, height: 6300 })],
    ["39 megapixels in 32 scans", 6300, 6300, () => manyScanJpeg({ width: 6300, height: 6300 }, 32)],
    ["an arithmetic-coded JPEG", 100, 60, () => greyJpeg({ width: 100, height: 60, frame: ARITHMETIC })],
    ["a JPEG with restarts in order", 100, 60, () => restartJpeg({ width: 100, height: 60 }, (i) => i % 8)],
  ])("%s is read", async (_name, width, height, make) => expectSize(width, height, await make()));
});

describe("a face is found in", () => {
  const text = (keyword: string) => chunk("tEXt", latin(`${keyword}\0nonsense`));
  const frame = (sequence: number) =>
    chunk("fcTL", Buffer.from([0, 0, 0, sequence, 0, 0, 1, 44, 0, 0, 1, 64, ...Buffer.alloc(14)]));
  const animated = Buffer.concat([
    withChunks(png, chunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), frame(0)).subarray(0, -12),
    frame(1),
    chunk(
      "fdAT",
      Buffer.concat([Buffer.from([0, 0, 0, 2]), deflateSync(Buffer.alloc(HEIGHT * (1 + WIDTH * 3)))]),
    ),
    chunk("IEND"),
  ]);

  test.each<[string, Make]>([
    ["a progressive JPEG", () => progressive],
    ["a CMYK JPEG", () => face().toColourspace("cmyk").jpeg().toBuffer()],
    ["a grey JPEG", () => face().greyscale().jpeg().toBuffer()],
    ["an interlaced PNG", () => interlaced],
    ["a 16-bit PNG", () => face().toColourspace("rgb16").png().toBuffer()],
    ["a palette PNG with clear colours", () => face().ensureAlpha(0.9).png({ palette: true }).toBuffer()],
    ["the first frame of an animated PNG", () => animated],
    ...[0, 1, 9, 255, 65_535].map((value): [string, Make] => [
      `a JPEG of orientation ${value}`,
      () => withExif(jpeg, orientationBlock(value)),
    ]),
    ["a JPEG whose EXIF is its own next directory", () => withExif(jpeg, exifBlock([], 8))],
    ["a JPEG whose EXIF never ends", () => withExif(jpeg, endlessExif())],
    ["a JPEG whose EXIF points outside", () => withExif(jpeg, latin("MM\0*\xff\xff\xff\xff"))],
    [
      "a JPEG whose thumbnail is larger than itself",
      () =>
        withExif(
          jpeg,
          exifBlock([
            { tag: 0x0201, type: 4, count: 1, value: 8 },
            { tag: 0x0202, type: 4, count: 1, value: 2 ** 31 },
          ]),
        ),
    ],
    ["a JPEG with 64 kB of nonsense for EXIF", () => withExif(jpeg, Buffer.alloc(65_000, "nonsense"))],
    ["a JPEG with 9 MB of profile", () => withProfile(jpeg, 140, 65_000)],
    ["a JPEG with two million empty segments", () => withTinySegments(jpeg, 0xe1, latin(""), 2_000_000)],
    ["a JPEG with two million comments", () => withTinySegments(jpeg, 0xfe, latin("?"), 2_000_000)],
    ["a PNG whose EXIF never ends", () => withChunks(png, chunk("eXIf", endlessExif()))],
    ["a PNG with a profile of 300 MB", () => withSwelling(png, "iCCP")],
    ["a PNG with a compressed text of 300 MB", () => withSwelling(png, "zTXt")],
    ["a PNG with an international text of 300 MB", () => withSwelling(png, "iTXt")],
    ["a PNG with 300,000 texts", () => withChunks(png, Buffer.alloc(300_000 * text("a").length, text("a")))],
  ])("%s", async (_name, make) => expectFace(await make()));

  test.each([2, 3, 4, 5, 6, 7, 8])("photographs of orientation %i, in a JPEG and in a PNG", async (value) => {
    const turned = sharp(await face().png().toBuffer()).rotate(value > 4 ? 90 : 0);
    const block = orientationBlock(value);
    await expectUprightSize(withExif(await turned.clone().jpeg().toBuffer(), block));
    await expectUprightSize(withChunks(await turned.clone().png().toBuffer(), chunk("eXIf", block)));
  });
});

async function expectUprightSize(image: Uint8Array): Promise<void> {
  const { body } = await ask(image);
  expect(body.data.attributes.image_size).toEqual([HEIGHT, WIDTH]);
}
