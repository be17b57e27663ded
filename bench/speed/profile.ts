import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Photos } from "../load/photos.ts";
import { waitWithProgress } from "../progress.ts";
import { type Chapter, percent, table } from "../report.ts";
import { openBareCore } from "./bare-core.ts";

/** Seconds of calls that are profiled. */
const SECONDS = 8;

/** Parts below this share are told together. */
const LEAST_SHARE = 0.005;

/** Microseconds of the main thread by what they were spent on. */
export type TimeSpent = ReadonlyMap<string, number>;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Profiles one process of the bare core while it makes vectors. */
export async function profileCore(photos: Photos): Promise<TimeSpent> {
  const folder = mkdtempSync(join(tmpdir(), "visage-profile-"));
  try {
    const core = await openBareCore(1, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
    const running = core.run({ call: "embed", image: photos.one("640x480"), seconds: SECONDS });
    await waitWithProgress("profile", SECONDS, running);
    await core.close();
    const [file] = readdirSync(folder);
    return timeSpentIn(JSON.parse(readFileSync(join(folder, file!), "utf8")) as CpuProfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Self time by part, from the first call on: loading the networks is not counted. */
function timeSpentIn({ nodes, samples, timeDeltas }: CpuProfile): TimeSpent {
  const parts = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const totals = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  const spent = new Map<string, number>();
  let left = totals;
  samples.forEach((id, i) => {
    left -= timeDeltas[i]!;
    if (left > 1e6 * SECONDS) return;
    const part = parts.get(id)!;
    spent.set(part, (spent.get(part) ?? 0) + timeDeltas[i]!);
  });
  return spent;
}

/** The part that a function belongs to. */
function partOf({ functionName, url }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (functionName === "(idle)") return "waiting for sharp's threads to decode";
  if (functionName === "(garbage collector)") return "garbage collection";
  if (url.includes("/onnxruntime-")) return "running the networks (onnxruntime)";
  if (url.includes("/sharp/")) return "sharp, on this thread";
  if (url.includes("/src/core/")) return `\`core/${basename(url, ".js")}\``;
  return "Node itself";
}

/** Tells where the time goes. */
export function profileChapter(spent: TimeSpent): Chapter {
  const total = [...spent.values()].reduce((sum, value) => sum + value, 0);
  const ordered = [...spent].toSorted(([, one], [, other]) => other - one);
  const large = ordered.filter(([, time]) => time >= LEAST_SHARE * total);
  const rest = total - large.reduce((sum, [, time]) => sum + time, 0);
  return {
    title: "Where the time goes",
    figures: [],
    body: `Self time of the main thread of the bare core while it makes vectors of a 640x480 photo, by \`--cpu-prof\`.

${table(
  ["part", "of the time"],
  [...large, ["all else", rest] as const].map(([part, time]) => [part, percent(time, total)]),
)}`,
  };
}
