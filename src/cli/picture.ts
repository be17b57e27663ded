import { writeFile } from "node:fs/promises";
import sharp from "sharp";
import type { Pixels } from "../core/types.ts";

/**
 * Decodes a JPEG or PNG that the core has accepted, upright, on white, at full size. The core itself
 * works on smaller pixels.
 */
export async function readPicture(bytes: Uint8Array): Promise<Pixels> {
  // Harmless oddities, which the core mends or passes over, must not fail here.
  const { data, info } = await sharp(bytes, { failOn: "none", autoOrient: true })
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Writes pixels as a PNG. */
export async function writePicture(path: string, { width, height, data }: Pixels): Promise<void> {
  const raw = { width, height, channels: 3 } as const;
  await writeFile(path, await sharp(data, { raw }).png().toBuffer());
}
