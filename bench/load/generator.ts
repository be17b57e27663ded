// A load generator process. It receives a load as a message, runs it, reports samples, and waits for the next load.
import { createRandom } from "../../tools/support/random.ts";
import { runClosedLoop, runOpenLoop } from "./arrivals.ts";
import { openClients, warmUp } from "./clients.ts";
import type { GeneratorMessage, Load, Protocol, Sample } from "./load.ts";
import { countSocketBytes } from "./socket-bytes.ts";

const REPORT_INTERVAL_MS = 250;
const SEED = 2;

// Ctrl-C signals the whole process group, but the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());

/** The protocols whose client code is warm. */
const warm = new Set<Protocol>();

const socketBytes = countSocketBytes();

let stopping = new AbortController();
process.on("message", (message: Load | "stop") => {
  if (message === "stop") stopping.abort();
  else void generate(message);
});

async function generate({ port, userId, mix, arrivals }: Load): Promise<void> {
  stopping = new AbortController();
  await warmUp(mix.filter(({ protocol }) => !warm.has(protocol)));
  for (const { protocol } of mix) warm.add(protocol);
  const clients = [port].flat().map((one) => openClients(one, userId));
  const senders = clients.map((one) => mix.map((kind) => one.prepare(kind)));
  let sent = 0;
  const random = createRandom(SEED);
  const start = performance.now();
  const usage = process.cpuUsage();
  const before = socketBytes();
  report({ startedAt: performance.timeOrigin + start });

  let samples: Sample[] = [];
  const send = async (due: number) => {
    const kind = Math.floor(random() * mix.length);
    const code = await senders[sent++ % senders.length]![kind]!();
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
  const { bytesSent, bytesReceived } = socketBytes();
  for (const one of clients) await one.close();
  report({
    cpuMs: (user + system) / 1000,
    bytesSent: bytesSent - before.bytesSent,
    bytesReceived: bytesReceived - before.bytesReceived,
  });
}

function report(message: GeneratorMessage): void {
  process.send?.(message);
}
