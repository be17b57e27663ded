import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";

/** A network that takes a batch of square images and gives named rows of numbers. */
export interface Network {
  /** Runs on square images of its own size, each as three planes (red, green, blue). */
  run(images: readonly Float32Array[]): Promise<Readonly<Record<string, readonly Float32Array[]>>>;
}

/** The four networks, loaded once; creating sessions again and again leaks memory in onnxruntime. */
export interface Networks {
  readonly detect: Network;
  readonly mesh: Network;
  readonly embed: Network;
  readonly attributes: Network;
  /** SHA-256 of each network's file. */
  readonly digests: Readonly<Record<NetworkName, string>>;
  close(): Promise<void>;
}

/** The networks by name; each is the file `name.onnx` of the models folder. */
const NAMES = ["detect", "mesh", "embed", "attributes"] as const;

export type NetworkName = (typeof NAMES)[number];

/** Most images in one run: two share the reading of the weights, more no longer fit a core's cache beside each other. */
const MAX_BATCH = 2;

/** Loads the networks from a folder. */
export async function openNetworks(modelsDir: string): Promise<Networks> {
  const opened = await Promise.all(NAMES.map((name) => openNetwork(join(modelsDir, `${name}.onnx`))));
  const byName = <T>(value: (network: (typeof opened)[number]) => T) =>
    Object.fromEntries(NAMES.map((name, i) => [name, value(opened[i]!)])) as Record<NetworkName, T>;
  let released: Promise<unknown> | undefined;
  return {
    ...byName(({ network }) => network),
    digests: byName(({ digest }) => digest),
    close: async () => {
      released ??= Promise.all(opened.map(({ session }) => session.release()));
      await released;
    },
  };
}

async function openNetwork(path: string) {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error(`no network at ${path}: run "visage models" first`, { cause });
  });
  const session = await InferenceSession.create(bytes, {
    // One thread a network: throughput comes from workers, and the order of sums stays fixed.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new Error(`${path} is not a network: run "visage models" to make it anew`, { cause });
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  const network: Network = { run: (images) => runInBatches(session, images) };
  return { session, digest, network };
}

async function runInBatches(session: InferenceSession, images: readonly Float32Array[]) {
  const side = Math.sqrt((images[0]?.length ?? 0) / 3);
  const rows: Record<string, Float32Array[]> = Object.fromEntries(
    session.outputNames.map((name) => [name, []]),
  );
  for (let start = 0; start < images.length; start += MAX_BATCH) {
    const batch = images.slice(start, start + MAX_BATCH);
    const outputs = await session.run({
      input: new Tensor("float32", joined(batch), [batch.length, 3, side, side]),
    });
    for (const [name, { data }] of Object.entries(outputs)) {
      const numbers = data as Float32Array;
      const length = numbers.length / batch.length;
      batch.forEach((_, i) => {
        rows[name]!.push(numbers.subarray(i * length, (i + 1) * length));
      });
    }
  }
  return rows;
}

function joined(images: readonly Float32Array[]): Float32Array {
  const [only] = images;
  if (images.length === 1 && only) return only;
  const all = new Float32Array(images.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const image of images) {
    all.set(image, offset);
    offset += image.length;
  }
  return all;
}
