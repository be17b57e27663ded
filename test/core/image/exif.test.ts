import { describe, expect, test } from "vitest";
import { exifOf, orientationIn } from "../../../src/core/image/exif.ts";
import { exifBlock, orientationBlock } from "../../support/hand-made-exif.ts";

const ORIENTATION = 0x0112;
const latin = (text: string) => Buffer.from(text, "latin1");
const littleEndian = Buffer.from("49492a0008000000010012010300010000000600000000000000", "hex");

describe("the orientation", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("%i is read, and written as it is read", (orientation) => {
    expect(orientationIn(orientationBlock(orientation))).toBe(orientation);
    expect(orientationIn(exifOf(orientation))).toBe(orientation);
  });

  test.each<[string, Buffer]>([
    ["little-endian", littleEndian],
    ["behind another prefix", Buffer.concat([latin("Exif\0\0"), littleEndian])],
    ["as a byte", exifBlock([{ tag: ORIENTATION, type: 1, count: 1, value: 6 << 24 }])],
    ["as a long number", exifBlock([{ tag: ORIENTATION, type: 4, count: 1, value: 6 }])],
    [
      "after other entries",
      exifBlock([
        { tag: 0x010e, type: 2, count: 9, value: 0xffffff },
        { tag: ORIENTATION, type: 3, count: 1, value: 6 },
      ]),
    ],
    ["in a block that ends with it", orientationBlock(6).subarray(0, 20)],
  ])("is found %s", (_name, block) => expect(orientationIn(block)).toBe(6));

  test.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["noise", Buffer.alloc(100, 7)],
    ["a directory outside", latin("MM\0*\xff\xff\xff\xf0")],
    ["more entries than there are", Buffer.concat([latin("MM\0*\0\0\0\x08\xff\xff"), Buffer.alloc(24)])],
    ["no orientation", exifBlock([])],
    ["a zero", orientationBlock(0)],
    ["a nine", orientationBlock(9)],
    ["a text", exifBlock([{ tag: ORIENTATION, type: 2, count: 1, value: 6 << 24 }])],
  ])("is upright by %s", (_name, block) => expect(orientationIn(block)).toBe(1));
});
