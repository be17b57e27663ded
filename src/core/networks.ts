import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { MAX_BATCH, withCanvas } from "./crop/drawing-memory.ts";

/** Square images that are made when a network needs them, and where it needs them. */
export interface Drawing {
  /** How many images it makes. */
  readonly images: number;
  /** Makes them on the canvas, one after another, each as three planes: red, green, blue. */
  draw(planes: Float32Array): void;
}

/** A network that takes a batch of square images and gives named rows of numbers. */
export interface Network {
  /** Runs on square images of its own size; all drawings make equally many. */
  run(drawings: readonly Drawing[]): Promise<Readonly<Record<string, readonly Float32Array[]>>>;
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

/** Loads the networks from a folder; throws where one's file has not the digest that is given for it. */
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
    throw new Error(`no network at ${path}: run "visage models" first`, { cause });
  });
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (expected !== undefined && digest !== expected)
    throw new Error(
      `${path}: expected sha256 ${expected}, found ${digest}: run "visage models" to make it anew`,
    );
  const session = await InferenceSession.create(bytes, {
    // One thread a network: throughput comes from workers, and the order of sums stays fixed.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new Error(`${path} is not a network: run "visage models" to make it anew`, { cause });
  });
  return { session, digest, network: networkOf(session) };
}

function networkOf(session: InferenceSession): Network {
  const [input] = session.inputMetadata;
  const side = input!.isTensor ? Number(input!.shape.at(-1)) : 0;
  const length = 3 * side * side;

  function runBatch(batch: readonly Drawing[]) {
    return withCanvas(async (canvas) => {
      let images = 0;
      for (const drawing of batch) {
        drawing.draw(canvas.subarray(images * length, (images + drawing.images) * length));
        images += drawing.images;
      }
      const input = new Tensor("float32", canvas.subarray(0, images * length), [images, 3, side, side]);
      return { images, outputs: await session.run({ input }) };
    });
  }

  return {
    async run(drawings) {
      const rows: Record<string, Float32Array[]> = Object.fromEntries(
        session.outputNames.map((name) => [name, []]),
      );
      const atOnce = MAX_BATCH / (drawings[0]?.images ?? 1);
      for (let start = 0; start < drawings.length; start += atOnce) {
        const { images, outputs } = await runBatch(drawings.slice(start, start + atOnce));
        for (const [name, { data }] of Object.entries(outputs))
          rows[name]!.push(...rowsOf(data as Float32Array, images));
      }
      return rows;
    },
  };
}

function rowsOf(numbers: Float32Array, count: number): Float32Array[] {
  const length = numbers.length / count;
  return Array.from({ length: count }, (_, i) => numbers.subarray(i * length, (i + 1) * length));
}
