import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { formatPercent, formatTable } from "../../tools/support/format.ts";
import { waitWithProgress } from "../../tools/support/progress.ts";
import { sum } from "../../tools/support/statistics.ts";
import type { Photos } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { openBareCore } from "./bare-core.ts";

/** The length of a profile. */
const SECONDS = 8;

/** Components below this share are reported together. */
const MIN_SHARE = 0.005;

const CALLS = ["embed", "analyze"] as const;
type Call = (typeof CALLS)[number];

const INFERENCE = "inference (onnxruntime)";

/** Self time of the main thread in microseconds, by component. */
export type SelfTimes = ReadonlyMap<string, number>;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Profiles one process of the bare core on a photo, once for each call. */
export async function profileCore(photos: Photos): Promise<Record<Call, SelfTimes>> {
  const profiles = new Map<Call, SelfTimes>();
  for (const call of CALLS) profiles.set(call, await profileCall(call, photos.oneFace("640x480")));
  return Object.fromEntries(profiles) as Record<Call, SelfTimes>;
}

async function profileCall(call: Call, image: string): Promise<SelfTimes> {
  const folder = mkdtempSync(join(tmpdir(), "visage-profile-"));
  try {
    const core = await openBareCore(1, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
    const running = core.run({ call, image, seconds: SECONDS });
    await waitWithProgress(`profile of ${call}`, SECONDS, running);
    await core.close();
    const [file] = readdirSync(folder);
    return selfTimesOf(JSON.parse(readFileSync(join(folder, file!), "utf8")) as CpuProfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sums up the last seconds of a profile by component: loading the networks comes before. */
function selfTimesOf({ nodes, samples, timeDeltas }: CpuProfile): SelfTimes {
  const components = new Map(nodes.map(({ id, callFrame }) => [id, componentOf(callFrame)]));
  const selfTimes = new Map<string, number>();
  let left = sum(timeDeltas);
  samples.forEach((id, i) => {
    left -= timeDeltas[i]!;
    if (left > 1e6 * SECONDS) return;
    const component = components.get(id)!;
    selfTimes.set(component, (selfTimes.get(component) ?? 0) + timeDeltas[i]!);
  });
  return selfTimes;
}

/** The component that a function belongs to. */
function componentOf({ functionName, url }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (functionName === "(idle)") return "waiting for the decoder threads of sharp";
  if (functionName === "(garbage collector)") return "garbage collection";
  if (url.includes("/onnxruntime-")) return INFERENCE;
  if (url.includes("/sharp/")) return "sharp, on the main thread";
  if (url.startsWith("wasm:")) return "sampling of crops (WebAssembly)";
  if (url.includes("/src/core/")) return `\`core/${basename(url, ".js")}\``;
  return "Node.js";
}

/** Reports where the main thread of the core spends its time. */
export function profileChapter(profiles: Readonly<Record<Call, SelfTimes>>): Chapter {
  const share = (call: Call, component: string) =>
    (profiles[call].get(component) ?? 0) / sum([...profiles[call].values()]);
  const components = [...new Set(CALLS.flatMap((call) => [...profiles[call].keys()]))];
  const maxShare = (component: string) => Math.max(...CALLS.map((call) => share(call, component)));
  const listed = components
    .filter((component) => maxShare(component) >= MIN_SHARE)
    .toSorted((one, other) => maxShare(other) - maxShare(one));
  const rest = (call: Call) => 1 - sum(listed.map((component) => share(call, component)));
  return {
    title: "CPU profile of the core",
    figures: CALLS.map((call) => {
      const outside = 1 - share(call, INFERENCE);
      return {
        name: `time of ${call} outside inference, 640x480`,
        measured: formatPercent(outside, 1),
        target: "≤ 20 %",
        isMet: outside <= 0.2,
      };
    }),
    body: `Self time on the main thread of the bare core on a 640x480 photo, measured with \`--cpu-prof\`.

${formatTable(
  ["component", ...CALLS],
  [
    ...listed.map((component) => [
      component,
      ...CALLS.map((call) => formatPercent(share(call, component), 1)),
    ]),
    ["other", ...CALLS.map((call) => formatPercent(rest(call), 1))],
  ],
)}`,
  };
}
