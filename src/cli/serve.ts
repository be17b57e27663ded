import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { trialUserPath } from "../accounts/trial-user.ts";
import { type Config, readConfig } from "../config.ts";
import { type RunningService, startService } from "../main.ts";
import { PACKAGE_ROOT } from "../model-manifest.ts";
import { createLog, type Log } from "../telemetry/log.ts";

/** Output of `visage serve --help`. */
export const help = `Usage: visage serve

Serves the four operations over gRPC, gRPC-Web, Connect and plain HTTP from one port, until it is
stopped. Settings are environment variables; docs/settings.md lists them.

SIGTERM stops it gracefully: the health status changes immediately, new requests are accepted for
VISAGE_DRAIN_MS, then the requests in flight are finished. SIGINT (Ctrl-C) skips the wait. A second
signal ends the process immediately. SIGHUP reloads the certificate; if it cannot be used, the old one stays.
`;

/**
 * V8 flag that lets the heap triple before a full garbage collection. By default V8 runs one for every few megabytes of
 * images, about once a second under load. That saves about 30 MB of memory, but takes a third of the CPU time of the
 * server.
 */
const HEAP_GROWTH = "--heap-growing-percent=200";

/** How long to wait for the reader of the log before the process exits. */
const LOG_FLUSH_TIMEOUT_MS = 1000;
/** How long requests in flight may take after an unhandled error. */
const ERROR_GRACE_MS = 5000;

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Starts the service, prints its address and stops it on a signal. */
export async function run(args: readonly string[]): Promise<void> {
  parseArgs({ args, options: {} });
  const config = readConfig();
  setFlagsFromString(HEAP_GROWTH);
  const log = createLog(config.logLevel);
  // Handle signals from now on, because the start takes seconds.
  const stopSignal = waitForStopSignal();
  const starting = startService(config, log);
  stopOnUnhandledError(starting, log);
  // Errors of the start are reported below; `reload` never rejects.
  process.on("SIGHUP", () => starting.then(({ reload }) => reload()).catch(() => {}));

  const isStarted = await Promise.race([starting.then(() => true), stopSignal.then(() => false)]);
  if (isStarted) printAddress(await starting, config);
  const signal = await stopSignal;
  for (const again of STOP_SIGNALS) process.once(again, () => process.exit(1));
  const service = await starting;
  if (isStarted && signal === "SIGTERM") await service.drain(config.drainMs);
  await service.close();
  await log.flush(LOG_FLUSH_TIMEOUT_MS);
}

/** Waits for the first SIGINT or SIGTERM. */
function waitForStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}

/**
 * Exits with code 1 after an unhandled error, because the state of the process is unknown; a supervisor restarts it.
 * Rejects new connections and lets requests in flight finish. This is the last line of defence.
 */
function stopOnUnhandledError(starting: Promise<RunningService>, log: Log): void {
  let isStopping = false;
  const stop = (event: string) => (cause: unknown) => {
    log.error({ event, cause: cause instanceof Error ? cause.stack : String(cause) });
    if (isStopping) return;
    isStopping = true;
    const closed = starting.then((service) => service.close());
    Promise.race([closed, sleep(ERROR_GRACE_MS)])
      .catch((error: unknown) => log.error({ event: "shutdown failed", cause: String(error) }))
      .then(() => log.flush(LOG_FLUSH_TIMEOUT_MS))
      .catch(() => {})
      .finally(() => process.exit(1));
  };
  process.on("uncaughtException", stop("uncaught exception"));
  process.on("unhandledRejection", stop("unhandled rejection"));
}

/** Prints the address of the service and how to call it. */
function printAddress({ host, port, userId }: RunningService, config: Config): void {
  const hostname = host === "0.0.0.0" ? "localhost" : host;
  const address = `${config.tlsCert ? "https" : "http"}://${hostname}:${port}`;
  process.stdout.write(`Visage listens at ${address}\n\n${formatExample(userId, address, config)}\n`);
}

/** Formats an example call. The user id is a credential, so it is printed only to a terminal. */
function formatExample(userId: string | undefined, address: string, { trialUser, dataDir }: Config): string {
  if (userId === undefined) return "Add a user to call it:\n\n  visage users add --name NAME\n";
  if (process.stdout.isTTY) return `  ${formatCurl(`'user_id: ${userId}'`, address)}\n`;
  if (trialUser !== undefined)
    return `The trial user has the id in VISAGE_TRIAL_USER:\n\n  ${formatCurl('"user_id: $VISAGE_TRIAL_USER"', address)}\n`;
  const path = trialUserPath(dataDir);
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  return `The id of the trial user is stored in ${path}:\n\n  ${formatCurl(`"user_id: $(cat ${quoted})"`, address)}\n`;
}

function formatCurl(header: string, address: string): string {
  // A sample of a development dependency, which production installations do not have.
  const sample = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
  const photo = existsSync(sample) ? sample : "photo.jpg";
  return `curl -H ${header} -F 'image_attr=@${photo}' ${address}/get_image_attr`;
}
