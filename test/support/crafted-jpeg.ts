import { jpegSegment } from "./images.ts";

/** Start-of-frame markers. */
export const BASELINE = 0xc0;
export const PROGRESSIVE = 0xc2;
export const ARITHMETIC = 0xc9;

const START = Buffer.from([0xff, 0xd8]);
const END = Buffer.from([0xff, 0xd9]);

/** A uniform grey JPEG of any size. Its Huffman tables have a single code, so that its data is all zeros. */
export interface GreyJpeg {
  readonly width: number;
  readonly height: number;
  readonly frame?: number;
  /** Three components of the same size instead of one. */
  readonly isColour?: boolean;
}

/** Creates the JPEG with one scan. */
export function createGreyJpeg(jpeg: GreyJpeg): Buffer {
  const perBlock = componentsOf(jpeg).length * 2;
  return Buffer.concat([
    headerOf(jpeg),
    scanOf(componentsOf(jpeg), [0, 63, 0], blocksOf(jpeg) * perBlock),
    END,
  ]);
}

/** Creates a progressive JPEG with up to `count` scans: one for each bit of each coefficient. */
export function createManyScanJpeg(jpeg: GreyJpeg, count: number): Buffer {
  const scans: Buffer[] = [scanOf(componentsOf(jpeg), [0, 0, 0], blocksOf(jpeg) * componentsOf(jpeg).length)];
  const runBits = Math.ceil(blocksOf(jpeg) / 2 ** 14) * 15;
  for (const component of componentsOf(jpeg)) {
    for (let coefficient = 1; coefficient < 64; coefficient++) {
      for (let bit = 13; bit >= 0 && scans.length < count; bit--) {
        const precision = ((bit === 13 ? 0 : bit + 1) << 4) | bit;
        scans.push(scanOf([component], [coefficient, coefficient, precision], runBits));
      }
    }
  }
  return Buffer.concat([headerOf({ ...jpeg, frame: PROGRESSIVE }), ...scans, END]);
}

/** Creates the JPEG with a restart marker after each block, numbered by `numberOf`. */
export function createRestartJpeg(jpeg: GreyJpeg, numberOf: (i: number) => number): Buffer {
  const blocks = Array.from({ length: blocksOf(jpeg) }, (_, i) =>
    Buffer.from(i === 0 ? [0x3f] : [0xff, 0xd0 + numberOf(i - 1), 0x3f]),
  );
  const interval = jpegSegment(0xdd, Buffer.from([0, 1]));
  return Buffer.concat([headerOf(jpeg), interval, scanOf([1], [0, 63, 0], 0), ...blocks, END]);
}

/** Creates the JPEG with height 0 in its header and the height in a DNL segment after the scan, which decoders ignore. */
export function createLateHeightJpeg({ width, height }: GreyJpeg): Buffer {
  const jpeg = createGreyJpeg({ width, height });
  const late = jpegSegment(0xdc, Buffer.from([height >> 8, height & 0xff]));
  const bare = headerOf({ width, height: 0 });
  return Buffer.concat([bare, jpeg.subarray(bare.length, -2), late, END]);
}

function headerOf({ width, height, frame = BASELINE, ...jpeg }: GreyJpeg): Buffer {
  const components = componentsOf({ width, height, ...jpeg });
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  const oneCode = [1, ...Buffer.alloc(15)];
  // The single code means DC difference 0, end of block, or (progressive) end of band for 16384 blocks.
  const acSymbol = frame === PROGRESSIVE ? 0xe0 : 0;
  return Buffer.concat([
    START,
    jpegSegment(0xdb, Buffer.from([0, ...Buffer.alloc(64, 1)])),
    jpegSegment(
      frame,
      Buffer.from([8, ...size, components.length, ...components.flatMap((id) => [id, 0x11, 0])]),
    ),
    jpegSegment(0xc4, Buffer.from([0x00, ...oneCode, 0])),
    jpegSegment(0xc4, Buffer.from([0x10, ...oneCode, acSymbol])),
  ]);
}

function scanOf(components: readonly number[], range: readonly number[], bits: number): Buffer {
  const header = [components.length, ...components.flatMap((id) => [id, 0]), ...range];
  return Buffer.concat([jpegSegment(0xda, Buffer.from(header)), Buffer.alloc(Math.ceil(bits / 8))]);
}

function componentsOf({ isColour = false }: GreyJpeg): readonly number[] {
  return isColour ? [1, 2, 3] : [1];
}

function blocksOf({ width, height }: GreyJpeg): number {
  return Math.ceil(width / 8) * Math.ceil(height / 8);
}
