import sharp from "sharp";
import { longerSide } from "../../src/core/geometry.ts";
import type { Box } from "../../src/core/index.ts";
import { createRandom } from "./random.ts";

/** A photo and the box of its face. */
export interface PhotoOfFace {
  readonly photo: Buffer;
  readonly width: number;
  readonly height: number;
  readonly box: Box;
}

type Degrade = (subject: PhotoOfFace) => Promise<Buffer>;

/** Ways to degrade a photo, by name. */
export const DEGRADATIONS: Readonly<Record<string, Degrade>> = {
  none: async ({ photo }) => photo,
  "blur, sigma 1": blur(1),
  "blur, sigma 2": blur(2),
  "blur, sigma 3": blur(3),
  "blur, sigma 5": blur(5),
  "JPEG quality 20": compress(20),
  "JPEG quality 10": compress(10),
  "JPEG quality 5": compress(5),
  "noise, sigma 20": addNoise(20),
  "noise, sigma 40": addNoise(40),
  "brightness x 0.5": darken(0.5),
  "brightness x 0.25": darken(0.25),
  "brightness x 0.1": darken(0.1),
  "face of 60 pixels": shrinkAndEnlarge(60),
  "face of 40 pixels": shrinkAndEnlarge(40),
  "face of 24 pixels": shrinkAndEnlarge(24),
  "dark bar over the eyes": cover("#101010", 0.28, 0.48),
  "mask over mouth and nose": cover("#c8d8e8", 0.55, 1),
};

/** More ways, for the quality of faces: the face is turned, cut off, covered or too bright, or hardly any is left. */
export const MORE_DEGRADATIONS: Readonly<Record<string, Degrade>> = {
  "blur, sigma 7": blur(7),
  "noise, sigma 60": addNoise(60),
  "brightness x 2": darken(2),
  "photo shrunk to a face of 40 pixels": shrink(40),
  "photo shrunk to a face of 24 pixels": shrink(24),
  "left half covered": cover("#604030", 0, 1, 0.5),
  "left third cut off": cutLeft(1 / 3),
  "upside down": ({ photo }) => sharp(photo).rotate(180).png().toBuffer(),
};

function blur(sigma: number): Degrade {
  return ({ photo }) => sharp(photo).blur(sigma).png().toBuffer();
}

function compress(quality: number): Degrade {
  return ({ photo }) => sharp(photo).jpeg({ quality }).toBuffer();
}

/** Adds the same Gaussian noise to every photo. */
function addNoise(sigma: number): Degrade {
  return async ({ photo }) => {
    const { data, info } = await sharp(photo).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const random = createRandom(1);
    const noisy = data.map((value) => Math.max(0, Math.min(255, value + sigma * gaussian(random))));
    return sharp(noisy, { raw: info }).png().toBuffer();
  };
}

/** Box-Muller transform. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function darken(factor: number): Degrade {
  return ({ photo }) => sharp(photo).linear(factor, 0).png().toBuffer();
}

/** Keeps only the detail of a face of this many pixels. */
function shrinkAndEnlarge(pixels: number): Degrade {
  return async ({ photo, width, height, box }) => {
    const scale = pixels / longerSide(box);
    return resize(await resize(photo, width * scale, height * scale), width, height);
  };
}

function shrink(pixels: number): Degrade {
  return ({ photo, width, height, box }) => {
    const scale = pixels / longerSide(box);
    return resize(photo, width * scale, height * scale);
  };
}

/** Cuts the photo off at a share of the width of the face. */
function cutLeft(share: number): Degrade {
  return ({ photo, width, height, box }) => {
    const left = Math.round(box.x1 + share * (box.x2 - box.x1));
    return sharp(photo)
      .extract({ left, top: 0, width: width - left, height })
      .png()
      .toBuffer();
  };
}

/** Covers the face between two shares of the height of its box, and from the left over a share of its width. */
function cover(background: string, from: number, to: number, across = 1): Degrade {
  return ({ photo, box: { x1, y1, x2, y2 } }) => {
    const [width, height] = [Math.round(across * (x2 - x1)), Math.round((to - from) * (y2 - y1))];
    const input = { create: { width, height, channels: 3, background } } as const;
    const [left, top] = [Math.round(x1), Math.round(y1 + from * (y2 - y1))];
    return sharp(photo).composite([{ input, left, top }]).png().toBuffer();
  };
}

/** Resizes an image and encodes it without loss. */
export function resize(image: Buffer, width: number, height: number): Promise<Buffer> {
  return sharp(image).resize(Math.round(width), Math.round(height), { fit: "fill" }).png().toBuffer();
}
