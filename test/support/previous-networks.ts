import { createHash } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_MODELS_DIR, type Manifest, readCalibration, readDigests } from "../../src/core/index.ts";
import { embeddingIdentity } from "../../src/core/steps/embed.ts";

/** Where the weights of the network start to be changed, and how many bytes. */
const [START, LENGTH] = [10_000_000, 100_000];

/**
 * Writes the networks to a folder as another version could have had them: with slightly different weights of `embed`, so
 * that the embeddings are of another model. Returns the model.
 */
export function writePreviousNetworks(folder: string): string {
  cpSync(DEFAULT_MODELS_DIR, folder, { recursive: true });
  const network = join(folder, "embed.onnx");
  const bytes = readFileSync(network);
  // The lowest bits of the weights, or of every second byte of them.
  for (let i = START; i < START + LENGTH; i++) bytes[i]! ^= 1;
  writeFileSync(network, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  writeJson(folder, "manifest.json", { ...manifest, embed: { ...manifest.embed, sha256 } });
  const digests = readDigests(folder) as Parameters<typeof embeddingIdentity>[0];
  const model = embeddingIdentity(digests);
  writeJson(folder, "calibration.json", { ...readCalibration(), model });
  return model;
}

function writeJson(folder: string, name: string, content: object): void {
  writeFileSync(join(folder, name), JSON.stringify(content));
}
