// A process of the bare core: on each message, it calls an analyzer on one image in a tight loop.
import { readFileSync } from "node:fs";
import { openAnalyzer } from "../../src/core/index.ts";
import type { CoreJob, CoreResult } from "./bare-core.ts";

const WARM_UP_CALLS = 3;

process.on("disconnect", () => process.exit());

const [modelsDir] = process.argv.slice(2);
const { analyze, embed } = await openAnalyzer({ modelsDir: modelsDir! });
process.on("message", async (job: CoreJob) => process.send!(await runJob(job)));
process.send!("ready");

async function runJob({ call, image, seconds }: CoreJob): Promise<CoreResult> {
  const bytes = readFileSync(image);
  const run = () => (call === "embed" ? embed(bytes) : analyze(bytes));
  for (let i = 0; i < WARM_UP_CALLS; i++) await run();
  const { faces } = await analyze(bytes);
  const callMs: number[] = [];
  const end = performance.now() + 1000 * seconds;
  for (let start = performance.now(); start < end; start = performance.now()) {
    await run();
    callMs.push(performance.now() - start);
  }
  return { callMs, faces: faces.length };
}
