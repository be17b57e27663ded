import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { nextMessage } from "../../tools/support/child.ts";

/** What to do again and again, and for how long. */
export interface CoreJob {
  readonly call: "embed" | "analyze";
  readonly image: string;
  readonly seconds: number;
}

/** What one process did. */
export interface CoreWork {
  /** How long each call took, in milliseconds. */
  readonly times: readonly number[];
  /** How many faces the image has. */
  readonly faces: number;
}

/** What all processes did together. */
export interface CoreSpeed extends CoreWork {
  readonly perSecond: number;
}

/** The core in a tight loop, with no server: the most that the machine can give. */
export interface BareCore {
  run(job: CoreJob): Promise<CoreSpeed>;
  close(): Promise<void>;
}

/** Starts processes that each open an analyzer: one a core unless told otherwise. */
export async function openBareCore(
  processes = availableParallelism(),
  execArgv: readonly string[] = [],
): Promise<BareCore> {
  const children = Array.from({ length: processes }, () =>
    // Their standard error is the networks' own talk; a fault of theirs shows by their end.
    fork(new URL("./core-loop.js", import.meta.url), [DEFAULT_MODELS_DIR], {
      execArgv: [...execArgv],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    }),
  );
  await Promise.all(children.map(reply));
  return {
    run: async (job) => {
      const works = (await Promise.all(
        children.map((child) => {
          child.send(job);
          return reply(child);
        }),
      )) as CoreWork[];
      const rates = works.map(({ times }) => (1000 * times.length) / sum(times));
      const { faces } = works[0]!;
      return { perSecond: sum(rates), times: works.flatMap(({ times }) => times), faces };
    },
    close: async () => {
      const gone = children.map((child) => once(child, "exit"));
      for (const child of children) child.disconnect();
      await Promise.all(gone);
    },
  };
}

function reply(child: ChildProcess): Promise<unknown> {
  return nextMessage(child, "a process of the bare core");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
