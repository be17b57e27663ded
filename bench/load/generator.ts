// The program of a load generator: it is told a load by a message, sends it, tells what it saw, and waits for the next.

import { createRandom } from "../../tools/support/random.ts";
import { runClosedLoop, runOpenLoop } from "./arrivals.ts";
import { openClients, warmUp } from "./clients.ts";
import type { Load, Sample, Told, Wire } from "./load.ts";

const TELL_EVERY_MS = 250;
const SEED = 2;

// Ctrl-C reaches the whole process group; when to stop is for the parent to say.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

/** Wires that were used before. */
const warm = new Set<Wire>();

let stopping = new AbortController();
process.on("message", (message: Load | "stop") => {
  if (message === "stop") stopping.abort();
  else void generate(message);
});

async function generate({ port, userId, mix, arrivals }: Load): Promise<void> {
  stopping = new AbortController();
  await warmUp(mix.filter(({ wire }) => !warm.has(wire)));
  for (const { wire } of mix) warm.add(wire);
  const clients = openClients(port, userId);
  const senders = mix.map((kind) => clients.prepare(kind));
  const random = createRandom(SEED);
  const start = performance.now();
  const usage = process.cpuUsage();
  tell({ startedAt: performance.timeOrigin + start });

  let samples: Sample[] = [];
  const send = async (due: number) => {
    const kind = Math.floor(random() * senders.length);
    const code = await senders[kind]!();
    samples.push({ kind, dueMs: due - start, tookMs: performance.now() - due, code });
  };
  const tellSamples = () => {
    tell({ samples });
    samples = [];
  };
  const telling = setInterval(tellSamples, TELL_EVERY_MS);
  if ("phases" in arrivals) await runOpenLoop(arrivals, send, stopping.signal);
  else await runClosedLoop(arrivals, send, stopping.signal);
  clearInterval(telling);
  tellSamples();
  const { user, system } = process.cpuUsage(usage);
  await clients.close();
  tell({ cpuMs: (user + system) / 1000 });
}

function tell(told: Told): void {
  process.send?.(told);
}
