import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/free-port.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../support/service-process.ts";
import { makeImages } from "../images.ts";
import { edgeCase } from "./cases.ts";
import { readMetrics } from "./metrics.ts";
import { edgeFault, runEdgeCases } from "./run.ts";
import type { EdgeCase, Material } from "./script.ts";
import { findUnavailable } from "./valid-calls.ts";

/** Connections at a time: enough to keep a server busy while most of them wait. */
const PARALLEL = 96;
/** How long the last requests may take to end once their clients have left. */
const SETTLE_MS = 30_000;
const CHECK_INTERVAL_MS = 2_000;
const SETTINGS = {
  VISAGE_WORKERS: "1",
  VISAGE_REQUEST_TIMEOUT_MS: "5000",
  // All cases come from one address, and broken connections linger for some seconds.
  VISAGE_MAX_CONNECTIONS_PER_ADDRESS: "4096",
};

export interface Campaign {
  readonly seed: number;
  /** The numbers of the cases to run, in this order. */
  readonly numbers: Iterable<number>;
  readonly parallel?: number;
  readonly onProgress?: (tried: number, faults: number) => void;
}

export interface CampaignResult {
  readonly tried: number;
  /** Requests that the service carried out to their end. */
  readonly succeeded: number;
  /** Each with the numbers of the cases that reproduce it. */
  readonly faults: readonly string[];
}

/** Starts a service, runs cases against it, and checks that it still works as if nothing had happened. */
export async function runCampaign({
  seed,
  numbers,
  parallel = PARALLEL,
  onProgress = () => {},
}: Campaign): Promise<CampaignResult> {
  const material = await makeMaterial();
  const faults: string[] = [];
  const metricsPort = await freePort();
  const service = await startWith(metricsPort);
  const died = new AbortController();
  void service.exitCode.then(() => died.abort());
  const { workers } = service;
  let tried = 0;
  const counted = function* () {
    for (const number of numbers) {
      yield edgeCase(seed, number, material);
      tried++;
    }
  };
  const outcomes = watchOutcomes(metricsPort, () => tried, faults);
  const timer = setInterval(() => onProgress(tried, faults.length), CHECK_INTERVAL_MS);
  try {
    const run = await runEdgeCases(
      service.port,
      counted(),
      parallel,
      ({ failed, fault }) => faults.push(`${describeCase(seed, failed)}: ${fault}`),
      died.signal,
    );
    clearInterval(timer);
    await outcomes.stop();
    if (!service.isAlive) {
      const culprit = await findFatal(run.inProgress);
      const suspects = culprit ? [culprit] : run.inProgress;
      faults.push(
        `the process ended with ${await service.exitCode} on ${suspects.map((one) => describeCase(seed, one)).join(" or ")}`,
      );
    } else {
      faults.push(...(await faultsAfter(service, metricsPort, workers, material)));
    }
    return { tried: run.tried, succeeded: outcomes.succeeded(), faults };
  } finally {
    clearInterval(timer);
    await outcomes.stop();
    await service.stop("SIGKILL");
  }
}

/** The photo and the user that cases use. */
export async function makeMaterial(): Promise<Material> {
  const [, photo] = await makeImages();
  return { photo: photo!, user: USER };
}

function startWith(metricsPort: number): Promise<ServiceProcess> {
  return startServiceProcess({ ...SETTINGS, VISAGE_METRICS_PORT: String(metricsPort) });
}

/** What is wrong with a service once all its clients have left. */
async function faultsAfter(
  service: ServiceProcess,
  metricsPort: number,
  workers: readonly number[],
  { user, photo }: Material,
): Promise<string[]> {
  const faults: string[] = [];
  const open = await lastValueAbove0(async () =>
    (await readMetrics(metricsPort)).value("visage_requests_in_flight"),
  );
  if (open !== 0) faults.push(`requests left open: ${open}`);
  const lost = workers.filter((pid) => !service.workers.includes(pid)).length;
  if (lost > 0) faults.push(`workers lost: ${lost}`);
  faults.push(...(await findUnavailable(service.port, user, photo)));
  if (!service.isAlive) faults.push("the process ended after the last case");
  return faults;
}

/** Polls until the value is 0; gives the last value, or the error that reading it threw. */
async function lastValueAbove0(read: () => Promise<number>): Promise<number | string> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const value = await read().catch(String);
    if (value === 0 || typeof value === "string" || performance.now() > deadline) return value;
    await sleep(100);
  }
}

/** Counts successful requests, and notes the range of cases in which requests ended with an internal error. */
function watchOutcomes(metricsPort: number, tried: () => number, faults: string[]) {
  let [seen, from, succeeded] = [0, 0, 0];
  const stopping = new AbortController();
  const look = async () => {
    const to = tried();
    const metrics = await readMetrics(metricsPort);
    succeeded = metrics.value("visage_requests_total", { outcome: "ok" });
    const count = metrics.value("visage_requests_total", { outcome: "INTERNAL" });
    if (count > seen)
      faults.push(`${count - seen} internal errors within cases ${Math.max(0, from - PARALLEL)} to ${to}`);
    [seen, from] = [count, to];
  };
  // A service that has died is reported by the run; one whose metrics fail is reported at the end.
  const tryLook = () => look().catch(() => {});
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
      await tryLook();
    }
  })();
  return {
    succeeded: () => succeeded,
    stop: () => {
      stopping.abort();
      return watching;
    },
  };
}

/** Replays cases one at a time against a fresh service; gives the one that ends it. */
async function findFatal(cases: readonly EdgeCase[]): Promise<EdgeCase | undefined> {
  const service = await startWith(await freePort());
  try {
    for (const one of cases) {
      await edgeFault(service.port, one);
      await sleep(20);
      if (!service.isAlive) return one;
    }
    return undefined;
  } finally {
    await service.stop("SIGKILL");
  }
}

function describeCase(seed: number, { number, kind }: EdgeCase): string {
  return `${kind} (--seed ${seed} --case ${number})`;
}
