// Sends mutated images, bodies, queries and HTTP requests to the service, and checks each response:
// `npm run fuzz [-- --seconds N --seed S]`.
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServiceProcess } from "../support/service-process.ts";
import { type Case, generateCases } from "./cases.ts";
import { type Failure, runCases } from "./run-cases.ts";
import { createSeedImages } from "./seed-images.ts";

const HELP = `Usage: npm run fuzz [-- OPTIONS]

  --seconds N    duration of the run (60)
  --seed S       seed of the cases; the same seed gives the same cases (from the clock)
  --replay FILE  replays one case that an earlier run has saved
`;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    replay: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds > 0) || !Number.isInteger(seed)) {
  console.error(HELP);
  process.exit(1);
}

const cases = values.replay ? [readCase(values.replay)] : generateCases(seed, await createSeedImages());
const service = await startServiceProcess({ VISAGE_IMAGE_FORMATS: "jpeg,png,webp" });
const { workers } = service;
let failures = 0;
console.error(values.replay ? `Replaying ${values.replay}` : `Seed ${seed}, ${seconds} s`);

const start = performance.now();
const end = new AbortController();
const timer = setTimeout(() => end.abort(), seconds * 1000);
const tried = await runCases(service.port, withProgress(cases), report, end.signal);
clearTimeout(timer);
// A worker that exited was replaced by one with another process id.
const lost = workers.filter((pid) => !service.workers.includes(pid)).length;
console.log(`${tried} cases, ${failures} failed, ${lost} of ${workers.length} workers lost`);
if (failures > 0 || lost > 0 || !service.isAlive) process.exitCode = 1;
await service.stop();

function* withProgress(source: Iterable<Case>): Generator<Case> {
  let count = 0;
  for (const one of source) {
    yield one;
    const seconds = Math.round((performance.now() - start) / 1000);
    if (++count % 1000 === 0) console.error(`${count} cases in ${seconds} s, ${failures} failed`);
  }
}

function report({ failed, fault }: Failure): void {
  failures++;
  const file = join(tmpdir(), `visage-fuzz-${failed.name}.json`);
  writeFileSync(file, JSON.stringify({ ...failed, request: failed.request.toString("base64") }));
  console.error(`\nCase ${failed.name}: ${fault}\n  npm run fuzz -- --replay ${file}\n`);
  if (!service.isAlive) end.abort();
}

function readCase(file: string): Case {
  const saved = JSON.parse(readFileSync(file, "utf8"));
  return { ...saved, request: Buffer.from(saved.request, "base64") };
}
