import sharp from "sharp";
import { createSyntheticFace } from "./synthetic-face.ts";
import type { Analyzer } from "./types.ts";

/**
 * Runs every step and network and the decoders of JPEG and PNG once, so that memory is allocated and code is compiled
 * before the first call.
 */
export async function warmUp({ analyze }: Analyzer): Promise<void> {
  const face = createSyntheticFace();
  // As large as a usual photo, so that the memory for one is allocated.
  const frame = sharp(face).resize({ width: 640, height: 480, fit: "contain" });
  const photo = await frame.toColourspace("srgb").jpeg().toBuffer();
  for (const image of [face, photo]) {
    const { faces } = await analyze(image, { embeddings: true });
    if (faces.length === 0) throw new Error("The networks found no face in the test image.");
  }
}
