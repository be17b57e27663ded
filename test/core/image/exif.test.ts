import { describe, expect, test } from "vitest";
import { encodeOrientation, readOrientation } from "../../../src/core/image/exif.ts";
import { createExif, createOrientationExif } from "../../support/crafted-exif.ts";

const ORIENTATION = 0x0112;
const latin = (text: string) => Buffer.from(text, "latin1");
const littleEndian = Buffer.from("49492a0008000000010012010300010000000600000000000000", "hex");

describe("the orientation", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("%i is encoded and read", (orientation) => {
    expect(readOrientation(createOrientationExif(orientation))).toBe(orientation);
    expect(readOrientation(encodeOrientation(orientation))).toBe(orientation);
  });

  test.each<[string, Buffer]>([
    ["little-endian", littleEndian],
    ["after a second prefix", Buffer.concat([latin("Exif\0\0"), littleEndian])],
    ["as a byte", createExif([{ tag: ORIENTATION, type: 1, count: 1, value: 6 << 24 }])],
    ["as a long", createExif([{ tag: ORIENTATION, type: 4, count: 1, value: 6 }])],
    [
      "after other entries",
      createExif([
        { tag: 0x010e, type: 2, count: 9, value: 0xffffff },
        { tag: ORIENTATION, type: 3, count: 1, value: 6 },
      ]),
    ],
    ["at the end of the block", createOrientationExif(6).subarray(0, 20)],
  ])("is found %s", (_name, block) => expect(readOrientation(block)).toBe(6));

  test.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["noise", Buffer.alloc(100, 7)],
    ["a directory outside the block", latin("MM\0*\xff\xff\xff\xf0")],
    [
      "more entries announced than present",
      Buffer.concat([latin("MM\0*\0\0\0\x08\xff\xff"), Buffer.alloc(24)]),
    ],
    ["no orientation", createExif([])],
    ["the value 0", createOrientationExif(0)],
    ["the value 9", createOrientationExif(9)],
    ["a text", createExif([{ tag: ORIENTATION, type: 2, count: 1, value: 6 << 24 }])],
  ])("is upright for %s", (_name, block) => expect(readOrientation(block)).toBe(1));
});
