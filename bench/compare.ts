// Compares the speed of this build with that of another checkout: `npm run bench:compare -- --with DIR`.
// The two services take turns, so that both are measured under the same conditions.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { formatMs, formatTable } from "../tools/support/format.ts";
import { findCli, type ServiceProcess, startServiceProcess, USER } from "../tools/support/service-process.ts";
import { mean, sum } from "../tools/support/statistics.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import type { RequestKind } from "./load/load.ts";
import { createPhotos, type Photos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";

const HELP = `Usage: npm run bench:compare -- --with DIR [--rounds N]

  --with DIR    another checkout of Visage, built by "npm run build"
  --rounds N    how many turns each build gets per load, at least 2 (8)
`;

const { values } = parseArgs({
  options: { with: { type: "string" }, rounds: { type: "string", default: "8" }, help: { type: "boolean" } },
});
const rounds = Number(values.rounds);
if (values.help || values.with === undefined || !Number.isInteger(rounds) || rounds < 2) {
  console.error(HELP);
  process.exit(values.help ? 0 : 1);
}
const otherDir = resolve(values.with);
try {
  findCli(otherDir);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

const SECONDS = 3;
const IN_FLIGHT = 8;

/** The measurements of one build in one turn. */
interface Turn {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly serverMs: number;
}

const photos = await createPhotos(createTempDir("visage-compare-"));
const settings = {
  VISAGE_METRICS_PORT: "off",
  // No request of a closed loop may be rejected, also on a slow machine.
  VISAGE_MAX_QUEUE_WAIT_MS: "60000",
};
const other = await startServiceProcess(settings, otherDir);
const own = await startServiceProcess(settings);
try {
  const rows: string[][] = [];
  for (const kind of createRequestKinds(photos)) {
    const turns: { own: Turn; other: Turn }[] = [];
    for (let round = 0; round < rounds; round++) {
      // The order alternates, so that a machine that slows down favours neither build.
      const first = round % 2 === 0 ? own : other;
      const [one, two] = [await measure(first, kind), await measure(first === own ? other : own, kind)];
      turns.push(first === own ? { own: one, other: two } : { own: two, other: one });
      process.stderr.write(".");
    }
    rows.push(formatRow(kind, turns));
  }
  console.log(
    `\n${formatTable(["", "requests/s", "ratio", "p50", "p99", "server CPU per request, ms"], rows)}`,
  );
  console.log(
    `\nEach cell: other build → this build. Means of ${rounds} turns of ${SECONDS} s with ${IN_FLIGHT} requests in flight; the ratio (this / other) is given with its standard error.`,
  );
} finally {
  await Promise.all([own.stop(), other.stop()]);
}
process.exit();

function createRequestKinds({ oneFace }: Photos): RequestKind[] {
  const images = [oneFace("640x480")];
  return [
    { protocol: "grpc", operation: "get_face_vec", images },
    { protocol: "multipart", operation: "get_face_vec", images },
    { protocol: "json", operation: "get_face_vec", images },
    { protocol: "grpc", operation: "get_image_attr", images },
  ];
}

async function measure(service: ServiceProcess, kind: RequestKind): Promise<Turn> {
  const before = service.cpuMs().server;
  const { perSecond, p50, p99, requests } = await measureSpeed(
    { port: service.port, userId: USER, mix: [kind] },
    { inFlight: IN_FLIGHT, seconds: SECONDS },
  );
  return { perSecond, p50, p99, serverMs: (service.cpuMs().server - before) / requests };
}

function formatRow(
  { protocol, operation }: RequestKind,
  turns: readonly { own: Turn; other: Turn }[],
): string[] {
  const both = (value: (turn: Turn) => number, format: (value: number) => string) => {
    const otherMean = mean(turns.map(({ other: turn }) => value(turn)));
    const ownMean = mean(turns.map(({ own: turn }) => value(turn)));
    return `${format(otherMean)} → ${format(ownMean)}`;
  };
  const ratios = turns.map(({ own: mine, other: theirs }) => mine.perSecond / theirs.perSecond);
  const meanRatio = mean(ratios);
  const variance = sum(ratios.map((ratio) => (ratio - meanRatio) ** 2)) / (ratios.length - 1);
  const standardError = Math.sqrt(variance / ratios.length);
  return [
    `${operation}, ${protocol}`,
    both(
      ({ perSecond }) => perSecond,
      (value) => value.toFixed(1),
    ),
    `${meanRatio.toFixed(3)} ± ${standardError.toFixed(3)}`,
    both(({ p50 }) => p50, formatMs),
    both(({ p99 }) => p99, formatMs),
    both(
      ({ serverMs }) => serverMs,
      (value) => value.toFixed(2),
    ),
  ];
}
