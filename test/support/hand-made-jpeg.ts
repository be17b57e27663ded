import { segment } from "./images.ts";

/** What a frame is by its marker. */
export const BASELINE = 0xc0;
export const PROGRESSIVE = 0xc2;
export const ARITHMETIC = 0xc9;

const START = Buffer.from([0xff, 0xd8]);
const END = Buffer.from([0xff, 0xd9]);

/** A plain grey JPEG of any size, written by hand: its data are zeros, since each code is the shortest there is. */
export interface GreyJpeg {
  readonly width: number;
  readonly height: number;
  readonly frame?: number;
  /** Three components of the same size instead of one. */
  readonly isColour?: boolean;
}

/** The JPEG in one scan. */
export function greyJpeg(jpeg: GreyJpeg): Buffer {
  const perBlock = componentsOf(jpeg).length * 2;
  return Buffer.concat([
    headerOf(jpeg),
    scanOf(componentsOf(jpeg), [0, 63, 0], blocksOf(jpeg) * perBlock),
    END,
  ]);
}

/** The JPEG in the many scans that the progressive way allows: each coefficient alone, bit by bit. */
export function manyScanJpeg(jpeg: GreyJpeg, count: number): Buffer {
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

/** The JPEG with a restart marker, numbered as given, after each block. */
export function restartJpeg(jpeg: GreyJpeg, numberOf: (i: number) => number): Buffer {
  const blocks = Array.from({ length: blocksOf(jpeg) }, (_, i) =>
    Buffer.from(i === 0 ? [0x3f] : [0xff, 0xd0 + numberOf(i - 1), 0x3f]),
  );
  const interval = segment(0xdd, Buffer.from([0, 1]));
  return Buffer.concat([headerOf(jpeg), interval, scanOf([1], [0, 63, 0], 0), ...blocks, END]);
}

/** The JPEG without a height in its header; a segment after the scan tells it, which nobody reads. */
export function lateHeightJpeg({ width, height }: GreyJpeg): Buffer {
  const jpeg = greyJpeg({ width, height });
  const late = segment(0xdc, Buffer.from([height >> 8, height & 0xff]));
  const bare = headerOf({ width, height: 0 });
  return Buffer.concat([bare, jpeg.subarray(bare.length, -2), late, END]);
}

function headerOf({ width, height, frame = BASELINE, ...jpeg }: GreyJpeg): Buffer {
  const components = componentsOf({ width, height, ...jpeg });
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  const oneCode = [1, ...Buffer.alloc(15)];
  // The one code stands for "no change", "no more in this block", or "nothing in the next 16384 blocks".
  const acSymbol = frame === PROGRESSIVE ? 0xe0 : 0;
  return Buffer.concat([
    START,
    segment(0xdb, Buffer.from([0, ...Buffer.alloc(64, 1)])),
    segment(
      frame,
      Buffer.from([8, ...size, components.length, ...components.flatMap((id) => [id, 0x11, 0])]),
    ),
    segment(0xc4, Buffer.from([0x00, ...oneCode, 0])),
    segment(0xc4, Buffer.from([0x10, ...oneCode, acSymbol])),
  ]);
}

function scanOf(components: readonly number[], range: readonly number[], bits: number): Buffer {
  const header = [components.length, ...components.flatMap((id) => [id, 0]), ...range];
  return Buffer.concat([segment(0xda, Buffer.from(header)), Buffer.alloc(Math.ceil(bits / 8))]);
}

function componentsOf({ isColour = false }: GreyJpeg): readonly number[] {
  return isColour ? [1, 2, 3] : [1];
}

function blocksOf({ width, height }: GreyJpeg): number {
  return Math.ceil(width / 8) * Math.ceil(height / 8);
}
