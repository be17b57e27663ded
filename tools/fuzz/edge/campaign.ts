import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/free-port.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../support/service-process.ts";
import { createSeedImages } from "../seed-images.ts";
import { edgeCase } from "./cases.ts";
import { readMetrics } from "./metrics.ts";
import { edgeFault, runEdgeCases } from "./run.ts";
import type { EdgeCase, Fixtures } from "./script.ts";
import { findUnavailable } from "./valid-calls.ts";

/** Parallel connections. Most of them wait, so it takes many to keep the service busy. */
const PARALLEL = 96;
/** How long the last requests may take to end after their clients have disconnected. */
const SETTLE_MS = 30_000;
const CHECK_INTERVAL_MS = 2_000;
const SETTINGS = {
  VISAGE_WORKERS: "1",
  VISAGE_REQUEST_TIMEOUT_MS: "5000",
  // All cases come from one address, and broken connections stay open for some seconds.
  VISAGE_MAX_CONNECTIONS_PER_ADDRESS: "4096",
  // Many of them reset their requests, for which the service would reject the address.
  VISAGE_TRUSTED_PROXIES: "127.0.0.1",
};

/** Options of a fuzzing campaign. */
export interface Campaign {
  readonly seed: number;
  /** The numbers of the cases to run, in order. */
  readonly numbers: Iterable<number>;
  readonly parallel?: number;
  readonly onProgress?: (tried: number, faults: number) => void;
}

export interface CampaignResult {
  readonly tried: number;
  /** Requests that the service completed successfully. */
  readonly succeeded: number;
  /** Descriptions with the options that reproduce the fault. */
  readonly faults: readonly string[];
}

/** Starts a service, runs cases against it, and checks that it still works afterwards. */
export async function runCampaign({
  seed,
  numbers,
  parallel = PARALLEL,
  onProgress = () => {},
}: Campaign): Promise<CampaignResult> {
  const fixtures = await createFixtures();
  const faults: string[] = [];
  const metricsPort = await freePort();
  const service = await startService(metricsPort);
  const exited = new AbortController();
  void service.exitCode.then(() => exited.abort());
  const { workers } = service;
  let tried = 0;
  const countCases = function* () {
    for (const number of numbers) {
      yield edgeCase(seed, number, fixtures);
      tried++;
    }
  };
  const outcomes = watchOutcomes(metricsPort, () => tried, faults);
  const timer = setInterval(() => onProgress(tried, faults.length), CHECK_INTERVAL_MS);
  try {
    const run = await runEdgeCases(
      service.port,
      countCases(),
      parallel,
      ({ failed, fault }) => faults.push(`${describeCase(seed, failed)}: ${fault}`),
      exited.signal,
    );
    clearInterval(timer);
    await outcomes.stop();
    if (!service.isAlive) {
      const culprit = await findFatal(run.inProgress);
      const suspects = culprit ? [culprit] : run.inProgress;
      faults.push(
        `the process exited with ${await service.exitCode} during ${suspects.map((one) => describeCase(seed, one)).join(" or ")}`,
      );
    } else {
      faults.push(...(await checkAfterwards(service, metricsPort, workers, fixtures)));
    }
    return { tried: run.tried, succeeded: outcomes.succeeded(), faults };
  } finally {
    clearInterval(timer);
    await outcomes.stop();
    await service.stop("SIGKILL");
  }
}

/** Creates the inputs of the generators. */
export async function createFixtures(): Promise<Fixtures> {
  const [, photo] = await createSeedImages();
  return { photo: photo!, user: USER };
}

function startService(metricsPort: number): Promise<ServiceProcess> {
  return startServiceProcess({ ...SETTINGS, VISAGE_METRICS_PORT: String(metricsPort) });
}

/** Checks a service after all clients have disconnected. */
async function checkAfterwards(
  service: ServiceProcess,
  metricsPort: number,
  workers: readonly number[],
  { user, photo }: Fixtures,
): Promise<string[]> {
  const faults: string[] = [];
  const open = await pollUntilZero(async () =>
    (await readMetrics(metricsPort)).value("visage_requests_in_flight"),
  );
  if (open !== 0) faults.push(`requests left open: ${open}`);
  const lost = workers.filter((pid) => !service.workers.includes(pid)).length;
  if (lost > 0) faults.push(`workers lost: ${lost}`);
  faults.push(...(await findUnavailable(service.port, user, photo)));
  if (!service.isAlive) faults.push("the process exited after the last case");
  return faults;
}

/** Polls until the value is 0 or time runs out. Resolves to the last value, or to the error of a failed read. */
async function pollUntilZero(read: () => Promise<number>): Promise<number | string> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const value = await read().catch(String);
    if (value === 0 || typeof value === "string" || performance.now() > deadline) return value;
    await sleep(100);
  }
}

/** Watches the metrics: counts successful requests and reports the range of cases with internal errors. */
function watchOutcomes(metricsPort: number, tried: () => number, faults: string[]) {
  let [seen, from, succeeded] = [0, 0, 0];
  const stopping = new AbortController();
  const readOutcomes = async () => {
    const to = tried();
    const metrics = await readMetrics(metricsPort);
    succeeded = metrics.value("visage_requests_total", { outcome: "ok" });
    const count = metrics.value("visage_requests_total", { outcome: "INTERNAL" });
    if (count > seen)
      faults.push(`${count - seen} internal errors within cases ${Math.max(0, from - PARALLEL)} to ${to}`);
    [seen, from] = [count, to];
  };
  // The run reports a service that has exited, and the final check reports failing metrics.
  const tryRead = () => readOutcomes().catch(() => {});
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {});
      await tryRead();
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

/** Replays cases one at a time against a new service. Resolves to the case that makes it exit. */
async function findFatal(cases: readonly EdgeCase[]): Promise<EdgeCase | undefined> {
  const service = await startService(await freePort());
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
