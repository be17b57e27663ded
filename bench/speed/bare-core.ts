import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { sum } from "../../tools/support/statistics.ts";
import { nextMessage } from "./next-message.ts";

/** A call to repeat on one image, and for how long. */
export interface CoreJob {
  readonly call: "embed" | "analyze";
  readonly image: string;
  readonly seconds: number;
}

/** The result of one process. */
export interface CoreResult {
  /** Duration of each call in milliseconds. */
  readonly callMs: readonly number[];
  /** How many faces were found in the image. */
  readonly faces: number;
}

/** The result of all processes together. */
export interface CoreSpeed extends CoreResult {
  readonly perSecond: number;
}

/** The core in a tight loop without a server: the upper bound of what the machine can do. */
export interface BareCore {
  run(job: CoreJob): Promise<CoreSpeed>;
  close(): Promise<void>;
}

/** Starts processes that each open an analyzer: one per CPU core by default. */
export async function openBareCore(
  processes = availableParallelism(),
  execArgv: readonly string[] = [],
): Promise<BareCore> {
  const children = Array.from({ length: processes }, () =>
    // Standard error has only warnings of onnxruntime. A failing process exits, which `nextMessage` reports.
    fork(new URL("./core-loop.js", import.meta.url), [DEFAULT_MODELS_DIR], {
      execArgv: [...execArgv],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    }),
  );
  await Promise.all(children.map(nextReply));
  return {
    run: async (job) => {
      const results = (await Promise.all(
        children.map((child) => {
          child.send(job);
          return nextReply(child);
        }),
      )) as CoreResult[];
      const rates = results.map(({ callMs }) => (1000 * callMs.length) / sum(callMs));
      const { faces } = results[0]!;
      return { perSecond: sum(rates), callMs: results.flatMap(({ callMs }) => callMs), faces };
    },
    close: async () => {
      const exits = children.map((child) => once(child, "exit"));
      for (const child of children) child.disconnect();
      await Promise.all(exits);
    },
  };
}

function nextReply(child: ChildProcess): Promise<unknown> {
  return nextMessage(child, "A process of the bare core");
}
