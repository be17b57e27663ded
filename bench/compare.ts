// Compares the speed of this build with that of another checkout's, in turns so that both see the same machine:
// `npm run bench:compare -- --with DIR`.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type ServiceProcess, startServiceProcess, USER } from "../tools/support/service-process.ts";
import type { RequestKind } from "./load/load.ts";
import { makePhotos, type Photos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";
import { mean, milliseconds, table } from "./report.ts";

const HELP = `Usage: npm run bench:compare -- --with DIR [--rounds N]

  --with DIR    another checkout of Visage, built by "npm run build"
  --rounds N    how often each load is measured on either build (8)
`;

const { values } = parseArgs({
  options: { with: { type: "string" }, rounds: { type: "string", default: "8" }, help: { type: "boolean" } },
});
const rounds = Number(values.rounds);
const otherCli = values.with === undefined ? undefined : join(resolve(values.with), "dist/src/cli/main.js");
if (values.help || !otherCli || !existsSync(otherCli) || !(Number.isInteger(rounds) && rounds > 1)) {
  console.error(HELP);
  process.exit(values.help ? 0 : 1);
}

const SECONDS = 3;
const IN_FLIGHT = 8;

/** What one build did in one turn. */
interface Turn {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly serverMs: number;
}

const folder = mkdtempSync(join(tmpdir(), "visage-compare-"));
const photos = await makePhotos(folder);
// A free port, which every version understands.
const settings = { VISAGE_METRICS_PORT: "0" };
const [own, other] = await Promise.all([
  startServiceProcess(settings),
  startServiceProcess(settings, otherCli),
]);
try {
  const rows: string[][] = [];
  for (const kind of kindsOf(photos)) {
    const turns: { own: Turn; other: Turn }[] = [];
    for (let round = 0; round < rounds; round++) {
      // The first of two turns alternates, as the machine may slow down while one is measured.
      const first = round % 2 === 0 ? own : other;
      const [one, two] = [await measure(first, kind), await measure(first === own ? other : own, kind)];
      turns.push(first === own ? { own: one, other: two } : { own: two, other: one });
      process.stderr.write(".");
    }
    rows.push(rowOf(kind, turns));
  }
  console.log(
    `\n${table(["", "requests a second", "ratio", "p50, ms", "p99, ms", "server, ms a request"], rows)}`,
  );
  console.log(
    `\nThe other build, then this one; means of ${rounds} turns of ${SECONDS} s with ${IN_FLIGHT} requests in flight; the ratio with its standard error.`,
  );
} finally {
  await Promise.all([own.stop(), other.stop()]);
  rmSync(folder, { recursive: true });
}
process.exit();

function kindsOf(made: Photos): RequestKind[] {
  const images = [made.one("640x480")];
  return [
    { wire: "grpc", operation: "get_face_vec", images },
    { wire: "multipart", operation: "get_face_vec", images },
    { wire: "json", operation: "get_face_vec", images },
    { wire: "grpc", operation: "get_image_attr", images },
  ];
}

async function measure(service: ServiceProcess, kind: RequestKind): Promise<Turn> {
  const before = service.processorMs().server;
  const { perSecond, p50, p99, requests } = await measureSpeed(
    { port: service.port, userId: USER, mix: [kind] },
    { inFlight: IN_FLIGHT, seconds: SECONDS },
  );
  return { perSecond, p50, p99, serverMs: (service.processorMs().server - before) / requests };
}

function rowOf({ wire, operation }: RequestKind, turns: readonly { own: Turn; other: Turn }[]): string[] {
  const both = (read: (turn: Turn) => number, write: (value: number) => string) =>
    `${write(mean(turns.map(({ other: turn }) => read(turn))))} → ${write(mean(turns.map(({ own: turn }) => read(turn))))}`;
  const ratios = turns.map(({ own: mine, other: theirs }) => mine.perSecond / theirs.perSecond);
  const center = mean(ratios);
  const variance = mean(ratios.map((ratio) => (ratio - center) ** 2)) * (ratios.length / (ratios.length - 1));
  const error = Math.sqrt(variance / ratios.length);
  return [
    `${operation}, ${wire}`,
    both(
      ({ perSecond }) => perSecond,
      (value) => value.toFixed(1),
    ),
    `${center.toFixed(3)} ± ${error.toFixed(3)}`,
    both(({ p50 }) => p50, milliseconds),
    both(({ p99 }) => p99, milliseconds),
    both(
      ({ serverMs }) => serverMs,
      (value) => value.toFixed(2),
    ),
  ];
}
