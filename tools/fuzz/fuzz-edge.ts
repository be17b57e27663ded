// Sends malformed HTTP/1.1 and HTTP/2 to the service over raw sockets, and checks that it keeps working:
// `npm run fuzz:edge [-- --cases N --seed S]`.
import { parseArgs } from "node:util";
import { createFixtures, runCampaign } from "./edge/campaign.ts";
import { edgeCase } from "./edge/cases.ts";

const HELP = `Usage: npm run fuzz:edge [-- OPTIONS]

  --cases N     number of cases to run (1000000)
  --seed S      seed of the cases; the same seed gives the same cases (from the clock)
  --case N,M    runs only these cases, one at a time
  --parallel N  number of parallel connections (96)
  --print       prints the steps of the cases given by --case instead of running them
`;
const MAX_PRINTED = 50;

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "1000000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    case: { type: "string" },
    parallel: { type: "string" },
    print: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const [seed, count] = [Number(values.seed), Number(values.cases)];
const named = values.case?.split(",").map(Number);
if (values.help || !Number.isInteger(seed) || !(count > 0) || named?.some(Number.isNaN)) {
  console.error(HELP);
  process.exit(values.help ? 0 : 1);
}

if (values.print) await printCases(named ?? []);
else await run();

async function run(): Promise<void> {
  console.error(`Seed ${seed}`);
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 1000);
  const { tried, succeeded, faults } = await runCampaign({
    seed,
    numbers: named ?? range(count),
    ...(named ? { parallel: 1 } : values.parallel ? { parallel: Number(values.parallel) } : {}),
    onProgress: (done, failed) => console.error(`${done} cases in ${seconds()} s, ${failed} faults`),
  });
  for (const fault of faults.slice(0, MAX_PRINTED)) console.error(fault);
  console.log(`${tried} cases in ${seconds()} s, ${succeeded} successful requests, ${faults.length} faults`);
  // Node 20 does not exit on its own after `resetAndDestroy`, because it miscounts open requests.
  process.exit(faults.length > 0 ? 1 : 0);
}

async function printCases(numbers: readonly number[]): Promise<void> {
  const fixtures = await createFixtures();
  for (const number of numbers) {
    const { kind, steps } = edgeCase(seed, number, fixtures);
    console.log(kind);
    for (const step of steps)
      console.log(
        typeof step === "object" && "write" in step
          ? `write ${step.write.length} bytes: ${JSON.stringify(step.write.toString("latin1", 0, 2_000))}`
          : step,
      );
  }
}

function* range(length: number): Generator<number> {
  for (let number = 0; number < length; number++) yield number;
}
