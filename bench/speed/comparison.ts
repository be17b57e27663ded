import { availableParallelism } from "node:os";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { mean, median } from "../../tools/support/statistics.ts";
import type { Operation, Protocol } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";
import { openBareCore } from "./bare-core.ts";
import { startPeer } from "./peer.ts";
import { formatRatio, type Pair, type Ratio, ratioOfMeans } from "./ratio.ts";

/** Turns are short because the speed of a machine drifts: many short turns average that out better than few long ones. */
const TURN_SECONDS = 2;

const OPERATIONS = ["get_face_vec", "get_image_attr"] as const;

/** Requests per second of each contender in one round. The peer takes part in some rounds only. */
export interface Round {
  readonly coreVec: number;
  readonly serviceVec: number;
  readonly coreAttr: number;
  readonly serviceAttr: number;
  readonly peer?: number;
}

/** The length of a comparison. */
export interface ComparisonLength {
  readonly rounds: number;
  /** The peer takes part in every n-th round. A few rounds suffice, because it is many times slower. */
  readonly peerInterval: number;
  /** Uncounted turns of the service before the first round, in which V8 compiles its code. */
  readonly warmUpTurns: number;
}

/** Where CPU time is spent. */
const CPU_USERS = ["workers", "server", "generator"] as const;

/** CPU time of one request to the service in milliseconds. */
interface CpuCost {
  readonly operation: Operation;
  readonly workers: number;
  readonly server: number;
  readonly generator: number;
}

export interface Comparison {
  readonly inFlight: number;
  readonly warmUpTurns: number;
  readonly rounds: readonly Round[];
  readonly costs: readonly CpuCost[];
}

/** Measures service, bare core and peer on one photo. They take turns, so that a slow minute affects all of them. */
export async function compareSpeeds(
  service: ServiceProcess,
  photos: Photos,
  length: ComparisonLength,
): Promise<Comparison> {
  const photo = photos.oneFace("640x480");
  const [peer, core] = await Promise.all([startPeer(photo), openBareCore()]);
  const inFlight = 4 * availableParallelism();
  const { warmUpTurns } = length;
  const costs: CpuCost[] = [];

  const measure = (port: number, protocol: Protocol, operation: Operation, seconds = TURN_SECONDS) =>
    measureSpeed(
      { port, userId: USER, mix: [{ protocol, operation, images: [photo] }] },
      { inFlight, seconds },
    );
  const measureService = async (operation: Operation) => {
    const before = service.cpuMs();
    const { perSecond, requests, cpuMs } = await measure(service.port, "multipart", operation);
    const after = service.cpuMs();
    costs.push({
      operation,
      workers: (after.workers - before.workers) / requests,
      server: (after.server - before.server) / requests,
      generator: cpuMs / requests,
    });
    return perSecond;
  };
  // The peer gets longer turns because it completes only a few requests per second.
  const measurePeer = async () =>
    (await measure(peer.port, "raw", "get_face_vec", 2 * TURN_SECONDS)).perSecond;
  const measureCore = async (call: "embed" | "analyze") =>
    (await core.run({ call, image: photo, seconds: TURN_SECONDS })).perSecond;

  try {
    await mapWithProgress("warm-up", range(warmUpTurns), (turn) =>
      measure(service.port, "multipart", OPERATIONS[turn % OPERATIONS.length]!),
    );
    const rounds = await mapWithProgress("comparison", range(length.rounds), async (round) => ({
      coreVec: await measureCore("embed"),
      serviceVec: await measureService("get_face_vec"),
      coreAttr: await measureCore("analyze"),
      serviceAttr: await measureService("get_image_attr"),
      ...(round % length.peerInterval === 0 && { peer: await measurePeer() }),
    }));
    return { inFlight, warmUpTurns, rounds, costs };
  } finally {
    peer.close();
    await core.close();
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Throughput of the service divided by that of the peer, in the rounds in which the peer took part. */
export function peerRatio(rounds: readonly Round[]): number {
  return ratioOfMeans(
    rounds.flatMap<Pair>(({ serviceVec, peer }) => (peer === undefined ? [] : [[serviceVec, peer]])),
  ).ratio;
}

/** Throughput of the service divided by that of the bare core: the lower ratio of the two operations. */
export function coreRatio(rounds: readonly Round[]): Ratio {
  return Object.values(coreRatios(rounds)).reduce((one, other) => (other.ratio < one.ratio ? other : one));
}

function coreRatios(rounds: readonly Round[]): Record<(typeof OPERATIONS)[number], Ratio> {
  return {
    get_face_vec: ratioOfMeans(rounds.map(({ serviceVec, coreVec }) => [serviceVec, coreVec])),
    get_image_attr: ratioOfMeans(rounds.map(({ serviceAttr, coreAttr }) => [serviceAttr, coreAttr])),
  };
}

/** Reports the throughput of the service relative to the peer and to the bare core. */
export function comparisonChapter({ rounds, warmUpTurns, inFlight, costs }: Comparison): Chapter {
  const toPeer = peerRatio(rounds);
  const toCore = coreRatio(rounds);
  const ratios = coreRatios(rounds);
  const cost = (operation: Operation, user: (typeof CPU_USERS)[number]) =>
    median(costs.filter((one) => one.operation === operation).map((one) => one[user]));
  const ratioWithoutGenerator = (operation: (typeof OPERATIONS)[number]) => {
    const own = cost(operation, "workers") + cost(operation, "server");
    return (ratios[operation].ratio * (own + cost(operation, "generator"))) / own;
  };
  const rate = (name: keyof Round) => mean(rounds.flatMap((round) => round[name] ?? [])).toFixed(1);
  const peerRounds = rounds.filter(({ peer }) => peer !== undefined).length;
  return {
    title: "Comparison with the peer and the bare core",
    figures: [
      {
        name: "throughput of get_face_vec, service / peer",
        measured: toPeer.toFixed(1),
        target: "≥ 16",
        isMet: toPeer >= 16,
      },
      {
        name: "throughput, service / bare core (lower of get_face_vec and get_image_attr)",
        measured: formatRatio(toCore),
        target: "≥ 0.9",
        isMet: toCore.ratio >= 0.9,
      },
    ],
    body: `Requests per second on one 640x480 photo with one face, with ${inFlight} requests in flight.

- **bare core**: the library in a tight loop, one process per CPU core, without server and load generator.
- **service**: \`visage serve\`, with multipart requests. ${warmUpTurns} uncounted turns come first, because V8 compiles the server's code over thousands of requests.
- **peer**: @vladmandic/face-api 1.7.15 on the WebAssembly backend of tfjs (SSD MobileNet v1, 68 landmarks, descriptor). sharp decodes, and a minimal \`node:http\` server takes raw image bytes. One process per CPU core.

They take turns of ${TURN_SECONDS} s in ${rounds.length} rounds. The peer takes part in ${peerRounds} rounds, with turns of twice that length. Rates are means over the rounds; ± is one standard error. The load generator shares the machine with service and peer.

${formatTable(
  ["requests/s", "get_face_vec", "get_image_attr"],
  [
    ["bare core", rate("coreVec"), rate("coreAttr")],
    ["service", rate("serviceVec"), rate("serviceAttr")],
    ["peer", rate("peer"), ""],
    ["service / bare core", ...OPERATIONS.map((operation) => formatRatio(ratios[operation]))],
  ],
)}

CPU time per request to the service is below. All CPU cores are busy, so the service loses the generator's share. With the generator on another machine, service / bare core would be about ${OPERATIONS.map((operation) => `${ratioWithoutGenerator(operation).toFixed(2)} for ${operation}`).join(" and ")}.

${formatTable(
  ["CPU time", ...CPU_USERS],
  OPERATIONS.map((operation) => [operation, ...CPU_USERS.map((user) => formatMs(cost(operation, user)))]),
)}`,
  };
}
