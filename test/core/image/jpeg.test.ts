import sharp, { type JpegOptions } from "sharp";
import { describe, expect, test } from "vitest";
import { decode } from "../../../src/core/image/decode.ts";
import { readJpegHeader } from "../../../src/core/image/jpeg-header.ts";
import { givePixelsBack } from "../../../src/core/image/pixel-memory.ts";
import { decodeBaseline } from "../../../src/core/jpeg/baseline.ts";
import { TABLE_WORDS, writeFirstTable, writeOtherTable } from "../../../src/core/jpeg/lookup.ts";
import { DEFAULT_LIMITS } from "../../../src/core/limits.ts";
import { editSegments, photograph, segment, withSegments } from "../../support/images.ts";

const CODES = 0xc4;
const FRAME = 0xc0;
const SCALES = 0xdb;
const RESTART_INTERVAL = 0xdd;
const ADOBE = 0xee;

const photo = sharp(await sharp(photograph(1)).resize({ width: 2048 }).png().toBuffer());
const jpegOf = (width: number, height: number, options: JpegOptions = {}) =>
  photo.clone().extract({ left: 500, top: 300, width, height }).jpeg(options).toBuffer();
const small = await jpegOf(160, 120);

/** By libjpeg, as sharp has it. */
const pixelsBySharp = (jpeg: Buffer) => sharp(jpeg).raw().toBuffer();

async function expectSamePixels(jpeg: Buffer): Promise<void> {
  const pixels = decodeBaseline(readJpegHeader(jpeg).encoded);
  const expected = await pixelsBySharp(jpeg);
  // Not by `toEqual`, which would list every pixel.
  expect(pixels && Buffer.compare(pixels.data, expected)).toBe(0);
}

describe("a common JPEG has the same pixels as by libjpeg", () => {
  const sides = Array.from({ length: 33 }, (_, i) => 16 + i);

  test.each(["4:2:0", "4:4:4"])(
    "at every width and height of a few blocks, with colours as %s",
    async (chromaSubsampling) => {
      for (const side of sides) {
        await expectSamePixels(await jpegOf(side, 40, { chromaSubsampling }));
        await expectSamePixels(await jpegOf(40, side, { chromaSubsampling }));
      }
    },
  );

  test.each([1, 10, 50, 90, 100])("at a quality of %d", async (quality) => {
    for (const chromaSubsampling of ["4:2:0", "4:4:4"])
      await expectSamePixels(await jpegOf(400, 300, { quality, chromaSubsampling }));
  });

  test("with the codes of the standard, and with such as are made for the picture", async () => {
    await expectSamePixels(await jpegOf(640, 480, { optimiseCoding: false }));
    await expectSamePixels(await jpegOf(640, 480, { optimiseCoding: true }));
    await expectSamePixels(await jpegOf(640, 480, { trellisQuantisation: true, overshootDeringing: true }));
  });

  test("of noise, which has the longest codes", async () => {
    const noise = { type: "gaussian", mean: 128, sigma: 80 } as const;
    const picture = sharp({ create: { width: 256, height: 256, channels: 3, background: "grey", noise } });
    for (const quality of [50, 100]) {
      const options = { quality, optimiseCoding: false, chromaSubsampling: "4:4:4" };
      await expectSamePixels(await picture.clone().jpeg(options).toBuffer());
    }
  });

  test("of extremes: black, white and the purest colours", async () => {
    const stripes = ["black", "white", "red", "lime", "blue", "cyan", "magenta", "yellow"].map(
      (background, i) => ({
        input: { create: { width: 13, height: 200, channels: 3, background } as const },
        left: 21 * i,
        top: 0,
      }),
    );
    const base = sharp({ create: { width: 200, height: 200, channels: 3, background: "grey" } });
    for (const quality of [20, 95])
      await expectSamePixels(await base.clone().composite(stripes).jpeg({ quality }).toBuffer());
  });

  test("of 2048 pixels on a side", async () => {
    const large = photo.clone().resize(2048, 2048, { fit: "fill" });
    await expectSamePixels(await large.clone().jpeg({ quality: 70 }).toBuffer());
    await expectSamePixels(await large.clone().jpeg({ quality: 70, chromaSubsampling: "4:4:4" }).toBuffer());
  });
});

describe("is left to libjpeg:", () => {
  const edited = (marker: number, edit: (body: Buffer) => Buffer) =>
    editSegments(small, (found, body) => (found === marker ? edit(body) : body));
  const withByte = (at: number, value: number) => (body: Buffer) => {
    body[at] = value;
    return body;
  };
  const end = small.length - 2;
  const photoOf = (edit: (image: typeof photo) => typeof photo) =>
    edit(photo.clone().resize(160, 120)).jpeg().toBuffer();

  test.each<[string, Buffer | Promise<Buffer>]>([
    ["a progressive one", jpegOf(160, 120, { progressive: true })],
    ["one without colours", photoOf((image) => image.toColourspace("b-w"))],
    ["one in ink", photoOf((image) => image.toColourspace("cmyk"))],
    ["one with a profile", photoOf((image) => image.withIccProfile("p3"))],
    ["one with restarts", withSegments(small, segment(RESTART_INTERVAL, Buffer.from([0, 4])))],
    ["one whose colours Adobe tells", withSegments(small, segment(ADOBE, Buffer.from("Adobe\0d\0\0\0\0\0")))],
    ["a narrow one", jpegOf(15, 120)],
    ["a wide one", photo.clone().resize(2049, 100, { fit: "fill" }).jpeg().toBuffer()],
    ["other components", edited(FRAME, withByte(6, 0x52))],
    ["colours that are shared across only", edited(FRAME, withByte(7, 0x21))],
    ["scales of two bytes", edited(SCALES, (body) => Buffer.concat([body, body.subarray(1)]))],
    ["a table that is too short", edited(SCALES, (body) => body.subarray(0, -1))],
    ["a table that is too long", edited(CODES, (body) => Buffer.concat([body, Buffer.alloc(3)]))],
    ["tables that are missing", edited(CODES, withByte(0, 0x13))],
    ["data that ends early", Buffer.concat([small.subarray(0, end - 20), small.subarray(end)])],
    [
      "data that goes on",
      Buffer.concat([small.subarray(0, end), Buffer.alloc(20, 0x55), small.subarray(end)]),
    ],
    ["data without an end", small.subarray(0, end)],
    [
      "a marker within the data",
      Buffer.concat([small.subarray(0, end - 20), Buffer.from([0xff, 0xd0]), small.subarray(end - 20)]),
    ],
    [
      "no data",
      Buffer.concat([small.subarray(0, small.indexOf(Buffer.from([0xff, 0xda])) + 14), small.subarray(end)]),
    ],
  ])("%s", async (_, jpeg) => {
    expect(decodeBaseline(readJpegHeader(await jpeg).encoded)).toBeUndefined();
  });

  test("what is no JPEG", () => {
    expect(decodeBaseline(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))).toBeUndefined();
  });
});

describe("codes that cannot be or are not common are refused:", () => {
  /** So many of one bit, of two, ... and what they stand for. */
  const codesOf = (counts: readonly number[], ...symbols: number[]) => ({
    counts: Uint8Array.from({ length: 16 }, (_, i) => counts[i] ?? 0),
    symbols: Uint8Array.from(symbols),
  });
  const table = new Int32Array(TABLE_WORDS);

  test("too many, so that ones alone are one", () => {
    expect(() => writeOtherTable(table, codesOf([1, 1], 0, 1))).not.toThrow();
    expect(() => writeOtherTable(table, codesOf([1, 2], 0, 1, 2))).toThrow(RangeError);
    expect(() => writeOtherTable(table, codesOf([2], 0, 1))).toThrow(RangeError);
  });

  test("too many long ones", () => {
    expect(() =>
      writeOtherTable(table, codesOf([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1], 0, 1, 2, 3, 4)),
    ).not.toThrow();
    expect(() => writeOtherTable(table, codesOf([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1], 0, 1, 2, 3))).toThrow(
      RangeError,
    );
  });

  test("for numbers of too many bits", () => {
    expect(() => writeFirstTable(table, codesOf([1], 11))).not.toThrow();
    expect(() => writeFirstTable(table, codesOf([1], 12))).toThrow(RangeError);
    expect(() => writeOtherTable(table, codesOf([1], 0x0a))).not.toThrow();
    expect(() => writeOtherTable(table, codesOf([1], 0x0b))).toThrow(RangeError);
  });

  test("for zeros in several blocks", () => {
    expect(() => writeOtherTable(table, codesOf([1], 0xf0))).not.toThrow();
    expect(() => writeOtherTable(table, codesOf([1], 0xe0))).toThrow(RangeError);
  });
});

test("nothing of a faulty JPEG is left in the next", async () => {
  const { encoded } = readJpegHeader(await jpegOf(640, 480));
  for (let at = encoded.length - 3; at > 700; at -= Math.ceil(encoded.length / 50)) {
    const faulty = Uint8Array.from(encoded);
    faulty.set([0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0], Math.min(at, encoded.length - 10));
    decodeBaseline(faulty);
    await expectSamePixels(small);
  }
});

test("every byte of a JPEG may be wrong", async () => {
  const { encoded } = readJpegHeader(await jpegOf(48, 48));
  for (let at = 0; at < encoded.length; at++) {
    for (const value of [0, 0x7f, 0xff]) {
      const faulty = Uint8Array.from(encoded);
      faulty[at] = value;
      expect(() => decodeBaseline(faulty)).not.toThrow();
    }
  }
});

describe("pixels", () => {
  const open = (jpeg: Buffer) => decode(jpeg, DEFAULT_LIMITS).then(({ pixels }) => pixels);

  test("of a common JPEG are in memory that is used again once they are given back", async () => {
    const one = await open(await jpegOf(200, 200));
    const other = await open(small);
    expect(other.data.buffer).not.toBe(one.data.buffer);
    givePixelsBack(one);
    const next = await open(small);
    expect(next.data.buffer).toBe(one.data.buffer);
    expect(Buffer.compare(next.data, other.data)).toBe(0);
  });

  test("are given to one only, though they come back twice", async () => {
    const first = await open(small);
    givePixelsBack(first);
    givePixelsBack(first);
    const [one, other] = [await open(small), await open(small)];
    expect(one.data.buffer).not.toBe(other.data.buffer);
  });

  test("that are from elsewhere are not used", async () => {
    const elsewhere = { width: 160, height: 120, data: new Uint8Array(160 * 120 * 3) };
    givePixelsBack(elsewhere);
    expect((await open(small)).data.buffer).not.toBe(elsewhere.data.buffer);
  });
});
