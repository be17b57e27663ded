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

/** What `visage serve --help` prints. */
export const help = `Usage: visage serve

Serves the four operations over gRPC, gRPC-Web, Connect and plain HTTP from one port, until it is
stopped. Settings are environment variables; docs/settings.md lists them.

SIGTERM stops it gracefully: health reports it at once, new requests are accepted for a moment longer,
then the requests in flight are finished. SIGINT (Ctrl-C) skips the moment. A second signal ends the
process at once. SIGHUP reloads the certificate; if it cannot be used, the old one stays.
`;

/**
 * How far the server's heap may grow before all of it is collected. Left alone, V8 does so for every few megabytes
 * of images that come in, about once a second under load. That would save some 30 MB, and is a third of what the
 * server costs.
 */
const HEAP_GROWTH = "--heap-growing-percent=200";

/** The longest wait for the reader of the log before the process ends. */
const FLUSH_MS = 1000;
/** The longest wait for requests in flight after a fault of our own. */
const FAULT_GRACE_MS = 5000;

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Starts the service, says how to reach it, and stops it on a signal. */
export async function run(args: readonly string[]): Promise<void> {
  parseArgs({ args, options: {} });
  const config = readConfig();
  setFlagsFromString(HEAP_GROWTH);
  const log = createLog(config.logLevel);
  // Handled from here on: the start takes seconds, and signals may come meanwhile.
  const stopping = nextSignal();
  const starting = startService(config, log);
  stopOnFault(starting, log);
  // A start that fails is reported below, and reloading never fails.
  process.on("SIGHUP", () => starting.then(({ reload }) => reload()).catch(() => {}));

  const isStarted = await Promise.race([starting.then(() => true), stopping.then(() => false)]);
  if (isStarted) announce(await starting, config);
  const signal = await stopping;
  for (const again of STOP_SIGNALS) process.once(again, () => process.exit(1));
  const service = await starting;
  if (isStarted && signal === "SIGTERM") await service.drain(config.drainMs);
  await service.close();
  await log.flush(FLUSH_MS);
}

/** The first signal to stop. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}

/**
 * Ends the process with exit code 1 after an error that nothing has handled, for a supervisor to start it again: its
 * state is unknown. New connections are rejected and requests in flight may finish. This is the last line of defence.
 */
function stopOnFault(starting: Promise<RunningService>, log: Log): void {
  let isStopping = false;
  const stop = (event: string) => (fault: unknown) => {
    log.error({ event, cause: fault instanceof Error ? fault.stack : String(fault) });
    if (isStopping) return;
    isStopping = true;
    const closed = starting.then((service) => service.close());
    Promise.race([closed, sleep(FAULT_GRACE_MS)])
      .catch((error: unknown) => log.error({ event: "shutdown failed", cause: String(error) }))
      .then(() => log.flush(FLUSH_MS))
      .catch(() => {})
      .finally(() => process.exit(1));
  };
  process.on("uncaughtException", stop("uncaught exception"));
  process.on("unhandledRejection", stop("unhandled rejection"));
}

/** Prints where the service is and how to try it. */
function announce({ host, port, userId }: RunningService, config: Config): void {
  const name = host === "0.0.0.0" ? "localhost" : host;
  const address = `${config.tlsCert ? "https" : "http"}://${name}:${port}`;
  process.stdout.write(`Visage listens at ${address}\n\n${hintOf(userId, address, config)}\n`);
}

/** How to try the service. The id is a credential: only a terminal gets it, not what collects the output. */
function hintOf(userId: string | undefined, address: string, { trialUser, dataDir }: Config): string {
  if (userId === undefined) return "  visage users add --name NAME   adds a user who may call it\n";
  if (process.stdout.isTTY) return `  ${curlLine(`'user_id: ${userId}'`, address)}\n`;
  if (trialUser !== undefined)
    return `The id of the trial user is that of VISAGE_TRIAL_USER:\n\n  ${curlLine('"user_id: $VISAGE_TRIAL_USER"', address)}\n`;
  const path = trialUserPath(dataDir);
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  return `The id of the trial user is stored in ${path}:\n\n  ${curlLine(`"user_id: $(cat ${quoted})"`, address)}\n`;
}

function curlLine(header: string, address: string): string {
  // Of a package for tests, which an install for production has not.
  const sample = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
  const photo = existsSync(sample) ? sample : "photo.jpg";
  return `curl -H ${header} -F 'image_attr=@${photo}' ${address}/get_image_attr`;
}
