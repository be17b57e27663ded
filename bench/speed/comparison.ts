import { availableParallelism } from "node:os";
import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { mean, median } from "../../tools/support/statistics.ts";
import type { Operation, Wire } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";
import { openBareCore } from "./bare-core.ts";
import { startPeer } from "./peer.ts";

/** Short, as a machine may be slower for some seconds: more turns tell more than longer ones. */
const TURN_SECONDS = 2;

const OPERATIONS = ["get_face_vec", "get_image_attr"] as const;

/** Requests a second of each rival, each in its turn; the peer takes part in some rounds only. */
export interface Round {
  readonly coreVec: number;
  readonly serviceVec: number;
  readonly coreAttr: number;
  readonly serviceAttr: number;
  readonly peer?: number;
}

/** How long a comparison is. */
export interface ComparisonLength {
  readonly rounds: number;
  /** The peer takes part in one of so many rounds: few tell that something is many times as fast. */
  readonly roundsOfPeer: number;
  /** Turns of the service that come before and do not count. Its code is compiled bit by bit as it is used. */
  readonly settlingTurns: number;
}

/** Who takes the processors' time. */
const PARTS = ["workers", "server", "generator"] as const;

/** Milliseconds of processors that one request to the service took, and where. */
interface Cost {
  readonly operation: Operation;
  readonly workers: number;
  readonly server: number;
  readonly generator: number;
}

/** What the rounds gave, with how many requests in flight, and what requests to the service cost. */
export interface Comparison {
  readonly inFlight: number;
  readonly settlingTurns: number;
  readonly rounds: readonly Round[];
  readonly costs: readonly Cost[];
}

/** Lets service, bare core and peer take turns on one photo, so that a busy minute hits all. */
export async function compareSpeeds(
  service: ServiceProcess,
  photos: Photos,
  length: ComparisonLength,
): Promise<Comparison> {
  const photo = photos.one("640x480");
  const [peer, core] = await Promise.all([startPeer(photo), openBareCore()]);
  const inFlight = 4 * availableParallelism();
  const { settlingTurns } = length;
  const costs: Cost[] = [];

  const ask = (port: number, wire: Wire, operation: Operation, seconds = TURN_SECONDS) =>
    measureSpeed({ port, userId: USER, mix: [{ wire, operation, images: [photo] }] }, { inFlight, seconds });
  const askService = async (operation: Operation) => {
    const before = service.cpuMs();
    const { perSecond, requests, cpuMs } = await ask(service.port, "multipart", operation);
    const after = service.cpuMs();
    costs.push({
      operation,
      workers: (after.workers - before.workers) / requests,
      server: (after.server - before.server) / requests,
      generator: cpuMs / requests,
    });
    return perSecond;
  };
  // Longer, as it answers a few requests a second.
  const askPeer = async () => (await ask(peer.port, "bare", "get_face_vec", 2 * TURN_SECONDS)).perSecond;
  const loop = async (call: "embed" | "analyze") =>
    (await core.run({ call, image: photo, seconds: TURN_SECONDS })).perSecond;

  try {
    await mapWithProgress("settling", range(settlingTurns), (number) =>
      ask(service.port, "multipart", OPERATIONS[number % OPERATIONS.length]!),
    );
    const rounds = await mapWithProgress("comparison", range(length.rounds), async (number) => ({
      coreVec: await loop("embed"),
      serviceVec: await askService("get_face_vec"),
      coreAttr: await loop("analyze"),
      serviceAttr: await askService("get_image_attr"),
      ...(number % length.roundsOfPeer === 0 && { peer: await askPeer() }),
    }));
    return { inFlight, settlingTurns, rounds, costs };
  } finally {
    peer.close();
    await core.close();
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}

/** How many times as fast as the peer the service makes vectors, in the rounds in which the peer took part. */
export function peerRatioOf(rounds: readonly Round[]): number {
  return ratioOf(
    rounds.flatMap<Pair>(({ serviceVec, peer }) => (peer === undefined ? [] : [[serviceVec, peer]])),
  ).ratio;
}

/** What part of the bare core's speed is left behind the server, at the operation where less is. */
export function coreShareOf(rounds: readonly Round[]): Ratio {
  return Object.values(sharesOf(rounds)).reduce((one, other) => (other.ratio < one.ratio ? other : one));
}

/** What part of the bare core's speed is left behind the server, by operation. */
function sharesOf(rounds: readonly Round[]): Record<(typeof OPERATIONS)[number], Ratio> {
  return {
    get_face_vec: ratioOf(rounds.map(({ serviceVec, coreVec }) => [serviceVec, coreVec])),
    get_image_attr: ratioOf(rounds.map(({ serviceAttr, coreAttr }) => [serviceAttr, coreAttr])),
  };
}

/** The speeds of two rivals in one round. */
type Pair = readonly [one: number, other: number];

/** How fast one is against another, and how far off that may be: the standard error. */
interface Ratio {
  readonly ratio: number;
  readonly error: number;
}

/**
 * What one did in all its turns against what the other did in its own. That is off by less than the median of the
 * rounds' ratios where the machine's speed changes from turn to turn: by 0.019 against 0.026 in 24 rounds.
 */
function ratioOf(pairs: readonly Pair[]): Ratio {
  const meanOther = mean(pairs.map(([, other]) => other));
  const ratio = mean(pairs.map(([one]) => one)) / meanOther;
  const variance = mean(pairs.map(([one, other]) => (one - ratio * other) ** 2));
  return { ratio, error: Math.sqrt(variance / (pairs.length - 1)) / meanOther };
}

/** Tells the comparison. */
export function comparisonChapter({ rounds, settlingTurns, inFlight, costs }: Comparison): Chapter {
  const peerRatio = peerRatioOf(rounds);
  const coreShare = coreShareOf(rounds);
  const shares = sharesOf(rounds);
  const cost = (operation: Operation, part: (typeof PARTS)[number]) =>
    median(costs.filter((one) => one.operation === operation).map((one) => one[part]));
  const shareAlone = (operation: (typeof OPERATIONS)[number]) => {
    const own = cost(operation, "workers") + cost(operation, "server");
    return (shares[operation].ratio * (own + cost(operation, "generator"))) / own;
  };
  const rate = (name: keyof Round) => mean(rounds.flatMap((round) => round[name] ?? [])).toFixed(1);
  const peerRounds = rounds.filter(({ peer }) => peer !== undefined).length;
  return {
    title: "Against the peer and the bare core",
    figures: [
      {
        name: "get_face_vec, service against peer",
        measured: `${peerRatio.toFixed(1)} times`,
        target: "≥ 8 times",
        isMet: peerRatio >= 8,
      },
      {
        name: "service against bare core (the lower of get_face_vec and get_image_attr)",
        measured: shareText(coreShare),
        target: "≥ 0.9",
        isMet: coreShare.ratio >= 0.9,
      },
    ],
    body: `Requests a second on one 640x480 photo of one face. The service has served the requests of the next three chapters before, and then ${settlingTurns} turns of these that did not count: the code of its server is compiled bit by bit, over thousands of requests. There are ${rounds.length} rounds in which all take turns of ${TURN_SECONDS} s, the peer of twice that and in ${peerRounds} of them only; rates are the mean of the rounds, and what follows ± is one standard error. Service and peer are asked over HTTP by the same generator with ${inFlight} requests in flight, which shares the machine with them; the service takes multipart, the peer the bare bytes of the image. The bare core is the library in a tight loop, a process a core, with neither server nor generator. The peer is @vladmandic/face-api 1.7.15 on tfjs' WebAssembly backend (SSD MobileNet v1, 68 landmarks, descriptor), decoding by sharp, behind a bare \`node:http\` server, a process a core.

${formatTable(
  ["", "get_face_vec", "get_image_attr"],
  [
    ["bare core", rate("coreVec"), rate("coreAttr")],
    ["service", rate("serviceVec"), rate("serviceAttr")],
    ["peer", rate("peer"), ""],
    ["service against bare core", ...OPERATIONS.map((operation) => shareText(shares[operation]))],
  ],
)}

Where the processors' time for a request to the service goes; where they are all at work, the generator's is lost to the service. With the generator on another machine it would have about ${OPERATIONS.map((operation) => `${shareAlone(operation).toFixed(2)} of the core's speed for ${operation}`).join(", ")}.

${formatTable(
  ["", ...PARTS],
  OPERATIONS.map((operation) => [operation, ...PARTS.map((part) => formatMs(cost(operation, part)))]),
)}`,
  };
}

function shareText({ ratio, error }: Ratio): string {
  return `${ratio.toFixed(2)} ± ${error.toFixed(2)}`;
}
