import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { MAX_BATCH_SIZE, withInputTensor } from "./crop/kernel-memory.ts";

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

/** Loads the networks from a folder. Throws if a file is missing, or differs from the digest given for its name. */
export async function openNetworks(
  modelsDir: string,
  digests: Readonly<Record<string, string>> = {},
): Promise<Networks> {
  const opened = await Promise.all(
    NAMES.map((name) => openNetwork(join(modelsDir, `${name}.onnx`), digests[name])),
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

async function openNetwork(path: string, expected: string | undefined) {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error(`There is no network at ${path}.`, { cause });
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (expected !== undefined && digest !== expected)
    throw new Error(
      `The network ${path} is damaged or another version: expected sha256 ${expected}, found ${digest}.`,
    );
  const session = await InferenceSession.create(bytes, {
    // Throughput comes from more workers. With one thread the order of additions, and so the result, is always the same.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new Error(`The file ${path} is not an ONNX network.`, { cause });
  });
  return { session, digest, network: createNetwork(session) };
}

function createNetwork(session: InferenceSession): Network {
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
      const writersPerBatch = MAX_BATCH_SIZE / (inputs[0]?.batchSize ?? 1);
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
