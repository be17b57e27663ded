import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { waitWithProgress } from "../../tools/support/progress.ts";
import type { Photos } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { openBareCore } from "./bare-core.ts";

/** Seconds of calls that are profiled. */
const SECONDS = 8;

/** Parts below this share are told together. */
const LEAST_SHARE = 0.005;

const CALLS = ["embed", "analyze"] as const;
type Call = (typeof CALLS)[number];

const NETWORKS = "running the networks (onnxruntime)";

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

/** Profiles one process of the bare core at work on a photograph, once for each of its calls. */
export async function profileCore(photos: Photos): Promise<Record<Call, TimeSpent>> {
  const profiles = new Map<Call, TimeSpent>();
  for (const call of CALLS) profiles.set(call, await profileCall(call, photos.one("640x480")));
  return Object.fromEntries(profiles) as Record<Call, TimeSpent>;
}

async function profileCall(call: Call, image: string): Promise<TimeSpent> {
  const folder = mkdtempSync(join(tmpdir(), "visage-profile-"));
  try {
    const core = await openBareCore(1, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
    const running = core.run({ call, image, seconds: SECONDS });
    await waitWithProgress(`profile of ${call}`, SECONDS, running);
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
  if (url.includes("/onnxruntime-")) return NETWORKS;
  if (url.includes("/sharp/")) return "sharp, on this thread";
  if (url.startsWith("wasm:")) return "crops, in WebAssembly";
  if (url.includes("/src/core/")) return `\`core/${basename(url, ".js")}\``;
  return "Node itself";
}

/** Tells where the time goes. */
export function profileChapter(profiles: Readonly<Record<Call, TimeSpent>>): Chapter {
  const share = (call: Call, part: string) => (profiles[call].get(part) ?? 0) / totalOf(profiles[call]);
  const parts = [...new Set(CALLS.flatMap((call) => [...profiles[call].keys()]))];
  const largest = (part: string) => Math.max(...CALLS.map((call) => share(call, part)));
  const told = parts
    .filter((part) => largest(part) >= LEAST_SHARE)
    .toSorted((one, other) => largest(other) - largest(one));
  const rest = (call: Call) => 1 - told.reduce((sum, part) => sum + share(call, part), 0);
  return {
    title: "Where the time goes",
    figures: CALLS.map((call) => {
      const outside = 1 - share(call, NETWORKS);
      return {
        name: `time of ${call} outside the networks, on 640x480`,
        measured: formatPercent(outside, 1),
        target: "≤ 20 %",
        isMet: outside <= 0.2,
      };
    }),
    body: `Self time of the main thread of the bare core on a 640x480 photo, by \`--cpu-prof\`.

${formatTable(
  ["part", ...CALLS],
  [
    ...told.map((part) => [part, ...CALLS.map((call) => formatPercent(share(call, part), 1))]),
    ["all else", ...CALLS.map((call) => formatPercent(rest(call), 1))],
  ],
)}`,
  };
}

function totalOf(spent: TimeSpent): number {
  return [...spent.values()].reduce((sum, value) => sum + value, 0);
}
