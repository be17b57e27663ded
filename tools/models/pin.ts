// Writes the digest of what the converter makes now into the manifest: `npm run models:pin`,
// to be run, and looked at, after a change to the converter or to our own network.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT, readManifest } from "../../src/model-manifest.ts";
import { sha256 } from "./digest.ts";
import { fetchSource } from "./fetch.ts";
import { convert } from "./prepare.ts";

const manifestPath = join(PACKAGE_ROOT, "models/manifest.json");
let text = readFileSync(manifestPath, "utf8");
for (const [name, network] of Object.entries(readManifest())) {
  const sources = await fetchSource(network.source, join(PACKAGE_ROOT, "models/.cache"), console.log);
  const digest = sha256(convert(name, network, sources));
  console.log(`${name}.onnx ${digest}${digest === network.sha256 ? "" : ` (was ${network.sha256})`}`);
  text = text.replace(network.sha256, digest);
}
writeFileSync(manifestPath, text);
