import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession, listSupportedBackends, Tensor } from "onnxruntime-node";
import { withInputTensor } from "./crop/kernel-memory.ts";
import {
  DEFAULT_BATCH_SIZE,
  DEFAULT_PROVIDERS,
  type ExecutionProvider,
  MAX_BATCH_SIZE,
} from "./execution-providers.ts";

/** Writes crops into a network's input tensor. The network calls it right before it runs. */
export interface TensorWriter {
  /** Number of crops that it writes. */
  readonly batchSize: number;
  /** Size of each crop in pixels. */
  readonly width: number;
  readonly height: number;
  /** Fills `tensor`, a part of the input tensor, with the crops in NCHW order: three planes each, red, green, blue. */
  write(tensor: Float32Array): void;
}

/** A network whose input is a batch of crops. */
export interface Network {
  /**
   * Runs the network on all crops, in batches. Returns the rows of each output by its name, one row per crop. All
   * writers have the same batch size and size of crops.
   */
  run(inputs: readonly TensorWriter[]): Promise<Readonly<Record<string, readonly Float32Array[]>>>;
}

/** The four networks. A process loads them once: onnxruntime leaks memory with each session it creates. */
export interface Networks {
  readonly detect: Network;
  readonly mesh: Network;
  readonly embed: Network;
  readonly attributes: Network;
  /** SHA-256 of each network's file. */
  readonly digests: Readonly<Record<NetworkName, string>>;
  close(): Promise<void>;
}

/** Each network is the file `name.onnx` in the folder of the models. */
const NAMES = ["detect", "mesh", "embed", "attributes"] as const;

export type NetworkName = (typeof NAMES)[number];

/** How networks run. */
export interface NetworkOptions {
  /** By preference; `["cpu"]` by default. Without `cpu`, nothing may run on the CPU. */
  readonly providers?: readonly ExecutionProvider[] | undefined;
  /** Largest number of crops in one run, 1 to 16; 2 by default. A crop and its mirror image always run together. */
  readonly batchSize?: number | undefined;
}

/**
 * Loads the networks from a folder. Throws if a file is missing, or differs from the digest given for its name, or if
 * one of the execution providers cannot be used.
 */
export async function openNetworks(
  modelsDir: string,
  digests: Readonly<Record<string, string>> = {},
  { providers = DEFAULT_PROVIDERS, batchSize = DEFAULT_BATCH_SIZE }: NetworkOptions = {},
): Promise<Networks> {
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > MAX_BATCH_SIZE)
    throw new RangeError(`batchSize must be a whole number from 1 to ${MAX_BATCH_SIZE}, not ${batchSize}.`);
  requireProviders(providers);
  const opened = await Promise.all(
    NAMES.map((name) =>
      openNetwork(join(modelsDir, `${name}.onnx`), { expected: digests[name], providers, batchSize }),
    ),
  );
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

/** Throws if onnxruntime lacks a provider. By itself it leaves such a provider out if it has another one of the list. */
function requireProviders(providers: readonly ExecutionProvider[]): void {
  const missing = providers.find((provider) => !availableProviders().includes(provider));
  if (missing !== undefined)
    throw new Error(
      `The execution provider ${missing} is missing: onnxruntime has ${availableProviders().join(", ")} on this platform. Leave it out of the list of providers.`,
    );
}

/** The providers that this build of onnxruntime has. They may need libraries and drivers that are not installed. */
function availableProviders(): string[] {
  return listSupportedBackends().map(({ name }) => name);
}

interface OpenOptions {
  readonly providers: readonly ExecutionProvider[];
  readonly batchSize: number;
  /** SHA-256 of the file. */
  readonly expected: string | undefined;
}

async function openNetwork(path: string, { expected, providers, batchSize }: OpenOptions) {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error(`There is no network at ${path}.`, { cause });
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (expected !== undefined && digest !== expected)
    throw new Error(
      `The network ${path} is damaged or another version: expected sha256 ${expected}, found ${digest}.`,
    );
  const session = await InferenceSession.create(bytes, {
    executionProviders: providers,
    // By default onnxruntime runs on the CPU whatever the providers do not support.
    ...(!providers.includes("cpu") && { extra: { session: { disable_cpu_ep_fallback: "1" } } }),
    // Throughput comes from more workers. With one thread the order of additions, and so the result, is always the same.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: Error) => {
    throw new Error(sessionFault(path, providers, cause.message), { cause });
  });
  return { session, digest, network: createNetwork(session, batchSize) };
}

function sessionFault(path: string, providers: readonly ExecutionProvider[], cause: string): string {
  if (providers.join() === DEFAULT_PROVIDERS.join()) return `The file ${path} is not an ONNX network.`;
  const remedy = /fallback to CPU/.test(cause)
    ? "Append cpu to the list, so that the CPU runs what the others do not support."
    : `It has ${availableProviders().join(", ")} on this platform; all but cpu need libraries or drivers of their own. Install them, or change the list of providers.`;
  const reason = cause.trim().replace(/\.$/, "").replaceAll(/\s+/g, " ");
  return `onnxruntime cannot run ${path} with the execution providers [${providers.join(", ")}]: ${reason}. ${remedy}`;
}

function createNetwork(session: InferenceSession, maxBatchSize: number): Network {
  function runBatch(writers: readonly TensorWriter[]) {
    return withInputTensor(async (tensor) => {
      const { width, height } = writers[0]!;
      const cropFloats = 3 * width * height;
      let batchSize = 0;
      for (const writer of writers) {
        const start = batchSize;
        batchSize += writer.batchSize;
        writer.write(tensor.subarray(start * cropFloats, batchSize * cropFloats));
      }
      const shape = [batchSize, 3, height, width];
      const input = new Tensor("float32", tensor.subarray(0, batchSize * cropFloats), shape);
      return { batchSize, outputs: await session.run({ input }) };
    });
  }

  return {
    async run(inputs) {
      const rows: Record<string, Float32Array[]> = Object.fromEntries(
        session.outputNames.map((name) => [name, []]),
      );
      const writersPerBatch = Math.max(1, Math.floor(maxBatchSize / (inputs[0]?.batchSize ?? 1)));
      for (let start = 0; start < inputs.length; start += writersPerBatch) {
        const { batchSize, outputs } = await runBatch(inputs.slice(start, start + writersPerBatch));
        for (const [name, { data }] of Object.entries(outputs))
          rows[name]!.push(...splitRows(data as Float32Array, batchSize));
      }
      return rows;
    },
  };
}

function splitRows(numbers: Float32Array, count: number): Float32Array[] {
  const length = numbers.length / count;
  return Array.from({ length: count }, (_, i) => numbers.subarray(i * length, (i + 1) * length));
}
