import { availableParallelism } from "node:os";
import type { Operation, Wire } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed } from "../load/run-load.ts";
import { mapWithProgress } from "../progress.ts";
import { median } from "../quantiles.ts";
import { type Chapter, milliseconds, table } from "../report.ts";
import { type ServiceProcess, USER } from "../service-process.ts";
import { type BareCore, openBareCore } from "./bare-core.ts";
import { type Peer, startPeer } from "./peer.ts";

/** Short, as a machine may be slower for some seconds: more turns tell more than longer ones. */
const TURN_SECONDS = 2;

const OPERATIONS = ["get_face_vec", "get_image_attr"] as const;

type Rival = keyof ReturnType<typeof rivalsOn>;

/** Requests a second of each rival, each in its turn. */
export type Round = Readonly<Record<Rival, number>>;

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
  readonly rounds: readonly Round[];
  readonly costs: readonly Cost[];
}

/** Lets service, bare core and peer take turns on one photo, in so many rounds, so that a busy minute hits all. */
export async function compareSpeeds(
  service: ServiceProcess,
  photos: Photos,
  rounds: number,
): Promise<Comparison> {
  const photo = photos.one("640x480");
  const [peer, core] = await Promise.all([startPeer(photo), openBareCore()]);
  const inFlight = 4 * availableParallelism();
  const costs: Cost[] = [];
  try {
    const rivals = rivalsOn(photo, service, peer, core, inFlight, (cost) => costs.push(cost));
    const names = Object.keys(rivals) as Rival[];
    const turns = Array.from({ length: rounds }, () => names).flat();
    const rates = await mapWithProgress("comparison", turns, (name) => rivals[name]());
    const round = (number: number) =>
      Object.fromEntries(names.map((name, i) => [name, rates[number * names.length + i]!]));
    return {
      inFlight,
      rounds: Array.from({ length: rounds }, (_, i) => round(i) as Round),
      costs,
    };
  } finally {
    peer.close();
    await core.close();
  }
}

/** How fast each does the same work when it is its turn. */
function rivalsOn(
  image: string,
  service: ServiceProcess,
  peer: Peer,
  core: BareCore,
  inFlight: number,
  onCost: (cost: Cost) => void,
) {
  const ask = (port: number, wire: Wire, operation: Operation, seconds = TURN_SECONDS) =>
    measureSpeed({ port, userId: USER, mix: [{ wire, operation, images: [image] }] }, { inFlight, seconds });
  const askService = async (operation: Operation) => {
    const before = service.processorMs();
    const { perSecond, requests, processorMs } = await ask(service.port, "multipart", operation);
    const after = service.processorMs();
    onCost({
      operation,
      workers: (after.workers - before.workers) / requests,
      server: (after.server - before.server) / requests,
      generator: processorMs / requests,
    });
    return perSecond;
  };
  const loop = async (call: "embed" | "analyze") =>
    (await core.run({ call, image, seconds: TURN_SECONDS })).perSecond;
  return {
    coreVec: () => loop("embed"),
    serviceVec: () => askService("get_face_vec"),
    coreAttr: () => loop("analyze"),
    serviceAttr: () => askService("get_image_attr"),
    // Longer, as it answers a few requests a second.
    peer: async () => (await ask(peer.port, "bare", "get_face_vec", 2 * TURN_SECONDS)).perSecond,
  };
}

/** How many times as fast as the peer the service makes vectors. */
export function peerRatioOf({ serviceVec, peer }: Round): number {
  return serviceVec / peer;
}

/** What part of the bare core's speed is left behind the server, at the operation where less is. */
export function coreShareOf(rounds: readonly Round[]): number {
  return Math.min(
    median(rounds.map(({ serviceVec, coreVec }) => serviceVec / coreVec)),
    median(rounds.map(({ serviceAttr, coreAttr }) => serviceAttr / coreAttr)),
  );
}

/** Tells the comparison. */
export function comparisonChapter({ rounds, inFlight, costs }: Comparison): Chapter {
  const peerRatio = median(rounds.map(peerRatioOf));
  const coreShare = coreShareOf(rounds);
  const rate = (name: Rival) => median(rounds.map((round) => round[name])).toFixed(1);
  return {
    title: "Against the peer and the bare core",
    figures: [
      {
        what: "get_face_vec, service against peer",
        measured: `${peerRatio.toFixed(1)} times`,
        target: "≥ 8 times",
        reached: peerRatio >= 8,
      },
      {
        what: "service against bare core (the lower of get_face_vec and get_image_attr)",
        measured: coreShare.toFixed(2),
        target: "≥ 0.9",
        reached: coreShare >= 0.9,
      },
    ],
    body: `Requests a second on one 640x480 photo of one face. The service has served some thousands of requests before, those of the next three chapters, in which the code of its server was compiled. There are ${rounds.length} rounds in which all take turns of ${TURN_SECONDS} s, the peer of twice that; ratios are taken within a round, and all numbers are the median of the rounds. Service and peer are asked over HTTP by the same generator with ${inFlight} requests in flight, which shares the machine with them; the service takes multipart, the peer the bare bytes of the image. The bare core is the library in a tight loop, a process a core, with neither server nor generator. The peer is @vladmandic/face-api 1.7.15 on tfjs' WebAssembly backend (SSD MobileNet v1, 68 landmarks, descriptor), decoding by sharp, behind a bare \`node:http\` server, a process a core.

${table(
  ["", "get_face_vec", "get_image_attr"],
  [
    ["bare core", rate("coreVec"), rate("coreAttr")],
    ["service", rate("serviceVec"), rate("serviceAttr")],
    ["peer", rate("peer"), ""],
  ],
)}

Where the processors' time for a request to the service goes; where they are all at work, the generator's is lost to the service:

${table(
  ["", "workers", "server", "generator"],
  OPERATIONS.map((operation) => [
    operation,
    ...(["workers", "server", "generator"] as const).map((part) =>
      milliseconds(median(costs.filter((cost) => cost.operation === operation).map((cost) => cost[part]))),
    ),
  ]),
)}`,
  };
}
