import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";
import { createCyclicExif, createExif, createOrientationExif, withExif } from "../support/crafted-exif.ts";
import {
  ARITHMETIC,
  createGreyJpeg,
  createLateHeightJpeg,
  createManyScanJpeg,
  createRestartJpeg,
} from "../support/crafted-jpeg.ts";
import { boxOf, cropPhotograph } from "../support/faces.ts";
import {
  createBitPng,
  createWidePng,
  DEFLATE_BOMB,
  latin1,
  withDeflateBomb,
  withProfile,
  withTinySegments,
} from "../support/hostile-images.ts";
import {
  blankDataChunk,
  createPng,
  editSegments,
  pngChunk,
  twoComponentJpeg,
  withAnnouncedSize,
  withChunks,
} from "../support/images.ts";
import { postImage } from "../support/post-image.ts";

/** Maximum duration of any response. */
const MAX_RESPONSE_MS = 5000;
const WIDTH = 300;
const HEIGHT = 320;

const face = () => cropPhotograph(1, boxOf(360, 330, 660, 650));
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
  expect(performance.now() - start).toBeLessThan(MAX_RESPONSE_MS);
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
    ["a valid PNG of 100 megapixels in 12 kB", () => createBitPng(10_000)],
    ["a valid PNG of 900 megapixels", () => createBitPng(30_000)],
    ["a PNG header of 90,000 megapixels", () => createPng(300_000, 300_000, 16, 6, blankDataChunk(1, 1000))],
    ["a valid JPEG of 100 megapixels", () => createGreyJpeg({ width: 10_000, height: 10_000 })],
    ["a JPEG header of 4,294 megapixels", () => withAnnouncedSize(jpeg, 65_535, 65_535)],
    ["a JPEG 65,501 pixels wide", () => createGreyJpeg({ width: 65_501, height: 1 })],
    ["a PNG of one huge row", () => createPng(40_000_000, 1, 8, 0, blankDataChunk(1, 1000))],
    ["11 MiB of zeros", () => Buffer.alloc(11 * MEBIBYTE)],
    ["a JPEG followed by 11 MiB of zeros", () => Buffer.concat([jpeg, Buffer.alloc(11 * MEBIBYTE)])],
    [
      "a progressive JPEG that needs too much memory",
      () => createManyScanJpeg({ width: 6300, height: 6300, isColour: true }, 4),
    ],
    ["a wide PNG that needs too much memory", () => createWidePng()],
  ])("%s", async (_name, make) => expectError("imageTooLarge", await make()));

  test("a request above the request limit", async () => {
    await expectError("requestTooLarge", Buffer.alloc(33 * MEBIBYTE));
  });
});

describe("other formats", () => {
  test.each<[string, Make]>([
    ["a single zero byte", () => Buffer.from([0])],
    [
      "GIF",
      () => latin1("GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"),
    ],
    [
      "a GIF bomb",
      () => latin1("GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\xff\xff\xff\xff\0\x02\0;"),
    ],
    ["BMP", () => latin1("BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0")],
    ["WebP", () => face().webp().toBuffer()],
    ["TIFF", () => face().tiff().toBuffer()],
    ["SVG", () => latin1('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["PDF", () => latin1("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n")],
    ["HEIC", () => latin1("\0\0\0\x18ftypheic\0\0\0\0mif1heic")],
    ["AVIF", () => latin1("\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf")],
    ["ICO", () => latin1("\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0\x68\x04\0\0\x16\0\0\0")],
    ["JPEG 2000", () => latin1("\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 ")],
    ["JPEG XL", () => latin1("\xff\x0a\xfa\x1f\x41\x91\x08\x06\x01\0")],
    ["9 MiB of zeros", () => Buffer.alloc(9 * MEBIBYTE)],
    ["a PNG after one byte", () => Buffer.concat([Buffer.alloc(1), png])],
  ])("%s is rejected, whatever its file name", async (_name, make) =>
    expectError("unsupportedFormat", await make()),
  );

  test.each([
    ["PNG", "photo.jpg", png],
    ["JPEG", "photo.png", jpeg],
    ["JPEG", "photo.exe", jpeg],
  ])("a %s named %s is recognized by its content", (_format, fileName, image) => expectFace(image, fileName));

  test("an empty file is a missing image", async () => {
    const { status, body } = await ask(Buffer.alloc(0));
    expect([ERRORS.badRequest.code, ERRORS.unsupportedFormat.code]).toContain(body.code);
    expect([400, 415]).toContain(status);
  });
});

describe("corrupt data", () => {
  const places = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);
  test.each<[string, Buffer]>([
    ["JPEG", jpeg],
    ["progressive JPEG", progressive],
    ["PNG", png],
    ["interlaced PNG", interlaced],
  ])("%s is rejected wherever it is truncated", async (_format, image) => {
    for (const place of places) {
      await expectError("unreadableImage", image.subarray(0, Math.ceil(place * image.length)));
    }
  });

  test.each<[string, Buffer]>([
    ["JPEG", jpeg],
    ["PNG", png],
  ])("%s is rejected or decoded wherever bytes are zeroed", async (_format, image) => {
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
    ["a PNG with a wrong checksum of its header", () => wrongChecksum(29)],
    ["a PNG with a changed size and the old checksum", () => wrongChecksum(19)],
    [
      "a PNG with a wrong checksum of its data",
      () => wrongChecksum(firstData + 4 + png.readUInt32BE(firstData - 4)),
    ],
    ["a PNG with less data than announced", () => createPng(64, 64, 8, 2, blankDataChunk(10, 64 * 3))],
    ["a PNG of height 0", () => createPng(64, 0, 8, 2, blankDataChunk(1, 64 * 3))],
    ["a PNG of an unknown colour type", () => createPng(64, 64, 8, 5, blankDataChunk(64, 64 * 3))],
    ["a PNG of an unknown depth", () => createPng(64, 64, 7, 2, blankDataChunk(64, 64 * 3))],
    ["a palette PNG without its palette", () => createPng(64, 64, 8, 3, blankDataChunk(64, 64))],
    ["a PNG with an unknown critical chunk", () => withChunks(png, pngChunk("FACE"))],
    ["a PNG with a chunk longer than itself", () => withChunks(png, Buffer.from("7fffffff74455874", "hex"))],
    ["a JPEG with less data than announced", () => withAnnouncedSize(jpeg, WIDTH, 4 * HEIGHT)],
    ["a JPEG of width 0", () => withAnnouncedSize(jpeg, 0, HEIGHT)],
    ["a JPEG with its height in a DNL segment", () => createLateHeightJpeg({ width: 100, height: 60 })],
    [
      "a JPEG with restarts out of order",
      () => createRestartJpeg({ width: 100, height: 60 }, (i) => (3 * i) % 8),
    ],
    [
      "a JPEG without quantization tables",
      () => editSegments(jpeg, (marker, body) => (marker === 0xdb ? latin1("") : body)),
    ],
    ["a JPEG of two components", () => twoComponentJpeg()],
    [
      "a JPEG of a thousand scans",
      () => createManyScanJpeg({ width: 100, height: 60, isColour: true }, 1000),
    ],
    ["a large JPEG of a thousand scans", () => createManyScanJpeg({ width: 6300, height: 6300 }, 880)],
    [
      "a JPEG with 500,000 empty ICC profiles",
      () => withTinySegments(jpeg, 0xe2, latin1("ICC_PROFILE\0\x01\x01"), 500_000),
    ],
  ])("%s is rejected", async (_name, make) => expectError("unreadableImage", await make()));

  test.each<[string, number, number, Make]>([
    [
      "a PNG with more data than announced",
      64,
      64,
      () => createPng(64, 64, 8, 2, pngChunk("IDAT", DEFLATE_BOMB)),
    ],
    ["a JPEG with more data than announced", WIDTH, 160, () => withAnnouncedSize(jpeg, WIDTH, 160)],
  ])("%s is decoded to its announced size", async (_name, width, height, make) =>
    expectSize(width, height, await make()),
  );
});

describe("sizes", () => {
  test.each([
    [1, 1],
    [1, 65_535],
    [65_535, 1],
  ])("%i by %i pixels are an image without faces", async (width, height) => {
    await expectSize(width, height, createPng(width, height, 8, 0, blankDataChunk(height, width)));
  });

  test.each([
    [1, 65_500],
    [65_500, 1],
  ])("a JPEG of %i by %i pixels is decoded", async (width, height) => {
    await expectSize(width, height, createGreyJpeg({ width, height }));
  });

  test.each<[string, number, number, Make]>([
    ["39 megapixels in 150 kB", 6300, 6300, () => createGreyJpeg({ width: 6300, height: 6300 })],
    ["39 megapixels in 32 scans", 6300, 6300, () => createManyScanJpeg({ width: 6300, height: 6300 }, 32)],
    [
      "an arithmetic-coded JPEG",
      100,
      60,
      () => createGreyJpeg({ width: 100, height: 60, frame: ARITHMETIC }),
    ],
    [
      "a JPEG with restarts in order",
      100,
      60,
      () => createRestartJpeg({ width: 100, height: 60 }, (i) => i % 8),
    ],
  ])("%s is decoded", async (_name, width, height, make) => expectSize(width, height, await make()));
});

describe("a face is found in", () => {
  const text = (keyword: string) => pngChunk("tEXt", latin1(`${keyword}\0nonsense`));
  const frame = (sequence: number) =>
    pngChunk("fcTL", Buffer.from([0, 0, 0, sequence, 0, 0, 1, 44, 0, 0, 1, 64, ...Buffer.alloc(14)]));
  const animated = Buffer.concat([
    withChunks(png, pngChunk("acTL", Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), frame(0)).subarray(0, -12),
    frame(1),
    pngChunk(
      "fdAT",
      Buffer.concat([Buffer.from([0, 0, 0, 2]), deflateSync(Buffer.alloc(HEIGHT * (1 + WIDTH * 3)))]),
    ),
    pngChunk("IEND"),
  ]);

  test.each<[string, Make]>([
    ["a progressive JPEG", () => progressive],
    ["a CMYK JPEG", () => face().toColourspace("cmyk").jpeg().toBuffer()],
    ["a grey JPEG", () => face().greyscale().jpeg().toBuffer()],
    ["an interlaced PNG", () => interlaced],
    ["a 16-bit PNG", () => face().toColourspace("rgb16").png().toBuffer()],
    ["a palette PNG with transparency", () => face().ensureAlpha(0.9).png({ palette: true }).toBuffer()],
    ["the first frame of an animated PNG", () => animated],
    ...[0, 1, 9, 255, 65_535].map((value): [string, Make] => [
      `a JPEG of orientation ${value}`,
      () => withExif(jpeg, createOrientationExif(value)),
    ]),
    ["a JPEG whose EXIF is its own next directory", () => withExif(jpeg, createExif([], 8))],
    ["a JPEG with cyclic EXIF", () => withExif(jpeg, createCyclicExif())],
    ["a JPEG whose EXIF points outside its block", () => withExif(jpeg, latin1("MM\0*\xff\xff\xff\xff"))],
    [
      "a JPEG whose thumbnail is larger than itself",
      () =>
        withExif(
          jpeg,
          createExif([
            { tag: 0x0201, type: 4, count: 1, value: 8 },
            { tag: 0x0202, type: 4, count: 1, value: 2 ** 31 },
          ]),
        ),
    ],
    ["a JPEG with 64 kB of garbage in EXIF", () => withExif(jpeg, Buffer.alloc(65_000, "nonsense"))],
    ["a JPEG with an ICC profile of 9 MB", () => withProfile(jpeg, 140, 65_000)],
    ["a JPEG with two million empty segments", () => withTinySegments(jpeg, 0xe1, latin1(""), 2_000_000)],
    ["a JPEG with two million comments", () => withTinySegments(jpeg, 0xfe, latin1("?"), 2_000_000)],
    ["a PNG with cyclic EXIF", () => withChunks(png, pngChunk("eXIf", createCyclicExif()))],
    ["a PNG with an ICC profile of 300 MB", () => withDeflateBomb(png, "iCCP")],
    ["a PNG with a compressed text of 300 MB", () => withDeflateBomb(png, "zTXt")],
    ["a PNG with an international text of 300 MB", () => withDeflateBomb(png, "iTXt")],
    [
      "a PNG with 300,000 text chunks",
      () => withChunks(png, Buffer.alloc(300_000 * text("a").length, text("a"))),
    ],
  ])("%s", async (_name, make) => expectFace(await make()));

  test.each([2, 3, 4, 5, 6, 7, 8])("a JPEG and a PNG of orientation %i", async (value) => {
    const turned = sharp(await face().png().toBuffer()).rotate(value > 4 ? 90 : 0);
    const block = createOrientationExif(value);
    await expectUprightSize(withExif(await turned.clone().jpeg().toBuffer(), block));
    await expectUprightSize(withChunks(await turned.clone().png().toBuffer(), pngChunk("eXIf", block)));
  });
});

async function expectUprightSize(image: Uint8Array): Promise<void> {
  const { body } = await ask(image);
  expect(body.data.attributes.image_size).toEqual([HEIGHT, WIDTH]);
}
