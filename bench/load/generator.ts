// A load generator process. It receives a load as a message, runs it, reports samples, and waits for the next load.
import { createRandom } from "../../tools/support/random.ts";
import { runClosedLoop, runOpenLoop } from "./arrivals.ts";
import { openClients, warmUp } from "./clients.ts";
import type { GeneratorMessage, Load, Protocol, Sample } from "./load.ts";

const REPORT_INTERVAL_MS = 250;
const SEED = 2;

// Ctrl-C signals the whole process group, but the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

/** The protocols whose client code is warm. */
const warm = new Set<Protocol>();

let stopping = new AbortController();
process.on("message", (message: Load | "stop") => {
  if (message === "stop") stopping.abort();
  else void generate(message);
});

async function generate({ port, userId, mix, arrivals }: Load): Promise<void> {
  stopping = new AbortController();
  await warmUp(mix.filter(({ protocol }) => !warm.has(protocol)));
  for (const { protocol } of mix) warm.add(protocol);
  const clients = openClients(port, userId);
  const senders = mix.map((kind) => clients.prepare(kind));
  const random = createRandom(SEED);
  const start = performance.now();
  const usage = process.cpuUsage();
  report({ startedAt: performance.timeOrigin + start });

  let samples: Sample[] = [];
  const send = async (due: number) => {
    const kind = Math.floor(random() * senders.length);
    const code = await senders[kind]!();
    samples.push({ kind, dueMs: due - start, latencyMs: performance.now() - due, code });
  };
  const reportSamples = () => {
    report({ samples });
    samples = [];
  };
  const timer = setInterval(reportSamples, REPORT_INTERVAL_MS);
  if ("phases" in arrivals) await runOpenLoop(arrivals, send, stopping.signal);
  else await runClosedLoop(arrivals, send, stopping.signal);
  clearInterval(timer);
  reportSamples();
  const { user, system } = process.cpuUsage(usage);
  await clients.close();
  report({ cpuMs: (user + system) / 1000 });
}

function report(message: GeneratorMessage): void {
  process.send?.(message);
}
