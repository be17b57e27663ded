import { availableParallelism } from "node:os";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { mean, median } from "../../tools/support/statistics.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";
import { openBareCore } from "./bare-core.ts";
import { formatRatio, type Ratio, ratioOfMeans } from "./ratio.ts";

const TURN_SECONDS = 2;

/** The two ways to send images to the typed API. */
const WAYS = { stream: "grpc-stream", unary: "grpc" } as const;
type Way = keyof typeof WAYS;

/** Where CPU time is spent. */
const CPU_USERS = ["workers", "server", "generator"] as const;
type CpuMs = Readonly<Record<(typeof CPU_USERS)[number], number>>;

/** Images per second of each contender in one round. */
export interface StreamRound {
  readonly stream: number;
  readonly unary: number;
  readonly core?: number;
}

/** The length of a measurement. */
export interface StreamLength {
  readonly rounds: number;
  /** Whether the bare core takes part. */
  readonly withCore: boolean;
  /** Uncounted turns before the first round, in which V8 compiles the server's code. */
  readonly warmUpTurns: number;
}

export interface StreamSpeeds {
  readonly inFlight: number;
  readonly warmUpTurns: number;
  readonly rounds: readonly StreamRound[];
  /** CPU time of one image in milliseconds, by way, in each round. */
  readonly costs: readonly Readonly<Record<Way, CpuMs>>[];
}

/** Measures one stream, unary calls and the bare core on one photo. They take turns. */
export async function measureStream(
  service: ServiceProcess,
  photos: Photos,
  { rounds: count, withCore, warmUpTurns }: StreamLength,
): Promise<StreamSpeeds> {
  const photo = photos.oneFace("640x480");
  const inFlight = 4 * availableParallelism();
  const measure = async (way: Way) => {
    const before = service.cpuMs();
    const mix = [{ protocol: WAYS[way], operation: "analyze_image" as const, images: [photo] }];
    const { perSecond, requests, cpuMs } = await measureSpeed(
      { port: service.port, userId: USER, mix },
      { inFlight, seconds: TURN_SECONDS },
    );
    const after = service.cpuMs();
    const cpu: CpuMs = {
      workers: (after.workers - before.workers) / requests,
      server: (after.server - before.server) / requests,
      generator: cpuMs / requests,
    };
    return { perSecond, cpu };
  };

  const core = withCore ? await openBareCore() : undefined;
  try {
    await mapWithProgress("warm-up", range(warmUpTurns), (turn) => measure(turn % 2 ? "unary" : "stream"));
    const measured = await mapWithProgress("stream", range(count), async (round) => {
      const coreSpeed = await core?.run({ call: "analyze", image: photo, seconds: TURN_SECONDS });
      // The first of a round may find the machine faster or slower, so they alternate.
      const first = round % 2 ? "unary" : "stream";
      const speeds = { [first]: await measure(first) } as Record<Way, Awaited<ReturnType<typeof measure>>>;
      const second = round % 2 ? "stream" : "unary";
      speeds[second] = await measure(second);
      return { speeds, core: coreSpeed?.perSecond };
    });
    return {
      inFlight,
      warmUpTurns,
      rounds: measured.map(({ speeds, core }) => ({
        stream: speeds.stream.perSecond,
        unary: speeds.unary.perSecond,
        ...(core !== undefined && { core }),
      })),
      costs: measured.map(({ speeds }) => ({ stream: speeds.stream.cpu, unary: speeds.unary.cpu })),
    };
  } finally {
    await core?.close();
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Throughput of the stream divided by that of unary calls. */
export function streamRatio(rounds: readonly StreamRound[]): Ratio {
  return ratioOfMeans(rounds.map(({ stream, unary }) => [stream, unary]));
}

function coreRatio(rounds: readonly StreamRound[], way: Way): Ratio {
  return ratioOfMeans(
    rounds.flatMap(({ core, ...speeds }) => (core === undefined ? [] : [[speeds[way], core]])),
  );
}

/** Reports the throughput of a stream relative to unary calls and to the bare core. */
export function streamChapter({ inFlight, warmUpTurns, rounds, costs }: StreamSpeeds): Chapter {
  const toUnary = streamRatio(rounds);
  const hasCore = rounds.some(({ core }) => core !== undefined);
  const rate = (name: keyof StreamRound) => mean(rounds.flatMap((round) => round[name] ?? [])).toFixed(1);
  const cost = (way: Way, user: (typeof CPU_USERS)[number]) =>
    formatMs(median(costs.map((round) => round[way][user])));
  return {
    title: "One stream and unary calls",
    figures: [
      {
        name: "throughput of AnalyzeImages on one stream / AnalyzeImage",
        measured: formatRatio(toUnary),
        target: "≥ 1 within its standard error",
        isMet: toUnary.ratio + toUnary.standardError >= 1,
      },
    ],
    body: `Images per second on one 640x480 photo with one face, over gRPC, with landmarks, attributes and quality.

- **stream**: AnalyzeImages on one stream, with ${inFlight} images without a response.
- **unary**: AnalyzeImage on one connection, with ${inFlight} calls in flight.
- **bare core**: \`analyze\` in a tight loop, one process per CPU core, without server and load generator.

They take turns of ${TURN_SECONDS} s in ${rounds.length} rounds, after ${warmUpTurns} uncounted turns. Rates are means over the rounds; ± is one standard error. CPU times are medians per image. The load generator shares the machine with the service.

${formatTable(
  ["", "images/s", "to unary", "to bare core", ...CPU_USERS.map((user) => `CPU of ${user}`)],
  [
    ...(["stream", "unary"] as const).map((way) => [
      way,
      rate(way),
      way === "stream" ? formatRatio(toUnary) : "",
      hasCore ? formatRatio(coreRatio(rounds, way)) : "",
      ...CPU_USERS.map((user) => cost(way, user)),
    ]),
    ...(hasCore ? [["bare core", rate("core"), "", "", "", "", ""]] : []),
  ],
)}`,
  };
}
