import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { requireDigest } from "./digest.ts";
import { readManifest } from "./manifest.ts";

/** Throws an Error that names the network, and both digests, where one in a folder is not what is pinned. */
export async function checkModels(modelsDir: string): Promise<void> {
  for (const [name, { sha256 }] of Object.entries(readManifest())) {
    const path = join(modelsDir, `${name}.onnx`);
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new Error(`${path} cannot be read; "visage models" makes it`, { cause });
    });
    requireDigest(path, bytes, sha256);
  }
}
