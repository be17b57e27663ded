// The size checked against the limits must be the size that libjpeg decodes, whatever lies between the segments.
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { decode } from "../../../src/core/image/decode.ts";
import { readJpegHeader } from "../../../src/core/image/jpeg-header.ts";
import { DEFAULT_LIMITS } from "../../../src/core/image/limits.ts";
import { createGreyJpeg, createManyScanJpeg } from "../../support/crafted-jpeg.ts";

/** Markers that have no length field: TEM, RST0 to RST7. */
const STANDALONE = [0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7].map(
  (marker) => [`FF${marker.toString(16).padStart(2, "0").toUpperCase()}`, marker] as const,
);
const [START, END] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xd9])];

const large = createGreyJpeg({ width: 3000, height: 2000 });
const small = createGreyJpeg({ width: 16, height: 24 });

/**
 * Hides a large image behind a marker: a parser that reads its first two bytes as a length skips it and finds a small
 * image.
 */
function withHiddenImage(marker: number): Buffer {
  const hidden = Buffer.alloc(large.readUInt16BE(2));
  large.copy(hidden, 0, 2);
  return Buffer.concat([START, Buffer.from([0xff, marker]), hidden, small.subarray(2)]);
}

describe.each(STANDALONE)("standalone marker %s", (_, marker) => {
  test("is skipped between segments", async () => {
    const bytes = Buffer.concat([START, Buffer.from([0xff, marker]), small.subarray(2)]);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 16, height: 24 });
    expect(await decode(bytes, DEFAULT_LIMITS)).toMatchObject({ width: 16, height: 24 });
  });

  test("cannot hide another image", async () => {
    const bytes = withHiddenImage(marker);
    expect(bytes.length).toBeLessThan(70_000);
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height], "what libjpeg decodes").toEqual([3000, 2000]);
    expect(readJpegHeader(bytes)).toMatchObject({ width, height });
    expect(await decode(bytes, DEFAULT_LIMITS)).toMatchObject({ width, height });
    const tooLarge = decode(bytes, { ...DEFAULT_LIMITS, maxPixels: 1000 });
    await expect(tooLarge).rejects.toMatchObject({ kind: "imageTooLarge" });
  });

  test("cannot hide scans from the scan limit", async () => {
    const scans = createManyScanJpeg({ width: 16, height: 24 }, 40);
    const second = scans.indexOf(Buffer.from([0xff, 0xda]), scans.indexOf(Buffer.from([0xff, 0xda])) + 2);
    const bytes = Buffer.concat([
      scans.subarray(0, second),
      Buffer.from([0xff, marker]),
      scans.subarray(second),
    ]);
    await expect(decode(bytes, DEFAULT_LIMITS)).rejects.toMatchObject({ kind: "unreadableImage" });
    expect(() => readJpegHeader(bytes)).toThrow("too many segments or scans");
  });
});

test.each([
  ["SOI", START],
  ["EOI", END],
])("%s in the header makes the image unreadable", async (_, marker) => {
  const bytes = Buffer.concat([START, marker, large.subarray(2), small.subarray(2)]);
  expect(() => readJpegHeader(bytes)).toThrow(RangeError);
  await expect(decode(bytes, DEFAULT_LIMITS)).rejects.toMatchObject({ kind: "unreadableImage" });
});
